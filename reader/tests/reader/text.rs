//! Text: headers, delimiters, quotes, lines.

use crate::*;

/// The rows with their number before them.
fn indexed() -> String {
    let rows = ROWS.lines().enumerate();
    rows.map(|(i, row)| format!("{i},{row}\n")).collect()
}

/// The names of the columns of numbers, and what is said.
#[test]
fn tables_of_other_programs() {
    let header = "line 1 is a header";
    let names = "cat,dog,emu";
    for (text, expected, said) in [
        (format!("0,1,2\n{ROWS}"), "0,1,2", header),
        (format!(",0,1,2\n{}", indexed()), "0,1,2", header),
        (format!(",{names}\n{}", indexed()), names, ""),
        (
            format!("{names}\n{}", indexed()),
            names,
            "line 1 is a header without a name for the first column",
        ),
        (format!("# a b c\n\n{ROWS}"), "", ""),
        (ROWS.replace(',', "\t"), "", ""),
        (ROWS.replace(',', ";"), "", ""),
        (
            format!("\u{feff}{names}\r\n{}", ROWS.replace('\n', "\r\n")),
            names,
            "",
        ),
        (
            format!("\"cat\" ,dog,\"e\nm\"\"u\"\n{ROWS}\n \n"),
            "cat,dog,e\nm\"u",
            "",
        ),
        (ROWS.replace('\n', "\n\n \n"), "", ""),
        (ROWS.trim_end().to_owned(), "", ""),
    ] {
        let (table, notes) = read(&text).unwrap();
        assert_eq!(table.numbers.values, rows(), "{text}");
        assert_eq!(table.names.join(","), expected, "{text}");
        assert_eq!(notes.join("; "), said, "{text}");
    }
}

/// An error has the row, from 0, and its line.
#[test]
fn places_of_rows() {
    for (text, expected) in [
        (
            "p,q\n1,2\n\n\"a\nb\",3\n",
            "row 1 (line 4), column 0 (p): \"a\\nb\", expected a number",
        ),
        (
            "1,2\n3,4\r\n5\n",
            "row 2 (line 3): 1 column, expected 2 as in the first line",
        ),
        (
            "# x\n7;2\n0,5;4\n",
            "row 1 (line 3), column 0: \"0,5\" has a decimal comma, expected a decimal point",
        ),
        (
            "p\n1\n2%\n",
            "row 1 (line 3), column 0 (p): \"2%\", expected a number; add --percent",
        ),
        (
            "p\n1\n\n2\n",
            "line 3 is empty, expected a row on each line",
        ),
        ("1\r2\r", "lines end with CR alone, expected LF or CR LF"),
        (
            "0\n0.5\n",
            "line 1 (0) may be a header or a row, expected --header yes or --header no",
        ),
        ("p,q\n1,2,3,4\n", "line 1 has 2 columns and the row below 4"),
        ("text\nmore\n", "column 0 (text): text, expected numbers"),
    ] {
        begins(&complaint(text), expected);
    }
}

/// The names of a table of real numbers, or what is wrong.
fn names_of(text: &str, is_counted: bool, id: Option<&str>) -> Result<String, String> {
    let (_folder, path) = file(text);
    let options = OpenOptions {
        is_counted,
        ..OpenOptions::default()
    };
    let columns = PredictionColumns {
        id,
        ..PredictionColumns::default()
    };
    let read = Opened::new(&path, &options).and_then(|mut file| {
        file.choose_predictions(&columns)?;
        Ok(file.names().join(","))
    });
    read.map_err(|error| error.into_parts().1)
}

/// Levels of quantiles beside the name of a column of dates are a header; beside a word above another word they may be
/// one, and a row too.
#[test]
fn levels_beside_text() {
    let below = "-1.5,0.125,1.75";
    for (text, names) in [
        (
            format!("0.1,0.5,0.9,date\n{below},2024-01-01\n"),
            "0.1,0.5,0.9,date",
        ),
        (
            format!("date,0.1,0.5,0.9\n01.02.2024,{below}\n"),
            "date,0.1,0.5,0.9",
        ),
        (
            "city,day,0.1,0.9\nBonn,2024-01-01,0.2,0.8\n".to_owned(),
            "city,day,0.1,0.9",
        ),
        // text of one kind, and numbers that are no levels
        (format!("2023-01-01,0.1,0.5,0.9\n2024-01-01,{below}\n"), ""),
        (format!("May,0.1,0.9,0.5\n2024-01-01,{below}\n"), ""),
        (format!("May,0.1,0.5,1\n2024-01-01,{below}\n"), ""),
        (format!("Bonn,0.1234567,0.5,0.9\nUlm,{below}\n"), ""),
        (format!("Bonn,0.1,0.5,0.9\nBonn,{below}\n"), ""),
    ] {
        for is_counted in [true, false] {
            assert_eq!(
                names_of(&text, is_counted, None).as_deref(),
                Ok(names),
                "{text}"
            );
        }
    }
    // names that may be any text
    assert!(names_of(&format!("a1,0.1,0.5,0.9\n2b,{below}\n"), false, None).is_err());
    let text = format!("0.1,0.5,0.9,city\n{below},Bonn\n");
    let error = names_of(&text, false, None).unwrap_err();
    let expected =
        "line 1 (0.1,0.5,0.9,city) may be a header or a row, expected --header yes or --header no";
    assert_eq!(error, expected);
    // the rows of another file tell
    assert_eq!(names_of(&text, true, None).as_deref(), Ok(""));
    let error = names_of(&text, true, Some("city")).unwrap_err();
    let expected = "--id: no column \"city\", expected a number below 4; line 1 has it and is read as a row; --header \
                    yes takes it as names";
    begins(&error, expected);
    // rows of probabilities are no levels
    let rows = "0.2,0.8,cat\n0.5,0.5,4chan\n";
    let (table, _) = read(rows).unwrap();
    assert!(!table.has_header);
}

#[test]
fn json_lines_have_lines() {
    let (_folder, path) = file("{\"p\": 1}\n\n{\"p\": \n");
    let columns = PredictionColumns {
        columns: Some("p"),
        ..PredictionColumns::default()
    };
    let error = table_of(&path, &columns).unwrap_err();
    begins(&error.into_parts().1, "line 3 is not JSON (");
}

/// In a single column a blank line between rows may be a value that is missing.
#[test]
fn blank_lines_of_one_column() {
    let options = OpenOptions {
        blank_is_row: true,
        ..OpenOptions::default()
    };
    let (_folder, path) = file("p\n\n1\n\n\n2\n\n");
    let mut file = Opened::new(&path, &options).unwrap();
    file.choose_predictions(&PredictionColumns::default())
        .unwrap();
    let table = file.read(false).unwrap();
    let gaps = table.missing(&[]);
    assert_eq!(gaps, [("column 0 (p)".to_owned(), vec![0, 2, 3])]);
    let lines: Vec<_> = (0..5).map(|row| table.lines.of(row).unwrap()).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6]);
}

/// Cells of any length make short errors, and a quote that nothing closes is one.
#[test]
fn errors_are_short() {
    let rows = ROWS.repeat(50_000);
    let long = "x".repeat(3_000_000);
    for text in [
        format!("\"{rows}"),
        format!("{ROWS}\"{rows}\""),
        format!("{long},0.5\n{rows}"),
        format!("0.5,{long}\n{rows}"),
        format!("{ROWS}{long},0.5,0.5\n"),
    ] {
        let reason = complaint(text);
        assert!(reason.len() < 400, "{}", reason.len());
    }
}

/// A name of two columns is no column, whatever option names it, and may be.
#[test]
fn a_name_of_two_columns_is_asked_for() {
    let (_folder, path) = file("r,y,y,r,z\n0.2,0,1,0.8,0\n0.3,1,0,0.7,0\n");
    let [columns, label, optional, other] = [
        (Some("r"), None),
        (Some("z"), Some(("y", true))),
        (Some("z"), Some(("y", false))),
        (Some("0"), Some(("z", true))),
    ]
    .map(|(columns, label)| {
        let options = PredictionColumns {
            columns,
            label,
            ..PredictionColumns::default()
        };
        table_of(&path, &options).map_err(|error| error.into_parts().1)
    });
    begins(
        &columns.unwrap_err(),
        "--columns: columns 0 and 3 are both named \"r\", expected a number",
    );
    for label in [label, optional] {
        begins(
            &label.unwrap_err(),
            "--label-column: columns 1 and 2 are both named \"y\"",
        );
    }
    assert_eq!(other.unwrap().0.numbers.values, [0.2, 0.3]);
}
