//! Rows that are matched by their ids.

use super::{
    matching::{ANIMALS, prepared, said, table},
    *,
};

/// Predictions s0, s1, … and labels with the ids reversed.
#[test]
fn rows_are_matched_by_their_ids() {
    let folder = prepared("rows by id");
    let rows = table(&["cat", "dog", "emu"], [0, 1, 2]);
    let with_ids = |name: &str, header: &str, ids: &[String]| {
        let mut lines = rows.lines().skip(1).zip(ids).collect::<Vec<_>>();
        lines.sort_by_key(|(_, id)| (*id).clone());
        let lines: String = lines
            .iter()
            .map(|(row, id)| format!("{id},{row}\n"))
            .collect();
        fs::write(folder.join(name), format!("{header},cat,dog,emu\n{lines}")).unwrap();
    };
    let ids: Vec<String> = (0..6).map(|i| format!("s{i}")).collect();
    let turned: Vec<String> = (0..6).map(|i| format!("s{}", 5 - i)).collect();
    with_ids("ids.csv", "id", &ids);
    let labels = |name: &str, ids: &[String], header: &str| {
        let lines = ids.iter().zip(ANIMALS).rev();
        let lines: String = lines.map(|(id, label)| format!("{id},{label}\n")).collect();
        fs::write(folder.join(name), format!("{header}\n{lines}")).unwrap();
    };
    labels("reversed.csv", &ids, "id,label");
    labels("table.csv", &ids, "id,label");
    let expected = found(&folder, "evaluate --predictions a.csv --labels names.csv");
    let line = "calibration: reversed.csv: rows are matched to those of ids.csv by their ids\n";
    for options in [
        "",
        "--label-column label",
        "--label-column 1",
        "--columns cat,dog,emu",
    ] {
        let arguments = format!("evaluate --predictions ids.csv --labels reversed.csv {options}");
        let (out, words) = said(&folder, &format!("{arguments} --json"));
        let object = unnamed(serde_json::from_str(&out).unwrap());
        assert_eq!(object["accuracy"], expected["accuracy"], "{options}");
        assert!(words.ends_with(line), "{words}");
    }
    let by_position = "evaluate --predictions ids.csv --labels reversed.csv --by-position";
    assert_ne!(
        found(&folder, by_position)["accuracy"],
        expected["accuracy"]
    );

    let lines: String = ids
        .iter()
        .zip(ANIMALS)
        .map(|(id, label)| format!("{label},{id}\n"))
        .collect();
    write(&folder, &[("last.csv", &format!("label,id\n{lines}"))]);
    let last = found(&folder, "evaluate --predictions ids.csv --labels last.csv");
    assert_eq!(last["accuracy"], expected["accuracy"]);

    // what is missing or double is named
    labels(
        "other.csv",
        &turned
            .iter()
            .map(|id| id.replace("s5", "s7"))
            .collect::<Vec<_>>(),
        "id,label",
    );
    contains(
        &complaint_after_notes(&folder, "evaluate --predictions ids.csv --labels other.csv"),
        "ids.csv: there is no row of the id s7, which is that of row 5 of other.csv, expected the same ids",
    );
    labels(
        "double.csv",
        &turned
            .iter()
            .map(|id| id.replace("s5", "s4"))
            .collect::<Vec<_>>(),
        "id,label",
    );
    contains(
        &complaint_after_notes(
            &folder,
            "evaluate --predictions ids.csv --labels double.csv",
        ),
        "double.csv: rows 4 and 5 have the id s4, expected each id once",
    );

    // predictions before and after, and labels without ids, which may belong to either
    let mut lines: Vec<&str> = rows.lines().skip(1).collect();
    lines.reverse();
    let after: String = lines
        .iter()
        .zip(&turned)
        .map(|(row, id)| format!("{row},{id}\n"))
        .collect();
    write(
        &folder,
        &[("after.csv", &format!("cat,dog,emu,id\n{after}"))],
    );
    let compare = "compare --before ids.csv --after after.csv --json --labels";
    let (out, _) = said(&folder, &format!("{compare} reversed.csv"));
    let object: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(object["changes"]["brier"]["difference"], 0.0);
    assert_eq!(object["accuracy"]["before"], expected["accuracy"]);
    contains(
        &complaint_after_notes(&folder, &format!("{compare} names.csv")),
        "names.csv: has no ids, and the rows of ids.csv and after.csv are in different orders",
    );
    // what apply writes has the ids
    said(
        &folder,
        "fit --method temperature --predictions ids.csv --labels reversed.csv -o t.map",
    );
    said(&folder, "apply t.map --predictions after.csv -o better.csv");
    begins(
        &fs::read_to_string(folder.join("better.csv")).unwrap(),
        "id,cat,dog,emu\ns5,",
    );
    said(
        &folder,
        "compare --before ids.csv --after better.csv --labels reversed.csv",
    );
    // a class may be called id
    write(
        &folder,
        &[
            ("languages.csv", "en,id,fr\n0.5,0.25,0.25\n0.25,0.5,0.25\n"),
            ("l.csv", "en\nid\n"),
        ],
    );
    let object = found(
        &folder,
        "evaluate --predictions languages.csv --labels l.csv",
    );
    assert_eq!(
        (&object["class_count"], &object["accuracy"]),
        (&3.into(), &1.0.into())
    );
}

/// The last line of standard error, where others say how files were read.
fn complaint_after_notes(folder: &Path, arguments: &str) -> String {
    let output = calibration(folder, arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    said.lines().last().unwrap().to_owned()
}

/// Targets, by ids too, in one file or two.
#[test]
fn targets_are_matched_by_their_ids() {
    let folder = folder("targets by id");
    write(
        &folder,
        &[
            ("p.csv", "id,m,s\na,0,1\nb,10,1\nc,20,1\n"),
            ("q.csv", "id,m,s\nc,20,1\nb,10,1\na,0,1\n"),
            ("y.csv", "id,y\nc,20.5\na,0.5\nb,9\n"),
            ("same.csv", "y\n0.5\n9\n20.5\n"),
        ],
    );
    let crps = |arguments: &str| {
        let found = found(&folder, &format!("evaluate --family normal {arguments}"));
        found["estimates"]["crps"].clone()
    };
    let expected = crps("--predictions p.csv --targets same.csv");
    assert_eq!(crps("--predictions p.csv --targets y.csv"), expected);
    assert_eq!(
        crps("--predictions p.csv --targets y.csv --label-column y"),
        expected
    );
    for family in ["", "--after-family laplace"] {
        let compare = "compare --family normal --before p.csv --after q.csv --targets y.csv";
        let found = found(&folder, &format!("{compare} {family}"));
        assert_eq!(found["changes"]["crps"]["before"], expected);
        if family.is_empty() {
            assert_eq!(found["changes"]["crps"]["difference"], 0.0);
        } else {
            let after = number(&found["changes"]["crps"]["after"]);
            assert!(after < 2.0, "of rows that match: {after}");
        }
    }
}
