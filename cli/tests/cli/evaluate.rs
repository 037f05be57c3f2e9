//! `evaluate`: its numbers, and its answer.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::*;

/// Aspects and intervals of the answer have all their numbers, in order; tests are those that are asked.
#[test]
fn answers_are_whole() {
    let folder = folder("answer");
    let [p, y] = [ROWS, LABELS].map(|lines| lines.repeat(10));
    write(&folder, &[("p.csv", p), ("y.csv", y)]);
    let base = "evaluate --predictions p.csv --labels y.csv --test skce_unbiased_exact";
    let found = json(&folder, base);
    for aspect in found["omnibus"]["aspects"].as_array().unwrap() {
        for key in ["estimate", "standardised", "p_value", "adjusted_p_value"] {
            assert!(aspect[key].is_number(), "{key} of {aspect}");
        }
        assert!(number(&aspect["p_value"]) >= 0.001);
    }
    for key in ["skce", "ece_debiased", "overconfidence"] {
        let interval = &found["intervals"][key];
        let numbers = ["lower", "estimate", "upper"].map(|end| number(&interval[end]));
        assert!(numbers.is_sorted(), "{key}");
    }
    let tests = found["tests"].as_object().unwrap();
    assert!(tests.keys().eq(["skce_unbiased_exact"]));
}

/// The published estimates and p-values of Widmann et al. 2019 for four networks, to 1e-6.
#[test]
#[ignore = "needs the data folder, BURN_CALIBRATION_DATA"]
fn published_numbers() {
    let folder = data_folder().join("cifar10-predictions");
    let table = |name: &str| -> Vec<Vec<String>> {
        let mut reader = csv::ReaderBuilder::new();
        let reader = reader.has_headers(false).from_path(folder.join(name));
        let rows = reader.unwrap().into_deserialize();
        rows.map(csv::Result::unwrap).collect()
    };
    let estimates = table("published_estimates.csv");
    let p_values = table("published_pvalues.csv");
    let mut header = p_values[0].iter();
    let linear = header.position(|name| name == "SKCEul_median_asymptotic");
    let names = [
        "ece_uniform",
        "ece_median_variance",
        "skce_biased",
        "skce_unbiased",
        "skce_linear",
    ];
    for (row, p_row) in estimates.iter().zip(&p_values).skip(1) {
        assert_eq!(row[0], p_row[0]);
        let arguments = format!(
            "evaluate --predictions {}.csv.gz --labels labels.csv --one-based --bandwidth median-with-diagonal \
             --test skce_linear_asymptotic",
            row[0]
        );
        let found = json(&folder, &arguments);
        for (name, expected) in names.iter().zip(&row[1..]) {
            let expected: f64 = expected.parse().unwrap();
            let found = number(&found["estimates"][name]);
            assert_relative_eq!(found, expected, max_relative = 1e-6);
        }
        // the published standard deviation of the 5,000 blocks has the divisor N, ours N − 1
        let published: f64 = p_row[linear.unwrap()].parse().unwrap();
        let normal = Normal::standard();
        let statistic = normal.inverse_cdf(1.0 - published) * (4999.0f64 / 5000.0).sqrt();
        let expected = normal.sf(statistic);
        let found = number(&found["tests"]["skce_linear_asymptotic"]["p_value"]);
        assert_relative_eq!(found, expected, max_relative = 1e-6);
    }
}
