use pulp::{Arch, Simd, WithSimd};

use super::{ClassPoints, HostKernel, estimate};
use crate::{
    distribution::{ClassRows, Flip, LabelSets, Redrawn},
    error::Result,
    estimator::SkceForm,
    hypothesis::engine::Evaluator,
    kernel::Kernel,
    ops::{Matrix, Real, add_product},
    parallel,
};

/// The biased or unbiased SKCE of classes, `Σ_ij k_ij δ_iᵀδ_j` over all or all distinct pairs, at one or
/// several bandwidths.
///
/// With `a_i` the most likely class, `d_i = e_{a_i} − p_i` and `Δ_i = e_{y_i} − e_{a_i}`, which is 0 but
/// for the labels that differ from it,
///
/// `Σ_ij k_ij δ_iᵀδ_j = Σ_ij k_ij d_iᵀd_j + 2 Σ_i Δ_i·(K d)_i + Σ_ij k_ij Δ_iᵀΔ_j`.
///
/// `K d` is computed once, the last sum is over the few labels that differ. Where many do, it is
/// `Σ_ij k_ij 1[y_i = y_j] − 2 Σ_i (K p)_{i, y_i} + Σ_ij k_ij p_iᵀp_j`, the first term for many sets at
/// once: a kernel value is computed once, and added in each lane of a vector whose labels are equal.
pub struct ClassSkce {
    points: ClassPoints,
    kernel: HostKernel,
    form: SkceForm,
    few: bool,
    /// For each bandwidth `(K d)_ic` where few labels differ, else `−(K p)_ic`.
    linear: Vec<Vec<f64>>,
    /// `Σ_ij k_ij d_iᵀd_j`, or `Σ_ij k_ij p_iᵀp_j`.
    base: Vec<f64>,
}

/// Up to this share of labels that differ, they are summed over set by set.
const FEW: f64 = 0.15;
/// Above so many samples, single precision: sums of so many terms are rounded more than a term.
const SINGLE: usize = 4096;

impl ClassSkce {
    /// Takes a fixed bandwidth times each factor, for at least two samples where it is unbiased.
    pub fn new(
        kernel: Kernel,
        factors: &[f64],
        form: SkceForm,
        points: impl Into<ClassPoints>,
    ) -> Self {
        let points = points.into();
        let rows = &points.rows;
        let (n, m) = (rows.samples(), rows.classes);
        let few = rows.expected_errors() <= FEW * n as f64;
        let mut vectors: Vec<f64> = rows.values.iter().map(|p| -p).collect();
        if few {
            for (i, (&top, error_probability)) in
                rows.top.iter().zip(&rows.error_probability).enumerate()
            {
                vectors[i * m + top as usize] = *error_probability; // 1 − p, with all of its digits
            }
        }
        let kernel = HostKernel::new(kernel, factors, points.d);
        let linear = products(&kernel, &points, &vectors);
        let dot = |linear: &Vec<f64>| linear.iter().zip(&vectors).map(|(a, b)| a * b).sum();
        Self {
            form,
            base: linear.iter().map(dot).collect(),
            points,
            kernel,
            few,
            linear,
        }
    }

    fn rows(&self) -> &ClassRows {
        &self.points.rows
    }

    /// `Σ_i ‖δ_i‖²`, which is the diagonal, where all labels are the most likely class.
    fn diagonal(&self) -> f64 {
        let rows = self.rows();
        (0..rows.samples()).map(|i| rows.residual_square(i)).sum()
    }

    /// The change in `Σ_i ‖δ_i‖²` by the labels that differ.
    fn diagonal_change(&self, flips: &[Flip]) -> f64 {
        let rows = self.rows();
        let change = |flip: &Flip| {
            let i = flip.sample as usize;
            2.0 * (rows.confidence(i) - rows.probability(i, flip.class))
        };
        flips.iter().map(change).sum()
    }

    /// The index in `linear` of a sample and a class.
    fn at(&self, sample: usize, class: u32) -> usize {
        sample * self.rows().classes + class as usize
    }

    /// The totals of a set with few labels that differ.
    fn sparse(&self, flips: &[Flip]) -> Vec<f64> {
        let top = |flip: &Flip| self.rows().top[flip.sample as usize];
        let d = self.points.d;
        let points: Vec<f64> = flips
            .iter()
            .flat_map(|flip| self.points.point(flip.sample as usize))
            .copied()
            .collect();
        let classes: Vec<u32> = flips.iter().map(|flip| flip.class).collect();
        let tops: Vec<u32> = flips.iter().map(top).collect();
        let mut pairs = vec![0.0; self.base.len()]; // i < j
        let mut products = Vec::new();
        for first in (0..flips.len()).step_by(ROWS) {
            let last = flips.len().min(first + ROWS);
            let own = &points[first * d..last * d];
            products.clear();
            products.resize((last - first) * (flips.len() - first), 0.0);
            let rows = products.chunks_exact_mut(flips.len() - first);
            for (i, row) in (first..last).zip(rows) {
                Arch::new().dispatch(Products {
                    classes: &classes[i..],
                    tops: &tops[i..],
                    products: &mut row[i + 1 - first..],
                });
            }
            self.kernel.at_each(own, &points[first * d..], |b, gram| {
                pairs[b] += Arch::new().dispatch(Dot(gram, &products));
            });
        }
        let diagonal = 2.0 * flips.len() as f64; // k_ii ‖e_y − e_a‖²
        let total = |((linear, base), pairs): ((&Vec<f64>, &f64), f64)| {
            let change = |flip: &Flip| self.change(linear, flip);
            let linear: f64 = flips.iter().map(change).sum();
            base + 2.0 * linear + diagonal + 2.0 * pairs
        };
        self.linear
            .iter()
            .zip(&self.base)
            .zip(pairs)
            .map(total)
            .collect()
    }

    /// The change in the sum of a linear term by a label that differs.
    fn change(&self, linear: &[f64], flip: &Flip) -> f64 {
        let sample = flip.sample as usize;
        linear[self.at(sample, flip.class)] - linear[self.at(sample, self.rows().top[sample])]
    }

    /// The totals of all sets, many at once, set by set.
    fn dense<T: Real>(&self, sets: &LabelSets) -> Vec<Vec<f64>> {
        let (n, d) = (self.rows().samples(), self.points.d);
        let points: Vec<T> = self.points.values().iter().map(|&p| T::new(p)).collect();
        let labels = in_lanes::<T>(sets, n);
        let add = |block: usize, sums: &mut [Vec<f64>]| {
            let rows = block * ROWS..n.min((block + 1) * ROWS);
            let own = &points[rows.start * d..rows.end * d];
            for first in (rows.start..n).step_by(COLUMNS) {
                let columns = first..n.min(first + COLUMNS);
                let others = &points[columns.start * d..columns.end * d];
                self.kernel.at_each(own, others, |b, gram| {
                    for (lanes, sums) in labels.chunks(n).zip(sums[b].chunks_mut(LANES)) {
                        for (i, k) in rows.clone().zip(gram.chunks(columns.len())) {
                            let after = first.max(i + 1).min(columns.end); // j > i
                            let equal = Arch::new().dispatch(Equal {
                                k: &k[after - first..],
                                own: &lanes[i],
                                labels: &lanes[after..columns.end],
                            });
                            for (sum, equal) in sums.iter_mut().zip(equal) {
                                *sum += equal.to_f64();
                            }
                        }
                    }
                });
            }
        };
        // the same parts in the same order, whatever the number of threads
        let part = |part: usize| {
            let mut sums = vec![vec![0.0; labels.len() / n * LANES]; self.base.len()];
            let blocks = (part..n.div_ceil(ROWS)).step_by(PARTS);
            blocks.for_each(|block| add(block, &mut sums));
            sums
        };
        let parts: Vec<Vec<Vec<f64>>> = parallel::map(PARTS, &part);
        let total = |set: usize, bandwidth: usize| {
            let equal: f64 = parts.iter().map(|part| part[bandwidth][set]).sum();
            let linear = &self.linear[bandwidth];
            let most_likely = |i: usize| linear[self.at(i, self.rows().top[i])];
            let likely: f64 = (0..n).map(most_likely).sum();
            let changes: f64 = (sets.flips(set).iter())
                .map(|flip| self.change(linear, flip))
                .sum();
            // k_ii 1[y_i = y_i] = 1
            n as f64 + 2.0 * equal + 2.0 * (likely + changes) + self.base[bandwidth]
        };
        let totals = |set| (0..self.base.len()).map(|b| total(set, b)).collect();
        parallel::map(sets.len(), &totals)
    }
}

impl Evaluator<LabelSets> for ClassSkce {
    fn width(&self) -> usize {
        self.kernel.bandwidths()
    }

    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        let totals = match (self.few, self.rows().samples() > SINGLE) {
            (true, _) => sets.map(|flips| self.sparse(flips)),
            (false, true) => self.dense::<f32>(sets),
            (false, false) => self.dense::<f64>(sets),
        };
        let diagonal = self.diagonal();
        let estimates = |(set, totals): (usize, &Vec<f64>)| {
            let diagonal = diagonal + self.diagonal_change(sets.flips(set));
            let samples = self.rows().samples();
            let estimate = |&total: &f64| estimate(self.form, samples, total, diagonal);
            totals.iter().map(estimate).collect::<Vec<f64>>()
        };
        Ok(totals.iter().enumerate().flat_map(estimates).collect())
    }
}

/// Rows of a tile.
const ROWS: usize = 64;
/// Columns of a tile.
const COLUMNS: usize = 256;
/// Parts of the work of many threads.
const PARTS: usize = 32;
/// Sets whose labels are compared at once.
const LANES: usize = 64;

/// `K v` at each bandwidth, `[n, m]` from `[n, m]`, in tiles.
fn products(kernel: &HostKernel, points: &ClassPoints, vectors: &[f64]) -> Vec<Vec<f64>> {
    let (n, m) = (points.rows.samples(), points.rows.classes);
    let (values, d) = (points.values(), points.d);
    let of_block = |block: usize| {
        let own = block * ROWS..n.min((block + 1) * ROWS);
        let points = &values[own.start * d..own.end * d];
        let mut products = vec![vec![0.0; own.len() * m]; kernel.bandwidths()];
        for first in (0..n).step_by(COLUMNS) {
            let last = n.min(first + COLUMNS);
            let width = last - first;
            let vectors = Matrix::new(&vectors[first * m..last * m], m, [width, m]);
            kernel.at_each(points, &values[first * d..last * d], |b, gram| {
                let gram = Matrix::new(gram, width, [own.len(), width]);
                add_product(&mut products[b], m, gram, vectors);
            });
        }
        products
    };
    let blocks = parallel::map(n.div_ceil(ROWS), &of_block);
    let of_bandwidth = |b: usize| blocks.iter().flat_map(|block| &block[b]).copied().collect();
    (0..kernel.bandwidths()).map(of_bandwidth).collect()
}

/// The labels of all sets as numbers: of [`LANES`] sets, `n` samples; and so on. Lanes without a set
/// repeat the most likely classes.
fn in_lanes<T: Real>(sets: &LabelSets, n: usize) -> Vec<[T; LANES]> {
    let chunks = sets.len().div_ceil(LANES);
    let mut labels: Vec<[T; LANES]> = Vec::with_capacity(chunks * n);
    for _ in 0..chunks {
        let reference = sets.reference().iter();
        labels.extend(reference.map(|&class| [T::new(f64::from(class)); LANES]));
    }
    for set in 0..sets.len() {
        for flip in sets.flips(set) {
            let row = &mut labels[set / LANES * n + flip.sample as usize];
            row[set % LANES] = T::new(f64::from(flip.class));
        }
    }
    labels
}

/// `Σ_j k_j 1[y_j = y]` in each lane.
struct Equal<'a, T> {
    k: &'a [T],
    own: &'a [T; LANES],
    labels: &'a [[T; LANES]],
}

impl<T: Real> WithSimd for Equal<'_, T> {
    type Output = [T; LANES];

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> [T; LANES] {
        let mut sums = [T::new(0.0); LANES];
        let own = *self.own;
        for (&k, labels) in self.k.iter().zip(self.labels) {
            for ((sum, label), own) in sums.iter_mut().zip(labels).zip(&own) {
                *sum = sum.plus(if label == own { k } else { T::new(0.0) });
            }
        }
        sums
    }
}

/// `Δ_0ᵀΔ_j` for `Δ = e_class − e_top`, of the first of a list with each of the others.
struct Products<'a> {
    classes: &'a [u32],
    tops: &'a [u32],
    products: &'a mut [f64],
}

impl WithSimd for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let (class, top) = (self.classes[0], self.tops[0]);
        let equal = |a: u32, b: u32| i32::from(a == b);
        let others = self.classes[1..].iter().zip(&self.tops[1..]);
        for (product, (&y, &a)) in self.products.iter_mut().zip(others) {
            let of_class = equal(class, y) - equal(class, a);
            *product = f64::from(of_class - equal(top, y) + equal(top, a));
        }
    }
}

/// `aᵀb`
struct Dot<'a>(&'a [f64], &'a [f64]);

impl WithSimd for Dot<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let ((a, a_rest), (b, b_rest)) = (self.0.as_chunks::<32>(), self.1.as_chunks::<32>());
        let mut sums = [0.0; 32];
        for (a, b) in a.iter().zip(b) {
            for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
                *sum += a * b;
            }
        }
        let rest = a_rest.iter().zip(b_rest).map(|(a, b)| a * b);
        sums.iter().sum::<f64>() + rest.sum::<f64>()
    }
}
