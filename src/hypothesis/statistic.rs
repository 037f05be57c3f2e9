use super::{
    engine::{
        BinnedEvent, ConfidenceKernel, CumulativeGap, Evaluator, OneByOne, Quadratic,
        TensorQuadratic,
    },
    skce_replicates,
};
use crate::{
    distribution::{Categorical, DrawnBy, Geometry, Predictive},
    error::Result,
    estimator::{
        Aspect, Bin, Cwce, Ece, Estimator, Event, EventBin, JointKernel, KdeTce, KolmogorovSmirnov,
        Mce, Mmce, Skce, SkceForm, SmoothEce, Tce,
    },
    kernel::{TargetKernel, TensorKernel},
    ops::Computation,
};

type Boxed<'a, P = Categorical> = Box<dyn Evaluator<P> + 'a>;

/// A data set whose statistic is computed, in terms of another: the prediction of sample `i` is
/// row `rows[i]` of the other's, its target the `i`-th.
#[derive(Debug, Clone)]
pub struct Resample<P: Predictive = Categorical> {
    /// The row of each sample; `None` for all rows in their order.
    pub rows: Option<Vec<usize>>,
    /// The targets, on the host.
    pub targets: DrawnBy<P>,
}

impl<P: Predictive> Resample<P> {
    /// The data set: predictions and targets.
    pub fn of(&self, predictions: &P) -> (P, P::Targets) {
        let targets = predictions.observed(&self.targets);
        match &self.rows {
            Some(rows) => (predictions.select_rows(rows), targets),
            None => (predictions.clone(), targets),
        }
    }
}

/// An [`Estimator`] that is large where the model is not calibrated, which
/// [`ExactTest`](super::ExactTest) and [`ConsistencyTest`](super::ConsistencyTest) turn into a test.
///
/// The estimators are, and so is any function of predictions and targets. A type of your own needs
/// `impl Statistic for MyEstimator {}`.
pub trait Statistic<P: Predictive = Categorical>: Estimator<P> {
    /// The statistic of `count` data sets that `draw` gives one after another, all in terms of the
    /// same predictions. By default an [`estimate`](Estimator::estimate) of each.
    /// The errors are those of [`estimate`](Estimator::estimate).
    fn replicates(
        &self,
        predictions: &P,
        count: usize,
        draw: &mut dyn FnMut() -> Resample<P>,
    ) -> Result<Vec<f64>> {
        one_by_one(self, predictions, count, draw)
    }

    /// The estimate that an outcome reports: by default the [`estimate`](Estimator::estimate), of the SKCE of
    /// several draws its [fair estimate](Skce::fair_estimate).
    /// The errors are those of [`estimate`](Estimator::estimate).
    fn reported(&self, predictions: &P, targets: &P::Targets) -> Result<f64> {
        self.estimate(predictions, targets)
    }

    /// Prepares the statistic for many sets of targets of the same predictions. By default it
    /// [`estimate`](Estimator::estimate)s each.
    /// The errors are those of [`estimate`](Estimator::estimate).
    fn evaluator<'a>(&'a self, predictions: &'a P) -> Result<Boxed<'a, P>> {
        let estimate = |predictions: &P, targets: &P::Targets| self.estimate(predictions, targets);
        Ok(Box::new(OneByOne::new(predictions, estimate)))
    }
}

impl Statistic for Skce {
    /// Many replicates share one matrix product with the Gram matrix of the predictions, streamed
    /// over tiles: `n²·m` operations a replicate, memory `O(n·m)`. A median bandwidth is that of
    /// the given predictions for every replicate. The block estimator goes one by one, `n·B·m`
    /// operations each.
    fn replicates(
        &self,
        predictions: &Categorical,
        count: usize,
        draw: &mut dyn FnMut() -> Resample,
    ) -> Result<Vec<f64>> {
        let points = predictions.probabilities().detach();
        let fixed = Self {
            kernel: self.kernel.with_bandwidth_of(&points)?,
            ..*self
        };
        match self.form {
            SkceForm::Block(_) => one_by_one(&fixed, predictions, count, draw),
            _ => skce_replicates::replicates(&fixed, &points, count, draw),
        }
    }

    /// The biased and unbiased forms compute what the labels of a set change; see
    /// [`ExactTest`](super::ExactTest). A median bandwidth is that of the given predictions.
    fn evaluator<'a>(&'a self, predictions: &'a Categorical) -> Result<Boxed<'a>> {
        self.form.check_size(predictions.len())?;
        let kernel = JointKernel::fixed(&self.kernel, predictions)?;
        Ok(match self.form {
            SkceForm::Block(_) => {
                let fixed = Self { kernel, ..*self };
                Box::new(OneByOne::new(
                    predictions,
                    move |predictions: &_, labels: &_| fixed.estimate(predictions, labels),
                ))
            }
            form => Box::new(Quadratic::new(kernel, &[1.0], form, predictions)),
        })
    }
}

impl<P: Geometry, T: TargetKernel<P>> Statistic<P> for Skce<TensorKernel<T>> {
    /// Goes one by one. A median bandwidth is that of the given predictions for every replicate.
    fn replicates(
        &self,
        predictions: &P,
        count: usize,
        draw: &mut dyn FnMut() -> Resample<P>,
    ) -> Result<Vec<f64>> {
        one_by_one(&fixed(self, predictions)?, predictions, count, draw)
    }

    fn reported(&self, predictions: &P, targets: &P::Targets) -> Result<f64> {
        match predictions.halves() {
            Some(_) => self.fair_estimate(predictions, targets),
            None => self.estimate(predictions, targets),
        }
    }

    /// Biased and unbiased, with the kernel between predictions computed once for many sets; blocks one by
    /// one. A median bandwidth is that of the given predictions.
    fn evaluator<'a>(&'a self, predictions: &'a P) -> Result<Boxed<'a, P>> {
        self.form.check_size(predictions.len())?;
        let fixed = fixed(self, predictions)?;
        if !matches!(self.form, SkceForm::Block(_)) && self.computation == Computation::Auto {
            let quadratic = TensorQuadratic::new(fixed.kernel, self.form, predictions);
            return Ok(Box::new(quadratic));
        }
        let estimate =
            move |predictions: &P, targets: &P::Targets| fixed.estimate(predictions, targets);
        Ok(Box::new(OneByOne::new(predictions, estimate)))
    }
}

/// Fixes a median bandwidth at that of the predictions.
fn fixed<P: Predictive, K: JointKernel<P>>(skce: &Skce<K>, predictions: &P) -> Result<Skce<K>> {
    predictions.check()?;
    Ok(Skce {
        kernel: skce.kernel.fixed(predictions)?,
        ..skce.clone()
    })
}

/// The estimates of data sets, one after another.
pub(super) fn one_by_one<P: Predictive>(
    estimator: &(impl Estimator<P> + ?Sized),
    predictions: &P,
    count: usize,
    draw: &mut dyn FnMut() -> Resample<P>,
) -> Result<Vec<f64>> {
    let estimate = |_| {
        let (predictions, targets) = draw().of(predictions);
        estimator.estimate(&predictions, &targets)
    };
    (0..count).map(estimate).collect()
}

/// Costs `O(n)` operations for each set: the confidences are sorted once.
impl Statistic for Mmce {
    fn evaluator<'a>(&'a self, predictions: &'a Categorical) -> Result<Boxed<'a>> {
        self.validate(predictions.len())?;
        Ok(Box::new(ConfidenceKernel::new(self, predictions)))
    }
}

/// Updates each bin by the labels that a set changes, for the top label.
impl Statistic for Ece {
    fn evaluator<'a>(&'a self, predictions: &'a Categorical) -> Result<Boxed<'a>> {
        binned(self, predictions, |ece, bins| {
            ece.discrepancy.expected(bins)
        })
    }
}

/// Updates bins as [`Ece`] does.
impl Statistic for Mce {
    fn evaluator<'a>(&'a self, predictions: &'a Categorical) -> Result<Boxed<'a>> {
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
) -> Result<Boxed<'a>> {
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
    Ok(Box::new(BinnedEvent::new(
        predictions,
        ece.binning,
        of_bins,
    )?))
}

/// For the top label, updates each bin by the labels that a set changes.
impl Statistic for Tce {
    fn evaluator<'a>(&'a self, predictions: &'a Categorical) -> Result<Boxed<'a>> {
        self.form.validate()?;
        if self.event != Event::TopLabel {
            let estimate = |predictions: &_, labels: &_| Tce::estimate(self, predictions, labels);
            return Ok(Box::new(OneByOne::new(predictions, estimate)));
        }
        let of_bins = |bins: &[EventBin]| {
            let power = self.form.expected(bins.iter().copied());
            power.max(0.0).powf(self.form.order().recip())
        };
        Ok(Box::new(BinnedEvent::new(
            predictions,
            self.binning,
            of_bins,
        )?))
    }
}

/// Costs `O(n)` operations for each set, for the top label: the confidences are sorted once.
impl Statistic for KolmogorovSmirnov {
    fn evaluator<'a>(&'a self, predictions: &'a Categorical) -> Result<Boxed<'a>> {
        Ok(match self.event {
            Event::TopLabel => Box::new(CumulativeGap::new(predictions, usize::MAX)),
            _ => Box::new(OneByOne::new(predictions, |predictions: &_, labels: &_| {
                KolmogorovSmirnov::estimate(self, predictions, labels)
            })),
        })
    }
}

impl Statistic for Cwce {}
impl Statistic for KdeTce {}
impl Statistic for SmoothEce {}
impl<P: Predictive, F: Fn(&P, &P::Targets) -> Result<f64>> Statistic<P> for F {}
