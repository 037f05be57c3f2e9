//! `calibration fit`.

use std::fmt;

use burn::tensor::{Int, Tensor, activation::softmax};
use burn_calibration::{
    distribution::{Categorical, Laplace, Normal, Subject},
    estimator::SkceForm,
    kernel::Kernel,
    loss::{MmceLossConfig, ScoreLoss, SkceLossConfig},
    recalibration::{
        AutoRecalibrationConfig, Choice, Fit as _, FitProgress, FitReport, FitWarning, FittedTo,
        Guarantees, Keep, LogitMap, MapKind, NamedParameter, Objective,
    },
    score::{Brier, LogScore},
};
use serde::Serialize;

use crate::{
    args::{Family, Fit, KeepName, LossName},
    distributions, finite,
    input::Result,
    kind::Kind,
    limits::QUADRATIC_LIMIT,
    methods::{Method, takes_zeros},
    output::{is_classes, predictions_of},
    progress::Progress,
    rows::{Wanted, logits},
    show::GuaranteeLines,
    words::{Known, Pair, as_member, key, show},
};

#[derive(Serialize)]
pub struct Fitted {
    /// The file of the map.
    pub map: String,
    pub method: String,
    pub kind: &'static str,
    pub loss: String,
    pub n: usize,
    /// The number of classes or coordinates.
    #[serde(serialize_with = "as_member", flatten)]
    pub outcomes: (&'static str, usize),
    /// The rows of these data whose most likely class the map changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_classes: Option<usize>,
    /// What classes are about.
    #[serde(skip_serializing_if = "is_classes")]
    pub subject: Subject,
    /// The mean log loss on these data, of a map that has one.
    pub log_loss: Known<Pair<f64>>,
    /// The guarantees for logits such as were given.
    #[serde(flatten)]
    pub guarantees: Guarantees,
    pub fit: Known<FitReport>,
    /// The parameters, if they are few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<NamedParameter>,
    /// Why this map, unless it was named.
    pub choice: Known<Choice>,
    /// What to know before the map is used.
    pub warnings: Vec<String>,
}

/// The warnings of a fit in words, with names of classes where there are some.
pub fn warnings(
    report: Option<&FitReport>,
    choice: Option<&Choice>,
    (names, is_event): (&[String], bool),
) -> Vec<String> {
    let of_choice = choice.map_or(&[][..], |choice| &choice.warnings);
    let of_fit = report.map_or(&[][..], |report| &report.warnings);
    let of_fit = (of_fit.iter()).filter(|warning| !of_choice.contains(warning));
    let name = |class: usize| match names.get(class) {
        Some(name) => format!("class {name}"),
        None if is_event && class == 1 => "class 1 (the event)".into(),
        None => format!("class {class}"),
    };
    let words = |warning: &FitWarning| match warning {
        // "right" would be of the more likely outcome
        FitWarning::AllRight { samples } if is_event => format!(
            "all {samples} probabilities are on the right side of 1/2, which does not tell how sharp they may be"
        ),
        warning => warning.words(name),
    };
    of_fit.chain(of_choice).map(words).collect()
}

/// The method of predictions that stay as they are.
const NONE: &str = "none";

/// Why there is no report of a fit, and no choice.
pub const NOT_KNOWN: &str = "the map does not say how it was fitted";
pub const NAMED: &str = "the map was named by --method";

pub fn run(args: &Fit) -> Result<()> {
    match args.family {
        Family::Categorical => of_classes(args),
        Family::Normal => distributions::fit::<Normal>(args),
        Family::Laplace => distributions::fit::<Laplace>(args),
        _ => Err(distributions::UNKNOWN.into()),
    }
}

fn of_classes(args: &Fit) -> Result<()> {
    let method = args.method.map(Method::of_classes).transpose()?;
    let loaded = Categorical::read(&[&args.predictions], &args.source, Wanted::Logits)?;
    let (sets, labels) = (loaded.sets, loaded.targets);
    let subject = sets[0].subject();
    if let (Some(keep @ (KeepName::Accuracy | KeepName::Order)), Subject::Correctness) =
        (args.keep, subject)
    {
        return Err(format!(
            "--keep {}: of confidences the accuracy is data, which no map changes, expected no --keep or --keep \
             information",
            key(keep)
        ));
    }
    let takes_zeros = method.is_some_and(takes_zeros);
    let logits = logits(&args.predictions, &sets[0], takes_zeros)?;
    let [n, classes] = logits.dims();
    if matches!(args.loss, LossName::Skce) && n > QUADRATIC_LIMIT {
        return Err(format!(
            "--loss skce: its cost is the square of the number of samples, {n}, expected at most \
             {QUADRATIC_LIMIT}"
        ));
    }
    let (mut map, choice) = fit((args, method), subject, &logits, &labels)?;
    let log_loss = |logits: Tensor<2>| {
        let loss = ScoreLoss::new(LogScore).forward(logits, labels.clone());
        loss.into_scalar::<f64>()
    };
    let names = [&loaded.class_names, &loaded.columns];
    let names = names.into_iter().find(|names| names.len() == classes);
    let names = names.map_or(&[][..], |names| names);
    let promises = map.guarantees();
    let calibrated = map.forward(logits.clone());
    let likely = |logits: &Tensor<2>| logits.clone().argmax(1);
    let changed = likely(&logits).not_equal(likely(&calibrated));
    let changed = changed.int().sum().into_scalar::<i64>() as usize;
    let fitted = Fitted {
        map: args.output.display().to_string(),
        method: match (method, &choice) {
            (None, Some(choice)) => choice.chosen.into(),
            (method, _) => method.map_or("", |kind| kind.name()).into(),
        },
        kind: map.kind(),
        loss: key(args.loss),
        n,
        outcomes: ("classes", classes),
        subject,
        changed_classes: (subject == Subject::Classes).then_some(changed),
        log_loss: Known(Ok([log_loss(logits), log_loss(calibrated)].into())),
        guarantees: Guarantees {
            injective: match args.source.rows.logits {
                true => promises.injective,
                false => promises.injective_on_log_probabilities,
            },
            ..promises
        },
        fit: Known::or_skipped(map.report().cloned(), NOT_KNOWN),
        parameters: few(map.named_parameters()),
        warnings: warnings(
            map.report(),
            choice.as_ref(),
            (names, args.source.rows.positive),
        ),
        choice: Known::or_skipped(choice, NAMED),
    };
    finite::check(&fitted)?;
    map.set_fitted_to(FittedTo {
        family: Some(family(args.family, subject)),
        logits: Some(args.source.rows.logits),
        columns: loaded.columns,
    });
    map.save(&args.output).map_err(|e| e.to_string())?;
    show("fit", &fitted, args.json)
}

/// The family of maps of confidences.
pub const CORRECTNESS: &str = "correctness";

/// The family that a map is of: confidences are no classes.
pub fn family(family: Family, subject: Subject) -> String {
    match subject {
        Subject::Correctness => CORRECTNESS.into(),
        _ => key(family),
    }
}

/// Parameters that a line holds.
const FEW: usize = 6;

/// The parameters, if they are few.
pub fn few(parameters: Vec<NamedParameter>) -> Vec<NamedParameter> {
    let count: usize = parameters
        .iter()
        .map(|parameter| parameter.values.len())
        .sum();
    match count <= FEW {
        true => parameters,
        false => vec![],
    }
}

type Map = (LogitMap, Option<Choice>);

fn fit(
    (args, method): (&Fit, Option<MapKind>),
    subject: Subject,
    logits: &Tensor<2>,
    labels: &Tensor<1, Int>,
) -> Result<Map> {
    let keep = |keep| asked(keep, args.source.rows.logits);
    let keep = args.keep.map(keep).transpose()?;
    let progress = Progress::new(1);
    let mut observe = |at: FitProgress| {
        let title = format!("evaluation {}: {:.6}", at.evaluations, at.objective);
        progress.at(at.fit as u64 - 1, at.fits as u64, title);
    };
    let mut fit = |criterion: Option<&dyn Objective>| {
        let (logits, labels) = (logits.clone(), labels.clone());
        let map = match method {
            Some(kind) => {
                let map = kind.fit(args.source.seed, criterion, logits, labels, &mut observe);
                map.map(|map| (map, None))
            }
            None => {
                let config = AutoRecalibrationConfig::new()
                    .with_keep(keep)
                    .with_subject(subject)
                    .with_seed(args.source.seed);
                let map = config.fit_observed(criterion, logits, labels, &mut observe);
                map.map(|map| {
                    let choice = map.choice().clone();
                    (map.into_map(), Some(choice))
                })
            }
        };
        progress.at(1, 1, "done".into());
        map.map_err(|e| e.to_string())
    };
    match args.loss {
        LossName::Log => fit(None),
        LossName::Brier => fit(Some(&ScoreLoss::new(Brier))),
        LossName::Mmce => fit(Some(&MmceLossConfig::new().init())),
        LossName::Skce => {
            // one criterion for the whole descent
            let points = softmax(fit(None)?.0.forward(logits.clone()), 1);
            let kernel = Kernel::exponential().with_bandwidth_of(&points);
            let kernel = kernel.map_err(|e| e.to_string())?;
            let loss = SkceLossConfig::new()
                .with_kernel(kernel)
                .with_form(SkceForm::Biased);
            fit(Some(&loss.init()))
        }
    }
}

/// What is to be kept, of logits or of the logarithms of probabilities.
fn asked(keep: KeepName, logits: bool) -> Result<Keep> {
    Ok(match (keep, logits) {
        (KeepName::Accuracy, _) => Keep::Accuracy,
        (KeepName::Order, _) => Keep::Order,
        (KeepName::Information, true) => Keep::Information,
        (KeepName::Information, false) => Keep::InformationOfLogProbabilities,
        (KeepName::Mean, _) => return Err("--keep mean: of --family normal or laplace".into()),
    })
}

impl fmt::Display for Fitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, n, (name, outcomes)) = (self.kind, self.n, self.outcomes);
        let name = if outcomes == 1 { "dimension" } else { name };
        if let Some(changed @ 1..) = self.changed_classes {
            writeln!(
                f,
                "the most likely class of {changed} of {n} predictions changes"
            )?;
        }
        let what = if self.method == NONE {
            "no map, the predictions stay as they are:".into()
        } else {
            format!("{kind} of")
        };
        let of = match self.subject {
            Subject::Classes => format!("predictions of {outcomes} {name}"),
            subject => predictions_of(subject, outcomes),
        };
        writeln!(f, "{what} {n} {of}, saved as {}", self.map)?;
        if let Known(Ok(report)) = &self.fit {
            writeln!(f, "fit:        {report}")?;
        }
        if let Known(Ok(choice)) = &self.choice {
            write!(f, "{choice}")?;
        }
        if let Known(Ok(Pair { before, after })) = &self.log_loss {
            writeln!(
                f,
                "log loss:   {before:.6} before, {after:.6} after, on the data of the fit"
            )?;
        }
        for NamedParameter { name, values, .. } in &self.parameters {
            let values: Vec<String> = values.iter().map(|value| format!("{value:.6}")).collect();
            writeln!(f, "{:11} {}", format!("{name}:"), values.join(", "))?;
        }
        let of = match self.subject {
            Subject::Classes => self.outcomes.0,
            Subject::Correctness => CORRECTNESS,
            _ => "outcomes",
        };
        write!(f, "{}", GuaranteeLines(self.guarantees, of))?;
        let mut warnings = self.warnings.iter();
        warnings.try_for_each(|warning| writeln!(f, "warning:    {warning}"))
    }
}
