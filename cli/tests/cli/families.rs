//! `calibration evaluate --family …`.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_calibration::{
    distribution::Normal,
    estimator::{Estimator, Skce},
    hypothesis::{AsymptoticBlockSkceTest, CalibrationTest},
    kernel::{RealKernel, TensorKernel},
    score::{Crps, LogScore, Score},
};
use rand::{SeedableRng, rngs::StdRng};

use crate::*;

/// Means, standard deviations and targets of 40 samples.
fn rows() -> Vec<[f64; 3]> {
    let row = |i: usize| {
        let x = i as f64;
        let (mean, scale) = ((0.7 * x).sin(), 0.5 + 0.1 * (x % 7.0));
        [mean, scale, (1.3 * x).cos() * 1.5]
    };
    (0..40).map(row).collect()
}

fn write(folder: &Path, name: &str, line: impl Fn(&[f64; 3]) -> String) {
    let lines: Vec<String> = rows().iter().map(line).collect();
    fs::write(folder.join(name), lines.join("\n") + "\n").unwrap();
}

fn written(test: &str) -> PathBuf {
    let folder = folder(test);
    write(&folder, "p.csv", |[mean, scale, _]| {
        format!("{mean},{scale}")
    });
    write(&folder, "y.csv", |[_, _, target]| format!("{target:?}"));
    folder
}

const FILES: &str = "--predictions p.csv --targets y.csv";

/// The numbers are those of the library.
#[test]
fn normal() {
    let folder = written("real_normal");
    let arguments = format!(
        "evaluate --family normal {FILES} --test skce_linear_asymptotic --test skce_unbiased_exact \
         --replicates 20"
    );
    let found = json(&folder, &arguments);
    let column = |c: usize| {
        let values: Vec<f64> = rows().iter().map(|row| row[c]).collect();
        let data = TensorData::new(values, [40, 1]);
        Tensor::<2>::from_data(data, (&Device::flex(), DType::F64))
    };
    let (predictions, targets) = (Normal::new(column(0), column(1)), column(2));
    let kernel = TensorKernel::wasserstein(RealKernel::gaussian(1.0).with_median_of(&targets));
    let skce = Skce::unbiased(kernel).estimate(&predictions, &targets);
    let crps = Crps.mean(&predictions, &targets).unwrap();
    let log = LogScore.mean(&predictions, &targets).unwrap();
    for (name, expected) in [
        ("skce_unbiased", skce.unwrap()),
        ("crps", crps.estimate),
        ("log", log.estimate),
    ] {
        let found = number(&found["estimates"][name]);
        assert_relative_eq!(found, expected, max_relative = 1e-12);
    }
    let linear = AsymptoticBlockSkceTest::linear(kernel);
    let expected = linear.outcome(&predictions, &targets, &mut StdRng::seed_from_u64(0));
    let p_value = number(&found["tests"]["skce_linear_asymptotic"]["p_value"]);
    assert_relative_eq!(p_value, expected.unwrap().p_value, max_relative = 1e-9);
    assert_eq!(found["tests"].as_object().unwrap().len(), 2);
    assert_eq!(found["family"], "normal");
    assert_eq!(found["n"], 40);
}

/// Equal rows as components of a mixture, and the same numbers as Monte Carlo samples.
#[test]
fn other_families() {
    let folder = written("real_families");
    write(&folder, "mixture.csv", |[mean, scale, _]| {
        format!("0.5,0.5,{mean:?},{mean:?},{scale:?},{scale:?}")
    });
    let fast = "--test skce_linear_asymptotic";
    let normal = json(&folder, &format!("evaluate --family normal {FILES} {fast}"));
    let files = "--predictions mixture.csv --targets y.csv";
    let mixture = format!("evaluate --family normal-mixture {files} {fast}");
    let mixture = json(&folder, &mixture)["estimates"].take();
    for (name, tolerance) in [
        ("skce_unbiased", 0.05), // quantiles of a mixture end before the tails
        ("crps", 1e-9),
        ("log", 1e-9),
        ("ence", 1e-9),
    ] {
        same_number(&normal["estimates"][name], &mixture[name], tolerance);
    }
    let laplace = format!("evaluate --family laplace {FILES} {fast} --target-kernel laplacian");
    assert!(number(&json(&folder, &laplace)["estimates"]["crps"]) > 0.0);
    let samples = format!("evaluate --family samples {files} {fast} --test skce_unbiased_exact");
    let samples = json(&folder, &samples);
    let p_value = number(&samples["tests"]["skce_unbiased_exact"]["p_value"]);
    assert!((0.001..=1.0).contains(&p_value), "{p_value}");
    assert!(samples["estimates"].get("log").is_none());
    let table = printed(
        &folder,
        &format!("evaluate --family normal {FILES} {fast} --verbose"),
    );
    contains(&table, "kernel on targets: gaussian, length scale");
    contains(&table, "CRPS");
}

/// Each command takes a family, or refuses it before it reads a file.
#[test]
fn commands_of_families() {
    let folder = folder("families-of-commands");
    const ALL: [&str; 8] = [
        "categorical",
        "normal",
        "laplace",
        "quantiles",
        "normal-mixture",
        "laplace-mixture",
        "samples",
        "multilabel",
    ];
    let but_quantiles = ALL.map(|family| if family == "quantiles" { "" } else { family });
    let commands: [(&str, &[&str]); 11] = [
        ("evaluate DATA", &ALL),
        (
            "compare --before no.csv --after no.csv --labels no.csv",
            &ALL[..7],
        ),
        ("compare DATA --models a,b", &ALL[..7]),
        ("report DATA -o no.html", &ALL[..7]),
        ("fit DATA -o no.map", &ALL[..4]),
        ("apply no.map --predictions no.csv -o new.csv", &ALL[..4]),
        ("summarise DATA -o no.json", &but_quantiles[..7]),
        // options, which a command takes by the same table
        ("evaluate DATA --positive", &ALL[..1]),
        ("evaluate DATA --clip 1e-7", &["categorical", "multilabel"]),
        ("fit DATA -o no.map --keep mean", &ALL[1..3]),
        (
            "apply no.map --predictions no.csv -o new.csv --minimum 0",
            &ALL[3..4],
        ),
    ];
    for (command, taken) in commands {
        let command = command.replace("DATA", "--predictions no.csv --labels no.csv");
        for family in ALL {
            let found = complaint(&folder, &format!("{command} --family {family}"));
            if taken.contains(&family) {
                begins(&found, "no.csv: ");
            } else {
                contains(&found, &format!("not for --family {family}"));
            }
        }
    }
}
