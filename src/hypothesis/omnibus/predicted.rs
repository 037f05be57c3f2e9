//! Errors of real targets in the units of their predictions, and the ranks of the predictions.

use super::studentised::{PredictedError, mid_ranks};
use crate::{
    distribution::{HostMarginals, Marginals},
    host::{rounding, to_vec},
    numbers::tied,
};

/// Standardised errors are at most so large: their fourth powers have sums.
const LARGEST: f64 = 1e60;
/// Draws of each prediction, in units of the root of the number of samples, from which trends are claimed.
const ENOUGH_DRAWS: f64 = 10.0;

/// The moments and the ranks of predictions.
///
/// The moments of draws are those without the target, which is among them: so an error is not compared with a
/// deviation that it has made, and a rank does not follow the target. Any of the draws may be the target, so data and
/// redraws are treated alike.
pub(super) struct Predicted {
    /// Means and deviations, in the order of the targets; those of draws with the target. A deviation that is not a
    /// positive number is 0.
    moments: Vec<[f64; 2]>,
    /// The ranks of both among those of their coordinate.
    ranks: Vec<[f64; 2]>,
    draws: Option<Draws>,
}

/// Predictions that are draws.
struct Draws {
    /// The number of draws of each, without the target.
    each: f64,
    /// The means, and the deviations, of each coordinate in increasing order.
    sorted: Vec<[Vec<f64>; 2]>,
}

/// A prediction and its target.
pub(super) struct PredictedRow {
    pub error: PredictedError,
    /// The ranks of the mean and of the deviation.
    pub ranks: [f64; 2],
}

impl Predicted {
    /// - weight: that of a target among the draws of its prediction; 0 for predictions that are not draws
    pub fn new<P: Marginals>(predictions: &P, weight: f64) -> Self {
        let (d, rounding) = (predictions.dimensions(), rounding(predictions.dtype()));
        let deviation = |variance: f64| {
            let deviation = variance.sqrt();
            if deviation > 0.0 && deviation.is_finite() {
                deviation
            } else {
                0.0
            }
        };
        let deviations = to_vec(predictions.variances()).into_iter().map(deviation);
        let means = to_vec(predictions.means()).into_iter();
        let moments: Vec<[f64; 2]> = means.zip(deviations).map(|(m, s)| [m, s]).collect();
        let mut ranks = vec![[0.0; 2]; moments.len()];
        let mut sorted = Vec::new();
        for c in 0..d {
            let of = |k: usize| -> Vec<f64> {
                let moments = moments.iter().skip(c).step_by(d);
                moments.map(|moment| moment[k]).collect()
            };
            let [means, deviations] = [of(0), of(1)];
            // means that differ by the rounding of a deviation are equal for any target
            let sizes = [means.iter(), deviations.iter()]
                .map(|moments| moments.zip(&deviations).map(|(m, s)| m.abs().max(*s)));
            let sizes = sizes.map(|sizes| sizes.collect::<Vec<f64>>());
            for (k, moments) in [&means, &deviations].into_iter().enumerate() {
                let moments = tied(moments, |row| rounding * sizes[k][row]);
                for (row, rank) in mid_ranks(&moments).into_iter().enumerate() {
                    ranks[row * d + c][k] = rank;
                }
            }
            sorted.push([means, deviations].map(in_order));
        }
        let draws = (weight > 0.0).then(|| Draws {
            each: weight.recip() - 1.0,
            sorted,
        });
        Self {
            moments,
            ranks,
            draws,
        }
    }

    /// The prediction of a target.
    pub fn row(&self, marginals: &dyn HostMarginals, at: usize, y: f64) -> PredictedRow {
        let [mean, deviation] = self.moments[at];
        let Some((draws, others)) = self.draws.as_ref().zip(marginals.moments_without(at, y))
        else {
            let z = ((y - mean) / deviation).clamp(-LARGEST, LARGEST);
            let error = PredictedError {
                error: if deviation == 0.0 { 0.0 } else { z },
                deviation: 1.0,
            };
            let ranks = self.ranks[at];
            return PredictedRow { error, ranks };
        };
        let sorted = &draws.sorted[at % draws.sorted.len()];
        let rank = |k: usize, value: f64| {
            let below = sorted[k].partition_point(|other| *other < value);
            let up_to = sorted[k].partition_point(|other| *other <= value);
            0.5 * (below + up_to) as f64
        };
        let deviation = others.variance.sqrt();
        // one draw has no variance
        let error = if draws.each > 1.0 {
            y - others.mean
        } else {
            0.0
        };
        PredictedRow {
            error: PredictedError { error, deviation },
            ranks: [rank(0, others.mean), rank(1, deviation)],
        }
    }

    /// The predicted deviation of a target; 0 if it is not a positive number.
    pub fn deviation(&self, at: usize) -> f64 {
        self.moments[at][1]
    }

    /// The number of draws of which deviations are, if they are of draws.
    pub fn draws(&self) -> Option<f64> {
        let draws = self.draws.as_ref()?;
        (draws.each > 1.0).then_some(draws.each)
    }

    /// The number of targets.
    pub fn len(&self) -> usize {
        self.moments.len()
    }

    /// Whether a trend of targets is one with the distributions that are predicted. The mean and the deviation of few
    /// draws vary, so that targets of a calibrated model are high where the mean is low by chance.
    pub fn show_trends(&self, effective: f64) -> bool {
        let enough = |draws: &Draws| draws.each >= ENOUGH_DRAWS * effective.sqrt();
        self.draws.as_ref().is_none_or(enough)
    }
}

fn in_order(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}
