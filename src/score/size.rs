use burn::tensor::{Int, Tensor};

use super::{
    BoundedMean, ErrorSize, MeanEstimate,
    bounded_mean::MOST_SKEWNESS,
    error_size::{FEWEST_ERRORS, QuadraticSize, SizeLaw},
};
use crate::{
    distribution::{Categorical, Geometry, Marginals, Predictive},
    error::{Result, check_parameter, check_samples},
    estimator::{
        Binning, Event, EventBin, JointKernel, PairMatrix, ScoredSample, Skce, SkceForm, Tce,
        TceForm, regression::IntervalCoverage,
    },
    ops::Computation,
};

/// A calibration error whose size can be estimated with its sampling error: [`Skce`], [`Tce`] (unbiased),
/// [`Overconfidence`].
///
/// With enough samples a test rejects every model, even for errors that matter little. So also ask how
/// large the error is ([`ErrorSize::interval`]), and whether it is above a tolerance
/// ([`ToleranceTest`](crate::hypothesis::ToleranceTest)).
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{distribution::Categorical, score::{Overconfidence, Quantify}};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// let predictions = Categorical::from_probabilities(Tensor::from_floats([[0.9, 0.1]; 400], &device))?;
/// let labels = Tensor::<1, Int>::arange(0..400, &device).remainder_scalar(5).equal_elem(0).int();
/// // 90 % sure, right in 80 %
/// let interval = Overconfidence::default().size(&predictions, &labels)?.interval(0.95)?;
/// assert!((interval.estimate - 0.1).abs() < 1e-6);
/// assert!(interval.lower > 0.05 && interval.upper < 0.15);
/// # Ok(())
/// # }
/// ```
pub trait Quantify<P: Predictive = Categorical> {
    /// Estimates the error and its sampling error.
    ///
    /// # Errors
    ///
    /// Predictions or targets that are not valid, or too few samples.
    fn size(&self, predictions: &P, targets: &P::Targets) -> Result<ErrorSize>;
}

/// Unbiased: the jackknife of the U-statistic as [`Skce::improvement`], or the blocks of
/// [`SkceForm::Block`]. In expectation the squared standard error is never below the variance. But it is small
/// where the estimate happens to be small, and the interval of Student would end below the error. So the interval
/// is the hull of that and of all `θ` with `(estimate − θ)² ≤ t² (v + s θ)`: the variance is `v` of a calibrated
/// model and grows with the error. Here `v` is `2 Σ_{i≠j} h_ij² / (n(n−1))²`, and `s` is the ratio of the squared
/// standard error and the estimate, at most the bound `4 √(v/2)`. Blocks have the interval of Student; its upper
/// end is above 0 where the estimate is negative.
///
/// For classes there is no interval where fewer than 20 labels are wrong
/// ([`TooFewErrors`](crate::error::Error::TooFewErrors)): such residuals do not tell the variance. Blocks
/// of `B` need more, so that 20 pairs of wrong labels can be expected within blocks: `√(40 n/(B − 1))`.
/// Simulated coverage is in `docs/levels.md`.
///
/// The draws of [`Samples`](crate::distribution::Samples) of one dimension are taken for draws of a
/// distribution that is not known, as by tests ([`PairMatrix::fair`]): of a calibrated model the
/// estimate has mean 0, and is not that of [`Skce`] as an [`Estimator`](crate::estimator::Estimator), which
/// takes the draws for the whole distribution.
///
/// Cost: `n²·m` operations in tiles, `n·B·m` for blocks.
impl<P: Geometry, K: JointKernel<P>> Quantify<P> for Skce<K> {
    fn size(&self, predictions: &P, targets: &P::Targets) -> Result<ErrorSize> {
        let (predictions, weights) = predictions.parted();
        self.form.check_size(predictions.len())?;
        if !matches!(self.form, SkceForm::Block(_)) {
            let what = "a jackknife standard error of the SKCE";
            check_samples(what, 3, predictions.len())?;
        }
        let n = predictions.len() as f64;
        let needed = match self.form {
            // e² (B − 1)/(2 n) pairs of e wrong labels are in one block
            SkceForm::Block(size) => {
                let pairs = FEWEST_ERRORS as f64;
                let errors = (2.0 * n * pairs / (size as f64 - 1.0)).sqrt();
                FEWEST_ERRORS.max(errors.ceil() as usize)
            }
            _ => FEWEST_ERRORS,
        };
        let pairs = PairMatrix::fair(&self.kernel, Computation::Auto, &predictions, targets)?
            .weighted(&weights);
        let unbiased = pairs.unbiased_values(self.form);
        let power = MeanEstimate::weighted(&unbiased.values, &unbiased.weights);
        let law = match unbiased.squares {
            None => SizeLaw::Mean(power),
            Some(squares) => {
                let pairs = weights.pairs(predictions.len());
                let variance = 2.0 * squares.max(0.0) / pairs.powi(2);
                let most = 4.0 * (0.5 * variance).sqrt();
                let slope = power.standard_error.powi(2) / power.estimate;
                SizeLaw::Quadratic(QuadraticSize {
                    power,
                    order: 1.0,
                    variance,
                    slope: if slope >= 0.0 { slope.min(most) } else { most },
                    most: f64::INFINITY,
                })
            }
        };
        Ok(ErrorSize {
            errors: predictions.errors(targets).map(|errors| [errors, needed]),
            ..ErrorSize::of(law)
        })
    }
}

/// The samples of a bin from which on its variance is known well enough.
const LEAST_BIN: usize = 10;

/// The unbiased error of order 2, `Σ_b (n_b/n) [(r̄_b − c̄_b)² − s_b²/n_b]`, or the debiased one of
/// [`TceForm::Debiased`], and its root.
///
/// Given the bins, the variance is `Σ_b (n_b/n)² [4 (r̄_b − c̄_b)² v_b/n_b + 2 v_b²/n_b²]`, with the
/// variance `v_b` of `r − c` in the bin, by the delta method and exactly for normal means; of a bin of one
/// sample nothing is known, and it adds nothing. `v_b` is at least `c̃(1 − c̃)` with the frequency
/// `c̃ = (s + 1)/(n_b + 2)` of `s` events and one more of each outcome: that no label is wrong is no proof
/// that none can be. The width of the bins is a bias, downward, which the
/// interval does not know of. No end is above what the error can be, given the predictions.
///
/// For fewer than 150 samples there are fewer than 15 bins of equal mass: each has ten samples or more. In
/// bins of one or two nothing is known of the variance. So the estimate is that of these bins.
///
/// A plug-in form is an error: its bias is as large as its standard error.
impl Quantify for Tce {
    fn size(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<ErrorSize> {
        check_parameter(
            !matches!(self.form, TceForm::PlugIn { .. }),
            "the order of the plug-in form",
            self.form.order(),
            "the unbiased form, whose size can be told",
        )?;
        let outcomes = self.event.weighted_outcomes(predictions, labels)?;
        let weights = &outcomes.weights;
        let effective = weights.effective(outcomes.samples());
        let binning = match self.binning {
            Binning::EqualMass { bins } => Binning::EqualMass {
                bins: bins.min((effective.round() as usize / LEAST_BIN).max(1)),
            },
            binning => binning,
        };
        let estimate = self.with_binning(binning).power(predictions, labels)?;
        let total = outcomes.total();
        let (mut calibrated, mut of_gaps, mut slope, mut most) = (0.0, 0.0, 0.0, 0.0);
        for rows in binning.partition_weighted(&outcomes.probability, 1, weights)? {
            // without weights Σw and Σw² are the number of samples, which is their effective number
            let bin = EventBin::of(&rows, |row| outcomes.sample(row));
            let (share, size) = (bin.weight / total, bin.size);
            most += share * bin.probability.max(1.0 - bin.probability).powi(2);
            if size <= 1.0 {
                continue;
            }
            let samples = || rows.iter().map(|&row| outcomes.sample(row));
            let difference = |one: &ScoredSample| one.score - one.occurred;
            let gaps = samples().map(|one| one.weight * difference(&one));
            let gap = gaps.sum::<f64>() / bin.weight;
            let squares = samples().map(|one| {
                let w = one.weight;
                w * w * ((difference(&one) - gap) * (difference(&one) - gap))
            });
            let square: f64 = squares.sum();
            let events: f64 = samples().map(|one| one.weight * one.occurred).sum();
            let smooth = (events * (size / bin.weight) + 1.0) / (size + 2.0);
            let variance = square / (bin.squares() - bin.squares() / size);
            let v = variance.max(smooth * (1.0 - smooth)) / size;
            calibrated += 2.0 * (share * v).powi(2);
            of_gaps += 4.0 * share * share * (gap * gap - v).max(0.0) * v;
            slope += 4.0 * share * share * v;
        }
        let power = MeanEstimate {
            estimate,
            standard_error: (calibrated + of_gaps).sqrt(),
            samples: outcomes.samples(),
            effective,
        };
        Ok(ErrorSize::of(SizeLaw::Quadratic(QuadraticSize {
            power,
            order: 2.0,
            variance: calibrated,
            slope,
            most,
        })))
    }
}

/// The mean probability of an event less its frequency, by default of the top label: overconfidence, or
/// underconfidence where it is negative. For predictions over `ℝ^d` there is [`IntervalOverconfidence`].
///
/// The interval covers the mean error of the population that the samples are from, for new samples: it is that of the
/// mean of `r_i − c_i`, whose variance includes that of the probabilities. It is Student's where the terms show that
/// these hold, else that of a [`BoundedMean`](super::BoundedMean), with one more sample that is wrong on the side of
/// the limit: so it has a width where no error happened. Simulated coverage is in `docs/levels.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use]
pub struct Overconfidence {
    /// The event.
    pub event: Event,
}

impl Quantify for Overconfidence {
    fn size(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<ErrorSize> {
        let outcomes = self.event.weighted_outcomes(predictions, labels)?;
        let terms = outcomes.all().map(|one| one.score - one.occurred).collect();
        let [lowest, highest] = outcomes.range();
        let mean = BoundedMean::new(terms, lowest - 1.0, highest);
        let mean = mean
            .with_weights(outcomes.weights)
            .or_student(MOST_SKEWNESS);
        Ok(ErrorSize::of(SizeLaw::Difference(mean)))
    }
}

/// The level of central prediction intervals less their [coverage](IntervalCoverage::coverage): positive where
/// predictions are too narrow.
///
/// The interval is that of Clopper and Pearson, at least of its level for new samples, whatever their number; with
/// weights that of a [`BoundedMean`](super::BoundedMean). Where a sample counts in part, as one of several coordinates
/// of which some are covered, or of counts and few draws, it is that of a fractional count: wider than need
/// be, since such shares vary less than events of the same frequency. Its coverage in this case is found by
/// simulation, not proved, and a [`ToleranceTest`](crate::hypothesis::ToleranceTest) says that its p-value
/// is an approximation.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub struct IntervalOverconfidence {
    /// The level of the prediction intervals, 0.9 by default.
    pub coverage: f64,
}

impl Default for IntervalOverconfidence {
    fn default() -> Self {
        Self { coverage: 0.9 }
    }
}

impl<P: Marginals> Quantify<P> for IntervalOverconfidence {
    fn size(&self, predictions: &P, targets: &Tensor<2>) -> Result<ErrorSize> {
        let (predictions, weights) = &predictions.parted();
        let covered = IntervalCoverage::new(self.coverage).each(predictions, targets)?;
        let of_events = predictions.dimensions() == 1
            && covered.iter().all(|&share| share == 0.0 || share == 1.0);
        let law = SizeLaw::frequency(self.coverage, covered, weights, of_events);
        Ok(ErrorSize::of(law))
    }
}
