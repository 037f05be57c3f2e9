//! Expectations of a Gaussian kernel on the line under Laplace predictions, of which features are made, in
//! vectors of the host: their composition from tensor operations is
//! [`gaussian_laplace`](crate::kernel::expectation).

mod erfcx;

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, LOG2_E};

use burn::tensor::{Element, Tensor, TensorData};
use pulp::{Simd, WithSimd};

pub(crate) use erfcx::{F32 as ERFCX_F32, F64 as ERFCX_F64};

use self::erfcx::erfcx;
use super::{
    non_finite::non_finite_rows,
    normal::{in_units, unit},
    simd::{
        aligned::Aligned,
        arch::Arch,
        real::{Real, with_real},
        wide::Wide,
    },
};
use crate::{host::Memory, parallel::for_each_chunk};

/// `E exp(−(Y_i − t_j)²/2ℓ²)` under Laplace predictions of one coordinate, and its derivatives with respect to
/// their locations and scales, `[n, r]` each, detached.
///
/// # Shapes
///
/// - locations, scales: `[n, 1]`, in f32 or f64 on the host
/// - points: `[r, 1]`, the same, finite
///
/// A prediction that is not finite has NaN. Cost: `n·r` expectations in vectors, on all threads; memory `O(n·r)`.
pub(crate) fn laplace_gaussian_at(
    locations: Tensor<2>,
    scales: Tensor<2>,
    points: Tensor<2>,
    length_scale: f64,
) -> [Tensor<2>; 3] {
    let (device, dtype) = (locations.device(), locations.dtype());
    let all = [locations, scales, points].map(|x| Memory::of(x.detach()));
    with_real!(dtype, T => {
        let [locations, scales, points] = all.each_ref().map(|x| x.slice::<T>());
        expectations(locations, scales, points, length_scale)
    })
    .map(|numbers| Tensor::from_data(numbers, (&device, dtype)))
}

/// Value and slopes.
const PARTS: usize = 3;
/// Numbers that an expectation costs as much as, for the decision about threads.
const COST: usize = 8;
/// Numbers in whole vectors of any processor.
const PACK: usize = 16;

fn expectations<T: Real + Element>(
    locations: &[T],
    scales: &[T],
    points: &[T],
    length_scale: f64,
) -> [TensorData; PARTS] {
    let (n, r) = (locations.len(), points.len());
    let mut padded = Aligned::zeros(r.next_multiple_of(PACK));
    let unit = unit(length_scale);
    for (padded, point) in padded.iter_mut().zip(points) {
        *padded = in_units(*point, T::new(unit));
    }
    let size = PARTS * padded.len();
    let mut all = Aligned::zeros(n * size);
    for_each_chunk(&mut all, size, COST, |(row, parts)| {
        Arch::new().dispatch(LaplaceRow {
            length_scale,
            unit,
            location: locations[row],
            scale: scales[row],
            points: &padded,
            parts,
        });
    });
    for lost in non_finite_rows(locations, 1).chain(non_finite_rows(scales, 1)) {
        all[lost * size..][..size].fill(T::new(f64::NAN));
    }
    std::array::from_fn(|part| {
        let rows = all.chunks_exact(size);
        let numbers = rows.flat_map(|parts| &parts[part * padded.len()..][..r]);
        TensorData::new(numbers.copied().collect(), [n, r])
    })
}

/// Writes values and slopes of a row, `[3, r]` in whole vectors.
///
/// The expectation is `√(π/2) r G(r)` with the length scale `ℓ` over the scale, `r`, `t = |Δ|/ℓ` and
/// `G(r) = E exp(−r|t + Z|)` for a standard normal `Z`. As in `kernel::expectation::smoothed`, with
/// `z± = (r ± t)/√2` and `X = erfcx`, `G = ½e^{−t²/2} [X(z₊) + X(z₋)]`, where for `z₋ < 0` it is
/// `X(z₋) = 2e^{z₋²} − X(−z₋)`. The largest exponential that all terms have is apart. The derivative with
/// respect to the scale is `−r²√(π/2) (rG)'/ℓ`, in which `rG = ½e^{−t²/2} [√2(Y(z₊) + Y(z₋)) + t(X(z₋) − X(z₊))]`
/// with `Y = zX(z)`: terms of `r` do not cancel.
struct LaplaceRow<'a, T> {
    length_scale: f64,
    unit: f64,
    location: T,
    scale: T,
    /// In units.
    points: &'a [T],
    parts: &'a mut [T],
}

impl<T: Real> WithSimd for LaplaceRow<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let splat = |x: f64| Wide::<S, T>::splat(simd, T::new(x));
        let (zero, one) = (splat(0.0), splat(1.0));
        let over_length = splat((self.length_scale * self.unit).recip());
        let location = in_units(self.location, T::new(self.unit));
        let location = Wide::<S, T>::splat(simd, location);
        let scale = self.scale.to_f64().abs() / self.length_scale;
        let scale = scale.max(T::MIN_POSITIVE.sqrt().sqrt()); // away from 0
        let r = splat(scale.recip());
        // an exponent beyond which an exponential is 0, and a `t` from which on the expectation is
        let most = -1.25 * T::MIN_POSITIVE.ln();
        let end = splat(0.5 / scale + most * scale + (2.0 * most).sqrt());
        let factor = r * FRAC_PI_2.sqrt();
        let slope_unit = factor * over_length * self.unit;

        let points = T::lanes::<S>(self.points);
        let (values, slopes) = T::lanes_mut::<S>(self.parts).split_at_mut(points.len());
        let (to_location, to_scale) = slopes.split_at_mut(points.len());
        for (k, &point) in points.iter().enumerate() {
            let delta = location - Wide::new(simd, point);
            let t = (delta.abs() * over_length).min(end);
            let (upper, lower) = ((r + t) * FRAC_1_SQRT_2, (r - t) * FRAC_1_SQRT_2);
            let below = lower.min(zero);
            let half = (below * below * -LOG2_E).exp2() * 0.5;
            let whole = lower.where_less(zero, one, zero); // e^{z²} for z₋ < 0
            let sign = one - whole * 2.0;
            let [x, decrease, slope] = erfcx(upper);
            let [x2, decrease2, slope2] = erfcx(lower.abs());

            let smooth = half * sign.mul_add(x2, x);
            let to_t = half * (decrease2 - decrease) * FRAC_1_SQRT_2 - t * smooth - r * whole;
            let to_r = half
                * sign.mul_add(slope2, slope + t * (decrease - decrease2) * FRAC_1_SQRT_2)
                + whole * (r * (r - t) + 1.0);
            let exponent = lower.where_less(zero, r * (r * 0.5 - t), t * t * -0.5);
            let peak = (exponent * LOG2_E).exp2();
            let slope = slope_unit * to_t;
            values[k] = (peak * factor * (smooth + whole)).lanes;
            to_location[k] = (peak * delta.where_less(zero, -slope, slope)).lanes;
            to_scale[k] = (peak * -(slope_unit * r * to_r)).lanes;
        }
    }
}
