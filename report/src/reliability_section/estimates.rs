//! The estimates of classes.

use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::{
        Categorical, LabelSets, Predictive as _, Redrawn as _, Redraws as _, Subject, Weighted as _,
    },
    error::Result,
    estimator::{Cwce, Ece, Event, Ici, KolmogorovSmirnov, MeanEstimate, Tce},
    hypothesis::{Cox, Statistic},
    names::{self, Name},
    score::{Brier, Corp, Divergence, LogScore, RankedProbabilityScore, Score as _},
};
use rand::{SeedableRng, rngs::StdRng};
use rayon::prelude::*;

use crate::{
    estimate::{Estimate, NamedEstimates},
    size::Unit,
    view::View,
};

/// The names of the values that calibrated predictions would have on average.
pub(super) const MEAN_RISK: Name = Name::new("mean_risk", "mean risk");
pub(super) const MEAN_CONFIDENCE: Name = Name::new("mean_confidence", "mean confidence");

/// How often an event occurs and how often it is predicted to, or the accuracy and the mean confidence; nothing where
/// labels are not valid.
pub(super) fn summary(predictions: &Categorical, labels: &Tensor<1, Int>) -> NamedEstimates {
    let (plain, weights) = predictions.parted();
    let Ok(outcomes) = Event::of(predictions).outcomes(&plain, labels) else {
        return Vec::new();
    };
    let occurred: Vec<f64> = outcomes.occurred.iter().map(|&c| c as f64).collect();
    let names = match predictions.subject() {
        Subject::Event => [
            (
                names::EVENT_FREQUENCY,
                "How often the event occurred. It says nothing about the probabilities.",
            ),
            (
                MEAN_RISK,
                "How often the event would occur if the probabilities were right.",
            ),
        ],
        Subject::Classes | Subject::Correctness => [
            (
                names::ACCURACY,
                "How often the most likely class was right. It says nothing about the probabilities.",
            ),
            (
                MEAN_CONFIDENCE,
                "The accuracy that the model predicts. It equals the accuracy if the model is calibrated, but also \
                 if over- and underconfidence cancel.",
            ),
        ],
    };
    let shares = [&occurred, &outcomes.probability];
    let shares = shares.map(|values| MeanEstimate::weighted(values, &weights));
    let shares = names.into_iter().zip(shares);
    let estimate = |((name, meaning), share)| {
        let estimate = Estimate::score("", Ok(share));
        (name, estimate.on_page(Unit::Share, meaning))
    };
    shares.map(estimate).collect()
}

/// How sets of labels are drawn that a calibrated model would have.
#[derive(Debug, Clone, Copy)]
struct Redraws {
    sets: usize,
    seed: u64,
}

impl Redraws {
    /// From 100 sets of small data to 10 of large.
    fn of(predictions: &Categorical, seed: u64) -> Self {
        const NUMBERS: usize = 4_000_000;
        let size = (predictions.len() * predictions.classes()).max(1);
        Self {
            sets: (NUMBERS / size).clamp(10, 100),
            seed,
        }
    }

    fn drawn(self, predictions: &Categorical) -> Redrawn<'_> {
        let mut rng = StdRng::seed_from_u64(self.seed);
        Redrawn {
            predictions,
            sets: (predictions.redrawer().draw)(self.sets, &mut rng),
        }
    }
}

/// Sets of labels that are drawn from the predictions: what estimates are for a calibrated model.
struct Redrawn<'a> {
    predictions: &'a Categorical,
    sets: LabelSets,
}

impl Redrawn<'_> {
    /// The mean of a statistic; none where it has no value.
    fn mean(&self, statistic: &dyn Statistic) -> Option<f64> {
        let evaluator = statistic.evaluator(self.predictions).ok()?;
        evaluator
            .values(&self.sets)
            .ok()
            .map(|values| known(&values))
    }

    /// The means of numbers of predictions and labels; none where one of them has no value.
    fn means<const N: usize>(
        &self,
        numbers: impl Fn(&Categorical, &Tensor<1, Int>) -> Result<[f64; N]> + Sync,
    ) -> [Option<f64>; N] {
        let of_set = |set| {
            let labels = self.predictions.observed(&self.sets.set(set));
            numbers(self.predictions, &labels)
        };
        let found: Result<Vec<[f64; N]>> =
            (0..self.sets.len()).into_par_iter().map(of_set).collect();
        let mean = |found: &[[f64; N]], k: usize| {
            known(&found.iter().map(|of_set| of_set[k]).collect::<Vec<_>>())
        };
        std::array::from_fn(|k| found.as_ref().ok().map(|found| mean(found, k)))
    }
}

/// The mean of draws, with the digits that so many draws give it: down to the first of its standard error.
fn known(draws: &[f64]) -> f64 {
    let mean = MeanEstimate::of(draws);
    let exponent = mean.standard_error.log10().floor();
    let digits = format!("{:.0}e{exponent}", mean.estimate / 10f64.powf(exponent));
    digits.parse().unwrap_or(mean.estimate) // of equal draws
}

/// An estimate that is above 0 for a calibrated model too, with its mean for such a model.
fn biased(
    of: &str,
    statistic: &dyn Statistic,
    view: &View<Categorical>,
    redrawn: &Redrawn,
) -> Estimate {
    let (predictions, labels) = view.data();
    Estimate {
        if_calibrated: redrawn.mean(statistic),
        ..Estimate::new(of, statistic.estimate(predictions, labels))
    }
}

/// The mean, the median and the 90th percentile of the distances of an event from its isotonic regression.
fn distances(view: &View<Categorical>, redrawn: &Redrawn) -> NamedEstimates {
    const MEAN: &str = "Mean distance of the probabilities from the isotonic line of the diagram without bins. It uses \
        only one probability of each prediction, and is above 0 for a calibrated model too.";
    let (predictions, labels) = view.data();
    let errors = |predictions: &_, labels: &_| {
        let errors = Ici::new(view.event()).errors(predictions, labels)?;
        Ok([errors.mean, errors.median, errors.ninetieth])
    };
    let (found, drawn) = (errors(predictions, labels), redrawn.means(errors));
    let meanings = [
        (names::ICI, MEAN),
        (names::E50, "The median of the same distances."),
        (names::E90, "The 90th percentile of the same distances."),
    ];
    let estimate = |(k, (name, meaning)): (usize, (Name, _))| {
        let found = found.clone().map(|errors| errors[k]);
        let estimate = Estimate::new(&view.of.event, found).on_page(Unit::Decimals, meaning);
        let if_calibrated = drawn[k];
        (
            name,
            Estimate {
                if_calibrated,
                ..estimate
            },
        )
    };
    meanings.into_iter().enumerate().map(estimate).collect()
}

/// An error in bins, with its name and its meaning.
pub struct BinnedError {
    /// The name.
    pub name: Name,
    /// The meaning.
    meaning: &'static str,
    /// The error.
    pub error: Tce,
}

/// The ECE of the event of a view, and the error of the order that is asked for.
pub fn binned_errors(view: &View<Categorical>) -> Vec<BinnedError> {
    use names::*;
    let error = |order: f64| {
        let (what, [top_label, against_rest, of_event], meaning) = match order {
            1.0 => (
                "ECE",
                [ECE_TOP_LABEL, ECE_AGAINST_REST, ECE_EVENT],
                "Mean distance of the marks in the diagram from the diagonal, weighted by samples. It depends on the \
                 bins, uses only one probability of each prediction, and is above 0 for a calibrated model too.",
            ),
            2.0 => (
                "RMS calibration error",
                [RMSCE_TOP_LABEL, RMSCE_AGAINST_REST, RMSCE_EVENT],
                "Root mean squared distance of the marks in the diagram from the diagonal, weighted by samples. It \
                 depends on the bins, and is above 0 for a calibrated model too.",
            ),
            f64::INFINITY => (
                "MCE",
                [MCE_TOP_LABEL, MCE_AGAINST_REST, MCE_EVENT],
                "Largest distance of a mark in the diagram from the diagonal. It depends on the bins, and marks with \
                 few samples decide it.",
            ),
            order => (
                &*format!("calibration error of order {order}"),
                [const { Name::new("ece_of_order", "calibration error") }; 3],
                "Distance of this order of the marks in the diagram from the diagonal, weighted by samples. It depends \
                 on the bins, and is above 0 for a calibrated model too.",
            ),
        };
        let name = match (view.predictions.subject(), view.class) {
            (Subject::Classes, _) => top_label,
            (_, Some(_)) => against_rest,
            _ => of_event,
        };
        let title = format!("{what}, {}", view.bins.words()).into();
        let name = Name { title, ..name };
        let error = view.bins.error(view.event(), order);
        BinnedError {
            name,
            meaning,
            error,
        }
    };
    let mut orders = vec![1.0, view.bins.order];
    orders.dedup();
    orders.into_iter().map(error).collect()
}

/// Names of the parts of scores: miscalibration, discrimination, uncertainty.
const BRIER_PARTS: [Name; 3] = [
    Name::new("brier_miscalibration", "Brier, CORP miscalibration"),
    Name::new("brier_discrimination", "Brier, CORP discrimination"),
    Name::new("brier_uncertainty", "Brier, CORP uncertainty"),
];
const LOG_PARTS: [Name; 3] = [
    Name::new("log_miscalibration", "log, CORP miscalibration"),
    Name::new("log_discrimination", "log, CORP discrimination"),
    Name::new("log_uncertainty", "log, CORP uncertainty"),
];

/// The event of quantities that need one, as predictions of it, and whether it occurred.
fn one_event(view: &View<Categorical>) -> Result<(Categorical, Tensor<1, Int>)> {
    let (predictions, labels) = view.data();
    match Event::one_of(predictions) {
        Event::TopLabel => predictions.top_label(labels),
        Event::Class(_) => Ok((predictions.clone(), labels.clone())), // of two
    }
}

/// The decomposition of a score of one event; a calibrated model has a miscalibration above 0 too.
fn parts(
    names: [Name; 3],
    of: &str,
    score: &(dyn Divergence + Sync),
    event: &Result<(Categorical, Tensor<1, Int>)>,
    redrawn: Option<&Redrawn>,
) -> NamedEstimates {
    let parts = |predictions: &_, occurred: &_| {
        let corp = Corp::of(score, Event::Class(1), predictions, occurred)?;
        Ok([corp.miscalibration, corp.discrimination, corp.uncertainty])
    };
    let event = event.as_ref().map_err(Clone::clone);
    let found = event
        .clone()
        .and_then(|(predictions, occurred)| parts(predictions, occurred));
    let if_calibrated = redrawn.map_or([None; 3], |redrawn| redrawn.means(parts));
    let part = |(k, name)| {
        let part = found.clone().map(|parts| parts[k]);
        (name, Estimate::new(of, part))
    };
    let mut estimates: Vec<_> = names.into_iter().enumerate().map(part).collect();
    estimates[0].1.if_calibrated = if_calibrated[0];
    estimates
}

/// All estimates of classes.
///
/// - seed: of the labels that a calibrated model would have
pub(super) fn estimates(view: &View<Categorical>, seed: u64) -> NamedEstimates {
    let ((predictions, labels), of) = (view.data(), &view.of);
    let one = Event::one_of(predictions);
    let redraws = Redraws::of(predictions, seed);
    let redrawn = &redraws.drawn(predictions);
    let event = one_event(view);
    let redrawn_event = event.as_ref().ok();
    let redrawn_event = redrawn_event.map(|(predictions, _)| redraws.drawn(predictions));
    let redrawn_event = redrawn_event.as_ref();
    let new = Name::new;
    let mut estimates = vec![
        (
            new("ece_uniform", "ECE, 10 uniform bins per class"),
            biased(&of.whole, &Ece::uniform(10), view, redrawn),
        ),
        (
            new("ece_median_variance", "ECE, median-variance bins"),
            biased(&of.whole, &Ece::median_variance(100), view, redrawn),
        ),
    ];
    if predictions.subject() == Subject::Classes {
        let name = names::ECE_CLASS_WISE.with(view.bins.words());
        let cwce = Cwce::default().with_binning(view.bins.binning);
        estimates.push((name, biased(&of.whole, &cwce, view, redrawn)));
    }
    for BinnedError {
        name,
        meaning,
        error,
    } in binned_errors(view)
    {
        let estimate = biased(&of.event, &error, view, redrawn);
        estimates.push((name, estimate.on_page(Unit::Decimals, meaning)));
    }
    let ks = biased(
        &of.event,
        &KolmogorovSmirnov::new(view.event()),
        view,
        redrawn,
    );
    const KS: &str = "Kolmogorov–Smirnov error: the largest gap between the cumulative sums of probabilities and of \
        outcomes. It needs no bins, but uses only one probability of each prediction, and is above 0 for a calibrated \
        model too.";
    estimates.push((names::KS, ks.on_page(Unit::Decimals, KS)));
    if predictions.subject() == Subject::Event {
        estimates.extend(distances(view, redrawn));
    }
    const BRIER: &str = "Mean squared distance of the probabilities from the outcome, summed over all classes (an \
        event and its complement are two), from 0 (best) to 2. It measures calibration and accuracy together.";
    let brier = Estimate::score(&of.sum, Brier.upper_bound(predictions, labels));
    estimates.push((names::BRIER, brier.on_page(Unit::Decimals, BRIER)));
    let summed = format!("{}, summed over both outcomes", of.one);
    estimates.extend(parts(BRIER_PARTS, &summed, &Brier, &event, redrawn_event));
    const LOG: &str = "Mean of −ln of the probability of the outcome, 0 at best. Like the Brier score it measures \
        calibration and accuracy together. A single confident error can dominate it.";
    let log = Estimate::score(&of.whole, LogScore.upper_bound(predictions, labels));
    estimates.push((names::LOG, log.on_page(Unit::Decimals, LOG)));
    estimates.extend(parts(LOG_PARTS, &of.one, &LogScore, &event, redrawn_event));
    if view.is_ordered && predictions.subject() == Subject::Classes {
        const RANKED: &str = "Squared distance of the cumulative probabilities from those of the outcome, summed over \
            the ordered classes, 0 at best. A probability costs more the farther its class is from the outcome.";
        let ranked = RankedProbabilityScore.upper_bound(predictions, labels);
        let ranked = Estimate::score(&of.whole, ranked).on_page(Unit::Decimals, RANKED);
        estimates.push((names::RANKED_PROBABILITY, ranked));
    }
    let cox = Cox::new(one);
    let in_the_large = cox.in_the_large(predictions, labels);
    let line = cox.fit(predictions, labels);
    let cox = [
        (
            new(
                "cox_in_the_large",
                "Cox intercept, slope 1 (0 if calibrated)",
            ),
            in_the_large.map(|intercept| intercept.estimate),
        ),
        (
            new(
                "cox_intercept",
                "Cox intercept, with slope (0 if calibrated)",
            ),
            (line.as_ref().map(|line| line.intercept.estimate)).map_err(Clone::clone),
        ),
        (
            new("cox_slope", "Cox slope (1 if calibrated)"),
            line.map(|line| line.slope.estimate),
        ),
    ];
    let cox = cox.into_iter();
    estimates.extend(cox.map(|(name, value)| (name, Estimate::new(&of.one, value))));
    estimates
}
