use burn::tensor::{DType, Int, Tensor};

use super::{
    Observations,
    weights::{check_products, positive},
};
use burn_calibration::{
    distribution::{Categorical, Weighted as _},
    error::{
        Error, Result,
        checks::{check_classes, check_finite, check_labels, check_parameter, check_probabilities},
    },
    file::Digest,
};

/// Checked predictions over classes with their labels, on the host in f64, which accumulators take.
///
/// The numbers of a row depend on that row alone, not on the rows beside it. So logits become
/// probabilities here, row by row, also those of a [`Categorical`] that was made from logits.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    classes: usize,
    /// `[n, m]`
    pub(super) probabilities: Vec<f64>,
    pub(super) labels: Vec<usize>,
    /// `log p_y` of each row.
    logarithms: Vec<f64>,
    /// Positive.
    pub(super) weights: Option<Vec<f64>>,
}

/// A prediction with its label.
pub(super) struct Row<'a> {
    pub p: &'a [f64],
    pub y: usize,
    /// `log p_y`
    pub logarithm: f64,
    /// 1 where there are no weights.
    pub weight: f64,
}

impl Rows {
    /// Takes predictions in tensors.
    ///
    /// # Shapes
    ///
    /// - predictions: `n × m`
    /// - labels: `[n]`
    ///
    /// # Errors
    ///
    /// A label that is not a class, another number of labels than of predictions, or predictions with weights, whose
    /// mean is 1 in each piece.
    pub fn new(predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<Self> {
        if predictions.sample_weights().is_some() {
            return Err(Error::Unsupported {
                what: "the weights that predictions carry have mean 1 in each piece".into(),
                expected: "predictions without weights, and Rows::weighted on the scale of all pieces",
            });
        }
        let classes = predictions.classes();
        let labels = predictions.check_labels(labels)?;
        Ok(match predictions.logits() {
            Some(logits) => Self::of_logits(to_f64(logits), classes, labels),
            None => {
                let probabilities = to_f64(predictions.probabilities());
                Self::of_probabilities(probabilities, classes, labels)
            }
        })
    }

    /// Takes probabilities in row-major order, `m` in a row; there may be no rows.
    ///
    /// # Errors
    ///
    /// As [`Categorical::from_probabilities`] and [`new`](Self::new); numbers that do not fill a row.
    pub fn from_probabilities(
        probabilities: Vec<f64>,
        classes: usize,
        labels: &[i64],
    ) -> Result<Self> {
        let labels = check(&probabilities, classes, labels, "the probability")?;
        // the numbers may come from f32
        check_probabilities(&probabilities, classes, DType::F32)?;
        Ok(Self::of_probabilities(probabilities, classes, labels))
    }

    /// Takes logits in row-major order, `m` in a row; there may be no rows.
    ///
    /// # Errors
    ///
    /// As [`Categorical::from_logits`] and [`new`](Self::new); numbers that do not fill a row.
    pub fn from_logits(logits: Vec<f64>, classes: usize, labels: &[i64]) -> Result<Self> {
        let labels = check(&logits, classes, labels, "the logit")?;
        Ok(Self::of_logits(logits, classes, labels))
    }

    /// Returns the rows with a weight for each, of which only ratios count; rows of weight 0 are left out.
    ///
    /// # Errors
    ///
    /// Another number of weights than of rows, or one that is neither 0 nor between `10⁻¹⁰⁰` and `10¹⁰⁰`, with its row.
    pub fn weighted(self, weights: &[f64]) -> Result<Self> {
        let kept = positive(weights, self.samples())?;
        check_products(weights)?;
        let select = |numbers: &[f64]| kept.iter().map(|&row| numbers[row]).collect();
        let probabilities =
            |&row: &usize| &self.probabilities[row * self.classes..][..self.classes];
        Ok(Self {
            classes: self.classes,
            probabilities: kept.iter().flat_map(probabilities).copied().collect(),
            labels: kept.iter().map(|&row| self.labels[row]).collect(),
            logarithms: select(&self.logarithms),
            weights: Some(select(weights)),
        })
    }

    /// The number `n` of rows.
    pub fn samples(&self) -> usize {
        self.labels.len()
    }

    /// The number `m` of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// A digest of all rows, as 32 hexadecimal digits: other predictions, labels or orders have another. Weights do
    /// not count.
    pub fn digest(&self) -> String {
        let sizes = [self.classes, self.samples()].map(|size| size as u64);
        let numbers = self.probabilities.iter().chain(&self.logarithms);
        let digest = Digest::new()
            .with(sizes)
            .with(self.labels.iter().map(|&label| label as u64))
            .with(numbers.map(|number| number.to_bits()));
        digest.to_string()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        let p = self.probabilities.chunks_exact(self.classes);
        let others = self.labels.iter().zip(&self.logarithms).enumerate();
        p.zip(others).map(|(p, (row, (&y, &logarithm)))| Row {
            p,
            y,
            logarithm,
            weight: self.weights.as_ref().map_or(1.0, |weights| weights[row]),
        })
    }

    pub(super) fn observations(&self) -> Observations {
        let samples = self.samples();
        Observations {
            classes: self.classes,
            samples: samples as u64,
            weighted: (samples > 0).then_some(self.weights.is_some()),
        }
    }

    fn of_probabilities(probabilities: Vec<f64>, classes: usize, labels: Vec<usize>) -> Self {
        let mut rows = Self {
            classes,
            probabilities,
            labels,
            logarithms: Vec::new(),
            weights: None,
        };
        let p = rows.probabilities.chunks_exact(classes);
        rows.logarithms = p.zip(&rows.labels).map(|(p, &y)| p[y].ln()).collect();
        rows
    }

    /// `p = exp(z − max z) / s`, `log p_y = z_y − max z − log s`.
    fn of_logits(mut logits: Vec<f64>, classes: usize, labels: Vec<usize>) -> Self {
        let softmax = |(z, &y): (&mut [f64], &usize)| {
            let greatest = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let shifted = z[y] - greatest;
            z.iter_mut().for_each(|z| *z = (*z - greatest).exp());
            let sum: f64 = z.iter().sum();
            z.iter_mut().for_each(|z| *z /= sum);
            shifted - sum.ln()
        };
        let z = logits.chunks_exact_mut(classes);
        let logarithms = z.zip(&labels).map(softmax).collect();
        Self {
            logarithms,
            ..Self::of_probabilities(logits, classes, labels)
        }
    }
}

/// The numbers of a tensor, row by row.
fn to_f64(rows: Tensor<2>) -> Vec<f64> {
    let numbers = rows.detach().try_into_vec_as();
    numbers.expect("a float tensor that can be read back")
}

/// The labels, once numbers in rows are finite and as many.
fn check(
    numbers: &[f64],
    classes: usize,
    labels: &[i64],
    what: &'static str,
) -> Result<Vec<usize>> {
    check_classes(classes)?;
    check_parameter(
        numbers.len().is_multiple_of(classes),
        "the number of predicted numbers",
        numbers.len() as f64,
        "a multiple of the number of classes",
    )?;
    check_finite(numbers, classes, what)?;
    check_labels(labels, numbers.len() / classes, classes)
}
