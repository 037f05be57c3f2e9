//! Labels that are frequencies of several annotators.

use std::{fmt::Write, fs, path::Path};

use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::Value;

use super::{calibration, complaint, folder, json};

const EVALUATE: &str =
    "evaluate --predictions p.csv --labels soft.csv --soft-labels --replicates 99 --json";

fn found(folder: &Path, arguments: &str) -> (Value, String) {
    let output = calibration(folder, arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    (serde_json::from_slice(&output.stdout).unwrap(), said)
}

/// 300 rows of three probabilities; and as counts of 50 annotators.
fn rows() -> Vec<[u32; 3]> {
    let mut rng = StdRng::seed_from_u64(3);
    let mut row = || {
        let (a, b) = (rng.random_range(0..=50), rng.random_range(0..=50));
        let (low, high) = (u32::min(a, b), u32::max(a, b));
        [low, high - low, 50 - high]
    };
    (0..300).map(|_| row()).collect()
}

fn text(rows: &[[u32; 3]], number: impl Fn(u32) -> f64) -> String {
    rows.iter().fold(String::new(), |mut text, row| {
        let [a, b, c] = row.map(&number);
        writeln!(text, "{a:?},{b:?},{c:?}").unwrap();
        text
    })
}

/// Predictions that are the frequencies are calibrated: the test keeps its level. A model that says 98 %
/// each time is not.
#[test]
fn the_level_is_kept() {
    let folder = folder("soft-level");
    let rows = rows();
    fs::write(folder.join("p.csv"), text(&rows, |k| f64::from(k) / 50.0)).unwrap();
    fs::write(folder.join("soft.csv"), text(&rows, f64::from)).unwrap();
    let mut rejected = 0;
    for seed in 0..40 {
        let (found, said) = found(&folder, &format!("{EVALUATE} --seed {seed}"));
        assert_eq!(
            said,
            format!(
                "calibration: soft.csv: labels are frequencies: one is drawn for each row, seed {seed}\n"
            )
        );
        rejected += usize::from(found["omnibus"]["p_value"].as_f64().unwrap() <= 0.05);
    }
    // 40 draws of 5 %: above 6 with a probability of 0.3 %
    assert!(rejected <= 6, "{rejected} of 40");
    fs::write(folder.join("p.csv"), "0.98,0.01,0.01\n".repeat(300)).unwrap();
    let (found, _) = found(&folder, EVALUATE);
    assert!(found["omnibus"]["p_value"].as_f64().unwrap() <= 0.01);
}

/// One label of each row, with its frequency; columns by their names.
#[test]
fn labels_are_drawn() {
    let folder = folder("soft-drawn");
    fs::write(
        folder.join("p.csv"),
        "cat,dog\n".to_owned() + &"1,0\n".repeat(4000),
    )
    .unwrap();
    fs::write(folder.join("soft.csv"), "3,1\n".repeat(4000)).unwrap();
    let (all, _) = found(&folder, EVALUATE);
    let accuracy = |found: &Value| found["accuracy"].as_f64().unwrap();
    assert!((accuracy(&all) - 0.75).abs() < 0.03, "{all}"); // 4 standard errors
    fs::write(
        folder.join("soft.csv"),
        "dog,cat\n".to_owned() + &"3,1\n".repeat(4000),
    )
    .unwrap();
    let (swapped, _) = found(&folder, EVALUATE);
    assert!((accuracy(&swapped) - 0.25).abs() < 0.03);
    // as those of one-hot labels are
    fs::write(
        folder.join("soft.csv"),
        "dog,cat\n".to_owned() + &"1,0\n".repeat(4000),
    )
    .unwrap();
    let one_hot = "evaluate --predictions p.csv --labels soft.csv --replicates 99";
    assert_eq!(accuracy(&json(&folder, one_hot)), 0.0);
    // what has no frequency is never drawn: one-hot labels are those they are
    fs::write(
        folder.join("p.csv"),
        "0.5,0.3,0.2\n0.1,0.8,0.1\n".repeat(20),
    )
    .unwrap();
    fs::write(folder.join("soft.csv"), "0,0,2\n5,0,0\n".repeat(20)).unwrap();
    fs::write(folder.join("y.csv"), "2\n0\n".repeat(20)).unwrap();
    let (drawn, _) = found(&folder, EVALUATE);
    let hard = json(
        &folder,
        "evaluate --predictions p.csv --labels y.csv --replicates 99",
    );
    assert_eq!(drawn, hard);
}

#[test]
fn errors() {
    let folder = folder("soft-errors");
    fs::write(folder.join("p.csv"), "cat,dog\n0.5,0.5\n0.5,0.5\n").unwrap();
    for (labels, expected) in [
        (
            "1,1\n0,0\n",
            "soft.csv: row 1 (line 2): the sum of the frequencies is 0, expected a finite number above 0",
        ),
        (
            "1,-1\n1,0\n",
            "soft.csv: row 0 (line 1), class dog: the frequency is -1, expected a number of at least 0",
        ),
        (
            "1e308,1e308\n1,0\n",
            "soft.csv: row 0 (line 1): the sum of the frequencies is inf, expected a finite number above 0",
        ),
        (
            "dog,bird\n1,0\n1,0\n",
            "soft.csv: column 1 (bird): expected one of cat, dog",
        ),
        (
            "dog,dog\n1,0\n1,0\n",
            "soft.csv: column 1 (dog): the class has two columns, expected one for each class",
        ),
        (
            "1,1,1\n1,1,1\n",
            "soft.csv: 3 columns of frequencies, expected 2, one for each class",
        ),
    ] {
        fs::write(folder.join("soft.csv"), labels).unwrap();
        let arguments = "evaluate --predictions p.csv --labels soft.csv --soft-labels";
        assert_eq!(complaint(&folder, arguments), expected);
    }
    let normal = "evaluate --family normal --predictions p.csv --targets soft.csv --soft-labels";
    assert!(complaint(&folder, normal).starts_with("--soft-labels: of the family categorical"));
}
