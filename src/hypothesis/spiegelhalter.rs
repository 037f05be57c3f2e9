use statrs::distribution::{ContinuousCDF, Normal};

use super::{
    TestOutcome,
    engine::{EventStatistic, OfEvent, test_of_event},
};
use crate::{distribution::Weights, error::Result, estimator::Event};

/// Spiegelhalter's test (1986) of the probabilities `r_i` of an event, by the Brier score: two-sided.
///
/// ```text
/// Σ_i (r_i − c_i)² − r_i(1 − r_i) = Σ_i (c_i − r_i)(1 − 2r_i),
/// z = Σ_i (c_i − r_i)(1 − 2r_i) / √(Σ_i (1 − 2r_i)² r_i(1 − r_i))
/// ```
///
/// If the probabilities are calibrated, then given them the mean of the sum is 0 and its standard deviation
/// is the denominator, so that `z` is asymptotically standard normal: `p = 2Φ(−|z|)`. Positive `z` mean
/// overconfidence, negative ones underconfidence. It cannot find errors for which `Σ_i (c_i − r_i)(1 −
/// 2r_i)` has the expectation 0, such as a shift of all probabilities around ½. The value is the same for
/// an event and its complement.
///
/// Samples with weights `w_i` have `w_i` in the sum and `w_i²` in its variance, which is asymptotically normal as
/// well if no few samples have most of the weight.
///
/// Where all probabilities are 0, ½ or 1 there is no variance: `z` is 0 if the outcomes are those that the
/// probabilities of 0 and 1 say, and infinite otherwise.
///
/// [`outcome`](super::CalibrationTest::outcome) takes the normal distribution; [`ExactTest`] with this statistic,
/// `|z|`, redraws the labels:
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{
///     distribution::Categorical, estimator::Event,
///     hypothesis::{CalibrationTest, ExactTest, Spiegelhalter},
/// };
/// use rand::{SeedableRng, rngs::StdRng};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// // says 80 % each time, and is right half of the time: z = Σ(c − r)(−0.6)/√(Σ 0.36 · 0.16) = 7.5
/// let predictions = Categorical::from_probabilities(Tensor::from_floats([[0.2, 0.8]; 100], &device))?;
/// let labels = Tensor::<1, Int>::arange(0..100, &device).remainder_scalar(2);
/// let test = Spiegelhalter::new(Event::Class(1));
/// let mut rng = StdRng::seed_from_u64(0);
/// let outcome = test.outcome(&predictions, &labels, &mut rng)?;
/// assert!((outcome.statistic - 7.5).abs() < 1e-4 && outcome.is_bound);
/// assert_eq!(ExactTest::new(test).outcome(&predictions, &labels, &mut rng)?.p_value, 0.001);
/// # Ok(())
/// # }
/// ```
///
/// [`ExactTest`]: super::ExactTest
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use]
pub struct Spiegelhalter {
    /// The event, by default the top label.
    pub event: Event,
}

impl Spiegelhalter {
    /// Tests the probabilities of an event.
    pub fn new(event: Event) -> Self {
        Self { event }
    }
}

impl OfEvent for Spiegelhalter {
    fn event(&self) -> Event {
        self.event
    }

    fn prepare(&self, probability: &[f64], weights: &Weights) -> Result<Box<dyn EventStatistic>> {
        let samples = probability.iter().zip(weights.all(probability.len()));
        let variance = samples.map(|(r, w)| w * w * (1.0 - 2.0 * r).powi(2) * r * (1.0 - r));
        Ok(Box::new(Excess {
            probability: probability.to_vec(),
            weights: weights.clone(),
            deviation: variance.sum::<f64>().sqrt(),
        }))
    }
}

/// The probabilities and weights, and the deviation of `Σ_i w_i (c_i − r_i)(1 − 2r_i)`.
struct Excess {
    probability: Vec<f64>,
    weights: Weights,
    deviation: f64,
}

impl Excess {
    /// The sum; 0 of no excess.
    fn sum(&self, occurred: &[bool]) -> f64 {
        let weights = self.weights.all(occurred.len());
        let pairs = self.probability.iter().zip(occurred).zip(weights);
        let terms = pairs.map(|((r, &c), w)| w * ((f64::from(c) - r) * (1.0 - 2.0 * r)));
        terms.sum()
    }

    /// The sum in standard deviations, `z`; 0 of no excess.
    fn standardised(&self, sum: f64) -> f64 {
        if sum == 0.0 {
            0.0
        } else {
            sum / self.deviation
        }
    }
}

impl EventStatistic for Excess {
    fn value(&self, occurred: &[bool]) -> f64 {
        self.standardised(self.sum(occurred)).abs()
    }

    fn asymptotic(&self, occurred: &[bool]) -> Result<TestOutcome> {
        let (excess, n) = (self.sum(occurred), occurred.len());
        let z = self.standardised(excess);
        let tail = 2.0 * Normal::standard().sf(z.abs());
        let mean = excess / self.weights.total(n);
        let outcome = TestOutcome::asymptotic("Spiegelhalter's test", n, mean, z, tail);
        Ok(outcome.with_standardised(z))
    }
}

test_of_event!(
    /// The outcome by the normal distribution: the statistic is `z`, the estimate the mean of
    /// `(r − c)² − r(1 − r)`, by which the squared error is above that of a calibrated model. Nothing is
    /// drawn.
    Spiegelhalter
);
