use std::f64::consts::PI;

use burn::tensor::{Tensor, TensorData};
use rand::{Rng, RngExt, seq::SliceRandom};

use super::LevelCurve;
use crate::{
    distribution::{
        HostMarginals, Marginals, Predictive, Redraws, Sampler, Samples, Tails, Weighted,
    },
    error::Result,
    host::to_vec,
};

/// Predictions recalibrated by [`QuantileRecalibration`](super::QuantileRecalibration), with the
/// distribution functions `R_c(F_ic(y))` and coordinates that are taken to be independent.
///
/// All is computed on the host in f64 and without gradients. The means and variances are integrals over
/// levels by a rule of 257 points, right to about four digits. There is no closed form of a distance
/// between such predictions: for kernels take their [`samples`](Self::samples).
#[derive(Debug, Clone)]
pub struct QuantileRecalibrated<P> {
    predictions: P,
    curves: Vec<LevelCurve>,
}

impl<P: Marginals> QuantileRecalibrated<P> {
    pub(super) fn new(predictions: P, curves: Vec<LevelCurve>) -> Self {
        let ([_, d], k) = (predictions.means().dims(), curves.len());
        assert_eq!(d, k, "predictions of dimension {d}, expected {k}");
        Self {
            predictions,
            curves,
        }
    }

    /// `S` samples of each prediction, for the kernels: each coordinate takes its quantiles of the levels
    /// `(k − ½)/S`, `k = 1, …, S`, in an order of its own (a Latin hypercube). For `d = 1` nothing is
    /// random.
    ///
    /// # Panics
    ///
    /// If `S = 0`.
    pub fn samples(&self, draws_each: usize, rng: &mut dyn Rng) -> Samples {
        let (n, d, s) = (self.predictions.len(), self.curves.len(), draws_each);
        let marginals = self.on_host();
        let mut draws = vec![0.0; n * s * d];
        let mut order: Vec<usize> = (0..s).collect();
        for at in 0..n * d {
            let (row, coordinate) = (at / d, at % d);
            if d > 1 {
                order.shuffle(rng);
            }
            for (draw, &k) in order.iter().enumerate() {
                let level = (k as f64 + 0.5) / s as f64;
                draws[(row * s + draw) * d + coordinate] = marginals.quantile(at, level);
            }
        }
        let options = (&self.device(), self.dtype());
        Samples::new(Tensor::from_data(
            TensorData::new(draws, [n, s, d]),
            options,
        ))
    }

    fn on_same(&self, predictions: P) -> Self {
        Self {
            predictions,
            curves: self.curves.clone(),
        }
    }

    /// The number of entries of `[n, d]`.
    fn entries(&self) -> usize {
        self.predictions.len() * self.curves.len()
    }

    /// Entries of `[n, d]`.
    fn tensor(&self, entries: Vec<f64>) -> Tensor<2> {
        let shape = [entries.len() / self.curves.len(), self.curves.len()];
        let options = (&self.device(), self.dtype());
        Tensor::from_data(TensorData::new(entries, shape), options)
    }

    /// `∫₀¹ f(F⁻¹(u)) du` of each entry.
    fn integrals(&self, f: impl Fn(usize, f64) -> f64) -> Vec<f64> {
        let (marginals, rule) = (self.on_host(), rule());
        let term =
            |at, &(level, weight): &(f64, f64)| weight * f(at, marginals.quantile(at, level));
        let integral = |at| rule.iter().map(|node| term(at, node)).sum();
        (0..self.entries()).map(integral).collect()
    }
}

/// Levels and weights of `∫₀¹ du` for functions that are infinite at the ends: the trapezoidal rule in `t`
/// with `u = 1/(1 + exp(−π sinh t))` (Takahasi, Mori: *Double exponential formulas for numerical
/// integration*, 1974), the weights of which are made to sum to 1.
fn rule() -> Vec<(f64, f64)> {
    let node = |k: i32| {
        let t = f64::from(k) * 3.0 / 128.0;
        let level = 1.0 / (1.0 + (-PI * t.sinh()).exp());
        let rest = 1.0 / (1.0 + (PI * t.sinh()).exp());
        (level, t.cosh() * level * rest)
    };
    let nodes: Vec<_> = (-128..=128).map(node).collect();
    let sum: f64 = nodes.iter().map(|(_, weight)| weight).sum();
    nodes
        .iter()
        .map(|(level, weight)| (*level, weight / sum))
        .collect()
}

impl<P: Marginals> Predictive for QuantileRecalibrated<P> {
    type Targets = Tensor<2>;
    type Unconditional = Self;

    fn unconditional(&self) -> &Self {
        self
    }

    fn parameter(&self) -> Tensor<2> {
        self.predictions.parameter()
    }

    fn dimensions(&self) -> usize {
        self.predictions.dimensions()
    }

    fn map(&self, f: &dyn Fn(Tensor<2>) -> Tensor<2>) -> Self {
        self.on_same(self.predictions.map(f))
    }

    fn check(&self) -> Result<()> {
        self.predictions.check()
    }

    fn check_targets(&self, targets: &Tensor<2>) -> Result<()> {
        self.predictions.check_targets(targets)
    }

    fn check_like(&self, other: &Self) -> Result<()> {
        self.predictions.check_like(&other.predictions)
    }

    fn sampler(&self) -> Sampler<Self> {
        let (marginals, d) = (self.on_host(), self.curves.len());
        Box::new(move |rows, rng| {
            let coordinates = rows.iter().flat_map(|row| row * d..(row + 1) * d);
            coordinates
                .map(|at| marginals.quantile(at, rng.sample(rand_distr::Open01)))
                .collect()
        })
    }
}

impl<P: Marginals> Weighted for QuantileRecalibrated<P> {}

impl<P: Marginals> Redraws for QuantileRecalibrated<P> {}

impl<P: Marginals> Marginals for QuantileRecalibrated<P> {
    fn means(&self) -> Tensor<2> {
        self.tensor(self.integrals(|_, y| y))
    }

    fn variances(&self) -> Tensor<2> {
        let means = self.integrals(|_, y| y);
        self.tensor(self.integrals(|at, y| (y - means[at]).powi(2)))
    }

    /// `R_c(F_ic(y_ic))`.
    fn cdf(&self, targets: &Tensor<2>) -> Tensor<2> {
        self.tensor(levels(self, targets))
    }

    fn on_host(&self) -> Box<dyn HostMarginals> {
        Box::new(LevelsOnHost {
            marginals: self.predictions.on_host(),
            complements: self.curves.iter().map(LevelCurve::complement).collect(),
            curves: self.curves.clone(),
        })
    }
}

/// Distribution functions and the maps of their levels, one for each coordinate.
struct LevelsOnHost {
    marginals: Box<dyn HostMarginals>,
    curves: Vec<LevelCurve>,
    /// `1 − R(1 − ·)`.
    complements: Vec<LevelCurve>,
}

impl HostMarginals for LevelsOnHost {
    fn tails(&self, at: usize, y: f64) -> Tails {
        let (tails, coordinate) = (self.marginals.tails(at, y), at % self.curves.len());
        Tails {
            lower: self.curves[coordinate].at(tails.lower),
            upper: self.complements[coordinate].at(tails.upper),
        }
    }

    /// `F⁻¹(R⁻¹(level))`.
    fn quantile(&self, at: usize, level: f64) -> f64 {
        let before = self.curves[at % self.curves.len()].inverse(level);
        // levels that round to 0 or 1
        let before = before.clamp(f64::MIN_POSITIVE, 1.0 - 0.5 * f64::EPSILON);
        self.marginals.quantile(at, before)
    }

    fn atom(&self, at: usize, y: f64) -> f64 {
        match self.marginals.atom(at, y) {
            0.0 => 0.0,
            atom => {
                let curve = &self.curves[at % self.curves.len()];
                let level = self.marginals.tails(at, y).lower;
                curve.at(level) - curve.at(level - atom)
            }
        }
    }
}

/// The probability integral transforms `F_ic(y_ic)`, row by row, in f64.
pub(super) fn levels<P: Marginals>(predictions: &P, targets: &Tensor<2>) -> Vec<f64> {
    let marginals = predictions.on_host();
    let targets = to_vec(targets.clone()).into_iter().enumerate();
    targets
        .map(|(at, y)| marginals.tails(at, y).lower)
        .collect()
}
