use burn::{
    backend::{Backend, TensorMetadata, tensor::FloatTensor},
    tensor::{DType, TensorData},
};

use super::line::Line;
use crate::ops::backends::ready;

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
    like::<B>(u, &positions)
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
        like::<B>(to_positions, &positions),
        like::<B>(to_weights, &positions),
    )
}

/// The elements of a tensor on the host, in f64 whatever the dtype.
fn numbers<B: Backend>(tensor: FloatTensor<B>) -> Vec<f64> {
    let data = ready(B::float_into_data(tensor)).convert_dtype(DType::F64);
    data.try_into_vec().expect("of this dtype")
}

/// Numbers with the shape, dtype and device of a tensor.
fn like<B: Backend>(numbers: Vec<f64>, tensor: &FloatTensor<B>) -> FloatTensor<B> {
    let data = TensorData::new(numbers, tensor.shape()).convert_dtype(tensor.dtype());
    B::float_from_data(data, &tensor.device())
}
