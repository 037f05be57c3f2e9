use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, DiscreteCDF};

use crate::error::{Result, check_inside};

/// A consistency band at one place of a diagram. It is serialized as an array of both ends.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "[f64; 2]", into = "[f64; 2]")]
pub struct Band {
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
}

impl Band {
    /// Returns whether a number lies in the band.
    pub fn contains(self, number: f64) -> bool {
        (self.lower..=self.upper).contains(&number)
    }

    /// Whether a sum of weights lies in the band, whose ends are sums of the same weights in another order.
    pub(super) fn contains_sum(self, sum: f64) -> bool {
        const ROUNDING: f64 = 1e-12;
        (self.lower * (1.0 - ROUNDING)..=self.upper * (1.0 + ROUNDING)).contains(&sum)
    }
}

impl From<[f64; 2]> for Band {
    fn from([lower, upper]: [f64; 2]) -> Self {
        Self { lower, upper }
    }
}

impl From<Band> for [f64; 2] {
    fn from(band: Band) -> Self {
        [band.lower, band.upper]
    }
}

/// Checks that the level of a band is a probability other than 0 and 1.
pub(super) fn check_level(level: f64) -> Result<()> {
    check_inside("the level of a consistency band", level)
}

/// The consistency band of a bin: the central interval in which the frequency of an event lies with
/// probability at least `level` if it occurs with the given probabilities, independently.
///
/// The number of occurrences has a Poisson binomial distribution, which Bröcker and Smith 2007
/// approximate by redrawing the labels; here it is computed, so that there is no seed and no noise of
/// resampling. They resample the predictions too; given the predictions the band is exact. With
/// `α = 1 − level` the counts below the band have a probability of at most `α/2`, and those above as
/// well.
///
/// Cost: `O(n·s)` for the standard deviation `s ≤ √n/2` of the count.
pub(super) fn consistency_band(probabilities: &[f64], level: f64) -> Band {
    let tail = 0.5 * (1.0 - level);
    let (first, masses) = poisson_binomial(probabilities);
    let quantile = |reached: &dyn Fn(f64) -> bool| {
        let mut below = 0.0;
        let at = masses.iter().position(|mass| {
            below += mass;
            reached(below)
        });
        let count = first + at.unwrap_or(masses.len() - 1);
        count as f64 / probabilities.len() as f64
    };
    Band {
        lower: quantile(&|below| below > tail),
        upper: quantile(&|below| below >= 1.0 - tail),
    }
}

/// The same for a weighted frequency: order statistics of redraws, outside which that of a calibrated model lies with
/// probability `1 − level` or less.
pub(super) fn weighted_band(probabilities: &[f64], weights: &[f64], level: f64) -> Band {
    let mut rng = StdRng::seed_from_u64(0);
    let total: f64 = weights.iter().sum();
    let mut frequency = |_| {
        let rows = probabilities.iter().zip(weights);
        let hits = rows.filter(|(p, _)| rng.random::<f64>() < **p);
        hits.fold(0.0, |sum, (_, weight)| sum + weight) / total
    };
    let mut drawn: Vec<f64> = (0..REDRAWS).map(&mut frequency).collect();
    band_of_redraws(&mut drawn, level)
}

const REDRAWS: usize = 1999;

/// The band of a frequency by those of redraws: order statistics, as `P(T < k-th smallest of R redraws) ≤ k/(R + 1)` for
/// `T` like them. All frequencies where the redraws are too few for the level.
pub(super) fn band_of_redraws(drawn: &mut [f64], level: f64) -> Band {
    drawn.sort_by(f64::total_cmp);
    let redraws = drawn.len();
    let [lower, upper] = match (0.5 * (1.0 - level) * (redraws + 1) as f64 + 1e-9).floor() as usize
    {
        0 => [0.0, 1.0],
        k => [drawn[k - 1], drawn[redraws - k]],
    };
    Band { lower, upper }
}

/// Masses below this are dropped, at both ends and at each step: of a million samples together less than 10⁻¹¹.
const NEGLIGIBLE: f64 = 1e-18;

/// The distribution of the number of successes: the smallest number that is held, and the
/// probability of it and of those that follow.
fn poisson_binomial(probabilities: &[f64]) -> (usize, Vec<f64>) {
    let (mut first, mut masses) = (0, vec![1.0]);
    for p in probabilities {
        masses.push(0.0);
        for k in (1..masses.len()).rev() {
            masses[k] = masses[k] * (1.0 - p) + masses[k - 1] * p;
        }
        masses[0] *= 1.0 - p;
        let dropped = masses.iter().take_while(|&&mass| mass < NEGLIGIBLE).count();
        masses.drain(..dropped);
        first += dropped;
        while masses.last().is_some_and(|&mass| mass < NEGLIGIBLE) {
            masses.pop();
        }
    }
    (first, masses)
}

/// The consistency band of a count of `samples` independent events of equal probability, in counts:
/// as [`consistency_band`], at a cost that does not grow with their number.
pub(super) fn binomial_band(samples: usize, probability: f64, level: f64) -> [usize; 2] {
    let tail = 0.5 * (1.0 - level);
    let count = Binomial::new(probability, samples as u64).expect("a probability");
    [tail, 1.0 - tail].map(|below| count.inverse_cdf(below) as usize)
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use statrs::distribution::Discrete;

    use super::*;

    #[test]
    fn three_coins_by_hand() {
        let (first, masses) = poisson_binomial(&[0.5, 0.2, 1.0]);
        assert_eq!((first, masses.len()), (1, 3));
        for (mass, expected) in masses.iter().zip([0.4, 0.5, 0.1]) {
            assert_relative_eq!(*mass, expected, max_relative = 1e-14);
        }
    }

    #[test]
    fn equal_probabilities_are_binomial() {
        let (n, p) = (5000, 0.97);
        let (first, masses) = poisson_binomial(&vec![p; n]);
        assert!(masses.len() < 300, "{}", masses.len());
        let binomial = Binomial::new(p, n as u64).unwrap();
        for (k, mass) in masses.iter().enumerate() {
            let expected = binomial.pmf((first + k) as u64);
            assert!((mass - expected).abs() < 1e-12, "{mass} {expected}");
        }
        assert_relative_eq!(masses.iter().sum::<f64>(), 1.0, max_relative = 1e-12);
    }

    /// Both tails hold at most α/2, and one count less on either side would hold more outside.
    #[test]
    fn the_band_is_central_and_tight() {
        let probabilities: Vec<f64> = (1..=40).map(|i| f64::from(i) / 41.0).collect();
        let (first, masses) = poisson_binomial(&probabilities);
        let Band { lower, upper } = consistency_band(&probabilities, 0.9);
        let index = |frequency: f64| (frequency * 40.0).round() as usize - first;
        let below: f64 = masses[..index(lower)].iter().sum();
        let above: f64 = masses[index(upper) + 1..].iter().sum();
        assert!(below <= 0.05 && above <= 0.05, "{below} {above}");
        assert!(below + masses[index(lower)] > 0.05 && above + masses[index(upper)] > 0.05);
    }

    #[test]
    fn certain_events_have_no_width() {
        assert_eq!(consistency_band(&[1.0; 3], 0.95), [1.0; 2].into());
        assert_eq!(consistency_band(&[0.0; 3], 0.95), [0.0; 2].into());
        assert_eq!(consistency_band(&[0.5], 0.95), [0.0, 1.0].into());
    }

    #[test]
    fn equal_probabilities_have_the_same_band() {
        for (n, p, level) in [
            (1, 0.1, 0.95),
            (7, 0.5, 0.9),
            (300, 0.05, 0.99),
            (2000, 0.1, 0.95),
        ] {
            let Band { lower, upper } = consistency_band(&vec![p; n], level);
            let counts = [lower, upper].map(|frequency| (frequency * n as f64).round() as usize);
            assert_eq!(binomial_band(n, p, level), counts);
        }
        // a normal distribution with a deviation of 300
        let [low, high] = binomial_band(1_000_000, 0.1, 0.95);
        assert!((99_411..=99_413).contains(&low) && (100_587..=100_589).contains(&high));
    }
}
