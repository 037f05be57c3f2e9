use std::sync::Arc;

use crate::{
    distribution::{Categorical, ClassRows, Geometry, Weights},
    host::to_vec,
    kernel::{Kernel, Profile},
    ops::{self, PairKernel, Real},
};

/// A kernel between points on the host, at one or several bandwidths, in vectors of the processor.
pub struct HostKernel {
    kernel: PairKernel,
    bandwidth: f64,
    /// The bandwidths, in units of that of the kernel.
    factors: Vec<f64>,
    /// Their numbers, by decreasing bandwidth.
    widest_first: Vec<usize>,
    /// Coordinates of a point.
    d: usize,
}

impl HostKernel {
    /// Takes a kernel with a fixed bandwidth, times each factor.
    pub fn new(kernel: Kernel, factors: &[f64], d: usize) -> Self {
        let mut widest_first: Vec<usize> = (0..factors.len()).collect();
        widest_first.sort_by(|&a, &b| factors[b].total_cmp(&factors[a]));
        Self {
            kernel: kernel.fused(),
            bandwidth: kernel.fixed_bandwidth(),
            factors: factors.to_vec(),
            widest_first,
            d,
        }
    }

    /// The number of bandwidths.
    pub fn bandwidths(&self) -> usize {
        self.factors.len()
    }

    /// Calls a function with the number of each bandwidth and `k(x_i, y_j)` at it, `[n, k]` from `[n, d]`
    /// and `[k, d]`, row by row.
    ///
    /// The exponential and the Gaussian profile take the exponential once, at the widest bandwidth: the kernel at
    /// another is a power of it.
    pub fn at_each<T: Real>(&self, x: &[T], y: &[T], mut of: impl FnMut(usize, &[T])) {
        let power = match self.kernel.profile() {
            Profile::Exponential => 1.0,
            Profile::Gaussian => 2.0,
            // κ(r/f) is no power of κ(r)
            _ => {
                let at = |(b, factor): (usize, &f64)| of(b, &self.matrix(x, y, *factor));
                return self.factors.iter().enumerate().for_each(at);
            }
        };
        let mut kernel: Vec<T> = Vec::new();
        let mut last = f64::NAN;
        for &b in &self.widest_first {
            let factor = self.factors[b];
            match (last / factor).powf(power) {
                exponent if exponent.log2().fract() == 0.0 => {
                    for _ in 0..exponent.log2() as usize {
                        kernel.iter_mut().for_each(|k| *k = *k * *k);
                    }
                }
                _ => kernel = self.matrix(x, y, factor),
            }
            last = factor;
            of(b, &kernel);
        }
    }

    /// [`at_each`](Self::at_each) of the points of samples, times the weights of both samples.
    pub fn at_weighted<T: Real>(
        &self,
        [x, y]: [&[T]; 2],
        [rows, columns]: [&[usize]; 2],
        weights: &Weights,
        mut of: impl FnMut(usize, &[T]),
    ) {
        if !weights.are_given() {
            return self.at_each(x, y, of);
        }
        self.at_each(x, y, |b, kernel| {
            let row = |(i, kernel): (&usize, &[T])| {
                let w = weights.at(*i);
                let pairs = columns.iter().zip(kernel.to_vec());
                let times = |(j, k): (&usize, T)| k * T::new(w * weights.at(*j));
                pairs.map(times).collect::<Vec<T>>()
            };
            let rows = rows.iter().zip(kernel.chunks(columns.len()));
            of(b, &rows.flat_map(row).collect::<Vec<T>>());
        });
    }

    /// The same matrices all at once, in f64: what callers for any kind of prediction take is compiled here, and not
    /// once more in every crate that has such predictions.
    pub fn matrices(&self, x: &[f64], y: &[f64]) -> Vec<Vec<f64>> {
        let mut matrices = vec![Vec::new(); self.bandwidths()];
        self.at_each(x, y, |b, kernel| matrices[b] = kernel.to_vec());
        matrices
    }

    fn matrix<T: Real>(&self, x: &[T], y: &[T], factor: f64) -> Vec<T> {
        ops::host_kernel_matrix(x, y, self.d, self.kernel, factor * self.bandwidth)
    }
}

/// Class predictions on the host, and the points that a kernel compares: the probabilities, or a variable
/// that they are given.
pub struct ClassPoints {
    pub(super) rows: Arc<ClassRows>,
    given: Option<Vec<f64>>,
    pub(super) weights: Weights,
    /// Coordinates of a point.
    pub d: usize,
}

impl ClassPoints {
    /// Takes the points of predictions, which may carry weights.
    pub fn of<P: Geometry<Unconditional = Categorical>>(predictions: &P) -> Self {
        let (predictions, weights) = predictions.parted();
        let rows = predictions.unconditional().rows();
        let given = (!predictions.has_own_distances()).then(|| {
            let points = predictions.coordinates();
            to_vec(points.expect("the variable").detach())
        });
        Self {
            weights,
            d: (given.as_ref()).map_or(rows.classes, |given| given.len() / rows.samples()),
            rows,
            given,
        }
    }

    /// The points, row by row.
    pub fn values(&self) -> &[f64] {
        self.given.as_deref().unwrap_or(&*self.rows.values)
    }

    /// The point of a sample.
    pub fn point(&self, sample: usize) -> &[f64] {
        &self.values()[sample * self.d..][..self.d]
    }
}
