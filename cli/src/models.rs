//! `calibration compare --models`: all pairs of several models whose columns are in one file.

use std::fmt;

use burn_calibration::{hypothesis::holm, names, numbers::significant};
use burn_calibration_report::{Answer, View};
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;

use crate::{
    answer::{omnibus_test, sizing},
    args::CompareArgs,
    compare::{Outcome, Paired, paired, table_of_changes, write_unbounded, write_verdict},
    error::{Result, ensure},
    kernel::whose_median,
    kind::Kind,
    limits::redraws,
    progress::Progress,
    quantities::Pairs,
    table::TextTable,
    words::{Computed, DataWords, KernelWords, Named, counted, shown},
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
    #[serde(flatten)]
    answer: Answer,
}

/// Two of the models: the change is from one to the other.
#[derive(Serialize)]
struct ModelPair {
    before: String,
    after: String,
    changes: Named<Computed<Paired>>,
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
    // the same draws for all, so that equal predictions have equal p-values
    let rng = || StdRng::seed_from_u64(args.source.seed);
    let kernel = P::Kernel::asked(&args.kernel, first)?;
    let progress = Progress::new(views.len() + views.len() * (views.len() - 1) / 2);
    let model = |(name, view): (&String, &View<P>)| {
        progress.step(name);
        let omnibus = view.omnibus(omnibus_test(kernel, count), &mut rng());
        Model {
            name: name.clone(),
            answer: Answer::new(omnibus, view.sizes(&sizing(&args.sizes, view), None))
                .at_rows(&data.rows),
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
                changes: Named(paired(args, &views[one], &views[other], kernel))
                    .map(|change| change.at_rows(&data.rows)),
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
    /// A score of a model, from a pair that it is one of.
    fn score(&self, model: &str, at: usize) -> Option<f64> {
        self.pairs.iter().find_map(|pair| {
            let (_, Computed(change)) = &pair.changes.0[at];
            let [before, after] = change.as_ref().ok()?.ends();
            let of_before = (pair.before == model).then_some(before);
            of_before.or((pair.after == model).then_some(after))
        })
    }

    /// A column for each model: its scores, the sizes of its errors, and the p-value of its test.
    fn table(&self) -> TextTable {
        let names: Vec<&str> = self.models.iter().map(|model| &*model.name).collect();
        let mut table = TextTable::new(&names);
        let mut row = |title: &str, cell: &dyn Fn(&Model) -> String| {
            let cells: Vec<String> = self.models.iter().map(cell).collect();
            table.row(title, &cells, "");
        };
        for (at, (name, _)) in self.pairs[0].changes.0.iter().enumerate() {
            row(&name.title, &|model| {
                let score = self.score(&model.name, at);
                score.map_or("-".into(), |score| significant(score, 4))
            });
        }
        for (name, _) in &self.models[0].answer.intervals.0 {
            // the counts in its title are of the first model
            let title = if name.key == names::OBSERVED_EXPECTED.key {
                &names::OBSERVED_EXPECTED.title
            } else {
                &name.title
            };
            row(title, &|model| {
                let size = model.answer.intervals.get(name.key);
                size.map_or("-".into(), |size| size.cells().join(" "))
            });
        }
        row("p-value of the omnibus test", &|model| {
            let outcome = model.answer.omnibus.0.as_ref();
            outcome.map_or("-".into(), |outcome| shown(outcome.probability()))
        });
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
        for Model { name, answer } in &self.models {
            write_verdict(f, name, &answer.omnibus)?;
        }
        writeln!(
            f,
            "\nThe difference is after - before; a negative one is a gain. P-values are adjusted for {} of each line (Holm);\n\
             each interval is for one pair.",
            counted(self.pairs.len(), "pair")
        )
    }
}
