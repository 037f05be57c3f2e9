use burn_calibration::kernel::{Bandwidth, RealKernel, TensorKernel};

/// The kernel of all experiments, `exp(−W₂(p, p')) exp(−‖y − y'‖²/2)`.
pub fn kernel() -> TensorKernel<RealKernel> {
    TensorKernel::wasserstein(RealKernel::gaussian(1.0)).with_bandwidth(Bandwidth::Fixed(1.0))
}
