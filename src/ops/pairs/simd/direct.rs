//! Small blocks of samples, pair by pair: linear in the number of samples.

use rayon::prelude::*;

use super::{Gradients, PairKernel, Radial, Real, Residuals, Samples};
use crate::radial::curve::Value;

/// Writes the sum of `h` of each block and adds to its gradient, if there is one; the sum of the
/// stretches.
pub(super) fn blocks<'a, T: Real>(
    block: impl Fn(usize) -> Samples<'a, T> + Sync,
    kernel: PairKernel,
    bandwidth: f64,
    values: &mut [f64],
    gradients: Vec<Option<Gradients<&mut [T]>>>,
) -> f64 {
    let stretches: Vec<f64> = values
        .par_iter_mut()
        .zip(gradients)
        .with_min_len(WORTH_A_THREAD)
        .enumerate()
        .map(|(k, (value, gradient))| {
            let samples = block(k);
            let stretch;
            (*value, stretch) = match samples.residuals {
                Residuals::Labels(labels) => {
                    let (points, d) = (samples.points, samples.d);
                    let residual = |i: usize, c: usize| {
                        f64::from(c == labels[i] as usize) - points[i * d + c].to_f64()
                    };
                    pairs(samples, residual, kernel, bandwidth, gradient)
                }
                Residuals::Rows { rows, m } => {
                    let residual = |i: usize, c: usize| rows[i * m + c].to_f64();
                    pairs(samples, residual, kernel, bandwidth, gradient)
                }
            };
            stretch
        })
        .collect();
    stretches.iter().sum() // in order, whatever the number of threads
}

/// The least number of blocks for each thread.
const WORTH_A_THREAD: usize = 256;

/// `Σ h` and `ν ∂/∂ν Σ h`, with coordinate `c` of the residual of sample `i`.
fn pairs<T: Real>(
    samples: Samples<T>,
    residual: impl Fn(usize, usize) -> f64,
    kernel: PairKernel,
    bandwidth: f64,
    mut gradient: Option<Gradients<&mut [T]>>,
) -> (f64, f64) {
    let (points, d, m) = (samples.points, samples.d, samples.residual_size());
    let radial = Radial::new(kernel, bandwidth);
    let is_euclidean = kernel.distance().is_euclidean();
    let (mut value, mut stretch) = (0.0, 0.0);
    for j in 1..samples.count() {
        for i in 0..j {
            let (p, q) = (&points[i * d..][..d], &points[j * d..][..d]);
            let mut separation = 0.0;
            for (p, q) in p.iter().zip(q) {
                let (p, q) = (p.to_f64(), q.to_f64());
                separation += if is_euclidean {
                    (p - q) * (p - q)
                } else {
                    (p - q).abs()
                };
            }
            let mut product = 0.0;
            for c in 0..m {
                product += residual(i, c) * residual(j, c);
            }
            let Value { kernel: k, slope } = radial.of(separation).value;
            value += k * product;
            stretch -= product * slope * separation;
            let Some(gradient) = &mut gradient else {
                continue;
            };
            let add = |x: &mut T, y: f64| *x = x.plus(T::new(y));
            for (c, (p, q)) in p.iter().zip(q).enumerate() {
                let (p, q) = (p.to_f64(), q.to_f64());
                let direction = match is_euclidean {
                    _ if p == q => 0.0,
                    false => (p - q).signum(),
                    true => p - q,
                };
                let through_kernel = product * slope * direction;
                add(&mut gradient.points[i * d + c], through_kernel);
                add(&mut gradient.points[j * d + c], -through_kernel);
            }
            // ∂δ/∂p = −1 where residuals are of labels
            let (of_residuals, sign) = match samples.residuals {
                Residuals::Labels(_) => (&mut *gradient.points, -1.0),
                Residuals::Rows { .. } => (&mut *gradient.residuals, 1.0),
            };
            for c in 0..m {
                add(&mut of_residuals[i * m + c], sign * k * residual(j, c));
                add(&mut of_residuals[j * m + c], sign * k * residual(i, c));
            }
        }
    }
    (value, stretch)
}
