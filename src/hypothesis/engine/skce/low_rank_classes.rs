use pulp::Arch;
use rand::{Rng, seq::index};

use super::{
    ClassPoints, HostKernel,
    low_rank::{LowRank, LowRankSkce, LowRankSums},
};
use crate::{
    distribution::{ClassRows, Flip, LabelSets},
    hypothesis::engine::Evaluator,
    kernel::Kernel,
    parallel,
};

/// The SKCE of labels, by so many landmarks that are drawn from the predictions; a fixed bandwidth times each factor.
/// A label that differs from the most likely class changes `2J` numbers of `z_jc = Σ_i φ_j(p_i) δ_ic`. Single
/// precision of the features is enough of numbers that are summed in double.
pub fn low_rank_of_labels(
    kernel: Kernel,
    factors: &[f64],
    all: ClassPoints,
    landmarks: usize,
    rng: &mut dyn Rng,
) -> impl Evaluator<LabelSets> + use<> {
    let (n, d) = (all.rows.samples(), all.d);
    let on_host = HostKernel::new(kernel, factors, d);
    let chosen = index::sample(rng, n, landmarks.min(n));
    let points: Vec<f64> = chosen.iter().flat_map(|i| all.point(i)).copied().collect();
    let locations = on_host.matrices(&points, &points);
    let kernel = LowRank::new((n, &all.weights), &locations, |(first, count), of| {
        let own = &all.values()[first * d..][..count * d];
        on_host.at_each(own, &points, of);
    });
    let rows = all.rows;
    // where all labels are the most likely class
    let mut diagonal = vec![0.0; factors.len()];
    for i in 0..n {
        add_to(&mut diagonal, rows.residual_square(i), kernel.squares(i));
    }
    let base = LowRankSums {
        z: sums(&rows, &kernel),
        diagonal,
    };
    let sums = move |kernel: &LowRank<f32>, sets: &LabelSets| {
        let held = base.z.len() + base.diagonal.len();
        sets.sweep(&base, held, |sums, flips| {
            Arch::new().dispatch(
                #[inline(always)]
                || add_changes(&rows, kernel, flips, sums),
            );
        })
    };
    LowRankSkce { kernel, sums }
}

/// `Σ_i (e_top − p)_c φ_j(p_i)`.
fn sums(rows: &ClassRows, kernel: &LowRank<f32>) -> Vec<f64> {
    let (n, m, width) = (rows.samples(), rows.classes, kernel.width());
    let [sums] = parallel::sums(n, m * width, |i, [sums]| {
        let (p, top) = (rows.row(i), rows.top[i] as usize);
        for (c, sums) in sums.chunks_mut(width).enumerate() {
            let residual = if c == top {
                rows.error_probability[i]
            } else {
                -p[c]
            };
            add_to(sums, residual, kernel.feature(i));
        }
    });
    sums
}

/// Adds what the labels that differ change, in vectors of the processor.
#[inline(always)]
fn add_changes(rows: &ClassRows, kernel: &LowRank<f32>, flips: &[Flip], sums: &mut LowRankSums) {
    let width = kernel.width();
    let LowRankSums { z, diagonal } = sums;
    rows.for_each_flip(flips, |Flip { sample, class }, [of_top, of_class]| {
        let i = sample as usize;
        let (top, feature) = (rows.top[i], kernel.feature(i));
        add_to(&mut z[class as usize * width..][..width], 1.0, feature);
        add_to(&mut z[top as usize * width..][..width], -1.0, feature);
        let change = 2.0 * (of_top - of_class);
        add_to(diagonal, change, kernel.squares(i));
    });
}

#[inline(always)]
fn add_to<T: Copy + Into<f64>>(sums: &mut [f64], factor: f64, numbers: &[T]) {
    for (sum, x) in sums.iter_mut().zip(numbers) {
        *sum += factor * (*x).into();
    }
}
