//! The estimates of classes.

use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::{Categorical, Predictive as _, Subject, Weighted as _},
    error::Result,
    estimator::{Cwce, Ece, Estimator, Event, Ici, KolmogorovSmirnov, MeanEstimate, Tce},
    hypothesis::Cox,
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

/// Sets of labels that are drawn from the predictions, from 100 of small data to 4 of large: what estimates are for a
/// calibrated model.
struct Redrawn(Vec<Tensor<1, Int>>);

/// The sets of large data.
const FEWEST: usize = 4;

impl Redrawn {
    fn new(predictions: &Categorical) -> Self {
        const NUMBERS: usize = 2_000_000;
        let size = (predictions.len() * predictions.classes()).max(1);
        let mut rng = StdRng::seed_from_u64(0);
        let sets = 0..(NUMBERS / size).clamp(FEWEST, 100);
        Self(sets.map(|_| predictions.sample(&mut rng)).collect())
    }

    /// The means of estimates; none where one of them has no value. An estimate may copy the predictions: those of
    /// large data are computed one after another, so that there is one copy and not one of each thread.
    fn means<const N: usize>(
        &self,
        estimates: impl Fn(&Tensor<1, Int>) -> Result<[f64; N]> + Sync,
    ) -> [Option<f64>; N] {
        let at_a_time = if self.0.len() > FEWEST { 1 } else { FEWEST };
        let sets = self.0.par_iter().with_min_len(at_a_time);
        let found: Result<Vec<[f64; N]>> = sets.map(&estimates).collect();
        let found = found.unwrap_or_default();
        let mean =
            |k: usize| found.iter().map(|of_set| of_set[k]).sum::<f64>() / found.len() as f64;
        std::array::from_fn(|k| (!found.is_empty()).then(|| mean(k)))
    }
}

/// An estimate that is above 0 for a calibrated model too, with its mean for such a model.
fn biased(
    of: &str,
    estimator: &(dyn Estimator + Sync),
    view: &View<Categorical>,
    redrawn: &Redrawn,
) -> Estimate {
    let (predictions, labels) = view.data();
    let estimate = |labels: &_| estimator.estimate(predictions, labels);
    let [if_calibrated] = redrawn.means(|drawn| Ok([estimate(drawn)?]));
    Estimate {
        if_calibrated,
        ..Estimate::new(of, estimate(labels))
    }
}

/// The mean, the median and the 90th percentile of the distances of an event from its isotonic regression.
fn distances(view: &View<Categorical>, redrawn: &Redrawn) -> NamedEstimates {
    const MEAN: &str = "Mean distance of the probabilities from the isotonic line of the diagram without bins. It uses \
        only one probability of each prediction, and is above 0 for a calibrated model too.";
    let (predictions, labels) = view.data();
    let errors = |labels: &_| {
        let errors = Ici::new(view.event()).errors(predictions, labels)?;
        Ok([errors.mean, errors.median, errors.ninetieth])
    };
    let (found, drawn) = (errors(labels), redrawn.means(errors));
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

/// The decomposition of a score of one event; a calibrated model has a miscalibration above 0 too.
fn parts(
    names: [Name; 3],
    of: &str,
    score: &(dyn Divergence + Sync),
    view: &View<Categorical>,
    redrawn: &Redrawn,
) -> NamedEstimates {
    let (predictions, labels) = view.data();
    let one = Event::one_of(predictions);
    let corp = |labels: &_| Corp::of(score, one, predictions, labels);
    let parts = corp(labels).map(|c| [c.miscalibration, c.discrimination, c.uncertainty]);
    let part = |(k, name)| {
        let part = parts.clone().map(|parts: [f64; 3]| parts[k]);
        (name, Estimate::new(of, part))
    };
    let mut parts: Vec<_> = names.into_iter().enumerate().map(part).collect();
    [parts[0].1.if_calibrated] = redrawn.means(|labels| Ok([corp(labels)?.miscalibration]));
    parts
}

/// All estimates of classes.
pub(super) fn estimates(view: &View<Categorical>) -> NamedEstimates {
    let ((predictions, labels), of) = (view.data(), &view.of);
    let one = Event::one_of(predictions);
    let redrawn = &Redrawn::new(predictions);
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
    estimates.extend(parts(BRIER_PARTS, &summed, &Brier, view, redrawn));
    const LOG: &str = "Mean of −ln of the probability of the outcome, 0 at best. Like the Brier score it measures \
        calibration and accuracy together. A single confident error can dominate it.";
    let log = Estimate::score(&of.whole, LogScore.upper_bound(predictions, labels));
    estimates.push((names::LOG, log.on_page(Unit::Decimals, LOG)));
    estimates.extend(parts(LOG_PARTS, &of.one, &LogScore, view, redrawn));
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
