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
    launch::{Request, is_able, pair_sums},
    pair::Form,
};
use crate::{
    ops::pairs::{PairKernel, Pairing, backend::WithGradient, composed::composed, normalisation},
    radial::Profile,
};

type B = CubeBackend;

/// Tells whether the profile is the Gaussian or the exponential; None for others, which have no kernel of
/// CubeCL.
pub(in crate::ops::pairs) fn is_gaussian(kernel: PairKernel) -> Option<bool> {
    match kernel.profile() {
        Profile::Exponential => Some(false),
        Profile::Gaussian => Some(true),
        _ => None,
    }
}

pub(in crate::ops::pairs) fn run(
    points: FloatTensor<B>,
    labels: IntTensor<B>,
    bandwidth: FloatTensor<B>,
    kernel: PairKernel,
    pairing: Pairing,
    gradient: bool,
) -> WithGradient<B> {
    let gaussian = is_gaussian(kernel).filter(|_| is_able(&points.device(), points.dtype()));
    let Some(gaussian) = gaussian else {
        return composed::<B>(points, labels, bandwidth, kernel, pairing, gradient);
    };
    let (n, m) = (points.shape()[0], points.shape()[1]);
    let form = Form {
        euclidean: kernel.distance().is_euclidean(),
        gaussian,
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
