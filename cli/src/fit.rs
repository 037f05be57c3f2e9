//! `calibration fit`.

use std::{fmt, path::Path};

use burn::tensor::{Int, Tensor, activation::softmax};
use burn_calibration::{
    distribution::{
        Categorical, Component, Density, Laplace, Marginals, Normal, Predictive, QuantileForecasts,
        Subject, Weights,
    },
    estimator::SkceForm,
    kernel::Kernel,
    loss::{MmceLossConfig, ScoreLoss, SkceLossConfig},
    recalibration::{
        self, AutoRecalibrationConfig, Choice, ConformalShiftConfig, DistributionMethod, Fit as _,
        FitProgress, FitReport, FitWarning, FittedMap, FittedTo, Guarantees, Keep, LogitMap,
        MapKind, NamedParameter, Objective, PriorCorrection, Recalibrated, Recalibration as _,
        ScaleFamily,
    },
    score::{Brier, LogScore, Score as _, WeightedIntervalScore},
};
use serde::Serialize;

use crate::{
    args::{Family, Fit, KeepName, LossName},
    error::{Result, bail, ensure, wrong},
    files::Inputs,
    finite,
    kind::{Kind, Vectors},
    limits::QUADRATIC_LIMIT,
    progress::Progress,
    quantiles,
    rows::{LOG_OF_ZERO, Wanted, logits, takes_zeros},
    show::guarantee_lines,
    words::{DataWords, Known, Missing, Outcomes, Pair, key, show},
    writer::is_standard_output,
};

/// What is printed of a fit.
#[derive(Serialize)]
pub struct Fitted {
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
    fit: Known<FitReport>,
    /// The parameters, if they are few.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<NamedParameter>,
    /// Why this map, unless it was named.
    choice: Known<Choice>,
    /// What to know before the map is used.
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
    log_loss: Known<Pair<f64>>,
    /// The mean weighted interval score, of quantile forecasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    interval_score: Option<Pair<f64>>,
    /// What is said of probabilities of 0.
    #[serde(skip)]
    zeros: Vec<String>,
    /// The names of the columns.
    #[serde(skip)]
    columns: Vec<String>,
    /// The names of the classes.
    #[serde(skip)]
    class_names: Vec<String>,
}

/// Probabilities of 0.
struct Zeros {
    samples: usize,
    /// Rows that hold some.
    rows: usize,
    /// Rows whose label has one.
    labels: usize,
}

impl Zeros {
    fn of(logits: &Tensor<2>, labels: &Tensor<1, Int>) -> Self {
        let count = |logits: Tensor<2>| {
            let rows = logits.lower_equal_elem(LOG_OF_ZERO).int();
            rows.sum().into_scalar::<i64>() as usize
        };
        let of_labels = logits.clone().gather(1, labels.clone().unsqueeze_dim(1));
        Self {
            samples: logits.dims()[0],
            rows: count(logits.clone().min_dim(1)),
            labels: count(of_labels),
        }
    }

    /// What to know of them, where the map was chosen or named.
    fn words(&self, is_chosen: bool) -> Vec<String> {
        let Self {
            samples,
            rows,
            labels,
        } = self;
        let tried = is_chosen.then(|| {
            format!(
                "{rows} of {samples} rows hold a probability of 0, whose logarithm is infinite: of all maps only those \
                 that take zeros were tried, histogram binning, isotonic regression and, of two classes, Venn-Abers; \
                 --clip EPS raises zeros for the others"
            )
        });
        let infinite = (*labels > 0).then(|| {
            let counted = if is_chosen {
                "; in the choice zeros count as 1/(2(n + 1))"
            } else {
                ""
            };
            format!(
                "{labels} labels have a probability of 0: the log loss before is infinite{counted}"
            )
        });
        tried.into_iter().chain(infinite).collect()
    }
}

/// A map as it came from its fit, its name, and why it was chosen, unless it was named.
type Chosen<M> = (M, &'static str, Option<Choice>);

fn chosen<M>(chosen: recalibration::Chosen<M>) -> Chosen<M> {
    let choice = chosen.choice().clone();
    (chosen.into_map(), choice.chosen, Some(choice))
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

/// Why there is no report of a fit.
pub const NOT_KNOWN: &str = "the map does not say how it was fitted";

pub fn run(args: &Fit, json: bool) -> Result<()> {
    let to_standard_output = is_standard_output(&args.output);
    ensure!(
        !to_standard_output || !json,
        "-o {}: --json goes to standard output too, expected a file for the map",
        args.output.display()
    );
    ensure!(
        args.prior.is_empty() || args.family == Family::Categorical,
        "--prior: of --family categorical"
    );
    match &args.predictions {
        Some(path) => say_fit(fitted(args, path)?, to_standard_output, json),
        None => say_fit(corrected(args)?, to_standard_output, json),
    }
}

/// Prints what was made; to standard error where the map goes to standard output.
fn say_fit(
    made: impl Serialize + fmt::Display,
    to_standard_output: bool,
    json: bool,
) -> Result<()> {
    if to_standard_output {
        anstream::eprint!("{made}");
        return Ok(());
    }
    show("fit", &made, json)
}

/// The rates of classes that an option gives: one number is the rate of class 1 of two classes.
fn rates(option: &[f64]) -> Vec<f64> {
    match option {
        [rate] => vec![1.0 - rate, *rate],
        rates => rates.to_vec(),
    }
}

/// What is printed of a correction without a fit.
#[derive(Serialize)]
struct Corrected {
    map: String,
    kind: &'static str,
    trained_at: Vec<f64>,
    prior: Vec<f64>,
}

/// Saves the correction for base rates that are known.
fn corrected(args: &Fit) -> Result<Corrected> {
    let mut map = PriorCorrection::new(rates(&args.trained_at), rates(&args.prior))?;
    map.set_fitted_to(FittedTo {
        family: Some(key(args.family)),
        ..FittedTo::default()
    });
    save(&map, args)?;
    Ok(Corrected {
        map: args.output.display().to_string(),
        kind: map.kind(),
        trained_at: map.trained_at().to_vec(),
        prior: map.prior().to_vec(),
    })
}

impl fmt::Display for Corrected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            map,
            kind,
            trained_at,
            prior,
        } = self;
        writeln!(f, "{kind} of {} classes, saved as {map}", prior.len())?;
        for (class, (from, to)) in trained_at.iter().zip(prior).enumerate() {
            writeln!(f, "class {class}: from the base rate {from} to {to}")?;
        }
        writeln!(
            f,
            "it is right where only the base rates differ: `calibration evaluate` tests what it gives"
        )
    }
}

/// The map, and after it the correction for the base rates of deployment, from the frequencies of the labels.
fn with_prior(
    map: LogitMap,
    args: &Fit,
    (labels, classes): (&Tensor<1, Int>, usize),
    weights: &Weights,
) -> Result<LogitMap> {
    if args.prior.is_empty() {
        return Ok(map);
    }
    let prior = rates(&args.prior);
    ensure!(
        prior.len() == classes,
        "--prior: {} rates, expected {classes}, one for each class",
        prior.len()
    );
    let labels: Vec<i64> = labels.to_data().iter().collect();
    let mut frequencies = vec![0.0; classes];
    for (row, &label) in labels.iter().enumerate() {
        frequencies[label as usize] += weights.at(row) / weights.total(labels.len());
    }
    if let Some(class) = frequencies.iter().position(|&rate| rate == 0.0) {
        bail!(
            "--prior: class {class} has no label, so that its base rate in these data is not known, expected labels of each class"
        );
    }
    Ok(PriorCorrection::of(map, frequencies, prior)?.into())
}

fn fitted(args: &Fit, path: &Path) -> Result<Fitted> {
    match args.family {
        Family::Categorical => of_classes(args, path),
        Family::Normal => of_distributions::<Normal>(args, path),
        Family::Laplace => of_distributions::<Laplace>(args, path),
        Family::Quantiles => of_quantiles(args, path),
        _ => bail!("{UNKNOWN}"),
    }
}

/// What is wrong with another family.
pub const UNKNOWN: &str = "--family: there are maps of categorical, normal and laplace predictions and of \
                           quantiles only; --positive --columns NAME takes a column of several labels";

fn of_classes(args: &Fit, path: &Path) -> Result<Fitted> {
    let method = (args.method.as_ref()).map(|name| {
        let kind = name.parse::<MapKind>();
        let families = match name.as_str() {
            CONFORMAL => "quantiles",
            _ => "normal or laplace",
        };
        kind.map_err(|_| wrong!("--method {name}: of --family {families}"))
    });
    let method = method.transpose()?;
    let inputs = Inputs::of(path);
    let loaded = Categorical::read(&inputs, &args.source, Wanted::Logits)?;
    let of = loaded.in_words(&[]);
    let (sets, labels) = (loaded.sets, loaded.targets);
    let subject = sets[0].subject();
    if let (Some(keep @ (KeepName::Accuracy | KeepName::Order)), Subject::Correctness) =
        (args.keep, subject)
    {
        bail!(
            "--keep {}: of confidences the accuracy is data, which no map changes, expected no --keep or --keep \
             information",
            key(keep)
        );
    }
    let takes_zeros = method.is_none() || takes_zeros(method);
    let (logits, zeros) = logits(path, &sets[0], takes_zeros)?;
    let zeros = zeros.then(|| Zeros::of(&logits, &labels));
    let [n, classes] = logits.dims();
    ensure!(
        args.loss != LossName::Skce || n <= QUADRATIC_LIMIT,
        "--loss skce: its cost is the square of the number of samples, {n}, expected at most {QUADRATIC_LIMIT}"
    );
    ensure!(
        args.prior.is_empty() || subject != Subject::Correctness,
        "--prior: a confidence is no class, expected a column for each class or --positive"
    );
    let (_, weights) = sets[0].parted();
    ensure!(
        args.loss == LossName::Log || !weights.are_given(),
        "--loss {}: maps are fitted to samples with weights by the log loss, expected --loss log or no --weights",
        key(args.loss)
    );
    // classes carry weights
    let weighted = |logits: Tensor<2>| {
        let predictions = Categorical::from_logits_unchecked(logits);
        let column = sets[0].sample_weights();
        predictions.with_sample_weights(column).expect("weights")
    };
    let samples = weighted(logits.clone());
    let (map, name, choice) = fit(
        (args, method),
        (subject, zeros.is_some()),
        &samples,
        &labels,
    )?;
    let calibrated = map.forward(logits.clone()); // for the base rates of the data
    let mut map = with_prior(map, args, (&labels, classes), &weights)?;
    let likely = |logits: &Tensor<2>| logits.clone().argmax(1);
    let changed = likely(&logits).not_equal(likely(&map.forward(logits.clone())));
    let changed = changed.int().sum().into_scalar::<i64>() as usize;
    let log_loss = |logits: Tensor<2>| {
        let loss = ScoreLoss::new(LogScore).forward(&weighted(logits), &labels);
        loss.into_scalar::<f64>()
    };
    let names = [loaded.class_names, loaded.columns.clone()].into_iter();
    let data = Data {
        of,
        changed_classes: (subject == Subject::Classes).then_some(changed),
        log_loss: match &zeros {
            Some(Zeros { labels, .. }) if *labels > 0 => {
                Known(Err(Missing::Error("infinite".into())))
            }
            _ => Known(Ok([log_loss(logits), log_loss(calibrated)].into())),
        },
        interval_score: None,
        zeros: zeros
            .map(|zeros| zeros.words(method.is_none()))
            .unwrap_or_default(),
        columns: loaded.columns,
        class_names: (names.into_iter())
            .find(|names| names.len() == classes)
            .unwrap_or_default(),
    };
    finish(args, &mut *map, (name, choice), data)
}

/// Fits the map of normal or Laplace predictions that was named, or chooses one.
fn of_distributions<P>(args: &Fit, path: &Path) -> Result<Fitted>
where
    P: Vectors + ScaleFamily + Component + Marginals + Kind<Targets = Tensor<2>>,
{
    ensure!(
        args.loss == LossName::Log,
        "--loss {}: of --family categorical",
        key(args.loss)
    );
    let keep = kept(args)?;
    let method = (args.method.as_ref()).map(|name| {
        name.parse::<DistributionMethod>().map_err(|_| {
            let names = DistributionMethod::ALL.iter().map(|method| method.name());
            let names = names.collect::<Vec<_>>().join(", ");
            wrong!("--method {name}: of classes, expected one of {names}")
        })
    });
    let method = method.transpose()?;
    let inputs = Inputs::of(path);
    let mut loaded = P::read(&inputs, &args.source, Wanted::Logits)?;
    let of_data = loaded.in_words(&[]);
    let (predictions, targets) = (loaded.sets.remove(0), loaded.targets);
    let data = (predictions.clone(), targets.clone());
    let (mut map, name, choice) = match method {
        Some(method) => (method.fit(data.0, data.1)?, method.name(), None),
        None => {
            let config = AutoRecalibrationConfig::new().with_keep(keep);
            let config = config.with_seed(args.source.seed);
            chosen(config.fit(data.0, data.1)?)
        }
    };
    let log_loss = |log_density: Tensor<1>| -log_density.mean().into_scalar::<f64>();
    let before = log_loss(predictions.log_density(&targets));
    let after = match map.forward(predictions) {
        Recalibrated::Family(family) => Some(log_loss(family.log_density(&targets))),
        Recalibrated::Mixture(mixture) => Some(log_loss(mixture.log_density(&targets))),
        _ => None,
    };
    let data = Data {
        of: of_data,
        changed_classes: None,
        log_loss: Known::or_skipped(
            after.map(|after| [before, after].into()),
            "what the map makes has no density",
        ),
        interval_score: None,
        zeros: Vec::new(),
        columns: loaded.columns,
        class_names: Vec::new(),
    };
    finish(args, &mut *map, (name, choice), data)
}

/// Fits the map of quantile forecasts.
fn of_quantiles(args: &Fit, path: &Path) -> Result<Fitted> {
    ensure!(
        args.loss == LossName::Log && args.keep.is_none(),
        "--loss, --keep: of other families; the shifts of quantiles are quantiles of the residuals"
    );
    if let Some(name) = args.method.as_ref().filter(|name| *name != CONFORMAL) {
        bail!("--method {name}: of other families, expected {CONFORMAL} or none");
    }
    let (mut loaded, columns) = quantiles::read(&Inputs::of(path), &args.source)?;
    let (forecasts, targets) = (loaded.sets.remove(0), loaded.targets);
    let mut map = ConformalShiftConfig::new().fit(forecasts.clone(), targets.clone())?;
    let score = |forecasts: &QuantileForecasts| -> Result<f64> {
        Ok(WeightedIntervalScore.mean(forecasts, &targets)?.estimate)
    };
    let scores = [score(&forecasts)?, score(&map.forward(forecasts.clone()))?];
    let data = Data {
        of: loaded.data,
        changed_classes: None,
        log_loss: Known::or_skipped(None, "quantile forecasts have no density"),
        interval_score: Some(scores.into()),
        zeros: Vec::new(),
        columns,
        class_names: Vec::new(),
    };
    finish(args, &mut map, (CONFORMAL, None), data)
}

/// The name of the map of quantile forecasts.
pub const CONFORMAL: &str = "conformal";

/// Saves a map, and tells of it.
fn finish(
    args: &Fit,
    map: &mut dyn FittedMap,
    (method, choice): (&'static str, Option<Choice>),
    data: Data,
) -> Result<Fitted> {
    let rows = &args.source.rows;
    let is_of_classes = args.family == Family::Categorical;
    let mut guarantees = map.guarantees();
    if is_of_classes && !rows.logits {
        guarantees.injective = guarantees.injective_on_log_probabilities;
    }
    let names = (&data.class_names[..], rows.positive);
    let mut parameters = map.named_parameters();
    if parameters.iter().map(|p| p.values.len()).sum::<usize>() > FEW {
        parameters.clear();
    }
    let fitted = Fitted {
        map: args.output.display().to_string(),
        method,
        kind: map.kind(),
        loss: key(args.loss),
        guarantees,
        fit: Known::or_skipped(map.report().cloned(), NOT_KNOWN),
        parameters,
        warnings: (data.zeros.iter().cloned())
            .chain(warnings(map.report(), choice.as_ref(), names))
            .collect(),
        choice: Known::or_skipped(choice, "the map was named by --method"),
        data,
    };
    finite::check(&fitted)?;
    map.set_fitted_to(FittedTo {
        family: Some(family(args.family, fitted.data.of.subject)),
        logits: is_of_classes.then_some(rows.logits),
        columns: fitted.data.columns.clone(),
    });
    save(map, args)?;
    Ok(fitted)
}

/// Saves a map to the file or to standard output.
fn save(map: &dyn FittedMap, args: &Fit) -> Result<()> {
    let to_standard_output = is_standard_output(&args.output);
    let path = if to_standard_output {
        Path::new("/dev/stdout")
    } else {
        &args.output
    };
    Ok(map.save(path)?)
}

/// Parameters that a line holds.
const FEW: usize = 6;

/// The family of maps of confidences.
pub const CORRECTNESS: &str = "correctness";

/// The family that a map is of: confidences are no classes.
pub fn family(family: Family, subject: Subject) -> String {
    match subject {
        Subject::Correctness => CORRECTNESS.into(),
        _ => key(family),
    }
}

fn fit(
    (args, method): (&Fit, Option<MapKind>),
    (subject, zeros): (Subject, bool),
    samples: &Categorical,
    labels: &Tensor<1, Int>,
) -> Result<Chosen<LogitMap>> {
    let logits = &samples.parameter();
    let are_weighted = samples.sample_weights().is_some();
    let keep = kept(args)?;
    let progress = Progress::new(1);
    let mut observe = |at: FitProgress| {
        let title = format!("evaluation {}: {:.6}", at.evaluations, at.objective);
        progress.at(at.fit - 1, at.fits, title);
    };
    let mut fit = |criterion: Option<&dyn Objective>| -> Result<Chosen<LogitMap>> {
        let (logits, labels) = (logits.clone(), labels.clone());
        let auto = AutoRecalibrationConfig::new()
            .with_keep(keep)
            .with_subject(subject)
            .with_zeros(zeros)
            .with_seed(args.source.seed);
        let fitted = match method {
            Some(kind) if are_weighted => {
                let map = kind.fit_weighted(args.source.seed, samples, &labels, &mut observe)?;
                (map, kind.name(), None)
            }
            None if are_weighted => {
                let samples = samples.clone();
                chosen(auto.fit_with_progress(None, samples, labels, &mut observe)?)
            }
            Some(kind) => {
                let map = kind.fit(args.source.seed, criterion, logits, labels, &mut observe)?;
                (map, kind.name(), None)
            }
            None => chosen(auto.fit_with_progress(criterion, logits, labels, &mut observe)?),
        };
        progress.at(1, 1, "done".into());
        Ok(fitted)
    };
    match args.loss {
        LossName::Log => fit(None),
        LossName::Brier => fit(Some(&ScoreLoss::new(Brier))),
        LossName::Mmce => fit(Some(&MmceLossConfig::new().init())),
        LossName::Skce => {
            // one criterion for the whole descent
            let points = softmax(fit(None)?.0.forward(logits.clone()), 1);
            let loss = SkceLossConfig::new()
                .with_kernel(Kernel::exponential().with_bandwidth_of(&points)?)
                .with_form(SkceForm::Biased);
            fit(Some(&loss.init()))
        }
    }
}

/// What is to be kept of logits, of the logarithms of probabilities, or of distributions.
fn kept(args: &Fit) -> Result<Option<Keep>> {
    let Some(keep) = args.keep else {
        return Ok(None);
    };
    let is_of_classes = args.family == Family::Categorical;
    Ok(Some(match keep {
        KeepName::Mean if is_of_classes => bail!("--keep mean: of --family normal or laplace"),
        KeepName::Mean => Keep::Mean,
        KeepName::Information if is_of_classes && !args.source.rows.logits => {
            Keep::InformationOfLogProbabilities
        }
        KeepName::Information => Keep::Information,
        _ if !is_of_classes => bail!("--keep {}: of --family categorical", key(keep)),
        KeepName::Accuracy => Keep::Accuracy,
        KeepName::Order => Keep::Order,
    }))
}

impl fmt::Display for Fitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (data, kind) = (&self.data, self.kind);
        if let Some(changed @ 1..) = data.changed_classes {
            let n = data.of.n;
            writeln!(
                f,
                "the most likely class of {changed} of {n} predictions changes"
            )?;
        }
        let is_corrected = *kind == *PriorCorrection::KIND;
        let what = match self.method {
            NONE if !is_corrected => "no map, the predictions stay as they are:",
            name if is_corrected => &format!("{name}, then {kind}, of"),
            _ => &format!("{kind} of"),
        };
        writeln!(f, "{what} {}, saved as {}", data.of, self.map)?;
        if let Known(Ok(report)) = &self.fit {
            writeln!(f, "fit:        {report}")?;
        }
        if let Known(Ok(choice)) = &self.choice {
            write!(f, "{choice}")?;
        }
        if let Known(Ok(Pair { before, after })) = &data.log_loss {
            writeln!(
                f,
                "log loss:   {before:.6} before, {after:.6} after, on the data of the fit{}",
                if is_corrected {
                    ", without the correction"
                } else {
                    ""
                }
            )?;
        }
        if let Some(Pair { before, after }) = &data.interval_score {
            writeln!(
                f,
                "WIS:        {before:.6} before, {after:.6} after, on the data of the fit"
            )?;
        }
        for NamedParameter { name, values, .. } in &self.parameters {
            let values: Vec<String> = values.iter().map(|value| format!("{value:.6}")).collect();
            writeln!(f, "{:11} {}", format!("{name}:"), values.join(", "))?;
        }
        let of = match (data.of.subject, data.of.outcomes) {
            (Subject::Correctness, _) => CORRECTNESS,
            (Subject::Event, _) => "outcomes",
            (_, Outcomes::Classes(_)) => "classes",
            (_, Outcomes::Dimensions(_)) => "dimensions",
        };
        f.write_str(&guarantee_lines(self.guarantees, of))?;
        let mut warnings = self.warnings.iter();
        warnings.try_for_each(|warning| writeln!(f, "warning:    {warning}"))
    }
}
