//! The operation on a device of CubeCL: partial sums and gradients of the kernel to means.

use burn::{
    backend::{
        TensorMetadata,
        ops::FloatTensorOps,
        tensor::{FloatTensor, IntTensor},
    },
    tensor::Slice,
};
use burn_cubecl::CubeBackend;

use super::{
    curve::Compiled,
    launch::{Request, is_able, pair_sums},
    pair::Form,
};
use crate::ops::pairs::{
    PairKernel, Pairing, backend::WithGradient, composed::composed, normalisation,
};

type B = CubeBackend;

pub(in crate::ops::pairs) fn run(
    points: FloatTensor<B>,
    labels: IntTensor<B>,
    bandwidth: FloatTensor<B>,
    kernel: PairKernel,
    pairing: Pairing,
    gradient: bool,
) -> WithGradient<B> {
    if !is_able(&points.device(), points.dtype()) {
        return composed::<B>(points, labels, bandwidth, kernel, pairing, gradient);
    }
    let (n, m) = (points.shape()[0], points.shape()[1]);
    let form = Form {
        euclidean: kernel.distance().is_euclidean(),
        profile: Compiled(kernel.profile()),
        diagonal: pairing == Pairing::All, // k_ii = 1, with half the weight of a pair i < j
        gradient,
    };
    let request = Request {
        form,
        size: pairing.size(n),
        scale: kernel.distance().scale(),
        factor: normalisation(pairing, n).0,
    };
    let (sums, parts) = pair_sums(points, labels, bandwidth.clone(), request);

    let sums = B::float_sum_dim(sums, 1); // [2, 1]
    let sum = |k: usize| {
        let sum = B::float_slice(sums.clone(), &[Slice::from(k..k + 1), Slice::full()]);
        B::float_reshape(sum, [1].into())
    };
    if !gradient {
        return (sum(0), parts.clone(), parts); // nothing in the latter two
    }
    let gradient = match parts.shape()[0] {
        1 => parts,
        _ => B::float_sum_dim(parts, 0), // [1, n, m]
    };
    let gradient = B::float_reshape(gradient, [n, m].into());
    (sum(0), gradient, B::float_div(sum(1), bandwidth))
}
