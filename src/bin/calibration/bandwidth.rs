//! The kernel that the arguments ask for.

use burn_calibration::{
    distribution::Geometry,
    hypothesis::Omnibus,
    kernel::{Bandwidth, Distance, Kernel, Profile, median_distance_with_diagonal},
};
use rand::{rngs::StdRng, seq::index};

use crate::{
    args::{BandwidthChoice, KernelArgs, KernelShapeArgs},
    input::Result,
    limits::QUADRATIC_LIMIT,
};

/// Profile and distance of the kernel on predictions, with the median bandwidth.
pub fn shape<P: Omnibus>(args: &KernelShapeArgs) -> Kernel {
    let usual = match args.profile {
        Profile::Exponential | Profile::GeneralisedExponential { .. } => {
            P::default_kernel().distance
        }
        _ => Distance::Euclidean,
    };
    Kernel {
        profile: args.profile,
        distance: args.distance.unwrap_or(usual),
        bandwidth: Bandwidth::Median,
    }
}

/// The kernel on predictions with the bandwidth that is asked for.
pub fn fixed<P: Omnibus + Geometry>(
    args: &KernelArgs,
    predictions: &P,
    rng: &mut StdRng,
) -> Result<Kernel> {
    let kernel = shape::<P>(&args.shape);
    let n = predictions.len();
    let too_many = |choice: &str| {
        Err(too_long(
            &format!("--bandwidth {choice}"),
            n,
            "a number, or median:5000 for that of 5000 samples",
        ))
    };
    let fixed = match args.bandwidth {
        BandwidthChoice::Fixed(value) => Ok(kernel.with_bandwidth(Bandwidth::Fixed(value))),
        BandwidthChoice::Median if n > QUADRATIC_LIMIT => return too_many("median"),
        BandwidthChoice::MedianWithDiagonal if n > QUADRATIC_LIMIT => {
            return too_many("median-with-diagonal");
        }
        BandwidthChoice::MedianWithDiagonal => {
            let points = predictions.detach().coordinates().ok_or(
                "--bandwidth median-with-diagonal: these predictions are no points, expected median",
            )?;
            let median = median_distance_with_diagonal(&points, kernel.distance);
            Ok(kernel.with_bandwidth(Bandwidth::Fixed(median)))
        }
        BandwidthChoice::MedianOf(samples) if samples < n => {
            let rows = index::sample(rng, n, samples).into_vec();
            kernel.with_bandwidth_of_predictions(&predictions.select_rows(&rows))
        }
        _ => kernel.with_bandwidth_of_predictions(predictions),
    };
    fixed.map_err(|e| e.to_string())
}

/// The complaint about a median over too many pairs.
pub fn too_long(option: &str, samples: usize, expected: &str) -> String {
    format!(
        "{option}: the median over all pairs of {samples} samples takes too long, expected {expected}"
    )
}

/// A fixed bandwidth.
pub fn value(kernel: &Kernel) -> f64 {
    match kernel.bandwidth {
        Bandwidth::Fixed(value) => value,
        other => unreachable!("{other:?} is not fixed"),
    }
}
