//! What numbers of a file are: percentages, logarithms, rounded ones, a header or a row.

use crate::*;

/// 1.0000001 is 1 in f32, as a sum of 1.0000001 is: see the script as well.
#[test]
fn probabilities_are_rounded() {
    let folder = folder("rounded");
    let numbers = [1.000_000_1f32, 0.0, 0.2, 0.8, 0.3, 0.7];
    let array = npy(&numbers, &[3, 2], npyz::Order::C);
    fs::write(folder.join("p.npy"), array).unwrap();
    write(&folder, &[("y.csv", "0\n1\n1\n")]);
    let of_npy = found(&folder, "evaluate --predictions p.npy --labels y.csv");
    assert_eq!(of_npy["accuracy"], 1.0);
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
    let files = [
        ("p.csv", rows(&|p| p)),
        ("z.csv", rows(&logit)),
        ("pct.csv", rows(&|p| 100.0 * p)),
        ("log.csv", rows(&f64::ln)),
    ];
    write(&folder, &files);
    let mut briers = Vec::new();
    for (file, options) in [
        ("p.csv", ""),
        ("z.csv", "--logits"),
        ("pct.csv", "--percent"),
        ("log.csv", "--log-probabilities"),
    ] {
        let options = format!("--positive --label-column y {options}");
        let run = |command: &str, rest: &str| {
            let arguments = format!("{command} {file} {rest} {options}");
            printed(&folder, &arguments)
        };
        run("fit --method temperature --predictions", "-o t.map");
        run(
            "apply t.map --predictions",
            "--only-predictions -o after.csv",
        );
        let after = read(&folder, "after.csv");
        begins(&after, "risk\n");
        assert_eq!(after.lines().count(), 41);
        let found = run("compare --before", "--after after.csv --json");
        let found: Value = serde_json::from_str(&found).unwrap();
        briers.push(number(&found["changes"]["brier"]["after"]));
        run("report --predictions", "--after after.csv -o r.html");
    }
    for brier in &briers {
        assert_relative_eq!(*brier, briers[0], max_relative = 1e-6);
    }
}
