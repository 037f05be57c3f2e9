//! Numbers of a set of targets with their standard deviations.
//!
//! Each is divided by a standard deviation that is found in the same set, so that a number that is right is rarely
//! accused because the targets vary otherwise than predicted.

use statrs::function::gamma::ln_gamma;

use crate::estimator::student;

/// An estimate that may be off to both sides, and its standard deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Studentised {
    pub estimate: f64,
    pub deviation: f64,
}

impl Studentised {
    /// The number of data that say nothing.
    pub const NONE: Self = Self {
        estimate: 0.0,
        deviation: 1.0,
    };

    /// The distance from 0 in standard deviations.
    pub fn statistic(self) -> f64 {
        if self.estimate == 0.0 {
            return 0.0;
        }
        (self.estimate / self.deviation).abs()
    }

    /// The two-sided p-value of 0 by Student's distribution; 1 where there is no degree of freedom.
    pub fn p_value(self, freedom: f64) -> f64 {
        if freedom <= 0.0 {
            return 1.0;
        }
        2.0 * student::upper_tail(self.statistic(), freedom)
    }
}

/// The mean of a function over a step of a distribution function, and its variance over the step, which the mean
/// lacks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct OverStep {
    pub mean: f64,
    pub variance: f64,
}

/// The mean of numbers that are uniform on `[−½, ½]` if the model is calibrated. The deviation is the larger of that of
/// calibrated predictions and that of the numbers.
///
/// - rows: weights, and numbers
pub(super) fn mean(rows: impl Iterator<Item = (f64, OverStep)>) -> Studentised {
    let (mut total, mut known, mut sum, mut square) = (0.0, 0.0, 0.0, 0.0);
    for (w, OverStep { mean, variance }) in rows {
        total += w;
        known += w * w * (1.0 / 12.0 - variance).max(0.0);
        sum += w * mean;
        square += w * w * (mean * mean);
    }
    Studentised {
        estimate: sum / total,
        deviation: square.max(known).sqrt() / total,
    }
}

/// The error of a prediction, and the deviation that the prediction gives it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PredictedError {
    pub error: f64,
    pub deviation: f64,
}

/// The largest ratio of variances, and the inverse of the least.
const LARGEST_RATIO: f64 = 1e60;
/// The least share of the mean squared error that is not due to a shift.
const LEAST_SHARE: f64 = 1e-6;

/// `½ ln` of the variance of errors over the mean of the predicted variances, by the delta method. The variance is that
/// about a shift by `b` deviations, the same for all: the mean of `e² − b²s²`, with `b = Σe/Σs`.
///
/// Where deviations are those of `S` draws, errors from their mean have `1 + 1/S` times the variance of the draws, and
/// `Σs` is divided by its expectation for normal draws of deviation 1: a shift is not mistaken for a spread because
/// deviations vary by chance.
///
/// With deviations of 1 the standard deviation of the result is `½ √((κ − 1)/n)`, with the kurtosis `κ` of the errors.
/// Half of `1/n²` is added to `(κ − 1)/n` for errors whose squares are all but equal.
///
/// - rows: weights, and errors
/// - draws: the number `S` of draws, 2 or more, if deviations are those of draws
pub(super) fn log_ratio(rows: &[(f64, PredictedError)], draws: Option<f64>) -> Studentised {
    let sum = |of: &dyn Fn(f64, PredictedError) -> f64| -> f64 {
        rows.iter().map(|(w, row)| of(*w, *row)).sum()
    };
    let (total, squares) = (sum(&|w, _| w), sum(&|w, _| w * w));
    let mean = |of: &dyn Fn(PredictedError) -> f64| sum(&|w, row| w * of(row)) / total;
    let error = mean(&|row| row.error);
    let square = mean(&|row| row.error * row.error);
    let deviation = mean(&|row| row.deviation);
    let variance = mean(&|row| row.deviation * row.deviation);
    if rows.len() < 2 || square.max(variance) == 0.0 {
        return Studentised::NONE;
    }
    let inflation = draws.map_or(1.0, |draws| 1.0 + draws.recip());
    let bias = draws.map_or(1.0, mean_deviation);
    let shift = if deviation > 0.0 {
        bias * error / deviation
    } else {
        0.0
    };
    // about the mean, not as a difference of means: no digits are lost to a large shift
    let own = |row: PredictedError| {
        let (e, s) = (row.error, row.deviation);
        let about = e - shift * s;
        about * about + 2.0 * shift * s * about
    };
    let found = mean(&own).max(LEAST_SHARE * square);
    let slope = if deviation > 0.0 {
        2.0 * shift * variance / deviation
    } else {
        0.0
    };
    let relative = |value: f64, mean: f64| if mean > 0.0 { value / mean } else { 1.0 };
    let difference = sum(&|w, row| {
        let from_shift = slope * (bias * (row.error - error) - shift * (row.deviation - deviation));
        let difference = relative(own(row) - from_shift, found)
            - relative(row.deviation * row.deviation, variance);
        w * w * (difference * difference)
    });
    let effective = total * total / squares;
    // Σw and Σw² are n where there are no weights
    let ratio = found * total / (total - squares / total) / (variance * inflation);
    let of_ratio = difference / (total * total) + 0.5 * effective.powi(-2);
    Studentised {
        estimate: 0.5 * ratio.clamp(LARGEST_RATIO.recip(), LARGEST_RATIO).ln(),
        deviation: 0.5 * of_ratio.sqrt(),
    }
}

/// The expected standard deviation, by the number less one, of so many draws of the standard normal distribution.
fn mean_deviation(draws: f64) -> f64 {
    let degrees = draws - 1.0;
    (ln_gamma(0.5 * draws) - ln_gamma(0.5 * degrees)).exp() * (2.0 / degrees).sqrt()
}

/// Two numbers of a row, and its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pair {
    pub weight: f64,
    pub x: f64,
    pub y: f64,
}

/// The residuals of the regression of `y` on a constant and `x`.
pub(super) fn residuals(rows: &[Pair]) -> Vec<f64> {
    let sum =
        |of: &dyn Fn(&Pair) -> f64| -> f64 { rows.iter().map(|row| row.weight * of(row)).sum() };
    let total = sum(&|_| 1.0);
    let [x, y] = [sum(&|row| row.x) / total, sum(&|row| row.y) / total];
    let square = sum(&|row| (row.x - x).powi(2));
    let slope = if is_constant(square, x, total) {
        0.0
    } else {
        sum(&|row| (row.x - x) * (row.y - y)) / square
    };
    let residual = |row: &Pair| row.y - y - slope * (row.x - x);
    rows.iter().map(residual).collect()
}

/// Whether numbers are equal, by the sum of their squared distances from the mean, which is off by rounding.
fn is_constant(square: f64, mean: f64, total: f64) -> bool {
    square.sqrt() <= 1e-12 * mean.abs() * total.sqrt()
}

/// The correlation of two numbers. The deviation is the larger of that of independent numbers, and of that found from
/// the products, which is right where the variance of one number depends on the other as well (White 1980). Numbers
/// that are all equal have no correlation.
pub(super) fn correlation(rows: impl Iterator<Item = Pair> + Clone) -> Studentised {
    let (mut total, mut x, mut y) = (0.0, 0.0, 0.0);
    for row in rows.clone() {
        total += row.weight;
        x += row.weight * row.x;
        y += row.weight * row.y;
    }
    let (mean_x, mean_y) = (x / total, y / total);
    let (mut squares, mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0, 0.0);
    for Pair { weight, x, y } in rows.clone() {
        let (x, y) = (x - mean_x, y - mean_y);
        squares += weight * weight;
        xx += weight * (x * x);
        yy += weight * (y * y);
        xy += weight * (x * y);
    }
    let scale = xx.sqrt() * yy.sqrt();
    if is_constant(xx, mean_x, total) || is_constant(yy, mean_y, total) {
        return Studentised::NONE;
    }
    let mean = xy / total;
    let products = rows.map(|Pair { weight, x, y }| {
        let product = weight * ((x - mean_x) * (y - mean_y) - mean) / scale;
        product * product
    });
    let found: f64 = products.sum();
    Studentised {
        estimate: xy / scale,
        deviation: found.max(squares / (total * total)).sqrt(),
    }
}

/// The ranks of numbers from 0 on. Equal numbers have the mean of theirs.
pub(super) fn mid_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let rank = before as f64 + 0.5 * (equal.len() - 1) as f64;
        equal.iter().for_each(|&at| ranks[at] = rank);
        before += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of equal weights with predicted deviations of 1.
    fn errors(errors: &[f64]) -> Vec<(f64, PredictedError)> {
        let row = |&error: &f64| PredictedError {
            error,
            deviation: 1.0,
        };
        errors.iter().map(|error| (1.0, row(error))).collect()
    }

    fn pairs(pairs: &[[f64; 2]]) -> impl Iterator<Item = Pair> + Clone {
        pairs.iter().map(|&[x, y]| Pair { weight: 1.0, x, y })
    }

    fn near(found: Studentised, estimate: f64, deviation: f64) {
        let is_near = |a: f64, b: f64| (a - b).abs() < 1e-8;
        let is_right = is_near(found.estimate, estimate) && is_near(found.deviation, deviation);
        assert!(is_right, "{found:?}, {estimate}, {deviation}");
    }

    #[test]
    fn means_by_hand() {
        let without_steps = |numbers: &[f64]| {
            let rows = numbers.iter().map(|&mean| OverStep {
                mean,
                variance: 0.0,
            });
            mean(rows.map(|row| (1.0, row)))
        };
        near(
            without_steps(&[0.1, -0.1]),
            0.0,
            (2.0 / 12.0f64).sqrt() / 2.0,
        );
        near(without_steps(&[0.5, 0.5]), 0.5, 0.5f64.sqrt() / 2.0);
    }

    /// The values are by NumPy.
    #[test]
    fn ratios_of_variances() {
        let five = [0.5, -1.0, 2.0, 0.25, -1.5];
        let expected = [0.317_626_601_070_521_43, 0.221_915_332_122_269_63];
        near(log_ratio(&errors(&five), None), expected[0], expected[1]);
        // a shift changes nothing
        let shifted = five.map(|error| error + 7.0);
        near(log_ratio(&errors(&shifted), None), expected[0], expected[1]);
        // other predicted deviations, and weights
        let deviations = [1.0, 0.5, 2.0, 0.25, 1.5];
        let weights = [1.0, 2.0, 0.5, 1.0, 0.5];
        let rows = five.iter().zip(deviations).zip(weights);
        let rows: Vec<_> = rows
            .map(|((&error, deviation), w)| (w, PredictedError { error, deviation }))
            .collect();
        near(log_ratio(&rows, None), 0.197069979, 0.127886991);
        near(log_ratio(&rows, Some(5.0)), 0.109213381, 0.129353815);
        // √(2/π), and that of many draws
        assert!((mean_deviation(2.0) - 0.797_884_560_802_865_4).abs() < 1e-12);
        assert!((mean_deviation(1e4) - 1.0).abs() < 1e-4);
    }

    #[test]
    fn degenerate_errors() {
        assert_eq!(log_ratio(&errors(&[7.0]), None), Studentised::NONE);
        let zero = PredictedError {
            error: 0.0,
            deviation: 0.0,
        };
        assert_eq!(log_ratio(&[(1.0, zero); 3], None), Studentised::NONE);
        // κ = 1: two errors, equal errors, and no predicted variance
        let two = log_ratio(&errors(&[3.0, 5.0]), None);
        near(two, 0.5 * 2.0f64.ln(), 0.5 * 0.125f64.sqrt());
        let wrong = [-1.0, 1.0].map(|error| (1.0, PredictedError { error, ..zero }));
        for found in [log_ratio(&errors(&[7.0; 3]), None), log_ratio(&wrong, None)] {
            let statistic = found.statistic();
            assert!(statistic > 0.0 && statistic.is_finite(), "{found:?}");
        }
    }

    /// The values are by NumPy.
    #[test]
    fn correlations() {
        let rows = [[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.5], [5.0, 9.0]];
        near(
            correlation(pairs(&rows)),
            0.844_213_441_659_474,
            0.2f64.sqrt(),
        );
        // the products vary more than those of independent numbers
        let uneven = [
            [-2.0, -5.0],
            [-1.0, 0.5],
            [0.0, 0.0],
            [1.0, -0.5],
            [2.0, 2.0],
        ];
        let found = correlation(pairs(&uneven));
        near(found, 0.781_094_298_563_942_5, 0.509_476_973_968_019_6);
        let weights = [1.0, 2.0, 0.5, 1.0, 0.5];
        let weighted = pairs(&uneven).zip(weights);
        let found = correlation(weighted.map(|(pair, weight)| Pair { weight, ..pair }));
        near(found, 0.631_792_120_956_695_5, 0.536_902_901_584_878_2);
        let root = 0.5f64.sqrt();
        near(correlation(pairs(&[[-0.5, 1.0], [0.5, 3.0]])), 1.0, root);
        let [same, other] = [[0.1, 0.1, 0.1], [1.0, 3.0, 7.0]];
        for [x, y] in [[same, other], [other, same]] {
            let rows = [0, 1, 2].map(|row| [x[row], y[row]]);
            assert_eq!(correlation(pairs(&rows)), Studentised::NONE);
        }
    }

    /// By hand: a line leaves nothing, and a constant `x` leaves the distances from the mean.
    #[test]
    fn residuals_of_a_line() {
        let of = |rows: &[[f64; 2]]| residuals(&pairs(rows).collect::<Vec<_>>());
        assert_eq!(of(&[[1.0, 3.0], [2.0, 5.0], [4.0, 9.0]]), [0.0; 3]);
        assert_eq!(of(&[[1.0, 3.0], [1.0, 5.0]]), [-1.0, 1.0]);
        // y = (0, 1, 0) on x = (0, 1, 2) with weights (1, 2, 1): slope 0, mean ½
        let rows = pairs(&[[0.0, 0.0], [1.0, 1.0], [2.0, 0.0]]).zip([1.0, 2.0, 1.0]);
        let rows: Vec<_> = rows.map(|(pair, weight)| Pair { weight, ..pair }).collect();
        assert_eq!(residuals(&rows), [-0.5, 0.5, -0.5]);
    }

    #[test]
    fn ranks_with_ties() {
        assert_eq!(mid_ranks(&[5.0, 1.0, 5.0]), [1.5, 0.0, 1.5]);
        assert_eq!(mid_ranks(&[2.0; 3]), [1.0; 3]);
        assert_eq!(mid_ranks(&[]), [0.0; 0]);
    }
}
