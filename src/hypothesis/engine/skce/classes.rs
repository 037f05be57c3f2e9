use pulp::Arch;

use super::{
    ClassPoints, HostKernel,
    equal_labels::{AtBandwidth, Equal, LANES, MOST_TERMS, Term, UNIT, in_lanes},
    estimate,
};
use crate::{
    distribution::{ClassRows, Flip, LabelSets, Redrawn},
    error::Result,
    estimator::SkceForm,
    hypothesis::engine::Evaluator,
    kernel::Kernel,
    ops::{MatrixView, Real, product},
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
/// once: a kernel value is computed once, and added in each lane of a vector whose labels are equal. A few sets of many
/// samples are summed over the pairs of each class, one after another.
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
/// Above so many samples, the kernel in single precision: sums of so many terms are rounded more than a term. Where many
/// labels differ the terms are whole numbers, whose sums are exact: so a set has the same sum whichever way it is taken,
/// and ties are ties.
const SINGLE: usize = 4096;
/// Up to so many sets, each is summed over alone.
const ALONE: usize = 8;

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
        let linear = if n > SINGLE {
            products::<f32>(&kernel, &points, &vectors)
        } else {
            products::<f64>(&kernel, &points, &vectors)
        };
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
    fn sparse<T: Real>(&self, flips: &[Flip]) -> Vec<f64> {
        let top = |flip: &Flip| self.rows().top[flip.sample as usize];
        let d = self.points.d;
        let coordinates = (flips.iter()).flat_map(|flip| self.points.point(flip.sample as usize));
        let points: Vec<T> = numbers(coordinates.copied());
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
            products.resize((last - first) * (flips.len() - first), T::new(0.0));
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
    ///
    /// - `V`: vectors of lanes whose sums are held in registers
    fn dense<T: Term, const V: usize>(&self, sets: &LabelSets) -> Vec<Vec<f64>> {
        let (n, d) = (self.rows().samples(), self.points.d);
        let points: Vec<T::Number> = numbers(self.points.values().iter().copied());
        let (weights, most) = (&self.points.weights, self.most());
        let shares: Vec<T::Number> = numbers(weights.all(n).map(|w| w / most));
        let labels = in_lanes::<T::Number>(sets, n);
        let add = |block: usize, sums: &mut [Vec<f64>]| {
            let rows = block * ROWS..n.min((block + 1) * ROWS);
            let own = &points[rows.start * d..rows.end * d];
            for first in (rows.start..n).step_by(COLUMNS) {
                let columns = first..n.min(first + COLUMNS);
                let others = &points[columns.start * d..columns.end * d];
                let kernels: Vec<Vec<T>> = self.terms([own, others], &shares[columns.clone()]);
                for (chunk, lanes) in labels.chunks(n).enumerate() {
                    let sets = chunk * LANES..(chunk + 1) * LANES;
                    for i in rows.clone() {
                        let after = first.max(i + 1).min(columns.end); // j > i
                        let row = (i - rows.start) * columns.len();
                        let terms = row + after - first..row + columns.len();
                        let equal = Equal {
                            own: &lanes[i],
                            labels: &lanes[after..columns.end],
                            weight: weights.at(i) * most,
                        };
                        let of_bandwidths = sums.iter_mut().zip(&kernels);
                        let mut at = of_bandwidths.map(|(sums, kernel)| AtBandwidth {
                            terms: &kernel[terms.clone()],
                            sums: &mut sums[sets.clone()],
                        });
                        // the three of the omnibus test: labels are compared once for all
                        while let Some(one) = at.next() {
                            match (at.next(), at.next()) {
                                (Some(two), Some(three)) => equal.add::<T, 3, V>([one, two, three]),
                                (Some(two), None) => equal.add::<T, 2, V>([one, two]),
                                _ => equal.add::<T, 1, V>([one]),
                            }
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

    /// The same of one set in whole numbers, over the pairs of each class alone.
    fn within_classes(&self, labels: &[usize]) -> Vec<f64> {
        let (m, d) = (self.rows().classes, self.points.d);
        let (weights, most) = (&self.points.weights, self.most());
        let of_class = |class: usize| {
            let samples = (0..labels.len()).filter(|&i| labels[i] == class);
            let samples: Vec<usize> = samples.collect();
            let coordinates = samples.iter().flat_map(|&i| self.points.point(i));
            let points: Vec<f32> = numbers(coordinates.copied());
            let shares: Vec<f32> = numbers(samples.iter().map(|&i| weights.at(i) / most));
            let mut sums = vec![0.0; self.base.len()];
            for first in (0..samples.len()).step_by(ROWS) {
                let rows = first..samples.len().min(first + ROWS);
                let own = &points[first * d..rows.end * d];
                let kernels = self.terms([own, &points[first * d..]], &shares[first..]);
                for (sum, kernel) in sums.iter_mut().zip(&kernels) {
                    let each_row = kernel.chunks(samples.len() - first).enumerate();
                    for (row, kernel) in each_row {
                        let terms = kernel[row + 1..].iter().map(|&k: &u32| u64::from(k)); // j > i
                        let weight = weights.at(samples[first + row]) * most;
                        *sum += weight * UNIT * terms.sum::<u64>() as f64;
                    }
                }
            }
            sums
        };
        let of_classes: Vec<Vec<f64>> = parallel::map(m, &of_class);
        let sum = |b: usize| of_classes.iter().map(|sums| sums[b]).sum();
        (0..self.base.len()).map(sum).collect()
    }

    /// The greatest weight of a sample. Columns have weights over it, which are at most 1.
    fn most(&self) -> f64 {
        let weights = self.points.weights.all(self.rows().samples());
        weights.fold(0.0, f64::max)
    }

    /// The kernel between points at each bandwidth, times the shares of the columns: their weights over the greatest.
    fn terms<T: Term>(&self, points: [&[T::Number]; 2], shares: &[T::Number]) -> Vec<Vec<T>> {
        let mut terms = vec![Vec::new(); self.base.len()];
        let [own, others] = points;
        self.kernel.at_each(own, others, |b, kernel| {
            terms[b].reserve(kernel.len());
            for row in kernel.chunks(shares.len()) {
                terms[b].extend(row.iter().zip(shares).map(|(&k, &share)| T::new(k * share)));
            }
        });
        terms
    }
}

impl Evaluator<LabelSets> for ClassSkce {
    fn width(&self) -> usize {
        self.kernel.bandwidths()
    }

    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        let is_single = self.rows().samples() > SINGLE;
        let pairs = if self.few && is_single {
            sets.map(|flips| self.sparse::<f32>(flips))
        } else if self.few {
            sets.map(|flips| self.sparse::<f64>(flips))
        } else if !is_single {
            self.dense::<f64, 4>(sets)
        } else if sets.len() <= ALONE {
            let of_set = |set| self.within_classes(&sets.set(set));
            (0..sets.len()).map(of_set).collect()
        } else {
            self.dense::<u32, 2>(sets)
        };
        let of_set = |set| self.estimates(sets.flips(set), &pairs[set]);
        Ok(parallel::map(sets.len(), &of_set).concat())
    }
}

/// Rows of a tile.
const ROWS: usize = 64;
/// Columns of a tile, of which a sum of terms is a `u32`.
const COLUMNS: usize = 256;
const _: () = assert!(COLUMNS < MOST_TERMS);
/// Parts of the work of many threads.
const PARTS: usize = 32;

/// `K v` at each bandwidth, `[n, m]` from `[n, m]`: sums of tiles in this precision, of which the sum is in f64.
fn products<T: Real>(kernel: &HostKernel, points: &ClassPoints, vectors: &[f64]) -> Vec<Vec<f64>> {
    let (n, m, d) = (points.rows.samples(), points.rows.classes, points.d);
    let values: Vec<T> = numbers(points.values().iter().copied());
    let vectors: Vec<T> = numbers(vectors.iter().copied());
    let blocks = parallel::map(n.div_ceil(ROWS), &|block| {
        let own = block * ROWS..n.min((block + 1) * ROWS);
        let of_block = &values[own.start * d..own.end * d];
        let mut products = vec![vec![0.0; own.len() * m]; kernel.bandwidths()];
        let mut of_tile = vec![T::new(0.0); own.len() * m];
        for first in (0..n).step_by(COLUMNS) {
            let last = n.min(first + COLUMNS);
            let width = last - first;
            let vectors = MatrixView::new(&vectors[first * m..last * m], m, [width, m]);
            let of = [own.clone(), first..last].map(Vec::from_iter);
            let of = [&of[0][..], &of[1][..]];
            let both = [of_block, &values[first * d..last * d]];
            kernel.at_weighted(both, of, &points.weights, |b, gram| {
                let gram = MatrixView::new(gram, width, [own.len(), width]);
                product(&mut of_tile, m, gram, vectors);
                let terms = products[b].iter_mut().zip(&of_tile);
                terms.for_each(|(sum, x)| *sum += x.to_f64());
            });
        }
        products
    });
    let of_bandwidth = |b: usize| blocks.iter().flat_map(|block| &block[b]).copied().collect();
    (0..kernel.bandwidths()).map(of_bandwidth).collect()
}

/// Numbers in the precision of a kernel.
fn numbers<T: Real>(values: impl Iterator<Item = f64>) -> Vec<T> {
    values.map(T::new).collect()
}

/// `Δ_0ᵀΔ_j` for `Δ = e_class − e_top`, of the first of a list with each of the others.
#[inline(always)]
fn residual_products<T: Real>(classes: &[u32], tops: &[u32], products: &mut [T]) {
    let (class, top) = (classes[0], tops[0]);
    let equal = |a: u32, b: u32| i32::from(a == b);
    let others = classes[1..].iter().zip(&tops[1..]);
    for (product, (&y, &a)) in products.iter_mut().zip(others) {
        let of_class = equal(class, y) - equal(class, a);
        *product = T::new(f64::from(of_class - equal(top, y) + equal(top, a)));
    }
}

/// `aᵀb`
#[inline(always)]
fn dot<T: Real>(a: &[T], b: &[T]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<32>(), b.as_chunks::<32>());
    let mut sums = [T::new(0.0); 32];
    for (a, b) in a.iter().zip(b) {
        for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(&a, &b)| (a * b).to_f64());
    sums.iter().map(|sum| sum.to_f64()).sum::<f64>() + rest.sum::<f64>()
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, Tensor, TensorData};
    use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};

    use super::*;
    use crate::{
        distribution::{Categorical, Redraws as _, Weighted as _},
        kernel::{Bandwidth, Distance},
    };

    /// Of many samples, to the last bit; with weights up to rounding. Both are the sums in double precision, up to the
    /// unit of the terms.
    #[test]
    fn sets_alone_have_the_sums_that_they_have_among_others() {
        let (n, m) = (4200, 3);
        let mut rng = StdRng::seed_from_u64(611);
        let rows = (0..n).flat_map(|_| {
            let row = [(); 3].map(|()| 0.1 + rng.random::<f32>());
            row.map(|p| p / row.iter().sum::<f32>())
        });
        let rows = TensorData::new(rows.collect::<Vec<f32>>(), [n, m]);
        let rows = Tensor::from_data(rows, &Device::default());
        let plain = Categorical::from_probabilities(rows).unwrap();
        let weights = Tensor::from_data(
            TensorData::new(
                (0..n).map(|i| 1.0 + (i % 5) as f32).collect::<Vec<_>>(),
                [n, 1],
            ),
            &Device::default(),
        );
        let weighted = plain.with_sample_weights(Some(weights)).unwrap();
        let sets = (plain.redrawer().draw)(40, &mut rng);
        let kernel = Kernel::exponential().with_bandwidth(Bandwidth::Fixed(0.3));
        for (predictions, tolerance) in [(&plain, 0.0), (&weighted, 1e-13)] {
            for factors in [&[1.0][..], &[0.25, 1.0, 4.0]] {
                for distance in [Distance::TotalVariation, Distance::Euclidean] {
                    let kernel = kernel.with_distance(distance);
                    let points = ClassPoints::of(predictions);
                    let skce = ClassSkce::new(kernel, factors, SkceForm::Unbiased, points);
                    assert!(!skce.few);
                    let (single, double) =
                        (skce.dense::<u32, 2>(&sets), skce.dense::<f64, 4>(&sets));
                    for (set, (sums, exact)) in single.iter().zip(&double).enumerate() {
                        let alone = skce.within_classes(&sets.set(set));
                        for ((sum, alone), exact) in sums.iter().zip(alone).zip(exact) {
                            assert!((sum - alone).abs() <= tolerance * sum, "{sum}, {alone}");
                            assert!((sum - exact).abs() <= 1e-6 * exact, "{sum}, {exact}");
                        }
                    }
                }
            }
        }
    }
}
