//! Labels that are frequencies of several annotators.

use rand::{RngExt, SeedableRng, rngs::StdRng};

use crate::*;

const EVALUATE: &str =
    "evaluate --predictions p.csv --labels soft.csv --soft-labels --replicates 99 --json";

fn found(folder: &Path, arguments: &str) -> (Value, String) {
    let (text, said) = done(folder, arguments);
    (serde_json::from_str(&text).unwrap(), said)
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
    let row = |i: usize| rows[i].map(|k| format!("{:?}", number(k))).join(",");
    lines(rows.len(), row)
}

/// Predictions that are the frequencies are calibrated: the test keeps its level. A model that says 98 %
/// each time is not.
#[test]
fn the_level_is_kept() {
    let folder = folder("soft-level");
    let rows = rows();
    let p = text(&rows, |k| f64::from(k) / 50.0);
    let soft = text(&rows, f64::from);
    write(&folder, &[("p.csv", p), ("soft.csv", soft)]);
    let mut rejected = 0;
    for seed in 0..40 {
        let (found, said) = found(&folder, &format!("{EVALUATE} --seed {seed}"));
        let expected = "calibration: soft.csv: labels are frequencies: one is drawn for each row";
        assert_eq!(said, format!("{expected}, seed {seed}\n"));
        rejected += usize::from(number(&found["omnibus"]["p_value"]) <= 0.05);
    }
    // 40 draws of 5 %: above 6 with a probability of 0.3 %
    assert!(rejected <= 6, "{rejected} of 40");
    fs::write(folder.join("p.csv"), "0.98,0.01,0.01\n".repeat(300)).unwrap();
    let (found, _) = found(&folder, EVALUATE);
    assert!(number(&found["omnibus"]["p_value"]) <= 0.01);
}
