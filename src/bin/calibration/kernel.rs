//! The kernel that the arguments ask for.

use burn::tensor::{Tensor, TensorData};
use burn_calibration::{
    distribution::Categorical,
    kernel::{Bandwidth, Kernel, median_distance_with_diagonal},
};
use rand::{rngs::StdRng, seq::index};

use crate::{
    args::{BandwidthChoice, KernelArgs, KernelName, KernelShapeArgs},
    evaluate::QUADRATIC_LIMIT,
    input::Result,
};

/// Profile and distance of the kernel, with the median bandwidth.
pub fn shape(args: &KernelShapeArgs) -> Kernel {
    let kernel = match args.profile {
        KernelName::Exponential => Kernel::exponential(),
        KernelName::Gaussian => Kernel::gaussian(),
    };
    args.distance
        .map_or(kernel, |distance| kernel.with_distance(distance.into()))
}

/// The kernel with the bandwidth that the arguments fix, if they do.
pub fn kernel(args: &KernelArgs, predictions: &Categorical) -> Result<Kernel> {
    let kernel = shape(&args.shape);
    let n = predictions.samples();
    match args.bandwidth {
        BandwidthChoice::Fixed(value) => Ok(kernel.with_bandwidth(Bandwidth::Fixed(value))),
        BandwidthChoice::Median if n > QUADRATIC_LIMIT => Err(format!(
            "--bandwidth median: the median over all pairs of {n} samples takes too long, expected a \
             number, or median:5000 for that of 5000 samples"
        )),
        _ => Ok(kernel),
    }
}

/// The same kernel with the bandwidth of the predictions, unless it is fixed.
pub fn fix_bandwidth(
    args: &KernelArgs,
    kernel: Kernel,
    predictions: &Categorical,
    rng: &mut StdRng,
) -> Kernel {
    let points = predictions.probabilities();
    let points = match args.bandwidth {
        BandwidthChoice::MedianOf(samples) if samples < predictions.samples() => {
            let rows = index::sample(rng, predictions.samples(), samples).into_iter();
            let rows: Vec<i64> = rows.map(|row| row as i64).collect();
            let rows = TensorData::new(rows, [samples]);
            points
                .clone()
                .select(0, Tensor::from_data(rows, &points.device()))
        }
        _ => points,
    };
    match kernel.bandwidth {
        Bandwidth::Fixed(_) => kernel,
        // as in the published results
        Bandwidth::Median => kernel.with_bandwidth(Bandwidth::Fixed(
            median_distance_with_diagonal(&points, kernel.distance),
        )),
    }
}

/// A fixed bandwidth.
pub fn bandwidth(kernel: &Kernel) -> f64 {
    match kernel.bandwidth {
        Bandwidth::Fixed(value) => value,
        Bandwidth::Median => unreachable!("fixed by fix_bandwidth"),
    }
}
