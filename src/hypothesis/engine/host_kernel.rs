use burn::tensor::{DType, Device, Tensor, TensorData};

use crate::{
    host::{finest, to_vec},
    kernel::{Bandwidth, ClassKernel, Kernel},
    ops::{PairKernel, cpu},
};

/// A kernel between points on the host: in vectors of the processor where its profile has them, else
/// composed of tensor operations.
pub struct HostKernel {
    kernel: Kernel,
    fused: Option<(PairKernel, f64)>,
    /// Where the composition runs.
    device: Device,
    /// Coordinates of a point.
    d: usize,
}

impl HostKernel {
    /// Of a kernel with a fixed bandwidth.
    pub fn new(kernel: Kernel, d: usize, device: Device) -> Self {
        let Bandwidth::Fixed(bandwidth) = kernel.bandwidth else {
            panic!("a kernel on the host needs a fixed bandwidth");
        };
        Self {
            kernel,
            fused: kernel.fused().map(|fused| (fused, bandwidth)),
            device,
            d,
        }
    }

    /// `k(x_i, y_j)`, `[n, k]` from `[n, d]` and `[k, d]`, row by row.
    pub fn matrix<T: cpu::Real>(&self, x: &[T], y: &[T]) -> Vec<T> {
        if let Some((fused, bandwidth)) = self.fused {
            return cpu::kernel_matrix(x, y, self.d, fused, bandwidth);
        }
        let dtype = finest(&self.device);
        let tensor = |points: &[T]| {
            let numbers: Vec<f64> = points.iter().map(|x| x.to_f64()).collect();
            let data = TensorData::new(numbers, [1, points.len() / self.d, self.d]);
            Tensor::<3>::from_data(data.convert_dtype(DType::F64), (&self.device, dtype))
        };
        let matrix = to_vec(self.kernel.between(tensor(x), tensor(y)));
        matrix.into_iter().map(T::new).collect()
    }
}
