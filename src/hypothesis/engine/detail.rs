use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal};

/// Knowledge of a number of the data beside its value.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Detail {
    /// The p-value of the hypothesis that the expectation of the number is what a calibrated model has,
    /// however else the model may be wrong; 0 where the law of the number is that of redraws as soon as
    /// what its finding says is false.
    pub least_p_value: f64,
    /// The row that the number is of, if it is of one.
    pub row: Option<usize>,
    /// The part of the data in which the number has its value, if it is one of several.
    pub place: Option<Place>,
}

/// The part of the data that a finding names, with counts, which are sums of weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Place {
    /// Labels of one class among the wrong ones of a most likely class.
    Pair {
        /// The most likely class.
        predicted: usize,
        /// The class of the labels.
        label: usize,
        /// The labels of this class.
        observed: f64,
        /// Their expectation among the wrong labels.
        expected: f64,
        /// All wrong labels where the class is the most likely.
        wrong: f64,
    },
    /// The bin of probabilities whose count is furthest from its expectation.
    Bin {
        /// The mean probability.
        probability: f64,
        /// The number of events.
        observed: f64,
        /// The expected number of events.
        expected: f64,
    },
    /// All errors of real targets.
    Errors {
        /// Their size, in the standard deviations that are predicted.
        factor: f64,
    },
    /// Two coordinates of real targets.
    Coordinates {
        /// The coordinates.
        pair: [usize; 2],
        /// The correlation of their normal scores.
        correlation: f64,
    },
    /// A real target.
    Target {
        /// Its coordinate.
        coordinate: usize,
        /// The predicted probability of targets as far out.
        probability: f64,
    },
    /// One of equal parts of the levels of real targets.
    Levels {
        /// Its number.
        part: usize,
        /// The share of the targets in it.
        share: f64,
    },
}

/// `c = 1/(4 P(Z ≥ √2))`.
pub(in crate::hypothesis) const CAUTION: f64 = 3.178;

/// The p-value of the hypothesis that a sum of independent terms has the expectation 0, on both sides:
/// `c · P(|Z| ≥ |Σ v_i|/√max(V, Σ v_i²))`, for a normal `Z` and `c` = 3.178.
///
/// A model that is wrong elsewhere has terms of another variance than its predictions say. Their own squares
/// estimate that variance, or more where expectations differ from sample to sample. For terms that are
/// symmetric about 0 the bound is exact at every size (Bentkus and Dzindzalieta 2015, who bound the
/// sum of independent signs), for others asymptotic.
///
/// - variance: `V`, that of the sum given the predictions
/// - squares: `Σ v_i²`
pub(in crate::hypothesis) fn p_value_of_sum(sum: f64, variance: f64, squares: f64) -> f64 {
    if sum.is_infinite() {
        return 0.0; // what cannot happen did
    }
    if sum == 0.0 {
        return 1.0;
    }
    let out = sum.abs() / variance.max(squares).sqrt();
    (CAUTION * 2.0 * Normal::standard().sf(out)).min(1.0)
}

/// The p-value of the hypothesis that so many of independent trials are expected, on both sides.
///
/// Of all laws of a sum of independent trials with a given mean the binomial has the heaviest tails (Hoeffding
/// 1956). Predictions that vary with the samples add to these, hence the factor.
pub(in crate::hypothesis) fn p_value_of_count(observed: f64, expected: f64, trials: f64) -> f64 {
    if (observed - expected).abs() < 1.0 {
        return 1.0;
    }
    let law = Binomial::new((expected / trials).clamp(0.0, 1.0), trials as u64);
    let (law, count) = (law.expect("a probability"), observed as u64);
    let tail = if observed > expected {
        law.sf(count - 1)
    } else {
        law.cdf(count)
    };
    (CAUTION * 2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use super::*;

    /// Against all signs of unequal terms; the least of the possible p-values is that of equal ones.
    #[test]
    fn is_a_bound_for_symmetric_terms() {
        let mut rng = StdRng::seed_from_u64(0);
        for n in 1..=12 {
            let terms: Vec<f64> = (0..n).map(|_| rng.random_range(0.1..1.0)).collect();
            for terms in [terms, vec![1.0; n as usize]] {
                let squares: f64 = terms.iter().map(|v| v * v).sum();
                let sum = |signs: u32| -> f64 {
                    let signed = terms.iter().enumerate();
                    signed
                        .map(|(i, v)| if signs >> i & 1 == 1 { *v } else { -v })
                        .sum()
                };
                let p: Vec<f64> = (0..1 << n)
                    .map(|signs| p_value_of_sum(sum(signs), 0.0, squares))
                    .collect();
                for &level in &p {
                    let share = p.iter().filter(|p| **p <= level + 1e-12).count() as f64;
                    assert!(share / p.len() as f64 <= level + 1e-3, "{n}: {level}");
                }
            }
        }
        assert_eq!(p_value_of_sum(f64::INFINITY, 1.0, f64::INFINITY), 0.0);
        assert_eq!(p_value_of_sum(0.0, 0.0, 0.0), 1.0);
        let constant = 0.25 / Normal::standard().sf(2f64.sqrt());
        assert!((CAUTION - constant).abs() < 1e-3, "{constant}");
    }
}
