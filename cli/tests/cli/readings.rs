//! What numbers of a file are: percentages, logarithms, rounded ones, a header or a row.

use super::*;

/// The last line of standard error of what fails.
fn refused(folder: &Path, arguments: &str) -> String {
    let output = calibration(folder, arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
    said.lines().last().unwrap().to_owned()
}

#[test]
fn percentages_and_logarithms_are_told() {
    let folder = folder("percent");
    write(
        &folder,
        &[
            ("pct.csv", "p,y\n90,1\n20,0\n30,0\n"),
            ("p.csv", "p,y\n0.9,1\n0.2,0\n0.3,0\n"),
            ("rows_pct.csv", "a,b\n90,10\n20,80\n33,67\n"),
            ("rows.csv", "a,b\n0.9,0.1\n0.2,0.8\n0.33,0.67\n"),
            (
                "log.csv",
                "confidence,correct\n-0.105,0\n-0.21,1\n-0.315,1\n",
            ),
            (
                "rows_log.csv",
                "a,b\n-0.105361,-2.302585\n-1.609438,-0.223144\n-1.108663,-0.400478\n",
            ),
            ("y.csv", "0\n1\n1\n"),
        ],
    );
    let event = "--positive --label-column y --predictions";
    for (arguments, expected) in [
        (
            format!("{event} pct.csv"),
            "these are percentages: --percent divides them by 100",
        ),
        (
            format!("{event} pct.csv --logits"),
            "these are percentages: --percent in its place",
        ),
        (
            "--predictions rows_pct.csv --labels y.csv".into(),
            "these are percentages: --percent",
        ),
        (
            "--predictions rows_pct.csv --labels y.csv --logits".into(),
            "these are percentages: --percent",
        ),
        (
            "--predictions log.csv".into(),
            "these are logarithms of probabilities: --log-probabilities",
        ),
        (
            "--predictions log.csv --logits".into(),
            "these are logarithms of probabilities, each at most 0",
        ),
        (
            "--predictions rows_log.csv --labels y.csv".into(),
            "these are logarithms of probabilities:",
        ),
    ] {
        let found = refused(&folder, &format!("evaluate {arguments}"));
        contains(&found, expected);
        assert!(!found.contains("did you mean --logits"), "{found}");
    }
    let brier = |arguments: &str| {
        let found = found(&folder, &format!("evaluate {arguments}"));
        number(&found["estimates"]["brier"])
    };
    let same = |one: &str, other: &str| {
        assert_relative_eq!(brier(one), brier(other), max_relative = 1e-5);
    };
    same(
        &format!("{event} pct.csv --percent"),
        &format!("{event} p.csv"),
    );
    let rows = "--predictions rows.csv --labels y.csv";
    same("--predictions rows_pct.csv --labels y.csv --percent", rows);
    same(
        "--predictions rows_log.csv --labels y.csv --log-probabilities",
        rows,
    );
    assert!(brier("--predictions log.csv --log-probabilities") > 0.0);
    // what is no logarithm of a probability is named
    contains(
        &refused(
            &folder,
            "evaluate --predictions rows.csv --labels y.csv --log-probabilities",
        ),
        "rows.csv: row 0 (line 2), column 0: the logarithm is 0.9, expected at most 0",
    );
}

/// 1.0000001 is 1 in f32, as a sum of 1.0000001 is.
#[test]
fn probabilities_are_rounded() {
    let folder = folder("rounded");
    write(
        &folder,
        &[("p.csv", "a,b,y\n1.0000001,0.0,0\n0.2,0.8,1\n0.3,0.7,1\n")],
    );
    let found = found(&folder, "evaluate --predictions p.csv --label-column y");
    assert_eq!(found["accuracy"], 1.0);
    let mut bytes = Vec::new();
    let numbers = [1.000_000_1f32, 0.0, 0.2, 0.8, 0.3, 0.7];
    let mut writer = npyz::WriterBuilder::begin_nd(npyz::WriterBuilder::writer(
        npyz::WriterBuilder::shape(
            npyz::WriterBuilder::default_dtype(npyz::WriteOptions::new()),
            &[3, 2],
        ),
        &mut bytes,
    ))
    .unwrap();
    writer.extend(numbers).unwrap();
    writer.finish().unwrap();
    fs::write(folder.join("p.npy"), bytes).unwrap();
    write(
        &folder,
        &[
            ("y.csv", "0\n1\n1\n"),
            ("far.csv", "a,b\n1.001,0\n0.2,0.8\n0.3,0.7\n"),
        ],
    );
    let of_npy = super::found(&folder, "evaluate --predictions p.npy --labels y.csv");
    assert_eq!(of_npy["accuracy"], 1.0);
    contains(
        &refused(&folder, "evaluate --predictions far.csv --labels y.csv"),
        "far.csv: row 0 (line 2), class 0: the probability is 1.001, expected a number in [0, 1]",
    );
}

/// Names of columns may be numbers, beside words.
#[test]
fn levels_of_quantiles_are_names() {
    let folder = folder("quantiles");
    let row = |i: i32| format!("A,{i},{},{},{}\n", i - 2, i, i + 2);
    let rows: String = (0..12).map(row).collect();
    write(
        &folder,
        &[("q.csv", &format!("location,observed,0.1,0.5,0.9\n{rows}"))],
    );
    for columns in ["2-4", "0.1,0.5,0.9", "0.1..0.9"] {
        let arguments = format!(
            "evaluate --family samples --predictions q.csv --columns {columns} --label-column observed"
        );
        let output = calibration(&folder, &format!("{arguments} --json"));
        let object: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(object["n"], 12);
        contains(
            &String::from_utf8(output.stderr).unwrap(),
            "the columns 0.1, 0.5, 0.9 look like levels of quantiles: they are taken as draws",
        );
    }
    // a value that is missing is no name, nor is a digit that is none
    write(
        &folder,
        &[
            ("na.csv", "NA,0.2,0.8\n0.1,0.2,0.7\n"),
            ("o.csv", "O.1,0.2,0.7\n0.1,0.2,0.7\n"),
        ],
    );
    for file in ["na.csv", "o.csv"] {
        contains(
            &refused(
                &folder,
                &format!("evaluate --predictions {file} --labels none.csv"),
            ),
            "row 0 (line 1), column 0: ",
        );
    }
}

/// A first line `0,1` is a row or a header: the labels tell, or it is an error.
#[test]
fn no_first_line_is_guessed() {
    let folder = folder("first line");
    write(
        &folder,
        &[
            ("p.csv", "0,1\n0.5,0.5\n0.25,0.75\n"),
            ("three.csv", "1\n1\n0\n"),
            ("two.csv", "1\n0\n"),
            ("own.csv", "0,1\n0.3,0\n0.4,1\n"),
            ("one.csv", "0\n0.3\n0.4\n"),
            ("z.csv", "0,1,2\n0.5,1.5,0.25\n0.1,0.2,0.3\n"),
        ],
    );
    let object = found(&folder, "evaluate --predictions p.csv --labels three.csv");
    assert_eq!(object["n"], 3);
    contains(
        &refused(&folder, "evaluate --predictions p.csv --labels two.csv"),
        "two.csv: 2 labels, expected 3, as many as p.csv has rows; --header yes if line 1",
    );
    let object = found(
        &folder,
        "evaluate --predictions p.csv --labels two.csv --header yes",
    );
    assert_eq!(object["n"], 2);
    calibration(
        &folder,
        "fit --method temperature --predictions p.csv --labels three.csv --clip 1e-3 -o t.map",
    );
    for (arguments, line) in [
        (
            "apply t.map --predictions p.csv --clip 1e-3 -o out.csv",
            "0,1",
        ),
        (
            "apply t.map --predictions one.csv --positive --clip 1e-3 -o out.csv",
            "0",
        ),
        (
            "apply t.map --predictions z.csv --logits -o out.csv",
            "0,1,2",
        ),
        (
            "evaluate --predictions own.csv --positive --label-column 1",
            "0,1",
        ),
    ] {
        let found = refused(&folder, arguments);
        contains(
            &found,
            &format!("line 1 ({line}) may be a header or a row, expected --header yes or"),
        );
    }
    assert!(!folder.join("out.csv").exists());
    let output = calibration(
        &folder,
        "apply t.map --predictions p.csv --clip 1e-3 --header no -o kept.csv",
    );
    assert!(output.status.success(), "{output:?}");
    assert_eq!(read_csv(&folder.join("kept.csv")).len(), 3);
}

/// What `apply` writes is read by `compare` and `report` with the same options.
#[test]
fn what_apply_writes_is_read_again() {
    let folder = folder("apply again");
    let rows = |number: &dyn Fn(f64) -> f64| {
        let row = |i: usize| {
            let risk = (i + 1) as f64 / 42.0;
            format!("{},{}\n", number(risk), u8::from(i % 7 == 6 || i > 32))
        };
        "risk,y\n".to_owned() + &(0..40).map(row).collect::<String>()
    };
    let logit = |p: f64| (p / (1.0 - p)).ln();
    write(
        &folder,
        &[
            ("p.csv", &rows(&|p| p)),
            ("z.csv", &rows(&logit)),
            ("pct.csv", &rows(&|p| 100.0 * p)),
            ("log.csv", &rows(&f64::ln)),
        ],
    );
    let mut briers = Vec::new();
    for (file, options) in [
        ("p.csv", ""),
        ("z.csv", "--logits"),
        ("pct.csv", "--percent"),
        ("log.csv", "--log-probabilities"),
    ] {
        let options = format!("--positive --label-column y {options}");
        let run = |arguments: &str| {
            let output = calibration(&folder, &format!("{arguments} {options}"));
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.success(), "{arguments} {options}: {said}");
            output.stdout
        };
        run(&format!(
            "fit --method temperature --predictions {file} -o t.map"
        ));
        run(&format!("apply t.map --predictions {file} -o after.csv"));
        begins(
            &fs::read_to_string(folder.join("after.csv")).unwrap(),
            "risk\n",
        );
        assert_eq!(
            fs::read_to_string(folder.join("after.csv"))
                .unwrap()
                .lines()
                .count(),
            41
        );
        let compare = format!("compare --before {file} --after after.csv --json");
        let found: Value = serde_json::from_slice(&run(&compare)).unwrap();
        briers.push(number(&found["changes"]["brier"]["after"]));
        run(&format!(
            "report --predictions {file} --after after.csv -o r.html"
        ));
    }
    for brier in &briers {
        assert_relative_eq!(*brier, briers[0], max_relative = 1e-6);
    }
    // confidence and correctness: both columns, in their order
    write(
        &folder,
        &[(
            "cc.csv",
            "correct,confidence\n1,0.9\n0,0.8\n1,0.7\n0,0.9\n1,0.6\n1,0.8\n",
        )],
    );
    let run = |arguments: &str| {
        let output = calibration(&folder, arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{arguments}: {said}");
    };
    run("fit --method temperature --predictions cc.csv -o c.map");
    run("apply c.map --predictions cc.csv -o after_cc.csv");
    begins(
        &fs::read_to_string(folder.join("after_cc.csv")).unwrap(),
        "correct,confidence\n1.0,0.",
    );
    run("compare --before cc.csv --after after_cc.csv");
}

/// Correctness is data: 0 or 1, and the same before and after.
#[test]
fn correctness_does_not_change() {
    let folder = folder("correctness");
    write(
        &folder,
        &[
            ("cc.csv", "confidence,correct\n0.9,1\n0.8,0\n0.7,1\n"),
            ("after.csv", "0.4,0.6\n0.35,0.65\n0.3,0.7\n"),
            ("other.csv", "0.8,1\n0.7,1\n0.6,1\n"),
            ("good.csv", "0.8,1\n0.7,0\n0.6,1\n"),
            ("turned.csv", "correct,confidence\n1,0.8\n0,0.7\n1,0.6\n"),
        ],
    );
    for flag in ["", "--confidence-correctness"] {
        let compare = format!("compare {flag} --before cc.csv --after");
        contains(
            &refused(&folder, &format!("{compare} after.csv")),
            "after.csv: row 0 (line 1)",
        );
        contains(
            &refused(&folder, &format!("{compare} other.csv")),
            "other.csv: row 1 (line 2): the correctness is 1, expected 0 as in row 1 (line 3) of cc.csv",
        );
        let of = |file: &str| {
            let output = calibration(&folder, &format!("{compare} {file} --json"));
            assert!(output.status.success(), "{output:?}");
            let found: Value = serde_json::from_slice(&output.stdout).unwrap();
            found["changes"]["brier"].clone()
        };
        assert_eq!(of("good.csv"), of("turned.csv"));
    }
}
