//! `--logits`, without which predictions are probabilities; zeros and sums of these.

use super::*;

const COMMANDS: [&str; 4] = [
    "evaluate --predictions p.csv --labels y.csv",
    "compare --before p.csv --after p.csv --labels y.csv",
    "fit --method temperature --predictions p.csv --labels y.csv -o t.map",
    "summarise --predictions p.csv --labels y.csv -o part.json",
];

fn written(name: &str, predictions: &str) -> PathBuf {
    let folder = folder(name);
    fs::write(folder.join("p.csv"), predictions).unwrap();
    fs::write(folder.join("y.csv"), LABELS).unwrap();
    folder
}

#[test]
fn probabilities_are_no_logits() {
    let folder = written("probabilities as logits", ROWS);
    for command in COMMANDS {
        assert_eq!(
            complaint(&folder, &format!("{command} --logits")),
            "p.csv: the rows are probabilities, each in [0, 1] and of sum 1: leave --logits out, or add \
             --force if they are logits"
        );
        let done = calibration(&folder, &format!("{command} --logits --force"));
        assert!(done.status.success(), "{done:?}");
    }
    let done = calibration(&folder, COMMANDS[2]);
    assert!(done.status.success(), "{done:?}");
    let apply = "apply t.map --predictions p.csv --logits -o out.csv";
    assert!(complaint(&folder, apply).starts_with("p.csv: the rows are probabilities"));
}

#[test]
fn logits_are_no_probabilities() {
    let folder = written("logits as probabilities", "2,-1,0\n0,1,0\n0,3,0\n1,0,0\n");
    for command in COMMANDS {
        assert_eq!(
            complaint(&folder, command),
            "p.csv: row 0 (line 1), class 0: the probability is 2, expected a number in [0, 1]; did you mean --logits?"
        );
        let done = calibration(&folder, &format!("{command} --logits"));
        assert!(done.status.success(), "{done:?}");
    }
    fs::write(folder.join("p.csv"), "0.9,0.9,0.8\n".repeat(4)).unwrap();
    let found = complaint(&folder, COMMANDS[0]);
    contains(&found, "did you mean --logits?");
}

/// Zeros are taken by maps of the order alone, and raised by `--clip`.
#[test]
fn zeros_among_probabilities() {
    let rows = "1,0\n0,1\n0.9,0.1\n0.2,0.8\n0,1\n1,0\n0.4,0.6\n0.7,0.3\n";
    let folder = written("zeros", rows);
    fs::write(folder.join("y.csv"), "0\n1\n0\n1\n0\n0\n0\n1\n").unwrap();
    let fit = |method: &str| {
        format!("fit --method {method} --predictions p.csv --labels y.csv -o {method}.map")
    };
    let apply = |method: &str| {
        format!("apply {method}.map --predictions p.csv --to-probabilities -o {method}.csv")
    };
    for method in ["isotonic", "venn-abers", "histogram"] {
        json(&folder, &fit(method));
        let done = calibration(&folder, &apply(method));
        assert!(done.status.success(), "{done:?}");
        let rows = read_csv(&folder.join(format!("{method}.csv")));
        assert!(rows.concat().iter().all(|p| (0.0..=1.0).contains(p)));
    }
    // by hand: none of 0, 0, 0.1; one of 0.3 and 0.6; two of 0.8, 1, 1
    let isotonic = read_csv(&folder.join("isotonic.csv"));
    let (low, high) = (1.0 / 18.0, 2.0 / 3.0);
    let expected = [low, high, low, high, high, low, 0.5, 0.5];
    for (row, expected) in isotonic.iter().zip(expected) {
        assert_relative_eq!(row[1], expected, max_relative = 1e-9);
    }
    for method in ["temperature", "platt"] {
        let found = complaint(&folder, &fit(method));
        contains(&found, "--clip EPS");
        json(&folder, &format!("{} --clip 1e-6", fit(method)));
        assert!(complaint(&folder, &apply(method)).contains("--clip EPS"));
    }
    let usage = calibration(&folder, &format!("{} --clip 0", fit("platt")));
    assert_eq!(usage.status.code(), Some(2));
    // the log score of what is certain and wrong is that of the clip
    let base = "evaluate --predictions p.csv --labels y.csv";
    assert!(json(&folder, base)["estimates"]["log"]["error"].is_string());
    let found = json(&folder, &format!("{base} --clip 1e-6"));
    let others = -(0.9f64 * 0.8 * 0.4 * 0.3).ln();
    let expected = (others - (1e-6f64).ln() + 4.0 * (1e-6f64).ln_1p()) / 8.0;
    let found = found["estimates"]["log"].as_f64().unwrap();
    assert_relative_eq!(found, expected, max_relative = 1e-6);
}

#[test]
fn rows_are_divided_by_their_sum() {
    let folder = written("normalise", "7,2,1\n1,8,1\n3,3,4\n0.25,0.5,0.25\n");
    fs::write(folder.join("q.csv"), ROWS).unwrap();
    let of = |name: &str, rest: &str| {
        json(
            &folder,
            &format!("evaluate --predictions {name} --labels y.csv {rest}"),
        )
    };
    let [divided, expected] = [of("p.csv", "--normalise"), of("q.csv", "")];
    for key in ["brier", "log", "skce_unbiased"] {
        let [divided, expected] =
            [&divided, &expected].map(|object| object["estimates"][key].as_f64().unwrap());
        assert_relative_eq!(divided, expected, max_relative = 1e-12);
    }
    fs::write(folder.join("p.csv"), "0,0,0\n".repeat(4)).unwrap();
    assert_eq!(
        complaint(
            &folder,
            "evaluate --predictions p.csv --labels y.csv --normalise"
        ),
        "p.csv: row 0 (line 1): the sum is 0, expected a positive number"
    );
}
