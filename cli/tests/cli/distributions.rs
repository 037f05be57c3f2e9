//! `calibration fit`, `apply` and `show` of `--family normal` and `laplace`.

use crate::*;

const DATA: &str = "--predictions p.csv --targets y.csv";

/// 120 predictions that are three times too narrow, and too low where they are high.
fn written(test: &str) -> PathBuf {
    let folder = folder(test);
    let mean = |x: f64| (0.7 * x).sin();
    let p = |x: f64| format!("{:?},{:?}", mean(x), 0.2 + 0.01 * (x % 7.0));
    let target = |x: f64| {
        let bias = if mean(x) > 0.0 { 2.0 } else { 0.0 };
        format!("{:?}", mean(x) + bias + (1.3 * x * x + 0.4).sin() * 1.5)
    };
    let [p, y] = [
        lines(120, |i| p(i as f64)),
        lines(120, |i| target(i as f64)),
    ];
    write(&folder, &[("p.csv", p), ("y.csv", y)]);
    folder
}

/// The whole way: fit, apply, evaluate and compare.
#[test]
fn a_choice_is_applied_and_evaluated() {
    let folder = written("distributions_auto");
    for (family, mixture) in [("normal", "normal-mixture"), ("laplace", "laplace-mixture")] {
        let fitted = json(&folder, &format!("fit --family {family} {DATA} -o m.bpk"));
        assert_eq!(fitted["method"], "local", "{fitted}");
        assert_eq!(fitted["dimensions"], 1);
        assert!(number(&fitted["choice"]["change"]["estimate"]) < -1.0);
        let apply = format!("apply m.bpk --family {family} --predictions p.csv -o q.csv");
        let expected = format!("calibration: q.csv: rows of --family {mixture}\n");
        assert_eq!(done(&folder, &apply).1, expected);
        let crps = |family: &str, file: &str| {
            let files = format!("--predictions {file} --targets y.csv");
            let arguments = format!("evaluate --family {family} {files} --redraws 19");
            number(&json(&folder, &arguments)["estimates"]["crps"])
        };
        let [before, after] = [crps(family, "p.csv"), crps(mixture, "q.csv")];
        assert!(after < 0.7 * before, "{before} {after}");
        let compare = format!(
            "compare --family {family} --after-family {mixture} --before p.csv --after q.csv --targets y.csv \
             --redraws 19"
        );
        let compared = json(&folder, &compare);
        let crps = &compared["changes"]["crps"];
        assert_eq!(crps["before"].as_f64(), Some(before));
        assert_eq!(crps["after"].as_f64(), Some(after));
        assert!(number(&compared["changes"]["log"]["difference"]) < -1.0);
        assert_eq!(compared["dimensions"], 1);
    }
}

#[test]
fn every_method() {
    let folder = written("distributions_methods");
    for (method, columns) in [
        ("temperature", 2),
        ("variance", 2),
        ("location-scale", 2),
        ("quantile", 100),
        ("local", 48),
    ] {
        let fit = format!("fit --family normal --method {method} {DATA} -o {method}.bpk");
        let fitted = json(&folder, &fit);
        assert_eq!(fitted["method"], method);
        assert_eq!(fitted["choice"]["skipped"], "the map was named by --method");
        let apply = format!("apply {method}.bpk --family normal --predictions p.csv -o");
        done(&folder, &format!("{apply} {method}.csv"));
        let rows = read(&folder, &format!("{method}.csv"));
        let counts = rows.lines().map(|row| row.split(',').count());
        assert!(counts.eq([columns; 120]), "{method}");
        let shown = json(&folder, &format!("show {method}.bpk"));
        assert_eq!(shown["kind"], fitted["kind"]);
        assert!(!shown["parameters"].as_array().unwrap().is_empty());
    }
    let keep = format!("fit --family normal --keep mean {DATA} -o kept.bpk");
    let fitted = json(&folder, &keep);
    assert_eq!(fitted["method"], "variance");
    assert_eq!(fitted["keeps_mean"], true);
}
