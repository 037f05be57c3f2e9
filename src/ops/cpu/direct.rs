//! Small blocks of samples, pair by pair: linear in the number of samples.

use rayon::prelude::*;

use super::{PairKernel, Real, Samples, Separation};

/// Writes the sum of `h` of each block and adds to the gradient; the sum of the stretches.
pub(super) fn blocks<'a, T: Real>(
    block: impl Fn(usize) -> Samples<'a, T> + Sync,
    len: usize,
    kernel: PairKernel,
    bandwidth: f64,
    values: &mut [f64],
    gradient: Option<&mut [T]>,
) -> f64 {
    match gradient {
        None => {
            let value = |(k, value): (usize, &mut f64)| {
                *value = pairs(block(k), kernel, bandwidth, None).0;
            };
            values
                .par_iter_mut()
                .with_min_len(WORTH_A_THREAD)
                .enumerate()
                .for_each(value);
            0.0
        }
        Some(gradient) => {
            let gradients = gradient.par_chunks_mut(len).with_min_len(WORTH_A_THREAD);
            let stretches: Vec<f64> = values
                .par_iter_mut()
                .zip(gradients)
                .enumerate()
                .map(|(k, (value, gradient))| {
                    let stretch;
                    (*value, stretch) = pairs(block(k), kernel, bandwidth, Some(gradient));
                    stretch
                })
                .collect();
            stretches.iter().sum() // in order, whatever the number of threads
        }
    }
}

/// So many blocks are done at least by each thread.
const WORTH_A_THREAD: usize = 256;

/// `Σ h` and `ν ∂/∂ν Σ h`.
fn pairs<T: Real>(
    samples: Samples<T>,
    kernel: PairKernel,
    bandwidth: f64,
    mut gradient: Option<&mut [T]>,
) -> (f64, f64) {
    let Samples { points, labels, d } = samples;
    let rate = kernel.scale() / bandwidth;
    let (mut value, mut stretch) = (0.0, 0.0);
    for j in 1..labels.len() {
        for i in 0..j {
            let (p, q) = (&points[i * d..][..d], &points[j * d..][..d]);
            let (y, z) = (labels[i] as usize, labels[j] as usize);
            let (mut separation, mut product) = (0.0, 0.0);
            for (c, (p, q)) in p.iter().zip(q).enumerate() {
                let (p, q) = (p.to_f64(), q.to_f64());
                separation += match kernel.separation {
                    Separation::L1 { .. } => (p - q).abs(),
                    Separation::Euclidean => (p - q) * (p - q),
                };
                product += (f64::from(c == y) - p) * (f64::from(c == z) - q);
            }
            let distance = match kernel.separation {
                Separation::L1 { .. } => separation,
                Separation::Euclidean => separation.sqrt(),
            };
            let r = rate * distance;
            let (k, slope, h_stretch) = match kernel.squared {
                false => ((-r).exp(), -rate, r),
                true => ((-0.5 * r * r).exp(), -rate * r, r * r),
            };
            value += k * product;
            stretch += k * product * h_stretch;
            let Some(gradient) = &mut gradient else {
                continue;
            };
            for (c, (p, q)) in p.iter().zip(q).enumerate() {
                let (p, q) = (p.to_f64(), q.to_f64());
                let direction = match kernel.separation {
                    _ if p == q => 0.0,
                    Separation::L1 { .. } => (p - q).signum(),
                    Separation::Euclidean if distance == 0.0 => 0.0,
                    Separation::Euclidean => (p - q) / distance,
                };
                let through_kernel = product * k * slope * direction;
                let add = |x: &mut T, y: f64| *x = x.plus(T::new(y));
                add(
                    &mut gradient[i * d + c],
                    through_kernel - k * (f64::from(c == z) - q),
                );
                add(
                    &mut gradient[j * d + c],
                    -through_kernel - k * (f64::from(c == y) - p),
                );
            }
        }
    }
    (value, stretch)
}
