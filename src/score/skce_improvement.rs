use burn::tensor::{Int, Tensor};

use super::{
    Improvement, MeanEstimate,
    improvement::{DIFFER_NOWHERE, Law, check_same_weights},
};
use crate::{
    distribution::{Categorical, Predictive, Redraws as _, Weighted as _},
    error::{Result, check_samples},
    estimator::{JointKernel, Skce, SkceForm, differences},
};

impl<K: JointKernel<Categorical>> Skce<K> {
    /// Compares the SKCE before and after a recalibration by the same kernel, with their paired difference,
    /// unbiased, and its standard error.
    ///
    /// A median bandwidth is that of the predictions before, for both: with a bandwidth of its own each
    /// would be another quantity.
    ///
    /// The standard error of the U-statistic `U = Σ_i r_i / n(n−1)`, with row sums `r_i = Σ_{j≠i} h_ij`, is the
    /// jackknife's: that of the mean of the pseudo-values
    /// `n U − (n−1) U_(−i) = (2 r_i − n U)/(n − 2)`, whose mean is `U`; in other words
    /// `(n−1)/n · Σ_i (U_(−i) − U)²`, with `U_(−i) = (n(n−1) U − 2 r_i)/((n−1)(n−2))` without sample
    /// `i`. In expectation its square is never below the variance of `U` (Efron and Stein 1981; a
    /// difference of two U-statistics is one), and close to it where either model is clearly
    /// miscalibrated. Where both are nearly calibrated `U` is degenerate: the square is up to twice the
    /// variance and the distribution not normal, so that the interval is wide.
    ///
    /// [`SkceForm::Block`] is compared block by block, at linear
    /// cost and with the block as the unit of the standard error. [`SkceForm::Biased`] is compared
    /// as the unbiased form: a bias that is not the same for both would pass for an improvement.
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_calibration::{distribution::{Categorical, Predictive}, estimator::Skce, kernel::Kernel};
    ///
    /// # fn main() -> burn_calibration::error::Result<()> {
    /// let device = Device::default();
    /// let logits = Tensor::<2>::from_floats([[3.0, 0.0]; 60], &device); // right half of the time
    /// let labels = Tensor::<1, Int>::arange(0..60, &device).remainder_scalar(2);
    /// let before = Categorical::from_logits(logits.clone())?;
    /// let after = Categorical::from_logits(logits / 10.0)?;
    /// let gain = Skce::unbiased(Kernel::exponential()).improvement(&before, &after, &labels)?;
    /// assert!(gain.interval(0.95)?.upper < 0.0); // an improvement
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Shapes
    ///
    /// - before, after: `n × m`
    /// - labels: `[n]`
    ///
    /// Cost: `n²·m` operations in tiles (`2n·B·m` for blocks), memory `O(n·m)`, whatever the
    /// [`computation`](Self::computation); a median bandwidth costs one pass more.
    ///
    /// # Errors
    ///
    /// As [`Score::improvement`](super::Score::improvement) and
    /// [`estimate`](crate::estimator::Estimator::estimate); fewer than three samples except for blocks.
    ///
    /// Source: Efron and Stein 1981; Arvesen 1969.
    pub fn improvement(
        &self,
        before: &Categorical,
        after: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<Improvement> {
        let ((before, weights), (after, of_after)) = (before.parted(), after.parted());
        check_same_weights(&weights, &of_after)?;
        let (before, after) = (&before, &after);
        before.check_labels(labels)?;
        let comparable = before.check_like(after);
        comparable.map_err(|error| error.of("after"))?;
        let labels_after = after.check_labels(labels);
        labels_after.map_err(|error| error.of("after"))?;
        match self.form {
            SkceForm::Block(_) => self.form.check_size(before.len())?,
            _ => check_samples("a jackknife standard error of the SKCE", 3, before.len())?,
        }
        let errors = [before, after].map(|set| set.errors(labels).unwrap_or(0));
        let errors = errors[0].min(errors[1]);
        let fixed = self.kernel.fixed(before)?;
        let kernel = fixed.on_predictions();
        let before = fixed.pairs(before, labels)?.weighted(&weights);
        let after = fixed.pairs(after, labels)?.weighted(&weights);
        let before = before.unbiased_values(self.form);
        let (after, weights) = (after.unbiased_values(self.form).values, before.weights);
        let differences = differences(&before.values, &after, 1.0);
        let differ_nowhere = differences.iter().all(|difference| *difference == 0.0);
        let [before, after, difference] = [&before.values, &after, &differences]
            .map(|values| MeanEstimate::weighted(values, &weights));
        Ok(Improvement {
            before,
            after,
            difference,
            injective: None,
            law: Law::Student { kernel, errors },
            infinite: differ_nowhere.then(|| DIFFER_NOWHERE.into()),
        })
    }
}
