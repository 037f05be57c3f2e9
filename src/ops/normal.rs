//! The SKCE of normal predictions with a Gaussian kernel on targets as one operation on the host: a pass over pairs in
//! vectors of the processor, which sums the gradient too. Its expectations are those of the formula
//! [`GaussianNormal`], multiplied over the coordinates.

use std::ops::Range;

use burn::tensor::{Tensor, TensorData};
use pulp::{Simd, WithSimd};

use super::{
    Pairing,
    backends::is_on_host,
    formula::{Formula, Number},
    non_finite::{non_finite_rows, poison_blocks},
    pairs::{MeanFactors, check, checked_bandwidth, linearised_mean},
    simd::{
        arch::Arch,
        layout::{Aligned, PaddedVectors, line, place, strip, write_rows},
        real::{Real, with_real},
        wide::Wide,
    },
};
use crate::{
    host::Memory,
    kernel::expectation::GaussianNormal,
    parallel::{fold_tiles, threads_for},
    radial::Profile,
};

/// A kernel `κ(W₂(P, P')/ν) · exp(−‖y − y'‖₂²/2ℓ²)`, without its bandwidth `ν`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormalKernel {
    /// The profile `κ` of the kernel on predictions, over their 2-Wasserstein distance.
    pub profile: Profile,
    /// The length scale `ℓ` of the kernel on targets.
    pub length_scale: f64,
}

/// Normal predictions and targets, `[n, d]` each.
#[derive(Debug, Clone)]
pub struct NormalSamples {
    /// The means.
    pub locations: Tensor<2>,
    /// The standard deviations.
    pub scales: Tensor<2>,
    /// The targets.
    pub targets: Tensor<2>,
}

impl NormalSamples {
    /// Whether there is a fused pass: in f32 and f64 in the memory of the host, where no gradient is asked
    /// for with respect to the targets.
    pub(crate) fn have_fused_pass(&self) -> bool {
        let ([n, d], dtype) = (self.locations.dims(), self.locations.dtype());
        let fits = |x: &Tensor<2>| x.dims() == [n, d] && x.dtype() == dtype;
        let are_alike = fits(&self.scales) && fits(&self.targets);
        is_on_host(&self.locations) && are_alike && n * d > 0 && !self.targets.is_tracked()
    }
}

/// The mean of `h_ij` over pairs of samples, fused: no `n × n` matrix is stored, neither for the value nor
/// for the gradient, which reaches locations, scales and bandwidth.
///
/// `h_ij = κ(W₂(P_i, P_j)/ν) [k_Y(y_i, y_j) − E k_Y(Y_i, y_j) − E k_Y(y_i, Y_j) + E k_Y(Y_i, Y_j)]` with
/// independent `Y_i ∼ P_i` and `Y_j ∼ P_j`.
///
/// On Flex and NdArray, in vectors of the host on all of rayon's threads: the same bytes for any number of them.
/// While gradients are recorded the same pass sums them too, and the backward pass only
/// scales them.
///
/// # Shapes
///
/// - samples: `n` of `d` coordinates
/// - bandwidth: `[1]`, positive, in the dtype of the samples
/// - output: `[1]`, in the dtype of the samples
///
/// Cost: `n²·d/2` coordinates of pairs (`n·B·d/2` for blocks of `B`); memory `O(n·d)`.
///
/// # Panics
///
/// If shapes, dtypes or devices disagree, on no samples or coordinates, a block size outside `2..=n`, a
/// bandwidth or length scale that is not a positive finite number, targets that are tracked, a dtype other
/// than f32 and f64, and on other backends than Flex and NdArray.
///
/// Numbers that are not finite make the result NaN, and the gradient of all samples in their block; those in no
/// block change nothing.
pub fn normal_statistic(
    samples: NormalSamples,
    bandwidth: Tensor<1>,
    kernel: NormalKernel,
    pairing: Pairing,
) -> Tensor<1> {
    assert!(
        samples.have_fused_pass(),
        "the fused pass is for locations, scales and targets of one shape in f32 or f64 on the host, without \
         a gradient of the targets"
    );
    check(&samples.locations, &bandwidth, pairing);
    let (width, length) = (checked_bandwidth(&bandwidth), kernel.length_scale);
    assert!(
        length.is_finite() && length > 0.0,
        "the length scale of the target kernel is {length}, expected a positive finite number"
    );
    let [locations, scales, targets] = [samples.locations, samples.scales, samples.targets];
    let (options, [n, d]) = ((&locations.device(), locations.dtype()), locations.dims());
    let is_tracked = locations.is_tracked() || scales.is_tracked() || bandwidth.is_tracked();
    let memory = [&locations, &scales, &targets].map(|x| Memory::of(x.clone()));
    let factors = MeanFactors::new(pairing, n);
    // a power of 2 near the reciprocal of the length scale: lengths are measured in it without rounding
    let unit = (-length.log2().round()).clamp(-120.0, 120.0).exp2();
    let one = |x: f64| Tensor::from_data([x], options);
    with_real!(options.1, T => {
        let numbers = memory.each_ref().map(|x| x.slice::<T>());
        let pass = Pass {
            profile: kernel.profile,
            rate: (width * unit).recip(),
            targets: GaussianNormal { length: length * unit },
            numbers: numbers.map(|x| PaddedVectors::new(&bounded(x, unit), d)),
            n,
            size: pairing.size(n),
            with_diagonal: factors.diagonal > 0.0,
        };
        let mut sums = if is_tracked { pass.sums::<true>() } else { pass.sums::<false>() };
        let mut slopes = sums.gradient.each_ref().map(|strips| {
            let mut rows = vec![T::new(0.0); if is_tracked { n * d } else { 0 }];
            write_rows(strips, factors.pairs * unit, &mut rows, d);
            rows
        });
        let non_finite = numbers.into_iter().flat_map(|x| non_finite_rows(x, d));
        let gradients = slopes.each_mut().map(|slopes| (&mut slopes[..], d));
        let totals = (&mut sums.values[..], &mut sums.stretch);
        poison_blocks(non_finite, pass.size, totals, gradients);
        let value = one(factors.pairs * sums.values.iter().sum::<f64>());
        if !is_tracked {
            return value;
        }
        let [to_locations, to_scales] =
            slopes.map(|slopes| Tensor::from_data(TensorData::new(slopes, [n, d]), options));
        let slopes = [(&locations, to_locations), (&scales, to_scales)];
        linearised_mean(value, slopes, (&bandwidth, one(factors.pairs * sums.stretch / width)))
    })
}

/// Numbers times a unit, so bounded that squares are finite, and 0 in the place of NaN.
fn bounded<T: Real>(numbers: &[T], unit: f64) -> Vec<T> {
    let most = T::MAX.sqrt() * 1e-3;
    let bounded = |x: &T| {
        let x = x.to_f64() * unit;
        T::new(if x.is_nan() {
            0.0
        } else {
            x.clamp(-most, most)
        })
    };
    numbers.iter().map(bounded).collect()
}

/// The cost of a coordinate of a pair, in coordinates of other passes; it decides about threads.
const COST: usize = 8;
/// Lanes of the widest vector of a processor.
const WIDEST: usize = 16;
/// Rows of a tile, which one thread takes with all its columns.
const ROWS: usize = 16;

/// A pass over the pairs within the first `⌊n/size⌋` blocks of consecutive samples.
struct Pass<T> {
    profile: Profile,
    /// The reciprocal of the bandwidth.
    rate: f64,
    targets: GaussianNormal,
    /// Locations, scales and targets.
    numbers: [PaddedVectors<T>; 3],
    n: usize,
    size: usize,
    with_diagonal: bool,
}

/// Sums over pairs `i < j`, and half of the diagonal if wanted.
struct Sums<T> {
    /// `Σ h_ij` of each block.
    values: Vec<f64>,
    /// `ν ∂/∂ν Σ h_ij` over all blocks; 0 without a gradient.
    stretch: f64,
    /// The gradients of `Σ h_ij` with respect to locations and scales, `[strip][coordinate][column]`; empty if they are
    /// not wanted.
    gradient: [Aligned<T>; 2],
}

impl<T: Real> Pass<T> {
    /// The sums on all threads; the same for any number of them.
    fn sums<const GRADIENT: bool>(&self) -> Sums<T> {
        let (blocks, d) = (self.n / self.size, self.numbers[0].d);
        let used = blocks * self.size;
        let start = || {
            let slopes = if GRADIENT {
                self.numbers[0].strips().len()
            } else {
                0
            };
            Sums {
                values: vec![0.0; blocks],
                stretch: 0.0,
                gradient: [(); 2].map(|()| Aligned::zeros(slopes)),
            }
        };
        let step = |sums: &mut Sums<T>, tile: usize| {
            let rows = tile * ROWS..used.min((tile + 1) * ROWS);
            Arch::new().dispatch(AddRows::<T, GRADIENT> {
                pass: self,
                rows,
                sums,
            });
        };
        let merge = |all: &mut Sums<T>, other: Sums<T>| {
            all.stretch += other.stretch;
            for (value, other) in all.values.iter_mut().zip(other.values) {
                *value += other;
            }
            for (slopes, other) in all.gradient.iter_mut().zip(&other.gradient) {
                slopes.add(other);
            }
        };
        let side = (used * self.size).isqrt(); // of as many pairs
        let tiles = used.div_ceil(ROWS);
        fold_tiles(
            tiles,
            threads_for(side, COST * d, tiles),
            start,
            step,
            merge,
        )
    }
}

impl<T: Real> Pass<T> {
    /// Location, scale and target of a coordinate of one sample, in all lanes.
    #[inline(always)]
    fn splat<S: Simd>(&self, simd: S, i: usize, c: usize) -> [Wide<S, T>; 3] {
        let [m, s, y] = &self.numbers;
        [
            Wide::splat(simd, m.row(i)[c]),
            Wide::splat(simd, s.row(i)[c]),
            Wide::splat(simd, y.row(i)[c]),
        ]
    }

    /// Those of a vector of samples, from their place in strips.
    #[inline(always)]
    fn at<S: Simd>(&self, simd: S, place: usize) -> [Wide<S, T>; 3] {
        let [m, s, y] = &self.numbers;
        [
            Wide::new(simd, T::lanes::<S>(m.strips())[place]),
            Wide::new(simd, T::lanes::<S>(s.strips())[place]),
            Wide::new(simd, T::lanes::<S>(y.strips())[place]),
        ]
    }
}

/// The expectations of a coordinate with their slopes: of `i` at the target of `j`, of `j` at that of `i`, and of both.
#[derive(Clone, Copy)]
struct Terms<W> {
    expectations: [(W, [W; 2]); 3],
    /// The products of the expectations of the coordinates before.
    before: [W; 3],
}

/// Adds the pairs of some rows.
struct AddRows<'a, T, const GRADIENT: bool> {
    pass: &'a Pass<T>,
    rows: Range<usize>,
    sums: &'a mut Sums<T>,
}

impl<T: Real, const GRADIENT: bool> WithSimd for AddRows<'_, T, GRADIENT> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { pass, rows, sums } = self;
        let (d, line) = (pass.numbers[0].d, line::<T, S>());
        let width = strip::<T>() / line; // columns of a vector
        let zero = Wide::<S, T>::splat(simd, T::new(0.0));
        let no_terms = Terms {
            expectations: [(zero, [zero; 2]); 3],
            before: [zero; 3],
        };
        let mut terms = vec![no_terms; d];
        let mut row = vec![[zero; 3]; d];
        let mut to_row = vec![[zero; 2]; d];
        for i in rows {
            let block = i / pass.size;
            let counted = i + usize::from(!pass.with_diagonal)..(block + 1) * pass.size;
            for (c, row) in row.iter_mut().enumerate() {
                *row = pass.splat(simd, i, c);
            }
            to_row.fill([zero; 2]);
            let (mut value, mut stretch) = (zero, zero);
            for vector in counted.start / width..counted.end.div_ceil(width) {
                let (mut square, mut between) = (zero, zero);
                let mut products = [zero.constant(1.0); 3];
                for (c, terms) in terms.iter_mut().enumerate() {
                    let at = place(d, line, vector, c);
                    let ([m, s, y], [m2, s2, y2]) = (row[c], pass.at(simd, at));
                    square = (m - m2).mul_add(m - m2, square);
                    square = (s - s2).mul_add(s - s2, square);
                    between = (y - y2).mul_add(y - y2, between);
                    let (v, v2) = (s * s, s2 * s2);
                    let of_i = pass.targets.at([m - y2, v]);
                    let of_j = pass.targets.at([m2 - y, v2]);
                    let of_both = pass.targets.at([m - m2, v + v2]);
                    terms.before = products;
                    terms.expectations = [of_i, of_j, of_both];
                    let [a, b, c] = products;
                    products = [a * of_i.0, b * of_j.0, c * of_both.0];
                }
                let [of_i, of_j, of_both] = products;
                let residual = pass.targets.of_squares(between) - (of_i + of_j) + of_both;
                let at = pass
                    .profile
                    .of_square(square.arithmetic(), square, pass.rate);
                let (mut kernel, mut slope) = (at.kernel, at.slope);
                if vector * width <= i || (vector + 1) * width > counted.end {
                    // half of the diagonal, and nothing of pairs that do not count
                    let mut shares = [T::new(0.0); WIDEST];
                    for (share, j) in shares.iter_mut().zip(vector * width..(vector + 1) * width) {
                        let weight = if j == i { 0.5 } else { 1.0 };
                        *share = T::new(if counted.contains(&j) { weight } else { 0.0 });
                    }
                    let shares = Wide::new(simd, T::lanes::<S>(&shares)[0]);
                    (kernel, slope) = (kernel * shares, slope * shares);
                }
                value = kernel.mul_add(residual, value);
                if !GRADIENT {
                    continue;
                }
                let through = slope * residual;
                stretch = through.mul_add(square, stretch);
                let [locations, scales] = &mut sums.gradient;
                let locations = T::lanes_mut::<S>(locations);
                let scales = T::lanes_mut::<S>(scales);
                let mut after = [-kernel, -kernel, kernel];
                for (c, terms) in terms.iter().enumerate().rev() {
                    let at = place(d, line, vector, c);
                    let [(of_i, to_i), (of_j, to_j), (of_both, to_both)] = terms.expectations;
                    let ([m, s, _], [m2, s2, _]) = (row[c], pass.at(simd, at));
                    let by_i = after[0] * terms.before[0];
                    let by_j = after[1] * terms.before[1];
                    let by_both = after[2] * terms.before[2];
                    let to_location = by_both.mul_add(to_both[0], through * (m - m2));
                    let (to_variance, to_scale) = (by_both * to_both[1], through * (s - s2));
                    let to_variance_i = by_i.mul_add(to_i[1], to_variance) * 2.0;
                    let to_variance_j = by_j.mul_add(to_j[1], to_variance) * 2.0;
                    let [location, scale] = to_row[c];
                    to_row[c] = [
                        location + by_i.mul_add(to_i[0], to_location),
                        scale + s.mul_add(to_variance_i, to_scale),
                    ];
                    let to_column = by_j * to_j[0] - to_location;
                    locations[at] = T::plus(simd, locations[at], to_column.lanes);
                    let to_column = s2 * to_variance_j - to_scale;
                    scales[at] = T::plus(simd, scales[at], to_column.lanes);
                    after = [after[0] * of_i, after[1] * of_j, after[2] * of_both];
                }
            }
            sums.values[block] += value.sum().to_f64();
            sums.stretch -= stretch.sum().to_f64();
            if GRADIENT {
                for (c, &[location, scale]) in to_row.iter().enumerate() {
                    let at = place(d, strip::<T>(), i, c);
                    sums.gradient[0][at] += location.sum();
                    sums.gradient[1][at] += scale.sum();
                }
            }
        }
    }
}
