//! `calibration fit`, `apply` and `show` of `--family normal` and `laplace`.

use crate::*;

const DATA: &str = "--predictions p.csv --targets y.csv";

/// 120 predictions that are three times too narrow, and too low where they are high.
fn written(test: &str) -> PathBuf {
    let folder = folder(test);
    let (mut predictions, mut targets) = (String::new(), String::new());
    for i in 0..120 {
        let x = i as f64;
        let (mean, noise) = ((0.7 * x).sin(), (1.3 * x * x + 0.4).sin() * 1.5);
        let bias = if mean > 0.0 { 2.0 } else { 0.0 };
        predictions += &format!("{mean:?},{:?}\n", 0.2 + 0.01 * (x % 7.0));
        targets += &format!("{:?}\n", mean + bias + noise);
    }
    fs::write(folder.join("p.csv"), predictions).unwrap();
    fs::write(folder.join("y.csv"), targets).unwrap();
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
        assert!(fitted["choice"]["change"]["estimate"].as_f64().unwrap() < -1.0);
        let (_, said) = done(
            &folder,
            &format!("apply m.bpk --family {family} --predictions p.csv -o q.csv"),
        );
        assert_eq!(
            said,
            format!("calibration: q.csv: rows of --family {mixture}\n")
        );
        let crps = |family: &str, file: &str| {
            let arguments = format!(
                "evaluate --family {family} --predictions {file} --targets y.csv --replicates 19"
            );
            json(&folder, &arguments)["estimates"]["crps"]
                .as_f64()
                .unwrap()
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
        assert!(compared["changes"]["log"]["difference"].as_f64().unwrap() < -1.0);
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
        let apply =
            format!("apply {method}.bpk --family normal --predictions p.csv -o {method}.csv");
        done(&folder, &apply);
        let rows = fs::read_to_string(folder.join(format!("{method}.csv"))).unwrap();
        assert_eq!(rows.lines().count(), 120);
        assert!(
            rows.lines().all(|row| row.split(',').count() == columns),
            "{method}"
        );
        let shown = json(&folder, &format!("show {method}.bpk"));
        assert_eq!(shown["kind"], fitted["kind"]);
        assert!(!shown["parameters"].as_array().unwrap().is_empty());
    }
    let keep = format!("fit --family normal --keep mean {DATA} -o kept.bpk");
    let fitted = json(&folder, &keep);
    assert_eq!(
        (&fitted["method"], &fitted["keeps_mean"]),
        (&"variance".into(), &true.into())
    );
}
