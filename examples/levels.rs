//! What p-values are worth: how often each test rejects calibrated models (its level) and
//! miscalibrated ones (its power), at 5 % and 1 %, over many simulated data sets.
//!
//! ```console
//! cargo run --release --example levels -- --datasets 2000
//! ```
//!
//! prints the Markdown tables of `docs/levels.md`. The models are those of Widmann et al. 2019,
//! section 7, and two that are harder to tell from calibrated ones.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_calibration::{
    distribution::Categorical,
    error::{Error, Result},
    estimator::{Ece, Mmce, Skce},
    hypothesis::{
        AsymptoticBlockSkceTest, AsymptoticSkceTest, CalibrationTest, CmeNull, CmeTest,
        ConsistencyTest, DistributionFreeSkceTest, ExactTest, FeatureTest, NullDistribution,
    },
    kernel::Kernel,
};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};
use rand_distr::{Distribution, Gamma};

/// Levels and powers of the calibration tests.
#[derive(Parser)]
struct Options {
    /// Data sets for each model.
    #[arg(long, default_value_t = 2000)]
    datasets: usize,
    /// Seed of the first data set.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Replicates of the tests that resample.
    #[arg(long, default_value_t = 199)]
    replicates: usize,
    /// Only the tests whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
}

/// Predictions from a symmetric Dirichlet distribution, and how the labels come from them.
#[derive(Clone, Copy)]
struct Model {
    name: &'static str,
    classes: usize,
    concentration: f64,
    labels: Labels,
}

#[derive(Clone, Copy)]
enum Labels {
    /// From the prediction: a calibrated model.
    Calibrated,
    /// With this probability the first class, else from the prediction.
    First(f64),
    /// With this probability uniform, else from the prediction.
    Uniform(f64),
    /// From the prediction to the power of 1/T, normalised: a model that is too sure for T > 1.
    Temperature(f64),
}

impl Model {
    const fn new(name: &'static str, classes: usize, concentration: f64, labels: Labels) -> Self {
        Self {
            name,
            classes,
            concentration,
            labels,
        }
    }

    fn draw(&self, n: usize, rng: &mut StdRng) -> Result<(Categorical, Tensor<1, Int>)> {
        let gamma = Gamma::new(self.concentration, 1.0).expect("a positive concentration");
        let (mut rows, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let row = normalised((0..self.classes).map(|_| gamma.sample(rng)).collect());
            labels.push(self.label(&row, rng) as i64);
            rows.extend(row);
        }
        let device = Device::default();
        let rows = Tensor::from_data(
            TensorData::new(rows, [n, self.classes]),
            (&device, DType::F64),
        );
        let labels = Tensor::from_data(TensorData::new(labels, [n]), &device);
        Ok((Categorical::from_probabilities(rows)?, labels))
    }

    fn label(&self, row: &[f64], rng: &mut StdRng) -> usize {
        match self.labels {
            Labels::First(probability) if rng.random_bool(probability) => 0,
            Labels::Uniform(probability) if rng.random_bool(probability) => {
                rng.random_range(0..self.classes)
            }
            Labels::Temperature(t) => categorical(
                &normalised(row.iter().map(|p| p.powf(t.recip())).collect()),
                rng,
            ),
            _ => categorical(row, rng),
        }
    }
}

fn normalised(weights: Vec<f64>) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

fn categorical(row: &[f64], rng: &mut StdRng) -> usize {
    let mut u: f64 = rng.random();
    let drawn = row.iter().position(|p| {
        u -= p;
        u < 0.0
    });
    drawn.unwrap_or(row.len() - 1)
}

const M1: Model = Model::new("M1", 10, 0.1, Labels::Calibrated);
const BINARY: Model = Model::new("binary", 2, 1.0, Labels::Calibrated);
const MODELS: [Model; 6] = [
    M1,
    BINARY,
    Model::new("M2", 10, 0.1, Labels::First(0.5)),
    Model::new("M3", 10, 0.1, Labels::Uniform(1.0)),
    Model::new("M3 at 20 %", 10, 0.1, Labels::Uniform(0.2)),
    Model::new("T = 1.3", 10, 0.1, Labels::Temperature(1.3)),
];

type NamedTest = (String, Box<dyn CalibrationTest + Sync>);

fn named(name: impl Into<String>, test: impl CalibrationTest + Sync + 'static) -> NamedTest {
    (name.into(), Box::new(test))
}

fn tests(replicates: usize) -> Vec<NamedTest> {
    let kernel = Kernel::exponential();
    let quadratic = |null| {
        AsymptoticSkceTest::new(kernel)
            .with_null(null)
            .with_replicates(replicates)
    };
    vec![
        named(
            "asymptotic quadratic, gamma",
            quadratic(NullDistribution::Gamma),
        ),
        named(
            "asymptotic quadratic, bootstrap",
            quadratic(NullDistribution::Bootstrap),
        ),
        named(
            "asymptotic quadratic, multiplier",
            quadratic(NullDistribution::Multiplier),
        ),
        named(
            "asymptotic quadratic, spectrum",
            quadratic(NullDistribution::Spectrum),
        ),
        named(
            "exact, unbiased SKCE",
            ExactTest::new(Skce::unbiased(kernel)).with_replicates(replicates),
        ),
        named(
            "exact, biased SKCE",
            ExactTest::new(Skce::biased(kernel)).with_replicates(replicates),
        ),
        named(
            "exact, MMCE",
            ExactTest::new(Mmce::default()).with_replicates(replicates),
        ),
        named(
            "exact, ECE",
            ExactTest::new(Ece::default()).with_replicates(replicates),
        ),
        named(
            "consistency, unbiased SKCE",
            ConsistencyTest::new(Skce::unbiased(kernel)).with_replicates(replicates),
        ),
        named(
            "consistency, ECE",
            ConsistencyTest::new(Ece::default()).with_replicates(replicates),
        ),
        named("feature, r = 4", FeatureTest::new(kernel).with_features(4)),
        named("feature, r = 8", FeatureTest::new(kernel)),
        named(
            "feature, r = 16",
            FeatureTest::new(kernel).with_features(16),
        ),
        named("asymptotic linear", AsymptoticBlockSkceTest::linear(kernel)),
        named(
            "asymptotic block, B = 5",
            AsymptoticBlockSkceTest::new(kernel, 5),
        ),
        named(
            "asymptotic block, B = 16",
            AsymptoticBlockSkceTest::new(kernel, 16),
        ),
        named("CME, J = 10, F", CmeTest::new(kernel, 10)),
        named(
            "CME, J = 10, χ²",
            CmeTest::new(kernel, 10).with_null(CmeNull::ChiSquared),
        ),
        named(
            "distribution-free, biased",
            DistributionFreeSkceTest::new(Skce::biased(kernel)),
        ),
        named(
            "distribution-free, unbiased",
            DistributionFreeSkceTest::new(Skce::unbiased(kernel)),
        ),
        named(
            "distribution-free, linear",
            DistributionFreeSkceTest::new(Skce::linear(kernel)),
        ),
    ]
}

/// The p-values of one data set, one for each test.
fn p_values(tests: &[NamedTest], model: Model, n: usize, seed: u64) -> Result<Vec<f64>> {
    let mut rng = StdRng::seed_from_u64(seed);
    let (predictions, labels) = model.draw(n, &mut rng)?;
    let seed = rng.next_u64(); // no test depends on what another drew
    let p_value = |(_, test): &NamedTest| {
        let mut rng = StdRng::seed_from_u64(seed);
        match test.evaluate(&predictions, &labels, &mut rng) {
            Ok(outcome) => Ok(outcome.p_value()),
            Err(Error::SingularCovariance { .. }) => Ok(1.0), // no rejection
            Err(error) => Err(error),
        }
    };
    tests.iter().map(p_value).collect()
}

/// How often each test rejects at 5 % and at 1 %, among data sets of `n` samples.
fn rejections(
    tests: &[NamedTest],
    model: Model,
    n: usize,
    options: &Options,
    progress: &ProgressBar,
) -> Result<Vec<[usize; 2]>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut counts = vec![[0; 2]; tests.len()];
        loop {
            let set = next.fetch_add(1, Ordering::Relaxed);
            if set >= options.datasets {
                return Ok(counts);
            }
            let seed = options.seed + set as u64;
            for (counts, p) in counts.iter_mut().zip(p_values(tests, model, n, seed)?) {
                counts[0] += usize::from(p <= 0.05);
                counts[1] += usize::from(p <= 0.01);
            }
            progress.inc(1);
        }
    };
    let threads = thread::available_parallelism().map_or(1, |threads| threads.get());
    let parts: Vec<Result<Vec<[usize; 2]>>> = thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let join = |handle: thread::ScopedJoinHandle<_>| handle.join().expect("no panic");
        handles.into_iter().map(join).collect()
    });
    let mut total = vec![[0; 2]; tests.len()];
    for part in parts {
        for (total, part) in total.iter_mut().zip(part?) {
            total[0] += part[0];
            total[1] += part[1];
        }
    }
    Ok(total)
}

/// A Markdown table of rejections in per cent: a column for each setting, a row for each test.
fn table(
    tests: &[NamedTest],
    settings: &[(String, Model, usize)],
    options: &Options,
) -> Result<String> {
    let progress = ProgressBar::new((settings.len() * options.datasets) as u64).with_style(
        ProgressStyle::with_template("{bar:40} {pos}/{len} data sets, {eta} left")
            .expect("a valid template"),
    );
    let columns = settings
        .iter()
        .map(|(_, model, n)| rejections(tests, *model, *n, options, &progress))
        .collect::<Result<Vec<_>>>()?;
    progress.finish_and_clear();
    let names: Vec<&str> = settings.iter().map(|(name, ..)| name.as_str()).collect();
    let mut text = format!("| test | {} |\n", names.join(" | "));
    text += &format!("| --- |{}\n", " ---: |".repeat(names.len()));
    let per_cent = |count: usize| format!("{:.1}", 100.0 * count as f64 / options.datasets as f64);
    for (row, (name, _)) in tests.iter().enumerate() {
        let cells = columns.iter().map(|column| {
            let [at_5, at_1] = column[row].map(per_cent);
            format!("{at_5} ({at_1})")
        });
        let cells: Vec<String> = cells.collect();
        text += &format!("| {name} | {} |\n", cells.join(" | "));
    }
    Ok(text)
}

fn main() -> Result<()> {
    let options = Options::parse();
    let mut tests = tests(options.replicates);
    tests.retain(|(name, _)| name.contains(&options.only));
    println!(
        "Rejections in per cent at level 5 % (in brackets at 1 %), {} data sets, {} replicates, seed {}.\n",
        options.datasets, options.replicates, options.seed,
    );

    let settings = MODELS.map(|model| (model.name.to_owned(), model, 250));
    println!("n = 250\n\n{}", table(&tests, &settings, &options)?);

    let small =
        |model: Model| [16, 64, 256, 1024].map(|n| (format!("{}, n = {n}", model.name), model, n));
    let kernel = Kernel::exponential();
    let mut few = vec![
        named(
            "asymptotic quadratic, gamma",
            AsymptoticSkceTest::new(kernel),
        ),
        named("feature, r = 8", FeatureTest::new(kernel)),
        named("CME, J = 10, F", CmeTest::new(kernel, 10)),
        named(
            "CME, J = 10, χ²",
            CmeTest::new(kernel, 10).with_null(CmeNull::ChiSquared),
        ),
    ];
    few.retain(|(name, _)| name.contains(&options.only));
    for model in [BINARY, M1] {
        let settings = small(model);
        println!(
            "{}, calibrated\n\n{}",
            model.name,
            table(&few, &settings, &options)?
        );
    }
    Ok(())
}
