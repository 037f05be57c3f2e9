use burn::tensor::Device;
use clap::{Parser, ValueEnum};

/// Train with a calibration penalty, recalibrate, test: on 1,797 handwritten digits
#[derive(Debug, Parser)]
pub struct Arguments {
    /// First seed: of the split, the weights, the batches and the tests
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    /// Number of seeds that the table averages over
    #[arg(long, default_value_t = 20, value_parser = at_least_one)]
    pub seeds: usize,

    /// Passes over the training digits
    #[arg(long, default_value_t = 200, value_parser = at_least_one)]
    pub epochs: usize,

    /// Weight of the SKCE penalty
    #[arg(long, default_value_t = 2.0, value_parser = weight)]
    pub lambda: f64,

    /// Weight of the MMCE penalty
    #[arg(long, default_value_t = 1.0, value_parser = weight)]
    pub lambda_mmce: f64,

    /// Which digits the penalty is of
    #[arg(long, value_enum, default_value_t = Penalise::HeldOut)]
    pub penalise: Penalise,

    /// Where to compute; all but flex need a build with the feature of that name
    #[arg(long, value_enum, default_value_t = Backend::Flex)]
    pub device: Backend,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|&n| n > 0)
        .ok_or("expected a whole number of at least 1".into())
}

fn weight(text: &str) -> Result<f64, String> {
    let weight = text
        .parse()
        .ok()
        .filter(|w: &f64| w.is_finite() && *w >= 0.0);
    weight.ok_or("expected a finite number of at least 0".into())
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Penalise {
    /// Digits held out for it
    HeldOut,
    /// Those that cross-entropy trains on
    Training,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Backend {
    Flex,
    Ndarray,
    Wgpu,
    Cuda,
}

impl Backend {
    /// The device, if its backend was compiled in.
    pub fn open(self) -> Result<Device, String> {
        match self {
            Self::Flex => Ok(Device::flex()),
            #[cfg(feature = "ndarray")]
            #[allow(deprecated)]
            // upstream deprecates the backend; it stays a supported feature here
            Self::Ndarray => Ok(Device::ndarray()),
            #[cfg(feature = "wgpu")]
            Self::Wgpu => Ok(Device::wgpu(Default::default())),
            #[cfg(feature = "cuda")]
            Self::Cuda => Ok(Device::cuda(0)),
            #[allow(unreachable_patterns)] // where all are compiled in
            other => Err(format!(
                "--device {0}: not compiled in, run with --features {0}",
                format!("{other:?}").to_lowercase()
            )),
        }
    }
}
