use burn::tensor::{Int, Tensor};

use super::{Bandwidth, Kernel};
use crate::distribution::group_codes;

impl Kernel {
    /// `1[g = g']` on predictions [given their groups](crate::distribution::Given::groups).
    pub fn of_groups() -> Self {
        Self::gaussian().with_bandwidth(Bandwidth::Fixed(1.0))
    }

    /// Returns points between which the same kernel with bandwidth 1 is `k(x, x')·1[g = g']`: points of one
    /// group in units of the bandwidth, and groups so far apart that `k` is 0 to rounding. A median
    /// bandwidth is that of all pairs, within groups and across; give it a floor in training, see
    /// [`Bandwidth::MedianAtLeast`]. Nothing is read back.
    ///
    /// It makes a penalty or a test of calibration within groups, given the prediction *and* the group.
    ///
    /// # Shapes
    ///
    /// - points: `[n, d]`, as the probabilities of predictions
    /// - groups: the number of the group of each sample, `[n]`: any integers of their dtype
    /// - output: `[n, d + c]`, with the digits of these numbers in `c` columns: in f32 three of `i64`, two of
    ///   `i32`
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_calibration::{
    ///     distribution::{Categorical, Given}, estimator::Skce, kernel::{Bandwidth, Kernel}, loss::SkceLoss,
    /// };
    ///
    /// let device = Device::default().autodiff();
    /// let logits = Tensor::<2>::zeros([4, 2], &device).require_grad();
    /// let [labels, groups] = [[0, 0, 1, 1], [0, 1, 0, 1]].map(|x| Tensor::<1, Int>::from_ints(x, &device));
    ///
    /// let kernel = Kernel::exponential();
    /// let penalty = SkceLoss::new(Skce::unbiased(kernel.with_bandwidth(Bandwidth::Fixed(1.0))));
    /// let predictions = Categorical::from_logits_unchecked(logits.clone());
    /// let points = kernel.within_groups(predictions.probabilities(), groups);
    /// let penalty = penalty.forward(&Given::attached(predictions, points), &labels);
    /// assert!(logits.grad(&penalty.backward()).is_some());
    /// ```
    pub fn within_groups(&self, points: Tensor<2>, groups: Tensor<1, Int>) -> Tensor<2> {
        let codes = group_codes(groups, (&points.device(), points.dtype()));
        let size = points.dims()[0];
        let points = match size {
            0 | 1 => points, // there are no pairs
            _ => {
                let bandwidth = self.bandwidth_of_pairs(points.clone(), size, || None);
                points / bandwidth.reshape([1, 1])
            }
        };
        Tensor::cat(vec![points, codes], 1)
    }
}
