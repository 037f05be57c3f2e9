//! Data, and pages as trees of markup.

use std::{fs, path::PathBuf};

use burn::tensor::{Int, Tensor};
use burn_calibration::distribution::{Categorical, Normal};
use burn_calibration_report::{ReliabilitySection, Report, ReportBuilder};
use rand::{RngExt, rngs::StdRng};
use rand_distr::{Distribution, StandardNormal};
use roxmltree::{Document, Node, ParsingOptions};

use crate::data::*;

/// Two classes, by the probability of the second.
pub fn binary(probabilities: &[f64]) -> Categorical {
    let rows: Vec<Vec<f64>> = probabilities.iter().map(|p| vec![1.0 - p, *p]).collect();
    categorical(&rows)
}

/// Labels drawn from the predictions: a calibrated model.
pub fn draw(rows: &[Vec<f64>], rng: &mut StdRng) -> Vec<usize> {
    let mut label = |row: &Vec<f64>| {
        let mut u = rng.random::<f64>();
        row.iter()
            .position(|p| {
                u -= p;
                u < 0.0
            })
            .unwrap_or(row.len() - 1)
    };
    rows.iter().map(&mut label).collect()
}

pub fn sample(n: usize, m: usize, seed: u64) -> (Categorical, Tensor<1, Int>) {
    let mut rng = rng(seed);
    let rows = random_probabilities(n, m, &mut rng);
    let drawn = random_labels(n, m, &mut rng);
    (categorical(&rows), labels(&drawn))
}

pub fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("report")
        .join(test);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The markup as a tree: an error here is a page that is not well-formed.
pub fn parsed(text: &str) -> Document<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options).unwrap()
}

pub fn all<'a>(document: &'a Document, tag: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    document
        .descendants()
        .filter(move |node| node.tag_name().name() == tag)
}

pub fn report() -> Report<ReliabilitySection> {
    let (before, labels) = sample(900, 12, 3);
    let (after, _) = sample(900, 12, 4);
    ReportBuilder::new(&before, &labels)
        .with_after(&after)
        .with_title("<b>\"A\" & 'B'\u{1}</b>")
        .build()
        .unwrap()
}

/// `N(0, 1)` in each coordinate, and targets from it times a factor.
pub fn standard(n: usize, d: usize, factor: f64, rng: &mut StdRng) -> (Normal, Tensor<2>) {
    let mut draw = || {
        let z: f64 = StandardNormal.sample(rng);
        factor * z
    };
    let rows: Vec<Vec<f64>> = (0..n).map(|_| (0..d).map(|_| draw()).collect()).collect();
    let targets = tensor(&rows);
    let predictions = Normal::new(targets.zeros_like(), targets.ones_like());
    (predictions, targets)
}
