//! `calibration fit` and `calibration apply`: every process is a new one.

use crate::*;

const METHODS: &str = "temperature shift ensemble-temperature diagonal order-preserving order-invariant vector matrix \
     dirichlet structured-vector structured-matrix platt beta quadratic isotonic venn-abers histogram spline";

/// Forty rows of three logits with labels, counted from 1.
fn write_data(folder: &Path) {
    let row = |i: usize| [0.0, 2.3, 4.6].map(|c| 4.0 * (1.7 * i as f64 + c).sin());
    let label = |i: usize| {
        let row = row(i);
        let likely = (0..3).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
        let class = if i.is_multiple_of(3) {
            i % 4 % 3
        } else {
            likely
        };
        (class + 1).to_string()
    };
    let rows = lines(40, |i| row(i).map(|z| format!("{z:?}")).join(","));
    write(folder, &[("z.csv", rows), ("y.csv", lines(40, label))]);
}

/// The arguments that name logits, and those that name them with their labels.
const LOGITS: &str = "--predictions z.csv --logits";
const LABELLED: &str = "--predictions z.csv --logits --labels y.csv --one-based";

/// Fitted in one process, applied in two others: the same bits in every format.
#[test]
fn every_method_is_fitted_saved_and_applied() {
    let folder = folder("fit");
    write_data(&folder);
    for method in METHODS.split(' ') {
        let fit = format!("fit --method {method} {LABELLED} -o {method}.map");
        let object = json(&folder, &fit);
        assert_eq!(
            (&object["n"], &object["class_count"]),
            (&40.into(), &3.into())
        );
        assert_eq!(object["method"], method);
        let loss = |when: &str| number(&object["log_loss"][when]);
        let least = if method == "shift" { 0.0 } else { 0.05 };
        assert!(loss("after") < loss("before") - least, "{object}");
        assert!(object["fit"]["evaluations"].as_u64().unwrap() > 0);
        match method {
            "temperature" | "shift" | "ensemble-temperature" => {
                assert_eq!(object["injective"], true)
            }
            // depends on the fit
            "diagonal" | "dirichlet" | "structured-vector" | "structured-matrix" => {}
            _ => assert_eq!(object["injective"], false, "{method}"),
        }

        let apply = |output: &str, options: &str| {
            let line = format!("apply {method}.map {LOGITS} -o {output} {options}");
            assert_eq!(printed(&folder, &line), "");
            folder.join(output)
        };
        let first = fs::read(apply("a.csv", "")).unwrap();
        assert_eq!(first, fs::read(apply("b.csv", "")).unwrap());
        let logits = read_csv(&folder.join("a.csv"));
        let file = fs::read(apply("a.npy", "")).unwrap();
        let npy = npyz::NpyFile::new(&file[..]).unwrap();
        assert_eq!(npy.into_vec::<f64>().unwrap(), logits.concat());
        let file = fs::read(apply("a.safetensors", "")).unwrap();
        let tensors = safetensors::SafeTensors::deserialize(&file).unwrap();
        let tensor = tensors.tensor("logits").unwrap();
        assert_eq!(tensor.shape(), [40, 3]);
        let logits_of = logits.concat().into_iter();
        let bytes: Vec<u8> = logits_of.flat_map(f64::to_le_bytes).collect();
        assert_eq!(tensor.data(), bytes);
        // probabilities are their softmax, packed or not
        let rows = read_csv(&apply("p.csv", "--to-probabilities"));
        for (z, p) in logits.iter().zip(&rows) {
            let sum: f64 = z.iter().map(|z| z.exp()).sum();
            for (z, p) in z.iter().zip(p) {
                assert_relative_eq!(z.exp() / sum, p, max_relative = 1e-9);
            }
        }
        let packed = fs::read(apply("p.csv.gz", "--to-probabilities")).unwrap();
        let text = std::io::read_to_string(flate2::read::GzDecoder::new(&packed[..]));
        assert_eq!(text.unwrap(), read(&folder, "p.csv"));
    }
}

/// By every loss; that of the temperature of log-probabilities does not depend on how they come.
#[test]
fn losses_and_probabilities() {
    let folder = folder("losses");
    write_data(&folder);
    for loss in ["log", "brier", "skce", "mmce"] {
        let fit = format!("fit --method temperature --loss {loss} {LABELLED} -o {loss}.map");
        assert_eq!(json(&folder, &fit)["loss"], loss);
    }
    let apply = format!("apply log.map {LOGITS} -o p.csv --to-probabilities");
    done(&folder, &apply);
    let data = "--predictions p.csv --labels y.csv --one-based";
    let again = format!("fit --method temperature {data} -o again.map");
    let object = json(&folder, &again);
    // DIAG loses nothing of log-probabilities
    let diagonal = format!("fit --method diagonal {data} -o d.map");
    assert_eq!(json(&folder, &diagonal)["injective"], true);
    // what is calibrated has a temperature near 1, but for the prior, and gains next to nothing
    let loss = &object["log_loss"];
    let gain = number(&loss["before"]) - number(&loss["after"]);
    assert!(gain.abs() < 0.01, "{object}");
    let text = printed(&folder, &again);
    let title = "temperature scaling of 40 predictions of 3 classes, saved as again.map";
    begins(&text, title);
    contains(&text, "keeps the accuracy:             yes");
}

/// Without a method: what was chosen and why, in words and in JSON, and a map like any other.
#[test]
fn a_map_is_chosen() {
    let folder = folder("fit by choice");
    write_data(&folder);
    let fit = &format!("fit {LABELLED} -o a.map");
    let object = json(&folder, fit);
    let choice = &object["choice"];
    assert_eq!(object["method"], choice["chosen"]);
    assert_eq!(choice["chosen"], "temperature");
    for (at, name) in ["none", "temperature"].into_iter().enumerate() {
        assert_eq!(choice["candidates"][at]["name"], name);
    }
    let mut over = choice["passed_over"].as_array().unwrap().iter();
    let over = over.find(|over| over["name"] == "order-invariant");
    assert!(over.unwrap()["least"].is_u64());
    let warnings = object["warnings"].to_string();
    contains(&warnings, "40 samples are too few");

    let text = printed(&folder, fit);
    let why = "the simplest map within one standard error of the best (± below includes the variation of the fits too)";
    let score = "the score test rejects the predictions before: p ≤ 0.001";
    contains(
        &text,
        &format!("\nchosen:     temperature, {why}; {score}\n"),
    );
    for (keep, kept) in [
        ("order", "keeps_order"),
        ("accuracy", "keeps_accuracy"),
        ("information", "injective"),
    ] {
        let object = json(&folder, &format!("{fit} --keep {keep}"));
        assert_eq!(object[kept], true, "{object}");
    }
    printed(&folder, &format!("apply a.map {LOGITS} -o out.csv"));
}

/// The levels of a map of steps are the same bytes wherever they are written, and never fall where risks rise.
#[test]
fn equal_levels_are_equal_numbers() {
    let folder = folder("levels-of-steps");
    let risk = |i: usize| (i * 263 % 500) as f64 / 500.0 + 0.001;
    let event = |i: usize| u8::from((i * 97 % 500) as f64 / 500.0 < risk(i).sqrt());
    let rows = lines(500, |i| format!("{:?},{}", risk(i), event(i)));
    write(&folder, &[("r.csv", format!("risk,y\n{rows}"))]);
    let data = "--predictions r.csv --positive --columns risk";
    for method in ["isotonic", "histogram"] {
        let fit = format!("fit --method {method} {data} --label-column y -o steps.map");
        printed(&folder, &fit);
        printed(&folder, &format!("apply steps.map {data} -o after.csv"));
        let after = read(&folder, "after.csv");
        let after = after.lines().skip(1).map(|line| {
            let (level, _) = line.split_once(',').unwrap();
            level.parse::<f64>().unwrap()
        });
        let mut pairs: Vec<(f64, f64)> = (0..500).map(risk).zip(after).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let levels: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
        assert!(method == "histogram" || levels.is_sorted(), "{levels:?}");
        let distinct = |mut levels: Vec<f64>, width: f64| {
            levels.sort_by(f64::total_cmp);
            levels.dedup_by(|a, b| *a - *b <= width);
            levels.len()
        };
        let count = distinct(levels.clone(), 0.0);
        assert_eq!(count, distinct(levels, 1e-9), "{method}");
        assert!((5..40).contains(&count), "{method}: {count}");
    }
}
