use std::sync::Arc;

use pulp::{Arch, Simd, WithSimd};
use rand::{Rng, seq::index};
use rayon::prelude::*;

use super::{
    ClassPoints, HostKernel,
    low_rank::{LowRank, LowRankSkce, LowRankSums, Residuals},
};
use crate::{
    distribution::{ClassRows, Flip, LabelSets},
    hypothesis::engine::{PART, add_all},
    kernel::Kernel,
};

/// The residuals of labels. A label that differs from the most likely class changes `2J` numbers of
/// `z_jc = Σ_i φ_j(p_i) δ_ic`.
pub struct OfLabels {
    rows: Arc<ClassRows>,
    /// The sums where all labels are the most likely class.
    base: LowRankSums,
}

/// Single precision of the features is enough of numbers that are summed in double.
impl LowRankSkce<f32, OfLabels> {
    /// Takes so many landmarks, drawn from the predictions; a fixed bandwidth times each factor.
    pub fn of_labels(
        kernel: Kernel,
        factors: &[f64],
        points: impl Into<ClassPoints>,
        landmarks: usize,
        rng: &mut dyn Rng,
    ) -> Self {
        let all = points.into();
        let (n, d) = (all.rows.samples(), all.d);
        let on_host = HostKernel::new(kernel, factors, d);
        let chosen = index::sample(rng, n, landmarks.min(n));
        let points: Vec<f64> = chosen.iter().flat_map(|i| all.point(i)).copied().collect();
        let locations = on_host.matrices(&points, &points);
        let kernel = LowRank::new(n, &locations, |(first, count), of| {
            let own = &all.values()[first * d..][..count * d];
            on_host.at_each(own, &points, of);
        });
        let mut diagonal = vec![0.0; factors.len()];
        for i in 0..n {
            let square = all.rows.residual_square(i);
            add_to(&mut diagonal, square, kernel.squares(i));
        }
        let z = sums(&all.rows, &kernel);
        let residuals = OfLabels {
            base: LowRankSums { z, diagonal },
            rows: all.rows,
        };
        Self { kernel, residuals }
    }
}

/// `Σ_i (e_top − p)_c φ_j(p_i)`.
fn sums(rows: &ClassRows, kernel: &LowRank<f32>) -> Vec<f64> {
    let (n, m, width) = (rows.samples(), rows.classes, kernel.width());
    let part = |first: usize| {
        let mut sums = vec![0.0; m * width];
        for i in first..n.min(first + PART) {
            let (p, top) = (rows.row(i), rows.top[i] as usize);
            for (c, sums) in sums.chunks_mut(width).enumerate() {
                let residual = if c == top {
                    rows.error_probability[i]
                } else {
                    -p[c]
                };
                add_to(sums, residual, kernel.feature(i));
            }
        }
        sums
    };
    let firsts: Vec<usize> = (0..n).step_by(PART).collect();
    let parts: Vec<Vec<f64>> = firsts.into_par_iter().map(part).collect();
    let mut sums = vec![0.0; m * width];
    for part in parts {
        add_all(&mut sums, &part);
    }
    sums
}

impl Residuals<f32, LabelSets> for OfLabels {
    fn sums(&self, kernel: &LowRank<f32>, sets: &LabelSets) -> Vec<LowRankSums> {
        let held = self.base.z.len() + self.base.diagonal.len();
        sets.sweep(&self.base, held, |sums, flips| {
            Arch::new().dispatch(Flipped {
                rows: &self.rows,
                kernel,
                flips,
                sums,
            });
        })
    }
}

/// Adds what the labels that differ change, in vectors of the processor.
struct Flipped<'a> {
    rows: &'a ClassRows,
    kernel: &'a LowRank<f32>,
    flips: &'a [Flip],
    sums: &'a mut LowRankSums,
}

impl WithSimd for Flipped<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let (rows, kernel, width) = (self.rows, self.kernel, self.kernel.width());
        let LowRankSums { z, diagonal } = self.sums;
        rows.for_each_flip(self.flips, |Flip { sample, class }, [of_top, of_class]| {
            let i = sample as usize;
            let (top, feature) = (rows.top[i], kernel.feature(i));
            add_to(&mut z[class as usize * width..][..width], 1.0, feature);
            add_to(&mut z[top as usize * width..][..width], -1.0, feature);
            let change = 2.0 * (of_top - of_class);
            add_to(diagonal, change, kernel.squares(i));
        });
    }
}

#[inline(always)]
fn add_to<T: Copy + Into<f64>>(sums: &mut [f64], factor: f64, numbers: &[T]) {
    for (sum, x) in sums.iter_mut().zip(numbers) {
        *sum += factor * (*x).into();
    }
}
