//! Features of the Gaussian kernel on the line, exact to rounding.
//!
//! `exp(−(x − y)²/2ℓ²) = c² ∫ φ_t(x) φ_t(y) dt` with `φ_t(x) = exp(−(x − t)²/ℓ²)`, and the trapezoidal
//! rule of step `h` has the relative error `2 exp(−π²ℓ²/2h²)`, whatever `x` and `y` are: below rounding for
//! `h ≈ ℓ/3`. So a few dozen numbers of each sample stand for all of its draws or components.

use burn::tensor::{DType, Tensor, TensorData};

use super::{RealKernel, RealProfile, TargetKernel};
use crate::{distribution::Geometry, host::to_vec, ops::is_on_host};

/// More features than this are worth less than the pairs of draws or components.
const MOST: usize = 1024;

impl RealKernel {
    /// [`TargetKernel::residual_features`]. None but for a Gaussian kernel on the line, on the host, where
    /// numbers are finite and do not spread over many more length scales than there are features.
    ///
    /// - reach: intervals outside which the densities of the predictions are below the square root of rounding
    pub(super) fn on_grid<P: Geometry<Targets = Tensor<2>>>(
        &self,
        predictions: &P,
        sets: &[Tensor<2>],
        reach: impl FnOnce() -> Option<Vec<[f64; 2]>>,
    ) -> Option<Vec<Tensor<2>>>
    where
        Self: TargetKernel<P>,
    {
        let fits = |y: &Tensor<2>| y.dims()[1] == 1 && is_on_host(y);
        if self.profile != RealProfile::Gaussian || sets.is_empty() || !sets.iter().all(fits) {
            return None;
        }
        let mut reach = reach()?;
        for y in sets {
            reach.extend(to_vec(y.clone().detach()).into_iter().map(|y| [y, y]));
        }
        let options = (&predictions.device(), predictions.dtype());
        let grid = Grid::over(reach, self.length_scale, options.1)?;
        let r = grid.nodes.len();
        let nodes = Tensor::<2>::from_data(TensorData::new(grid.nodes, [r, 1]), options);
        let narrow = Self::gaussian(self.length_scale * 0.5f64.sqrt());
        let expected = narrow.expectation(predictions, &nodes, 1); // [1, n, r]
        let residuals = |y: &Tensor<2>| {
            let residuals = narrow.between(y, &nodes, predictions, 1) - expected.clone();
            residuals.squeeze_dim(0) * grid.scale
        };
        Some(sets.iter().map(residuals).collect())
    }
}

/// The nodes `t` of the trapezoidal rule, and the factor `c √h` of `φ_t`.
struct Grid {
    nodes: Vec<f64>,
    scale: f64,
}

impl Grid {
    /// None if an end is not finite, or there are too many nodes.
    fn over(mut intervals: Vec<[f64; 2]>, length_scale: f64, dtype: DType) -> Option<Self> {
        // rounding to 2·10⁻¹⁶, or to 10⁻⁸: of the rule, and of what is cut off at the ends
        let (step, margin) = match dtype {
            DType::F64 => (0.36, 4.4),
            _ => (0.5, 3.1),
        };
        // of four binary digits, so that nodes are numbers of the dtype
        let step = step * length_scale;
        let unit = (step.log2().floor() - 3.0).exp2();
        let step = (step / unit).floor() * unit;
        let margin = margin * length_scale;
        for interval in &mut intervals {
            *interval = [
                ((interval[0] - margin) / step).floor(),
                ((interval[1] + margin) / step).ceil(),
            ];
            if !interval.iter().all(|end| end.abs() < 1e15) {
                return None;
            }
        }
        intervals.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]));
        let (mut nodes, mut next) = (Vec::new(), f64::NEG_INFINITY);
        for [first, last] in intervals {
            next = next.max(first);
            if last - next >= (MOST - nodes.len()) as f64 {
                return None;
            }
            while next <= last {
                nodes.push(next * step);
                next += 1.0;
            }
        }
        let area = length_scale * (0.5 * std::f64::consts::PI).sqrt(); // ∫ exp(−2t²/ℓ²) dt
        Some(Self {
            nodes,
            scale: (step / area).sqrt(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule is the kernel, near and far, and nodes are counted where numbers are apart.
    #[test]
    fn the_rule_is_the_kernel() {
        for (dtype, error) in [(DType::F64, 2e-15), (DType::F32, 2e-8)] {
            for length_scale in [1e-6, 0.37, 1.0, 2e5] {
                let points = [-3.0, -2.9999, 0.0, 0.3, 4.0, 97.0].map(|x| x * length_scale);
                let grid = Grid::over(points.map(|x| [x, x]).to_vec(), length_scale, dtype);
                let grid = grid.unwrap();
                let feature =
                    |x: f64, t: f64| grid.scale * (-((x - t) / length_scale).powi(2)).exp();
                for x in points {
                    for y in points {
                        let found: f64 = (grid.nodes.iter())
                            .map(|t| feature(x, *t) * feature(y, *t))
                            .sum();
                        let expected = (-0.5 * ((x - y) / length_scale).powi(2)).exp();
                        assert!((found - expected).abs() < error, "{x}, {y}: {found}");
                    }
                }
            }
        }
        let far: Vec<[f64; 2]> = (0..100).map(|k| [1e4 * f64::from(k); 2]).collect();
        assert!(Grid::over(far, 1.0, DType::F64).is_none());
        assert!(Grid::over(vec![[0.0, f64::INFINITY]], 1.0, DType::F64).is_none());
        assert!(Grid::over(vec![[f64::NAN, 0.0]], 1.0, DType::F32).is_none());
        let two = Grid::over(vec![[0.0, 0.0], [1e6, 1e6]], 1.0, DType::F64).unwrap();
        assert!(two.nodes.len() < 60, "{}", two.nodes.len());
    }
}
