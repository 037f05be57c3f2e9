use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

use super::{
    EXACT, TestOutcome,
    engine::{EventStatistic, OfEvent, test_of_event},
    hosmer_lemeshow::chi_squared,
    logistic_line::LogisticLine,
};
use crate::{
    distribution::{Categorical, Weights, weights_refused},
    error::{Error, Result},
    estimator::{Event, Interval, check_level},
};

/// Cox's calibration intercept and slope (1958) of the probabilities `r_i` of an event, and the
/// likelihood-ratio test that they are 0 and 1.
///
/// ```text
/// logit P(c = 1 | r) = a + b logit r,   G = 2 (sup_{a,b} ℓ(a, b) − ℓ(0, 1))
/// ```
///
/// with the log-likelihood `ℓ`. For a calibrated model `G` is asymptotically `χ²_2`. A slope below 1 is
/// overconfidence: log-odds are too far from 0; above 1 underconfidence. An intercept below 0 means that
/// the event is less frequent than predicted at a probability of ½. For calibration overall use
/// [`in_the_large`](Self::in_the_large). [`fit`](Self::fit) has the estimates with standard errors. For two
/// classes use `Event::Class(1)`: the top label has another intercept.
///
/// Where probabilities separate the outcomes the supremum lies at infinity: `G` is exact there, and there
/// is no estimate. Probabilities of 0 and 1 that come true say nothing about `a` and `b > 0` and are left
/// out; one that does not makes `G` infinite. Where all others are equal there is one degree of freedom.
///
/// [`outcome`](super::CalibrationTest::outcome) takes the `χ²` distribution;
/// [`ExactTest`](super::ExactTest) with this statistic redraws the labels. Samples with weights have the weighted
/// likelihood: their estimates have robust standard errors, and `G` has no `χ²` distribution, so that its test is the
/// exact one.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{
///     distribution::Categorical, estimator::Event, hypothesis::{CalibrationTest, Cox},
/// };
/// use rand::{SeedableRng, rngs::StdRng};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// // log-odds of ±ln 9; right in 3 of 4, log-odds of ±ln 3
/// let rows: Vec<[f32; 2]> = (0..400).map(|i| if i < 200 { [0.1, 0.9] } else { [0.9, 0.1] }).collect();
/// let labels: Vec<i32> = (0..400).map(|i| i32::from((i < 200) == (i % 4 > 0))).collect();
/// let rows = Tensor::<1>::from_floats(rows.concat().as_slice(), &device).reshape([400, 2]);
/// let predictions = Categorical::from_probabilities(rows)?;
/// let labels = Tensor::<1, Int>::from_ints(labels.as_slice(), &device);
/// let cox = Cox::new(Event::Class(1));
/// let fit = cox.fit(&predictions, &labels)?;
/// assert!(fit.intercept.estimate.abs() < 1e-5 && (fit.slope.estimate - 0.5).abs() < 1e-5);
/// let interval = fit.slope.interval(0.95)?;
/// assert!(interval.lower > 0.3 && interval.upper < 0.7);
/// let outcome = cox.outcome(&predictions, &labels, &mut StdRng::seed_from_u64(0))?;
/// assert!(outcome.is_bound); // p < 0.001
/// # Ok(())
/// # }
/// ```
///
/// Cost: a few passes of `n` exponentials, with a redraw each time as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use]
pub struct Cox {
    /// The event, by default the top label.
    pub event: Event,
}

/// Cox's intercept and slope: maximum-likelihood estimates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct CoxFit {
    /// `a`, 0 of a calibrated model.
    pub intercept: Coefficient,
    /// `b`, 1 of a calibrated model.
    pub slope: Coefficient,
}

/// An estimate that is asymptotically normal.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct Coefficient {
    /// The estimate.
    pub estimate: f64,
    /// The standard error, from the Fisher information `I` at the estimates; of samples with weights that of the
    /// sandwich `I⁻¹ Σ g gᵀ/(1 − h)² I⁻¹`, with the gradient `g` and the leverage `h` of each sample (MacKinnon and White
    /// 1985). In simulations of heavy-tailed weights with effective numbers of 14 to 90 its 95 % intervals covered 92 to
    /// 96 %.
    pub standard_error: f64,
}

impl Coefficient {
    /// The confidence interval by the normal distribution.
    ///
    /// # Errors
    ///
    /// A level that is not between 0 and 1.
    pub fn interval(&self, level: f64) -> Result<Interval> {
        check_level(level)?;
        let quantile = Normal::standard().inverse_cdf(0.5 * (1.0 + level));
        let half = quantile * self.standard_error;
        Ok(Interval {
            estimate: self.estimate,
            lower: self.estimate - half,
            upper: self.estimate + half,
            level,
        })
    }
}

impl Cox {
    /// Takes the probabilities of an event.
    pub fn new(event: Event) -> Self {
        Self { event }
    }

    /// The estimates of intercept and slope.
    ///
    /// # Errors
    ///
    /// As [`CalibrationTest::outcome`](super::CalibrationTest::outcome); and outcomes that the probabilities separate, probabilities that
    /// are all equal, and one of 0 or 1 that does not come true, for which there are no estimates.
    pub fn fit(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<CoxFit> {
        let (probability, weights, occurred) = self.data(predictions, labels)?;
        let estimates = LogisticLine::of(&probability, &weights).estimates(&occurred);
        estimates.map_err(|reason| Error::Unsupported {
            what: format!("there are no intercept and slope of Cox: {reason}"),
            expected: "outcomes of both kinds at overlapping probabilities",
        })
    }

    /// The calibration in the large (Van Calster et al. 2019): the intercept `α` with the slope fixed at 1,
    ///
    /// ```text
    /// logit P(c = 1 | r) = α + logit r,
    /// ```
    ///
    /// which is above 0 where the event is more frequent than predicted, on the whole, and below where it is
    /// less frequent; `e^α` is the factor of the odds. The standard error is that of the Fisher information at
    /// the estimate. Probabilities of 0 and 1 are left out, as above.
    ///
    /// # Errors
    ///
    /// As [`CalibrationTest::outcome`](super::CalibrationTest::outcome); and outcomes that are all the same, or a probability of 0 or 1 that
    /// does not come true, for which there is no estimate.
    pub fn in_the_large(
        &self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<Coefficient> {
        let (probability, weights, occurred) = self.data(predictions, labels)?;
        let intercept = LogisticLine::of(&probability, &weights).intercept(&occurred);
        intercept.map_err(|reason| Error::Unsupported {
            what: format!("there is no intercept of Cox: {reason}"),
            expected: "outcomes of both kinds",
        })
    }
}

impl OfEvent for Cox {
    fn event(&self) -> Event {
        self.event
    }

    fn prepare(&self, probability: &[f64], weights: &Weights) -> Result<Box<dyn EventStatistic>> {
        Ok(Box::new(LogisticLine::of(probability, weights)))
    }
}

impl EventStatistic for LogisticLine {
    fn value(&self, occurred: &[bool]) -> f64 {
        self.ratio(occurred)
    }

    fn asymptotic(&self, occurred: &[bool]) -> Result<TestOutcome> {
        if self.is_weighted() {
            return Err(weights_refused("χ² test of Cox", EXACT));
        }
        let (statistic, n) = (self.ratio(occurred), occurred.len());
        let gain = 0.5 * statistic / n as f64;
        let freedom = self.freedom();
        Ok(chi_squared("Cox's test", n, gain, statistic, freedom))
    }
}

test_of_event!(
    /// The outcome by the `χ²` distribution: the statistic is `G`, the estimate `G/2n`, the log loss that
    /// intercept and slope gain on these data, in nats. Nothing is drawn.
    Cox
);
