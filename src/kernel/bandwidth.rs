use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::Distance;
use crate::{
    host::int_tensor,
    ops::{distance_order_statistics, mean_or_one, middle_ranks, subsample},
};

/// The bandwidth `ν` of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Bandwidth {
    /// A positive number, in units of the distance.
    Fixed(f64),
    /// The median heuristic: the median of the distances between the pairs `i < j`, the mean of
    /// the two middle ones where their number is even; 1 where it is 0, or so small that it is no bandwidth
    /// (below 1e-100, in f32 below 1e-18). Detached from gradients.
    ///
    /// On data the median is over all pairs. In a training loss it is over the pairs that the
    /// estimator uses (those within blocks, of samples that are no padding), and 1 for points that are not
    /// finite or so far apart that the median overflows.
    ///
    /// Above 4,096 points the median is that of 4,096 of them, which are drawn at random with a fixed seed: the
    /// same ones on every backend and on every call. It differs from the median of all points by some
    /// thousandths. Of blocks as many whole ones are drawn as have no more pairs than 4,096 points, 8,386,560.
    ///
    /// On other devices than the host a bisection finds the median of a training loss, exact except for some
    /// units in the last place; nothing is read back.
    Median,
    /// The median, at least this share of the [spread](crate::distribution::Geometry::spread) of the
    /// predictions, which for classes is 1. A finite number of at least 0; 0 is the median alone.
    ///
    /// The gradient of a penalty grows with the inverse of its bandwidth, so that of a small median is
    /// large: without a floor, the penalty would drive apart predictions that hardly differ, such as those
    /// of a new network. [`SkceLoss`](crate::loss::SkceLoss) trains with [`TRAINING_FLOOR`] wherever the
    /// bandwidth is a median.
    MedianAtLeast(f64),
}

/// The least bandwidth in training where it is a median, as a share of the spread of the predictions, see
/// [`Bandwidth::MedianAtLeast`].
pub const TRAINING_FLOOR: f64 = 0.1;

impl Bandwidth {
    /// Returns the bandwidth for training: a median has a floor.
    pub(crate) fn for_training(self) -> Self {
        match self {
            Self::Median => Self::MedianAtLeast(TRAINING_FLOOR),
            other => other,
        }
    }

    /// Returns whether the bandwidth is the median of the data.
    pub fn is_median(self) -> bool {
        !matches!(self, Self::Fixed(_))
    }

    /// The share of the spread that the bandwidth has at least.
    pub(crate) fn floor(self) -> f64 {
        match self {
            Self::MedianAtLeast(share) => share,
            _ => 0.0,
        }
    }

    /// The bandwidth of a median, `[1]`: at least the share of the spread, which is 1 for classes. A
    /// spread that is not finite counts as 1.
    pub(crate) fn floored(
        self,
        median: Tensor<1>,
        spread: impl FnOnce() -> Option<Tensor<1>>,
    ) -> Tensor<1> {
        match (self.floor(), spread) {
            (0.0, _) => median,
            (share, spread) => match spread() {
                None => median.clamp_min(share),
                Some(spread) => {
                    let unknown = spread.clone().is_finite().bool_not();
                    median.max_pair(spread.mask_fill(unknown, 1.0) * share)
                }
            },
        }
    }
}

/// The median of the distances between all pairs `i < j` of points: the mean of the two middle
/// ones where their number is even. 1 if it is 0 (then most points coincide and the kernel cannot
/// resolve them anyway) or if there are fewer than two points. Above 4,096 points it is that of a fixed subsample,
/// see [`Bandwidth::Median`].
///
/// # Shapes
///
/// - points: `[n, d]`
///
/// Cost: as [`distance_order_statistics`] of at most 4,096 points.
pub fn median_distance(points: &Tensor<2>, distance: Distance) -> f64 {
    let points = &subsampled(points);
    let n = points.dims()[0] as u64;
    let pairs = n * n.saturating_sub(1) / 2;
    if pairs == 0 {
        return 1.0;
    }
    let middle = distance_order_statistics(points, distance, &middle_ranks(pairs));
    mean_or_one(&middle, points.dtype())
}

/// The median of the distances between all `n²` ordered pairs of points, the zeros of the diagonal
/// included, as in the published results of Widmann et al. 2019: a little below
/// [`median_distance`]. 1 if it is 0. It is of all points, however many there are.
///
/// # Shapes
///
/// - points: `[n, d]`
///
/// Cost: as [`distance_order_statistics`].
pub fn median_distance_with_diagonal(points: &Tensor<2>, distance: Distance) -> f64 {
    let n = points.dims()[0] as u64;
    if n < 2 {
        return 1.0;
    }
    // sorted: n zeros, then each distance of a pair i < j twice
    let middle = middle_ranks(n * n);
    let rank = |k: &u64| Some(k.checked_sub(n)? / 2);
    let ranks: Vec<u64> = middle.iter().filter_map(rank).collect();
    mean_or_one(
        &distance_order_statistics(points, distance, &ranks),
        points.dtype(),
    )
}

/// The points whose distances have the median.
fn subsampled(points: &Tensor<2>) -> Tensor<2> {
    let rows = subsample(points.dims()[0]);
    let select = |rows: Vec<usize>| points.clone().select(0, int_tensor(rows, &points.device()));
    rows.map_or_else(|| points.clone(), select)
}
