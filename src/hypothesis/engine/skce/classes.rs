use pulp::Arch;

use super::{ClassPoints, HostKernel, estimate};
use crate::{
    distribution::{ClassRows, Flip, LabelSets, Redrawn},
    error::Result,
    estimator::SkceForm,
    hypothesis::engine::Evaluator,
    kernel::Kernel,
    ops::{MatrixView, Real, add_product},
    parallel,
};

/// The biased or unbiased SKCE of classes, `Σ_ij k_ij δ_iᵀδ_j` over all or all distinct pairs, at one or
/// several bandwidths.
///
/// With `a_i` the most likely class, `d_i = e_{a_i} − p_i` and `Δ_i = e_{y_i} − e_{a_i}`, which is 0 except
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
    /// For each bandwidth `(K d)_ic` where few labels differ, otherwise `−(K p)_ic`.
    linear: Vec<Vec<f64>>,
    /// For each bandwidth `Σ_ij k_ij d_iᵀd_j` where few labels differ, otherwise `Σ_ij k_ij p_iᵀp_j + Σ_i
    /// (1 − 2 (K p)_{i, a_i})`.
    base: Vec<f64>,
    /// `Σ_i ‖δ_i‖²`, which is the diagonal, where all labels are the most likely class.
    diagonal: f64,
}

/// Up to this share of labels that differ, they are summed over set by set.
const FEW: f64 = 0.15;
/// Above so many samples, single precision: sums of so many terms are rounded more than a term.
const SINGLE: usize = 4096;

impl ClassSkce {
    /// Takes a fixed bandwidth times each factor, for at least two samples where it is unbiased.
    pub fn new(kernel: Kernel, factors: &[f64], form: SkceForm, points: ClassPoints) -> Self {
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
        let base = |linear: &Vec<f64>| {
            let base: f64 = linear.iter().zip(&vectors).map(|(a, b)| a * b).sum();
            if few {
                return base;
            }
            let top = |(i, &top): (usize, &u32)| linear[i * m + top as usize];
            let likely: f64 = rows.top.iter().enumerate().map(top).sum();
            base + points.weights.squares(n) + 2.0 * likely // w_i² k_ii 1[y_i = y_i] = 1
        };
        Self {
            form,
            base: linear.iter().map(base).collect(),
            diagonal: (0..n)
                .map(|i| points.weights.at(i).powi(2) * rows.residual_square(i))
                .sum(),
            points,
            kernel,
            few,
            linear,
        }
    }

    fn rows(&self) -> &ClassRows {
        &self.points.rows
    }

    /// The estimates of a set at each bandwidth, from its [`sparse`](Self::sparse) or [`dense`](Self::dense) sums.
    fn estimates(&self, flips: &[Flip], pairs: &[f64]) -> Vec<f64> {
        let (rows, m) = (self.rows(), self.rows().classes);
        let square = |flip: &Flip| {
            let i = flip.sample as usize;
            let change = 2.0 * (rows.confidence(i) - rows.probability(i, flip.class));
            self.points.weights.at(i).powi(2) * change
        };
        let diagonal = self.diagonal + flips.iter().map(square).sum::<f64>();
        let estimate = |((linear, base), pairs): ((&Vec<f64>, &f64), &f64)| {
            let change = |flip: &Flip| {
                let i = flip.sample as usize;
                linear[i * m + flip.class as usize] - linear[i * m + rows.top[i] as usize]
            };
            let changes: f64 = flips.iter().map(change).sum();
            let total = base + 2.0 * (changes + pairs);
            let samples = (rows.samples(), &self.points.weights);
            estimate(self.form, samples, total, diagonal)
        };
        let of_bandwidths = self.linear.iter().zip(&self.base).zip(pairs);
        of_bandwidths.map(estimate).collect()
    }

    /// `½ Σ_ij k_ij Δ_iᵀΔ_j` of a set with few labels that differ, at each bandwidth.
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
        // ½ w_i² k_ii ‖e_y − e_a‖² = w_i²; then i < j
        let samples: Vec<usize> = flips.iter().map(|flip| flip.sample as usize).collect();
        let square = |&i: &usize| self.points.weights.at(i).powi(2);
        let mut pairs = vec![samples.iter().map(square).sum::<f64>(); self.base.len()];
        let mut products = Vec::new();
        for first in (0..flips.len()).step_by(ROWS) {
            let last = flips.len().min(first + ROWS);
            let own = &points[first * d..last * d];
            products.clear();
            products.resize((last - first) * (flips.len() - first), 0.0);
            let rows = products.chunks_exact_mut(flips.len() - first);
            for (i, row) in (first..last).zip(rows) {
                let row = &mut row[i + 1 - first..];
                Arch::new().dispatch(
                    #[inline(always)]
                    || residual_products(&classes[i..], &tops[i..], row),
                );
            }
            let of = [&samples[first..last], &samples[first..]];
            let points = [own, &points[first * d..]];
            self.kernel
                .at_weighted(points, of, &self.points.weights, |b, gram| {
                    pairs[b] += Arch::new().dispatch(
                        #[inline(always)]
                        || dot(gram, &products),
                    );
                });
        }
        pairs
    }

    /// `Σ_{i<j} k_ij 1[y_i = y_j]` of all sets, many at once: set by set at each bandwidth.
    fn dense<T: Real>(&self, sets: &LabelSets) -> Vec<Vec<f64>> {
        let (n, d) = (self.rows().samples(), self.points.d);
        let points: Vec<T> = self.points.values().iter().map(|&p| T::new(p)).collect();
        let labels = in_lanes::<T>(sets, n);
        let add = |block: usize, sums: &mut [Vec<f64>]| {
            let rows = block * ROWS..n.min((block + 1) * ROWS);
            let own = &points[rows.start * d..rows.end * d];
            let mut kernels = vec![Vec::new(); sums.len()];
            for first in (rows.start..n).step_by(COLUMNS) {
                let columns = first..n.min(first + COLUMNS);
                let others = &points[columns.start * d..columns.end * d];
                let of = [rows.clone(), columns.clone()].map(Vec::from_iter);
                let (of, weights) = ([&of[0][..], &of[1][..]], &self.points.weights);
                self.kernel
                    .at_weighted([own, others], of, weights, |b, gram| {
                        kernels[b].clear();
                        kernels[b].extend_from_slice(gram);
                    });
                for (chunk, lanes) in labels.chunks(n).enumerate() {
                    let sets = chunk * LANES..(chunk + 1) * LANES;
                    for i in rows.clone() {
                        let after = first.max(i + 1).min(columns.end); // j > i
                        let others = &lanes[after..columns.end];
                        let k = |b: usize| {
                            let row = &kernels[b][(i - rows.start) * columns.len()..];
                            &row[after - first..columns.len()]
                        };
                        if kernels.len() == 3 {
                            // those of the omnibus test: labels are compared once for all
                            let equal = three_of_equal([k(0), k(1), k(2)], &lanes[i], others);
                            for (sums, equal) in sums.iter_mut().zip(equal) {
                                add_each(&mut sums[sets.clone()], &equal);
                            }
                            continue;
                        }
                        for (b, sums) in sums.iter_mut().enumerate() {
                            let equal = of_equal(k(b), &lanes[i], others);
                            add_each(&mut sums[sets.clone()], &equal);
                        }
                    }
                }
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
        let sum = |set: usize, b: usize| parts.iter().map(|part| part[b][set]).sum();
        parallel::map(sets.len(), &|set| {
            (0..self.base.len()).map(|b| sum(set, b)).collect()
        })
    }
}

impl Evaluator<LabelSets> for ClassSkce {
    fn width(&self) -> usize {
        self.kernel.bandwidths()
    }

    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        let pairs = match (self.few, self.rows().samples() > SINGLE) {
            (true, _) => sets.map(|flips| self.sparse(flips)),
            (false, true) => self.dense::<f32>(sets),
            (false, false) => self.dense::<f64>(sets),
        };
        let of_set = |set| self.estimates(sets.flips(set), &pairs[set]);
        Ok(parallel::map(sets.len(), &of_set).concat())
    }
}

/// Rows of a tile.
const ROWS: usize = 64;
/// Columns of a tile.
const COLUMNS: usize = 256;
/// Parts of the work of many threads.
const PARTS: usize = 32;
/// Sets whose labels are compared at once.
const LANES: usize = 32;

/// `K v` at each bandwidth, `[n, m]` from `[n, m]`, in tiles.
fn products(kernel: &HostKernel, points: &ClassPoints, vectors: &[f64]) -> Vec<Vec<f64>> {
    let (n, m) = (points.rows.samples(), points.rows.classes);
    let (values, d) = (points.values(), points.d);
    let blocks = parallel::map(n.div_ceil(ROWS), &|block| {
        let own = block * ROWS..n.min((block + 1) * ROWS);
        let of_block = &values[own.start * d..own.end * d];
        let mut products = vec![vec![0.0; own.len() * m]; kernel.bandwidths()];
        for first in (0..n).step_by(COLUMNS) {
            let last = n.min(first + COLUMNS);
            let width = last - first;
            let vectors = MatrixView::new(&vectors[first * m..last * m], m, [width, m]);
            let of = [own.clone(), first..last].map(Vec::from_iter);
            let of = [&of[0][..], &of[1][..]];
            let both = [of_block, &values[first * d..last * d]];
            kernel.at_weighted(both, of, &points.weights, |b, gram| {
                let gram = MatrixView::new(gram, width, [own.len(), width]);
                add_product(&mut products[b], m, gram, vectors);
            });
        }
        products
    });
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
fn of_equal<T: Real>(k: &[T], own: &[T; LANES], labels: &[[T; LANES]]) -> [T; LANES] {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            let (mut sums, own) = ([T::new(0.0); LANES], *own);
            for (&k, labels) in k.iter().zip(labels) {
                add_equal(&mut sums, k, labels, &own);
            }
            sums
        },
    )
}

/// The same at three bandwidths.
fn three_of_equal<T: Real>(
    [first, second, third]: [&[T]; 3],
    own: &[T; LANES],
    labels: &[[T; LANES]],
) -> [[T; LANES]; 3] {
    Arch::new().dispatch(
        #[inline(always)]
        || {
            // three arrays of their own are in registers
            let [mut a, mut b, mut c] = [[T::new(0.0); LANES]; 3];
            let (k, own) = (first.iter().zip(second).zip(third), *own);
            for (((&first, &second), &third), labels) in k.zip(labels) {
                add_equal(&mut a, first, labels, &own);
                add_equal(&mut b, second, labels, &own);
                add_equal(&mut c, third, labels, &own);
            }
            [a, b, c]
        },
    )
}

/// Adds `k` in each lane where the labels are equal.
#[inline(always)]
fn add_equal<T: Real>(sums: &mut [T; LANES], k: T, labels: &[T; LANES], own: &[T; LANES]) {
    for ((sum, label), own) in sums.iter_mut().zip(labels).zip(own) {
        *sum += if label == own { k } else { T::new(0.0) };
    }
}

/// Adds a number to each sum.
fn add_each<T: Real>(sums: &mut [f64], numbers: &[T]) {
    for (sum, x) in sums.iter_mut().zip(numbers) {
        *sum += x.to_f64();
    }
}

/// `Δ_0ᵀΔ_j` for `Δ = e_class − e_top`, of the first of a list with each of the others.
#[inline(always)]
fn residual_products(classes: &[u32], tops: &[u32], products: &mut [f64]) {
    let (class, top) = (classes[0], tops[0]);
    let equal = |a: u32, b: u32| i32::from(a == b);
    let others = classes[1..].iter().zip(&tops[1..]);
    for (product, (&y, &a)) in products.iter_mut().zip(others) {
        let of_class = equal(class, y) - equal(class, a);
        *product = f64::from(of_class - equal(top, y) + equal(top, a));
    }
}

/// `aᵀb`
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<32>(), b.as_chunks::<32>());
    let mut sums = [0.0; 32];
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(a, b)| a * b);
    sums.iter().sum::<f64>() + rest.sum::<f64>()
}
