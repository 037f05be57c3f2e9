//! Correction for base rates that are known.

use std::fmt;

use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::Weights,
    recalibration::{FittedMap, FittedTo, LogitMap, PriorCorrection},
};
use serde::Serialize;

use super::save;
use crate::{
    args::FitArgs,
    error::{Result, bail, ensure},
    words::{counted, key},
};

/// The rates of classes that an option gives: one number is the rate of class 1 of two classes.
fn rates(option: &str, given: &[f64]) -> Result<Vec<f64>> {
    let [rate] = given else {
        return Ok(given.to_vec());
    };
    let percent = Some(rate).filter(|rate| **rate > 1.0 && **rate < 100.0);
    ensure!(
        *rate > 0.0 && *rate < 1.0,
        "{option} {rate}: expected the rate of class 1, above 0 and below 1{}",
        percent.map_or_else(String::new, |rate| format!(
            "; {rate} % is {}",
            rate / 100.0
        ))
    );
    Ok(vec![1.0 - rate, *rate])
}

/// The printed summary of a correction without a fit.
#[derive(Serialize)]
pub struct Corrected {
    map: String,
    kind: &'static str,
    trained_at: Vec<f64>,
    prior: Vec<f64>,
}

/// Saves the correction for base rates that are known.
pub fn corrected(args: &FitArgs) -> Result<Corrected> {
    let mut map = PriorCorrection::new(
        rates("--trained-at", &args.trained_at)?,
        rates("--prior", &args.prior)?,
    )?;
    map.set_fitted_to(FittedTo {
        family: Some(key(args.family)),
        ..FittedTo::default()
    });
    save(&map, args)?;
    Ok(Corrected {
        map: args.output.display().to_string(),
        kind: map.kind(),
        trained_at: map.trained_at().to_vec(),
        prior: map.prior().to_vec(),
    })
}

impl fmt::Display for Corrected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, classes) = (self.kind, self.prior.len());
        writeln!(f, "{kind} of {classes} classes, saved as {}", self.map)?;
        let rates = self.trained_at.iter().zip(&self.prior);
        for (class, (from, to)) in rates.enumerate() {
            writeln!(f, "class {class}: from the base rate {from} to {to}")?;
        }
        writeln!(
            f,
            "it is right if only the base rates differ: `calibration evaluate` tests its predictions"
        )
    }
}

/// The map, and after it the correction for the base rates of deployment, from the frequencies of the labels.
pub fn with_prior(
    map: LogitMap,
    args: &FitArgs,
    (labels, classes): (&Tensor<1, Int>, usize),
    weights: &Weights,
) -> Result<LogitMap> {
    if args.prior.is_empty() {
        return Ok(map);
    }
    let prior = rates("--prior", &args.prior)?;
    ensure!(
        prior.len() == classes,
        "--prior: {}, expected {classes}, one for each class",
        counted(prior.len(), "rate")
    );
    let labels: Vec<i64> = labels.to_data().iter().collect();
    let mut frequencies = vec![0.0; classes];
    for (row, &label) in labels.iter().enumerate() {
        frequencies[label as usize] += weights.at(row) / weights.total(labels.len());
    }
    if let Some(class) = frequencies.iter().position(|&rate| rate == 0.0) {
        bail!(
            "--prior: class {class} has no label, so that its base rate in these data is not known, expected labels of each class"
        );
    }
    Ok(PriorCorrection::of(map, frequencies, prior)?.into())
}
