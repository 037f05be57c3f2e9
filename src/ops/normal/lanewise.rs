use pulp::{Simd, WithSimd};

use super::{
    packs::{Packs, pack},
    pair::{Gaussian, Kept, Weight, own, pair},
    tile::DERIVATIVES,
    weigh::Weights,
};
use crate::ops::simd::{
    aligned::Aligned,
    wide::{Select, Wide},
};

/// The pairs of each sample of a pack with that in the same lane of another, or with itself. Adds to the
/// gradient as a [`Tile`](super::tile::Tile) does, writes `h` in the place of the kernel, and returns the sum
/// over `ν ∂h/∂ν`.
pub(super) struct Lanewise<'a, T, const GRADIENT: bool> {
    pub gaussian: Gaussian,
    pub packs: &'a Packs<T>,
    pub pair: [usize; 2],
    /// The weights of one row and one pack.
    pub weights: &'a mut Weights<T>,
    /// The sums of all packs.
    pub sums: &'a mut Aligned<T>,
}

impl<T: Select, const GRADIENT: bool> WithSimd for Lanewise<'_, T, GRADIENT> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let line = pack::<T>() / T::width::<S>();
        let d = self.packs.d;
        let zero = Wide::<S, T>::splat(simd, T::new(0.0));
        let mut kept = vec![Kept::new(zero); d];
        let [first, second] = self.pair.map(|index| T::lanes::<S>(self.packs.pack(index)));
        let kernels = T::lanes_mut::<S>(&mut self.weights.kernel);
        let slopes = T::lanes::<S>(&self.weights.slope);
        let squares = T::lanes::<S>(&self.weights.squares);
        let sums = T::lanes_mut::<S>(self.sums);
        let mut stretch = zero;
        for v in 0..line {
            let weight = Weight {
                kernel: Wide::new(simd, kernels[v]),
                slope: Wide::new(simd, slopes[v]),
            };
            let residual = pair::<S, T, GRADIENT>(
                self.gaussian,
                weight,
                d,
                #[inline(always)]
                |c| own(simd, &first[v..], line, c),
                #[inline(always)]
                |c| own(simd, &second[v..], line, c),
                &mut kept,
                #[inline(always)]
                |c, gradient: [Wide<S, T>; 4]| {
                    for (k, term) in gradient.iter().enumerate() {
                        let index = self.pair[k / DERIVATIVES] * d + c;
                        let sum = &mut sums[(index * DERIVATIVES + k % DERIVATIVES) * line + v];
                        *sum = T::add(simd, *sum, term.lanes);
                    }
                },
            );
            kernels[v] = (weight.kernel * residual).lanes;
            let slope = weight.slope * Wide::new(simd, squares[v]);
            stretch = slope.mul_add(residual, stretch);
        }
        -stretch.sum().to_f64()
    }
}
