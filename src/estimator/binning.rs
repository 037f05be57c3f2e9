//! Partitions of predictions into bins.
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

use std::{
    collections::{BTreeMap, HashMap},
    hash::{BuildHasher, RandomState},
};

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use crate::{
    distribution::Weights,
    error::{Error, Result, check_count, check_parameter, check_samples, check_values},
    host::{rounding, to_vec},
    numbers::tied,
    parallel,
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

    /// [`partition`](Self::partition) of rows on the host, in row-major order, with bins of equal mass by weight.
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
                if dimension == 1 {
                    uniform_of_one(points, bins)
                } else {
                    uniform(points, dimension, bins)
                }
            }
            Self::EqualMass { bins } => {
                check_count("the number of bins", bins)?;
                let name = "the dimension of points in bins of equal mass";
                let expected = "1, the probability of one event";
                check_parameter(dimension == 1, name, dimension as f64, expected)?;
                equal_mass(points, bins, weights)
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
                median_variance((points, dimension), minimum, rounding)
            }
        })
    }
}

/// Bins of equal width in each coordinate, in the order of their first sample.
fn uniform(points: &[f64], dimension: usize, bins: usize) -> Vec<Vec<usize>> {
    let state = RandomState::new();
    let tuple = |row: usize| {
        let point = &points[row * dimension..][..dimension];
        point.iter().map(|&p| equal_width_bin(p, bins))
    };
    // by the hash of a tuple the bins that have it; the tuple itself is that of the first sample
    let mut known: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut partition: Vec<Vec<usize>> = Vec::new();
    let mut own = vec![0; dimension];
    for row in 0..points.len() / dimension {
        own.iter_mut()
            .zip(tuple(row))
            .for_each(|(own, bin)| *own = bin);
        let same_hash = known.entry(state.hash_one(&own)).or_default();
        let is_same = |&&at: &&usize| tuple(partition[at][0]).eq(own.iter().copied());
        match same_hash.iter().find(is_same) {
            Some(&at) => partition[at].push(row),
            None => {
                same_hash.push(partition.len());
                partition.push(vec![row]);
            }
        }
    }
    partition
}

/// The same of a single coordinate, whose bins need no hash.
fn uniform_of_one(points: &[f64], bins: usize) -> Vec<Vec<usize>> {
    let mut known: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (row, &p) in points.iter().enumerate() {
        known.entry(equal_width_bin(p, bins)).or_default().push(row);
    }
    let mut partition: Vec<Vec<usize>> = known.into_values().collect();
    partition.sort_unstable_by_key(|rows| rows[0]);
    partition
}

/// The bin `b` (0-based) with `b/B < p ≤ (b+1)/B`; 0 lies in the first.
pub fn equal_width_bin(p: f64, bins: usize) -> usize {
    let scaled = p * bins as f64;
    let whole = scaled as usize; // and not `ceil`, which is a call where the processor is any
    let end = whole.saturating_add(usize::from((whole as f64) < scaled));
    end.clamp(1, bins) - 1
}

/// Bins of a single coordinate that end at the values of rank `⌈bn/B⌉`, in increasing order.
fn equal_mass(points: &[f64], bins: usize, weights: &Weights) -> Vec<Vec<usize>> {
    let n = points.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| points[i].total_cmp(&points[j]));
    let total: f64 = order.iter().map(|&row| weights.at(row)).sum();
    let mut partition = Vec::new();
    let (mut start, mut end, mut mass) = (0, 0, 0.0);
    for b in 1..=bins {
        // the first samples that have b/bins of the mass, in products that are exact of counts
        while end < n && mass * (bins as f64) < b as f64 * total {
            mass += weights.at(order[end]);
            end += 1;
        }
        while end > start && end < n && points[order[end]] == points[order[end - 1]] {
            mass += weights.at(order[end]);
            end += 1; // ties share a bin
        }
        if end > start {
            partition.push(order[start..end].to_vec());
        }
        start = end;
    }
    partition
}

/// Points in row-major order, and their dimension.
type Points<'a> = (&'a [f64], usize);

/// Parts of at least `minimum` samples, split at medians for as long as that is possible.
///
/// - rounding: relative difference up to which a number is equal to a median
fn median_variance(points: Points, minimum: usize, rounding: f64) -> Vec<Vec<usize>> {
    let n = points.0.len() / points.1;
    parts(points, minimum, rounding, (0..n).collect())
}

fn parts(points: Points, minimum: usize, rounding: f64, rows: Vec<usize>) -> Vec<Vec<usize>> {
    let (below, rest) = split(points, rounding, &rows);
    if below.len() < minimum || rest.len() < minimum {
        return vec![rows];
    }
    drop(rows);
    let parts = |rows| parts(points, minimum, rounding, rows);
    let (mut below, rest) = rayon::join(|| parts(below), || parts(rest));
    below.extend(rest);
    below
}

/// The rows below the median of the coordinate of largest variance, and the others. The median of
/// an even number of values is the upper one of the middle two: nothing lies between them. Values that differ from it
/// by rounding alone are not below it.
fn split((points, dimension): Points, rounding: f64, rows: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let spread = sums_of_squares(points, dimension, rows);
    // two classes vary alike: rounding, hence the order of the samples, must not decide
    let largest = spread.iter().copied().fold(0.0, f64::max) * (1.0 - 1e-10);
    let coordinate = spread.iter().position(|&s| s >= largest).expect("finite");
    let values = rows.iter().map(|&row| points[row * dimension + coordinate]);
    let mut sorted: Vec<f64> = values.collect();
    let middle = rows.len() / 2;
    let median = *sorted.select_nth_unstable_by(middle, f64::total_cmp).1;
    let least = median - rounding * median.abs();
    rows.iter()
        .partition(|&&row| points[row * dimension + coordinate] < least)
}

/// `Σ_i (x_ic − x̄_c)²` of each coordinate `c`.
fn sums_of_squares(points: &[f64], dimension: usize, rows: &[usize]) -> Vec<f64> {
    let point = |i: usize| &points[rows[i] * dimension..][..dimension];
    let [mut mean] = parallel::sums(rows.len(), dimension, |i, [sums]| {
        sums.iter_mut().zip(point(i)).for_each(|(sum, x)| *sum += x);
    });
    mean.iter_mut().for_each(|sum| *sum /= rows.len() as f64);
    let [squares] = parallel::sums(rows.len(), dimension, |i, [sums]| {
        let pairs = sums.iter_mut().zip(point(i)).zip(&mean);
        pairs.for_each(|((sum, x), mean)| *sum += (x - mean) * (x - mean));
    });
    squares
}

/// The contents of a bin.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[must_use]
pub struct Bin {
    /// The number of samples.
    pub size: usize,
    /// The sum of the weights of its samples: their number where there are none.
    #[serde(skip)]
    pub weight: f64,
    /// Their mean prediction.
    pub prediction: Vec<f64>,
    /// The frequency of each class among their labels.
    pub frequency: Vec<f64>,
}

impl Bin {
    /// Sums up the given rows of predictions in row-major order, and their labels.
    pub(crate) fn of(
        rows: &[usize],
        predictions: &[f64],
        labels: &[usize],
        classes: usize,
        weights: &Weights,
    ) -> Self {
        let mut prediction = vec![0.0; classes];
        let mut frequency = vec![0.0; classes];
        let weight = weights.sum(rows);
        let share = 1.0 / weight;
        for &row in rows {
            let p = &predictions[row * classes..(row + 1) * classes];
            let w = weights.at(row);
            let sums = prediction.iter_mut().zip(p);
            sums.for_each(|(sum, p)| *sum += w * p);
            frequency[labels[row]] += w;
        }
        for value in prediction.iter_mut().chain(&mut frequency) {
            *value *= share;
        }
        Self {
            size: rows.len(),
            weight,
            prediction,
            frequency,
        }
    }
}
