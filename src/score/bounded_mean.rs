use statrs::distribution::{ContinuousCDF, Normal};

use crate::{
    distribution::{Predictive, Weights},
    error::Result,
    estimator::{ASYMPTOTIC_FLOOR, Interval, MeanEstimate, check_level, student},
    root::{Evaluation, enclose, increasing_root},
};

/// Confidence limits of a mean whose terms have known bounds: they hold where few terms are large, as few
/// labels are wrong.
///
/// Student's interval takes the variance from the terms that happened. Of 50 predictions without an error
/// it knows nothing of errors. Here one more term is added for what has not happened: the smallest value
/// that a term could have taken for the lower limit, the greatest for the upper one. The limits are
/// quantiles of `Σ_i D_i x_i` with weights `D` that are uniform on the simplex (the Bayesian bootstrap of
/// `n + 1` terms; Gaffke 2005, Learned-Miller and Thomas 2019). For zeros and ones these are exactly those of
/// Clopper and Pearson (1934). For many terms they are the normal ones.
///
/// The probabilities of `Σ_i D_i x_i` are saddlepoint approximations (Lugannani and Rice 1980; Barndorff-Nielsen
/// 1986). `O(n)` each, nothing is drawn.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct BoundedMean {
    terms: Vec<f64>,
    weights: Weights,
    /// The weight of the added term: the largest.
    heaviest: f64,
    least: f64,
    greatest: f64,
    /// The mean with its standard error, where Student's limits are taken.
    student: Option<MeanEstimate>,
}

/// A value that a term could have taken, with its probability among the samples.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PossibleTerm {
    pub value: f64,
    pub probability: f64,
}

impl BoundedMean {
    /// The mean of terms that could have been between two values; terms beyond move these. An infinite bound
    /// makes the limit on its side infinite.
    ///
    /// # Panics
    ///
    /// If there is no term.
    pub fn new(terms: Vec<f64>, least: f64, greatest: f64) -> Self {
        assert!(!terms.is_empty(), "expected at least one term");
        Self {
            least: terms.iter().copied().fold(least, f64::min),
            greatest: terms.iter().copied().fold(greatest, f64::max),
            terms,
            weights: Weights::default(),
            heaviest: 1.0,
            student: None,
        }
    }

    /// The weighted mean of the same terms. The limits are quantiles of `Σ w_i D_i x_i/Σ w_i D_i`, where the added term
    /// has the largest of the weights: what has not happened could have happened there (Fay and Feuer 1997).
    pub fn with_weights(self, weights: Weights) -> Self {
        Self {
            heaviest: weights.all(self.terms.len()).fold(0.0, f64::max),
            weights,
            ..self
        }
    }

    /// The mean of terms of which data can have missed some: lists of values with their probabilities. The bounds are
    /// the most extreme value of a list that has a probability of 5 % or more among all samples, or of three eighths
    /// of the expected number of values of the list where that is less.
    pub(crate) fn with_missed(
        terms: Vec<f64>,
        lists: impl IntoIterator<Item = Vec<PossibleTerm>>,
    ) -> Self {
        let [least, greatest] = extremes(lists);
        Self::new(terms, least, greatest)
    }

    /// The mean of terms without bounds of which data can have missed some, see [`with_missed`](Self::with_missed).
    ///
    /// Where a term is further from the mean than the lists expect, they do not tell how far terms go: the bound is
    /// three times as far as the most extreme term. (Of squares of normal numbers, 8 of them, limits of 95 % with the
    /// most extreme term as the bound hold in 83 of 100 cases, with this one in 95.)
    pub(crate) fn without_bounds(
        terms: Vec<f64>,
        weights: &Weights,
        lists: impl IntoIterator<Item = Vec<PossibleTerm>>,
    ) -> Self {
        let weighted = terms.iter().zip(weights.all(terms.len()));
        let mean = weighted.map(|(x, w)| w * x).sum::<f64>() / weights.total(terms.len());
        let [least, greatest] = extremes(lists);
        let bound = |expected: f64, extreme: f64| {
            let beyond = (extreme - mean) / (expected - mean);
            let told = (0.0..=1.0).contains(&beyond);
            if told {
                expected
            } else {
                mean + 3.0 * (extreme - mean)
            }
        };
        let lowest = terms.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self::new(terms, bound(least, lowest), bound(greatest, highest))
    }

    /// The mean of scores, or of their differences, of which data can have missed some, with Student's limits where the
    /// terms show that these hold.
    pub(super) fn of_differences(
        terms: Vec<f64>,
        weights: Weights,
        missed: Vec<Vec<PossibleTerm>>,
        are_classes: bool,
    ) -> Self {
        let (mean, most) = if are_classes {
            (Self::with_missed(terms, missed), MOST_SKEWNESS)
        } else {
            let mean = Self::without_bounds(terms, &weights, missed);
            (mean, MOST_SKEWNESS_UNBOUNDED)
        };
        mean.with_weights(weights).or_student(most)
    }

    /// The mean of the scores of predictions. What data can have missed are the scores that a calibrated model could
    /// have.
    ///
    /// - scores: of the predictions without weights, for some targets, which may be infinite
    ///
    /// # Errors
    ///
    /// Those of the scores.
    pub(crate) fn of_scores<P: Predictive>(
        predictions: &P,
        terms: Vec<f64>,
        scores: impl Fn(&P::Targets) -> Result<Vec<f64>>,
    ) -> Result<Self> {
        let of_targets = |(targets, probabilities): (P::Targets, Vec<f64>)| {
            let pairs = scores(&targets)?.into_iter().zip(probabilities);
            let possible = |(value, probability)| PossibleTerm { value, probability };
            Ok(pairs.map(possible).collect())
        };
        let missed = predictions.expected_targets().into_iter().map(of_targets);
        let (missed, weights) = (missed.collect::<Result<_>>()?, predictions.parted().1);
        let are_classes = predictions.expected_errors().is_some();
        Ok(Self::of_differences(terms, weights, missed, are_classes))
    }

    /// The same mean with the limits and p-values of Student, where the terms show that these hold: the skewness of
    /// their sum is at most `most`, and at most twice that with the term that is added for what has not happened, on
    /// either side. Student's limits are narrower, by a tenth to a half where few terms are large.
    ///
    /// The skewness of a sum moves the levels of Student's limits in proportion. Twenty rare events have one of 0.22,
    /// with which limits of 95 % hold in 94 of 100 cases. `docs/levels.md` has simulations.
    pub(super) fn or_student(self, most: f64) -> Self {
        let mean = MeanEstimate::weighted(&self.terms, &self.weights);
        let skewness = |added: f64, weight: f64| {
            let terms = self.terms.iter().zip(self.weights.all(self.terms.len()));
            let distances = terms.chain([(&added, weight)]);
            let distances = distances.map(|(x, w)| w * (x - mean.estimate));
            let unit = (distances.clone()).fold(0.0, |unit: f64, x| unit.max(x.abs()));
            let sum = |power| {
                distances
                    .clone()
                    .map(|x| (x / unit).powi(power))
                    .sum::<f64>()
            };
            (sum(3) / sum(2).powf(1.5)).abs() // NaN where all are equal, or one is infinite
        };
        let is_even = mean.effective >= 2.0
            && skewness(mean.estimate, 0.0) <= most
            && [self.least, self.greatest]
                .into_iter()
                .all(|added| skewness(added, self.heaviest) <= 2.0 * most);
        Self {
            student: is_even.then_some(mean),
            ..self
        }
    }

    /// Whether the limits are Student's.
    pub(super) fn is_student(&self) -> bool {
        self.student.is_some()
    }

    /// The terms.
    pub(crate) fn terms(&self) -> &[f64] {
        &self.terms
    }

    /// The weighted mean of the terms.
    pub(crate) fn estimate(&self) -> f64 {
        MeanEstimate::weighted(&self.terms, &self.weights).estimate
    }

    /// The two-sided confidence interval of the expectation of the mean. From one term all numbers.
    ///
    /// # Errors
    ///
    /// A level that is not between 0 and 1.
    pub fn interval(&self, level: f64) -> Result<Interval> {
        if let Some(mean) = self.student {
            return mean.interval(level);
        }
        check_level(level)?;
        let z = normal_quantile(level);
        let (least, greatest) = (self.least, self.greatest);
        Ok(Interval {
            estimate: self.estimate(),
            lower: self.quantile(least, -z),
            upper: self.quantile(greatest, z),
            level,
        })
    }

    /// The lower end of the [two-sided interval](Self::interval).
    pub(crate) fn lower_limit(&self, level: f64) -> Result<f64> {
        Ok(self.interval(level)?.lower)
    }

    /// The one-sided p-value of the hypothesis that the expectation is at most `mean`. At least 0.001.
    pub(crate) fn p_value_above(&self, mean: f64) -> f64 {
        self.tails(mean)[0].max(ASYMPTOTIC_FLOOR)
    }

    /// The one-sided p-value of the hypothesis that the expectation is at least `mean`. At least 0.001.
    pub(crate) fn p_value_below(&self, mean: f64) -> f64 {
        self.tails(mean)[1].max(ASYMPTOTIC_FLOOR)
    }

    /// The two-sided p-value of the hypothesis that the expectation is `mean`. At least 0.001, as of every
    /// approximation; up to a level of 99.9 % it is below `1 − level` where the interval of that level excludes
    /// the mean, and only there.
    pub fn p_value(&self, mean: f64) -> f64 {
        let [below, above] = self.tails(mean);
        (2.0 * below.min(above)).clamp(ASYMPTOTIC_FLOOR, 1.0)
    }

    /// The probabilities that the expectation is at most a value, and at least, by the limits; 1 from one term.
    fn tails(&self, value: f64) -> [f64; 2] {
        if self.terms.len() < 2 {
            return [1.0; 2];
        }
        if let Some(mean) = self.student {
            let t = (mean.estimate - value) / mean.standard_error;
            return [t, -t].map(|t| student::upper_tail(t, mean.effective - 1.0));
        }
        let roots = self.roots(value);
        [roots[0], -roots[1]].map(|root| Normal::standard().cdf(root))
    }

    /// The quantiles of the standard normal distribution at the probabilities that the expectation is at most a value,
    /// with what has not happened on the side of the lower limit, and of the upper one.
    pub(super) fn roots(&self, value: f64) -> [f64; 2] {
        [self.least, self.greatest].map(|added| self.root(added, value))
    }

    /// The value with `P(Σ D x ≤ value) = Φ(z)`, with one more term.
    fn quantile(&self, added: f64, z: f64) -> f64 {
        if self.terms.len() < 2 {
            return f64::INFINITY.copysign(z);
        }
        if added.is_infinite() {
            return added;
        }
        let low = self.terms.iter().copied().fold(added, f64::min);
        let high = self.terms.iter().copied().fold(added, f64::max);
        crossing([low, high], z, |value| self.root(added, value))
    }

    /// `r` with `P(Σ D x ≤ value) ≈ Φ(r)`, with one more term: `Σ E_i (x_i − value) ≤ 0` of exponential `E`.
    fn root(&self, added: f64, value: f64) -> f64 {
        if added.is_infinite() {
            // a weight of nearly 0 for a term without a bound moves the sum there
            return if added < 0.0 {
                f64::INFINITY
            } else {
                f64::NEG_INFINITY
            };
        }
        let weights = self.weights.all(self.terms.len()).chain([self.heaviest]);
        let distances = || {
            let terms = self.terms.iter().chain([&added]).zip(weights.clone());
            terms.map(|(x, w)| w * (x - value))
        };
        let least = distances().fold(f64::INFINITY, f64::min);
        let greatest = distances().fold(f64::NEG_INFINITY, f64::max);
        if least >= 0.0 || greatest <= 0.0 {
            return match (least, greatest) {
                (0.0, 0.0) => 0.0,
                (0.0.., _) => f64::NEG_INFINITY,
                _ => f64::INFINITY,
            };
        }
        let unit = greatest.max(-least);
        let scaled = || distances().map(|x| x / unit);
        let slope = |s: f64| {
            let [mut value, mut derivative] = [0.0; 2];
            for x in scaled() {
                let ratio = x / (1.0 - s * x);
                value += ratio;
                derivative += ratio * ratio;
            }
            Evaluation { value, derivative }
        };
        // the ends are poles, and the root is further from these than rounding: by a share of about 1/n
        let [low, high] = [least, greatest].map(|end| unit / end * (1.0 - 1e-14));
        let (s, _) = increasing_root(slope, low..=high, 0.0, 1e-14 * (high - low), 200);
        let (mut generating, mut second, mut third) = (0.0, 0.0, 0.0);
        for x in scaled() {
            let ratio = x / (1.0 - s * x);
            generating -= (-s * x).ln_1p();
            second += ratio * ratio;
            third += 2.0 * ratio.powi(3);
        }
        let signed = s.signum() * (-2.0 * generating).max(0.0).sqrt();
        let skewness = third / (6.0 * second.powf(1.5));
        if signed.abs() < 1e-4 {
            signed + skewness
        } else {
            signed + (s * second.sqrt() / signed).ln() / signed
        }
    }
}

/// The value in a range at which a rising function, a quantile of the standard normal distribution, is `z`; that which
/// lies further out, of two that are [`PRECISION`] of the range apart.
pub(super) fn crossing([low, high]: [f64; 2], z: f64, root: impl Fn(f64) -> f64) -> f64 {
    let width = PRECISION * (high - low);
    let [below, above] = enclose([low, high], width, |value| root(value) - z);
    if z < 0.0 { below } else { above }
}

/// The width at which a search ends, as a share of its range.
const PRECISION: f64 = 1e-10;

/// The largest skewness of a sum with which Student's limits are taken, of terms with bounds.
pub(super) const MOST_SKEWNESS: f64 = 0.25;
/// The same of terms whose tails are not known.
pub(super) const MOST_SKEWNESS_UNBOUNDED: f64 = 0.2;

/// Least probability, among all samples, of a term that data can have missed.
const SELDOM: f64 = 0.05;

/// The same as a share of the expected number of terms of a list, if that is less. Of a list with 0.06 expected terms,
/// 5 % would be one of the least extreme.
const SHARE: f64 = 0.375;

/// The least and the greatest value of lists: of each that which has a probability of [`SELDOM`] or [`SHARE`].
fn extremes(lists: impl IntoIterator<Item = Vec<PossibleTerm>>) -> [f64; 2] {
    let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
    for mut missed in lists {
        missed.retain(|term| !term.value.is_nan() && term.probability > 0.0);
        missed.sort_by(|a, b| a.value.total_cmp(&b.value));
        least = seldom_value(missed.iter()).map_or(least, |value| least.min(value));
        greatest = seldom_value(missed.iter().rev()).map_or(greatest, |value| greatest.max(value));
    }
    [least, greatest]
}

/// The first value up to which the probabilities add up to [`SELDOM`], or to that [`SHARE`] of their sum if it is less.
fn seldom_value<'a>(mut terms: impl Iterator<Item = &'a PossibleTerm> + Clone) -> Option<f64> {
    let all: f64 = terms.clone().map(|term| term.probability).sum();
    let mut sum = 0.0;
    let seldom = terms.find(|term| {
        sum += term.probability;
        sum >= SELDOM.min(SHARE * all)
    });
    seldom.map(|term| term.value)
}

/// The quantile of the two-sided level.
pub(super) fn normal_quantile(level: f64) -> f64 {
    Normal::standard().inverse_cdf(0.5 * (1.0 + level))
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::StdRng};
    use rand_distr::StandardNormal;

    use super::*;

    fn possible(value: f64, probability: f64) -> PossibleTerm {
        PossibleTerm { value, probability }
    }

    /// The rule of Student's limits, with skewness by hand: of `n` events and as many others 0, and with one more
    /// event; of one event among `n` nearly 1.
    #[test]
    fn student_of_even_terms_alone() {
        let events = |n: usize, count: usize| {
            let terms = (0..n).map(|i| f64::from(u8::from(i < count))).collect();
            BoundedMean::new(terms, 0.0, 1.0).or_student(MOST_SKEWNESS)
        };
        assert!(events(20, 10).is_student() && events(1000, 20).is_student());
        // (1 − 2p)/√(n p (1 − p)) is 0.27, and 0.99
        assert!(!events(100, 10).is_student() && !events(1000, 1).is_student());
        assert!(!events(20, 0).is_student() && !events(1, 1).is_student());
        let (even, mean) = (events(20, 10), MeanEstimate::of(events(20, 10).terms()));
        assert_eq!(even.interval(0.9).unwrap(), mean.interval(0.9).unwrap());
        assert_eq!(even.p_value(0.5), 1.0);
        let limit = even.interval(0.9).unwrap().lower;
        assert!((even.p_value_above(limit) - 0.05).abs() < 1e-9);
        assert!((even.p_value_below(1.0 - limit) - 0.05).abs() < 1e-9);
        let open = BoundedMean::new(vec![-1.0, 1.0, -1.0, 1.0], f64::NEG_INFINITY, 1.0);
        assert!(!open.or_student(MOST_SKEWNESS).is_student());
    }

    /// Events that are expected 0.04, 0.06, 0.2 and 2 times among all samples: the bound stays near the most extreme one,
    /// also where 5 % is most of their probability.
    #[test]
    fn rare_events_are_bounded_by_extreme_ones() {
        for (each, bound) in [(0.002, 12.0), (0.003, 12.0), (0.01, 15.0), (0.1, 19.0)] {
            let events = (0..20).map(|i| possible(f64::from(i), each)).collect();
            let mean = BoundedMean::with_missed(vec![-0.5; 20], [events]);
            assert_eq!(mean.greatest, bound, "{each}");
        }
    }

    /// Squares of normal numbers, 16 times as large as the lists expect.
    #[test]
    fn limits_hold_without_bounds() {
        let mut rng = StdRng::seed_from_u64(370);
        let mut square = |scale: f64| scale * rng.sample::<f64, _>(StandardNormal).powi(2);
        let mut held = 0;
        for _ in 0..400 {
            let terms: Vec<f64> = (0..8).map(|_| square(16.0)).collect();
            let expected = (0..8).map(|_| possible(square(1.0), 1.0)).collect();
            let mean = BoundedMean::without_bounds(terms, &Weights::default(), [expected]);
            let interval = mean.interval(0.95).unwrap();
            held += i32::from(interval.lower <= 16.0 && 16.0 <= interval.upper);
        }
        // 93 % less three standard errors
        assert!(held >= 357, "{held}");
        // as expected, the bounds are those of the lists
        let list = vec![possible(-2.0, 1.0), possible(2.0, 1.0)];
        let terms = vec![-1.0, 0.5, 1.0];
        assert_eq!(
            BoundedMean::without_bounds(terms.clone(), &Weights::default(), [list.clone()]),
            BoundedMean::with_missed(terms, [list])
        );
    }
}
