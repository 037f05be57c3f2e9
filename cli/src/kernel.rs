//! Kernels by the names of profiles and distances, and the kernel that the arguments ask for.

use burn_calibration::{
    distribution::{Batch as _, Geometry},
    hypothesis::Omnibus,
    kernel::{Bandwidth, Distance, Kernel, Profile, median_distance_with_diagonal},
};

use crate::{
    args::{BandwidthChoice, KernelArgs, KernelShapeArgs},
    error::{Result, ensure, wrong},
    limits::QUADRATIC_LIMIT,
};

/// The distance of a name, or of a short one.
pub fn distance(text: &str) -> Result<Distance, String> {
    let short = |distance: &Distance| distance_name(*distance) == text;
    match Distance::ALL.iter().find(|distance| short(distance)) {
        Some(distance) => Ok(*distance),
        None => text.parse().map_err(|e| format!("{e}")),
    }
}

/// The short name of a distance, which the output has.
pub fn distance_name(distance: Distance) -> &'static str {
    match distance {
        Distance::TotalVariation => "tv",
        Distance::Euclidean => "l2",
        other => other.name(),
    }
}

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
pub fn fixed<P: Omnibus + Geometry>(args: &KernelArgs, predictions: &P) -> Result<Kernel> {
    let (predictions, _) = &predictions.parted();
    const DIAGONAL: &str = "--bandwidth median-with-diagonal";
    let kernel = shape::<P>(&args.shape);
    let n = predictions.len();
    let fixed = match args.bandwidth {
        BandwidthChoice::Fixed(value) => kernel.with_bandwidth(Bandwidth::Fixed(value)),
        BandwidthChoice::MedianWithDiagonal => {
            ensure!(
                n <= QUADRATIC_LIMIT,
                "{DIAGONAL}: the median over all pairs of {n} samples takes too long, expected a number or median"
            );
            let points = predictions.detach().coordinates();
            let reason = "these predictions are not points, expected median";
            let points = points.ok_or_else(|| wrong!("{DIAGONAL}: {reason}"))?;
            ensure!(
                points.clone().is_finite().all().into_scalar::<bool>(),
                "{DIAGONAL}: a coordinate of the predictions is beyond the largest number, expected finite ones"
            );
            let median = median_distance_with_diagonal(&points, kernel.distance);
            kernel.with_bandwidth(Bandwidth::Fixed(median))
        }
        BandwidthChoice::Median => kernel.with_bandwidth_of_predictions(predictions)?,
    };
    fixed.validate()?;
    Ok(fixed)
}

/// Whose predictions a bandwidth is the median of, where several are compared by it, unless it is a number that was
/// given.
pub fn whose_median(args: &KernelArgs, of: &str, all: &str) -> String {
    match args.bandwidth {
        BandwidthChoice::Fixed(_) => String::new(),
        _ => format!(", the median {of}, used for {all}"),
    }
}

/// A fixed bandwidth.
pub fn bandwidth_of(kernel: &Kernel) -> f64 {
    match kernel.bandwidth {
        Bandwidth::Fixed(value) => value,
        other => unreachable!("{other:?} is not fixed"),
    }
}
