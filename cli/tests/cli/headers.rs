//! Headers, indices, separators, quotes: tables as other programs write them.

use crate::*;

const EVALUATE: &str = "evaluate --predictions p.csv --labels y.csv";

/// What is said on standard error, and the object, of a table of predictions.
fn said(folder: &Path, arguments: &str) -> (String, Value) {
    let (text, said) = done(folder, &format!("{arguments} --json"));
    (said, unnamed(serde_json::from_str(&text).unwrap()))
}

fn prepared(name: &str) -> (PathBuf, Value) {
    let folder = example(name);
    let expected = unnamed(json(&folder, EVALUATE));
    (folder, expected)
}

/// The rows with their number before them.
fn indexed(first: usize, separator: &str) -> String {
    let row = |(i, row): (usize, &str)| {
        let row = row.replace(',', separator);
        format!("{}{separator}{row}\n", i + first)
    };
    ROWS.lines().enumerate().map(row).collect()
}

#[test]
fn tables_of_other_programs() {
    let (folder, expected) = prepared("headers");
    let quoted = |i: usize| {
        let row = ROWS.lines().nth(i).unwrap().replace(',', " ");
        format!("\"{}\" {row}\n", i + 1)
    };
    let names: String = (0..4).map(quoted).collect();
    let header = "calibration: p.csv: line 1 is a header";
    let index = "the first column is an index and is left out";
    let plain = format!("calibration: p.csv: {index}\n");
    let both = format!("{header}; {index}\n");
    for (what, text, expected_words) in [
        ("pandas without an index", format!("0,1,2\n{ROWS}"), format!("{header}\n")),
        ("pandas", format!(",0,1,2\n{}", indexed(0, ",")), both.clone()),
        ("pandas with names", format!(",cat,dog,emu\n{}", indexed(0, ",")), plain.clone()),
        ("read again by pandas", format!("Unnamed: 0,0,1,2\n{}", indexed(0, ",")),
            format!("{header}; the first column (Unnamed: 0) is an index and is left out\n")),
        ("columns from 1", format!("1,2,3\n{ROWS}"), format!("{header}\n")),
        ("an id", format!("id,a,b,c\n7,{}", ROWS.replace("\n0", "\n3,0")),
            "calibration: p.csv: the first column (id) is an index and is left out\n".into()),
        ("counting from 0", indexed(0, ","), plain.clone()),
        ("counting from 1", indexed(1, ","), plain.clone()),
        ("numpy.savetxt", ROWS.replace(',', " "), String::new()),
        ("numpy.savetxt with a header", format!("# a b c\n{}", ROWS.replace(',', " ")), String::new()),
        ("fixed widths", format!("  {}", ROWS.replace(',', "   ").replace('\n', "\n  ")), String::new()),
        ("tabs", ROWS.replace(',', "\t"), String::new()),
        ("semicolons", ROWS.replace(',', ";"), String::new()),
        ("write.table of R", format!("\"V1\" \"V2\" \"V3\"\n{names}"),
            "calibration: p.csv: line 1 is a header without a name for the first column; the first column \
             is an index and is left out\n".into()),
        ("write.csv of R", format!("\"\",\"cat\",\"dog\",\"emu\"\n{}", names.replace(' ', ",")), plain.clone()),
        ("a mark of the order of bytes", format!("\u{feff}cat,dog,emu\n{ROWS}"), String::new()),
        ("line ends of Windows", format!("cat,dog,emu\n{ROWS}").replace('\n', "\r\n"), String::new()),
        ("quotes", format!("\"cat\", \"a \"\"dog\"\", or so\" ,\"e\nm\nu\"\n{ROWS}"), String::new()),
        ("lines at the end", format!("{ROWS}\n\n \n"), String::new()),
        ("lines between rows", ROWS.replace('\n', "\n\n \n"), String::new()),
        ("line ends of old", format!("cat,dog,emu\n{ROWS}").replace('\n', "\r"), String::new()),
        ("a separator for Excel", format!("sep=;\ncat;dog;emu\n{}", ROWS.replace(',', ";")), String::new()),
    ] {
        fs::write(folder.join("p.csv"), text).unwrap();
        let (words, found) = said(&folder, EVALUATE);
        assert_eq!(words, expected_words, "{what}");
        assert_eq!(found, expected, "{what}");
    }
}

/// Bytes that are no text in UTF-8, or that have no letter.
#[test]
fn what_is_wrong_is_named() {
    let (folder, _) = prepared("wrong tables");
    for (bytes, expected) in [
        (
            &b"caf\xc3\xa9\0,1\nb,1\n"[..],
            "row 0 (line 1), column 0: \"caf\u{e9}\\0\", expected a number",
        ),
        (b"0.5,0.5\n\xe9,1\n", "line 2: no text in UTF-8"),
        (b"\xff\xfe0\0,\x001\0", "holds text as UTF-16, not UTF-8"),
    ] {
        fs::write(folder.join("p.csv"), bytes).unwrap();
        begins(&complaint(&folder, EVALUATE), &format!("p.csv: {expected}"));
    }
}
