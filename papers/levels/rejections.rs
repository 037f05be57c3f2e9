//! Rejections of tests, counted over data sets of a model, and tables of them.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use burn_calibration::distribution::Predictive;
use indicatif::{ProgressBar, ProgressStyle};
use rand::{Rng, SeedableRng, rngs::StdRng};
use serde::{Deserialize, Serialize};

use crate::{
    Options, Result,
    models::Model,
    rows::Rows,
    tests::{PValues, Test},
};

/// What was asked for, and the file that keeps it.
pub struct Study {
    pub options: Options,
    pub kept: Option<Rows<Kept>>,
}

/// The p-values of a data set.
#[derive(Clone, Serialize, Deserialize)]
pub struct Kept {
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
pub fn table<P: Predictive + Send>(
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
            if smallest {
                format!("{cell}, {:.0e}", counts.smallest)
            } else {
                cell
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
pub type Setting<P> = (String, Box<dyn Model<P, <P as Predictive>::Targets>>);
pub type Settings<P> = Vec<Setting<P>>;
