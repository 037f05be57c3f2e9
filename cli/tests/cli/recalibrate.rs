//! `calibration fit` and `calibration apply`: every process is a new one.

use crate::*;

const METHODS: [&str; 17] = [
    "temperature",
    "ensemble-temperature",
    "diagonal",
    "order-preserving",
    "order-invariant",
    "vector",
    "matrix",
    "dirichlet",
    "structured-vector",
    "structured-matrix",
    "platt",
    "beta",
    "quadratic",
    "isotonic",
    "venn-abers",
    "histogram",
    "spline",
];

/// Forty rows of three logits with labels, counted from 1.
fn write_data(folder: &std::path::Path) {
    let row = |i: usize| {
        let entry = |c: usize| 4.0 * (1.7 * i as f64 + 2.3 * c as f64).sin();
        [0, 1, 2].map(entry)
    };
    let rows: Vec<[f64; 3]> = (0..40).map(row).collect();
    let line = |row: &[f64; 3]| row.map(|z| format!("{z:?}")).join(",") + "\n";
    fs::write(
        folder.join("z.csv"),
        rows.iter().map(line).collect::<String>(),
    )
    .unwrap();
    let label = |(i, row): (usize, &[f64; 3])| {
        let likely = (0..3).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
        let class = if i % 3 == 0 { i % 4 % 3 } else { likely };
        format!("{}\n", class + 1)
    };
    let labels: String = rows.iter().enumerate().map(label).collect();
    fs::write(folder.join("y.csv"), labels).unwrap();
}

/// Fitted in one process, applied in two others: the same bits in every format.
#[test]
fn every_method_is_fitted_saved_and_applied() {
    let folder = folder("fit");
    write_data(&folder);
    for method in METHODS {
        let fit = format!(
            "fit --method {method} --predictions z.csv --logits --labels y.csv --one-based -o {method}.map"
        );
        let object = json(&folder, &fit);
        assert_eq!(
            (&object["n"], &object["class_count"]),
            (&40.into(), &3.into())
        );
        assert_eq!(object["method"], method);
        let loss = |when: &str| object["log_loss"][when].as_f64().unwrap();
        assert!(loss("after") < loss("before") - 0.05, "{object}");
        assert!(object["fit"]["evaluations"].as_u64().unwrap() > 0);
        match method {
            "temperature" | "ensemble-temperature" => assert_eq!(object["injective"], true),
            // depends on the fit
            "diagonal" | "dirichlet" | "structured-vector" | "structured-matrix" => {}
            _ => assert_eq!(object["injective"], false, "{method}"),
        }

        let apply = |output: &str, options: &str| {
            let line =
                format!("apply {method}.map --predictions z.csv --logits -o {output} {options}");
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
        let bytes: Vec<u8> = logits
            .concat()
            .iter()
            .flat_map(|z| z.to_le_bytes())
            .collect();
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
        let mut text = String::new();
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&packed[..]), &mut text)
            .unwrap();
        assert_eq!(text, fs::read_to_string(folder.join("p.csv")).unwrap());
    }
}

/// By every loss; that of the temperature of log-probabilities does not depend on how they come.
#[test]
fn losses_and_probabilities() {
    let folder = folder("losses");
    write_data(&folder);
    for loss in ["log", "brier", "skce", "mmce"] {
        let fit = format!(
            "fit --method temperature --loss {loss} --predictions z.csv --logits --labels y.csv --one-based -o {loss}.map"
        );
        assert_eq!(json(&folder, &fit)["loss"], loss);
    }
    calibration(
        &folder,
        "apply log.map --predictions z.csv --logits -o p.csv --to-probabilities",
    );
    let again = "fit --method temperature --predictions p.csv --labels y.csv --one-based -o again.map --json";
    let object = json(&folder, again.trim_end_matches(" --json"));
    // DIAG loses nothing of log-probabilities
    let diagonal = "fit --method diagonal --predictions p.csv --labels y.csv --one-based \
                    -o d.map";
    assert_eq!(json(&folder, diagonal)["injective"], true);
    // what is calibrated has a temperature near 1, but for the prior, and gains next to nothing
    let gain = object["log_loss"]["before"].as_f64().unwrap()
        - object["log_loss"]["after"].as_f64().unwrap();
    assert!(gain.abs() < 0.01, "{object}");
    let text = printed(&folder, again.trim_end_matches(" --json"));
    begins(
        &text,
        "temperature scaling of 40 predictions of 3 classes, saved as again.map",
    );
    contains(&text, "keeps the accuracy:             yes");
}

/// Without a method: what was chosen and why, in words and in JSON, and a map like any other.
#[test]
fn a_map_is_chosen() {
    let folder = folder("fit by choice");
    write_data(&folder);
    let fit = "fit --predictions z.csv --logits --labels y.csv --one-based -o a.map";
    let object = json(&folder, fit);
    let choice = &object["choice"];
    assert_eq!(object["method"], choice["chosen"]);
    assert_eq!(choice["chosen"], "temperature");
    let candidates = choice["candidates"].as_array().unwrap();
    let name = |candidate: &serde_json::Value| candidate["name"].as_str().unwrap().to_owned();
    let names: Vec<_> = candidates.iter().map(name).collect();
    assert_eq!(names[..2], ["none", "temperature"]);
    let over = choice["passed_over"].as_array().unwrap();
    assert!(
        over.iter()
            .any(|over| over["name"] == "order-invariant" && over["least"].is_u64())
    );
    assert!(
        object["warnings"]
            .to_string()
            .contains("40 samples are too few")
    );

    let text = printed(&folder, fit);
    contains(&text, "\nchosen:     temperature, the simplest map");
    for (keep, kept) in [
        ("order", "keeps_order"),
        ("accuracy", "keeps_accuracy"),
        ("information", "injective"),
    ] {
        let object = json(&folder, &format!("{fit} --keep {keep}"));
        assert_eq!(object[kept], true, "{object}");
    }
    printed(
        &folder,
        "apply a.map --predictions z.csv --logits -o out.csv",
    );
}
