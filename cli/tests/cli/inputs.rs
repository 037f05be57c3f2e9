//! Predictions and labels as people have them.

use super::*;

#[test]
fn one_column_of_two_classes() {
    let folder = folder("positive");
    let p = [0.9, 0.2, 0.7, 0.4, 0.1];
    let two: String = p.iter().map(|p| format!("{:?},{p}\n", 1.0 - p)).collect();
    let one: String = p.iter().map(|p| format!("{p}\n")).collect();
    let odds: String = p
        .iter()
        .map(|p: &f64| format!("{}\n", (p / (1.0 - p)).ln()))
        .collect();
    write(
        &folder,
        &[
            ("two.csv", &two),
            ("one.csv", &one),
            ("odds.csv", &odds),
            ("headed.csv", &format!("prob\n{one}")),
            ("y.csv", "1\n0\n1\n1\n0\n"),
            ("words.csv", "True\nfalse\nYes\ntrue\nNO\n"),
            ("named.csv", "ill\nwell\nill\nill\nwell\n"),
        ],
    );
    let two = found(&folder, "evaluate --predictions two.csv --labels y.csv");
    let words = "evaluate --predictions two.csv --labels words.csv";
    assert_eq!(found(&folder, words), two);
    let risks = "evaluate --predictions one.csv --positive --labels y.csv";
    let expected = found(&folder, risks);
    for arguments in [
        "--predictions headed.csv --positive --labels y.csv",
        "--predictions one.csv --positive --labels words.csv",
    ] {
        assert_eq!(
            found(&folder, &format!("evaluate {arguments}")),
            expected,
            "{arguments}"
        );
    }
    let named = "--predictions one.csv --positive --labels named.csv --classes well,ill";
    let named = found(&folder, &format!("evaluate {named}"));
    assert_eq!(named["estimates"], expected["estimates"]);
    let logits = "evaluate --predictions odds.csv --positive --logits --labels y.csv";
    let brier = |value: &Value| value["estimates"]["brier"].as_f64().unwrap();
    assert_relative_eq!(
        brier(&found(&folder, logits)),
        brier(&expected),
        max_relative = 1e-12
    );
    for (arguments, expected) in [
        (
            "two.csv --positive --labels y.csv",
            "two.csv: 2 columns, expected one with --positive",
        ),
        (
            "one.csv --positive --logits --labels y.csv",
            "one.csv: the column holds probabilities",
        ),
        (
            "odds.csv --positive --labels y.csv",
            "odds.csv: row 0 (line 1), class 1: the probability is 2.19",
        ),
        (
            "one.csv --positive --labels named.csv",
            "named.csv: row 0 (line 2): the label is well, expected a class in 0..=1; --classes names",
        ),
    ] {
        let found = complaint(&folder, &format!("evaluate --predictions {arguments}"));
        begins(&found, expected);
    }
    // the same map, whatever the form of its predictions
    for (name, options) in [("one.csv", "--positive"), ("two.csv", "")] {
        found_map(&folder, &format!("--predictions {name} {options}"), name);
    }
    let [one, two] =
        ["one.csv.out.csv", "two.csv.out.csv"].map(|name| read_csv(&folder.join(name)));
    // one column as it was read, that of class 1
    assert_eq!(one.len(), two.len());
    for (one, two) in one.iter().zip(two) {
        assert_eq!(one.len(), 1);
        assert_relative_eq!(one[0], two[1], max_relative = 1e-9);
    }
}

fn found_map(folder: &Path, predictions: &str, name: &str) {
    found(
        folder,
        &format!("fit --method platt {predictions} --labels y.csv -o {name}.map"),
    );
    let apply = format!("apply {name}.map {predictions} --to-probabilities -o {name}.out.csv");
    assert!(calibration(folder, &apply).status.success());
}

/// As published tables have them; the top label as an event of two classes.
#[test]
fn confidence_and_correctness() {
    let folder = folder("confidence");
    let rows = "0.9,1\n0.8,0\n0.6,1\n0.55,0\n";
    write(
        &folder,
        &[
            ("c.csv", &format!("confidence,accuracy\n{rows}")),
            (
                "swapped.csv",
                "correct,confidence\nTrue,0.9\nFalse,0.8\nTrue,0.6\nFalse,0.55\n",
            ),
            ("bare.csv", rows),
            ("two.csv", "0.1,0.9\n0.2,0.8\n0.4,0.6\n0.45,0.55\n"),
            ("y.csv", "1\n0\n1\n0\n"),
        ],
    );
    let values = [0.9, 1.0, 0.8, 0.0, 0.6, 1.0, 0.55, 0.0];
    fs::write(folder.join("c.npy"), npy(&values, &[4, 2], npyz::Order::C)).unwrap();
    let same = |a: &Value, b: &Value, key: &str| {
        let [a, b] = [a, b].map(|object| object["estimates"][key].as_f64().unwrap());
        assert_relative_eq!(a, b, max_relative = 1e-12);
    };
    let expected = found(&folder, "evaluate --predictions two.csv --labels y.csv");
    for arguments in [
        "c.csv",
        "swapped.csv",
        "bare.csv --confidence-correctness",
        "c.npy --confidence-correctness",
    ] {
        let found = found(&folder, &format!("evaluate --predictions {arguments}"));
        for key in ["brier", "log", "skce_unbiased"] {
            same(&found, &expected, key);
        }
        let [ece, top] = [(&found, "ece_event"), (&expected, "ece_top_label")]
            .map(|(object, key)| object["estimates"][key].as_f64().unwrap());
        assert_relative_eq!(ece, top, max_relative = 1e-12);
    }
    let said = calibration(&folder, "evaluate --predictions c.csv");
    assert_eq!(
        String::from_utf8(said.stderr).unwrap(),
        "calibration: c.csv: confidence in a class, and whether it was right (1) or not (0)\n"
    );
    write(&folder, &[("c.csv", "confidence,accuracy\n0.9,0.7\n")]);
    let found = complaint_of(&folder, "evaluate --predictions c.csv");
    contains(&found, "row 0 (line 2): the label is 0.7");
    let found = complaint(&folder, "evaluate --predictions bare.csv");
    contains(&found, "expected --labels FILE, or --label-column COLUMN");
}

/// The last line of what is said of bad input.
fn complaint_of(folder: &Path, arguments: &str) -> String {
    let output = calibration(folder, arguments);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    let said = String::from_utf8(output.stderr).unwrap();
    said.lines().last().unwrap().to_owned()
}

/// Predictions, labels and more in one file.
#[test]
fn columns_are_chosen() {
    let folder = folder("columns");
    let names = ["cat", "dog", "cat", "emu"];
    let rows = ROWS.lines().zip(names).enumerate();
    let all: String = rows
        .map(|(i, (row, name))| format!("{i},im{i}.png,{row},{name}\n"))
        .collect();
    let few: String = (ROWS.lines().zip(LABELS.lines()))
        .map(|(row, y)| format!("{row},{y}\n"))
        .collect();
    write(
        &folder,
        &[
            ("all.csv", &format!(",file,cat,dog,emu,label\n{all}")),
            ("few.csv", &format!("p0,p1,p2,y\n{few}")),
            ("p.csv", ROWS),
            ("y.csv", LABELS),
        ],
    );
    let values: Vec<f64> = few
        .split([',', '\n'])
        .filter_map(|cell| cell.parse().ok())
        .collect();
    fs::write(
        folder.join("few.npy"),
        npy(&values, &[4, 4], npyz::Order::C),
    )
    .unwrap();
    let expected = found(&folder, "evaluate --predictions p.csv --labels y.csv");
    for arguments in [
        "all.csv --columns cat,dog,emu --label-column label",
        "all.csv --columns cat..emu --label-column 5",
        "all.csv --columns 2-4 --labels y.csv",
        "few.csv --label-column y",
        "few.csv --columns p0..p2 --label-column y",
        "few.npy --label-column 3",
        "few.npy --columns 0-2 --labels y.csv",
    ] {
        let arguments = format!("evaluate --predictions {arguments}");
        assert_eq!(found(&folder, &arguments), expected, "{arguments}");
    }
    found(
        &folder,
        "fit --method temperature --predictions few.csv --label-column y -o t.map",
    );
    for arguments in ["few.csv --label-column y -o a.csv", "p.csv -o b.csv"] {
        let done = calibration(&folder, &format!("apply t.map --predictions {arguments}"));
        assert!(done.status.success(), "{done:?}");
    }
    let [a, b] = ["a.csv", "b.csv"].map(|name| fs::read_to_string(folder.join(name)).unwrap());
    assert_eq!(a, format!("p0,p1,p2\n{b}"));
    // the labels of the first file are those of both
    found(
        &folder,
        "compare --before few.csv --after few.csv --label-column y",
    );
    found(
        &folder,
        "compare --before few.csv --after p.csv --label-column y",
    );
    for columns in ["p0,p0", "3..p0", "1-9", "-", "a..b"] {
        let arguments =
            format!("evaluate --predictions few.csv --label-column y --columns={columns}");
        begins(&complaint(&folder, &arguments), "few.csv: --columns");
    }
    assert_eq!(
        complaint(
            &folder,
            "evaluate --predictions few.csv --label-column y --columns 9"
        ),
        "few.csv: --columns: no column \"9\", expected a number below 4 or one of p0, p1, p2, y"
    );
    let wrong = complaint(&folder, "evaluate --predictions few.csv");
    contains(&wrong, "expected --labels FILE, or --label-column COLUMN");
    let wrong = complaint(
        &folder,
        "evaluate --predictions all.csv --label-column label",
    );
    assert_eq!(
        wrong,
        "all.csv: row 0 (line 2), column 1 (file): \"im0.png\", expected a number"
    );
}

/// Predictions of real vectors, with the targets beside them.
#[test]
fn targets_in_a_column() {
    let folder = folder("target column");
    let row = |i: usize| (i as f64, 1.0 + (i % 3) as f64, i as f64 + (i as f64).sin());
    let rows = || (0..20).map(row);
    let text = |f: &dyn Fn((f64, f64, f64)) -> String| rows().map(f).collect::<String>();
    write(
        &folder,
        &[
            (
                "p.csv",
                &text(&|(mean, deviation, _)| format!("{mean},{deviation}\n")),
            ),
            ("y.csv", &text(&|(_, _, y)| format!("{y}\n"))),
            (
                "all.csv",
                &format!("y,mean,sd\n{}", text(&|(m, s, y)| format!("{y},{m},{s}\n"))),
            ),
        ],
    );
    let of = |arguments: &str| found(&folder, &format!("evaluate --family normal {arguments}"));
    let expected = of("--predictions p.csv --targets y.csv");
    assert_eq!(of("--predictions all.csv --label-column y"), expected);
    assert_eq!(
        of("--predictions p.csv --targets all.csv --label-column y"),
        expected
    );
    assert_eq!(
        of("--predictions all.csv --columns mean,sd --targets y.csv"),
        expected
    );
}
