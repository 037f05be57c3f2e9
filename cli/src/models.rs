//! `calibration compare --models`: all pairs of several models whose columns are in one file.

use std::fmt;

use burn_calibration::{
    hypothesis::{OmnibusOutcome, holm},
    names::Name,
    numbers::significant,
};
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;

use crate::{
    answer::{Size, beside, omnibus, sizes},
    args::CompareArgs,
    compare::{Outcome, Paired, paired, table_of_changes, write_unbounded, write_verdict},
    error::{Result, ensure},
    kernel::whose_median,
    kind::{Kind, View},
    limits::redraws,
    progress::Progress,
    quantities::Pairs,
    table::TextTable,
    words::{DataWords, KernelWords, Known, Named, shown},
};

/// Several models.
#[derive(Serialize)]
pub struct Models {
    #[serde(flatten)]
    data: DataWords,
    /// The kernel on predictions, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<KernelWords>,
    /// Whose median the bandwidth is.
    #[serde(skip)]
    median: String,
    level: f64,
    models: Vec<Model>,
    pairs: Vec<ModelPair>,
}

#[derive(Serialize)]
struct Model {
    name: String,
    omnibus: Known<OmnibusOutcome>,
    intervals: Named<Size>,
}

/// Two of the models: the change is from one to the other.
#[derive(Serialize)]
struct ModelPair {
    before: String,
    after: String,
    changes: Named<Known<Paired>>,
}

/// Checks the names of models: two or more, each once.
pub fn check_names(names: &[String]) -> Result<()> {
    ensure!(
        names.len() > 1,
        "--models {}: expected two or more names, between commas",
        names.join(",")
    );
    for (at, name) in names.iter().enumerate() {
        let is_new = !names[..at].contains(name);
        ensure!(is_new, "--models: {name} twice, expected it once");
    }
    Ok(())
}

/// Tests each model, and compares each pair of them, with one kernel: that of the first.
pub fn compared<P: Kind>(
    args: &CompareArgs,
    data: DataWords,
    views: &[View<P>],
) -> Result<Outcome> {
    let first = &views[0].predictions;
    let count = redraws("--redraws", args.redraws, first.dimensions())?;
    let mut rng = StdRng::seed_from_u64(args.source.seed);
    let kernel = P::Kernel::asked(&args.kernel, first, &mut rng)?;
    let progress = Progress::new(views.len() + views.len() * (views.len() - 1) / 2);
    let model = |(name, view): (&String, &View<P>)| {
        progress.step(name);
        let omnibus = omnibus(kernel, count, 1, view, &data.class_names, &mut rng);
        let intervals = sizes(&args.sizes, view, None);
        Model {
            name: name.clone(),
            omnibus: beside(omnibus, &intervals),
            intervals,
        }
    };
    let models = args.models.iter().zip(views).map(model).collect();
    let mut pairs = Vec::new();
    for (one, before) in args.models.iter().enumerate() {
        for (other, after) in args.models.iter().enumerate().skip(one + 1) {
            progress.step(&format!("{before} and {after}"));
            pairs.push(ModelPair {
                before: before.clone(),
                after: after.clone(),
                changes: Named(paired(args, &views[one], &views[other], kernel)),
            });
        }
    }
    adjust(&mut pairs)?;
    Ok(Outcome::Several(Box::new(Models {
        data,
        kernel: kernel.as_ref().map(KernelWords::from),
        median: whose_median(
            &args.kernel,
            &format!("of {}", args.models[0]),
            "all models",
        ),
        level: args.sizes.level,
        models,
        pairs,
    })))
}

/// Adjusts the p-values of each quantity for the number of pairs, by Holm.
fn adjust(pairs: &mut [ModelPair]) -> Result<()> {
    let quantities = pairs.first().map_or(0, |pair| pair.changes.0.len());
    for quantity in 0..quantities {
        let mut with_p_value: Vec<(&mut Paired, f64)> = (pairs.iter_mut())
            .filter_map(|pair| {
                let paired = pair.changes.0[quantity].1.0.as_mut().ok()?;
                let p_value = *paired.p_value.0.as_ref().ok()?;
                Some((paired, p_value))
            })
            .collect();
        let p_values: Vec<f64> = with_p_value.iter().map(|(_, p_value)| *p_value).collect();
        for ((paired, _), adjusted) in with_p_value.iter_mut().zip(holm(&p_values)?) {
            paired.adjusted_p_value = Some(adjusted);
        }
    }
    Ok(())
}

impl Models {
    /// A row for each model: its scores, its first error with the interval, and the p-value of its test.
    fn table(&self) -> TextTable {
        // each model is in a pair
        let scores = |model: &str| -> Vec<(&str, String)> {
            let pair = (self.pairs.iter())
                .find(|pair| pair.before == model || pair.after == model)
                .expect("there are two models or more");
            let changes = pair.changes.0.iter();
            let score = |(_, change): &'_ (Name, Known<Paired>)| -> String {
                let value = change
                    .0
                    .as_ref()
                    .ok()
                    .map(|change| change.of(pair.before == model));
                value.map_or_else(|| "-".to_owned(), |value| significant(value, 4))
            };
            changes
                .map(|change| (&*change.0.title, score(change)))
                .collect()
        };
        let titles: Vec<&str> = scores(&self.models[0].name)
            .iter()
            .map(|(title, _)| *title)
            .collect();
        let of_error = self.models[0].intervals.0.first();
        let error = of_error.map(|(name, _)| [&*name.title, "interval"]);
        let columns = [
            &titles[..],
            error.as_ref().map_or(&[], |both| &both[..]),
            &["p-value"],
        ]
        .concat();
        let mut table = TextTable::new(&columns);
        for model in &self.models {
            let mut cells: Vec<String> = scores(&model.name)
                .into_iter()
                .map(|(_, cell)| cell)
                .collect();
            let first = model.intervals.0.first();
            cells.extend(first.into_iter().flat_map(|(_, size)| size.cells()));
            let p_value = model.omnibus.0.as_ref();
            cells.push(p_value.map_or("-".into(), |outcome| shown(outcome.probability())));
            table.row(&model.name, &cells, "");
        }
        table
    }
}

impl fmt::Display for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.models.iter().map(|model| &*model.name).collect();
        writeln!(
            f,
            "{}, of {} models: {}",
            self.data,
            names.len(),
            names.join(", ")
        )?;
        if let Some(kernel) = &self.kernel {
            writeln!(f, "{kernel}{}", self.median)?;
        }
        write!(f, "\n{}", self.table())?;
        for ModelPair {
            before,
            after,
            changes,
        } in &self.pairs
        {
            writeln!(f, "\n{before} (before) and {after} (after)")?;
            let lines = (changes.0.iter()).map(|(name, change)| (name.title.to_string(), change));
            write!(
                f,
                "{}",
                table_of_changes(&lines.collect::<Vec<_>>(), self.level)
            )?;
            write_unbounded(f, changes.0.iter().map(|(_, change)| change))?;
        }
        for Model {
            name,
            omnibus,
            intervals,
        } in &self.models
        {
            write_verdict(f, name, omnibus)?;
            writeln!(f, "{intervals}")?;
        }
        writeln!(
            f,
            "The difference is after - before: negative is a gain. Adjusted p-values allow for the {} pairs of a line \
             (Holm); each interval\nis for one pair.",
            self.pairs.len()
        )
    }
}
