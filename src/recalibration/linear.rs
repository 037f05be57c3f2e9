//! Affine maps of the logits: what vector, matrix and Dirichlet scaling share.

use std::ops::Range;

use nalgebra::{DMatrix, DVector};

use super::{
    common::*,
    family::{Ridge, log_loss},
};
use crate::ops::{Matrix, add_product};

/// Affine maps of the logits over their spread `s`: `θ = (W·s, b)`.
pub(super) struct AffineFamily {
    classes: usize,
    diagonal: bool,
    spread: f64,
    /// `s/T` at the start, within bounds.
    sharpness: f64,
    ridge: Ridge,
}

/// Parameters of which the Hessian is factored; of more, its blocks of one class each.
const FACTORED: usize = 600;
/// Numbers of all blocks together, 160 classes; of more, the diagonal is taken.
const BLOCKED: usize = 1 << 22;
/// Rows that the blocks are the mean of, at most.
const SAMPLED: usize = 4096;
/// Rows whose Jacobians are in memory together.
const ROWS: usize = 256;

impl AffineFamily {
    /// With the mean squares of off-diagonal weights and of intercepts (ODIR: Kull et al. 2019).
    pub fn new(data: &FitData, diagonal: bool) -> Self {
        let (m, spread) = (data.classes as f64, data.spread());
        // separable data have no temperature: the start stays moderate, the descent goes on
        let beta = TemperatureScalingConfig::inverse_temperature(data);
        let scales = [spread, (beta * spread).clamp(0.01, 100.0)];
        let penalties = [0.0, (m * (m - 1.0)).recip(), m.recip()];
        Self::with_ridge(data.classes, diagonal, scales, penalties, 0.0)
    }

    /// Towards the identity, with the sum of squares of diagonal weights and intercepts times `m/n` and that
    /// of the off-diagonal weights times `m(m−1)/n` (Berta et al. 2025).
    pub fn structured(data: &FitData, diagonal: bool) -> Self {
        let (n, m) = (data.samples() as f64, data.classes as f64);
        let penalties = [m / n, m * (m - 1.0) / n, m / n];
        Self::with_ridge(data.classes, diagonal, [1.0; 2], penalties, 1.0)
    }

    /// With the penalties of diagonal and off-diagonal weights and of intercepts, and the centre of the diagonal.
    fn with_ridge(
        classes: usize,
        diagonal: bool,
        [spread, sharpness]: [f64; 2],
        [on_diagonal, off_diagonal, intercepts]: [f64; 3],
        centre: f64,
    ) -> Self {
        let mut family = Self {
            classes,
            diagonal,
            spread,
            sharpness,
            ridge: Ridge::default(),
        };
        let weights = family.weights();
        let of = |k: usize| {
            if k >= weights {
                (intercepts, 0.0)
            } else if diagonal || k.is_multiple_of(classes + 1) {
                (on_diagonal, centre)
            } else {
                (off_diagonal, 0.0)
            }
        };
        (family.ridge.weights, family.ridge.centre) = (0..weights + classes).map(of).unzip();
        family
    }

    fn weights(&self) -> usize {
        if self.diagonal {
            self.classes
        } else {
            self.classes * self.classes
        }
    }

    /// The weights of the logits, `[m]` of a diagonal map, else `[m, m]`, the row of a new logit after the other,
    /// and the intercepts, `[m]`.
    pub fn split(&self, mut theta: Vec<f64>) -> [Vec<f64>; 2] {
        let bias = theta.split_off(self.weights());
        [theta.into_iter().map(|w| w / self.spread).collect(), bias]
    }

    /// The new logits of some rows: `[r, m]`.
    fn forward(&self, theta: &[f64], x: &[f64]) -> Vec<f64> {
        let (m, r) = (self.classes, x.len() / self.classes);
        let (weight, bias) = theta.split_at(self.weights());
        let mut logits = bias.repeat(r);
        if self.diagonal {
            for (row, x) in logits.chunks_exact_mut(m).zip(x.chunks_exact(m)) {
                let terms = row.iter_mut().zip(x).zip(weight);
                terms.for_each(|((z, x), a)| *z += a * x);
            }
        } else {
            let weight = Matrix::new(weight, m, [m, m]).transposed();
            add_product(&mut logits, m, Matrix::new(x, m, [r, m]), weight);
        }
        logits
    }

    /// The probabilities of some rows, `[r, m]`, over the number of all.
    fn fractions(&self, theta: &[f64], inputs: &[f64], rows: Range<usize>) -> Vec<f64> {
        let m = self.classes;
        let mut p = self.forward(theta, &inputs[rows.start * m..rows.end * m]);
        let factor = m as f64 / inputs.len() as f64;
        log_loss(&mut p, &vec![0; rows.len()], factor);
        p.chunks_exact_mut(m).for_each(|row| row[0] += factor);
        p
    }

    /// `Σ_i J_iᵀ (diag p_i − p_i p_iᵀ) J_i / n` with the Jacobian `J_i` of the logits.
    fn hessian(&self, theta: &[f64], inputs: &[f64]) -> DMatrix<f64> {
        let (m, weights, p) = (self.classes, self.weights(), theta.len());
        let n = inputs.len() / m;
        let mut outer = vec![0.0; p * p]; // Σ_i (J_iᵀp_i)(J_iᵀp_i)ᵀ/n²
        let mut inner = vec![0.0; p * (m + 1)]; // of the weights of one class, the intercept last
        for first in (0..n).step_by(ROWS) {
            let rows = first..n.min(first + ROWS);
            let x = &inputs[rows.start * m..rows.end * m];
            let fractions = self.fractions(theta, inputs, rows.clone());
            let mut jacobian = Vec::with_capacity(rows.len() * p);
            for (x, fractions) in x.chunks_exact(m).zip(fractions.chunks_exact(m)) {
                for (p, own) in fractions.iter().zip(x) {
                    if self.diagonal {
                        jacobian.push(p * own);
                    } else {
                        jacobian.extend(x.iter().map(|x| p * x));
                    }
                }
                jacobian.extend_from_slice(fractions);
            }
            let jacobian = Matrix::new(&jacobian, p, [rows.len(), p]).transposed();
            add_product(&mut outer, p, jacobian, jacobian.transposed());
            let extended = x.chunks_exact(m).flat_map(|x| x.iter().chain(&[1.0]));
            let extended: Vec<f64> = extended.copied().collect();
            let extended = Matrix::new(&extended, m + 1, [rows.len(), m + 1]);
            add_product(&mut inner, m + 1, jacobian, extended);
        }
        let mut hessian = DMatrix::from_vec(p, p, outer) * -(n as f64);
        let of_class = weights / m;
        for (k, sums) in inner.chunks_exact(m + 1).enumerate() {
            let class = if k < weights {
                k / of_class
            } else {
                k - weights
            };
            hessian[(k, weights + class)] += sums[m];
            for l in class * of_class..(class + 1) * of_class {
                hessian[(k, l)] += sums[l % m];
            }
        }
        hessian
    }

    /// Rows at equal distances, not too many.
    fn sampled(&self, inputs: &[f64]) -> Vec<f64> {
        let rows = inputs.chunks_exact(self.classes);
        let step = rows.len().div_ceil(SAMPLED);
        rows.step_by(step).flatten().copied().collect()
    }

    /// The blocks of [`hessian`](Self::hessian) of the weights and the intercept of each class of a matrix,
    /// with the penalties added, of rows at equal distances.
    fn blocks(&self, theta: &[f64], inputs: &[f64], penalties: &[f64]) -> Metric {
        let (m, weights, sampled) = (self.classes, self.weights(), self.sampled(inputs));
        let (k, r) = (m + 1, sampled.len() / m);
        let mut variances = self.fractions(theta, &sampled, 0..r);
        variances.iter_mut().for_each(|p| *p *= 1.0 - *p * r as f64);
        let extended = sampled.chunks_exact(m).flat_map(|x| x.iter().chain(&[1.0]));
        let extended: Vec<f64> = extended.copied().collect();
        let mut weighted = vec![0.0; extended.len()];
        let block = |class: usize| {
            let parameters: Vec<usize> = (class * m..(class + 1) * m)
                .chain([weights + class])
                .collect();
            let rows = weighted.chunks_exact_mut(k).zip(extended.chunks_exact(k));
            for ((to, x), v) in rows.zip(variances.chunks_exact(m)) {
                to.iter_mut().zip(x).for_each(|(to, x)| *to = v[class] * x);
            }
            let mut sums = vec![0.0; k * k];
            let [left, x] = [&weighted, &extended].map(|x| Matrix::new(x, k, [r, k]));
            add_product(&mut sums, k, left.transposed(), x);
            let ridge = DVector::from_iterator(k, parameters.iter().map(|&k| penalties[k]));
            let block = DMatrix::from_vec(k, k, sums) + DMatrix::from_diagonal(&ridge);
            (parameters, block)
        };
        Metric::blocks((0..m).map(block))
    }

    /// The diagonal of [`hessian`](Self::hessian), as if probabilities did not depend on the logits.
    fn curvatures(&self, theta: &[f64], inputs: &[f64]) -> Vec<f64> {
        let m = self.classes;
        let n = inputs.len() / m;
        let sampled: Vec<f64> = (inputs
            .chunks_exact(m)
            .step_by(n.div_ceil(SAMPLED))
            .flatten())
        .copied()
        .collect();
        let r = sampled.len() / m;
        let (mut variances, mut squares) = (vec![0.0; m], vec![0.0; m]);
        for p in self.fractions(theta, &sampled, 0..r).chunks_exact(m) {
            (variances.iter_mut().zip(p)).for_each(|(v, p)| *v += p * (1.0 - p * r as f64));
        }
        for x in sampled.chunks_exact(m) {
            (squares.iter_mut().zip(x)).for_each(|(sum, x)| *sum += x * x / r as f64);
        }
        let of = |k: usize| {
            let (class, input) = if k >= self.weights() {
                return variances[k - self.weights()];
            } else if self.diagonal {
                (k, k)
            } else {
                (k / m, k % m)
            };
            variances[class] * squares[input]
        };
        (0..theta.len()).map(of).collect()
    }
}

impl Family for AffineFamily {
    /// The logits over their spread.
    type Inputs = Vec<f64>;

    fn start(&self) -> Vec<f64> {
        let m = self.classes;
        let mut theta = vec![0.0; self.weights() + m];
        (0..m).for_each(|c| theta[if self.diagonal { c } else { c * m + c }] = self.sharpness);
        theta
    }

    fn ridge(&self) -> &Ridge {
        &self.ridge
    }

    fn inputs(&self, data: &FitData) -> Vec<f64> {
        data.logits.iter().map(|z| z / self.spread).collect()
    }

    fn pull(
        &self,
        theta: &[f64],
        inputs: &Vec<f64>,
        rows: Range<usize>,
        slopes: &mut dyn FnMut(&mut [f64]),
        gradient: &mut [f64],
    ) {
        let m = self.classes;
        let x = &inputs[rows.start * m..rows.end * m];
        let mut logits = self.forward(theta, x);
        slopes(&mut logits);
        let (of_weights, of_intercepts) = gradient.split_at_mut(self.weights());
        for (slopes, x) in logits.chunks_exact(m).zip(x.chunks_exact(m)) {
            of_intercepts
                .iter_mut()
                .zip(slopes)
                .for_each(|(sum, slope)| *sum += slope);
            if self.diagonal {
                let terms = of_weights.iter_mut().zip(slopes).zip(x);
                terms.for_each(|((sum, slope), x)| *sum += slope * x);
            }
        }
        if !self.diagonal {
            let [slopes, x] = [&logits, x].map(|x| Matrix::new(x, m, [rows.len(), m]));
            add_product(of_weights, m, slopes.transposed(), x);
        }
    }

    fn metric(&self, theta: &[f64], inputs: &Vec<f64>, weight: f64) -> Metric {
        let penalties = self.ridge.weights.iter().map(|w| 2.0 * weight * w);
        let penalties: Vec<f64> = penalties.collect();
        if theta.len() <= FACTORED {
            let mut hessian = self.hessian(theta, inputs);
            (0..)
                .zip(penalties)
                .for_each(|(k, penalty)| hessian[(k, k)] += penalty);
            return Metric::hessian(hessian);
        }
        let m = self.classes;
        if !self.diagonal && m * (m + 1).pow(2) <= BLOCKED {
            return self.blocks(theta, inputs, &penalties);
        }
        let mut curvatures = self.curvatures(theta, inputs);
        let largest = curvatures.iter().copied().fold(0.0, f64::max);
        for (curvature, penalty) in curvatures.iter_mut().zip(penalties) {
            *curvature = (*curvature + penalty)
                .max(1e-6 * largest)
                .max(f64::MIN_POSITIVE);
        }
        Metric::Diagonal(curvatures)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::family::{
            Prepared,
            tests::{check, data},
        },
        *,
    };

    /// More rows than have their Jacobians in memory together, and a matrix of which blocks are factored.
    #[test]
    fn derivatives() {
        for (n, m) in [(300, 3), (5, 2), (60, 25)] {
            let data = data(n, m);
            for diagonal in [true, false] {
                check(&AffineFamily::new(&data, diagonal), &data, true);
                check(&AffineFamily::structured(&data, diagonal), &data, true);
            }
        }
    }

    /// With samples of classes spread over the rows.
    #[test]
    fn derivatives_with_smoothed_classes() {
        let smoothed = vec![0, 2];
        let data = FitData {
            smoothed,
            ..data(40, 4)
        };
        let family = AffineFamily::new(&data, false);
        let prepared = Prepared::new(&family, &data, false);
        let theta: Vec<f64> = (0..)
            .zip(family.start())
            .map(|(k, x)| x + 0.1 * f64::from(k % 5))
            .collect();
        let (_, gradient) = prepared.log_loss(&theta, 0.1);
        for (k, slope) in gradient.iter().enumerate() {
            let at = |h: f64| {
                let mut theta = theta.clone();
                theta[k] += h;
                prepared.log_loss(&theta, 0.1).0
            };
            let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!(
                (difference - slope).abs() < 1e-8,
                "{k}: {difference} {slope}"
            );
        }
    }
}
