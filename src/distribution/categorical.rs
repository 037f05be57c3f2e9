use std::sync::{Arc, OnceLock};

use burn::tensor::{Bool, Int, Tensor, activation};
use rand::{Rng, RngExt};

use super::{
    Density, Geometry, LabelSets, Predictive, Redrawer, Redraws, Sampler, Subject, Targets,
    class_rows::{ClassRows, choose},
    redrawn,
    weights::{carries_weights, refuse},
};
use crate::{
    error::{
        Result,
        checks::{check_classes, check_probabilities},
    },
    host::{HostNumbers, checked_labels, checked_rows, int_tensor, rounding, to_vec},
    ops::softmax,
    radial::Distance,
};

/// Predictions over classes: `n` rows of `m` probabilities.
#[derive(Debug, Clone)]
pub struct Categorical {
    /// The logits, where they are known: exact where a probability underflows.
    logits: Option<Tensor<2>>,
    /// Computed when they are first asked for, and shared with copies.
    probabilities: Arc<OnceLock<Tensor<2>>>,
    /// Whether they are known to be probabilities.
    checked: bool,
    /// Read back once.
    rows: Arc<OnceLock<Arc<ClassRows>>>,
    pub(super) subject: Subject,
    sample_weights: Option<Tensor<2>>,
}

impl Categorical {
    /// Creates predictions from logits, through a softmax over each row.
    ///
    /// # Shapes
    ///
    /// - logits: `[n, m]`, any float dtype, which the probabilities keep
    ///
    /// # Errors
    ///
    /// No rows, fewer than two columns, or a logit that is NaN or infinite.
    pub fn from_logits(logits: Tensor<2>) -> Result<Self> {
        checked_rows(&logits, "the logit")?;
        Ok(Self::new(Some(logits), None, true))
    }

    /// Creates predictions from probabilities.
    ///
    /// # Shapes
    ///
    /// - probabilities: `[n, m]`, any float dtype
    ///
    /// # Errors
    ///
    /// No rows, fewer than two columns, a probability that is NaN, infinite or outside `[0, 1]`, or a row
    /// whose sum differs from 1 by more than a softmax in its dtype does: `10⁻⁵`, or `ε (8 + 2√m)` with the
    /// machine epsilon `ε` if that is more. Rows are not renormalised.
    pub fn from_probabilities(probabilities: Tensor<2>) -> Result<Self> {
        let mut predictions = Self::new(None, Some(probabilities), false);
        predictions.check()?;
        let signs = (predictions.rows().values.iter()).fold(0, |signs, p| signs | p.to_bits());
        if signs >> 63 == 1 {
            let positive = predictions.probabilities() + 0.0; // −0 is 0, also to a logarithm
            return Self::from_probabilities(positive);
        }
        predictions.checked = true;
        Ok(predictions)
    }

    /// Creates predictions from the logits of a training batch. They are not read back from the device.
    /// Logits that are not finite make a loss NaN; functions that take data return an error.
    ///
    /// # Shapes
    ///
    /// - logits: `[n, m]`
    ///
    /// # Panics
    ///
    /// If there are fewer than two columns.
    pub fn from_logits_unchecked(logits: Tensor<2>) -> Self {
        assert_classes(&logits);
        Self::new(Some(logits), None, false)
    }

    /// Creates predictions from the probabilities of a training batch. They are not read back from the
    /// device; functions that take data check them.
    ///
    /// # Shapes
    ///
    /// - probabilities: `[n, m]`
    ///
    /// # Panics
    ///
    /// If there are fewer than two columns.
    pub fn from_probabilities_unchecked(probabilities: Tensor<2>) -> Self {
        assert_classes(&probabilities);
        Self::new(None, Some(probabilities), false)
    }

    /// Creates predictions from probabilities that are known to be valid.
    pub(crate) fn valid(probabilities: Tensor<2>) -> Self {
        Self::new(None, Some(probabilities), true)
    }

    fn new(logits: Option<Tensor<2>>, probabilities: Option<Tensor<2>>, checked: bool) -> Self {
        Self {
            logits,
            probabilities: Arc::new(probabilities.map_or_else(OnceLock::new, OnceLock::from)),
            checked,
            rows: Arc::default(),
            subject: Subject::Classes,
            sample_weights: None,
        }
    }

    /// Does what [`about`](Self::about) does for two classes.
    pub(super) fn about_unchecked(self, subject: Subject) -> Self {
        Self { subject, ..self }
    }

    /// The logarithms of the probabilities, `[n, m]`: by a log-softmax if the logits are known, so that no
    /// logarithm is −∞ by underflow.
    pub fn log_probabilities(&self) -> Tensor<2> {
        match &self.logits {
            Some(logits) => activation::log_softmax(logits.clone(), 1),
            None => self.probabilities().log(),
        }
    }

    /// The logits, `[n, m]`, of predictions that were made from them.
    pub fn logits(&self) -> Option<Tensor<2>> {
        self.logits.clone()
    }

    /// The logits, or the logarithms of the probabilities, which count as at least `√min_positive`:
    /// `[n, m]`.
    pub(crate) fn finite_logits(&self) -> Tensor<2> {
        let of = |p: Tensor<2>| p.clamp_min(self.least_probability()).log();
        self.logits().unwrap_or_else(|| of(self.probabilities()))
    }

    /// The probability that smaller ones count as in a logarithm: `√min_positive` of their dtype.
    fn least_probability(&self) -> f64 {
        let float = self.dtype().finfo().expect("a float tensor");
        float.min_positive.sqrt()
    }

    /// The relative difference of probabilities that are equal except for rounding in their dtype.
    pub(crate) fn rounding(&self) -> f64 {
        rounding(self.dtype())
    }

    /// The probabilities, `[n, m]`.
    pub fn probabilities(&self) -> Tensor<2> {
        let of_logits = || {
            let logits = self.logits().expect("logits or probabilities");
            if self.checked {
                activation::softmax(logits, 1)
            } else {
                softmax(logits) // in one step, for training
            }
        };
        self.probabilities.get_or_init(of_logits).clone()
    }

    /// The number `m` of classes.
    pub fn classes(&self) -> usize {
        self.parameter().dims()[1]
    }

    /// The probabilities on the host.
    pub(crate) fn rows(&self) -> Arc<ClassRows> {
        let rows = || {
            let values = HostNumbers::of(self.probabilities().detach());
            ClassRows::new(values, self.classes()).into()
        };
        self.rows.get_or_init(rows).clone()
    }

    /// Checks predictions and labels, and returns the labels on the host.
    ///
    /// # Errors
    ///
    /// A label that is not a class, or another number of labels than of predictions.
    pub fn check_labels(&self, labels: &Tensor<1, Int>) -> Result<Vec<usize>> {
        self.check()?;
        checked_labels(labels, self.len(), self.classes())
    }
}

impl Predictive for Categorical {
    type Targets = Tensor<1, Int>;
    type Unconditional = Self;

    fn unconditional(&self) -> &Self {
        self
    }

    /// The logits where they are known, otherwise the probabilities.
    fn parameter(&self) -> Tensor<2> {
        self.logits().unwrap_or_else(|| self.probabilities())
    }

    fn dimensions(&self) -> usize {
        self.classes()
    }

    fn map(&self, f: &dyn Fn(Tensor<2>) -> Tensor<2>) -> Self {
        let probabilities = self.probabilities.get().cloned();
        Self {
            subject: self.subject,
            sample_weights: self.sample_weights.clone().map(f),
            ..Self::new(self.logits().map(f), probabilities.map(f), self.checked)
        }
    }

    fn check(&self) -> Result<()> {
        refuse(&self.sample_weights)?;
        if self.checked {
            return Ok(());
        }
        match &self.logits {
            Some(logits) => checked_rows(logits, "the logit").map(|_| ()),
            None => {
                let probabilities = self.probabilities();
                let rows = checked_rows(&probabilities, "the probability")?;
                check_probabilities(&rows, self.classes(), self.dtype())?;
                self.rows
                    .get_or_init(|| ClassRows::new(rows, self.classes()).into());
                Ok(())
            }
        }
    }

    fn check_targets(&self, labels: &Tensor<1, Int>) -> Result<()> {
        self.check_labels(labels).map(|_| ())
    }

    fn sampler(&self) -> Sampler<Self> {
        let probabilities = self.rows(); // no copy of them
        Box::new(move |rows, rng| {
            let draw = |&row: &usize| choose(probabilities.row(row), rng.random());
            rows.iter().map(draw).collect()
        })
    }
}

carries_weights!([] Categorical);

impl Redraws for Categorical {
    /// `Σ_i (1 − max_c p_ic)`, summed in f64.
    fn expected_errors(&self) -> Option<f64> {
        let largest = to_vec(self.probabilities().detach().max_dim(1)); // [n, 1]
        Some(largest.iter().map(|p| (1.0 - p).max(0.0)).sum())
    }

    fn errors(&self, labels: &Tensor<1, Int>) -> Option<usize> {
        let labels = checked_labels(labels, self.len(), self.classes()).ok()?;
        let rows = self.rows();
        let pairs = rows.top.iter().zip(labels);
        Some(pairs.filter(|&(&top, y)| top as usize != y).count())
    }

    fn expected_targets(&self) -> Vec<(Tensor<1, Int>, Vec<f64>)> {
        let rows = self.rows();
        let second = |sample: usize| {
            let (p, top) = (rows.row(sample), rows.top[sample] as usize);
            let others = (0..p.len()).filter(|&class| class != top && p[class] > 0.0);
            others.max_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap_or(top)
        };
        let top = int_tensor(rows.top.iter().map(|&top| top as usize), &self.device());
        let second = int_tensor((0..rows.samples()).map(second), &self.device());
        let sure = rows
            .error_probability
            .iter()
            .map(|error_probability| 1.0 - error_probability)
            .collect();
        vec![(top, sure), (second, rows.error_probability.clone())]
    }

    fn target_text(&self, labels: &Tensor<1, Int>, row: usize) -> String {
        if self.subject != Subject::Correctness {
            return labels.text(row);
        }
        let is_right = labels.slice_rows(row..row + 1).drawn()[0] == 1;
        let target = if is_right {
            "a right prediction"
        } else {
            "a wrong prediction"
        };
        target.into()
    }

    fn redrawer(&self) -> Redrawer<LabelSets> {
        let rows = self.rows();
        Redrawer {
            batch: redrawn::batch(&rows),
            draw: Box::new(move |sets, rng| LabelSets::draw(&rows, sets, rng)),
        }
    }

    fn as_redrawn(&self, drawn: &Vec<usize>) -> LabelSets {
        LabelSets::against(&self.rows().top, std::slice::from_ref(drawn))
    }

    /// Draws classes uniformly.
    fn locations(&self, rows: &[usize], rng: &mut dyn Rng) -> Tensor<1, Int> {
        let m = self.classes();
        let classes = rows.iter().map(|_| rng.random_range(0..m)).collect();
        self.observed(&classes)
    }
}

/// Asserts that there are two columns or more.
fn assert_classes(rows: &Tensor<2>) {
    if let Err(error) = check_classes(rows.dims()[1]) {
        panic!("{error}");
    }
}

impl Geometry for Categorical {
    fn check_distance(&self, _distance: Distance) -> Result<()> {
        Ok(())
    }

    /// The probabilities.
    fn coordinates(&self) -> Option<Tensor<2>> {
        Some(self.probabilities())
    }
}

impl Density for Categorical {
    /// `ln p_y`, a probability mass: the density with respect to the counting measure. From logits it is
    /// exact; from probabilities it is that of at least `√min_positive` (10⁻¹⁹ in f32, 10⁻¹⁵⁴ in f64), with
    /// gradient 0 below, as in Burn's cross-entropy.
    fn log_density(&self, labels: &Tensor<1, Int>) -> Tensor<1> {
        match &self.logits {
            Some(_) => self.log_density_of_data(labels),
            None => {
                let observed = observed(self.probabilities(), labels.clone());
                observed.clamp_min(self.least_probability()).log()
            }
        }
    }

    fn log_density_of_data(&self, labels: &Tensor<1, Int>) -> Tensor<1> {
        observed(self.log_probabilities(), labels.clone())
    }

    fn has_bounded_entropy() -> bool {
        true
    }
}

/// The entry of each row at its label: `[n, m] → [n]`.
pub(crate) fn observed(rows: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
    let [n, _] = rows.dims();
    rows.gather(1, labels.reshape([n, 1])).squeeze_dim(1)
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

/// Returns whether a column is the label of a row: `[n]` to `[n, m]`.
pub(crate) fn hits(labels: Tensor<1, Int>, m: usize) -> Tensor<2, Bool> {
    let n = labels.dims()[0];
    let classes = Tensor::<1, Int>::arange(0..m as i64, &labels.device()).cast(labels.dtype());
    labels.reshape([n, 1]).equal(classes.reshape([1, m])) // [n, 1] = [1, m] → [n, m]
}
