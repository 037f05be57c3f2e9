use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

use burn::tensor::{
    Bool, DType, Device, Int, Tensor,
    activation::{log_softmax, softmax},
};
use rand::{Rng, RngExt};

use super::{
    LabelSets, Predictive, Redrawer, Sampler, class_rows::ClassRows, label_sampler::LabelSampler,
    location_scale::moved, redrawn,
};
use crate::{
    error::{Error, Result},
    host::{check_probabilities, checked_labels, checked_rows, int_tensor, to_vec},
    radial::Distance,
};

/// Predictions over classes: `n` rows of `m` probabilities, checked.
#[derive(Debug, Clone)]
pub struct Categorical {
    probabilities: Tensor<2>,
    /// Where known, exact where a probability underflows.
    logits: Option<Tensor<2>>,
    /// Read back once.
    rows: Arc<OnceLock<Arc<ClassRows>>>,
}

impl Categorical {
    /// From logits, through a softmax over each row.
    ///
    /// # Shapes
    ///
    /// - logits: `[n, m]`, any float dtype, which the probabilities keep
    ///
    /// # Errors
    ///
    /// No rows, fewer than two columns, or a logit that is NaN or infinite.
    pub fn from_logits(logits: Tensor<2>) -> Result<Self> {
        checked_rows(&logits, "logit")?;
        let probabilities = softmax(logits.clone(), 1);
        Ok(Self {
            probabilities,
            logits: Some(logits),
            rows: Arc::default(),
        })
    }

    /// From probabilities.
    ///
    /// # Shapes
    ///
    /// - probabilities: `[n, m]`, any float dtype
    ///
    /// # Errors
    ///
    /// No rows, fewer than two columns, a probability that is NaN, infinite or outside `[0, 1]`,
    /// or a row whose sum differs from 1 by more than 10⁻⁵. Rows are not renormalised.
    pub fn from_probabilities(probabilities: Tensor<2>) -> Result<Self> {
        let classes = probabilities.dims()[1];
        let values = checked_rows(&probabilities, "probability")?;
        check_probabilities(&values, classes)?;
        Ok(Self::unchecked(probabilities))
    }

    /// From probabilities that are known to be valid, or of a training loss.
    pub(crate) fn unchecked(probabilities: Tensor<2>) -> Self {
        Self {
            probabilities,
            logits: None,
            rows: Arc::default(),
        }
    }

    /// The logarithms of the probabilities, `[n, m]`: through a log-softmax where the logits are
    /// known, so that none is −∞ by underflow.
    pub fn log_probabilities(&self) -> Tensor<2> {
        match &self.logits {
            Some(logits) => log_softmax(logits.clone(), 1),
            None => self.probabilities.clone().log(),
        }
    }

    /// The logits, `[n, m]`, of predictions that were made from them.
    pub(crate) fn logits(&self) -> Option<Tensor<2>> {
        self.logits.clone()
    }

    /// The probabilities, `[n, m]`.
    pub fn probabilities(&self) -> Tensor<2> {
        self.probabilities.clone()
    }

    /// The number `n` of predictions.
    pub fn samples(&self) -> usize {
        self.probabilities.dims()[0]
    }

    /// The number `m` of classes.
    pub fn classes(&self) -> usize {
        self.probabilities.dims()[1]
    }

    /// Whether there are so many classes.
    pub(crate) fn check_classes(&self, expected: usize) -> Result<()> {
        match self.classes() {
            got if got == expected => Ok(()),
            got => Err(Error::ClassMismatch { got, expected }),
        }
    }

    fn map(&self, f: impl Fn(Tensor<2>) -> Tensor<2>) -> Self {
        Self {
            probabilities: f(self.probabilities.clone()),
            logits: self.logits.clone().map(f),
            rows: Arc::default(),
        }
    }

    /// The probabilities on the host.
    pub(crate) fn rows(&self) -> Arc<ClassRows> {
        let rows = || Arc::new(ClassRows::of(self));
        self.rows.get_or_init(rows).clone()
    }

    /// The labels on the host, once checked against these predictions.
    pub(crate) fn check_labels(&self, labels: &Tensor<1, Int>) -> Result<Vec<usize>> {
        checked_labels(labels, self.samples(), self.classes())
    }
}

impl Predictive for Categorical {
    type Targets = Tensor<1, Int>;

    fn samples(&self) -> usize {
        self.probabilities.dims()[0]
    }

    fn device(&self) -> Device {
        self.probabilities.device()
    }

    fn dtype(&self) -> DType {
        self.probabilities.dtype()
    }

    fn detach(&self) -> Self {
        self.map(Tensor::detach)
    }

    fn like(&self, other: &Self) -> Self {
        self.map(|rows| moved(rows, &other.probabilities))
    }

    fn slice_rows(&self, rows: Range<usize>) -> Self {
        self.map(|rows_of| rows_of.slice(rows.clone()))
    }

    fn select_rows(&self, rows: &[usize]) -> Self {
        let rows = int_tensor(rows.iter().copied(), &self.device());
        self.map(|rows_of| rows_of.select(0, rows.clone()))
    }

    /// Nothing to do: they were checked when they were made.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    fn check_targets(&self, labels: &Tensor<1, Int>) -> Result<()> {
        self.check_labels(labels).map(|_| ())
    }

    fn check_like(&self, other: &Self) -> Result<()> {
        other.check_classes(self.classes())
    }

    fn check_distance(&self, _distance: Distance) -> Result<()> {
        Ok(())
    }

    /// `Σ_i (1 − max_c p_ic)`, summed in f64.
    fn expected_errors(&self) -> Option<f64> {
        let largest = to_vec(self.probabilities.clone().detach().max_dim(1)); // [n, 1]
        Some(largest.iter().map(|p| (1.0 - p).max(0.0)).sum())
    }

    /// The probabilities.
    fn coordinates(&self) -> Option<Tensor<2>> {
        Some(self.probabilities())
    }

    fn sampler(&self) -> Sampler<Self> {
        let sampler = LabelSampler::new(self);
        Box::new(move |rows, rng| rows.iter().map(|&row| sampler.draw(row, rng)).collect())
    }

    fn redrawer(&self) -> Redrawer<Self> {
        let rows = self.rows();
        Redrawer {
            batch: redrawn::batch(&rows),
            draw: Box::new(move |sets, rng| LabelSets::draw(&rows, sets, rng)),
        }
    }

    fn as_redrawn(&self, drawn: &Vec<usize>) -> LabelSets {
        LabelSets::against(&self.rows().top, std::slice::from_ref(drawn))
    }

    fn observed(&self, drawn: &Vec<usize>) -> Tensor<1, Int> {
        int_tensor(drawn.iter().copied(), &self.device())
    }

    /// Classes drawn uniformly.
    fn locations(&self, rows: &[usize], rng: &mut dyn Rng) -> Tensor<1, Int> {
        let m = self.classes();
        let classes = rows.iter().map(|_| rng.random_range(0..m)).collect();
        self.observed(&classes)
    }
}

/// The residuals `δ_i = e_{y_i} − p_i`, differentiable, without reading the labels back.
///
/// # Shapes
///
/// - probabilities: `[n, m]`
/// - labels: `[n]`, classes in `0..m` (not checked here)
/// - output: `[n, m]`
pub fn residuals(probabilities: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<2> {
    let hits = hits(labels, probabilities.dims()[1]);
    let ones = probabilities.ones_like();
    // e_y − p, without a one-hot tensor of another dtype in between
    ones.mask_fill(hits.bool_not(), 0.0) - probabilities
}

/// Whether a column is the label of a row: `[n]` to `[n, m]`.
pub(crate) fn hits(labels: Tensor<1, Int>, m: usize) -> Tensor<2, Bool> {
    let n = labels.dims()[0];
    let classes = Tensor::<1, Int>::arange(0..m as i64, &labels.device()).cast(labels.dtype());
    labels.reshape([n, 1]).equal(classes.reshape([1, m])) // [n, 1] = [1, m] → [n, m]
}
