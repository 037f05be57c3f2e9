//! The operation composed of backend operations, a few rows of pairs at a time: what runs where there
//! is no fused pass.

use std::marker::PhantomData;

use burn::{
    backend::{
        Backend, TensorMetadata,
        tensor::{FloatTensor, IntTensor},
    },
    tensor::{IndexingUpdateOp, Slice},
};

use super::{PairMean, backend::WithGradients, normalisation};
use crate::{
    ops::pairwise_distance::{self, distances, pull_back},
    radial::curve::{Numbers, Value},
};

/// Numbers in a tile of the composition.
const TILE: usize = 1 << 22;

/// The statistic of labels or residuals. Single zeros stand for gradients that are not asked for.
pub(super) fn composed<B: Backend>(
    points: FloatTensor<B>,
    residuals: FloatTensor<B>,
    labels: IntTensor<B>,
    bandwidth: FloatTensor<B>,
    form: PairMean,
    gradient: bool,
) -> WithGradients<B> {
    let PairMean {
        kernel,
        pairing,
        by_label,
    } = form;
    let n = points.shape()[0];
    let zeros =
        |shape: Vec<usize>| B::float_zeros(shape.into(), &points.device(), points.dtype().into());
    let residuals = if by_label {
        let labels = B::int_reshape(labels, [n, 1].into());
        let ones = B::float_add_scalar(zeros(vec![n, 1]), 1.0.into());
        let minus = B::float_neg(points.clone());
        B::float_scatter(1, minus, labels, ones, IndexingUpdateOp::Add)
    } else {
        residuals
    };
    let size = pairing.size(n);
    let (batch, used) = (n / size, n / size * size);
    let scalar = |x: f64| x.into();
    let in_blocks = |x: FloatTensor<B>| {
        let d = x.shape()[1];
        let x = B::float_slice(x, &[Slice::from(0..used), Slice::full()]);
        B::float_reshape(x, [batch, size, d].into())
    };
    let x = in_blocks(points.clone()); // [b, size, d]
    let delta = in_blocks(residuals); // [b, size, m]
    let rate = B::float_reshape(B::float_recip(bandwidth.clone()), [1, 1, 1].into());
    let form = pairwise_distance::DistanceForm::Distance(kernel.distance());

    let (mut value, mut stretch) = (zeros(vec![1]), zeros(vec![1]));
    let (mut of_points, mut of_residuals) = (Vec::new(), Vec::new());
    let rows = (TILE / used).clamp(1, size);
    for start in (0..size).step_by(rows) {
        let tile = [
            Slice::full(),
            Slice::from(start..size.min(start + rows)),
            Slice::full(),
        ];
        let p = B::float_slice(x.clone(), &tile); // [b, t, d]
        let delta_p = B::float_slice(delta.clone(), &tile);
        let distance = distances::<B>(&p, &x, form); // [b, t, size]
        let r = B::float_mul(distance.clone(), rate.clone());
        let Value {
            kernel: k,
            slope: of_r,
        } = kernel
            .profile()
            .of_distance(Tensors::<B>(PhantomData), r.clone(), 1.0);
        let product = B::float_matmul(delta_p.clone(), B::float_transpose(delta.clone()));
        let h = B::float_mul(k.clone(), product.clone());
        value = B::float_add(value, B::float_sum(h));
        if !gradient {
            continue;
        }
        let of_r = B::float_mul(of_r, product); // ∂h/∂r
        stretch = B::float_sub(stretch, B::float_sum(B::float_mul(of_r.clone(), r)));
        let slope = B::float_mul(of_r, rate.clone()); // ∂h/∂distance
        let saved = form.is_root().then_some(distance);
        let [through_kernel, _] = pull_back::<B>(slope, saved, [&p, &x], form, [true, false]);
        of_points.push(through_kernel); // [b, t, d]
        // Σ_{j≠i} k_ij δ_j: k_ii = 1
        of_residuals.push(B::float_sub(B::float_matmul(k, delta.clone()), delta_p));
    }

    let (of_pairs, of_diagonal) = normalisation(pairing, n);
    let diagonal = B::float_sum(B::float_mul(delta.clone(), delta.clone())); // [1]
    let value = B::float_add(
        B::float_mul_scalar(
            B::float_sub(value, diagonal.clone()),
            scalar(0.5 * of_pairs),
        ),
        B::float_mul_scalar(diagonal, scalar(of_diagonal)),
    );
    if !gradient {
        let none = || zeros(vec![1]);
        return (value, none(), none(), none());
    }
    let whole = |tiles: Vec<FloatTensor<B>>| {
        B::float_mul_scalar(B::float_cat(tiles, 1), scalar(of_pairs)) // [b, size, d or m]
    };
    let in_rows = |gradient: FloatTensor<B>| {
        let d = gradient.shape()[2];
        let gradient = B::float_reshape(gradient, [used, d].into());
        if used < n {
            B::float_cat(vec![gradient, zeros(vec![n - used, d])], 0)
        } else {
            gradient
        }
    };
    let through_diagonal = B::float_mul_scalar(delta, scalar(2.0 * of_diagonal));
    let of_residuals = in_rows(B::float_add(whole(of_residuals), through_diagonal));
    let of_points = in_rows(whole(of_points));
    let of_points = if by_label {
        B::float_sub(of_points, of_residuals.clone())
    } else {
        of_points
    };
    let stretch = B::float_mul_scalar(B::float_div(stretch, bandwidth), scalar(0.5 * of_pairs));
    (value, of_points, of_residuals, stretch)
}

/// Tensors of a backend.
#[derive(Debug)]
struct Tensors<B>(PhantomData<B>);

impl<B> Clone for Tensors<B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Tensors<B> {}

impl<B: Backend> Tensors<B> {
    /// `x`, at least the smallest normal number; and 1 where it was that, else 0.
    fn normal(x: FloatTensor<B>) -> [FloatTensor<B>; 2] {
        let least = x.dtype().finfo().expect("a float tensor").min_positive;
        let share = B::float_mul_scalar(x.clone(), least.recip().into());
        let is_normal = B::float_floor(B::float_clamp(share, 0.0.into(), 1.0.into()));
        [B::float_clamp_min(x, least.into()), is_normal]
    }
}

impl<B: Backend> Numbers for Tensors<B> {
    type Number = FloatTensor<B>;

    fn scaled(self, x: FloatTensor<B>, factor: f64) -> FloatTensor<B> {
        B::float_mul_scalar(x, factor.into())
    }

    fn plus(self, x: FloatTensor<B>, constant: f64) -> FloatTensor<B> {
        B::float_add_scalar(x, constant.into())
    }

    fn times(self, x: FloatTensor<B>, y: FloatTensor<B>) -> FloatTensor<B> {
        B::float_mul(x, y)
    }

    fn sqrt(self, x: FloatTensor<B>) -> FloatTensor<B> {
        B::float_sqrt(x)
    }

    fn not_negative(self, x: FloatTensor<B>) -> FloatTensor<B> {
        B::float_clamp_min(x, 0.0.into())
    }

    fn over(self, x: FloatTensor<B>, y: FloatTensor<B>) -> FloatTensor<B> {
        let [y, is_normal] = Self::normal(y);
        B::float_mul(B::float_div(x, y), is_normal)
    }

    fn decay(self, x: FloatTensor<B>, factor: f64) -> FloatTensor<B> {
        B::float_exp(self.scaled(x, -factor))
    }

    fn power(self, x: FloatTensor<B>, a: f64) -> FloatTensor<B> {
        let [x, is_normal] = Self::normal(x);
        B::float_mul(B::float_exp(self.scaled(B::float_log(x), a)), is_normal)
    }

    fn power_of_successor(self, x: FloatTensor<B>, a: f64) -> [FloatTensor<B>; 2] {
        let reciprocal = B::float_recip(self.plus(x.clone(), 1.0));
        [self.decay(B::float_log1p(x), a), reciprocal]
    }
}

#[cfg(all(test, feature = "flex"))]
mod tests {
    use burn::{
        backend::{
            Flex,
            ops::{FloatTensorOps, IntTensorOps},
        },
        tensor::TensorData,
    };

    use super::*;
    use crate::{
        ops::pairs::{PairKernel, Pairing, host},
        radial::{Distance, Profile},
    };

    /// The composition is what runs without a fused pass: here on the same backend as the latter.
    #[test]
    fn composition_and_fused_pass_agree() {
        let (n, m) = (23, 4);
        let mut points: Vec<f64> = (0..n * m)
            .map(|k| ((k * k) as f64 * 0.37).sin() + 1.1)
            .collect();
        for row in points.chunks_mut(m) {
            let total: f64 = row.iter().sum();
            row.iter_mut().for_each(|x| *x /= total);
        }
        let labels: Vec<i64> = (0..n).map(|i| (i * i % m) as i64).collect();
        let float = |x: &[f64], shape: &[usize]| {
            Flex::float_from_data(TensorData::new(x.to_vec(), shape), &Default::default())
        };
        let others = [Profile::GeneralisedExponential { exponent: 0.6 }];
        let profiles: Vec<_> = Profile::all().chain(others).collect();
        let kernels = (Distance::ALL.into_iter())
            .flat_map(|distance| profiles.iter().map(move |&p| PairKernel::new(distance, p)));
        for (kernel, by_label) in kernels.flat_map(|kernel| [(kernel, true), (kernel, false)]) {
            for pairing in [n, 5]
                .map(|size| Pairing::Blocks { size })
                .into_iter()
                .chain([Pairing::All])
            {
                let form = PairMean {
                    kernel,
                    pairing,
                    by_label,
                };
                let run = |by: fn(_, _, _, _, _, _) -> WithGradients<Flex>| {
                    let labels = TensorData::new(labels.clone(), [n]);
                    let (points, bandwidth) = (float(&points, &[n, m]), float(&[0.3], &[1]));
                    let residuals = Flex::float_cos(points.clone());
                    let labels = Flex::int_from_data(labels, &Default::default());
                    let (value, points, residuals, bandwidth) =
                        by(points, residuals, labels, bandwidth, form, true);
                    let mut found = vec![value, points, bandwidth];
                    found.extend((!by_label).then_some(residuals));
                    let numbers =
                        |x: FloatTensor<Flex>| x.into_data().iter::<f64>().collect::<Vec<_>>();
                    found.into_iter().flat_map(numbers).collect::<Vec<_>>()
                };
                let (found, expected) = (run(composed::<Flex>), run(host::run::<Flex>));
                assert_eq!(found.len(), expected.len());
                for (a, b) in found.iter().zip(&expected) {
                    assert!((a - b).abs() < 1e-13, "{form:?}: {a}, not {b}");
                }
            }
        }
    }
}
