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
mod models;
mod partial;
mod regression;
#[allow(dead_code)] // `penalties` reads them in more ways
#[path = "../rows.rs"]
mod rows;
mod tests;
mod weights;

use std::{
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use burn_calibration::{
    distribution::{Categorical, Geometry, Marginals, Mixture, Normal, Predictive, Samples},
    hypothesis::Omnibus,
    kernel::{RealKernel, TargetKernel},
};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use models::{Classes, Draws, Labels, Model, Real, Source, Trend, Trending, networks};
use rand::{Rng, SeedableRng, rngs::StdRng};
use rows::Rows;
use serde::{Deserialize, Serialize};
use tests::{PValues, Test};

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

/// What was asked for, and the file that keeps it.
struct Study {
    options: Options,
    kept: Option<Rows<Kept>>,
}

/// The p-values of a data set.
#[derive(Clone, Serialize, Deserialize)]
struct Kept {
    table: String,
    setting: String,
    redraws: usize,
    seed: u64,
    /// Those of each column.
    p_values: PValues,
}

/// The levels at which rejections are counted.
const LEVELS: [f64; 3] = [0.05, 0.01, 0.001];

/// What the p-values of a column say of many data sets.
struct Counts {
    /// Rejections at each level, for each p-value of the test.
    rejections: Vec<[usize; 3]>,
    smallest: f64,
}

impl Counts {
    fn add(&mut self, p_values: &[f64]) {
        self.rejections.resize(p_values.len(), [0; 3]);
        for (counts, &p) in self.rejections.iter_mut().zip(p_values) {
            for (count, level) in counts.iter_mut().zip(LEVELS) {
                *count += usize::from(p <= level + 1e-12);
            }
            self.smallest = self.smallest.min(p);
        }
    }

    /// The most rejections at a level of any p-value.
    fn most(&self, level: usize) -> usize {
        let counts = self.rejections.iter().map(|counts| counts[level]);
        counts.max().unwrap_or(0)
    }
}

/// The p-values of all columns of a data set.
fn p_values<P: Predictive + Send>(
    tests: &[Test<P>],
    model: &dyn Model<P, P::Targets>,
    set: usize,
    seed: u64,
) -> Result<PValues> {
    let mut rng = StdRng::seed_from_u64(seed);
    let (predictions, targets) = model.draw(set, &mut rng)?;
    let seed = rng.next_u64(); // no test depends on what another drew
    let mut columns = vec![];
    for test in tests {
        let mut rng = StdRng::seed_from_u64(seed);
        columns.extend((test.p_values)(&predictions, &targets, &mut rng)?);
    }
    Ok(columns)
}

/// What each column says of data sets of a model.
fn count<P: Predictive + Send>(
    table: &str,
    tests: &[Test<P>],
    (setting, model): &Setting<P>,
    datasets: usize,
    Study { options, kept }: &Study,
) -> Result<Vec<Counts>> {
    let none = || Counts {
        rejections: vec![],
        smallest: 1.0,
    };
    let columns = tests.iter().flat_map(|test| &test.columns);
    let total: Mutex<Vec<Counts>> = Mutex::new(columns.map(|_| none()).collect());
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(None));
    let of_set = |set: usize| -> Result<PValues> {
        let (seed, redraws) = (options.seed + set as u64, options.redraws);
        let asked = |row: &Kept| {
            (row.seed, row.redraws) == (seed, redraws)
                && row.table == table
                && row.setting == *setting
        };
        if let Some(row) = kept.as_ref().and_then(|kept| kept.find(asked)) {
            return Ok(row.p_values);
        }
        let p_values = p_values(tests, model.as_ref(), set, seed)?;
        if let Some(kept) = kept {
            kept.add(Kept {
                table: table.to_owned(),
                setting: setting.clone(),
                redraws,
                seed,
                p_values: p_values.clone(),
            })?;
        }
        Ok(p_values)
    };
    let work = || {
        loop {
            let set = next.fetch_add(1, Ordering::Relaxed);
            if set >= datasets {
                return Ok(());
            }
            let columns = of_set(set)?;
            let mut total = total.lock().expect("no panic");
            for (counts, p_values) in total.iter_mut().zip(&columns) {
                counts.add(p_values);
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, |threads| threads.get());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                if let Err(error) = work() {
                    *failed.lock().expect("no panic") = Some(error);
                }
            });
        }
    });
    match failed.into_inner().expect("no panic") {
        Some(error) => Err(error),
        None => Ok(total.into_inner().expect("no panic")),
    }
}

/// Prints a Markdown table: a row for each setting, a column for each test. Cells are rejections in per
/// cent at the levels, and the smallest p-value if asked for.
fn table<P: Predictive + Send>(
    title: &str,
    tests: &[Test<P>],
    settings: &[Setting<P>],
    (datasets, levels, smallest): (usize, usize, bool),
    study: &Study,
) -> Result<()> {
    if !title.contains(&study.options.only) {
        return Ok(());
    }
    let style = ProgressStyle::with_template("{msg} {bar:40} {pos}/{len} settings, {eta} left");
    let progress = ProgressBar::new(settings.len() as u64)
        .with_style(style.expect("a valid template"))
        .with_message(title.to_owned());
    println!("\n{title}, {datasets} data sets each\n");
    let names: Vec<&str> = tests.iter().flat_map(|test| test.columns.clone()).collect();
    println!("| | {} |", names.join(" | "));
    println!("| --- |{}", " ---: |".repeat(names.len()));
    let per_cent = |count: usize| 100.0 * count as f64 / datasets as f64;
    for setting in settings {
        let counts = count(title, tests, setting, datasets, study)?;
        let cell = |counts: &Counts| {
            let shown = |level: usize| match level {
                2 => format!("{:.2}", per_cent(counts.most(level))),
                _ => format!("{:.1}", per_cent(counts.most(level))),
            };
            let cell = (0..levels).map(shown).collect::<Vec<_>>().join(" / ");
            match smallest {
                true => format!("{cell}, {:.0e}", counts.smallest),
                false => cell,
            }
        };
        let cells: Vec<String> = counts.iter().map(cell).collect();
        println!("| {} | {} |", setting.0, cells.join(" | "));
        progress.inc(1);
    }
    progress.finish_and_clear();
    Ok(())
}

/// A model with a name.
type Setting<P> = (String, Box<dyn Model<P, <P as Predictive>::Targets>>);
type Settings<P> = Vec<Setting<P>>;

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
