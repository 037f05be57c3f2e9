//! Partitions of predictions into bins, one scheme a file.
//!
//! A binned calibration error compares, within each bin, the mean prediction with the mean label. All
//! schemes use only the predictions. The bins do not depend on the order of the samples: samples with equal
//! predictions share a bin, up to rounding.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use burn_calibration::estimator::Binning;
//!
//! # fn main() -> burn_calibration::error::Result<()> {
//! let confidences = Tensor::<2>::from_floats([[0.25], [0.5], [0.75], [0.9]], &Device::default());
//! let halves = Binning::Uniform { bins: 2 }.partition(&confidences)?; // [0, ½] and (½, 1]
//! assert_eq!(halves, [vec![0, 1], vec![2, 3]]);
//! # Ok(())
//! # }
//! ```

mod bin;
mod equal_mass;
mod median_variance;
mod uniform;

pub use bin::Bin;
pub use uniform::bin as equal_width_bin;

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use crate::{
    distribution::Weights,
    error::{Error, Result, check_count, check_parameter, check_samples, check_values},
    host::{rounding, to_vec},
    numbers::tied,
};

/// The rule that divides samples into bins by their predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Binning {
    /// Each coordinate in `B` bins of equal width, right-closed, `((b−1)/B, b/B]`, with 0 in the
    /// first; a bin of a vector is the tuple of the bins of its coordinates (Guo et al. 2017,
    /// Vaicenavicius et al. 2019). Only occupied bins are held, `O(n)` of them however many classes.
    Uniform {
        /// The number `B` of bins of each coordinate.
        bins: usize,
    },
    /// Bins with about the same number of samples, of a single coordinate: right-closed at the
    /// values of rank `⌈bn/B⌉` for `b = 1..B`. Ties can leave fewer bins.
    EqualMass {
        /// The number `B` of bins.
        bins: usize,
    },
    /// All samples, split at the median of the coordinate of largest variance (the first of several)
    /// into those below and the others, and each part again, until a part would fall below the
    /// minimum size (Widmann et al. 2019, section J.1.1).
    MedianVariance {
        /// The smallest number of samples of a bin.
        minimum: usize,
    },
}

impl Binning {
    /// The bins as lists of row numbers: each row in exactly one bin, no bin empty.
    ///
    /// # Shapes
    ///
    /// - points: `[n, d]`, probabilities (of all classes, or of one event with `d = 1`)
    ///
    /// Cost: `O(n·d)` for uniform bins, `O(n log n)` for equal mass, `O(n·d·log n)` for
    /// median-variance.
    ///
    /// # Errors
    ///
    /// A point that is not finite, with its row; no bins; [`EqualMass`](Self::EqualMass) of points with several
    /// coordinates; a minimum size of 0 or above `n`.
    pub fn partition(&self, points: &Tensor<2>) -> Result<Vec<Vec<usize>>> {
        let [_, dimension] = points.dims();
        let rounding = rounding(points.dtype());
        let points = to_vec(points.clone().detach());
        let finite = (f64::is_finite, "a finite number");
        check_values(&points, (dimension, "coordinate"), "the point", finite)?;
        let points = if dimension == 1 {
            tied(&points, |at| rounding * points[at].abs())
        } else {
            points // of several coordinates the split looks at one at a time
        };
        self.partition_rounded(&points, dimension, &Weights::default(), rounding)
    }

    /// [`partition`](Self::partition) of rows on the host, in row-major order.
    pub(crate) fn partition_rows(
        &self,
        points: &[f64],
        dimension: usize,
    ) -> Result<Vec<Vec<usize>>> {
        self.partition_weighted(points, dimension, &Weights::default())
    }

    /// As [`partition_rows`](Self::partition_rows), with bins of equal mass by weight.
    ///
    /// # Errors
    ///
    /// Weights and bins that are split at medians, besides.
    pub(crate) fn partition_weighted(
        &self,
        points: &[f64],
        dimension: usize,
        weights: &Weights,
    ) -> Result<Vec<Vec<usize>>> {
        self.partition_rounded(points, dimension, weights, 0.0)
    }

    /// As [`partition_weighted`](Self::partition_weighted), of points that are equal to a median up to a relative
    /// rounding.
    ///
    /// # Errors
    ///
    /// The bins of [`partition_weighted`](Self::partition_weighted), for points that are rounded.
    pub(crate) fn partition_rounded(
        &self,
        points: &[f64],
        dimension: usize,
        weights: &Weights,
        rounding: f64,
    ) -> Result<Vec<Vec<usize>>> {
        Ok(match *self {
            Self::Uniform { bins } => {
                check_count("the number of bins", bins)?;
                uniform::partition(points, dimension, bins)
            }
            Self::EqualMass { bins } => {
                check_count("the number of bins", bins)?;
                let name = "the dimension of points in bins of equal mass";
                let expected = "1, the probability of one event";
                check_parameter(dimension == 1, name, dimension as f64, expected)?;
                equal_mass::partition(points, bins, weights)
            }
            Self::MedianVariance { .. } if weights.are_given() => {
                return Err(Error::Unsupported {
                    what: "bins that are split at medians take no sample weights".into(),
                    expected: "bins of equal width or of equal mass",
                });
            }
            Self::MedianVariance { minimum } => {
                check_count("the minimum size of a bin", minimum)?;
                let samples = points.len() / dimension;
                check_samples("a bin of the minimum size", minimum, samples)?;
                median_variance::partition((points, dimension), minimum, rounding)
            }
        })
    }
}
