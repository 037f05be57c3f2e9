//! The SKCE of normal predictions with a Gaussian kernel on targets as one operation on the host: a pass over
//! pairs in vectors of the processor, which sums the gradient too.
//!
//! A tile of a pack of rows (16 in f32, 8 in f64) and up to four packs of columns goes through two stages
//! while it is in the cache: the kernel on predictions with its slope, and the residuals with their gradient
//! ([`tile`]), both members of a pair at once ([`pair`]). What depends on one sample alone is computed once. The
//! expectations are those of [`kernel::expectation`](crate::kernel::expectation).

mod pair;
mod sums;
mod tile;

use burn::tensor::{DType, Device, Element, Tensor, TensorData};
use pulp::bytemuck::Pod;

use self::{pair::Gaussian, sums::NormalPass, tile::NormalRadial};
use super::{
    Pairing,
    gradient::linearised,
    is_on_host,
    non_finite::non_finite_rows,
    pairs::normalisation,
    simd::real::{Real, with_real},
};
use crate::{
    host::{Memory, to_scalar},
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

    /// The device without automatic differentiation, and the dtype.
    fn inner(&self) -> (Device, DType) {
        let device = self.locations.device().without_autodiff();
        (device, self.locations.dtype())
    }
}

/// The mean of `h_ij` over pairs of samples, fused: no `n × n` matrix is stored, neither for the value nor
/// for the gradient, which reaches locations, scales and bandwidth.
///
/// `h_ij = κ(W₂(P_i, P_j)/ν) [k_Y(y_i, y_j) − E k_Y(Y_i, y_j) − E k_Y(y_i, Y_j) + E k_Y(Y_i, Y_j)]` with
/// independent `Y_i ∼ P_i` and `Y_j ∼ P_j`.
///
/// On Flex and NdArray, in vectors of the host on all of rayon's threads (the same result for the same
/// number of them). While gradients are recorded the same pass sums them too, and the backward pass only
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
        let (rows, pass) = scaled::<T>(&memory, d, kernel, width);
        let sums = pass.pair_sums(rows, pairing.size(n), of_diagonal > 0.0, is_tracked);
        let mut value = one(of_pairs * sums.values.iter().sum::<f64>());
        let inputs = [locations, scales].into_iter().zip(sums.gradient);
        for (input, mut gradient) in inputs.filter(|(input, _)| input.is_tracked()) {
            let factor = T::new(of_pairs);
            gradient.iter_mut().for_each(|g| *g = g.times(factor));
            let slope = Tensor::from_data(TensorData::new(gradient, [n, d]), (&device, dtype));
            value = linearised(value, input, slope);
        }
        if bandwidth.is_tracked() {
            let slope = one(of_pairs * sums.stretch / width);
            value = linearised(value, &bandwidth, slope);
        }
        value
    })
}

/// `h` between samples and others, detached: `[n, k]`.
///
/// # Panics
///
/// If there is no fused pass for both.
pub(crate) fn normal_matrix(
    samples: &NormalSamples,
    others: &NormalSamples,
    bandwidth: f64,
    kernel: NormalKernel,
) -> Tensor<2> {
    let ([n, d], [k, _]) = (samples.locations.dims(), others.locations.dims());
    let [rows, columns] = [samples, others].map(NormalSamples::memory);
    let (device, dtype) = samples.inner();
    let matrix = with_real!(dtype, T => {
        let (rows, pass) = scaled::<T>(&rows, d, kernel, bandwidth);
        let (columns, _) = scaled::<T>(&columns, d, kernel, bandwidth);
        TensorData::new(pass.matrix(rows, columns), [n, k])
    });
    Tensor::from_data(matrix, (&device, dtype))
}

/// `h_ii`, detached: `[n]`.
///
/// # Panics
///
/// If there is no fused pass.
pub(crate) fn normal_diagonal(samples: &NormalSamples, kernel: NormalKernel) -> Tensor<1> {
    let ([n, d], memory) = (samples.locations.dims(), samples.memory());
    let (device, dtype) = samples.inner();
    let diagonal = with_real!(dtype, T => {
        let (rows, pass) = scaled::<T>(&memory, d, kernel, 1.0);
        TensorData::new(pass.diagonal(rows), [n])
    });
    Tensor::from_data(diagonal, (&device, dtype))
}

/// Samples and kernel, in units of the length scale.
fn scaled<T: Real + Element + Pod>(
    memory: &[Memory; 3],
    d: usize,
    kernel: NormalKernel,
    bandwidth: f64,
) -> (NormalRows<'_, T>, NormalPass) {
    let unit = unit(kernel.length_scale);
    let [locations, scales, targets] = memory.each_ref().map(|x| x.slice::<T>());
    let rows = NormalRows {
        locations,
        scales,
        targets,
        d,
        unit: T::new(unit),
    };
    let pass = NormalPass {
        gaussian: Gaussian {
            length: kernel.length_scale * unit,
        },
        radial: NormalRadial {
            profile: kernel.profile,
            bandwidth: bandwidth * unit,
        },
    };
    (rows, pass)
}

/// A power of 2 near the reciprocal of the length scale, in which lengths are measured without rounding.
fn unit(length_scale: f64) -> f64 {
    assert!(
        length_scale.is_finite() && length_scale > 0.0,
        "the length scale of the target kernel is {length_scale}, expected a positive finite number"
    );
    (-length_scale.log2().round()).clamp(-120.0, 120.0).exp2()
}

/// A number in units of `1/unit`, so bounded that its square is finite; 0 for NaN.
fn in_units<T: Real>(x: T, unit: T) -> T {
    let most = T::MAX.to_f64().sqrt() * 1e-3;
    match x.times(unit).to_f64() {
        x if x.is_nan() => T::new(0.0), // filled in after a pass
        x => T::new(x.clamp(-most, most)),
    }
}

/// Locations, scales and targets on the host, row by row, in units of `1/unit`.
#[derive(Clone, Copy)]
struct NormalRows<'a, T> {
    locations: &'a [T],
    scales: &'a [T],
    targets: &'a [T],
    d: usize,
    /// A power of 2.
    unit: T,
}

impl<'a, T: Real> NormalRows<'a, T> {
    fn count(&self) -> usize {
        self.locations.len() / self.d
    }

    /// Location, scale and target of a coordinate, so bounded that their squares are finite.
    fn at(&self, row: usize, c: usize) -> [T; 3] {
        let at = row * self.d + c;
        [self.locations, self.scales, self.targets].map(|numbers| in_units(numbers[at], self.unit))
    }

    /// The samples that hold a number that is not finite.
    fn non_finite(self) -> impl Iterator<Item = usize> + 'a {
        let all = [self.locations, self.scales, self.targets];
        all.into_iter()
            .flat_map(move |numbers| non_finite_rows(numbers, self.d))
    }
}
