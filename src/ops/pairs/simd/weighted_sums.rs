//! Sums over the other members of pairs: `Σ_i w_ij x_i` for columns and `Σ_j w_ij x_j` for rows. A tile is read
//! twice, so that each sum stays in registers while it grows:
//!
//! ```text
//!                  columns j, some strips
//!                 ┌───────────────────────┐
//!          rows i │ w_ij                  │──► OverColumns: row_sums[i]    += w_ij x_j
//!                 └───────────┬───────────┘
//!                             └──► OverRows: column_sums[j] += w_ij x_i
//! ```

use std::ops::Range;

use pulp::{Simd, WithSimd};

use super::{
    arch::Arch,
    layout::{PAIR, PaddedVectors, QUAD, line, strip},
    product::{MatrixView, add_product},
    real::Real,
    similarity::LONG,
    tile::StripTile,
};

/// Adds the sums over the pairs of a tile to those of its columns and of its rows, `[strip][coordinate][column]`.
pub(super) fn weighted_sums<T: Real>(
    tile: &StripTile,
    weights: &[T],
    vectors: &PaddedVectors<T>,
    sums: &mut [T],
) {
    if vectors.d > LONG {
        return of_long(tile, weights, vectors, sums);
    }
    let arch = Arch::new();
    arch.dispatch(OverRows {
        tile,
        weights,
        vectors,
        sums: &mut *sums,
    });
    arch.dispatch(OverColumns {
        tile,
        weights,
        vectors,
        sums,
    });
}

/// Products of matrices.
fn of_long<T: Real>(tile: &StripTile, weights: &[T], vectors: &PaddedVectors<T>, sums: &mut [T]) {
    let (width, rows) = (strip::<T>(), vectors.matrix(tile.rows::<T>()));
    let size = vectors.d * width;
    let weights = weights.chunks_exact(StripTile::size::<T>());
    for (strip, weights) in tile.strips.clone().zip(weights) {
        let weights = MatrixView::new(weights, width, [width, width]);
        let column_sums = &mut sums[strip * size..][..size];
        add_product(column_sums, width, rows.transposed(), weights);
        let row_sums = &mut sums[tile.row * vectors.d..][..size];
        add_product(
            row_sums,
            width,
            vectors.strip_matrix(strip),
            weights.transposed(),
        );
    }
}

/// `0..d` in nearly equal blocks of at most `most`.
fn blocks(d: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let count = d.div_ceil(most);
    (0..count).map(move |b| b * d / count..(b + 1) * d / count)
}

/// `$call` with the constant `$N` equal to `$n`, at most 8.
macro_rules! with_constant {
    ($n:expr, $N:ident => $call:expr) => {
        with_constant!(@ $n, $N, $call, 1 2 3 4 5 6 7 8)
    };
    (@ $n:expr, $N:ident, $call:expr, $($k:literal)*) => {
        match $n {
            $($k => {
                const $N: usize = $k;
                $call
            })*
            n => unreachable!("a block of {n}"),
        }
    };
}

/// `sums[c][j] += Σ_i w_ij x_ic`
struct OverRows<'a, T> {
    tile: &'a StripTile,
    weights: &'a [T],
    vectors: &'a PaddedVectors<T>,
    sums: &'a mut [T],
}

impl<T: Real> WithSimd for OverRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let most = if S::REGISTER_COUNT >= 32 { 8 } else { 5 };
        for block in blocks(self.vectors.d, most) {
            with_constant!(block.len(), N => self.block::<S, N>(simd, block.start));
        }
    }
}

impl<T: Real> OverRows<'_, T> {
    #[inline(always)]
    fn block<S: Simd, const N: usize>(&mut self, simd: S, c: usize) {
        let line = line::<T, S>();
        let PaddedVectors { d, rows, .. } = self.vectors;
        let weights = T::lanes::<S>(self.weights).chunks_exact(strip::<T>() * line);
        for (strip, weights) in self.tile.strips.clone().zip(weights) {
            let sums = &mut T::lanes_mut::<S>(self.sums)[(strip * d + c) * line..][..N * line];
            for start in (0..line).step_by(PAIR) {
                let mut acc = [[T::splat(simd, T::new(0.0)); PAIR]; N];
                for (acc, sums) in acc.iter_mut().zip(sums.chunks_exact(line)) {
                    acc.copy_from_slice(&sums[start..start + PAIR]);
                }
                let weights = weights.chunks_exact(line);
                for (w, x) in weights.zip(rows.from(self.tile.row)) {
                    let w = &w[start..start + PAIR];
                    for (acc, &x) in acc.iter_mut().zip(&x[c..c + N]) {
                        let x = T::splat(simd, x);
                        for v in 0..PAIR {
                            acc[v] = T::mul_add(simd, w[v], x, acc[v]);
                        }
                    }
                }
                for (acc, sums) in acc.iter().zip(sums.chunks_exact_mut(line)) {
                    sums[start..start + PAIR].copy_from_slice(acc);
                }
            }
        }
    }
}

/// `sums[c][i] += Σ_j w_ij x_jc`
struct OverColumns<'a, T> {
    tile: &'a StripTile,
    weights: &'a [T],
    vectors: &'a PaddedVectors<T>,
    sums: &'a mut [T],
}

impl<T: Real> WithSimd for OverColumns<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let most = if S::REGISTER_COUNT >= 32 { 5 } else { 2 };
        for block in blocks(self.vectors.d, most) {
            with_constant!(block.len(), N => self.block::<S, N>(simd, block.start));
        }
    }
}

impl<T: Real> OverColumns<'_, T> {
    #[inline(always)]
    fn block<S: Simd, const N: usize>(&mut self, simd: S, c: usize) {
        let (line, width) = (line::<T, S>(), strip::<T>());
        let sums = &mut self.sums[self.tile.row * self.vectors.d + c * width..];
        for row in (0..width).step_by(QUAD) {
            let mut acc = [[T::splat(simd, T::new(0.0)); QUAD]; N];
            let weights = T::lanes::<S>(self.weights).chunks_exact(width * line);
            for (strip, weights) in self.tile.strips.clone().zip(weights) {
                let w = &weights[row * line..][..QUAD * line];
                let x = &T::lanes::<S>(self.vectors.strip(strip))[c * line..][..N * line];
                for v in 0..line {
                    let w = [w[v], w[line + v], w[2 * line + v], w[3 * line + v]];
                    for n in 0..N {
                        let x = x[n * line + v];
                        for q in 0..QUAD {
                            acc[n][q] = T::mul_add(simd, w[q], x, acc[n][q]);
                        }
                    }
                }
            }
            for (sums, acc) in sums.chunks_exact_mut(width).zip(acc) {
                for (sum, acc) in sums[row..].iter_mut().zip(acc) {
                    *sum = sum.plus(T::sum(simd, acc));
                }
            }
        }
    }
}
