//! `calibration fit`.

mod classes;
mod distributions;
mod prior;
mod words;

use std::path::Path;

use burn_calibration::{
    distribution::{Laplace, Normal, Subject},
    recalibration::{
        self, Choice, FitReport, FittedMap, FittedTo, Guarantees, Keep, NamedParameter,
    },
};
use serde::Serialize;

pub use distributions::CONFORMAL;
pub use words::warnings;

use crate::{
    args::{FamilyName, FitArgs, KeepName},
    error::Result,
    kind::{Kind, Loaded},
    outputs::to_write,
    words::{BeforeAfter, Computed, DataWords, check_finite, key, show_beside},
};
use classes::fit_classes;
use distributions::{fit_distributions, fit_quantiles};
use prior::corrected;

/// The printed summary of a fit.
#[derive(Serialize)]
pub struct FitSummary {
    /// The file of the map.
    map: String,
    method: &'static str,
    kind: &'static str,
    loss: String,
    #[serde(flatten)]
    data: Data,
    /// The guarantees for logits such as were given.
    #[serde(flatten)]
    guarantees: Guarantees,
    fit: Computed<FitReport>,
    /// The parameters, if they are few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<NamedParameter>,
    /// The choice of the map, unless it was named.
    choice: Computed<Choice>,
    /// Warnings about the use of the map.
    warnings: Vec<String>,
}

/// The data that a map was fitted to, and what it does to them.
#[derive(Serialize)]
struct Data {
    #[serde(flatten)]
    of: DataWords,
    /// The rows whose most likely class the map changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_classes: Option<usize>,
    /// The mean log loss, of a map that has one.
    log_loss: Computed<BeforeAfter<f64>>,
    /// The mean weighted interval score, of quantile forecasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    interval_score: Option<BeforeAfter<f64>>,
    /// The probability to which smaller ones were raised, which the map does as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    clip: Option<f64>,
    /// Notes about probabilities of 0.
    #[serde(skip)]
    zeros: Vec<String>,
    /// The names of the columns.
    #[serde(skip)]
    columns: Vec<String>,
    /// The names of the classes.
    #[serde(skip)]
    class_names: Vec<String>,
}

impl Data {
    /// The data without what a map does to them.
    fn of<P: Kind>(loaded: &Loaded<P>) -> Self {
        Self {
            of: loaded.data.without_names(),
            changed_classes: None,
            log_loss: Computed::or_skipped(None, "what the map makes has no density"),
            interval_score: None,
            clip: None,
            zeros: Vec::new(),
            columns: loaded.columns.clone(),
            class_names: Vec::new(),
        }
    }
}

/// A map as it came from its fit, its name, and why it was chosen, unless it was named.
type Chosen<M> = (M, &'static str, Option<Choice>);

fn chosen<M>(chosen: recalibration::Chosen<M>) -> Chosen<M> {
    let choice = chosen.choice().clone();
    (chosen.into_map(), choice.chosen, Some(choice))
}

/// The method of predictions that stay as they are.
const NONE: &str = "none";

/// The reason why there is no report of a fit.
pub const NOT_KNOWN: &str = "the map does not say how it was fitted";

pub fn run(args: &FitArgs, json: bool) -> Result<()> {
    let output = Some(&*args.output);
    match &args.predictions {
        Some(path) => show_beside("fit", &fitted(args, path)?, json, output),
        None => show_beside("fit", &corrected(args)?, json, output),
    }
}

fn fitted(args: &FitArgs, path: &Path) -> Result<FitSummary> {
    match args.family {
        FamilyName::Categorical => fit_classes(args, path),
        FamilyName::Normal => fit_distributions::<Normal>(args, path),
        FamilyName::Laplace => fit_distributions::<Laplace>(args, path),
        FamilyName::Quantiles => fit_quantiles(args, path),
        _ => unreachable!("the families of fit are checked"),
    }
}

/// Saves a map, and returns its description.
fn finish(
    args: &FitArgs,
    map: &mut dyn FittedMap,
    (method, mut choice): (&'static str, Option<Choice>),
    data: Data,
) -> Result<FitSummary> {
    map.name_rows(&data.of.rows);
    (choice.iter_mut()).for_each(|choice| choice.name_rows(&data.of.rows));
    let rows = &args.source.rows;
    let is_of_classes = args.family == FamilyName::Categorical;
    let mut guarantees = map.guarantees();
    if is_of_classes && !rows.reading.numbers.logits {
        guarantees.injective = guarantees.injective_on_log_probabilities;
    }
    let names = (&data.class_names[..], rows.reading.numbers.positive);
    let mut parameters = map.named_parameters();
    if parameters.iter().map(|p| p.values.len()).sum::<usize>() > FEW {
        parameters.clear();
    }
    let fitted = FitSummary {
        map: args.output.display().to_string(),
        method,
        kind: map.kind(),
        loss: key(args.loss),
        guarantees,
        fit: Computed::or_skipped(map.report().cloned(), NOT_KNOWN),
        parameters,
        warnings: (data.zeros.iter().cloned())
            .chain(warnings(map.report(), choice.as_ref(), names))
            .collect(),
        choice: Computed::or_skipped(choice, "the map was named by --method"),
        data,
    };
    check_finite(&fitted)?;
    map.set_fitted_to(FittedTo {
        family: Some(family(args.family, fitted.data.of.subject)),
        logits: is_of_classes.then_some(rows.reading.numbers.logits),
        columns: fitted.data.columns.clone(),
        clip: fitted.data.clip.filter(|_| method != NONE),
    });
    save(map, args)?;
    Ok(fitted)
}

/// Saves a map to the file or to standard output.
fn save(map: &dyn FittedMap, args: &FitArgs) -> Result<()> {
    Ok(map.save(to_write(&args.output))?)
}

/// Parameters that a line holds.
const FEW: usize = 6;

/// The family of maps of confidences.
pub const CORRECTNESS: &str = "correctness";

/// The family that a map is of: confidences are no classes.
pub fn family(family: FamilyName, subject: Subject) -> String {
    match subject {
        Subject::Correctness => CORRECTNESS.into(),
        _ => key(family),
    }
}

/// Returns the property to keep: of logits, of the logarithms of probabilities, or of distributions.
fn kept(args: &FitArgs) -> Option<Keep> {
    let are_probabilities =
        args.family == FamilyName::Categorical && !args.source.rows.reading.numbers.logits;
    Some(match args.keep? {
        KeepName::Information if are_probabilities => Keep::InformationOfLogProbabilities,
        KeepName::Information => Keep::Information,
        KeepName::Accuracy => Keep::Accuracy,
        KeepName::Order => Keep::Order,
        KeepName::Mean => Keep::Mean,
    })
}
