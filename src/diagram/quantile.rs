use super::band::{Band, check_level};
use crate::{
    distribution::Weights,
    error::{Result, check_samples},
    estimator::regression::{QuantileCurve, QuantilePoint, uniform_distances},
};

/// The frequency of targets that are at most the predicted quantile, against its level (Kuleshov, Fenner,
/// Ermon 2018), with the band in which the whole curve of a calibrated model lies.
///
/// The band is `level ± ε` with `ε = √(ln(2/α)/2n)`, `α = 1 − level of the band`: by the inequality of
/// Dvoretzky, Kiefer and Wolfowitz with Massart's constant (1990) it holds at all levels at once, for every
/// `n`, and is a little wide for small ones. It is of `n` independent samples. Errors of the coordinates of a sample may
/// depend on each other, so that several coordinates do not make it narrower: it covers whatever the dependence, and is
/// too wide where there is none. For counts and draws the targets count by parts of their steps
/// ([`QuantileCalibration`](crate::estimator::regression::QuantileCalibration)), and their frequencies vary
/// less than the band says.
///
/// For weighted frequencies `ε` is the quantile, at the level of the band, of `max_u |F(u) − u|`, where `F` is the weighted
/// distribution function of independent uniform numbers with these weights, one for each sample, from 999 redraws.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::{
///     distribution::Normal, estimator::regression::QuantileCalibration, diagram::QuantileDiagram,
/// };
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let targets = Tensor::<2>::zeros([200, 1], &Device::default());
/// let predictions = Normal::new(targets.clone() - 2.0, targets.ones_like()); // all too low
/// let curve = QuantileCalibration::default().curve(&predictions, &targets)?;
/// let diagram = QuantileDiagram::new(curve, 200, 0.95)?;
/// let median = diagram.curve.points[9];
/// assert_eq!((median.level, median.frequency), (0.5, 0.0));
/// assert!(!diagram.is_inside(&median));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct QuantileDiagram {
    /// Levels and frequencies, by increasing level.
    pub curve: QuantileCurve,
    /// The number of values behind the frequencies: samples times coordinates.
    pub values: usize,
    /// The number of independent samples, of which the band is.
    pub samples: usize,
    /// The probability with which the curve of a calibrated model lies in the band, or more.
    pub level: f64,
    /// The half of the width of the band of weighted frequencies, if there are weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weighted_half_width: Option<f64>,
}

impl QuantileDiagram {
    /// Takes the frequencies of one coordinate of independent samples.
    ///
    /// # Errors
    ///
    /// No samples, or a level that is not between 0 and 1.
    pub fn new(mut curve: QuantileCurve, samples: usize, level: f64) -> Result<Self> {
        check_level(level)?;
        curve.points.sort_by(|a, b| a.level.total_cmp(&b.level));
        check_samples("a quantile diagram", 1, samples)?;
        Ok(Self {
            curve,
            values: samples,
            samples,
            level,
            weighted_half_width: None,
        })
    }

    /// Takes weighted frequencies, of `d` coordinates of `n` samples, `[n, d]`. The same as [`new`](Self::new) for one
    /// coordinate where all weights are equal.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn weighted(
        curve: QuantileCurve,
        weights: &Weights,
        [n, d]: [usize; 2],
        level: f64,
    ) -> Result<Self> {
        let mut diagram = Self {
            values: n * d,
            ..Self::new(curve, n, level)?
        };
        if weights.are_given() {
            let mut distances = uniform_distances(weights, n);
            distances.sort_by(|a, b| b.total_cmp(a));
            // P(T > k-th largest of R redraws) ≤ k/(R + 1) for T like them
            let k = ((1.0 - level) * (distances.len() + 1) as f64 + 1e-9).floor() as usize;
            let width = k.checked_sub(1).map_or(1.0, |last| distances[last]);
            diagram.weighted_half_width = Some(width);
        }
        Ok(diagram)
    }

    /// The half of the width of the band, `ε`.
    pub fn half_width(&self) -> f64 {
        if let Some(width) = self.weighted_half_width {
            return width;
        }
        ((2.0 / (1.0 - self.level)).ln() / (2.0 * self.samples as f64)).sqrt()
    }

    /// The band at a level, as far as frequencies go.
    pub fn band(&self, level: f64) -> Band {
        let half = self.half_width();
        Band {
            lower: (level - half).max(0.0),
            upper: (level + half).min(1.0),
        }
    }

    /// Returns whether a point lies in the band.
    pub fn is_inside(&self, point: &QuantilePoint) -> bool {
        self.band(point.level).contains(point.frequency)
    }

    /// The number of points outside the band.
    pub fn outside(&self) -> usize {
        let points = self.curve.points.iter();
        points.filter(|point| !self.is_inside(point)).count()
    }
}
