use burn::tensor::{Int, Tensor};
use burn_calibration::{distribution::Categorical, error::Result, estimator::Estimator};

/// The calibration error of the top label by kernel density estimates:
///
/// `KDE-TCE_p = (∫₀¹ |z − π(z)|^p f(z) dz)^{1/p}`, `f(z) = n⁻¹ Σ_i K(z, r_i)`,
/// `π(z) = Σ_i c_i K(z, r_i) / Σ_i K(z, r_i)`.
///
/// Source: Zhang et al. 2020, section 4. The kernel is the triweight
/// `(35/32)(1 − u²)³/h`, `u = (z − r)/h` in `[−1, 1]`, with its standard deviation `ν = h/3` as the
/// bandwidth; it is reflected at 0 and 1, `K(z, r) = Σ_{k∈ℤ} K_h(z − r + 2k) + K_h(z + r + 2k)`, so
/// that no mass is lost at the ends, where confidences crowd. The bandwidth is that of the normal
/// reference rule, `ν = 1.06 s n^{−1/5}` with the standard deviation `s` of the probabilities. Consistent,
/// with a bias of either sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KdeTce {
    /// The order `p ≥ 1`.
    pub order: f64,
}

impl Estimator for KdeTce {
    /// The estimate from data.
    ///
    /// Where all probabilities are equal, or so nearly that the reference rule gives a bandwidth below
    /// 10⁻⁹, the value is the limit of a small one, `|r̄ − c̄|`.
    ///
    /// Cost: `O(n log n)` and `n` operations at each node of the quadrature, 64 to each `h`.
    fn estimate(&self, predictions: &Categorical, labels: &Tensor<1, Int>) -> Result<f64> {
        let (confidence, correct) = predictions.top_label(labels)?;
        let n = correct.dims()[0];
        let probability = confidence.probabilities().slice([0..n, 1..2]);
        let probability = probability.try_into_vec_as::<f64>().expect("numbers");
        let correct = correct.try_into_vec_as::<i64>().expect("labels");
        let outcomes: Vec<(f64, f64)> = (probability.into_iter())
            .zip(correct.into_iter().map(|c| c as f64))
            .collect();
        let bandwidth = reference_rule(&outcomes);
        if bandwidth < LEAST {
            let gap: f64 = outcomes.iter().map(|(r, c)| c - r).sum();
            return Ok(gap.abs() / n as f64);
        }
        Ok(integral(&outcomes, 3.0 * bandwidth, self.order).powf(self.order.recip()))
    }
}

/// The least bandwidth that is resolved: the nodes of the quadrature are counted exactly far beyond
/// it, while the distance of two probabilities that differ by rounding has no digits.
const LEAST: f64 = 1e-9;

/// `1.06 s n^{−1/5}`; 0 for one sample.
fn reference_rule(outcomes: &[(f64, f64)]) -> f64 {
    let n = outcomes.len() as f64;
    if outcomes.len() < 2 {
        return 0.0;
    }
    let mean = outcomes.iter().map(|(r, _)| r).sum::<f64>() / n;
    let squares: f64 = outcomes.iter().map(|(r, _)| (r - mean) * (r - mean)).sum();
    1.06 * (squares / (n - 1.0)).sqrt() * n.powf(-0.2)
}

/// Nodes of the quadrature to each half-width of the kernel.
const NODES: f64 = 64.0;

/// `∫₀¹ |z − π(z)|^p f(z) dz` over `∫₀¹ f(z) dz = 1` by the same midpoint rule; where no kernel
/// reaches, `f` is 0 and nothing is evaluated.
fn integral(outcomes: &[(f64, f64)], half_width: f64, order: f64) -> f64 {
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
fn reflected(outcomes: &[(f64, f64)], reach: f64) -> Vec<(f64, f64)> {
    let periods = (0.5 * (reach + 1.0)).ceil() as i64;
    let mut images: Vec<_> = (-periods..=periods)
        .flat_map(|k| {
            let shift = 2.0 * k as f64;
            outcomes
                .iter()
                .flat_map(move |&(r, c)| [(shift + r, c), (shift - r, c)])
        })
        .filter(|(r, _)| (-reach..=1.0 + reach).contains(r))
        .collect();
    images.sort_by(|(r, _), (s, _)| r.total_cmp(s));
    images
}
