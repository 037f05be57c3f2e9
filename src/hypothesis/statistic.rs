use burn::tensor::{Int, Tensor};

use super::engine::{
    ClassPoints, ClassSkce, EvaluatorOf, OneByOne, VectorSkce, binned_error, confidence_kernel,
    cumulative_gap,
};
use crate::{
    distribution::{Categorical, Geometry, Given, Predictive},
    error::Result,
    estimator::{
        Aspect, Bin, Cwce, Ece, Estimator, Event, EventBin, JointKernel, KolmogorovSmirnov, Mce,
        Mmce, Skce, SkceForm, SmoothEce, Tce,
    },
    kernel::{Kernel, TargetKernel, TensorKernel},
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
pub trait Statistic<P: Predictive = Categorical>: Estimator<P> {
    /// The statistic for resamples of the predictions: what depends on all of them, as a median bandwidth, is
    /// that of the given ones. By default the [`estimate`](Estimator::estimate).
    /// The errors are those of [`estimate`](Estimator::estimate).
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
        let estimate = self.frozen(predictions)?;
        Ok(Box::new(OneByOne::new(predictions, estimate)))
    }
}

/// The biased and unbiased forms compute what the labels of a set change; see
/// [`ExactTest`](super::ExactTest). A median bandwidth is that of the given predictions.
impl Statistic for Skce {
    fn frozen<'a>(
        &'a self,
        predictions: &Categorical,
    ) -> Result<StatisticFunction<'a, Categorical>> {
        with_fixed_kernel(self, predictions)
    }

    fn evaluator<'a>(
        &'a self,
        predictions: &'a Categorical,
    ) -> Result<EvaluatorOf<'a, Categorical>> {
        of_labels(self, predictions)
    }
}

/// The kernel compares the variable. The evaluator is that of the predictions alone.
impl Statistic<Given<Categorical>> for Skce {
    fn frozen<'a>(
        &'a self,
        given: &Given<Categorical>,
    ) -> Result<StatisticFunction<'a, Given<Categorical>>> {
        with_fixed_kernel(self, given)
    }

    fn evaluator<'a>(
        &'a self,
        given: &'a Given<Categorical>,
    ) -> Result<EvaluatorOf<'a, Given<Categorical>>> {
        of_labels(self, given)
    }
}

/// The SKCE of sets of labels, of blocks one set after another.
fn of_labels<'a, P>(skce: &'a Skce, predictions: &'a P) -> Result<EvaluatorOf<'a, P>>
where
    P: Geometry<Targets = Tensor<1, Int>>,
    Kernel: JointKernel<P>,
    ClassPoints: From<&'a P>,
{
    skce.form.check_size(predictions.len())?;
    if let SkceForm::Block(_) = skce.form {
        let estimate = with_fixed_kernel(skce, predictions)?;
        return Ok(Box::new(OneByOne::new(predictions, estimate)));
    }
    predictions.check()?;
    let kernel = skce.kernel.fixed(predictions)?;
    let quadratic = ClassSkce::new(kernel, &[1.0], skce.form, predictions);
    Ok(Box::new(quadratic))
}

impl<P: Geometry, T: TargetKernel<P> + Clone> Statistic<P> for Skce<TensorKernel<T>> {
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
            let estimate = self.frozen(predictions)?;
            return Ok(Box::new(OneByOne::new(predictions, estimate)));
        }
        predictions.check()?;
        let kernel = JointKernel::fixed(&self.kernel, predictions)?;
        let quadratic = VectorSkce::new(kernel, self.form, predictions);
        Ok(Box::new(quadratic))
    }
}

/// The estimate with a median bandwidth fixed at that of the predictions.
fn with_fixed_kernel<'a, P: Geometry, K: JointKernel<P> + 'a>(
    skce: &Skce<K>,
    predictions: &P,
) -> Result<StatisticFunction<'a, P>> {
    predictions.check()?;
    let fixed = Skce {
        kernel: skce.kernel.fixed(predictions)?,
        ..skce.clone()
    };
    Ok(Box::new(move |predictions, targets| {
        fixed.estimate(predictions, targets)
    }))
}

/// Costs `O(n)` operations for each set: the confidences are sorted once.
impl Statistic for Mmce {
    fn evaluator<'a>(
        &'a self,
        predictions: &'a Categorical,
    ) -> Result<EvaluatorOf<'a, Categorical>> {
        self.validate(predictions.len())?;
        Ok(Box::new(confidence_kernel(self, predictions)))
    }
}

/// Updates each bin by the labels that a set changes, for the top label.
impl Statistic for Ece {
    fn evaluator<'a>(
        &'a self,
        predictions: &'a Categorical,
    ) -> Result<EvaluatorOf<'a, Categorical>> {
        binned(self, predictions, |ece, bins| {
            ece.discrepancy.expected(bins)
        })
    }
}

/// Updates bins as [`Ece`] does.
impl Statistic for Mce {
    fn evaluator<'a>(
        &'a self,
        predictions: &'a Categorical,
    ) -> Result<EvaluatorOf<'a, Categorical>> {
        binned(&self.ece, predictions, |ece, bins| {
            ece.discrepancy.greatest(bins)
        })
    }
}

/// An error of the bins of an ECE.
fn binned<'a>(
    ece: &'a Ece,
    predictions: &'a Categorical,
    error: fn(&Ece, &[Bin]) -> f64,
) -> Result<EvaluatorOf<'a, Categorical>> {
    if ece.aspect != Aspect::Event(Event::TopLabel) {
        let estimate =
            move |predictions: &_, labels: &_| Ok(error(ece, &ece.bins(predictions, labels)?));
        return Ok(Box::new(OneByOne::new(predictions, estimate)));
    }
    let of_bins = move |bins: &[EventBin]| {
        let two = |r: f64| vec![1.0 - r, r];
        let bin = |bin: &EventBin| Bin {
            size: bin.size as usize,
            prediction: two(bin.probability),
            frequency: two(bin.frequency),
        };
        error(ece, &bins.iter().map(bin).collect::<Vec<_>>())
    };
    Ok(Box::new(binned_error(predictions, ece.binning, of_bins)?))
}

/// For the top label, updates each bin by the labels that a set changes.
impl Statistic for Tce {
    fn evaluator<'a>(
        &'a self,
        predictions: &'a Categorical,
    ) -> Result<EvaluatorOf<'a, Categorical>> {
        self.form.validate()?;
        if self.event != Event::TopLabel {
            let estimate = |predictions: &_, labels: &_| Tce::estimate(self, predictions, labels);
            return Ok(Box::new(OneByOne::new(predictions, estimate)));
        }
        let of_bins = |bins: &[EventBin]| {
            let power = self.form.expected(bins.iter().copied());
            power.max(0.0).powf(self.form.order().recip())
        };
        Ok(Box::new(binned_error(predictions, self.binning, of_bins)?))
    }
}

/// Costs `O(n)` operations for each set: the probabilities are sorted once.
impl Statistic for KolmogorovSmirnov {
    fn evaluator<'a>(
        &'a self,
        predictions: &'a Categorical,
    ) -> Result<EvaluatorOf<'a, Categorical>> {
        Ok(Box::new(cumulative_gap(
            predictions,
            self.event,
            usize::MAX,
        )?))
    }
}

impl Statistic for Cwce {}
impl Statistic for SmoothEce {}
impl<P: Predictive, F: Fn(&P, &P::Targets) -> Result<f64>> Statistic<P> for F {}
