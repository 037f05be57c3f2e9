use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};
use statrs::statistics::Statistics;

use super::{Event, event::Outcomes, tce::check_order};
use crate::{
    distribution::Categorical,
    error::{Result, check_parameter, check_positive},
    estimator::Estimator,
};

/// The calibration error of an event by kernel density estimates, by default that of the top label
/// of order 1:
///
/// `KDE-TCE_p = (∫₀¹ |z − π(z)|^p f(z) dz)^{1/p}`, `f(z) = n⁻¹ Σ_i K(z, r_i)`,
/// `π(z) = Σ_i c_i K(z, r_i) / Σ_i K(z, r_i)`.
///
/// Source: Zhang et al. 2020, section 4. The kernel is the triweight
/// `(35/32)(1 − u²)³/h`, `u = (z − r)/h` in `[−1, 1]`, with its standard deviation `ν = h/3` as the
/// bandwidth; it is reflected at 0 and 1, `K(z, r) = Σ_{k∈ℤ} K_h(z − r + 2k) + K_h(z + r + 2k)`, so
/// that no mass is lost at the ends, where confidences crowd. The bandwidth is that of the normal
/// reference rule, `ν = 1.06 s n^{−1/5}` with the standard deviation `s` of the probabilities, unless
/// it is fixed. Consistent, with a bias of either sign that depends on the bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct KdeTce {
    /// The event.
    pub event: Event,
    /// The order `p ≥ 1`.
    pub order: f64,
    /// The bandwidth `ν`, or none for the reference rule.
    pub bandwidth: Option<f64>,
}

impl Default for KdeTce {
    fn default() -> Self {
        Self::new(1.0)
    }
}

impl KdeTce {
    /// Estimates the error of order `p` of the top label, with the bandwidth of the reference rule.
    pub fn new(order: f64) -> Self {
        Self {
            event: Event::TopLabel,
            order,
            bandwidth: None,
        }
    }

    /// Sets the event.
    pub fn with_event(self, event: Event) -> Self {
        Self { event, ..self }
    }

    /// Fixes the bandwidth.
    pub fn with_bandwidth(self, bandwidth: f64) -> Self {
        Self {
            bandwidth: Some(bandwidth),
            ..self
        }
    }
}

impl Estimator for KdeTce {
    /// The estimate from data.
    ///
    /// Where all probabilities are equal, or so nearly that the reference rule gives a bandwidth below
    /// 10⁻⁹, the value is the limit of a small one, `|r̄ − c̄|`. A fixed bandwidth below that is an error.
    ///
    /// Cost: `O(n log n)` and `n` operations at each node of the quadrature, 64 to each `h`.
    fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        check_order(self.order)?;
        if let Some(value) = self.bandwidth {
            check_positive("the kernel bandwidth", value)?;
            let name = "the bandwidth of the kernel density";
            check_parameter(value >= LEAST, name, value, "at least 1e-9")?;
        }
        let outcomes = self.event.outcomes(predictions, labels)?;
        let bandwidth = self.bandwidth.unwrap_or_else(|| reference_rule(&outcomes));
        if bandwidth < LEAST {
            let gap: f64 = outcomes.pairs().map(|(r, c)| c - r).sum();
            return Ok(gap.abs() / outcomes.samples() as f64);
        }
        Ok(integral(&outcomes, 3.0 * bandwidth, self.order).powf(self.order.recip()))
    }
}

/// The least bandwidth that is resolved: the nodes of the quadrature are counted exactly far beyond
/// it, while the distance of two probabilities that differ by rounding has no digits.
const LEAST: f64 = 1e-9;

/// `1.06 s n^{−1/5}`; 0 for one sample.
fn reference_rule(outcomes: &Outcomes) -> f64 {
    let probabilities = outcomes.probability.as_slice();
    let n = probabilities.len();
    match n {
        1 => 0.0,
        _ => 1.06 * probabilities.std_dev() * (n as f64).powf(-0.2),
    }
}

/// Nodes of the quadrature to each half-width of the kernel.
const NODES: f64 = 64.0;

/// `∫₀¹ |z − π(z)|^p f(z) dz` over `∫₀¹ f(z) dz = 1` by the same midpoint rule; where no kernel
/// reaches, `f` is 0 and nothing is evaluated.
fn integral(outcomes: &Outcomes, half_width: f64, order: f64) -> f64 {
    let images = reflected(outcomes, half_width);
    let cells = (NODES / half_width).ceil().max(NODES);
    let (mut sum, mut mass) = (0.0, 0.0);
    let (mut first, mut cell) = (0, 0.0);
    while cell < cells {
        let z = (cell + 0.5) / cells;
        while first < images.len() && images[first].0 <= z - half_width {
            first += 1;
        }
        let near = images[first..].iter();
        let (mut density, mut occurred) = (0.0, 0.0);
        for (r, c) in near.take_while(|(r, _)| *r < z + half_width) {
            let weight = (1.0 - ((z - r) / half_width).powi(2)).powi(3);
            density += weight;
            occurred += c * weight;
        }
        if density > 0.0 {
            sum += (z - occurred / density).abs().powf(order) * density;
            mass += density;
            cell += 1.0;
        } else {
            // on to the first node that the next image reaches
            let next = images.get(first).map_or(1.0, |(r, _)| r - half_width);
            cell = (cell + 1.0).max((next * cells - 0.5).ceil());
        }
    }
    sum / mass
}

/// The images `±r_i + 2k` within reach of `[0, 1]`, each with its `c_i`, in increasing order.
fn reflected(outcomes: &Outcomes, reach: f64) -> Vec<(f64, f64)> {
    let periods = (0.5 * (reach + 1.0)).ceil() as i64;
    let mut images: Vec<_> = (-periods..=periods)
        .flat_map(|k| {
            let shift = 2.0 * k as f64;
            outcomes
                .pairs()
                .flat_map(move |(r, c)| [(shift + r, c), (shift - r, c)])
        })
        .filter(|(r, _)| (-reach..=1.0 + reach).contains(r))
        .collect();
    images.sort_by(|(r, _), (s, _)| r.total_cmp(s));
    images
}
