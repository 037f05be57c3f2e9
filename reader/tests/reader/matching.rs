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
