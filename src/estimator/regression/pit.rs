use burn::tensor::Tensor;
use rand::{Rng, RngExt};

use super::{PitHistogram, Uniformity, checks::Observed};
use crate::{
    distribution::{Marginals, Samples},
    error::{Result, check_parameter},
};

/// Probability integral transforms: the distribution function of each prediction at its target, for each
/// coordinate. Uniform on `[0, 1]` if the model is calibrated.
///
/// A histogram that is U-shaped tells of predictions that are too certain, a hump of ones that are not
/// certain enough, a slope of a bias.
///
/// Source: Dawid 1984; Gneiting, Balabdaoui, Raftery 2007.
#[derive(Debug, Clone, PartialEq)]
pub struct Pit {
    /// `n` for each coordinate.
    values: Vec<Vec<f64>>,
}

impl Pit {
    /// `F(y)`; where the target has a positive probability `P(Y = y)`, the mid-transform
    /// `F(y) − ½P(Y = y)`.
    pub fn new<P: Marginals>(predictions: &P, targets: &Tensor<2>) -> Result<Self> {
        Self::of(predictions, targets, |below, atom| below + 0.5 * atom)
    }

    /// `P(Y < y) + U P(Y = y)` for uniform `U`: uniform for discrete predictions as well if the targets are
    /// draws from them. The same as [`new`](Self::new) for continuous ones.
    pub fn randomised<P: Marginals>(
        predictions: &P,
        targets: &Tensor<2>,
        rng: &mut dyn Rng,
    ) -> Result<Self> {
        Self::of(predictions, targets, |below, atom| {
            below + rng.random::<f64>() * atom
        })
    }

    /// Takes randomised ranks of the targets among Monte Carlo samples of continuous distributions,
    /// `(#{x_s < y} + U(1 + #{x_s = y}))/(S + 1)`. Uniform for every `S` if the target is a draw from the
    /// distribution that the samples are from, which [`new`](Self::new) is for large `S` only (Hamill
    /// 2001).
    pub fn ranks(predictions: &Samples, targets: &Tensor<2>, rng: &mut dyn Rng) -> Result<Self> {
        let s = predictions.draws_each() as f64;
        Self::of(predictions, targets, |below, atom| {
            (s * below + rng.random::<f64>() * (1.0 + s * atom)) / (s + 1.0)
        })
    }

    /// `f(P(Y < y), P(Y = y))`.
    fn of<P: Marginals>(
        predictions: &P,
        targets: &Tensor<2>,
        mut f: impl FnMut(f64, f64) -> f64,
    ) -> Result<Self> {
        let observed = Observed::new(predictions, targets)?;
        let d = observed.dimensions;
        let mut values = vec![Vec::with_capacity(observed.targets.len() / d); d];
        for (at, &y) in observed.targets.iter().enumerate() {
            let (up_to, _) = observed.marginals.tails(at, y);
            let atom = observed.marginals.atom(at, y);
            values[at % d].push(f(up_to - atom, atom).clamp(0.0, 1.0));
        }
        Ok(Self { values })
    }

    /// The dimension `d` of the targets.
    pub fn dimensions(&self) -> usize {
        self.values.len()
    }

    /// The transforms of one coordinate, `n`, in the order of the samples.
    ///
    /// # Panics
    ///
    /// If there is no such coordinate.
    pub fn values(&self, coordinate: usize) -> &[f64] {
        &self.values[coordinate]
    }

    /// The histogram of one coordinate, with bins of equal width; 10 are usual.
    ///
    /// # Errors
    ///
    /// Fewer than two bins.
    ///
    /// # Panics
    ///
    /// If there is no such coordinate.
    pub fn histogram(&self, coordinate: usize, bins: usize) -> Result<PitHistogram> {
        check_parameter(bins >= 2, "the number of bins", bins as f64, "at least 2")?;
        Ok(PitHistogram::of(&self.values[coordinate], bins))
    }

    /// The Kolmogorov–Smirnov test of one coordinate, `max_u |F_n(u) − u|`. The p-value, by the correction
    /// of Vrbik 2018 to Kolmogorov's limit, is exact within 0.003 for 10 samples or more, and within
    /// 0.0003 for 50.
    ///
    /// The test is of probabilistic calibration only, see [`Uniformity`], and of independent samples; its
    /// level is exact for continuous predictions, and for others with randomised transforms.
    ///
    /// # Panics
    ///
    /// If there is no such coordinate.
    pub fn kolmogorov_smirnov(&self, coordinate: usize) -> Uniformity {
        Uniformity::kolmogorov_smirnov(&self.values[coordinate])
    }
}
