use burn::tensor::{Int, Tensor};

use super::Categorical;
use crate::error::{Error, Result};

impl Categorical {
    /// The top-label lens: predicts whether the most likely class is the right one.
    ///
    /// The new predictions are `(1 − r_i, r_i)` with the confidence `r_i = max_c p_ic`, the new
    /// labels `c_i = 1[argmax p_i = y_i]` (ties go to the first of the most likely classes).
    ///
    /// # Shapes
    ///
    /// - labels: `[n]`
    /// - output: predictions of `n × 2`, labels `[n]`
    ///
    /// # Errors
    ///
    /// A label that is not a class, or another number of labels than of predictions.
    pub fn top_label(&self, labels: &Tensor<1, Int>) -> Result<(Self, Tensor<1, Int>)> {
        self.check_labels(labels)?;
        let (confidence, class) = self.probabilities().max_dim_with_indices(1); // [n, 1] each
        let class = class.reshape([self.samples()]).cast(labels.dtype());
        Ok((Self::binary(confidence), class.equal(labels.clone()).int()))
    }

    /// The class-wise lens: predicts whether `class` is the right one.
    ///
    /// The new predictions are `(1 − p_i[class], p_i[class])`, the new labels `1[y_i = class]`.
    ///
    /// # Shapes
    ///
    /// - labels: `[n]`
    /// - output: predictions of `n × 2`, labels `[n]`
    ///
    /// # Errors
    ///
    /// As [`top_label`](Self::top_label), and if there is no such class.
    pub fn class_wise(
        &self,
        class: usize,
        labels: &Tensor<1, Int>,
    ) -> Result<(Self, Tensor<1, Int>)> {
        self.check_labels(labels)?;
        if class >= self.classes() {
            return Err(Error::Parameter {
                name: "the class of a class-wise lens",
                value: class as f64,
                expected: "a column of the predictions",
            });
        }
        let probability = self
            .probabilities()
            .slice([0..self.samples(), class..class + 1]);
        Ok((
            Self::binary(probability),
            labels.clone().equal_scalar(class as i64).int(),
        ))
    }

    /// `(1 − p, p)` for each row of `[n, 1]`.
    fn binary(p: Tensor<2>) -> Self {
        let complement = p.ones_like() - p.clone();
        Self::new(Tensor::cat(vec![complement, p], 1))
    }
}
