//! Aspects of the probability integral transforms of real targets.

use super::step::{PARTS, Step};
use crate::{
    distribution::{HostMarginals, Marginals, Weights},
    error::Result,
    host::{rounding, to_vec},
    hypothesis::engine::{Detail, Evaluator},
    numbers::tied,
    parallel,
};

/// Transforms up to which `1 − F` has the digits that it needs.
const EXACT_BELOW: f64 = 0.9;
/// Standardised errors are at most so large: their fourth powers have sums.
const LARGEST: f64 = 1e60;

/// The place of the spread among the eight numbers of a coordinate.
const SPREAD: usize = 2;
/// Errors from which predictions are called too wide, and their largest skewness: so exponential errors with
/// the predicted variance are accused at no more than the level.
const FEWEST_FOR_WIDE: f64 = 30.0;
const MOST_SKEWNESS: f64 = 0.75;

/// The numbers of the aspects of real targets.
///
/// Sums that may be off to both sides are divided by their standard deviation, the larger of that of
/// calibrated predictions and of that found in the same set: so that targets that vary more
/// than they should are not taken for a wrong location.
pub(super) struct Transforms {
    marginals: Box<dyn HostMarginals>,
    dimensions: usize,
    /// Predicted means and standard deviations; 0 where that is not a positive number.
    moments: Vec<(f64, f64)>,
    /// Ranks of the predicted means of each coordinate less their mean, with a sum of squares of 1, or
    /// all 0.
    ranks: Vec<f64>,
    /// The weights of the rows.
    weights: Weights,
}

impl Transforms {
    pub fn new<P: Marginals>(predictions: &P) -> Self {
        let (predictions, weights) = predictions.parted();
        let means = predictions.means();
        let [n, d] = means.dims();
        let (rounding, means) = (rounding(means.dtype()), to_vec(means));
        let mut ranks = vec![0.0; n * d];
        for c in 0..d {
            let of_coordinate: Vec<f64> = means.iter().skip(c).step_by(d).copied().collect();
            let of_coordinate = tied(&of_coordinate, |row| rounding * of_coordinate[row].abs());
            let of_coordinate = centred_ranks(&of_coordinate, &weights);
            for (row, rank) in of_coordinate.into_iter().enumerate() {
                ranks[row * d + c] = rank;
            }
        }
        let deviation = |variance: f64| match variance.sqrt() {
            deviation if deviation > 0.0 && deviation.is_finite() => deviation,
            _ => 0.0,
        };
        let deviations = to_vec(predictions.variances()).into_iter().map(deviation);
        Self {
            marginals: predictions.on_host(),
            dimensions: d,
            moments: means.into_iter().zip(deviations).collect(),
            ranks,
            weights,
        }
    }

    /// The step of the distribution function at a target: of one of the draws of its prediction, its rank among them.
    fn step(&self, at: usize, y: f64) -> Step {
        let (below, above) = self.marginals.tails(at, y);
        let atom = self.marginals.atom(at, y);
        let ends = [(below - atom, above + atom), (below, above)];
        Step(ends.map(|(u, rest)| (u.clamp(0.0, 1.0), rest.clamp(0.0, 1.0))))
    }

    /// The weight of the row of a coordinate.
    fn weight(&self, at: usize) -> f64 {
        self.weights.at(at / self.dimensions)
    }

    /// The error in standard deviations of the prediction.
    fn error(&self, at: usize, y: f64) -> f64 {
        match self.moments[at] {
            (_, 0.0) => 0.0,
            (mean, deviation) => ((y - mean) / deviation).clamp(-LARGEST, LARGEST),
        }
    }

    fn of(&self, targets: &[f64]) -> Vec<f64> {
        let d = self.dimensions;
        let cdfs = self.marginals.cdfs(&|at| targets[at]);
        let step_at = |at: usize| match &cdfs {
            Some(u) if u[at] <= EXACT_BELOW => Step([(u[at], 1.0 - u[at]); 2]),
            _ => self.step(at, targets[at]),
        };
        let total = targets.len() as f64;
        let (mut levels, mut distances, mut squares) = (Vec::new(), Vec::new(), Vec::new());
        let mut counts = [0.0; PARTS];
        let mut furthest = (f64::INFINITY, 0);
        for at in 0..targets.len() {
            let step = step_at(at);
            step.add_to(&mut counts, self.weight(at));
            let tail = step.tail();
            if tail < furthest.0 {
                furthest = (tail, at);
            }
            levels.push(step.mean_level());
            distances.push(step.mean_distance());
            squares.push(step.mean_square());
        }
        let mut numbers = Vec::with_capacity(8 * d + 7);
        for c in 0..d {
            let of_coordinate = || (c..targets.len()).step_by(d);
            let level = |at: usize| (self.weight(at), levels[at]);
            numbers.extend(studentised_mean(of_coordinate().map(level)));
            let error = |at: usize| (self.weight(at), self.error(at, targets[at]));
            numbers.extend(log_deviation(of_coordinate().map(error)));
            let distance = |at: usize| (self.weight(at), distances[at]);
            numbers.extend(studentised_mean(of_coordinate().map(distance)));
            let pair = |at: usize| (self.weight(at), [self.ranks[at], squares[at]]);
            numbers.extend(correlation(of_coordinate().map(pair)));
        }
        let weighted = squares
            .iter()
            .enumerate()
            .map(|(at, x)| self.weight(at) * x);
        let weight = self.weights.total(targets.len() / d) * d as f64;
        numbers.push(weighted.sum::<f64>() / weight - 1.0);
        let probability = (2.0 * furthest.0).min(1.0);
        numbers.extend([-(total * probability).ln(), furthest.1 as f64, probability]);
        let excess = counts.map(|count| count / weight - (PARTS as f64).recip());
        let square: f64 = excess.iter().map(|excess| excess * excess).sum();
        let largest = |a: usize, b: usize| {
            if excess[b].abs() > excess[a].abs() {
                b
            } else {
                a
            }
        };
        let part = (0..PARTS).reduce(largest).expect("several parts");
        numbers.push((square * PARTS as f64).sqrt());
        numbers.extend([part as f64, counts[part] / weight]);
        numbers
    }
}

/// The ranks of numbers less their mean, equal numbers at the mean of theirs, with a sum of squares of 1.
fn centred_ranks(values: &[f64], weights: &Weights) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        // the mean rank of these less that of all
        let rank = before as f64 + 0.5 * equal.len() as f64 - 0.5 * values.len() as f64;
        equal.iter().for_each(|&at| ranks[at] = rank);
        before += equal.len();
    }
    let weighted = |ranks: &[f64], of: fn(f64) -> f64| -> f64 {
        let terms = ranks.iter().zip(weights.all(ranks.len()));
        terms.map(|(rank, w)| w * of(*rank)).sum()
    };
    if weights.are_given() {
        let mean = weighted(&ranks, |rank| rank) / weights.total(ranks.len());
        ranks.iter_mut().for_each(|rank| *rank -= mean);
    }
    let norm = weighted(&ranks, |rank| rank * rank).sqrt();
    if norm > 0.0 {
        ranks.iter_mut().for_each(|rank| *rank /= norm);
    }
    ranks
}

/// The mean of numbers that are uniform on `[−½, ½]` if the model is calibrated, or means of such numbers, and its
/// standard deviation.
///
/// - values: weights, and numbers with their variances over a step, which the means lack
fn studentised_mean(values: impl Iterator<Item = (f64, (f64, f64))>) -> [f64; 2] {
    let (mut total, mut squares, mut sum, mut square) = (0.0, 0.0, 0.0, 0.0);
    for (w, (value, within)) in values {
        total += w;
        squares += w * w * (1.0 - 12.0 * within).max(0.0);
        sum += w * value;
        square += w * w * (value * value);
    }
    [sum / total, square.max(squares / 12.0).sqrt() / total]
}

/// Half the logarithm of the variance of errors, and its standard deviation `½ √((κ − 1)/n)` by the kurtosis
/// `κ`, that of the normal distribution at least.
fn log_deviation(errors: impl Iterator<Item = (f64, f64)> + Clone) -> [f64; 2] {
    let sum = |of: fn(f64, f64) -> f64| errors.clone().map(|(w, x)| of(w, x)).sum::<f64>();
    let (total, squares) = (sum(|w, _| w), sum(|w, _| w * w));
    if errors.clone().count() < 2 {
        return [0.0, 1.0];
    }
    let mean = sum(|w, error| w * error) / total;
    let (mut square, mut fourth) = (0.0, 0.0);
    for (w, error) in errors {
        let deviation = (error - mean) * (error - mean);
        square += w * deviation;
        fourth += w * (deviation * deviation);
    }
    // Σw and Σw² are n where there are no weights
    let variance = (square / (total - squares / total)).max(LARGEST.recip());
    // NaN where all errors are equal
    let kurtosis = (total * fourth / (square * square)).max(3.0);
    let effective = total * total / squares;
    let deviation = 0.5 * ((kurtosis - 1.0) / effective).sqrt();
    [0.5 * variance.ln(), deviation]
}

/// Whether a variance of errors that is too small can be told from a long tail without a target in it: of
/// strongly skewed errors most sets have too small a variance.
fn shows_small_variance(errors: impl Iterator<Item = (f64, f64)> + Clone) -> bool {
    let total: f64 = errors.clone().map(|(w, _)| w).sum();
    let squares: f64 = errors.clone().map(|(w, _)| w * w).sum();
    let mean = errors.clone().map(|(w, e)| w * e).sum::<f64>() / total;
    let moment = |power: i32| {
        let terms = errors.clone().map(|(w, e)| w * (e - mean).powi(power));
        terms.sum::<f64>() / total
    };
    let skewness = moment(3) / moment(2).powf(1.5);
    total * total / squares >= FEWEST_FOR_WIDE && skewness.abs() <= MOST_SKEWNESS
}

/// The correlation of centred weights, whose squares sum to 1, and numbers; and its standard deviation.
fn correlation(pairs: impl Iterator<Item = (f64, [f64; 2])> + Clone) -> [f64; 2] {
    let total: f64 = pairs.clone().map(|(w, _)| w).sum();
    let mean = pairs.clone().map(|(w, [_, value])| w * value).sum::<f64>() / total;
    let (mut product, mut square, mut weighted) = (0.0, 0.0, 0.0);
    for (w, [rank, value]) in pairs {
        let deviation = value - mean;
        product += w * (rank * deviation);
        square += w * (deviation * deviation);
        weighted += w * w * (rank * rank * deviation * deviation);
    }
    if weighted > 0.0 {
        [product / square.sqrt(), (weighted / square).sqrt()]
    } else {
        [0.0, 1.0]
    }
}

impl Evaluator<Vec<Vec<f64>>> for Transforms {
    fn width(&self) -> usize {
        8 * self.dimensions + 7
    }

    fn values(&self, sets: &Vec<Vec<f64>>) -> Result<Vec<f64>> {
        let values: Vec<Vec<f64>> = parallel::map(sets.len(), &|set| self.of(&sets[set]));
        Ok(values.concat())
    }

    /// A spread that is too wide is not claimed of few or of skewed errors.
    fn details(&self, data: &Vec<Vec<f64>>) -> Result<Vec<Detail>> {
        let (targets, numbers) = (&data[0], self.of(&data[0]));
        let mut details = vec![Detail::default(); numbers.len()];
        let furthest = 8 * self.dimensions + 1;
        details[furthest].row = Some(numbers[furthest + 1] as usize / self.dimensions);
        for c in 0..self.dimensions {
            let at = 8 * c + SPREAD;
            let errors = (c..targets.len()).step_by(self.dimensions);
            let errors = errors.map(|at| (self.weight(at), self.error(at, targets[at])));
            if numbers[at] < 0.0 && !shows_small_variance(errors) {
                details[at].least_p_value = 1.0;
            }
        }
        Ok(details)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of equal weights.
    fn equal(numbers: &[f64]) -> impl Iterator<Item = (f64, f64)> + Clone {
        numbers.iter().map(|x| (1.0, *x))
    }

    /// By hand, and where there is nothing to divide by.
    #[test]
    fn sums_of_a_set() {
        assert_eq!(centred_ranks(&[5.0, 1.0, 5.0], &Weights::default()), {
            let norm = 1.5f64.sqrt();
            [0.5 / norm, -1.0 / norm, 0.5 / norm]
        });
        assert_eq!(centred_ranks(&[2.0; 3], &Weights::default()), [0.0; 3]);
        // the known variance, and that of the set
        let without_steps = |numbers| studentised_mean(equal(numbers).map(|(w, x)| (w, (x, 0.0))));
        assert_eq!(
            without_steps(&[0.1, -0.1]),
            [0.0, (2.0 / 12.0f64).sqrt() / 2.0]
        );
        assert_eq!(without_steps(&[0.5, 0.5]), [0.5, 0.5f64.sqrt() / 2.0]);
        // variance 2, kurtosis 1
        let [estimate, deviation] = log_deviation(equal(&[3.0, 5.0]));
        assert!((estimate - 0.5 * 2.0f64.ln()).abs() < 1e-15);
        assert_eq!(deviation, 0.5);
        // a shift changes nothing
        assert_eq!(log_deviation(equal(&[-1.0, 1.0])), [estimate, deviation]);
        assert_eq!(log_deviation(equal(&[7.0])), [0.0, 1.0]);
        assert!(
            log_deviation(equal(&[7.0; 3]))
                .iter()
                .all(|x| x.is_finite())
        );
        let half = 0.5f64.sqrt();
        let [estimate, _] = correlation([(1.0, [-half, 1.0]), (1.0, [half, 3.0])].into_iter());
        assert!((estimate - 1.0).abs() < 1e-15);
        assert_eq!(
            correlation([(1.0, [0.0, 1.0]), (1.0, [0.0, 3.0])].into_iter()),
            [0.0, 1.0]
        );
    }
}
