//! Fits of maps of classes.

use std::path::Path;

use burn::tensor::{Int, Tensor, activation::softmax};
use burn_calibration::{
    distribution::{Categorical, Predictive, Subject, Weighted as _},
    estimator::SkceForm,
    kernel::Kernel,
    loss::{Criterion, MmceLossConfig, ScoreLoss, SkceLossConfig},
    recalibration::{
        AutoRecalibrationConfig, Fit as _, FitOptions, LogitMap, MapKind, Recalibration as _,
        Robust,
    },
    score::{Brier, LogScore},
};
use burn_calibration_reader::Resolution;

use super::{Chosen, Data, FitSummary, chosen, finish, kept, prior::with_prior};
use crate::{
    args::{FitArgs, KeepName, LossName},
    error::{Result, bail, ensure},
    files::Inputs,
    kind::Kind,
    limits::QUADRATIC_LIMIT,
    progress::Progress,
    rows::{LOG_OF_ZERO, PredictionForm, clip_words, clipped_logarithms, logits, takes_zeros},
    words::{Computed, Missing, counted, key},
};

/// Fits the map of classes that was named, or chooses one.
pub fn fit_classes(args: &FitArgs, path: &Path) -> Result<FitSummary> {
    let method = args.method.as_ref().map(|name| name.parse::<MapKind>());
    let method = method.transpose()?;
    ensure!(
        args.loss == LossName::Log || method.is_some(),
        "--loss {}: a map is chosen by the log loss, expected --method with it or no --loss",
        key(args.loss)
    );
    let loaded = Categorical::read(&Inputs::of(path), &args.source, PredictionForm::Logits)?;
    let mut data = Data::of(&loaded);
    let (sets, labels) = (&loaded.sets, &loaded.targets);
    let subject = sets[0].subject();
    if let (Some(keep @ (KeepName::Accuracy | KeepName::Order)), Subject::Correctness) =
        (args.keep, subject)
    {
        bail!(
            "--keep {}: the accuracy of confidences is data, and no map changes it, expected no --keep or \
             --keep \
             information",
            key(keep)
        );
    }
    let (mut logits, has_zeros) = logits(&sets[0])?;
    let [n, classes] = logits.dims();
    let zeros = has_zeros.then(|| Zeros::of(&logits, labels));
    // of predictions that are all certain the order is all that is known
    let are_certain = |zeros: &Zeros| zeros.entries == n * (classes - 1);
    let is_order_alone =
        |zeros: &Zeros| takes_zeros(method) || method.is_none() && are_certain(zeros);
    data.clip = args.source.rows.reading.numbers.clip;
    let zeros = match zeros {
        Some(zeros) if !is_order_alone(&zeros) => {
            let clip = loaded.data.resolution.clip();
            logits = clipped_logarithms(logits, clip);
            data.clip = Some(clip);
            data.zeros = vec![zeros.words_of_clip(clip, subject, &loaded.data.resolution)];
            None
        }
        zeros => zeros,
    };
    ensure!(
        args.loss != LossName::Skce || n <= QUADRATIC_LIMIT,
        "--loss skce: its cost grows with the square of the number of samples, {n}, expected at most \
         {QUADRATIC_LIMIT}"
    );
    ensure!(
        args.prior.is_empty() || subject != Subject::Correctness,
        "--prior: a confidence is not a class, expected a column for each class or --positive"
    );
    let (_, weights) = sets[0].parted();
    ensure!(
        args.loss == LossName::Log || !weights.are_given(),
        "--loss {}: only the log loss takes weights, expected --loss log or no --weights",
        key(args.loss)
    );
    // classes carry weights
    let weighted = |logits: Tensor<2>| {
        let predictions = Categorical::from_logits_unchecked(logits);
        let column = sets[0].sample_weights();
        predictions.with_sample_weights(column).expect("weights")
    };
    let samples = weighted(logits.clone());
    let (map, name, choice) = fit((args, method), (subject, zeros.is_some()), &samples, labels)?;
    let calibrated = map.forward(logits.clone()); // for the base rates of the data
    let mut map = with_prior(map, args, (labels, classes), &weights)?;
    let likely = |logits: &Tensor<2>| logits.clone().argmax(1);
    let changed = likely(&logits).not_equal(likely(&map.forward(logits.clone())));
    let changed = changed.int().sum().into_scalar::<i64>() as usize;
    let log_loss = |logits: Tensor<2>| {
        let loss = ScoreLoss::new(LogScore).forward(&weighted(logits), labels);
        loss.into_scalar::<f64>()
    };
    let names = [&loaded.data.class_names, &loaded.columns].into_iter();
    let names = names.into_iter().find(|names| names.len() == classes);
    data.class_names = names.cloned().unwrap_or_default();
    data.changed_classes = (subject == Subject::Classes).then_some(changed);
    data.log_loss = match &zeros {
        Some(Zeros { labels, .. }) if *labels > 0 => {
            Computed(Err(Missing::Error("infinite".into())))
        }
        _ => Computed(Ok([log_loss(logits), log_loss(calibrated)].into())),
    };
    if let Some(zeros) = zeros {
        data.zeros = zeros.words(method.is_none());
    }
    finish(args, &mut map, (name, choice), data)
}

fn fit(
    (args, method): (&FitArgs, Option<MapKind>),
    (subject, zeros): (Subject, bool),
    samples: &Categorical,
    labels: &Tensor<1, Int>,
) -> Result<Chosen<LogitMap>> {
    let logits = &samples.parameter();
    let keep = kept(args);
    let progress = Progress::new(1);
    let mut observe = |at| progress.of_fit(at);
    let mut fit = |criterion: Option<&dyn Criterion>| -> Result<Chosen<LogitMap>> {
        let auto = AutoRecalibrationConfig::new()
            .with_keep(keep)
            .with_subject(subject)
            .with_zeros(zeros)
            .with_seed(args.source.seed);
        let (seed, observe) = (args.source.seed, &mut observe);
        let fitted = match (method, criterion) {
            (None, _) => {
                let (samples, labels) = (samples.clone(), labels.clone());
                chosen(auto.fit_with(samples, labels, FitOptions::new(None, observe))?)
            }
            (Some(kind), None) => {
                let map = {
                    let (samples, labels) = (samples.clone(), labels.clone());
                    Robust(kind.config(seed)).fit_with(
                        samples,
                        labels,
                        FitOptions::new(None, observe),
                    )?
                };
                (map, kind.name(), None)
            }
            (Some(kind), criterion) => {
                let (logits, labels) = (logits.clone(), labels.clone());
                let map = kind.config(seed).fit_with(
                    logits,
                    labels,
                    FitOptions::new(criterion, observe),
                )?;
                (map, kind.name(), None)
            }
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

/// Probabilities of 0.
struct Zeros {
    samples: usize,
    /// The number of them.
    entries: usize,
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
            entries: count(logits.clone()),
            rows: count(logits.clone().min_dim(1)),
            labels: count(of_labels),
        }
    }

    /// Returns the words for their replacement.
    fn words_of_clip(&self, clip: f64, subject: Subject, resolution: &Resolution) -> String {
        let (samples, rows) = (self.samples, self.rows);
        let (of, value) = match subject {
            Subject::Classes => ("0", clip_words(clip)),
            Subject::Event | Subject::Correctness => {
                ("0 or 1", format!("{} or {}", clip_words(clip), 1.0 - clip))
            }
        };
        let rounding = resolution.few_decimals();
        let rounding = rounding.map_or("", |_| ", half a unit of the last decimal in the file");
        format!(
            "{rows} of {samples} rows hold a probability of {of}, which the fit and the map take as {value}{rounding}; \
             --clip EPS takes another"
        )
    }

    /// Returns the notes about them, for a map that was chosen or named.
    fn words(&self, is_chosen: bool) -> Vec<String> {
        let (samples, labels) = (self.samples, self.labels);
        let tried = is_chosen.then(|| {
            format!(
                "all {samples} predictions have probabilities of exactly 0 and 1: only maps that accept zeros are \
                 fitted, and the log losses of candidates take probabilities as at least 1/(2(n + 1))"
            )
        });
        let infinite = (labels > 0).then(|| {
            let have = if labels == 1 { "has" } else { "have" };
            let labels = counted(labels, "label");
            format!("{labels} {have} a probability of 0: the log loss before is infinite")
        });
        tried.into_iter().chain(infinite).collect()
    }
}
