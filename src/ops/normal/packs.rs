use super::{
    Rows,
    pair::{Gaussian, NUMBERS},
};
use crate::{
    ops::simd::{aligned::Aligned, wide::Select},
    parallel::for_each_chunk,
};

/// Samples in a pack: a vector of the widest processor.
pub(super) const fn pack<T>() -> usize {
    64 / size_of::<T>()
}

/// Samples side by side, `[pack][coordinate][number][lane]`.
pub(super) struct Packs<T> {
    pub d: usize,
    numbers: Aligned<T>,
}

impl<T: Select> Packs<T> {
    /// Packs a number of samples, with the sample of each place.
    pub fn new(
        count: usize,
        rows: Rows<T>,
        gaussian: Gaussian,
        sample: impl Fn(usize) -> usize + Sync,
    ) -> Self {
        let d = rows.d;
        let size = d * NUMBERS * pack::<T>();
        let mut numbers = Aligned::zeros(count * size);
        for_each_chunk(&mut numbers, size, 16, |(index, numbers)| {
            for lane in 0..pack::<T>() {
                let row = sample(index * pack::<T>() + lane);
                for c in 0..d {
                    let [location, scale, target] = rows.at(row, c);
                    let prepared = gaussian.prepare(scale.to_f64());
                    let all = [location, scale, target]
                        .into_iter()
                        .chain(prepared.map(T::new));
                    for (k, x) in all.enumerate() {
                        numbers[(c * NUMBERS + k) * pack::<T>() + lane] = x;
                    }
                }
            }
        });
        Self { d, numbers }
    }

    pub fn count(&self) -> usize {
        self.numbers.len() / (self.d * NUMBERS * pack::<T>())
    }

    /// `[coordinate][number][lane]`
    pub fn pack(&self, index: usize) -> &[T] {
        let size = self.d * NUMBERS * pack::<T>();
        &self.numbers[index * size..][..size]
    }
}
