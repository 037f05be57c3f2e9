//! Files side by side: columns by their names, rows by their ids, and maps for what they were fitted to.

use super::*;

/// Rows of three classes, right two times of three.
const THREE: [[f64; 3]; 6] = [
    [0.7, 0.2, 0.1],
    [0.1, 0.8, 0.1],
    [0.2, 0.2, 0.6],
    [0.6, 0.3, 0.1],
    [0.3, 0.5, 0.2],
    [0.1, 0.3, 0.6],
];
const ANIMALS: [&str; 6] = ["cat", "dog", "emu", "dog", "dog", "cat"];

/// The rows with their columns in another order, below a header.
fn table(header: &[&str], order: [usize; 3]) -> String {
    let row = |row: &[f64; 3]| order.map(|class| row[class].to_string()).join(",") + "\n";
    header.join(",") + "\n" + &THREE.iter().map(row).collect::<String>()
}

fn prepared(name: &str) -> PathBuf {
    let folder = folder(name);
    let names: Vec<String> = ANIMALS.iter().map(|name| format!("{name}\n")).collect();
    write(
        &folder,
        &[
            ("a.csv", &table(&["cat", "dog", "emu"], [0, 1, 2])),
            ("b.csv", &table(&["emu", "cat", "dog"], [2, 0, 1])),
            ("c.csv", &table(&["cat", "dog", "cow"], [0, 1, 2])),
            ("p.csv", &table(&["p0", "p1", "p2"], [0, 1, 2])),
            ("q.csv", &table(&["p2", "p1", "p0"], [2, 1, 0])),
            ("names.csv", &names.concat()),
            ("y.csv", "0\n1\n2\n1\n1\n0\n"),
        ],
    );
    folder
}

/// Standard output and standard error of what ends well.
fn said(folder: &Path, arguments: &str) -> (String, String) {
    let output = calibration(folder, arguments);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, said) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{arguments}: {said}");
    (out, said)
}

#[test]
fn columns_are_taken_by_their_names() {
    let folder = prepared("columns by name");
    let line = "calibration: b.csv: columns are taken by their names: cat, dog, emu\n";
    for labels in ["y.csv", "names.csv", "y.csv --columns cat,dog,emu"] {
        let compare = format!("compare --before a.csv --after b.csv --labels {labels} --json");
        let (out, said) = said(&folder, &compare);
        let found: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(found["accuracy"]["before"], found["accuracy"]["after"]);
        assert_eq!(found["changes"]["brier"]["difference"], 0.0);
        // chosen by name they are in order already
        let expected = if labels.contains("--columns") {
            ""
        } else {
            line
        };
        assert_eq!(said, expected, "{labels}");
    }
    let compare = "compare --before a.csv --after b.csv --labels y.csv --by-position --json";
    let found: Value = serde_json::from_str(&said(&folder, compare).0).unwrap();
    assert_ne!(found["accuracy"]["before"], found["accuracy"]["after"]);
    assert_eq!(
        complaint(
            &folder,
            "compare --before a.csv --after c.csv --labels y.csv"
        ),
        "c.csv: the columns are named cat, dog, cow, expected cat, dog, emu as of a.csv; --by-position takes \
         columns in their order"
    );
    let report = "report --predictions a.csv --after b.csv --labels y.csv -o r.html --json";
    let (out, words) = said(&folder, report);
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found["before"]["estimates"], found["after"]["estimates"]);
    assert_eq!(words, line);
}

/// `p2,p1,p0` are classes 2, 1 and 0, of labels as well.
#[test]
fn names_that_count_are_classes() {
    let folder = prepared("names that count");
    let expected = found(&folder, "evaluate --predictions p.csv --labels y.csv");
    let (out, words) = said(
        &folder,
        "evaluate --predictions q.csv --labels y.csv --json",
    );
    assert_eq!(unnamed(serde_json::from_str(&out).unwrap()), expected);
    assert_eq!(
        words,
        "calibration: q.csv: columns are taken by their names: p0, p1, p2\n"
    );
    // one-hot labels whose columns count
    write(
        &folder,
        &[(
            "hot.csv",
            "y2,y1,y0\n0,0,1\n0,1,0\n1,0,0\n0,1,0\n0,1,0\n0,0,1\n",
        )],
    );
    assert_eq!(
        found(&folder, "evaluate --predictions p.csv --labels hot.csv"),
        expected
    );
    // names that count from 1 leave open where labels do
    write(
        &folder,
        &[
            ("one.csv", &table(&["c1", "c2", "c3"], [0, 1, 2])),
            ("from1.csv", "1\n2\n2\n2\n2\n1\n"),
        ],
    );
    contains(
        &complaint(&folder, "evaluate --predictions one.csv --labels from1.csv"),
        "the columns count from 1, and no label is 0: expected --one-based",
    );
    for option in ["--one-based", "--by-position"] {
        found(
            &folder,
            &format!("evaluate --predictions one.csv --labels from1.csv {option}"),
        );
    }
    // names of classes for columns in another order
    contains(
        &complaint(
            &folder,
            "evaluate --predictions q.csv --labels names.csv --classes cat,dog,emu",
        ),
        "q.csv: the columns are named p2, p1, p0, expected the names of --classes or the columns in the order",
    );
    let named = "evaluate --predictions b.csv --labels names.csv";
    let expected = found(&folder, "evaluate --predictions a.csv --labels names.csv");
    assert_eq!(
        found(&folder, &format!("{named} --classes cat,dog,emu")),
        expected
    );
    contains(
        &complaint(&folder, &format!("{named} --classes cat,dog,cow")),
        "expected cat, dog, cow as of --classes",
    );
}

/// A map knows the names of its columns, and what it was fitted to.
#[test]
fn maps_are_for_what_they_were_fitted_to() {
    let folder = prepared("maps by name");
    let fit = "fit --method vector --predictions a.csv --labels names.csv -o v.map";
    said(&folder, fit);
    said(&folder, "apply v.map --predictions a.csv -o straight.csv");
    let (_, words) = said(&folder, "apply v.map --predictions b.csv -o turned.csv");
    assert_eq!(
        words,
        "calibration: b.csv: columns are taken by their names: cat, dog, emu\n"
    );
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("straight.csv"), read("turned.csv"));
    begins(&read("straight.csv"), "cat,dog,emu\n");
    for (arguments, expected) in [
        (
            "v.map --predictions c.csv",
            "c.csv: the columns are named cat, dog, cow, expected cat, dog, emu as of v.map;",
        ),
        (
            "v.map --predictions p.csv",
            "p.csv: the columns are named p0, p1, p2, expected cat, dog, emu as of v.map;",
        ),
        (
            "v.map --predictions a.csv --logits --force",
            "v.map: the vector scaling was fitted to probabilities, and these are logits,",
        ),
        (
            "v.map --predictions a.csv --family normal",
            "v.map: a vector scaling is a map of classes, expected one of normal or Laplace",
        ),
    ] {
        let found = complaint(&folder, &format!("apply {arguments} -o out.csv"));
        contains(&found, expected);
    }
    let (out, _) = said(&folder, "show v.map");
    contains(
        &out,
        "\nfitted to: --family categorical\ncolumns: cat, dog, emu\n",
    );
    let shown = json(&folder, "show v.map");
    assert_eq!(shown["fitted_to"]["columns"][2], "emu");

    write(
        &folder,
        &[("n.csv", "mean,sd,y\n0,1,1\n1,2,-2\n2,1,2.5\n0,3,1\n")],
    );
    let fit = |family: &str, method: &str| {
        let fit = format!(
            "fit --family {family} --method {method} --predictions n.csv --label-column y -o"
        );
        said(&folder, &format!("{fit} {family}-{method}.map"));
    };
    said(
        &folder,
        "fit --method temperature --predictions a.csv --labels y.csv -o t.map",
    );
    fit("normal", "temperature");
    fit("normal", "variance");
    let rest = "--predictions n.csv --label-column y -o out.csv";
    for (map, family, of) in [
        ("t.map", "normal", "categorical"),
        ("t.map", "laplace", "categorical"),
        ("normal-variance.map", "laplace", "normal"),
        ("normal-temperature.map", "laplace", "normal"),
    ] {
        contains(
            &complaint(&folder, &format!("apply {map} --family {family} {rest}")),
            &format!(
                "of --family {of}, expected one of --family {family}; --family {of} applies it"
            ),
        );
    }
    contains(
        &complaint(
            &folder,
            "apply normal-temperature.map --predictions a.csv -o out.csv",
        ),
        "a temperature scaling of --family normal, expected one of --family categorical;",
    );
    contains(
        &complaint(
            &folder,
            "apply normal-variance.map --predictions a.csv -o out.csv",
        ),
        "apply it with --family normal or laplace",
    );
    said(
        &folder,
        &format!("apply normal-variance.map --family normal {rest}"),
    );
    begins(&read("out.csv"), "mean,sd\n");
}

/// Locations and scales are told by their names, and matched by them.
#[test]
fn parameters_by_name() {
    let folder = folder("parameters by name");
    write(
        &folder,
        &[
            ("a.csv", "mean,sd\n0,1\n1,2\n2,1\n"),
            ("b.csv", "sd,mean\n1,0\n2,1\n1,2\n"),
            ("m.csv", "mx,my,sx,sy\n0,5,1,2\n1,6,1,2\n2,7,1,2\n"),
            ("n.csv", "my,mx,sy,sx\n5,0,2,1\n6,1,2,1\n7,2,2,1\n"),
            ("y.csv", "0.5\n1\n3\n"),
            ("z.csv", "0.5,4\n1,7\n3,9\n"),
        ],
    );
    for (a, b, y) in [("a", "b", "y"), ("m", "n", "z")] {
        let compare = format!(
            "compare --family normal --before {a}.csv --after {b}.csv --targets {y}.csv --json"
        );
        let (out, words) = said(&folder, &compare);
        let found: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(found["changes"]["crps"]["difference"], 0.0, "{a}");
        contains(&words, "columns are taken by their names");
    }
    contains(
        &complaint(
            &folder,
            "evaluate --family normal --predictions b.csv --targets y.csv",
        ),
        "b.csv: the columns are named sd, mean, expected locations and then scales;",
    );
    let columns = "evaluate --family normal --predictions b.csv --targets y.csv --columns mean,sd";
    let expected = found(
        &folder,
        "evaluate --family normal --predictions a.csv --targets y.csv",
    );
    assert_eq!(found(&folder, columns), expected);
}

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
