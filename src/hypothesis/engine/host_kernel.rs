use burn::tensor::{DType, Device, Tensor, TensorData};

use crate::{
    host::{finest, to_vec},
    kernel::{Bandwidth, ClassKernel, Kernel, Profile},
    ops::{self, PairKernel, Real},
};

/// A kernel between points on the host, at one or several bandwidths: in vectors of the processor where
/// its profile has them, else composed of tensor operations.
pub struct HostKernel {
    kernel: Kernel,
    bandwidth: f64,
    fused: Option<PairKernel>,
    /// The bandwidths, in units of that of the kernel.
    factors: Vec<f64>,
    /// Where the composition runs.
    device: Device,
    /// Coordinates of a point.
    d: usize,
}

impl HostKernel {
    /// Of a kernel with a fixed bandwidth, times each factor.
    pub fn new(kernel: Kernel, factors: &[f64], d: usize, device: Device) -> Self {
        let Bandwidth::Fixed(bandwidth) = kernel.bandwidth else {
            panic!("a kernel on the host needs a fixed bandwidth");
        };
        Self {
            kernel,
            bandwidth,
            fused: kernel.fused(),
            factors: factors.to_vec(),
            device,
            d,
        }
    }

    /// How many bandwidths there are.
    pub fn bandwidths(&self) -> usize {
        self.factors.len()
    }

    /// `k(x_i, y_j)` at each bandwidth, `[n, k]` from `[n, d]` and `[k, d]`, row by row.
    pub fn matrices<T: Real>(&self, x: &[T], y: &[T]) -> Vec<Vec<T>> {
        let base = || self.matrix(x, y, 1.0);
        let power = match self.kernel.profile {
            Profile::Exponential => 1.0,
            Profile::Gaussian => 2.0,
            // κ(r/f) is no power of κ(r)
            _ => return self.factors.iter().map(|f| self.matrix(x, y, *f)).collect(),
        };
        let base = base();
        let of_factor = |f: &f64| raised(&base, f.powf(-power));
        self.factors.iter().map(of_factor).collect()
    }

    fn matrix<T: Real>(&self, x: &[T], y: &[T], factor: f64) -> Vec<T> {
        let bandwidth = factor * self.bandwidth;
        if let Some(fused) = self.fused {
            return ops::host_kernel_matrix(x, y, self.d, fused, bandwidth);
        }
        let dtype = finest(&self.device);
        let tensor = |points: &[T]| {
            let numbers: Vec<f64> = points.iter().map(|x| x.to_f64()).collect();
            let data = TensorData::new(numbers, [1, points.len() / self.d, self.d]);
            Tensor::<3>::from_data(data.convert_dtype(DType::F64), (&self.device, dtype))
        };
        let kernel = self.kernel.with_bandwidth(Bandwidth::Fixed(bandwidth));
        let matrix = to_vec(kernel.between(tensor(x), tensor(y)));
        matrix.into_iter().map(T::new).collect()
    }
}

/// `k^a` of numbers in `[0, 1]`, by squares and roots where `a` is a power of 2.
fn raised<T: Real>(k: &[T], exponent: f64) -> Vec<T> {
    let steps = exponent.log2();
    if steps.fract() != 0.0 {
        return k
            .iter()
            .map(|k| T::new(k.to_f64().powf(exponent)))
            .collect();
    }
    let mut raised = k.to_vec();
    for _ in 0..steps.abs() as usize {
        for k in &mut raised {
            *k = match steps > 0.0 {
                true => k.times(*k),
                false => T::new(k.to_f64().sqrt()),
            };
        }
    }
    raised
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Several bandwidths at once are one after another, with vectors and without.
    #[test]
    fn bandwidths_are_those_of_kernels_of_their_own() {
        let x = [0.1f64, 0.9, 0.4, 0.6, 0.75, 0.25];
        let factors = [0.25, 1.0, 3.0, 4.0];
        for kernel in [
            Kernel::exponential(),
            Kernel::gaussian(),
            Kernel::matern32(),
            Kernel::generalised_exponential(0.5),
        ] {
            let at = |bandwidth| kernel.with_bandwidth(Bandwidth::Fixed(bandwidth));
            let host = |kernel, factors: &[f64]| {
                HostKernel::new(kernel, factors, 2, Device::default()).matrices(&x, &x[..4])
            };
            let together = host(at(0.3), &factors);
            for (matrix, factor) in together.iter().zip(factors) {
                let alone = &host(at(0.3 * factor), &[1.0])[0];
                for (a, b) in matrix.iter().zip(alone) {
                    assert!((a - b).abs() < 1e-12, "{kernel:?}, {factor}: {a}, {b}");
                }
            }
        }
    }
}
