use super::{
    Rows,
    all_pairs::zeros,
    lanewise::Lanewise,
    packs::{Packs, pack},
    sums::{PairSums, Pass},
    weigh::{Weigh, Weights},
};
use crate::{
    ops::{
        non_finite::poison,
        simd::{aligned::Aligned, arch::Arch, wide::Select},
    },
    parallel,
};

impl Pass {
    /// Many small blocks, one in each lane: linear in the number of samples.
    pub fn side_by_side<T: Select, const GRADIENT: bool>(
        self,
        rows: Rows<T>,
        size: usize,
        sums: &mut PairSums<T>,
    ) {
        let blocks = rows.count() / size;
        let group = |group: usize| {
            let first = group * pack::<T>();
            let used = (blocks - first).min(pack::<T>());
            let sample = |place: usize| {
                let (at, lane) = (place / pack::<T>(), place % pack::<T>());
                (first + lane.min(used - 1)) * size + at
            };
            let packs = Packs::new(size, rows, self.gaussian, sample);
            let mut gradient = zeros::<T, GRADIENT>(&packs);
            let mut weights = Weights::zeros();
            let (mut values, mut stretch) = (vec![0.0; used], 0.0);
            for (i, j) in (0..size).flat_map(|i| (i + 1..size).map(move |j| (i, j))) {
                Arch::new().dispatch(Weigh {
                    radial: self.radial,
                    rows: (&packs, i),
                    columns: (&packs, j..j + 1),
                    in_lanes: true,
                    weights: &mut weights,
                });
                weights.keep(1, 0, |_, lane| lane < used);
                let totals =
                    self.lanewise::<T, GRADIENT>(&packs, [i, j], &mut weights, &mut gradient);
                stretch += totals;
                for (value, h) in values.iter_mut().zip(weights.kernel.iter()) {
                    *value += h.to_f64();
                }
            }
            (values, stretch, gradient)
        };
        let groups = blocks.div_ceil(pack::<T>());
        let groups = parallel::map(groups, &group);
        for (index, (values, stretch, gradient)) in groups.into_iter().enumerate() {
            let first = index * pack::<T>();
            sums.write(rows, &gradient, |at, lane| {
                (lane < values.len()).then_some((first + lane) * size + at)
            });
            sums.values.extend(values);
            sums.stretch += stretch;
        }
    }

    /// `weight · h_ii` of the first `n` samples; adds its gradient.
    pub fn itself<T: Select, const GRADIENT: bool>(
        self,
        packs: &Packs<T>,
        n: usize,
        weight: f64,
        gradient: &mut Aligned<T>,
    ) -> Vec<T> {
        let mut diagonal = Vec::with_capacity(n);
        let mut weights = Weights::zeros(); // k(P, P) = 1 has no slope
        for index in 0..packs.count() {
            let used = (n - index * pack::<T>()).min(pack::<T>());
            let kernel = &mut weights.kernel[..pack::<T>()];
            kernel.fill(T::new(0.0));
            kernel[..used].fill(T::new(weight));
            self.lanewise::<T, GRADIENT>(packs, [index; 2], &mut weights, gradient);
            diagonal.extend(&weights.kernel[..used]);
        }
        diagonal
    }

    /// `h_ii`; NaN for samples that are not finite.
    pub fn diagonal<T: Select>(self, rows: Rows<T>) -> Vec<T> {
        let n = rows.count();
        if n == 0 {
            return Vec::new();
        }
        let packs = self.packs(rows, 0..n);
        let mut diagonal = self.itself::<T, false>(&packs, n, 1.0, &mut Aligned::zeros(0));
        poison(&mut diagonal, 1, rows.non_finite(), std::iter::empty());
        diagonal
    }

    fn lanewise<T: Select, const GRADIENT: bool>(
        self,
        packs: &Packs<T>,
        pair: [usize; 2],
        weights: &mut Weights<T>,
        sums: &mut Aligned<T>,
    ) -> f64 {
        Arch::new().dispatch(Lanewise::<T, GRADIENT> {
            gaussian: self.gaussian,
            packs,
            pair,
            weights,
            sums,
        })
    }
}
