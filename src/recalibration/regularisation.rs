//! The weight of a regularisation, fixed or by cross-validation.

use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};
use serde::{Deserialize, Serialize};

use super::{
    at_least,
    data::FitData,
    descent::{Limits, minimise},
    family::{ParametricMaps, Prepared, Regularised, log_losses},
    fit::{Progress, observer},
};
use crate::{
    error::{Result, check_parameter},
    estimator::{MeanEstimate, differences},
    parallel,
};

/// The strength of the regularisation of a map that could overfit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Regularisation {
    /// A fixed weight, 0 or more.
    Fixed(f64),
    /// The one of the weights `10, 1, …, 10⁻⁴` whose maps have the lowest log loss on rows they were not
    /// fitted to, in this number of folds; the largest weight if there are fewer than two rows per fold.
    /// They are tried in this order until one is worse than the best before it by more than one standard
    /// error of the difference. The fits on which it chooses end where ten iterations lower the log loss by
    /// less than 10⁻⁵.
    CrossValidated {
        /// The number of folds, at least 2.
        folds: usize,
    },
}

/// The weights tried, strongest first: each fit starts from the last one.
pub(super) const WEIGHTS: [f64; 6] = [10.0, 1.0, 1e-1, 1e-2, 1e-3, 1e-4];

impl Regularisation {
    pub(super) fn validate(self) -> Result<Self> {
        match self {
            Self::Fixed(weight) => check_parameter(
                weight.is_finite() && weight >= 0.0,
                "the weight of the regularisation",
                weight,
                "a finite number of at least 0",
            )?,
            Self::CrossValidated { folds } => {
                at_least(2, "the number of folds", folds, "at least 2")?
            }
        }
        Ok(self)
    }
}

/// Rows that are left out of a fit, and the others.
#[derive(Debug, Clone)]
pub struct Split {
    pub left_out: Vec<usize>,
    pub rest: Vec<usize>,
}

/// Each fold beside all others.
pub(super) fn splits(folds: &[Vec<usize>]) -> Vec<Split> {
    let of_fold = |fold: usize| Split {
        left_out: folds[fold].clone(),
        rest: [&folds[..fold], &folds[fold + 1..]].concat().concat(),
    };
    (0..folds.len()).map(of_fold).collect()
}

/// All rows that are left out, in their order.
pub(super) fn left_out(splits: &[Split]) -> Vec<usize> {
    let mut rows: Vec<usize> = splits.iter().flat_map(|s| s.left_out.clone()).collect();
    rows.sort_unstable();
    rows
}

/// Numbers of the rows left out, as many of each, in the order of all rows.
pub(super) fn in_order(splits: &[Split], of_splits: Vec<Vec<f64>>) -> Vec<f64> {
    let rows: Vec<usize> = splits
        .iter()
        .flat_map(|split| split.left_out.clone())
        .collect();
    let numbers = of_splits.concat();
    let width = numbers.len() / rows.len().max(1);
    let mut places: Vec<usize> = (0..rows.len()).collect();
    places.sort_unstable_by_key(|&place| rows[place]);
    let of_place = |place: usize| &numbers[place * width..(place + 1) * width];
    places.into_iter().flat_map(of_place).copied().collect()
}

/// The rows `0..n` in random folds of nearly equal sizes, by ChaCha12.
pub(super) fn folds(n: usize, count: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut rows: Vec<usize> = (0..n).collect();
    rows.shuffle(&mut StdRng::seed_from_u64(seed));
    (0..count)
        .map(|fold| rows.iter().copied().skip(fold).step_by(count).collect())
        .collect()
}

/// The least decrease of the log loss in ten iterations of a fit of a cross-validation. What is left then is far less
/// than the log loss differs from fold to fold.
pub(super) const PROGRESS: f64 = 1e-5;

/// The fits to all but what is left out, which go on from weight to weight.
struct Fold<'a, F: ParametricMaps> {
    rest: Prepared<'a, F>,
    left_out: Prepared<'a, F>,
    theta: Vec<f64>,
}

/// A fit to all but what is left out.
struct FittedFold {
    /// The logits of what is left out.
    logits: Vec<f64>,
    /// The objective at each evaluation.
    objectives: Vec<f64>,
}

/// A weight, with the log losses and the logits of all that is left out.
struct TriedWeight {
    weight: f64,
    losses: Vec<f64>,
    logits: Vec<f64>,
}

/// The weight whose log loss on the samples left out is least, the larger one of equals, and the
/// logits of these samples. Weights fall until one is worse than the best by more than one standard error of the paired
/// difference: each is a longer fit than the one before. Each fit of a weight has a thread of its own.
pub(super) fn cross_validated<F: ParametricMaps>(
    family: impl Fn(&FitData) -> F,
    data: &FitData,
    splits: &[Split],
    limits: Limits,
    observe: Progress<'_>,
) -> (f64, Vec<f64>) {
    let limits = Limits {
        progress: PROGRESS,
        ..limits
    };
    let of_split = |split: &Split| {
        let rest = data.select(&split.rest);
        (family(&rest), rest, data.select(&split.left_out))
    };
    let parts: Vec<_> = splits.iter().map(of_split).collect();
    let parallel = rayon::current_num_threads() > splits.len();
    let prepared = |(family, rest, left_out)| Fold {
        rest: Prepared::new(family, rest, parallel),
        left_out: Prepared::new(family, left_out, parallel),
        theta: F::start(family),
    };
    let mut fits: Vec<Fold<F>> = parts.iter().map(|(f, r, l)| prepared((f, r, l))).collect();
    let FitData {
        labels, weights, ..
    } = data.select(&left_out(splits));
    let mut best: Option<TriedWeight> = None;
    for (round, next) in WEIGHTS.into_iter().enumerate() {
        let fitted = parallel::map_mut(&mut fits, &|fold| fold.fit(next, limits));
        let mut logits = Vec::new();
        for (fit, found) in (round * splits.len() + 1..).zip(fitted) {
            let mut observe = observer(observe, fit, 0); // how many there are the receiver knows
            (1..)
                .zip(found.objectives)
                .for_each(|(k, value)| observe(k, value));
            logits.push(found.logits);
        }
        let logits = in_order(splits, logits);
        let losses = log_losses(logits.clone(), &labels);
        if let Some(best) = &best {
            let change = MeanEstimate::weighted(&differences(&best.losses, &losses, 0.0), &weights);
            if change.estimate > change.standard_error {
                break;
            }
            if change.estimate.is_nan() || change.estimate >= 0.0 {
                continue;
            }
        }
        best = Some(TriedWeight {
            weight: next,
            losses,
            logits,
        });
    }
    let best = best.expect("a weight was tried");
    (best.weight, best.logits)
}

impl<F: ParametricMaps> Fold<'_, F> {
    /// Fits with a weight.
    fn fit(&mut self, weight: f64, limits: Limits) -> FittedFold {
        let (prepared, mut objectives) = (&self.rest, Vec::new());
        let regularised = Regularised { prepared, weight };
        let mut observe = |_, objective| objectives.push(objective);
        (self.theta, _) = minimise(regularised, &self.theta, limits, &mut observe);
        FittedFold {
            logits: self.left_out.logits(&self.theta),
            objectives,
        }
    }
}
