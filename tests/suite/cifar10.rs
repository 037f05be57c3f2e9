//! Real predictions: four networks on the CIFAR-10 test set with the estimates and p-values that the
//! authors of Widmann et al. 2019 published for them.
//!
//! The folder that holds `cifar10-predictions` is named by the variable `BURN_CALIBRATION_DATA`;
//! these tests are ignored unless they are asked for.

use std::{
    collections::HashMap,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use flate2::read::GzDecoder;
use statrs::distribution::{ContinuousCDF, Normal};

use crate::prelude::*;

const NETWORKS: [&str; 4] = ["densenet121", "googlenet", "mobilenet_v2", "resnet18"];

pub fn folder() -> PathBuf {
    data_folder().join("cifar10-predictions")
}

fn rows(reader: impl Read) -> Vec<Vec<f64>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(reader);
    reader.deserialize().map(|row| row.unwrap()).collect()
}

pub fn predictions(folder: &Path, network: &str) -> Vec<Vec<f64>> {
    let file = File::open(folder.join(format!("{network}.csv.gz"))).unwrap();
    rows(GzDecoder::new(file))
}

/// The labels there are 1-based.
pub fn true_classes(folder: &Path) -> Vec<usize> {
    let labels = rows(File::open(folder.join("labels.csv")).unwrap());
    labels.iter().map(|row| row[0] as usize - 1).collect()
}

type Published = HashMap<String, HashMap<String, f64>>;

fn published(folder: &Path, file: &str) -> Published {
    let mut reader = csv::Reader::from_path(folder.join(file)).unwrap();
    let header = reader.headers().unwrap().clone();
    let entries = |record: csv::StringRecord| {
        let values = header.iter().zip(&record).skip(1);
        let values = values.map(|(k, v)| (k.into(), v.parse().unwrap()));
        (record[0].to_owned(), values.collect())
    };
    let records = reader.records();
    records.map(|record| entries(record.unwrap())).collect()
}

/// All published estimates and p-values to 1e-6 in f64. Where an estimate is negative the published
/// distribution-free p-value squares it; ours is 1.
#[test]
#[ignore = "needs the data folder, BURN_CALIBRATION_DATA"]
fn published_estimates_and_p_values() {
    let folder = folder();
    let estimates = published(&folder, "published_estimates.csv");
    let p_values = published(&folder, "published_pvalues.csv");
    let classes = true_classes(&folder);
    for network in NETWORKS {
        let rows = predictions(&folder, network);
        let points = tensor(&rows);
        let bandwidth = median_distance_with_diagonal(&points, Distance::TotalVariation);
        let kernel = exponential(bandwidth);
        let data = [(DType::F64, 1e-6), (DType::F32, 1e-3)];
        for (dtype, tolerance) in data {
            let predictions =
                Categorical::from_probabilities(tensor_on(&rows, &device(), dtype)).unwrap();
            let labels = labels(&classes);
            for (skce, name) in [
                (Skce::biased(kernel), "SKCEb_median"),
                (Skce::unbiased(kernel), "SKCEuq_median"),
                (Skce::linear(kernel), "SKCEul_median"),
            ] {
                let expected = estimates[network][name];
                let estimate = skce.on(&predictions, &labels);
                assert_relative(estimate, expected, tolerance);
                let test = DistributionFreeSkceTest::new(skce);
                let p_value = test.p_value(&predictions, &labels, 0);
                let expected = match expected {
                    e if e > 0.0 => p_values[network][&format!("{name}_distribution_free")],
                    _ => 1.0,
                };
                assert_relative(p_value, expected, tolerance);
            }
            let test = AsymptoticBlockSkceTest::linear(kernel);
            let p_value = test.p_value(&predictions, &labels, 0);
            // published with the divisor B of the variance of B = n/2 blocks, here with B - 1
            let published = p_values[network]["SKCEul_median_asymptotic"];
            let blocks = (classes.len() / 2) as f64;
            let normal = Normal::standard();
            let z = normal.inverse_cdf(1.0 - published) * ((blocks - 1.0) / blocks).sqrt();
            let expected = normal.sf(z);
            assert_relative(p_value, expected, tolerance);
        }
    }
}

/// Widmann et al. 2019 with the median over the pairs `i < j`, reproduced independently
/// (docs/mathematics.md, section 2).
#[test]
#[ignore = "needs the data folder, BURN_CALIBRATION_DATA"]
fn resnet18_with_the_default_kernel() {
    let folder = folder();
    let predictions = categorical(&predictions(&folder, "resnet18"));
    let labels = labels(&true_classes(&folder));
    // that of all pairs, as published: the default is that of a subsample
    let points = predictions.probabilities();
    let kernel = Kernel::exponential();
    let pairs = 10_000 * 9_999 / 2;
    let middle = distance_order_statistics(&points, kernel.distance, &[pairs / 2 - 1, pairs / 2]);
    let bandwidth = 0.5 * (middle[0] + middle[1]);
    assert_relative(bandwidth, 0.9986237963, 1e-10);
    let kernel = kernel.with_bandwidth(Bandwidth::Fixed(bandwidth));
    for (skce, expected) in [
        (Skce::biased(kernel), 2.761444909e-4),
        (Skce::unbiased(kernel), 2.625240399e-4),
        (Skce::linear(kernel), 3.565449624e-4),
    ] {
        let estimate = skce.on(&predictions, &labels);
        assert_relative(estimate, expected, 1e-9);
    }
}

/// Log-probabilities of a network with their labels.
pub fn log_probabilities(
    network: &str,
    rows: std::ops::Range<usize>,
) -> (Tensor<2>, Tensor<1, Int>) {
    let folder = folder();
    let logits = mapped(&predictions(&folder, network)[rows.clone()], f64::ln);
    (tensor(&logits), labels(&true_classes(&folder)[rows]))
}

/// The temperature of the first 5,000 log-probabilities of resnet18, by an independent solver.
#[test]
#[ignore = "needs the data folder, BURN_CALIBRATION_DATA"]
fn temperature_of_resnet18() {
    let (logits, labels) = log_probabilities("resnet18", 0..5000);
    let map = without_prior().fit_to(&logits, &labels);
    assert_relative(map.temperature(), 1.49666044, 1e-8);
    assert_relative(map.report().unwrap().objective, 0.3102589200, 1e-9);
}
