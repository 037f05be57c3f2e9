//! Tempered Beta and Dirichlet predictions.

use burn::tensor::Tensor;

use super::tempered::{Tempered, TemperedLogScore};
use crate::{
    distribution::{Beta, Dirichlet, check_unit_interval, stirling},
    error::Result,
    host::to_vec,
};

/// The mean log score of predictions whose rows are products of Dirichlet distributions over `m`
/// coordinates, with `β = 1/T`, `α₀ = Σ_c α_c` and `g(x) = ln Γ(x) − x ln x + x`:
///
/// ```text
/// L(β) = mean( Σ_c g(βα_c) − g(βα₀) + β Σ_c α_c ln(α_c/(α₀ y_c)) + Σ_c ln y_c )
/// ```
///
/// over `n` rows, without differences of large numbers.
fn of_dirichlet(n: usize, m: usize, alpha: Vec<f64>, targets: &[f64]) -> TemperedLogScore {
    let (mut linear, mut constant, mut concentration) = (0.0, 0.0, 0.0);
    for (alpha, y) in alpha.chunks(m).zip(targets.chunks(m)) {
        let total: f64 = alpha.iter().sum();
        concentration += total / n as f64;
        let divergence = |(&a, &y): (&f64, &f64)| a * (a / (total * y)).ln();
        linear += alpha.iter().zip(y).map(divergence).sum::<f64>() / n as f64;
        constant += y.iter().map(|y| y.ln()).sum::<f64>() / n as f64;
    }
    if linear <= 8.0 * f64::EPSILON * concentration {
        linear = 0.0; // all targets are the means: nothing is too sharp
    }
    TemperedLogScore::new(move |beta| {
        let mut sums = [0.0; 3];
        let mut add = |sign: f64, a: f64| {
            let at = stirling(beta * a);
            for (order, sum) in sums.iter_mut().enumerate() {
                *sum += sign * a.powi(order as i32) * at[order] / n as f64;
            }
        };
        for alpha in alpha.chunks(m) {
            alpha.iter().for_each(|&a| add(1.0, a));
            add(-1.0, alpha.iter().sum());
        }
        let [value, slope, curvature] = sums;
        [value + beta * linear + constant, slope + linear, curvature]
    })
}

/// Parameters over a temperature, `[n, d]`.
fn divided(parameter: Tensor<2>, temperature: &Tensor<1>) -> Tensor<2> {
    let temperature = temperature.clone().cast(parameter.dtype());
    parameter / temperature.reshape([1, 1])
}

impl Tempered for Dirichlet {
    /// `α ↦ α/T`.
    fn tempered(&self, temperature: Tensor<1>) -> Self {
        Self::new(divided(self.concentration(), &temperature))
    }

    fn log_score(&self, targets: &Tensor<2>) -> Result<TemperedLogScore> {
        check_unit_interval(targets, f64::MIN_POSITIVE..=1.0, "a positive number")?;
        let [n, m] = targets.dims();
        let (alpha, targets) = (to_vec(self.concentration()), to_vec(targets.clone()));
        Ok(of_dirichlet(n, m, alpha, &targets))
    }
}

impl Tempered for Beta {
    /// `α, β ↦ α/T, β/T`.
    fn tempered(&self, temperature: Tensor<1>) -> Self {
        let divided = |parameter| divided(parameter, &temperature);
        Self::new(divided(self.alpha()), divided(self.beta()))
    }

    /// That of `(y, 1 − y)` under Dirichlet predictions with two coordinates.
    fn log_score(&self, targets: &Tensor<2>) -> Result<TemperedLogScore> {
        let least = f64::MIN_POSITIVE;
        let inside = (
            std::ops::Bound::Included(least),
            std::ops::Bound::Excluded(1.0),
        );
        check_unit_interval(targets, inside, "a number between 0 and 1")?;
        let pairs = |x: Vec<f64>, y: Vec<f64>| -> Vec<f64> {
            x.into_iter().zip(y).flat_map(|(x, y)| [x, y]).collect()
        };
        let parameters = pairs(to_vec(self.alpha()), to_vec(self.beta()));
        let points = to_vec(targets.clone());
        let complements = points.iter().map(|y| 1.0 - y).collect();
        let n = self.alpha().dims()[0];
        Ok(of_dirichlet(n, 2, parameters, &pairs(points, complements)))
    }
}
