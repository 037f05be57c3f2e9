use serde::{Deserialize, Serialize};

/// The way in which a quantity that has a fused path is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Computation {
    /// Fused where there is a fused path for the kernel and the device, otherwise composed. The SKCE of
    /// classes has one in f32 and f64 on the host, wgpu and CUDA, that of normal predictions and the MMCE
    /// on the host.
    #[default]
    Auto,
    /// One pass by [`pair_statistic`](super::pair_statistic), a few rows at a time on a device without a
    /// fused one; a kernel that has no fused path is a panic in a loss and an error on data. The MMCE,
    /// which always has one, by [`laplacian_sum`](super::laplacian_sum): other devices are read back to the host.
    Fused,
    /// Tensor operations on `n × n` matrices, or on tiles of them: the reference that the fused path
    /// is tested against.
    Composed,
}
