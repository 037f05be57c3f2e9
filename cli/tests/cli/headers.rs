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
    let plain = String::new();
    let said_header = format!("{header}\n");
    for (what, text, expected_words) in [
        (
            "pandas without an index",
            format!("0,1,2\n{ROWS}"),
            said_header.clone(),
        ),
        (
            "pandas",
            format!(",0,1,2\n{}", indexed(0, ",")),
            said_header.clone(),
        ),
        (
            "pandas with names",
            format!(",cat,dog,emu\n{}", indexed(0, ",")),
            plain.clone(),
        ),
        (
            "read again by pandas",
            format!("Unnamed: 0,0,1,2\n{}", indexed(0, ",")),
            said_header.clone(),
        ),
        ("columns from 1", format!("1,2,3\n{ROWS}"), said_header),
        (
            "numpy.savetxt with a header",
            format!("# a b c\n{ROWS}"),
            plain.clone(),
        ),
        ("tabs", ROWS.replace(',', "\t"), plain.clone()),
        ("semicolons", ROWS.replace(',', ";"), plain.clone()),
        (
            "write.table of R",
            format!("\"V1\",\"V2\",\"V3\"\n{}", names.replace(' ', ",")),
            format!("{header} without a name for the first column\n"),
        ),
        (
            "write.csv of R",
            format!("\"\",\"cat\",\"dog\",\"emu\"\n{}", names.replace(' ', ",")),
            plain.clone(),
        ),
        (
            "a mark of the order of bytes",
            format!("\u{feff}cat,dog,emu\n{ROWS}"),
            plain.clone(),
        ),
        (
            "line ends of Windows",
            format!("cat,dog,emu\n{ROWS}").replace('\n', "\r\n"),
            plain.clone(),
        ),
        (
            "quotes",
            format!("\"cat\",\"a \"\"dog\"\", or so\" ,\"e\nm\nu\"\n{ROWS}"),
            plain.clone(),
        ),
        ("lines at the end", format!("{ROWS}\n\n \n"), plain.clone()),
        (
            "lines between rows",
            ROWS.replace('\n', "\n\n \n"),
            plain.clone(),
        ),
        ("no line end at the end", ROWS.trim_end().to_owned(), plain),
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
        (&b"0.5,0.5\n\xe9,1\n"[..], "line 2: no text in UTF-8"),
        (b"\xff\xfe0\0,\x001\0", "holds text as UTF-16, not UTF-8"),
        (
            b"0.7,0.2,0.1\r0.1,0.8,0.1\r",
            "lines end with CR alone, expected LF or CR LF",
        ),
        (
            b"0.7 0.2 0.1\n0.1 0.8 0.1\n",
            "column 0 (0.7 0.2 0.1): text, expected numbers",
        ),
        (
            b"p\n0,5\n0,7\n",
            "row 0 (line 2), column 0 (p): \"0,5\" has a decimal comma, expected a decimal point",
        ),
    ] {
        fs::write(folder.join("p.csv"), bytes).unwrap();
        begins(&complaint(&folder, EVALUATE), &format!("p.csv: {expected}"));
    }
}
