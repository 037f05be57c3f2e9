use burn::backend::{Backend, TensorMetadata, tensor::FloatTensor};

use super::line::Line;
use crate::ops::backends::{numbers, with_numbers};

/// `u_i = Σ_j a_j k_ij`: `[n]`.
pub(super) fn sum<B: Backend>(
    positions: FloatTensor<B>,
    weights: FloatTensor<B>,
    bandwidth: f64,
) -> FloatTensor<B> {
    let a = numbers::<B>(weights);
    let u = match Line::new(&numbers::<B>(positions.clone()), bandwidth) {
        Some(line) => line.sums(&a).iter().map(|u| u.total()).collect(),
        None => vec![f64::NAN; a.len()],
    };
    with_numbers::<B>(u, positions.shape(), &positions)
}

/// The gradients with respect to positions, `−(g_i S_i(a) + a_i S_i(g))/ν` with
/// `S_i(w) = Σ_j w_j sign(r_i − r_j) k_ij`, and to weights, `Σ_j g_j k_ij`: `[n]` each.
pub(super) fn gradient<B: Backend>(
    positions: FloatTensor<B>,
    weights: FloatTensor<B>,
    upstream: FloatTensor<B>,
    bandwidth: f64,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let (a, g) = (numbers::<B>(weights), numbers::<B>(upstream));
    let (to_positions, to_weights) = match Line::new(&numbers::<B>(positions.clone()), bandwidth) {
        Some(line) => {
            let (of_a, of_g) = (line.sums(&a), line.sums(&g));
            let slope = |i: usize| -(g[i] * of_a[i].signed() + a[i] * of_g[i].signed()) / bandwidth;
            (
                (0..a.len()).map(slope).collect(),
                of_g.iter().map(|u| u.total()).collect(),
            )
        }
        None => (vec![f64::NAN; a.len()], vec![f64::NAN; a.len()]),
    };
    (
        with_numbers::<B>(to_positions, positions.shape(), &positions),
        with_numbers::<B>(to_weights, positions.shape(), &positions),
    )
}
