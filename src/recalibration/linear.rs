//! Affine maps of the logits: the family of vector, matrix and Dirichlet scaling.

use std::ops::Range;

use nalgebra::{DMatrix, DVector};

use super::{
    data::FitData,
    descent::Metric,
    family::{ParametricMaps, Ridge, log_loss},
    temperature::TemperatureScalingConfig,
};
use crate::{
    error::{Error, Result},
    ops::{MatrixView, add_product},
};

/// Affine maps of the logits over their spread `s`. The parameters of a class are together: the weight of its own
/// logit, or those of all logits, times `s`, and the intercept.
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

/// The most classes of a matrix: a fit takes [`FIT_BYTES`] for each of its `m(m + 1)` parameters.
const MOST_CLASSES: usize = 4096;
/// The memory of a fit for each parameter, in bytes: 19 numbers, which are those of all folds and of the descent.
const FIT_BYTES: f64 = 152.0;

/// Checks that a matrix and the intercepts of so many classes are not too many parameters.
pub(super) fn check_matrix(kind: &str, classes: usize) -> Result<()> {
    if classes <= MOST_CLASSES {
        return Ok(());
    }
    let parameters = classes as f64 * (classes as f64 + 1.0);
    Err(Error::Unsupported {
        what: format!(
            "{kind} of {classes} classes has {parameters} parameters, whose fit takes about {:.0} GB of memory",
            1e-9 * FIT_BYTES * parameters
        ),
        expected: "at most 4096 classes, or a map with a few parameters for each, such as vector scaling",
    })
}

impl AffineFamily {
    /// The family whose penalty is the mean squares of off-diagonal weights and of intercepts (ODIR: Kull et al. 2019).
    pub fn new(data: &FitData, diagonal: bool) -> Self {
        let (m, spread) = (data.classes as f64, data.spread());
        // separable data have no temperature: the start stays moderate, the descent goes on
        let beta = TemperatureScalingConfig::inverse_temperature(data);
        let scales = [spread, (beta * spread).clamp(0.01, 100.0)];
        let penalties = [0.0, (m * (m - 1.0)).recip(), m.recip()];
        Self::with_ridge(data.classes, diagonal, scales, penalties, 0.0)
    }

    /// The family whose penalty draws it towards the identity: the sum of squares of diagonal weights and intercepts times `m/n` and that
    /// of the off-diagonal weights times `m(m−1)/n` (Berta et al. 2025).
    pub fn structured(data: &FitData, diagonal: bool) -> Self {
        let (n, m) = (data.samples() as f64, data.classes as f64);
        let penalties = [m / n, m * (m - 1.0) / n, m / n];
        Self::with_ridge(data.classes, diagonal, [1.0; 2], penalties, 1.0)
    }

    /// The family with the given penalties of diagonal and off-diagonal weights and of intercepts, and the centre of the
    /// diagonal.
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
        let of = |class: usize, column: usize| {
            if column == classes {
                (intercepts, 0.0)
            } else if column == class {
                (on_diagonal, centre)
            } else {
                (off_diagonal, 0.0)
            }
        };
        (family.ridge.weights, family.ridge.centre) = family.each(of).into_iter().unzip();
        family
    }

    /// The columns of `(x, 1)` that the parameters of a class multiply.
    fn columns(&self, class: usize) -> Vec<usize> {
        if self.diagonal {
            vec![class, self.classes]
        } else {
            (0..=self.classes).collect()
        }
    }

    /// The number of parameters of a class.
    fn size(&self) -> usize {
        self.columns(0).len()
    }

    /// A value of each parameter, by its class and the column that it multiplies.
    fn each<T>(&self, of: impl Fn(usize, usize) -> T) -> Vec<T> {
        let places = (0..self.classes).flat_map(|class| {
            self.columns(class)
                .into_iter()
                .map(move |column| (class, column))
        });
        places.map(|(class, column)| of(class, column)).collect()
    }

    /// The weights of the logits, `[m]` of a diagonal map, otherwise `[m, m]`, the row of a new logit after
    /// the other, and the intercepts, `[m]`.
    pub fn split(&self, theta: &[f64]) -> [Vec<f64>; 2] {
        let classes = theta.chunks_exact(self.size());
        let (weights, bias): (Vec<_>, Vec<_>) = classes
            .filter_map(|class| class.split_last())
            .map(|(b, w)| (w, *b))
            .unzip();
        let weights = weights.concat().into_iter().map(|w| w / self.spread);
        [weights.collect(), bias]
    }

    /// The new logits of some rows `(x, 1)`: `[r, m]`.
    fn forward(&self, theta: &[f64], rows: &[f64]) -> Vec<f64> {
        let (m, width) = (self.classes, self.classes + 1);
        let r = rows.len() / width;
        let mut logits = vec![0.0; r * m];
        if self.diagonal {
            for (row, x) in logits.chunks_exact_mut(m).zip(rows.chunks_exact(width)) {
                let terms = row.iter_mut().zip(x).zip(theta.as_chunks::<2>().0);
                terms.for_each(|((z, x), [a, b])| *z = a * x + b);
            }
        } else {
            let theta = MatrixView::new(theta, width, [m, width]).transposed();
            add_product(
                &mut logits,
                m,
                MatrixView::new(rows, width, [r, width]),
                theta,
            );
        }
        logits
    }

    /// The probabilities of some rows, `[r, m]`, over a number of rows.
    fn fractions(&self, theta: &[f64], rows: &[f64], n: usize) -> Vec<f64> {
        let (mut p, factor) = (self.forward(theta, rows), (n as f64).recip());
        let labels = vec![0; p.len() / self.classes];
        log_loss(&mut p, &labels, factor);
        let rows = p.chunks_exact_mut(self.classes);
        rows.for_each(|row| row[0] += factor);
        p
    }

    /// `Σ_i J_iᵀ (diag p_i − p_i p_iᵀ) J_i / n` with the Jacobian `J_i` of the logits.
    fn hessian(&self, theta: &[f64], inputs: &[f64]) -> DMatrix<f64> {
        let (m, width, p) = (self.classes, self.classes + 1, theta.len());
        let n = inputs.len() / width;
        let mut outer = vec![0.0; p * p]; // Σ_i (J_iᵀp_i)(J_iᵀp_i)ᵀ/n²
        let mut inner = vec![0.0; p * width]; // Σ_i J_iᵀp_i (x_i, 1)/n
        for rows in inputs.chunks(ROWS * width) {
            let r = rows.len() / width;
            let mut jacobian = Vec::with_capacity(r * p);
            let fractions = self.fractions(theta, rows, n);
            for (x, fractions) in rows.chunks_exact(width).zip(fractions.chunks_exact(m)) {
                for (class, p) in fractions.iter().enumerate() {
                    if self.diagonal {
                        jacobian.extend([p * x[class], *p]);
                    } else {
                        jacobian.extend(x.iter().map(|x| p * x));
                    }
                }
            }
            let jacobian = MatrixView::new(&jacobian, p, [r, p]).transposed();
            add_product(&mut outer, p, jacobian, jacobian.transposed());
            add_product(
                &mut inner,
                width,
                jacobian,
                MatrixView::new(rows, width, [r, width]),
            );
        }
        let (mut hessian, size) = (DMatrix::from_vec(p, p, outer) * -(n as f64), self.size());
        for (k, sums) in inner.chunks_exact(width).enumerate() {
            let class = k / size;
            for (l, column) in self.columns(class).into_iter().enumerate() {
                hessian[(k, class * size + l)] += sums[column];
            }
        }
        hessian
    }

    /// Rows at equal distances, not too many.
    fn sampled(&self, theta: &[f64], inputs: &[f64]) -> SampledRows {
        let rows = inputs.chunks_exact(self.classes + 1);
        let step = rows.len().div_ceil(SAMPLED);
        let rows: Vec<f64> = rows.step_by(step).flatten().copied().collect();
        let r = rows.len() / (self.classes + 1);
        let mut variances = self.fractions(theta, &rows, r);
        variances.iter_mut().for_each(|p| *p *= 1.0 - *p * r as f64);
        SampledRows { rows, variances }
    }

    /// The blocks of [`hessian`](Self::hessian) of one class each, of sampled rows, with the penalties added.
    fn blocks(&self, theta: &[f64], inputs: &[f64], penalties: &DVector<f64>) -> Metric {
        let (m, size) = (self.classes, self.size());
        let SampledRows { rows, variances } = self.sampled(theta, inputs);
        Metric::blocks((0..m).map(|class| {
            let columns = self.columns(class);
            let (mut x, mut weighted) = (vec![], vec![]);
            for (row, v) in rows.chunks_exact(m + 1).zip(variances.chunks_exact(m)) {
                x.extend(columns.iter().map(|&column| row[column]));
                weighted.extend(columns.iter().map(|&column| v[class] * row[column]));
            }
            let mut sums = vec![0.0; size * size];
            let [x, weighted] =
                [&x, &weighted].map(|x| MatrixView::new(x, size, [x.len() / size, size]));
            add_product(&mut sums, size, weighted.transposed(), x);
            let ridge = penalties.rows(class * size, size);
            DMatrix::from_vec(size, size, sums) + DMatrix::from_diagonal(&ridge)
        }))
    }

    /// The diagonal of the Hessian of a matrix, as if probabilities did not depend on the logits.
    fn curvatures(&self, theta: &[f64], inputs: &[f64]) -> Vec<f64> {
        let (m, width) = (self.classes, self.classes + 1);
        let SampledRows { rows, variances } = self.sampled(theta, inputs);
        let r = (rows.len() / width) as f64;
        let sum = |numbers: &[f64], width: usize| {
            DMatrix::from_column_slice(width, numbers.len() / width, numbers).column_sum()
        };
        let squares: Vec<f64> = rows.iter().map(|x| x * x / r).collect();
        let (variances, squares) = (sum(&variances, m), sum(&squares, width));
        self.each(|class, column| variances[class] * squares[column])
    }
}

/// Some rows `(x, 1)`, and `p(1 − p)` of their probabilities over their number.
struct SampledRows {
    rows: Vec<f64>,
    variances: Vec<f64>,
}

impl ParametricMaps for AffineFamily {
    /// `(x, 1)` of the logits over their spread: `[n, m + 1]`.
    type Inputs = Vec<f64>;

    fn start(&self) -> Vec<f64> {
        self.each(|class, column| if class == column { self.sharpness } else { 0.0 })
    }

    fn ridge(&self) -> &Ridge {
        &self.ridge
    }

    fn inputs(&self, data: &FitData) -> Vec<f64> {
        let extended = |row: &[f64]| -> Vec<f64> {
            let x = row.iter().map(|z| z / self.spread);
            x.chain([1.0]).collect()
        };
        data.rows().flat_map(extended).collect()
    }

    fn pull(
        &self,
        theta: &[f64],
        inputs: &Vec<f64>,
        rows: Range<usize>,
        slopes: &mut dyn FnMut(&mut [f64]),
        gradient: &mut [f64],
    ) {
        let (m, width, r) = (self.classes, self.classes + 1, rows.len());
        let x = &inputs[rows.start * width..rows.end * width];
        let mut logits = self.forward(theta, x);
        slopes(&mut logits);
        if self.diagonal {
            for (slopes, x) in logits.chunks_exact(m).zip(x.chunks_exact(width)) {
                let terms = gradient
                    .as_chunks_mut::<2>()
                    .0
                    .iter_mut()
                    .zip(slopes)
                    .zip(x);
                for (([of_weight, of_intercept], slope), x) in terms {
                    *of_weight += slope * x;
                    *of_intercept += slope;
                }
            }
        } else {
            let slopes = MatrixView::new(&logits, m, [r, m]).transposed();
            add_product(
                gradient,
                width,
                slopes,
                MatrixView::new(x, width, [r, width]),
            );
        }
    }

    fn metric(&self, theta: &[f64], inputs: &Vec<f64>, weight: f64) -> Metric {
        let penalties = self.ridge.weights.iter().map(|w| 2.0 * weight * w);
        let penalties = DVector::from_iterator(theta.len(), penalties);
        if theta.len() <= FACTORED {
            let hessian = self.hessian(theta, inputs);
            return Metric::blocks([hessian + DMatrix::from_diagonal(&penalties)]);
        }
        if self.classes * self.size().pow(2) <= BLOCKED {
            return self.blocks(theta, inputs, &penalties);
        }
        let curvatures = penalties + DVector::from_vec(self.curvatures(theta, inputs));
        let least = (1e-6 * curvatures.amax()).max(f64::MIN_POSITIVE);
        Metric::Diagonal(curvatures.map(|x| x.max(least)))
    }
}
