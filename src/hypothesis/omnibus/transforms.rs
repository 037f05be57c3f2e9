//! Aspects of the probability integral transforms of real targets, computed for sets of targets.

use rand::Rng;

use super::{
    predicted::{Predicted, PredictedRow},
    real::RealAspect,
    step::{PARTS, Scores, Step},
    studentised::{Pair, Studentised, correlation, log_ratio, mean},
};
use crate::{
    distribution::{HostMarginals, Marginals, Tails, Weights},
    error::Result,
    hypothesis::engine::{Detail, Evaluator},
    parallel,
    score::binomial_lower_tail,
};

/// Transforms up to which `1 − F` has the digits that it needs.
const EXACT_BELOW: f64 = 0.9;
/// Pairs of coordinates whose correlation is computed, about.
const PAIRS: usize = 300;
/// Redraws whose mean correlation is the expected one.
const EXPECTED_BY: usize = 200;

/// The numbers of a coordinate.
pub(super) struct CoordinateNumbers {
    /// The mean `u` less ½.
    pub location: Studentised,
    /// `½ ln` of the variance of the errors over that predicted.
    pub spread: Studentised,
    /// The deviation of the targets in predicted ones, without the part of the errors that is due to means of draws.
    pub factor: f64,
    /// The share of targets within central 50 % intervals, less ½.
    pub coverage: f64,
    /// Correlations of `u` with the ranks of the predicted means and deviations.
    pub location_trends: [Studentised; 2],
    /// Correlations of `z²` with the same.
    pub spread_trends: [Studentised; 2],
}

/// The correlation of the normal scores of two coordinates.
pub(super) struct CorrelationNumbers {
    /// The correlation less the one that is expected.
    pub excess: Studentised,
    pub pair: [usize; 2],
    pub found: f64,
}

/// The target with the least probability `q = 2 min(u, 1 − u)` of `N` targets.
pub(super) struct Furthest {
    pub at: usize,
    pub probability: f64,
    /// `−ln(N q)`.
    pub statistic: f64,
}

/// The shares of `u` in equal parts.
pub(super) struct Shares {
    /// The root of the sum of squared differences from those expected, over one of these.
    pub statistic: f64,
    /// The part with the largest difference.
    pub part: usize,
    pub share: f64,
}

/// The numbers of a set of targets.
pub(super) struct Numbers {
    pub coordinates: Vec<CoordinateNumbers>,
    /// The numbers of the pair of coordinates that is furthest out; none of one coordinate.
    pub correlation: Option<CorrelationNumbers>,
    /// The mean `z²` less 1.
    pub tails: f64,
    pub furthest: Furthest,
    pub shares: Shares,
}

/// The numbers of the aspects of real targets.
pub(super) struct Transforms {
    pub marginals: Box<dyn HostMarginals>,
    pub dimensions: usize,
    aspects: Vec<RealAspect>,
    pub predicted: Predicted,
    /// The weights of the rows.
    weights: Weights,
    /// Pairs of coordinates, each with the correlation of normal scores that is expected.
    pub pairs: Vec<([usize; 2], f64)>,
}

impl Transforms {
    /// - weight: that of a target among the draws of its prediction; 0 for predictions that are not draws
    /// - rng: draws targets for correlations that are expected; unused for one coordinate
    pub fn new<P: Marginals>(predictions: &P, weight: f64, rng: &mut dyn Rng) -> Self {
        let (predictions, weights) = predictions.parted();
        let d = predictions.dimensions();
        let mut transforms = Self {
            marginals: predictions.on_host(),
            dimensions: d,
            aspects: RealAspect::all(d),
            predicted: Predicted::new(&predictions, weight),
            weights,
            pairs: pairs(d).into_iter().map(|pair| (pair, 0.0)).collect(),
        };
        if d > 1 {
            transforms.expect_correlations(&predictions, rng);
        }
        transforms
    }

    /// Coordinates may be dependent as predicted: the mean correlation of redraws is what is expected.
    fn expect_correlations<P: Marginals>(&mut self, predictions: &P, rng: &mut dyn Rng) {
        let redrawer = predictions.redrawer();
        let mut sums = vec![0.0; self.pairs.len()];
        let mut left = EXPECTED_BY;
        while left > 0 {
            let sets = (redrawer.draw)(redrawer.batch.min(left), rng);
            left -= sets.len();
            let found: Vec<Vec<f64>> = parallel::map(sets.len(), &|set| {
                let steps = self.steps(&sets[set]);
                let scores: Vec<Scores> = steps.iter().map(Step::scores).collect();
                let pairs = self.pairs.iter();
                let found = pairs.map(|(pair, _)| self.correlation(*pair, &scores).estimate);
                found.collect()
            });
            for found in found {
                let pairs = sums.iter_mut().zip(found);
                pairs.for_each(|(sum, found)| *sum += found);
            }
        }
        for ((_, expected), sum) in self.pairs.iter_mut().zip(sums) {
            *expected = sum / EXPECTED_BY as f64;
        }
    }

    /// The steps of the distribution functions at the targets: of one of the draws of its prediction, its rank among
    /// them.
    pub fn steps(&self, targets: &[f64]) -> Vec<Step> {
        let cdfs = self.marginals.cdfs(&|at| targets[at]);
        let step = |at: usize| match &cdfs {
            Some(u) if u[at] <= EXACT_BELOW => Step(
                [Tails {
                    lower: u[at],
                    upper: 1.0 - u[at],
                }; 2],
            ),
            _ => {
                let Tails { lower, upper } = self.marginals.tails(at, targets[at]);
                let atom = self.marginals.atom(at, targets[at]);
                let end = |atom: f64| Tails {
                    lower: (lower - atom).clamp(0.0, 1.0),
                    upper: (upper + atom).clamp(0.0, 1.0),
                };
                Step([end(atom), end(0.0)])
            }
        };
        (0..targets.len()).map(step).collect()
    }

    /// The weight of the row of a coordinate.
    pub fn weight(&self, at: usize) -> f64 {
        self.weights.at(at / self.dimensions)
    }

    fn correlation(&self, [a, b]: [usize; 2], scores: &[Scores]) -> Studentised {
        let rows = (0..scores.len()).step_by(self.dimensions);
        correlation(rows.map(|first| Pair {
            weight: self.weight(first),
            x: scores[first + a].mean,
            y: scores[first + b].mean,
        }))
    }

    fn furthest_correlation(&self, scores: &[Scores]) -> Option<CorrelationNumbers> {
        let statistic = |of: &CorrelationNumbers| of.excess.statistic();
        let all = self.pairs.iter().rev().map(|&(pair, expected)| {
            let found = self.correlation(pair, scores);
            let excess = Studentised {
                estimate: found.estimate - expected,
                ..found
            };
            CorrelationNumbers {
                excess,
                pair,
                found: found.estimate,
            }
        });
        all.max_by(|a, b| statistic(a).total_cmp(&statistic(b)))
    }

    fn coordinate(
        &self,
        c: usize,
        (targets, steps, scores): (&[f64], &[Step], &[Scores]),
    ) -> CoordinateNumbers {
        let rows: Vec<(usize, PredictedRow)> = (c..targets.len())
            .step_by(self.dimensions)
            .map(|at| (at, self.predicted.row(&*self.marginals, at, targets[at])))
            .collect();
        let errors = rows.iter().map(|(at, row)| (self.weight(*at), row.error));
        let trend = |by: usize, of: &dyn Fn(usize) -> f64| {
            correlation(rows.iter().map(|(at, row)| Pair {
                weight: self.weight(*at),
                x: row.ranks[by],
                y: of(*at),
            }))
        };
        let of_row = |of: &dyn Fn(usize) -> f64| rows.iter().map(|(at, _)| of(*at)).sum::<f64>();
        let covered = of_row(&|at| self.weight(at) * steps[at].share_in_middle());
        let total = of_row(&|at| self.weight(at));
        let level = |(at, _): &(usize, _)| (self.weight(*at), steps[*at].mean_level());
        let errors: Vec<_> = errors.collect();
        let spread = log_ratio(&errors, self.predicted.draws());
        let ratio = (2.0 * spread.estimate).exp();
        let of_means = self.predicted.draws().map_or(0.0, f64::recip);
        CoordinateNumbers {
            location: mean(rows.iter().map(level)),
            spread,
            factor: (ratio + of_means * (ratio - 1.0)).max(0.0).sqrt(),
            coverage: covered / total - 0.5,
            location_trends: [0, 1].map(|by| trend(by, &|at| steps[at].mean_level().mean)),
            spread_trends: [0, 1].map(|by| trend(by, &|at| scores[at].square)),
        }
    }

    fn numbers(&self, targets: &[f64]) -> Numbers {
        let d = self.dimensions;
        let steps = self.steps(targets);
        let scores: Vec<Scores> = steps.iter().map(Step::scores).collect();
        let mut counts = [0.0; PARTS];
        let mut furthest = (f64::INFINITY, 0);
        let mut square = 0.0;
        for (at, (step, scores)) in steps.iter().zip(&scores).enumerate() {
            step.add_to(&mut counts, self.weight(at));
            square += self.weight(at) * scores.square;
            let tail = step.tail();
            if tail < furthest.0 {
                furthest = (tail, at);
            }
        }
        let total = self.weights.total(targets.len() / d) * d as f64;
        let probability = (2.0 * furthest.0).min(1.0);
        Numbers {
            coordinates: (0..d)
                .map(|c| self.coordinate(c, (targets, &steps, &scores)))
                .collect(),
            correlation: self.furthest_correlation(&scores),
            tails: square / total - 1.0,
            furthest: Furthest {
                at: furthest.1,
                probability,
                statistic: -(targets.len() as f64 * probability).ln(),
            },
            shares: shares(&counts.map(|count| count / total)),
        }
    }

    fn flat(&self, targets: &[f64]) -> Vec<f64> {
        let numbers = self.numbers(targets);
        let of = |aspect: &RealAspect| aspect.numbers(&numbers);
        self.aspects.iter().flat_map(of).collect()
    }

    /// Knowledge of an aspect of the data; see [`AspectOutcome::adjusted_p_value`](super::AspectOutcome).
    fn detail(&self, aspect: RealAspect, numbers: &Numbers, targets: &[f64]) -> Detail {
        let effective = self.effective();
        let least_p_value = match aspect {
            RealAspect::Coverage(c) => {
                let covered = (0.5 + numbers.coordinates[c].coverage) * effective;
                let tail = |count: f64| binomial_lower_tail(0.5, count, effective);
                (2.0 * tail(covered).min(tail(effective - covered))).min(1.0)
            }
            // a mean of squares has no upper bound without one of the tails, and one error is no spread
            RealAspect::Spread(c)
                if numbers.coordinates[c].spread.estimate < 0.0
                    || self.has_one_error(c, targets) =>
            {
                1.0
            }
            RealAspect::Spread(c) => match self.unshifted_spread(c, targets) {
                Some(unshifted) if unshifted.estimate > 0.0 => unshifted.p_value(self.freedom()),
                Some(_) => 1.0,
                None => 0.0,
            },
            RealAspect::Correlation => {
                let of = |found| self.unshifted_correlation(found, targets);
                numbers.correlation.as_ref().map_or(0.0, of)
            }
            RealAspect::LocationTrend(..) | RealAspect::SpreadTrend(..)
                if !self.predicted.show_trends(effective) =>
            {
                1.0
            }
            _ => 0.0,
        };
        let row = (aspect == RealAspect::Furthest).then_some(numbers.furthest.at / self.dimensions);
        let place = aspect.place(numbers);
        Detail {
            least_p_value,
            row,
            place,
        }
    }

    /// The number of samples that equal weights would make as precise.
    pub fn effective(&self) -> f64 {
        self.weights
            .effective(self.predicted.len() / self.dimensions)
    }
}

/// Pairs of coordinates: all where these are few, else those of near ones.
fn pairs(d: usize) -> Vec<[usize; 2]> {
    let reach = if d * (d - 1) / 2 <= PAIRS {
        d
    } else {
        (PAIRS / d).max(1)
    };
    let of = |a: usize| (a + 1..d.min(a + 1 + reach)).map(move |b| [a, b]);
    (0..d).flat_map(of).collect()
}

/// Compares the shares of equal parts with those of uniform transforms.
fn shares(shares: &[f64; PARTS]) -> Shares {
    let expected = (PARTS as f64).recip();
    let excess = shares.map(|share| share - expected);
    let square: f64 = excess.iter().map(|excess| excess * excess).sum();
    let size = |part: &usize| excess[*part].abs();
    let part = (0..PARTS).rev().max_by(|a, b| size(a).total_cmp(&size(b)));
    let part = part.expect("several parts");
    Shares {
        statistic: (square * PARTS as f64).sqrt(),
        part,
        share: shares[part],
    }
}

impl Evaluator<Vec<Vec<f64>>> for Transforms {
    fn width(&self) -> usize {
        self.aspects.iter().map(|aspect| aspect.width()).sum()
    }

    fn values(&self, sets: &Vec<Vec<f64>>) -> Result<Vec<f64>> {
        let values: Vec<Vec<f64>> = parallel::map(sets.len(), &|set| self.flat(&sets[set]));
        Ok(values.concat())
    }

    fn details(&self, data: &Vec<Vec<f64>>) -> Result<Vec<Detail>> {
        let targets = &data[0];
        let mut numbers = self.numbers(targets);
        for (c, of) in numbers.coordinates.iter_mut().enumerate() {
            if let Some(unshifted) = self.unshifted_spread(c, targets) {
                of.factor = unshifted.estimate.exp();
            }
        }
        // all numbers of an aspect have its detail
        let details = self.aspects.iter().flat_map(|aspect| {
            std::iter::repeat_n(self.detail(*aspect, &numbers, targets), aspect.width())
        });
        Ok(details.collect())
    }
}
