use burn_calibration::error::Error;
use rand::{Rng, SeedableRng, rngs::StdRng};
use statrs::statistics::Statistics;

use super::{
    models::Model,
    tests::{Settings, TESTS, Test},
};
use crate::{Result, arguments::Arguments, output::csv, parallel};

/// The level of the tests.
pub const LEVEL: f64 = 0.05;

pub const MODELS: [Model; 2] = [Model::Calibrated, Model::Uncalibrated];
/// Samples of a data set.
pub const SIZES: [usize; 5] = [4, 16, 64, 256, 1024];

/// What the tests found on the data sets of one size of one model.
pub struct Results {
    pub model: Model,
    pub d: usize,
    pub n: usize,
    /// The error of the model.
    truth: f64,
    /// For each data set the estimate and the p-value of each of `TESTS`; none where there is no such
    /// test, or it refuses because its covariance is singular to rounding.
    outcomes: Vec<Vec<Option<(f64, f64)>>>,
}

/// A number from the results of a test.
pub type Summary = fn(&Results, usize) -> f64;

impl Results {
    /// The mean absolute error of the estimates of a test.
    pub fn mean_error(&self, test: usize) -> f64 {
        let estimates = self.estimates(test);
        estimates.map(|x| (x - self.truth).abs()).mean()
    }

    /// The variance of the estimates of a test.
    pub fn variance(&self, test: usize) -> f64 {
        self.estimates(test).variance()
    }

    fn estimates(&self, test: usize) -> impl Iterator<Item = f64> {
        self.outcomes.iter().filter_map(move |of| Some(of[test]?.0))
    }

    /// How often a test is wrong where it has an outcome: rejects a calibrated model, or not one that
    /// is miscalibrated.
    pub fn test_error(&self, test: usize) -> Option<f64> {
        let wrong = |of: &Vec<Option<(f64, f64)>>| {
            let rejects = of[test]?.1 <= LEVEL;
            Some(f64::from(rejects == (self.model == Model::Calibrated)))
        };
        let wrong: Vec<f64> = self.outcomes.iter().filter_map(wrong).collect();
        (!wrong.is_empty()).then(|| wrong.mean())
    }

    /// The share of data sets on which a test has an outcome.
    pub fn share(&self, test: usize) -> f64 {
        self.estimates(test).count() as f64 / self.outcomes.len() as f64
    }
}

/// All models, dimensions and sizes.
pub fn run(arguments: &Arguments) -> Result<Vec<Results>> {
    let mut results = Vec::new();
    for model in MODELS {
        for d in arguments.dimensions.iter().map(|&d| d as usize) {
            let truth = model.error(d);
            for n in SIZES
                .into_iter()
                .filter(|&n| n <= arguments.samples as usize)
            {
                // a seed for each data set: results depend on no thread
                let mut rng = StdRng::seed_from_u64(arguments.seed + (n * d) as u64);
                let seeds: Vec<u64> = (0..arguments.datasets).map(|_| rng.next_u64()).collect();
                let name = format!("{}, d = {d}, n = {n}", model.name());
                let outcomes = parallel::map(&name, seeds.len(), |set| {
                    outcomes(model, d, n, arguments.exact as usize, seeds[set])
                })?;
                results.push(Results {
                    model,
                    d,
                    n,
                    truth,
                    outcomes,
                });
            }
        }
    }
    Ok(results)
}

/// The models and dimensions, dimension by dimension.
pub fn settings(results: &[Results]) -> Vec<(Model, usize)> {
    let mut settings: Vec<(Model, usize)> = results.iter().map(|r| (r.model, r.d)).collect();
    settings.dedup(); // of all sizes
    settings.sort_by_key(|&(_, d)| d);
    settings
}

/// What each test finds on one data set.
fn outcomes(
    model: Model,
    d: usize,
    n: usize,
    exact: usize,
    seed: u64,
) -> Result<Vec<Option<(f64, f64)>>> {
    let mut rng = StdRng::seed_from_u64(seed);
    let (predictions, targets) = model.sample(n, d, &mut rng);
    let outcome = |test: &Test| {
        let mut settings = Settings {
            n,
            d,
            exact,
            rng: &mut rng,
        };
        let Some(test) = (test.test)(&mut settings) else {
            return Ok(None);
        };
        match test.outcome(&predictions, &targets, &mut rng) {
            Ok(outcome) => Ok(Some((outcome.estimate, outcome.p_value))),
            Err(Error::SingularCovariance { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    };
    TESTS.iter().map(outcome).collect()
}

/// Every estimate and p-value.
pub fn table(results: &[Results]) -> Result<Vec<u8>> {
    let mut rows = Vec::new();
    for r in results {
        for (set, outcomes) in r.outcomes.iter().enumerate() {
            for (test, outcome) in TESTS.iter().zip(outcomes) {
                if let Some((estimate, p_value)) = outcome {
                    rows.push((r.model.name(), r.d, r.n, set, test.name, estimate, p_value));
                }
            }
        }
    }
    let header = ["model", "d", "n", "data set", "test", "estimate", "p-value"];
    csv(&header, rows)
}
