//! Expectations of a kernel on the line at some points, as one operation on the host, and its backward pass.

use burn::{
    backend::{
        Autodiff, AutodiffBackend, Backend, Dispatch, TensorMetadata,
        autodiff::{
            checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
            grads::Gradients,
            ops::{Backward, Ops, OpsKind},
        },
        tensor::FloatTensor,
    },
    tensor::{Element, Tensor, TensorData},
};
use pulp::{Simd, WithSimd};

use super::{
    OnTargets, Rows,
    host::unit,
    packs::pack,
    sums::Setting,
    term::{Expectation, Own},
};
use crate::{
    ops::{
        backends::{composed_elsewhere, on_every_backend, on_host, ready},
        pairs::slice,
        simd::{
            aligned::Aligned,
            arch::Arch,
            real::with_real,
            wide::{Select, Wide},
        },
    },
    parallel::for_each_chunk,
    radial::Profile,
};

/// `E k_Y(Y_i, t_j)` under location-scale predictions of one coordinate, `[n, r]`, differentiable with respect
/// to locations and scales.
///
/// # Shapes
///
/// - locations, scales: `[n, 1]`
/// - points: `[r, 1]`
///
/// A prediction that is not finite has NaN. Cost: `n·r` expectations in vectors, on all threads; memory `O(n·r)`.
///
/// # Panics
///
/// If the tensors are not on the host in f32 or f64, or the length scale is not a positive finite number.
pub(crate) fn expectations_at(
    locations: Tensor<2>,
    scales: Tensor<2>,
    points: Tensor<2>,
    on_targets: OnTargets,
) -> Tensor<2> {
    let (values, ..) = <Dispatch as ExpectationsAt>::expectations_at(
        locations.into_dispatch(),
        scales.into_dispatch(),
        points.into_dispatch(),
        on_targets,
        false,
    );
    Tensor::from_dispatch(values)
}

/// Values, and their derivatives with respect to locations and scales, `[n, r]` each.
type WithSlopes<B> = (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>);

on_every_backend! {
    /// The operation, on the backends of the host. Where no slopes are asked for, the tensors in their place
    /// mean nothing.
    pub(crate) trait ExpectationsAt: Backend {
        fn expectations_at(
            _locations: FloatTensor<Self>,
            _scales: FloatTensor<Self>,
            _points: FloatTensor<Self>,
            _on_targets: OnTargets,
            _slopes: bool,
        ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
            unreachable!("an operation of the host, which is checked before")
        }
    }
}

composed_elsewhere!(ExpectationsAt);

on_host!(ExpectationsAt {
    fn expectations_at(
        locations: FloatTensor<Self>,
        scales: FloatTensor<Self>,
        points: FloatTensor<Self>,
        on_targets: OnTargets,
        slopes: bool,
    ) -> WithSlopes<Self> {
        run::<Self>([locations, scales, points], on_targets, slopes)
    }
});

#[derive(Debug)]
struct ExpectationsAtBackward;

impl<B: Backend> Backward<B, 2> for ExpectationsAtBackward {
    /// The slopes with respect to locations and scales.
    type State = [FloatTensor<B>; 2];

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let upstream = grads.consume::<B>(&ops.node); // [n, r]
        for (parent, slopes) in ops.parents.into_iter().zip(ops.state) {
            if let Some(node) = parent {
                let products = B::float_mul(slopes, upstream.clone());
                grads.register::<B>(node.id, B::float_sum_dim(products, 1));
            }
        }
    }
}

impl<B: ExpectationsAt, C: CheckpointStrategy> ExpectationsAt for Autodiff<B, C> {
    fn expectations_at(
        locations: FloatTensor<Self>,
        scales: FloatTensor<Self>,
        points: FloatTensor<Self>,
        on_targets: OnTargets,
        _slopes: bool,
    ) -> WithSlopes<Self> {
        let prepared = ExpectationsAtBackward
            .prepare::<C>([locations.node(), scales.node()])
            .compute_bound()
            .stateful();
        let [locations, scales, points] = [locations, scales, points].map(|x| x.into_primitive());
        let run = |slopes| B::expectations_at(locations, scales, points, on_targets, slopes);
        let (values, slopes) = match prepared {
            OpsKind::Tracked(prep) => {
                let (values, to_locations, to_scales) = run(true);
                let slopes = [to_locations, to_scales];
                (prep.finish(slopes.clone(), values), slopes)
            }
            OpsKind::UnTracked(prep) => {
                let (values, to_locations, to_scales) = run(false);
                (prep.finish(values), [to_locations, to_scales])
            }
        };
        let [to_locations, to_scales] = slopes.map(Self::from_inner);
        (values, to_locations, to_scales)
    }
}

#[cfg_attr(not(any(feature = "flex", feature = "ndarray")), allow(dead_code))]
fn run<B: Backend>(
    tensors: [FloatTensor<B>; 3],
    on_targets: OnTargets,
    slopes: bool,
) -> WithSlopes<B> {
    let device = tensors[0].device();
    let data = tensors.map(|x| ready(B::float_into_data(x)));
    let [values, to_locations, to_scales] = with_real!(data[0].dtype(), T => {
        with_slopes::<T>(&data, on_targets, slopes)
    })
    .map(|data| B::float_from_data(data, &device));
    (values, to_locations, to_scales)
}

/// Values and slopes, `[n, r]` each; `[0, r]` for slopes that are not wanted.
fn with_slopes<T: Select + Element>(
    data: &[TensorData; 3],
    on_targets: OnTargets,
    slopes: bool,
) -> [TensorData; 3] {
    let unit = unit(on_targets.length_scale);
    let [locations, scales, points] = data.each_ref().map(slice::<T>);
    let rows = Rows {
        locations,
        scales,
        targets: locations,
        d: 1,
        unit: T::new(unit),
    };
    let setting = Setting {
        expectations: on_targets.expectations,
        length: on_targets.length_scale * unit,
        profile: Profile::Gaussian, // of no consequence
        bandwidth: 1.0,
    };
    let (n, r) = (rows.count(), points.len());
    let mut places = Aligned::zeros(r.next_multiple_of(pack::<T>()));
    for (place, point) in places.iter_mut().zip(points) {
        *place = point.times(rows.unit);
    }
    let size = PARTS * places.len();
    let mut all = Aligned::zeros(n * size);
    super::sums::with_pass!(setting, pass => {
        for_each_chunk(&mut all, size, COST, |(row, parts)| {
            Arch::new().dispatch(Row { expectation: pass.expectation, rows, row, points: &places, parts });
        });
    });
    rows.non_finite(1)
        .for_each(|row| all[row * size..][..size].fill(T::new(f64::NAN)));
    let mut part = 0;
    [true, slopes, slopes].map(|wanted| {
        let kept = if wanted { n } else { 0 };
        let start = part * places.len();
        part += 1;
        let mut numbers = Vec::with_capacity(kept * r);
        for parts in all.chunks_exact(size).take(kept) {
            numbers.extend_from_slice(&parts[start..][..r]);
        }
        TensorData::new(numbers, [kept, r])
    })
}

/// Value and slopes.
const PARTS: usize = 3;
/// Numbers that an expectation costs as much as, for the decision about threads.
const COST: usize = 8;

/// Writes values and slopes of a row, `[3, r]` padded.
struct Row<'a, T, E> {
    expectation: E,
    rows: Rows<'a, T>,
    row: usize,
    points: &'a [T],
    parts: &'a mut [T],
}

impl<T: Select, E: Expectation> WithSimd for Row<'_, T, E> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            expectation, rows, ..
        } = self;
        let splat = |x: T| Wide::<S, T>::splat(simd, x);
        let [location, scale, target] = rows.at(self.row, 0);
        let [a, b, c] = expectation.prepare::<T>(scale.to_f64()).map(T::new);
        let own = Own {
            location: splat(location),
            scale: splat(scale),
            target: splat(target),
            prepared: [splat(a), splat(b), splat(c)],
        };
        let unit = splat(rows.unit);
        let points = T::lanes::<S>(self.points);
        let parts = T::lanes_mut::<S>(self.parts);
        let (values, slopes) = parts.split_at_mut(points.len());
        let (to_location, to_scale) = slopes.split_at_mut(points.len());
        for (k, &point) in points.iter().enumerate() {
            let term = expectation.single(own, own.location - Wide::new(simd, point));
            let power = term.exponent.exp2();
            values[k] = (power * term.factor).lanes;
            to_location[k] = (power * term.to_location * unit).lanes;
            to_scale[k] = (power * term.to_scales[0] * unit).lanes;
        }
    }
}
