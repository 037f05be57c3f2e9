//! Files of one call side by side.

use crate::*;

/// Texts in the place of files, of which `p` has predictions and `y` the labels.
fn files(p: &str, y: &str, options: ReadOptions) -> (Result<Files>, Notes) {
    let texts = [("p", p), ("y", y)];
    let texts = texts.map(|(name, text)| (name.into(), text.to_owned()));
    let options = ReadOptions {
        labels: Some("y".into()),
        texts: Texts::new(texts.into()),
        ..options
    };
    let mut notes = Notes::default();
    let inputs = Inputs::of("p".as_ref());
    let read = OpenFiles::new(&inputs, &options, true).and_then(|mut files| {
        files.open_labels(&[])?;
        files.read(&[], &mut notes)
    });
    (read, notes)
}

fn labels(files: &Files) -> String {
    let cells = &files.labels.as_ref().unwrap().table.labels[0].cells;
    cells.iter().collect::<Vec<_>>().join(",")
}

/// Rows are in their order, in which columns that files share must agree, or matched by a column.
#[test]
fn rows_of_several_files() {
    let p = "name,a,b\nu,0.5,0.5\nv,0.25,0.75\nw,1,0\n";
    let by_id = || ReadOptions {
        id: Some("NAME".into()),
        ..ReadOptions::default()
    };
    let shuffled = "y,name\n1,w\n0,u\n2,v\n";
    let (read, notes) = files(p, shuffled, by_id());
    assert_eq!(labels(&read.unwrap()), "0,2,1");
    assert!(notes.0.is_empty());
    let (read, _) = files(p, shuffled, ReadOptions::default());
    let expected = "y: row 0 (line 2), column 1 (name): w, expected u as in row 0 (line 2) of p, because rows are \
                    matched by their order; --id name matches them by this column, and --by-position does not compare it";
    assert_eq!(read.err().unwrap().to_string(), expected);
    let by_position = ReadOptions {
        by_position: true,
        label_column: Some("y".into()),
        ..ReadOptions::default()
    };
    assert_eq!(labels(&files(p, shuffled, by_position).0.unwrap()), "1,0,2");
    for (y, expected) in [
        (
            "y,name\n1,u\n0,u\n2,v\n",
            "y: rows 0 and 1 have the id u, expected each id once",
        ),
        (
            "y,name\n1,u\n0,x\n2,v\n",
            "y: no row has the id w, which row 2 of p has",
        ),
        ("y,name\n1,u\n2,v\n", "y: 2 rows, expected 3, as in p"),
    ] {
        begins(&files(p, y, by_id()).0.err().unwrap().to_string(), expected);
    }
}

/// A missing value is an error, or its row is left out of all files, and counted in a note.
#[test]
fn rows_that_are_left_out() {
    let (p, y) = ("a,b\n0.5,\n0.25,0.75\n1,0\n0,1\n", "y\n0\n1\nNA\n255\n");
    let error = files(p, y, ReadOptions::default()).0.err().unwrap();
    begins(
        &error.to_string(),
        "p: row 0 (line 2), column 1 (b): the value is empty, NA, null or NaN",
    );
    let (read, notes) = files(
        p,
        y,
        ReadOptions {
            skip_missing: true,
            ignore_label: vec!["255".into()],
            ..ReadOptions::default()
        },
    );
    let read = read.unwrap();
    assert_eq!(labels(&read), "1");
    assert_eq!(read.sets[0].table.numbers.values, [0.25, 0.75]);
    assert_eq!((read.left_out.missing, read.left_out.ignored), (2, 1));
    let expected = [
        "2 of 4 rows are left out, because values are missing: 1 in column 1 (b) of p, 1 in column 0 (y) of y",
        "y: 1 of 4 rows have the label 255 and are left out",
    ];
    assert_eq!(notes.0, expected);
}

/// Copies of rows are told with their number, and samples that are alike are not.
#[test]
fn repeated_rows() {
    let told = |p: &str, y: &str| {
        let (read, notes) = files(p, y, ReadOptions::default());
        read.unwrap();
        notes.0.join("; ")
    };
    let row = |k: u32, decimals: usize| {
        let p = f64::from(k % 997) / 997.0 * 0.9 + 0.05;
        format!("{p:.decimals$},{:.decimals$}\n", 1.0 - p)
    };
    let rows = |decimals: usize| -> Vec<String> { (1..100).map(|k| row(k, decimals)).collect() };
    let label = |k: usize| format!("{}\n", k % 2);
    let labels: Vec<String> = (0..99).map(label).collect();
    let twice = |lines: &[String]| lines.concat().repeat(2);
    let expected = "p: 99 of 198 rows repeat an earlier row, with all digits of its predictions and the label: p-values \
                    and intervals take rows as independent, and are too small and too narrow if these are copies";
    assert_eq!(told(&twice(&rows(8)), &twice(&labels)), expected);
    // each row once, few decimals, and few copies
    assert_eq!(told(&rows(8).concat(), &labels.concat()), "");
    assert_eq!(told(&twice(&rows(2)), &twice(&labels)), "");
    let few = |copies: usize| {
        let again = |lines: &[String]| lines.concat() + &lines[..copies].concat();
        told(&again(&rows(8)), &again(&labels))
    };
    assert_eq!(few(4), "");
    begins(&few(5), "p: 5 of 104 rows repeat an earlier row");
    // ends of a scale, where numbers in binary repeat
    let ends = "0.99999994,0.00000006\n0.00012345,0.99987655\n".repeat(50);
    assert_eq!(told(&ends, &"0\n1\n".repeat(50)), "");
    // predictions of a few groups, with and without an event each
    let groups: String = (0..200).map(|k| row(k % 5, 8)).collect();
    let of_groups: String = (0..200).map(|k| label(k / 7)).collect();
    assert_eq!(told(&groups, &of_groups), "");
    // samples that are alike: every other one has another label
    let alike: String = (0..100).map(|k| row(1 + k / 2, 8)).collect();
    let of_alike: String = (0..100)
        .map(|k| label(k / 2 + usize::from(k % 4 == 1)))
        .collect();
    assert_eq!(told(&alike, &of_alike), "");
}
