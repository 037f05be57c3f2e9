use burn::tensor::{Int, Tensor};

use super::engine::{
    ClassPoints, ClassSkce, ClassWiseError, CumulativeGap, EachSet, EvaluatorOf, OneByOne,
    VectorSkce, binned_error, confidence_kernel,
};
use crate::{
    distribution::{Categorical, Flip, Geometry, Marginals, Predictive},
    error::Result,
    estimator::{
        Aspect, Bin, Cwce, Ece, Estimator, EventBin, Gap, JointKernel, KolmogorovSmirnov, Mce,
        Mmce, Skce, SkceForm, SmoothEce, Tce, VectorBins, check_order,
        regression::{Ence, IntervalCoverage, Pinball, QuantileCalibration},
    },
    kernel::{TargetKernel, TensorKernel},
    ops::Computation,
};

/// A function of predictions and targets.
pub type StatisticFunction<'a, P> =
    Box<dyn Fn(&P, &<P as Predictive>::Targets) -> Result<f64> + 'a>;

/// An [`Estimator`] that is large where the model is not calibrated, which
/// [`ExactTest`](super::ExactTest) and [`ConsistencyTest`](super::ConsistencyTest) turn into a test.
///
/// The estimators are, and so is any function of predictions and targets. A type of your own needs
/// `impl Statistic for MyEstimator {}`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a statistic of predictions `{P}`",
    label = "no statistic of these predictions",
    note = "a tensor of logits becomes predictions by `Categorical::from_logits(logits)?`, one of probabilities \
            by `Categorical::from_probabilities(probabilities)?`",
    note = "an estimator of your own is one by `impl Statistic for MyEstimator {{}}`"
)]
pub trait Statistic<P: Predictive = Categorical>: Estimator<P> {
    /// The statistic for resamples of the predictions: quantities that depend on all predictions, such as a
    /// median bandwidth, are those of the given predictions. By default the
    /// [`estimate`](Estimator::estimate). The errors are those of [`estimate`](Estimator::estimate).
    fn frozen<'a>(&'a self, _predictions: &P) -> Result<StatisticFunction<'a, P>> {
        Ok(Box::new(|predictions: &P, targets: &P::Targets| {
            self.estimate(predictions, targets)
        }))
    }

    /// The estimate that an outcome reports: by default the [`estimate`](Estimator::estimate), of the SKCE of
    /// several draws its [fair estimate](Skce::fair_estimate).
    /// The errors are those of [`estimate`](Estimator::estimate).
    fn reported(&self, predictions: &P, targets: &P::Targets) -> Result<f64> {
        self.estimate(predictions, targets)
    }

    /// Prepares the statistic for many sets of targets of the same predictions. By default it is computed
    /// for one set after another, [`frozen`](Self::frozen).
    /// The errors are those of [`estimate`](Estimator::estimate).
    fn evaluator<'a>(&'a self, predictions: &'a P) -> Result<EvaluatorOf<'a, P>> {
        one_by_one(self, predictions)
    }
}

fn one_by_one<'a, P: Predictive>(
    statistic: &'a (impl Statistic<P> + ?Sized),
    predictions: &'a P,
) -> Result<EvaluatorOf<'a, P>> {
    let estimate = statistic.frozen(predictions)?;
    Ok(Box::new(OneByOne {
        predictions,
        estimate,
    }))
}

/// The biased and unbiased forms compute what the labels of a set change, see
/// [`ExactTest`](super::ExactTest); blocks are computed for one set after another. A median bandwidth is that of
/// the given predictions. Given a variable the kernel compares that.
impl<P: Geometry<Unconditional = Categorical, Targets = Tensor<1, Int>>> Statistic<P> for Skce {
    fn frozen<'a>(&'a self, predictions: &P) -> Result<StatisticFunction<'a, P>> {
        with_fixed_kernel(self, predictions)
    }

    fn evaluator<'a>(&'a self, predictions: &'a P) -> Result<EvaluatorOf<'a, P>> {
        self.form.check_size(predictions.len())?;
        if let SkceForm::Block(_) = self.form {
            return one_by_one(self, predictions);
        }
        let (plain, _) = predictions.parted();
        plain.check()?;
        let kernel = self.kernel.fixed(&plain)?;
        let quadratic = ClassSkce::new(kernel, &[1.0], self.form, ClassPoints::of(predictions));
        Ok(Box::new(quadratic))
    }
}

impl<P: Geometry, T: TargetKernel<P::Unconditional> + Clone> Statistic<P>
    for Skce<TensorKernel<T>>
{
    fn frozen<'a>(&'a self, predictions: &P) -> Result<StatisticFunction<'a, P>> {
        with_fixed_kernel(self, predictions)
    }

    fn reported(&self, predictions: &P, targets: &P::Targets) -> Result<f64> {
        match predictions.halves() {
            Some(_) => self.fair_estimate(predictions, targets),
            None => self.estimate(predictions, targets),
        }
    }

    /// Biased and unbiased, with the kernel between predictions computed once for many sets; blocks one by
    /// one. A median bandwidth is that of the given predictions.
    fn evaluator<'a>(&'a self, predictions: &'a P) -> Result<EvaluatorOf<'a, P>> {
        self.form.check_size(predictions.len())?;
        if matches!(self.form, SkceForm::Block(_)) || self.computation != Computation::Auto {
            return one_by_one(self, predictions);
        }
        let (plain, _) = predictions.parted();
        plain.check()?;
        let kernel = JointKernel::fixed(&self.kernel, &plain)?;
        let quadratic = VectorSkce::new(kernel, self.form, predictions);
        Ok(Box::new(quadratic))
    }
}

/// The estimate with a median bandwidth fixed at that of the predictions.
fn with_fixed_kernel<'a, P: Geometry, K: JointKernel<P> + 'a>(
    skce: &Skce<K>,
    predictions: &P,
) -> Result<StatisticFunction<'a, P>> {
    let (plain, _) = predictions.parted();
    plain.check()?;
    let fixed = Skce {
        kernel: skce.kernel.fixed(&plain)?,
        ..skce.clone()
    };
    Ok(Box::new(move |predictions, targets| {
        fixed.estimate(predictions, targets)
    }))
}

/// Costs `O(n)` operations for each set: the confidences are sorted once.
impl Statistic for Mmce {
    fn evaluator<'a>(&'a self, predictions: &'a Categorical) -> Result<EvaluatorOf<'a>> {
        self.validate(predictions.len())?;
        Ok(Box::new(confidence_kernel(self, predictions)))
    }
}

/// Updates each bin of an event by the labels that a set changes. Of whole predictions it sums up the bins of each set,
/// which are found once.
impl Statistic for Ece {
    fn evaluator<'a>(&'a self, predictions: &'a Categorical) -> Result<EvaluatorOf<'a>> {
        bin_evaluator(self, Gap::mean, predictions)
    }
}

/// Updates bins as [`Ece`] does.
impl Statistic for Mce {
    fn evaluator<'a>(&'a self, predictions: &'a Categorical) -> Result<EvaluatorOf<'a>> {
        bin_evaluator(&self.ece, Gap::largest, predictions)
    }
}

/// The discrepancies of the bins of an error, put together in some way.
fn bin_evaluator<'a>(
    &Ece {
        aspect,
        binning,
        discrepancy,
    }: &Ece,
    together: fn(&[Gap]) -> f64,
    predictions: &Categorical,
) -> Result<EvaluatorOf<'a>> {
    Ok(match aspect {
        Aspect::Event(event) => {
            let gap = move |bin: &EventBin| discrepancy.gap(&binary(bin));
            let error =
                move |bins: &[EventBin]| together(&bins.iter().map(gap).collect::<Vec<_>>());
            Box::new(binned_error(predictions, event, binning, error)?)
        }
        Aspect::Vector => {
            let bins = VectorBins::new(binning, predictions)?;
            let error = move |flips: &[Flip]| together(&bins.gaps(discrepancy, flips));
            Box::new(EachSet(error))
        }
    })
}

/// A bin of an event as one of two classes.
fn binary(bin: &EventBin) -> Bin {
    let two = |r: f64| vec![1.0 - r, r];
    Bin {
        size: bin.size as usize,
        weight: bin.weight,
        prediction: two(bin.probability),
        frequency: two(bin.frequency),
    }
}

/// Updates each bin by the labels that a set changes.
impl Statistic for Tce {
    fn evaluator<'a>(&'a self, predictions: &'a Categorical) -> Result<EvaluatorOf<'a>> {
        self.form.validate()?;
        let error = |bins: &[EventBin]| self.form.root(self.form.expected(bins.iter().copied()));
        let evaluator = binned_error(predictions, self.event, self.binning, error)?;
        Ok(Box::new(evaluator))
    }
}

/// Updates the bins of each class as [`Tce`] does.
impl Statistic for Cwce {
    fn evaluator<'a>(&'a self, predictions: &'a Categorical) -> Result<EvaluatorOf<'a>> {
        check_order(self.form.order())?;
        Ok(Box::new(ClassWiseError {
            of: self,
            predictions,
        }))
    }
}

/// Costs `O(n)` operations for each set: the probabilities are sorted once.
impl Statistic for KolmogorovSmirnov {
    fn evaluator<'a>(&'a self, predictions: &'a Categorical) -> Result<EvaluatorOf<'a>> {
        let gap = CumulativeGap::new(predictions, self.event, usize::MAX)?;
        Ok(Box::new(gap))
    }
}

impl Statistic for SmoothEce {}
impl<P: Marginals> Statistic<P> for Ence {}
impl<P: Marginals> Statistic<P> for IntervalCoverage {}
impl<P: Marginals> Statistic<P> for Pinball {}
impl<P: Marginals> Statistic<P> for QuantileCalibration {}
impl<P: Predictive, F: Fn(&P, &P::Targets) -> Result<f64>> Statistic<P> for F {}
