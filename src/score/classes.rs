use std::fmt::Debug;

use burn::tensor::Tensor;
use serde::{Deserialize, Serialize};

use super::{LogScore, Score};
use crate::distribution::{Categorical, observed, residuals};

/// The Brier score `‖p − e_y‖²` of class probabilities, in `[0, 2]`; strictly proper.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brier;

/// The spherical score `1 − p_y/‖p‖₂` of class probabilities, in `[0, 1]`; strictly proper.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spherical;

impl Score<Categorical> for Brier {
    fn name(&self) -> &'static str {
        "Brier score"
    }

    fn values(&self, predictions: &Categorical, labels: &Labels) -> Tensor<1> {
        let residuals = residuals(predictions.probabilities(), labels.clone());
        residuals.square().sum_dim(1).squeeze_dim(1)
    }
}

impl Score<Categorical> for Spherical {
    fn name(&self) -> &'static str {
        "spherical score"
    }

    fn values(&self, predictions: &Categorical, labels: &Labels) -> Tensor<1> {
        let p = predictions.probabilities(); // [n, m]
        let norm: Tensor<1> = p.clone().square().sum_dim(1).sqrt().squeeze_dim(1);
        (observed(p, labels.clone()) / norm).neg() + 1.0
    }
}

type Labels = Tensor<1, burn::tensor::Int>;

/// A proper score of class probabilities with its generalised entropy `g(q) = S(q, q)` and divergence
/// `d(p, q) = S(p, q) − g(q)`, for the expected score `S(p, q) = E_{Y∼q} S(p, Y)` (Gneiting and Raftery
/// 2007; Gruber and Buettner 2022, Table 1). Numbers are on the host, in f64.
pub trait Divergence: Score<Categorical> {
    /// The score of one prediction `p` with label `y`, `log_p = log p_y`.
    fn of(&self, p: &[f64], y: usize, log_p: f64) -> f64;

    /// The generalised entropy `g(q)`.
    fn entropy(&self, q: &[f64]) -> f64;

    /// The divergence `d(p, q)`.
    fn divergence(&self, p: &[f64], q: &[f64]) -> f64;
}

impl Divergence for Brier {
    fn of(&self, p: &[f64], y: usize, _log_p: f64) -> f64 {
        let deltas = p.iter().enumerate().map(|(c, p)| f64::from(c == y) - p);
        deltas.map(|delta| delta * delta).sum()
    }

    /// `1 − ‖q‖²`.
    fn entropy(&self, q: &[f64]) -> f64 {
        1.0 - squares(q)
    }

    /// `‖p − q‖²`.
    fn divergence(&self, p: &[f64], q: &[f64]) -> f64 {
        squared_distance(p.iter().copied(), q.iter().copied())
    }
}

impl Divergence for LogScore {
    fn of(&self, _p: &[f64], _y: usize, log_p: f64) -> f64 {
        -log_p
    }

    /// `−Σ_c q_c log q_c`.
    fn entropy(&self, q: &[f64]) -> f64 {
        -positive(q).map(|(_, q)| q * q.ln()).sum::<f64>()
    }

    /// `Σ_c q_c log(q_c/p_c)`.
    fn divergence(&self, p: &[f64], q: &[f64]) -> f64 {
        positive(q).map(|(c, q)| q * (q.ln() - p[c].ln())).sum()
    }
}

impl Divergence for Spherical {
    fn of(&self, p: &[f64], y: usize, _log_p: f64) -> f64 {
        1.0 - p[y] / squares(p).sqrt()
    }

    /// `1 − ‖q‖`.
    fn entropy(&self, q: &[f64]) -> f64 {
        1.0 - squares(q).sqrt()
    }

    /// `‖q‖ − p·q/‖p‖ = ½ ‖q‖ ‖p/‖p‖ − q/‖q‖‖²`.
    fn divergence(&self, p: &[f64], q: &[f64]) -> f64 {
        let (of_p, of_q) = (squares(p).sqrt(), squares(q).sqrt());
        let (p, q) = (p.iter().map(|x| x / of_p), q.iter().map(|x| x / of_q));
        0.5 * of_q * squared_distance(p, q)
    }
}

/// The classes of positive frequency, with it.
fn positive(q: &[f64]) -> impl Iterator<Item = (usize, f64)> {
    q.iter().copied().enumerate().filter(|&(_, q)| q > 0.0)
}

/// `‖x‖²`.
fn squares(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

/// `‖x − q‖²`.
fn squared_distance(x: impl Iterator<Item = f64>, q: impl Iterator<Item = f64>) -> f64 {
    let differences = x.zip(q).map(|(x, q)| x - q);
    differences.map(|difference| difference * difference).sum()
}
