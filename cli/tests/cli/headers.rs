//! Headers, indices, separators, quotes: tables as other programs write them.

use super::*;

const EVALUATE: &str = "evaluate --predictions p.csv --labels y.csv";

/// What is said on standard error, and the object, of a table of predictions.
fn said(folder: &Path, arguments: &str) -> (String, Value) {
    let output = calibration(folder, &format!("{arguments} --json"));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    (
        said,
        unnamed(serde_json::from_slice(&output.stdout).unwrap()),
    )
}

fn prepared(name: &str) -> (PathBuf, Value) {
    let folder = folder(name);
    fs::write(folder.join("p.csv"), ROWS).unwrap();
    fs::write(folder.join("y.csv"), LABELS).unwrap();
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

/// The first column counts rows, and is one of the numbers where it may be.
#[test]
fn what_is_no_header_and_no_index() {
    let folder = folder("no headers");
    fs::write(folder.join("y.csv"), "0\n1\n1\n").unwrap();
    for (text, options, rows, columns) in [
        ("0,1\n1,0\n0,1\n", "", 3, 2), // certain, no header
        ("0,1\n0.5,0.5\n1,0\n1,0\n", "--header yes", 3, 2),
        ("0,1\n0.5,0.5\n1,0\n", "--header no", 3, 2),
        ("1,0,1\n2,1,0\n3,0,1\n", "", 3, 2), // counts
        ("0,0,1\n1,2,0\n3,0,1\n", "--logits", 3, 3),
        ("0,0.1\n1,2.5\n2,0.4\n", "--logits", 3, 2), // no two columns are left
        ("0,0,1\n1,2,0\n2,0,1\n", "--logits --columns 0-2", 3, 3),
    ] {
        fs::write(folder.join("p.csv"), text).unwrap();
        let (_, found) = said(&folder, &format!("{EVALUATE} {options}"));
        let found = (found["n"].as_u64(), found["class_count"].as_u64());
        assert_eq!(found, (Some(rows), Some(columns)), "{text}");
    }
    // a count of labels that a header would explain
    fs::write(folder.join("p.csv"), ROWS).unwrap();
    fs::write(folder.join("y.csv"), format!("0\n{LABELS}")).unwrap();
    assert_eq!(
        complaint(&folder, EVALUATE),
        "y.csv: 5 labels, expected 4, as many as p.csv has rows; --labels-header yes if line 1 is a header"
    );
    json(&folder, &format!("{EVALUATE} --labels-header yes"));
    fs::write(
        folder.join("y.csv"),
        format!(",0\n{}", "0,0\n1,1\n2,0\n3,2\n"),
    )
    .unwrap();
    let (words, _) = said(&folder, EVALUATE);
    assert_eq!(
        words,
        "calibration: y.csv: line 1 is a header; the first column is an index and is left out\n"
    );
}

#[test]
fn what_is_wrong_is_named() {
    let (folder, _) = prepared("wrong tables");
    for (text, expected) in [
        (
            "0,7;0,2;0,1\n",
            "row 0 (line 1), column 0: \"0,7\" has a decimal comma, expected a decimal point",
        ),
        (
            "cat,dog\n0.5,0.5\n0.5,\n",
            "row 1 (line 3), column 1 (dog): is empty, expected a number",
        ),
        (
            "0.5,0.5\n\n0.5,x\n",
            "row 1 (line 3), column 1: \"x\", expected a number",
        ),
        (
            "0.5,0.5\n0.5,0.5,0\n0.5,0.5\n",
            "row 1 (line 2): 3 columns, expected 2 as in the first line",
        ),
        (
            "0.5,0.5\n0.5;0.5\n",
            "line 1 has 1 columns and the row below 2, expected as many",
        ),
        (
            "a,b,c\n0.5,0.5\n",
            "line 1 has 3 columns and the row below 2, expected as many",
        ),
        ("0.5,\"0.5\"x\n", "line 1: after a quote \"x\""),
        (
            "a\nb\n",
            "row 0 (line 2), column 0 (a): \"b\", expected a number",
        ),
        (
            "caf\u{e9}\u{0},1\nb,1\n",
            "row 0 (line 1), column 0: \"caf\u{e9}\\0\", expected a number",
        ),
    ] {
        fs::write(folder.join("p.csv"), text).unwrap();
        assert_eq!(
            complaint(&folder, EVALUATE),
            format!("p.csv: {expected}"),
            "{text}"
        );
    }
    fs::write(folder.join("p.csv"), b"0.5,0.5\n\xe9,1\n").unwrap();
    assert_eq!(
        complaint(&folder, EVALUATE),
        "p.csv: line 2: no text in UTF-8"
    );
    fs::write(folder.join("p.csv"), b"\xff\xfe0\0,\x001\0").unwrap();
    assert!(complaint(&folder, EVALUATE).starts_with("p.csv: holds text as UTF-16, not UTF-8"));
    fs::write(folder.join("p.csv"), ROWS).unwrap();
    fs::write(folder.join("y.csv"), "0\n\n1\n0\n2\n").unwrap();
    assert_eq!(
        complaint(&folder, EVALUATE),
        "y.csv: line 2 is empty, expected a row on each line"
    );
}
