//! The skewness of `T = n·SKCE_uq` if the model is calibrated, given the predictions.
//!
//! With `S = Σ_{i≠j} h_ij = (n − 1) T` and the covariance `C_i = diag(p_i) − p_i p_iᵀ` of `δ_i`,
//!
//! `E[S²] = 2 Σ_{i≠j} k_ij² tr(C_i C_j)`,
//! `E[S³] = 8 Σ_{i,j,l distinct} k_ij k_jl k_li tr(C_i C_j C_l) + 4 Σ_{i≠j} k_ij³ E[(δ_iᵀδ_j)³]`.
//!
//! No label enters. Of many samples both are estimated from some of them, weighted by the inverse of
//! their inclusion probabilities (Horvitz, Thompson 1952).

use burn::tensor::Tensor;
use rand::{Rng, RngExt, seq::index};

use super::{joint::JointKernel, pair_matrix::PairMatrix};
use crate::{
    distribution::{Categorical, Predictive},
    error::Result,
    host::{int_tensor, tensor_like, to_scalar, to_vec, widened, without_diagonal},
    kernel::Kernel,
    parallel,
};

/// Samples that stand for all.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sample {
    /// The samples, in increasing order if they are drawn.
    rows: Vec<usize>,
    /// The number of samples that each stands for in a sum: the inverse of its inclusion probability.
    weights: Vec<f64>,
    /// The factors of sums over distinct pairs and triples.
    factors: [f64; 2],
}

/// Samples whose matrix of `h` is built.
const LARGEST: usize = 512;

impl Sample {
    /// All samples up to 512, else so many, drawn without replacement.
    pub fn of_equals(n: usize, rng: &mut dyn Rng) -> Self {
        let s = n.min(LARGEST);
        let rows = if n > LARGEST {
            index::sample(rng, n, LARGEST).into_vec()
        } else {
            (0..n).collect()
        };
        let ratio =
            |less: usize| n.saturating_sub(less) as f64 / (s.saturating_sub(less)).max(1) as f64;
        let pairs = ratio(0) * ratio(1);
        Self {
            rows,
            weights: vec![1.0; s],
            factors: [pairs, pairs * ratio(2)],
        }
    }

    /// All samples if there are at most `size`, else about so many: each is drawn by itself, with a
    /// probability in proportion to `tr C_i = Σ_c p_ic (1 − p_ic)`, on which what it adds to the moments
    /// depends. Samples that are certain to be right add nothing and are left out.
    ///
    /// A tenth of the mean of `tr C` is added, so that no weight exceeds some `10 n/size`.
    pub fn of_classes(predictions: &Categorical, size: usize, rng: &mut dyn Rng) -> Self {
        let p = widened(predictions.probabilities().detach());
        let traces = to_vec((p.clone() * (p.neg() + 1.0)).sum_dim(1));
        let inclusion = inclusion_probabilities(&traces, size);
        let drawn = |&row: &usize| match inclusion[row] {
            0.0 => false,
            1.0 => true,
            probability => rng.random::<f64>() < probability,
        };
        let rows: Vec<usize> = (0..traces.len()).filter(drawn).collect();
        Self {
            weights: rows.iter().map(|&row| inclusion[row].recip()).collect(),
            rows,
            factors: [1.0; 2],
        }
    }
}

/// `min(1, c (w_i + w̄/10))` with the sum `size`, and 0 where `w_i = 0`.
fn inclusion_probabilities(weights: &[f64], size: usize) -> Vec<f64> {
    let positive = weights.iter().filter(|&&w| w > 0.0).count();
    if positive <= size {
        return weights.iter().map(|&w| f64::from(w > 0.0)).collect();
    }
    let mean = weights.iter().map(|w| w.max(0.0)).sum::<f64>() / positive as f64;
    let weight = |&w: &f64| if w > 0.0 { w + 0.1 * mean } else { 0.0 };
    let weights: Vec<f64> = weights.iter().map(weight).collect();
    // those that are certain leave the rest of the size to the others, until no more become certain
    let mut scale = 0.0;
    loop {
        let (mut certain, mut rest) = (0, 0.0);
        for &w in &weights {
            if scale * w >= 1.0 {
                certain += 1
            } else {
                rest += w
            }
        }
        let next = (size - certain.min(size)) as f64 / rest;
        if next <= scale || !next.is_finite() {
            break;
        }
        scale = next;
    }
    weights.iter().map(|w| (scale * w).min(1.0)).collect()
}

/// `E[S²]` and `E[S³]`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct NullMoments {
    second: f64,
    third: f64,
}

impl NullMoments {
    fn skewness(self) -> f64 {
        let skewness = self.third / self.second.powf(1.5);
        if self.second > 0.0 && skewness.is_finite() {
            skewness
        } else {
            0.0 // no variance
        }
    }
}

/// The skewness for a kernel whose moments have no closed form: from targets that are redrawn from the
/// predictions, whose `h` have the same moments.
pub(super) fn by_redrawing<P: Predictive, K: JointKernel<P>>(
    kernel: &K,
    predictions: &P,
    sample: &Sample,
    rng: &mut dyn Rng,
) -> Result<f64> {
    let s = sample.rows.len();
    if s < 2 {
        return Ok(0.0);
    }
    let predictions = predictions.select_rows(&sample.rows);
    let sets = (PAIRS / (s * s)).clamp(4, 64);
    let mut moments = NullMoments::default();
    for _ in 0..sets {
        let pairs = kernel.pairs(&predictions, &predictions.sample(rng))?;
        let h = without_diagonal(widened(pairs.tile(0..s, 0..s)));
        let roots = sample.weights.iter().map(|w| w.sqrt()).collect();
        let roots = tensor_like(roots, [s, 1], &h);
        let scaled = h.clone() * roots.clone() * roots.clone().transpose();
        let triangles = to_scalar((scaled.clone().matmul(scaled.clone()) * scaled.clone()).sum());
        let second = to_scalar((scaled.clone() * h.clone()).sum());
        let cubes = to_scalar((scaled * h.square()).sum());
        let [pairs, triples] = sample.factors;
        moments.second += 2.0 * pairs * second;
        moments.third += 8.0 * triples * triangles + 4.0 * pairs * cubes;
    }
    moments.second /= sets as f64;
    moments.third /= sets as f64;
    Ok(moments.skewness())
}

/// Pairs of samples over all redrawn data sets.
const PAIRS: usize = 1 << 20;

/// The skewness for a scalar kernel on classes: exactly for as many samples as a budget of
/// operations allows, else from a [`Sample`] of so many. Both moments are of one sample, so that
/// what it has too much or too little of cancels in their ratio.
///
/// Cost: `s³·m` operations for `s` samples.
///
/// - kernel: with a fixed bandwidth
/// - points: what it compares, the probabilities or the variable that they are given, `[n, w]`
pub(super) fn of_classes(
    kernel: &Kernel,
    predictions: &Categorical,
    points: Tensor<2>,
    rng: &mut dyn Rng,
) -> f64 {
    let size = (TRIPLES / (predictions.classes() as f64 + 1.0))
        .cbrt()
        .clamp(128.0, 1024.0);
    let sample = Sample::of_classes(predictions, size as usize, rng);
    moments_of_classes(kernel, predictions, points, &sample).skewness()
}

/// Ordered triples of samples by classes: `s³ (m + 1)`, of which one in six is computed.
const TRIPLES: f64 = 2.5e9;

/// Both moments, weighted, on the host in f64. With `g_ij = p_iᵀp_j`, sums over classes `c`, and
/// `y ∼ p_i`, `y' ∼ p_j`:
///
/// - `tr(C_i C_j) = g − Σ p_ic² p_jc − Σ p_ic p_jc² + g²`;
/// - `E[(δ_iᵀδ_j)³] = g + 3g² + 4g³ + 2 Σ (p_ic p_jc³ + p_ic³ p_jc) + 6 Σ p_ic² p_jc²
///   − (3 + 6g) Σ (p_ic p_jc² + p_ic² p_jc)`, from `δ_iᵀδ_j = 1[y = y'] − p_j[y] − p_i[y'] + g`;
/// - `tr(C_i C_j C_l) = Σ_c p_ic p_jc p_lc (1 − p_ic − p_jc − p_lc + g_ij + g_jl + g_li) − g_ij g_jl g_li`,
///   or the mean of this and its transpose, which enter a sum over ordered triples alike.
fn moments_of_classes(
    kernel: &Kernel,
    predictions: &Categorical,
    points: Tensor<2>,
    sample: &Sample,
) -> NullMoments {
    let s = sample.rows.len();
    if s < 2 {
        return NullMoments::default();
    }
    let [p, points] = [predictions.probabilities(), points].map(|x| {
        let rows = int_tensor(sample.rows.iter().copied(), &x.device());
        widened(x.detach()).select(0, rows) // [s, m], [s, w]
    });
    let points = points.unsqueeze();
    let gram = kernel.between(points.clone(), points); // [1, s, s]
    let p = to_vec(p);
    let triples = Triples::new(&to_vec(gram), &p, &sample.weights);
    let parts = parallel::map(s, &|i| triples.starting_at(i));
    let sum = |at: usize| parts.iter().map(|part| part[at]).sum::<f64>();
    NullMoments {
        second: 4.0 * sum(0),                // each pair twice
        third: 48.0 * sum(2) + 8.0 * sum(1), // each triple six times
    }
}

/// The input of sums over pairs and triples of samples.
struct Triples<'a> {
    classes: usize,
    /// `[s, m]`.
    p: &'a [f64],
    /// The same by class, each class padded to whole vectors: `[m, width]`.
    by_class: Vec<f64>,
    /// `s`, rounded up to whole vectors.
    width: usize,
    /// `k_ij`, `[s, width]`.
    k: Vec<f64>,
    /// `g_ij`, `[s, width]`.
    g: Vec<f64>,
    weights: &'a [f64],
}

/// Numbers in a vector.
const LANES: usize = 8;

impl<'a> Triples<'a> {
    /// - gram: `[s, s]`, p: `[s, m]`, weights: `[s]`
    fn new(gram: &[f64], p: &'a [f64], weights: &'a [f64]) -> Self {
        let s = weights.len();
        let (m, width) = (p.len() / s, s.div_ceil(LANES) * LANES);
        let mut by_class = vec![0.0; m * width];
        for (i, row) in p.chunks(m).enumerate() {
            let classes = row.iter().enumerate();
            classes.for_each(|(c, p)| by_class[c * width + i] = *p);
        }
        let (mut k, mut g) = (vec![0.0; s * width], vec![0.0; s * width]);
        for i in 0..s {
            k[i * width..][..s].copy_from_slice(&gram[i * s..][..s]);
            for (c, p) in p[i * m..][..m].iter().enumerate() {
                let others = &by_class[c * width..][..width];
                let sums = g[i * width..][..width].iter_mut();
                sums.zip(others).for_each(|(g, other)| *g += p * other);
            }
        }
        Self {
            classes: m,
            p,
            by_class,
            width,
            k,
            g,
            weights,
        }
    }

    /// The weighted sums of `k_ij² tr(C_i C_j)` and of `k_ij³ E[(δ_iᵀδ_j)³]` over pairs `i < j`, and of
    /// `k_ij k_jl k_li tr(C_i C_j C_l)` over triples `i < j < l`.
    fn starting_at(&self, i: usize) -> [f64; 3] {
        let (m, width) = (self.classes, self.width);
        let row = |x: &'a [f64], at: usize| &x[at * m..][..m];
        let p = row(self.p, i);
        let (k_i, g_i) = (&self.k[i * width..][..width], &self.g[i * width..][..width]);
        let mut sums = [0.0; 3];
        // of a class: where it starts by class, p_ic p_jc, and its product with the factor of p_lc
        let mut terms: Vec<(usize, f64, f64)> = Vec::with_capacity(m);
        let others = k_i.iter().zip(g_i).zip(self.weights).enumerate();
        for (j, ((&k, &g), other_weight)) in others.skip(i + 1) {
            let (mut third, mut fourth, mut square) = (0.0, 0.0, 0.0);
            terms.clear();
            for (c, (a, b)) in p.iter().zip(row(self.p, j)).enumerate() {
                let product = a * b;
                third += product * (a + b);
                fourth += product * (a * a + b * b);
                square += product * product;
                if product > 0.0 {
                    terms.push((c * width, product, product * (1.0 - a - b + g)));
                }
            }
            let weight = self.weights[i] * other_weight;
            let trace = g - third + g * g;
            let cube = g + 3.0 * g * g + 4.0 * g * g * g + 2.0 * fourth + 6.0 * square
                - (3.0 + 6.0 * g) * third;
            sums[0] += weight * k * k * trace;
            sums[1] += weight * k * k * k * cube;
            sums[2] += weight * k * self.third_samples(i, j, &terms);
        }
        sums
    }

    /// `Σ_{l>j} w_l k_jl k_li tr(C_i C_j C_l)`, in vectors of samples.
    fn third_samples(&self, i: usize, j: usize, terms: &[(usize, f64, f64)]) -> f64 {
        let width = self.width;
        let g = self.g[i * width + j];
        let mut sum = 0.0;
        for start in ((j + 1) / LANES * LANES..width).step_by(LANES) {
            let vector = |x: &[f64], at: usize| -> [f64; LANES] {
                x[at + start..][..LANES].try_into().expect("a whole vector")
            };
            let (mut linear, mut products) = ([0.0; LANES], [0.0; LANES]);
            for &(class, product, factor) in terms {
                let p = vector(&self.by_class, class);
                for ((linear, products), p) in linear.iter_mut().zip(&mut products).zip(p) {
                    let scaled = product * p;
                    *products += scaled;
                    *linear += p * (factor - scaled);
                }
            }
            let [g_i, g_j] = [i, j].map(|at| vector(&self.g, at * width));
            let [k_i, k_j] = [i, j].map(|at| vector(&self.k, at * width));
            let ends = self.weights.len().min(start + LANES);
            let later = (start.max(j + 1)..ends).map(|l| (l - start, self.weights[l]));
            for (lane, weight) in later {
                let (to_i, to_j) = (g_i[lane], g_j[lane]);
                let trace = linear[lane] + (to_i + to_j) * products[lane] - g * to_i * to_j;
                sum += weight * k_i[lane] * k_j[lane] * trace;
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests;
