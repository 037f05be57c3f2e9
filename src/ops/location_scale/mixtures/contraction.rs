//! Sums over pairs of components.

use crate::{
    ops::{
        location_scale::{
            Rows,
            all_pairs::zeros,
            packs::pack,
            sums::{PairSums, Pass, Setting, with_pass},
            term::Expectation,
            tile::DERIVATIVES,
            weigh::{PACKS, Weights},
        },
        non_finite::{non_finite_rows, poison},
        pairs::simd::deal::{deal, threads},
        simd::{aligned::Aligned, wide::Select},
    },
    parallel::for_each_chunk,
};

/// Coordinates that a pair costs as much as, for the decision about threads.
const COST: usize = 8;

/// The mixtures of a batch. `h_ab` below is the residual product of components, each with the target of its
/// mixture.
pub(super) struct Contraction<'a, T> {
    /// Components.
    pub rows: Rows<'a, T>,
    pub weights: &'a [T], // [n, K]
    /// `K`
    pub each: usize,
    pub setting: Setting,
}

impl<T: Select> Contraction<'_, T> {
    fn count(&self) -> usize {
        self.weights.len() / self.each
    }

    /// With others: `R_ij = Σ_k w_ik A_ikj`, `[n, m]`, and `A_ikj = Σ_l w_jl h_{ik,jl}`, `[n·K, m]`.
    pub fn products(&self, others: &Self) -> (Vec<T>, Vec<T>) {
        let (n, m) = (self.count(), others.count());
        let of_components = with_pass!(self.setting, pass => self.of_components(others, pass));
        let mut residuals = vec![T::new(0.0); n * m];
        let rows = of_components.chunks_exact(m).zip(self.weights).enumerate();
        for (component, (products, &weight)) in rows {
            let i = component / self.each;
            let residuals = residuals[i * m..][..m].iter_mut().zip(products);
            residuals.for_each(|(sum, product)| *sum = sum.plus(weight.times(*product)));
        }
        poison(&mut residuals, m, self.non_finite(), others.non_finite());
        (residuals, of_components)
    }

    /// The mixtures that hold a number that is not finite.
    fn non_finite(&self) -> impl Iterator<Item = usize> {
        let of_weights = non_finite_rows(self.weights, self.each);
        self.rows.non_finite(self.each).chain(of_weights)
    }

    fn of_components<E: Expectation>(&self, others: &Self, pass: Pass<E>) -> Vec<T> {
        let (m, each) = (others.count(), others.each);
        let [rows, columns] = [self, others].map(|all| pass.packs(all.rows, 0..all.weights.len()));
        let mut sums = vec![T::new(0.0); self.weights.len() * m];
        let cost = COST * self.rows.d * each;
        for_each_chunk(&mut sums, pack::<T>() * m, cost, |(row, sums)| {
            let count = sums.len() / m;
            let weights = &mut Weights::zeros();
            for first in (0..columns.count()).step_by(PACKS) {
                let some = first..columns.count().min(first + PACKS);
                weights.kernel.fill(T::new(1.0));
                pass.tile::<T, false>((&rows, row), count, (&columns, some), weights, &mut []);
                let first = first * pack::<T>();
                let tile = weights.kernel.chunks_exact(PACKS * pack::<T>());
                for (sums, h) in sums.chunks_exact_mut(m).zip(tile) {
                    for ((column, weight), h) in (first..).zip(&others.weights[first..]).zip(h) {
                        let sum = &mut sums[column / each];
                        *sum = sum.plus(weight.times(*h));
                    }
                }
            }
        });
        sums
    }

    /// The slopes of `Σ_ij u_ij R_ij`, among themselves, with respect to locations and scales, `[n·K, d]`, and weights, `[n, K]`,
    /// given `u`, `[n, n]`, and `A`.
    pub fn gradient(&self, of_components: &[T], upstream: &[T]) -> [Vec<T>; 3] {
        let n = self.count();
        let mut both_ways: Vec<T> = (0..n * n)
            .map(|at| upstream[at].plus(upstream[at % n * n + at / n]))
            .collect();
        poison(&mut both_ways, n, self.non_finite(), self.non_finite());
        let of_component = |(component, products): (usize, &[T])| {
            let upstream = &both_ways[component / self.each * n..][..n];
            let terms = products.iter().zip(upstream);
            T::new(terms.map(|(x, u)| x.to_f64() * u.to_f64()).sum())
        };
        let to_weights = of_components.chunks_exact(n).enumerate();
        let to_weights = to_weights.map(of_component).collect();
        let [to_locations, to_scales] =
            with_pass!(self.setting, pass => self.of_parameters(pass, &both_ways));
        [to_locations, to_scales, to_weights]
    }

    /// With respect to locations and scales, of `Σ_{a<b} w_a w_b s_ab h_ab + ½ Σ_a w_a² s_aa h_aa` for
    /// components `a` and `b` and a symmetric `s`, `[n, n]`, of their mixtures.
    fn of_parameters<E: Expectation>(
        &self,
        pass: Pass<E>,
        upstream: &[T],
    ) -> [Vec<T>; DERIVATIVES] {
        let (n, each) = (self.count(), self.each);
        let (count, d) = (n * each, self.rows.d);
        let packs = pass.packs(self.rows, 0..count);
        let start = || (zeros::<T, true>(&packs), Weights::zeros());
        let (gradient, _) = deal(
            packs.count(),
            threads(count, COST * d, packs.count()),
            start,
            |(gradient, weights), row| {
                for first in (row..packs.count()).step_by(PACKS) {
                    let columns = first..packs.count().min(first + PACKS);
                    let tile = weights.kernel.chunks_exact_mut(PACKS * pack::<T>());
                    let rows = row * pack::<T>()..count;
                    for (a, kernel) in rows.clone().zip(tile) {
                        self.weigh(a, first * pack::<T>(), upstream, kernel);
                    }
                    let (rows, columns) = ((&packs, row), (&packs, columns));
                    pass.tile::<T, true>(
                        rows,
                        count - row * pack::<T>(),
                        columns,
                        weights,
                        gradient,
                    );
                }
            },
            |(gradient, _): &mut (Aligned<T>, _), (other, _)| gradient.add(&other),
        );
        let numbers = self.rows.locations.len();
        let mut sums = PairSums {
            values: Vec::new(),
            stretch: 0.0,
            gradient: [(); DERIVATIVES].map(|()| vec![T::new(0.0); numbers]),
        };
        sums.write(self.rows, &gradient, |index, lane| {
            let component = index * pack::<T>() + lane;
            (component < count).then_some(component)
        });
        sums.gradient
    }

    /// Writes `w_a w_b s_ab` for consecutive components `b`, half of it for `b = a`, and 0 before.
    fn weigh(&self, a: usize, first: usize, upstream: &[T], kernel: &mut [T]) {
        let n = self.count();
        let upstream = &upstream[a / self.each * n..][..n];
        for (b, kernel) in (first..).zip(kernel) {
            *kernel = match self.weights.get(b) {
                Some(weight) if a <= b => {
                    let half = T::new(if a == b { 0.5 } else { 1.0 });
                    let weights = self.weights[a].times(*weight).times(half);
                    weights.times(upstream[b / self.each])
                }
                _ => T::new(0.0),
            };
        }
    }
}
