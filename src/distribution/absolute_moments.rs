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
    note = "of a quantile recalibration take `predictions.samples(n, &mut rng)`, which have one",
    note = "of another kind over real vectors take `Samples::drawn_from(&predictions, n, &mut rng)`"
)]
pub trait AbsoluteMoments: Marginals {
    /// `E|X_ic − y_ic|`, `[n, d]`, differentiable.
    ///
    /// # Shapes
    ///
    /// - targets: `[n, d]`
    fn absolute_error(&self, targets: &Tensor<2>) -> Tensor<2>;

    /// `E|X_ic − X'_ic|` for independent draws from row `i` of both, `[n, d]`, differentiable.
    ///
    /// # Shapes
    ///
    /// - other: as many predictions
    fn absolute_difference(&self, other: &Self) -> Tensor<2>;

    /// `E|X_ic − X'_ic|` for two independent draws of the same prediction, `[n, d]`, differentiable:
    /// Gini's mean difference.
    fn mean_difference(&self) -> Tensor<2> {
        self.absolute_difference(self)
    }
}

/// Weighted sums over components, and over pairs of them.
impl<C: Component + AbsoluteMoments> AbsoluteMoments for Mixture<C> {
    fn absolute_error(&self, targets: &Tensor<2>) -> Tensor<2> {
        self.weighted_sum(
            self.all_components()
                .absolute_error(&self.repeated(targets)),
        )
    }

    fn absolute_difference(&self, other: &Self) -> Tensor<2> {
        let pairs = (0..self.components())
            .flat_map(|k| (0..other.components()).map(move |l| (k, l)))
            .collect();
        over_pairs(self, other, pairs)
    }

    /// `Σ_k w_k² G_k + 2 Σ_{k<l} w_k w_l E|X_k − X_l|`.
    fn mean_difference(&self) -> Tensor<2> {
        let squares = Self::new(self.weights().square(), self.all_components().clone());
        let own = squares.weighted_sum(self.all_components().mean_difference());
        let pairs: Vec<_> = (0..self.components())
            .flat_map(|l| (0..l).map(move |k| (k, l)))
            .collect();
        if pairs.is_empty() {
            own
        } else {
            own + over_pairs(self, self, pairs) * 2.0
        }
    }
}

/// `Σ_kl w_k w'_l E|X_k − X'_l|` over the given pairs, `[n, d]`.
fn over_pairs<C: Component + AbsoluteMoments>(
    p: &Mixture<C>,
    q: &Mixture<C>,
    pairs: Vec<(usize, usize)>,
) -> Tensor<2> {
    let n = p.weights().dims()[0];
    let (first, second): (Vec<usize>, Vec<usize>) = pairs.into_iter().unzip();
    let of = |mixture: &Mixture<C>, chosen: &[usize]| {
        let k = mixture.components();
        let rows: Vec<usize> = (0..n)
            .flat_map(|i| chosen.iter().map(move |c| i * k + c))
            .collect();
        let weights = mixture.weights().transpose().select_rows(chosen);
        (
            weights.transpose(), // [n, pairs]
            mixture.all_components().select_rows(&rows),
        )
    };
    let ((v, x), (w, y)) = (of(p, &first), of(q, &second));
    let differences = x.absolute_difference(&y); // [n · pairs, d]
    Mixture::new(v * w, x).weighted_sum(differences)
}

/// The moments of the empirical distributions.
impl AbsoluteMoments for Samples {
    fn absolute_error(&self, targets: &Tensor<2>) -> Tensor<2> {
        let [n, _, d] = self.draws().dims();
        assert_targets(targets, [n, d]);
        mean_over_draws((self.draws() - targets.clone().reshape([n, 1, d])).abs())
    }

    /// The mean over all `S · T` pairs.
    fn absolute_difference(&self, other: &Self) -> Tensor<2> {
        let ([n, s, d], [_, t, _]) = (self.draws().dims(), other.draws().dims());
        let differences = self.draws().reshape([n, s, 1, d]) - other.draws().reshape([n, 1, t, d]);
        mean_over_draws(differences.abs().reshape([n, s * t, d]))
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
