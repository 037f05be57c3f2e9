use std::sync::Arc;

use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};

use super::{Bin, Binning, Event};
use crate::{
    distribution::{Categorical, ClassRows, Flip, Weighted as _, Weights},
    error::Result,
    estimator::Estimator,
    parallel,
};

/// The part of a prediction that is binned and compared with the labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Aspect {
    /// The probabilities of all classes.
    Vector,
    /// The probability `r` of one event: bins of `r`, the prediction `(1 − r, r)` of two classes.
    Event(Event),
}

/// The distance of the mean prediction `p̄` of a bin from the frequencies `ȳ` of the classes in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Discrepancy {
    /// `½ Σ_c |p̄_c − ȳ_c|`; for an event, `|r̄ − c̄|`.
    TotalVariation,
    /// `Σ_c |p̄_c − ȳ_c|`, twice the total variation.
    L1,
    /// `Σ_c (p̄_c − ȳ_c)²`; for an event, `2(r̄ − c̄)²`.
    SquaredEuclidean,
}

impl Discrepancy {
    /// The discrepancy of a bin.
    pub fn of(self, bin: &Bin) -> f64 {
        let pairs = bin.prediction.iter().zip(&bin.frequency);
        let differences = pairs.map(|(p, y)| p - y);
        match self {
            Self::TotalVariation => 0.5 * differences.map(f64::abs).sum::<f64>(),
            Self::L1 => differences.map(f64::abs).sum(),
            Self::SquaredEuclidean => differences.map(|d| d * d).sum(),
        }
    }

    /// `Σ_b (n_b/n) d_b` over the bins of `n` samples.
    pub fn expected(self, bins: &[Bin]) -> f64 {
        Gap::mean(&self.gaps(bins))
    }

    /// `max_b d_b` over bins.
    pub fn greatest(self, bins: &[Bin]) -> f64 {
        Gap::largest(&self.gaps(bins))
    }

    fn gaps(self, bins: &[Bin]) -> Vec<Gap> {
        bins.iter().map(|bin| self.gap(bin)).collect()
    }

    /// The discrepancy of a bin with its weight.
    pub(crate) fn gap(self, bin: &Bin) -> Gap {
        Gap {
            size: self.of(bin),
            weight: bin.weight,
        }
    }
}

/// The discrepancy of a bin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gap {
    size: f64,
    /// The weight of the bin.
    weight: f64,
}

impl Gap {
    /// The weighted mean over bins.
    pub(crate) fn mean(gaps: &[Self]) -> f64 {
        let total: f64 = gaps.iter().map(|gap| gap.weight).sum();
        let weighted = |gap: &Self| gap.weight * gap.size;
        gaps.iter().map(weighted).sum::<f64>() / total
    }

    /// The largest of bins.
    pub(crate) fn largest(gaps: &[Self]) -> f64 {
        gaps.iter().map(|gap| gap.size).fold(0.0, f64::max)
    }
}

/// The bins of whole predictions, whatever the labels.
pub(crate) struct VectorBins {
    rows: Arc<ClassRows>,
    weights: Weights,
    partition: Vec<Vec<usize>>,
}

impl VectorBins {
    /// Divides predictions into bins. The errors are those of [`Binning::partition`].
    pub(crate) fn new(binning: Binning, predictions: &Categorical) -> Result<Self> {
        let (predictions, weights) = predictions.parted();
        let (rows, rounding) = (predictions.rows(), predictions.rounding());
        let partition =
            binning.partition_rounded(&rows.values, rows.classes, &weights, rounding)?;
        Ok(Self {
            rows,
            weights,
            partition,
        })
    }

    /// Maps each bin of these labels to a number.
    fn map<T: Send>(&self, labels: &[usize], of: impl Fn(Bin) -> T + Sync) -> Vec<T> {
        let (rows, weights) = (&self.rows, &self.weights);
        parallel::map(self.partition.len(), &|b| {
            let members = &self.partition[b];
            of(Bin::of(
                members,
                &rows.values,
                labels,
                rows.classes,
                weights,
            ))
        })
    }

    /// The discrepancies where labels differ so from the most likely classes.
    pub(crate) fn gaps(&self, discrepancy: Discrepancy, flips: &[Flip]) -> Vec<Gap> {
        let mut labels: Vec<usize> = self.rows.top.iter().map(|&class| class as usize).collect();
        for flip in flips {
            labels[flip.sample as usize] = flip.class as usize;
        }
        self.map(&labels, |bin| discrepancy.gap(&bin))
    }
}

/// The expected calibration error by bins: `Σ_b (n_b/n) d(p̄_b, ȳ_b)`, for the mean prediction `p̄_b`
/// and the mean label `ȳ_b` of the `n_b` samples of bin `b`.
///
/// The default is that of the top label with 15 bins of equal width, the number most papers report (Guo et
/// al. 2017, equation 3). It depends on the confidence only; [`uniform`](Self::uniform) and
/// [`median_variance`](Self::median_variance) use the whole prediction (Vaicenavicius et al. 2019; Widmann
/// et al. 2019, section J.1.1).
///
/// Not differentiable. Biased upward for a calibrated model, most of all with few samples in a bin, and
/// biased downward for wide bins. Both depend on the bins and the number of classes: prefer
/// [`Skce`](super::Skce) to compare models.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{distribution::Categorical, estimator::{Ece, Estimator}};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// let rows = Tensor::<2>::from_floats([[0.75, 0.25], [0.75, 0.25]], &device);
/// let labels = Tensor::<1, Int>::from_ints([0, 1], &device);
/// let ece = Ece::default().estimate(&Categorical::from_probabilities(rows)?, &labels)?;
/// assert_eq!(ece, 0.25); // 75 % sure, right half of the time
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[must_use]
pub struct Ece {
    /// The part of a prediction that is binned and compared.
    pub aspect: Aspect,
    /// The bins.
    pub binning: Binning,
    /// The distance `d`, total variation by default.
    pub discrepancy: Discrepancy,
}

impl Default for Ece {
    fn default() -> Self {
        Self::top_label(15)
    }
}

impl Ece {
    /// Takes the top label, with bins of equal width.
    pub fn top_label(bins: usize) -> Self {
        Self::new(Aspect::Event(Event::TopLabel), Binning::Uniform { bins })
    }

    /// Takes the top label, with bins of equal mass.
    pub fn equal_mass(bins: usize) -> Self {
        Self::new(Aspect::Event(Event::TopLabel), Binning::EqualMass { bins })
    }

    /// Takes the whole prediction, with `bins` bins of equal width for each class; 10 is usual.
    pub fn uniform(bins: usize) -> Self {
        Self::new(Aspect::Vector, Binning::Uniform { bins })
    }

    /// Takes the whole prediction, with median-variance bins of at least `minimum` samples.
    pub fn median_variance(minimum: usize) -> Self {
        Self::new(Aspect::Vector, Binning::MedianVariance { minimum })
    }

    /// Takes any aspect with any bins, by total variation.
    pub fn new(aspect: Aspect, binning: Binning) -> Self {
        Self {
            aspect,
            binning,
            discrepancy: Discrepancy::TotalVariation,
        }
    }

    /// Sets the distance.
    pub fn with_discrepancy(self, discrepancy: Discrepancy) -> Self {
        Self {
            discrepancy,
            ..self
        }
    }

    /// The occupied bins, which a reliability diagram shows: for an event, the mean predictions are `(1 −
    /// r̄, r̄)` and the frequencies `(1 − c̄, c̄)`. The errors are those of [`estimate`](Self::estimate).
    pub fn bins(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<Vec<Bin>> {
        self.map_bins(predictions, labels, |bin| bin)
    }

    /// The discrepancies of the bins.
    fn gaps(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<Vec<Gap>> {
        self.map_bins(predictions, labels, |bin| self.discrepancy.gap(&bin))
    }

    /// Maps each bin to a number; the bins of many classes are too large to hold all at once.
    fn map_bins<T: Send>(
        &self,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
        of: impl Fn(Bin) -> T + Sync,
    ) -> Result<Vec<T>> {
        match self.aspect {
            Aspect::Vector => {
                let labels = predictions.parted().0.check_labels(labels)?;
                Ok(VectorBins::new(self.binning, predictions)?.map(&labels, of))
            }
            Aspect::Event(event) => {
                let outcomes = event.weighted_outcomes(predictions, labels)?;
                let (points, weights) = (&outcomes.probability, &outcomes.weights);
                let partition = self.binning.partition_weighted(points, 1, weights)?;
                let binary = outcomes.probability.iter().flat_map(|r| [1.0 - r, *r]);
                let rows: Vec<f64> = binary.collect();
                let labels: Vec<usize> = outcomes.occurred.iter().map(|&c| c as usize).collect();
                let bin = |b: usize| of(Bin::of(&partition[b], &rows, &labels, 2, weights));
                Ok(parallel::map(partition.len(), &bin))
            }
        }
    }
}

impl Estimator for Ece {
    /// The estimate from data. Cost: that of [`Binning::partition`], whose errors it has too, and `O(n·m)`.
    fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        Ok(Gap::mean(&self.gaps(predictions, labels)?))
    }
}

/// The maximum calibration error: the largest discrepancy `max_b d(p̄_b, ȳ_b)` over the bins of an
/// [`Ece`], by default the top label with 15 bins of equal width.
///
/// Source: Naeini et al. 2015. Strongly biased upward: a bin with a single sample can determine it. Bins of
/// equal mass limit this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[must_use]
pub struct Mce {
    /// The aspect, the bins and the distance.
    pub ece: Ece,
}

impl Mce {
    /// Creates the estimator with the aspect, bins and distance of an ECE.
    pub fn new(ece: Ece) -> Self {
        Self { ece }
    }
}

impl Estimator for Mce {
    /// The estimate from data, with the shapes, cost and errors of [`Ece::estimate`].
    fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        Ok(Gap::largest(&self.ece.gaps(predictions, labels)?))
    }
}
