//! The SKCE of normal predictions with a Gaussian kernel on targets as one operation on the host: a [`pass`] over
//! pairs in vectors of the processor, which sums the gradient too.

mod pass;

use burn::tensor::{Element, Tensor, TensorData};
use pulp::bytemuck::Pod;

use self::pass::{AddRows, Columns, DERIVATIVES, PairKernels, Sums};
use super::{
    Pairing,
    gradient::linearised,
    is_on_host,
    non_finite::{non_finite_rows, poison_blocks},
    pairs::normalisation,
    simd::{
        aligned::Aligned,
        arch::Arch,
        real::{Real, with_real},
    },
};
use crate::{
    host::{Memory, to_scalar},
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
        let all = [&self.locations, &self.scales, &self.targets];
        let [n, d] = self.locations.dims();
        is_on_host(&self.locations)
            && all
                .iter()
                .all(|x| x.dims() == [n, d] && x.dtype() == self.locations.dtype())
            && n > 0
            && d > 0
            && !self.targets.is_tracked()
    }

    fn memory(&self) -> [Memory; 3] {
        let all = [&self.locations, &self.scales, &self.targets];
        all.map(|x| Memory::of(x.clone().detach()))
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
    super::pairs::check(&samples.locations, &bandwidth, pairing);
    let width = to_scalar(bandwidth.clone().detach());
    assert!(
        width.is_finite() && width > 0.0,
        "the kernel bandwidth is {width}, expected a positive finite number"
    );
    let NormalSamples {
        locations, scales, ..
    } = &samples;
    let is_tracked = locations.is_tracked() || scales.is_tracked() || bandwidth.is_tracked();
    let (device, dtype, [n, d]) = (locations.device(), locations.dtype(), locations.dims());
    let (of_pairs, of_diagonal) = normalisation(pairing, n);
    let one = |x: f64| Tensor::<1>::from_data([x], (&device, dtype));
    let memory = samples.memory();
    with_real!(dtype, T => {
        let samples = Scaled::<T>::new(&memory, d, kernel.length_scale);
        let kernels = samples.kernels(kernel, width);
        let (size, with_diagonal) = (pairing.size(n), of_diagonal > 0.0);
        let (values, stretch, gradient) = if is_tracked {
            samples.sums::<true>(kernels, size, with_diagonal)
        } else {
            samples.sums::<false>(kernels, size, with_diagonal)
        };
        let mut value = one(of_pairs * values.iter().sum::<f64>());
        let inputs = [locations, scales].into_iter().zip(gradient);
        for (input, mut gradient) in inputs.filter(|(input, _)| input.is_tracked()) {
            let factor = T::new(of_pairs);
            gradient.iter_mut().for_each(|g| *g = g.times(factor));
            let slope = Tensor::from_data(TensorData::new(gradient, [n, d]), (&device, dtype));
            value = linearised(value, input, slope);
        }
        if bandwidth.is_tracked() {
            let slope = one(of_pairs * stretch / width);
            value = linearised(value, &bandwidth, slope);
        }
        value
    })
}

/// Coordinates that a pair costs as much as, for the decision about threads.
const COST: usize = 8;
/// Rows of a tile, which one thread takes with all its columns.
const ROWS: usize = 16;

/// Samples in units of the length scale.
struct Scaled<T> {
    columns: Columns<T>,
    /// The samples that hold a number that is not finite.
    non_finite: Vec<usize>,
    /// A power of 2 near the reciprocal of the length scale: lengths are measured in it without rounding.
    unit: f64,
}

impl<T: Real + Element + Pod> Scaled<T> {
    fn new(memory: &[Memory; 3], d: usize, length_scale: f64) -> Self {
        assert!(
            length_scale.is_finite() && length_scale > 0.0,
            "the length scale of the target kernel is {length_scale}, expected a positive finite number"
        );
        let unit = (-length_scale.log2().round()).clamp(-120.0, 120.0).exp2();
        let numbers = memory.each_ref().map(|x| x.slice::<T>());
        // so bounded that squares are finite
        let most = T::MAX.to_f64().sqrt() * 1e-3;
        let bounded = |x: T| match x.times(T::new(unit)).to_f64() {
            x if x.is_nan() => T::new(0.0), // filled in after a pass
            x => T::new(x.clamp(-most, most)),
        };
        let non_finite = numbers.into_iter().flat_map(|x| non_finite_rows(x, d));
        Self {
            columns: Columns::new([numbers[0].len() / d, d], numbers, bounded),
            non_finite: non_finite.collect(),
            unit,
        }
    }

    fn kernels(&self, kernel: NormalKernel, bandwidth: f64) -> PairKernels {
        PairKernels {
            profile: kernel.profile,
            bandwidth: bandwidth * self.unit,
            targets: GaussianNormal {
                length: kernel.length_scale * self.unit,
            },
        }
    }

    /// Sums over the first `⌊n/size⌋` blocks of consecutive samples, with half of the diagonal if wanted: of each
    /// block, `ν ∂/∂ν` of all, and the gradients with respect to locations and scales, `[n, d]`. The shares of the
    /// work do not depend on the number of threads. A sample that is not finite makes the sum of its block and the
    /// gradient of that NaN.
    fn sums<const GRADIENT: bool>(
        self,
        kernels: PairKernels,
        size: usize,
        with_diagonal: bool,
    ) -> (Vec<f64>, f64, [Vec<T>; DERIVATIVES]) {
        let Columns { n, d, stride, .. } = self.columns;
        let blocks = n / size;
        let used = blocks * size;
        let numbers = if GRADIENT {
            d * DERIVATIVES * stride
        } else {
            0
        };
        let start = || Sums {
            values: vec![0.0; blocks],
            stretch: 0.0,
            gradient: Aligned::zeros(numbers),
        };
        let step = |sums: &mut Sums<T>, tile: usize| {
            Arch::new().dispatch(AddRows::<T, GRADIENT> {
                kernels,
                columns: &self.columns,
                rows: tile * ROWS..used.min((tile + 1) * ROWS),
                size,
                with_diagonal,
                sums,
            });
        };
        let merge = |all: &mut Sums<T>, other: Sums<T>| {
            all.stretch += other.stretch;
            all.gradient.add(&other.gradient);
            for (value, other) in all.values.iter_mut().zip(other.values) {
                *value += other;
            }
        };
        let side = (used * size).isqrt(); // of as many pairs
        let tiles = used.div_ceil(ROWS);
        let threads = threads_for(side, COST * d, tiles);
        let mut sums = fold_tiles(tiles, threads, start, step, merge);
        let mut gradient = [0, 1].map(|k| {
            let at = |place: usize| match place / d {
                row if row < used => {
                    let line = (place % d * DERIVATIVES + k) * stride;
                    sums.gradient[line + row].times(T::new(self.unit))
                }
                _ => T::new(0.0),
            };
            let numbers = if GRADIENT { n * d } else { 0 };
            (0..numbers).map(at).collect::<Vec<T>>()
        });
        let totals = (&mut sums.values[..], &mut sums.stretch);
        let gradients = gradient.each_mut().map(|g| (&mut g[..], d));
        poison_blocks(self.non_finite.into_iter(), size, totals, gradients);
        (sums.values, sums.stretch, gradient)
    }
}
