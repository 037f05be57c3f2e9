//! `calibration compare --models`: all pairs of several models whose columns are in one file.

use std::fmt;

use burn_calibration::{
    hypothesis::{OmnibusOutcome, holm},
    kernel::Kernel,
};
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;

use crate::{
    answer::Size,
    args::CompareArgs,
    compare::{Change, Paired, Side, paired, write_changes, write_verdict},
    error::{Result, ensure},
    files::Inputs,
    kind::{Kind, View},
    limits::redraws,
    progress::Progress,
    rows::Wanted,
    table::title_width,
    words::{DataWords, KernelWords, Known, Named},
};

/// Several models.
#[derive(Serialize)]
pub struct Models {
    #[serde(flatten)]
    data: DataWords,
    /// The kernel on predictions, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<KernelWords>,
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

/// Compares each pair of models, with one kernel: that of the first.
pub fn compare<P: Kind>(args: &CompareArgs) -> Result<Models> {
    ensure!(
        args.models.len() > 1,
        "--models {}: expected two or more names, between commas",
        args.models.join(",")
    );
    for (at, name) in args.models.iter().enumerate() {
        let is_new = !args.models[..at].contains(name);
        ensure!(is_new, "--models: {name} twice, expected it once");
    }
    let inputs = Inputs {
        models: &args.models,
        predictions: args.predictions.iter().map(|path| path.as_path()).collect(),
        ..Inputs::default()
    };
    let loaded = P::read(&inputs, &args.source, Wanted::Probabilities)?;
    let data = loaded.in_words(&loaded.class_names);
    let (names, targets) = (loaded.class_names, loaded.targets);
    let view = |set: P| set.view(targets.clone(), None, &names);
    let views: Vec<View<P>> = loaded.sets.into_iter().map(view).collect();
    let sides: Vec<&dyn Side<P::Targets>> = views.iter().map(|view| view as _).collect();
    compared(args, (data, &names), &sides, &|[one, other], kernel| {
        paired(args, &views[one], &views[other], kernel)
    })
}

/// Tests each model, and compares each pair of them.
fn compared<T>(
    args: &CompareArgs,
    (data, names): (DataWords, &[String]),
    sides: &[&dyn Side<T>],
    paired: &dyn Fn([usize; 2], Option<Kernel>) -> Vec<Change>,
) -> Result<Models> {
    let count = redraws("--redraws", args.redraws, sides[0].dimensions())?;
    let mut rng = StdRng::seed_from_u64(args.source.seed);
    let kernel = sides[0].kernel(&args.kernel, &mut rng)?;
    let progress = Progress::new(sides.len() + sides.len() * (sides.len() - 1) / 2);
    let model = |(name, side): (&String, &&dyn Side<T>)| {
        progress.step(name);
        Model {
            name: name.clone(),
            omnibus: side.omnibus(kernel, count, names, &mut rng),
            intervals: side.sizes(&args.sizes, None),
        }
    };
    let models = args.models.iter().zip(sides).map(model).collect();
    let mut pairs = Vec::new();
    for (one, before) in args.models.iter().enumerate() {
        for (other, after) in args.models.iter().enumerate().skip(one + 1) {
            progress.step(&format!("{before} and {after}"));
            pairs.push(ModelPair {
                before: before.clone(),
                after: after.clone(),
                changes: Named(paired([one, other], kernel)),
            });
        }
    }
    adjust(&mut pairs)?;
    Ok(Models {
        data,
        kernel: kernel.as_ref().map(KernelWords::from),
        level: args.sizes.level,
        models,
        pairs,
    })
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
            writeln!(f, "{kernel}")?;
        }
        for ModelPair {
            before,
            after,
            changes,
        } in &self.pairs
        {
            writeln!(f, "\n{before} (before) and {after} (after)")?;
            let width = title_width(changes.0.iter().map(|(name, _)| name));
            let lines = (changes.0.iter()).map(|(name, change)| (name.title.to_string(), change));
            write_changes(f, &lines.collect::<Vec<_>>(), self.level, width)?;
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
