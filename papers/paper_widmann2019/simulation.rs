use burn::tensor::{DType, Device};
use burn_calibration::hypothesis::TestOutcome;
use rand::{Rng, SeedableRng, rngs::StdRng};

use crate::{
    Result,
    arguments::Arguments,
    models::Model,
    output::csv,
    parallel,
    tests::{self, TESTS},
};

/// Samples of a data set.
const SAMPLES: usize = 250;
/// Appendix J.1.1: bins of at least five samples.
const BIN_SIZE: usize = 5;

/// What the tests found on the data sets of a model.
pub struct Results {
    pub model: Model,
    /// For each data set the outcome of each of `TESTS`.
    outcomes: Vec<Vec<TestOutcome>>,
}

impl Results {
    pub fn datasets(&self) -> usize {
        self.outcomes.len()
    }

    /// The estimates of a test, one a data set.
    pub fn estimates(&self, test: usize) -> Vec<f64> {
        let outcomes = self.outcomes.iter();
        outcomes.map(|outcomes| outcomes[test].estimate).collect()
    }

    /// How often a test at this level is wrong: rejects a calibrated model, or not one that is
    /// miscalibrated.
    pub fn error(&self, test: usize, level: f64) -> f64 {
        let rejects = |outcomes: &&Vec<TestOutcome>| outcomes[test].p_value <= level;
        let rejected = self.outcomes.iter().filter(rejects).count() as f64;
        let rejected = rejected / self.datasets() as f64;
        match self.model.calibrated {
            true => rejected,
            false => 1.0 - rejected,
        }
    }
}

pub fn simulate(model: Model, arguments: &Arguments) -> Result<Results> {
    // A seed for each data set: results depend on no thread, and not on the number of data sets.
    let mut rng = StdRng::seed_from_u64(arguments.seed);
    let seeds: Vec<u64> = (0..arguments.datasets).map(|_| rng.next_u64()).collect();
    let outcomes = parallel::map(model.name, seeds.len(), |set| {
        outcomes(&model, seeds[set], arguments.replicates())
    })?;
    Ok(Results { model, outcomes })
}

/// What each test finds on one data set.
fn outcomes(model: &Model, seed: u64, replicates: usize) -> Result<Vec<TestOutcome>> {
    let mut rng = StdRng::seed_from_u64(seed);
    let options = (&Device::default(), DType::F64);
    let (predictions, labels) = model.generator.sample(SAMPLES, options, &mut rng);
    tests::outcomes(&predictions, &labels, BIN_SIZE, replicates, rng.next_u64())
}

/// Every estimate and p-value.
pub fn table(results: &[Results]) -> Result<Vec<u8>> {
    let mut rows = Vec::new();
    for results in results {
        for (set, outcomes) in results.outcomes.iter().enumerate() {
            for (test, outcome) in TESTS.iter().zip(outcomes) {
                let (estimate, p_value) = (outcome.estimate, outcome.p_value);
                rows.push((results.model.name, set, test.name, estimate, p_value));
            }
        }
    }
    csv(&["model", "data set", "test", "estimate", "p-value"], rows)
}
