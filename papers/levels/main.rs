//! What p-values are worth: how often each test rejects calibrated models (its level) and
//! miscalibrated ones (its power), over many data sets.
//!
//! ```console
//! cargo run --release -p burn-calibration-papers --example levels -- --data ../shared/data
//! ```
//!
//! prints the Markdown tables of `papers/results/levels_*.md`; `--data` names the folder that holds
//! `cifar10-predictions`, without which the tables of real networks are left out.

mod confident;
mod faults;
mod models;
mod partial;
mod regression;
mod rejections;
#[allow(dead_code)] // `penalties` reads them in more ways
#[path = "../rows.rs"]
mod rows;
mod tests;
mod weights;

use std::path::PathBuf;

use burn_calibration::distribution::Categorical;
use clap::Parser;
use models::{Classes, Labels, Source, networks};
use rejections::{Setting, Settings, Study, table};
use rows::Rows;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Levels and powers of the calibration tests.
#[derive(Parser)]
struct Options {
    /// Data sets of a setting.
    #[arg(long, default_value_t = 2000)]
    datasets: usize,
    /// Data sets of 10,000 samples.
    #[arg(long, default_value_t = 200)]
    large: usize,
    /// Seed of the first data set.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Redraws of exact tests.
    #[arg(long, default_value_t = 999)]
    redraws: usize,
    /// The folder that holds `cifar10-predictions`.
    #[arg(long)]
    data: Option<PathBuf>,
    /// Only tables whose title contains this.
    #[arg(long, default_value = "")]
    only: String,
    /// A file that keeps the p-values of each data set: what is there is not computed again.
    #[arg(long, value_name = "FILE")]
    keep: Option<PathBuf>,
}

fn classes(
    name: impl Into<String>,
    source: &Source,
    labels: Labels,
    samples: usize,
) -> Setting<Categorical> {
    let model = Classes {
        source: source.clone(),
        labels,
        samples,
    };
    (name.into(), Box::new(model))
}

const ALTERNATIVES: [(&str, Labels); 8] = [
    ("calibrated", Labels::Calibrated),
    ("T = 1.1", Labels::Temperature(1.1)),
    ("T = 1.3", Labels::Temperature(1.3)),
    (
        "first class too likely by a quarter",
        Labels::FirstTooLikely(1.25),
    ),
    ("1 % of labels random", Labels::Uniform(0.01)),
    ("5 % of labels random", Labels::Uniform(0.05)),
    ("20 % of labels random", Labels::Uniform(0.2)),
    ("top label right, the rest wrong", Labels::RestWrong),
];

fn main() -> Result<()> {
    let options = Options::parse();
    let (all, redraws) = (options.datasets, options.redraws);
    let kept = options.keep.as_deref().map(Rows::open).transpose()?;
    let study = Study { options, kept };
    let options = &study.options;
    println!(
        "Rejections in per cent at 5 / 1 / 0.1 %; {redraws} redraws, seed {}.",
        options.seed
    );
    let m1 = Source::Dirichlet(10, 0.1);
    let data = options.data.as_deref().map(networks);
    let data = data.transpose().expect("the predictions of four networks");

    if let Some(data) = &data {
        let source = |power| Source::Networks(data.clone(), power);
        let of = |sizes: &[usize]| -> Settings<_> {
            let both = [("as they are", 1.0), ("sharpened, p³", 3.0)];
            let of_power = |(name, power): (&str, f64)| {
                let source = source(power);
                let setting = move |&n: &usize| {
                    classes(format!("{name}, n = {n}"), &source, Labels::Calibrated, n)
                };
                sizes.iter().map(setting).collect::<Vec<_>>()
            };
            both.into_iter().flat_map(of_power).collect()
        };
        let title = "levels: four networks on CIFAR-10, labels redrawn";
        table(
            title,
            &tests::levels(redraws),
            &of(&[16, 50, 200, 1000]),
            (all, 3, true),
            &study,
        )?;
        table(
            &format!("{title}, n = 10,000"),
            &[tests::aspects(redraws)],
            &of(&[10_000]),
            (options.large, 3, true),
            &study,
        )?;
    }
    let settings = vec![
        classes("M1, n = 16", &m1, Labels::Calibrated, 16),
        classes("M1, n = 250", &m1, Labels::Calibrated, 250),
        classes(
            "2 classes, n = 250",
            &Source::Dirichlet(2, 1.0),
            Labels::Calibrated,
            250,
        ),
        classes(
            "26 classes, n = 250",
            &Source::Dirichlet(26, 0.05),
            Labels::Calibrated,
            250,
        ),
        classes(
            "100 classes, n = 250",
            &Source::Dirichlet(100, 0.02),
            Labels::Calibrated,
            250,
        ),
    ];
    table(
        "levels: simulated classes",
        &tests::levels(redraws),
        &settings,
        (all, 3, true),
        &study,
    )?;

    let two = Source::Dirichlet(2, 1.0);
    let mut settings = vec![
        classes("M1, n = 250", &m1, Labels::Calibrated, 250),
        classes("2 classes, n = 250", &two, Labels::Calibrated, 250),
        classes(
            "M1, 20 % of labels random, n = 250",
            &m1,
            Labels::Uniform(0.2),
            250,
        ),
        classes("M1, T = 1.3, n = 250", &m1, Labels::Temperature(1.3), 250),
    ];
    if let Some(data) = &data {
        for (name, power) in [("networks", 1.0), ("sharpened", 3.0)] {
            let source = Source::Networks(data.clone(), power);
            let setting =
                |n: usize| classes(format!("{name}, n = {n}"), &source, Labels::Calibrated, n);
            settings.extend([100, 250, 1000].map(setting));
        }
    }
    let tests = tests::asymptotic(redraws);
    table(
        "asymptotic tests",
        &tests,
        &settings,
        (all, 3, false),
        &study,
    )?;

    let settings: Settings<_> = [(20, 0.1), (50, 0.05), (100, 0.02)]
        .map(|(m, concentration)| {
            let source = Source::Dirichlet(m, concentration);
            classes(
                format!("{m} classes, n = 300"),
                &source,
                Labels::Calibrated,
                300,
            )
        })
        .into();
    let test = tests::class_wise(redraws);
    table(
        "levels: each class against the rest",
        &[test],
        &settings,
        (all / 10, 3, true),
        &study,
    )?;

    confident::tables(&study)?;
    regression::tables(&study)?;
    weights::tables(&study)?;
    partial::partial_nulls(&study)?;
    partial::powers(&study)?;
    let too_likely = [
        (20, 1.5, 500),
        (20, 1.2, 500),
        (100, 1.5, 1000),
        (100, 2.0, 1000),
    ];
    let settings = too_likely.map(|(m, factor, n)| {
        let name = format!("{m} classes, {factor} times as likely, n = {n}");
        let source = Source::Dirichlet(m, 0.1);
        classes(name, &source, Labels::FirstTooLikely(factor), n)
    });
    let test = partial::wrong_class(redraws);
    table(
        "powers: one wrong class",
        &[test],
        &settings,
        (all / 8, 1, false),
        &study,
    )?;

    for n in [250, 1000] {
        let powers = tests::powers(redraws, n == 250);
        let settings = ALTERNATIVES.map(|(name, labels)| classes(name, &m1, labels, n));
        let title = format!("powers: predictions of M1, n = {n}");
        table(&title, &powers, &settings, (all / 8, 1, false), &study)?;
    }
    if let Some(data) = &data {
        let source = Source::Networks(data.clone(), 1.0);
        let settings = ALTERNATIVES.map(|(name, labels)| classes(name, &source, labels, 1000));
        let powers = tests::powers(redraws, false);
        let title = "powers: four networks on CIFAR-10, n = 1,000";
        table(title, &powers, &settings, (all / 8, 1, false), &study)?;
    }

    let even = Source::Dirichlet(10, 0.3);
    let settings: Settings<_> = [100, 1000, 4000]
        .map(|n| classes(format!("n = {n}"), &even, Labels::Calibrated, n))
        .into();
    let title = "intervals of 95 % that miss the error of a calibrated model";
    table(
        title,
        &tests::coverage(),
        &settings,
        (all, 1, false),
        &study,
    )?;
    let settings: Settings<_> = [
        ("calibrated", Labels::Calibrated),
        ("T = 1.3", Labels::Temperature(1.3)),
    ]
    .into_iter()
    .flat_map(|(name, labels)| {
        let even = even.clone();
        [1000, 10_000].map(move |n| classes(format!("{name}, n = {n}"), &even, labels, n))
    })
    .collect();
    let title = "tolerance tests: is the error above two points?";
    table(
        title,
        &tests::tolerance(0.02),
        &settings,
        (all / 4, 1, false),
        &study,
    )
}
