use pulp::Simd;

use crate::ops::simd::wide::{Select, Wide};

/// Numbers of a coordinate of a sample: location, scale, target, and what the expectations need besides.
pub(super) const NUMBERS: usize = 6;

/// The numbers of a coordinate of some samples.
#[derive(Clone, Copy)]
pub(super) struct Own<W> {
    pub location: W,
    pub scale: W,
    pub target: W,
    /// The numbers of [`Expectation::prepare`].
    pub prepared: [W; NUMBERS - 3],
}

/// The expectation of a kernel of one coordinate, `2^exponent · factor`.
#[derive(Clone, Copy)]
pub(super) struct Term<W, const N: usize> {
    /// The exponent, at most 0.
    pub exponent: W,
    pub factor: W,
    /// The derivative with respect to the difference of the locations over `2^exponent`.
    pub to_location: W,
    /// Those with respect to the scales over `2^exponent`.
    pub to_scales: [W; N],
}

/// The expectations of a kernel of one coordinate under predictions of one family.
pub(super) trait Expectation: Copy + Send + Sync {
    /// The factor of scales that makes the 2-Wasserstein distance Euclidean, squared.
    const SCALE_FACTOR: f64;
    /// Whether the terms are so long that they are functions of their own, each compiled once.
    const APART: bool = false;

    /// What a prediction of this scale needs besides.
    fn prepare<T: Select>(self, scale: f64) -> [f64; NUMBERS - 3];

    /// `log₂ k(Δ)`
    fn kernel<S: Simd, T: Select>(self, delta: Wide<S, T>) -> Wide<S, T>;

    /// `E k(Δ + noise of one prediction)`
    fn of_one<S: Simd, T: Select>(
        self,
        own: Own<Wide<S, T>>,
        delta: Wide<S, T>,
    ) -> Term<Wide<S, T>, 1>;

    /// `E k(Δ + noise of two predictions)`
    fn of_two<S: Simd, T: Select>(
        self,
        own: Own<Wide<S, T>>,
        other: Own<Wide<S, T>>,
        delta: Wide<S, T>,
    ) -> Term<Wide<S, T>, 2>;

    /// [`of_one`](Self::of_one), where it is asked for.
    #[inline(always)]
    fn single<S: Simd, T: Select>(
        self,
        own: Own<Wide<S, T>>,
        delta: Wide<S, T>,
    ) -> Term<Wide<S, T>, 1> {
        match Self::APART {
            true => delta.apart(
                #[inline(always)]
                move || self.of_one(own, delta),
            ),
            false => self.of_one(own, delta),
        }
    }

    /// [`of_two`](Self::of_two), where it is asked for.
    #[inline(always)]
    fn double<S: Simd, T: Select>(
        self,
        own: Own<Wide<S, T>>,
        other: Own<Wide<S, T>>,
        delta: Wide<S, T>,
    ) -> Term<Wide<S, T>, 2> {
        match Self::APART {
            true => delta.apart(
                #[inline(always)]
                move || self.of_two(own, other, delta),
            ),
            false => self.of_two(own, other, delta),
        }
    }
}

/// The scale of a Laplace prediction over a length scale, away from 0.
pub(super) fn laplace_scale<T: Select>(scale: f64, length: f64) -> f64 {
    let least = T::MIN_POSITIVE.sqrt().sqrt();
    (scale.abs() / length).max(least)
}

/// An exponent beyond which an exponential is 0.
pub(super) fn most<T: Select>() -> f64 {
    -1.25 * T::MIN_POSITIVE.ln()
}
