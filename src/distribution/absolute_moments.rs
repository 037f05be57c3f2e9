use burn::tensor::Tensor;

use super::{
    Component, Marginals, Mixture, Samples, Targets, location_scale::assert_targets,
    samples::mean_over_draws,
};

/// Predictions whose expected absolute differences are known for each coordinate: what the continuous
/// ranked probability score is made of.
#[diagnostic::on_unimplemented(
    message = "the expected absolute differences of predictions `{Self}` are not known, which the CRPS needs",
    label = "predictions without a CRPS",
    note = "for a quantile recalibration use `predictions.samples(n, &mut rng)`, which have one",
    note = "for other real predictions use `Samples::drawn_from(&predictions, n, &mut rng)`"
)]
pub trait AbsoluteMoments: Marginals {
    /// `E|X_ic − y_ic|`, `[n, d]`, differentiable.
    ///
    /// # Shapes
    ///
    /// - targets: `[n, d]`
    fn absolute_error(&self, targets: &Tensor<2>) -> Tensor<2>;

    /// `E|X_ic − X'_ic|` for two independent draws of the same prediction, `[n, d]`, differentiable:
    /// Gini's mean difference.
    fn mean_difference(&self) -> Tensor<2>;
}

/// Weighted sums over components, and over pairs of them.
impl<C: Component + AbsoluteMoments> AbsoluteMoments for Mixture<C> {
    fn absolute_error(&self, targets: &Tensor<2>) -> Tensor<2> {
        self.weighted_sum(
            self.all_components()
                .absolute_error(&self.repeated(targets)),
        )
    }

    /// `Σ_k w_k² G_k + 2 Σ_{k<l} w_k w_l E|X_k − X_l|`.
    fn mean_difference(&self) -> Tensor<2> {
        let (weights, components) = (self.weights(), self.all_components());
        let [n, k] = weights.dims();
        let squares = Self::new(weights.clone().square(), components.clone());
        let own = squares.weighted_sum(components.mean_difference());
        let pairs = (0..k).flat_map(|l| (0..l).map(move |k| (k, l)));
        let (first, second): (Vec<usize>, Vec<usize>) = pairs.unzip();
        if first.is_empty() {
            return own;
        }
        let of = |chosen: &[usize]| {
            let rows = (0..n).flat_map(|i| chosen.iter().map(move |c| i * k + c));
            let weights = weights.clone().transpose().select_rows(chosen);
            let rows: Vec<usize> = rows.collect();
            (weights.transpose(), components.select_rows(&rows)) // [n, pairs], n · pairs
        };
        let ((v, x), (w, y)) = (of(&first), of(&second));
        let differences = x.absolute_difference(&y); // [n · pairs, d]
        own + Self::new(v * w, x).weighted_sum(differences) * 2.0
    }
}

/// The moments of the empirical distributions.
impl AbsoluteMoments for Samples {
    fn absolute_error(&self, targets: &Tensor<2>) -> Tensor<2> {
        let [n, _, d] = self.draws().dims();
        assert_targets(targets, [n, d]);
        mean_over_draws((self.draws() - targets.clone().reshape([n, 1, d])).abs())
    }

    /// `2S⁻² Σ_s (2s − S − 1) x_(s)` over the draws in increasing order, at a cost of `O(S log S)`.
    fn mean_difference(&self) -> Tensor<2> {
        let [n, s, d] = self.draws().dims();
        // the weights sum to 0: a shift changes nothing but the rounding
        let centred = self.draws() - self.means().detach().reshape([n, 1, d]);
        let weight = |rank: usize| (2 * rank + 1) as f64 / s as f64 - 1.0;
        let weights: Vec<f64> = (0..s).map(weight).collect();
        let weights = burn::tensor::TensorData::new(weights, [1, s, 1]);
        let weights = Tensor::<3>::from_data(weights, (&centred.device(), centred.dtype()));
        mean_over_draws(centred.sort(1) * weights) * 2.0
    }
}
