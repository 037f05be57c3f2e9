use burn::tensor::{Element, Tensor, TensorData, activation};

use super::{
    backends::is_on_host,
    formula::exp,
    gradient::with_pull_back,
    simd::real::{Real, with_real},
};
use crate::parallel::for_each_chunk;

/// The number of logits that fit the first-level cache.
const AT_ONCE: usize = 1 << 12;

/// The softmax of each row, `[n, m]` to `[n, m]`: Burn's, but on the host in vectors and one step for automatic
/// differentiation instead of five: what a small batch waits for.
///
/// With `G = ∂L/∂p`: `∂L/∂z_ic = p_ic (G_ic − Σ_d p_id G_id)`.
pub(crate) fn softmax(logits: Tensor<2>) -> Tensor<2> {
    let [n, m] = logits.dims();
    assert!(m > 0, "{n} rows of logits without a class");
    if !is_on_host(&logits) {
        return activation::softmax(logits, 1);
    }
    let (device, dtype) = (logits.device(), logits.dtype());
    let mut p = logits.clone().without_autodiff().into_data();
    with_real!(dtype, T => {
        let z = p.as_mut_slice::<T>().expect("of this dtype");
        for_each_chunk(z, AT_ONCE.div_ceil(m) * m, 1, |(_, z)| softmax_rows(z, m));
        if !logits.is_tracked() {
            return Tensor::from_data(p, (&device, dtype));
        }
        let value = Tensor::from_data(p.clone(), (&device, dtype));
        with_pull_back(value, [logits], move |upstream| [gradient::<T>(&p, upstream)])
    })
}

/// Computes rows in place.
fn softmax_rows<T: Real>(z: &mut [T], m: usize) {
    let shift = |row: &mut [T]| {
        let greater = |a: T, &z: &T| if z > a { z } else { a };
        let greatest = row.iter().fold(T::new(f64::NEG_INFINITY), greater);
        let mut sum = T::new(0.0);
        for z in row {
            *z -= greatest;
            sum += *z;
        }
        if sum.to_f64().is_nan() { f64::NAN } else { 1.0 }
    };
    let factors: Vec<f64> = z.chunks_exact_mut(m).map(shift).collect();
    exp(z); // knows no NaN
    let least = T::new(2.0 * T::MIN_POSITIVE); // what underflows
    for (row, factor) in z.chunks_exact_mut(m).zip(factors) {
        let sum = row.iter().fold(T::new(0.0), |sum, &e| sum + e);
        let scale = T::new(factor / sum.to_f64());
        let zero = T::new(0.0) * scale;
        for e in row {
            *e = if *e < least { zero } else { *e * scale };
        }
    }
}

fn gradient<T: Real + Element>(p: &TensorData, mut upstream: TensorData) -> TensorData {
    let m = p.shape()[1];
    let p = p.as_slice::<T>().expect("of this dtype");
    let gradient = upstream.as_mut_slice::<T>().expect("of this dtype");
    for_each_chunk(gradient, m, 1, |(row, g)| {
        let p = &p[row * m..][..m];
        let products = p.iter().zip(&*g).map(|(&p, &g)| p * g);
        let mean = products.fold(T::new(0.0), |sum, x| sum + x);
        for (&p, g) in p.iter().zip(g) {
            *g = p * (*g - mean);
        }
    });
    upstream
}
