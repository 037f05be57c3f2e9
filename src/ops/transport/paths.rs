//! One transport problem, by shortest augmenting paths (the Hungarian method for masses): Ahuja,
//! Magnanti and Orlin, *Network Flows* (1993), section 9.7.

/// Weights are counted in units of `2^{−52}`: sums of whole numbers up to `2^52` are exact, so that
/// masses are used up exactly and every path carries at least one unit.
pub(super) const UNITS: f64 = (1u64 << 52) as f64;

/// The weights over their sum as whole numbers of units with sum `2^52`; NaN if they are not weights: one
/// negative or not finite, or all 0.
pub(super) fn units(weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    if !(total > 0.0 && total.is_finite() && weights.iter().all(|&weight| weight >= 0.0)) {
        return vec![f64::NAN; weights.len()];
    }
    let mut units: Vec<f64> = weights
        .iter()
        .map(|weight| (weight / total * UNITS).round())
        .collect();
    let rest = UNITS - units.iter().sum::<f64>();
    let largest = units.iter_mut().max_by(|x, y| x.total_cmp(y));
    *largest.expect("at least one weight") += rest;
    units
}

/// A plan that has not moved all mass yet, and potentials for which it is optimal; its memory is used
/// again for the next problem. Rows over targets are padded to whole vectors.
pub(super) struct Solver {
    /// `K` and `L`.
    sizes: [usize; 2],
    /// Vectors in a row.
    width: usize,
    costs: Vec<Lanes>, // [K, width], infinite beyond L
    plan: Vec<f64>,    // [K, L], in units
    supply: Vec<f64>,  // [K], what is left
    demand: Vec<f64>,  // [L], what is left
    f: Vec<f64>,       // [K]
    g: Vec<Lanes>,     // [width]
    // the shortest paths from one source to a target, and to all that are nearer
    to_source: Vec<f64>,       // [K], infinite for those not reached
    target_before: Vec<usize>, // [K], from which mass is redirected
    reach: Reach<Vec<Lanes>>,  // of more targets than a vector has
}

/// The ends of the shortest paths at the targets: in registers of the processor where these are few.
struct Reach<R> {
    to_target: R, // [width], bounds for those not reached
    open: R,      // [width], the same, infinite for those reached
    before: R,    // [width], numbers of sources
}

impl<R: AsRef<[Lanes]> + AsMut<[Lanes]>> Reach<R> {
    #[inline(always)]
    fn start(&mut self) {
        self.to_target.as_mut().fill([f64::INFINITY; LANES]);
        self.open.as_mut().fill([f64::INFINITY; LANES]);
    }

    /// The first of the nearest targets that are not reached, and its distance; infinite if there is none.
    #[inline(always)]
    fn nearest(&self) -> (usize, f64) {
        let (mut nearest, mut least) = (0, f64::INFINITY);
        for (block, open) in self.open.as_ref().iter().enumerate() {
            let min = |a: f64, b: f64| if b < a { b } else { a };
            let fours: [f64; 4] = std::array::from_fn(|k| min(open[k], open[k + 4]));
            let lowest = min(min(fours[0], fours[2]), min(fours[1], fours[3]));
            if lowest < least {
                let equal = (0..LANES).map(|k| u32::from(open[k] == lowest) << k);
                let first = equal.sum::<u32>().trailing_zeros() as usize;
                (nearest, least) = (block * LANES + first, lowest);
            }
        }
        (nearest, least)
    }

    #[inline(always)]
    fn close(&mut self, target: usize) {
        for (block, open) in self.open.as_mut().iter_mut().enumerate() {
            *open = std::array::from_fn(|k| match block * LANES + k == target {
                true => f64::INFINITY,
                false => open[k],
            });
        }
    }

    /// Shortens paths to all targets by those through a source; those that were reached are no farther.
    #[inline(always)]
    fn relax(&mut self, from: usize, [start, f]: [f64; 2], costs: &[Lanes], g: &[Lanes]) {
        let number = from as f64;
        let (open, before) = (self.open.as_mut(), self.before.as_mut());
        for (block, to_target) in self.to_target.as_mut().iter_mut().enumerate() {
            let (costs, g) = (costs[block], g[block]);
            for k in 0..LANES {
                let reduced = costs[k] - f - g[k];
                let length = start + if reduced > 0.0 { reduced } else { 0.0 };
                let shorter = length < to_target[k];
                to_target[k] = if shorter { length } else { to_target[k] };
                open[block][k] = if shorter { length } else { open[block][k] };
                before[block][k] = if shorter { number } else { before[block][k] };
            }
        }
    }
}

/// Numbers that are computed at once.
type Lanes = [f64; LANES];
const LANES: usize = 8;

impl Solver {
    pub fn new(k: usize, l: usize) -> Self {
        let width = l.div_ceil(LANES);
        let zeros = || vec![[0.0; LANES]; width];
        Self {
            sizes: [k, l],
            width,
            costs: vec![[f64::INFINITY; LANES]; k * width],
            plan: vec![0.0; k * l],
            supply: vec![0.0; k],
            demand: vec![0.0; l],
            f: vec![0.0; k],
            g: zeros(),
            to_source: vec![0.0; k],
            target_before: vec![0; k],
            reach: Reach {
                to_target: zeros(),
                open: zeros(),
                before: zeros(),
            },
        }
    }

    /// The costs from each point to others, to be written before the problem is solved, `[L]`.
    #[inline(always)]
    pub fn costs_from(&mut self, from: usize) -> &mut [f64] {
        let row = &mut self.costs[from * self.width..][..self.width];
        &mut row.as_flattened_mut()[..self.sizes[1]]
    }

    /// The masses between all points, `[K, L]`, in units.
    pub fn plan(&self) -> &[f64] {
        &self.plan
    }

    /// Optimal potentials `f` (`K`) and `g` (`L`): `f_k + g_l ≤ c_kl`, with equality where `π_kl > 0`, and
    /// `Σ_k a_k f_k = Σ_l b_l g_l`.
    pub fn potentials(&mut self, a: &[f64], b: &[f64]) -> [&[f64]; 2] {
        self.tighten();
        let mean = |weights: &[f64], potentials: &[f64]| -> f64 {
            let terms = weights.iter().zip(potentials);
            terms
                .map(|(weight, potential)| weight / UNITS * potential)
                .sum()
        };
        let g = self.g.as_flattened_mut();
        let shift = (mean(b, g) - mean(a, &self.f)) / 2.0;
        self.f.iter_mut().for_each(|f| *f += shift);
        g.iter_mut().for_each(|g| *g -= shift);
        [&self.f, &self.g.as_flattened()[..self.sizes[1]]]
    }

    /// The least cost, for an optimal plan of weights `a` (`K`) and `b` (`L`) in [`units`]. NaN if weights or
    /// costs are not finite, without a plan.
    #[inline(always)]
    pub fn solve(&mut self, a: &[f64], b: &[f64]) -> f64 {
        self.solve_from(a, b, |solver| {
            solver.g.fill([0.0; LANES]);
            solver.tighten();
        })
    }

    /// As [`solve`](Self::solve), sooner for points that are almost on a line, in order there.
    #[inline(always)]
    pub fn solve_in_order(&mut self, a: &[f64], b: &[f64]) -> f64 {
        self.solve_from(a, b, Self::start_in_order)
    }

    /// Starts with the best plan for points on a line in this order, from the first to the last, and the
    /// potentials for which its costs are reduced to 0. Where that leaves a negative cost, potentials change,
    /// and mass whose cost is no longer 0 is taken back.
    #[inline(always)]
    fn start_in_order(&mut self) {
        let ([k, l], width) = (self.sizes, self.width * LANES);
        let costs = self.costs.as_flattened();
        let g = self.g.as_flattened_mut();
        let (mut from, mut to) = (0, 0);
        (self.f[0], g[0]) = (0.0, costs[0]);
        loop {
            let mass = self.supply[from].min(self.demand[to]);
            self.plan[from * l + to] = mass;
            self.supply[from] -= mass;
            self.demand[to] -= mass;
            if to + 1 < l && (self.demand[to] == 0.0 || from + 1 == k) {
                to += 1;
                g[to] = costs[from * width + to] - self.f[from];
            } else if from + 1 < k {
                from += 1;
                self.f[from] = costs[from * width + to] - g[to];
            } else {
                break;
            }
        }
        self.tighten();
        let (costs, g) = (self.costs.as_flattened(), self.g.as_flattened());
        for from in 0..k {
            for to in 0..l {
                let (cost, mass) = (costs[from * width + to], self.plan[from * l + to]);
                let rounding = 1e-15 * (cost.abs() + self.f[from].abs() + g[to].abs());
                if mass > 0.0 && cost - self.f[from] - g[to] > rounding {
                    self.plan[from * l + to] = 0.0;
                    self.supply[from] += mass;
                    self.demand[to] += mass;
                }
            }
        }
    }

    #[inline(always)]
    fn solve_from(&mut self, a: &[f64], b: &[f64], start: impl FnOnce(&mut Self)) -> f64 {
        let [k, l] = self.sizes;
        let costs =
            |from: usize| &self.costs[from * self.width..][..self.width].as_flattened()[..l];
        let magnitude = |from: usize| costs(from).iter().map(|cost| cost.abs()).sum::<f64>();
        if !((0..k).map(magnitude).sum::<f64>() + a[0] + b[0]).is_finite() {
            return f64::NAN;
        }
        self.plan.fill(0.0);
        self.supply.copy_from_slice(a);
        self.demand.copy_from_slice(b);
        start(self);
        let moved = match self.width {
            1 => {
                let zeros = [[0.0; LANES]];
                self.augment_all(&mut Reach {
                    to_target: zeros,
                    open: zeros,
                    before: zeros,
                })
            }
            _ => {
                let empty = Reach {
                    to_target: Vec::new(),
                    open: Vec::new(),
                    before: Vec::new(),
                };
                let mut reach = std::mem::replace(&mut self.reach, empty);
                let moved = self.augment_all(&mut reach);
                self.reach = reach;
                moved
            }
        };
        if !moved {
            return f64::NAN;
        }
        let mut total = 0.0;
        for (from, plan) in self.plan.chunks_exact(l).enumerate() {
            let costs = self.costs[from * self.width..][..self.width].as_flattened();
            let terms = plan.iter().zip(costs).map(|(mass, cost)| mass * cost);
            total += terms.sum::<f64>();
        }
        total / UNITS
    }

    /// Moves all mass; false if there is no path for it, as costs overflow.
    #[inline(always)]
    fn augment_all<R: AsRef<[Lanes]> + AsMut<[Lanes]>>(&mut self, reach: &mut Reach<R>) -> bool {
        for source in 0..self.sizes[0] {
            while self.supply[source] > 0.0 {
                if !self.augment(source, reach) {
                    return false;
                }
            }
        }
        true
    }

    /// Moves mass from `source` to the nearest target with demand left, along a shortest path by the
    /// reduced costs `c_kl − f_k − g_l ≥ 0`, on which mass from other sources may be redirected.
    ///
    /// Potentials rise by what a source is nearer than that target, and fall for targets: then reduced
    /// costs are still at least 0, and 0 on the path. False if there is none.
    #[inline(always)]
    fn augment<R: AsRef<[Lanes]> + AsMut<[Lanes]>>(
        &mut self,
        source: usize,
        reach: &mut Reach<R>,
    ) -> bool {
        let [_, l] = self.sizes;
        let (end, distance) = self.nearest_demand(source, reach);
        if distance == f64::INFINITY {
            return false;
        }
        if distance > 0.0 {
            for (f, to_source) in self.f.iter_mut().zip(&self.to_source) {
                *f += (distance - to_source).max(0.0);
            }
            for (g, to_target) in self.g.iter_mut().zip(reach.to_target.as_ref()) {
                for (g, to_target) in g.iter_mut().zip(to_target) {
                    *g -= (distance - to_target).max(0.0);
                }
            }
        }

        // backwards: each source on the way gains mass for one target and loses it for the next
        let before = reach.before.as_ref().as_flattened();
        let mut amount = self.supply[source].min(self.demand[end]);
        let mut target = end;
        loop {
            let from = before[target] as usize;
            if from == source {
                break;
            }
            target = self.target_before[from];
            amount = amount.min(self.plan[from * l + target]);
        }
        let mut target = end;
        loop {
            let from = before[target] as usize;
            self.plan[from * l + target] += amount;
            if from == source {
                break;
            }
            target = self.target_before[from];
            self.plan[from * l + target] -= amount;
        }
        self.supply[source] -= amount;
        self.demand[end] -= amount;
        true
    }

    /// Dijkstra's algorithm from `source` to the first target with demand left, and its distance.
    #[inline(always)]
    fn nearest_demand<R: AsRef<[Lanes]> + AsMut<[Lanes]>>(
        &mut self,
        source: usize,
        reach: &mut Reach<R>,
    ) -> (usize, f64) {
        let ([k, l], width) = (self.sizes, self.width);
        self.to_source
            .iter_mut()
            .for_each(|length| *length = f64::INFINITY);
        self.to_source[source] = 0.0;
        reach.start();
        let costs = &self.costs[source * width..][..width];
        reach.relax(source, [0.0, self.f[source]], costs, &self.g);
        loop {
            let (nearest, least) = reach.nearest();
            if least == f64::INFINITY || self.demand[nearest] > 0.0 {
                return (nearest, least);
            }
            reach.close(nearest);
            for from in 0..k {
                if self.plan[from * l + nearest] > 0.0 && self.to_source[from] == f64::INFINITY {
                    self.to_source[from] = least;
                    self.target_before[from] = nearest;
                    let costs = &self.costs[from * width..][..width];
                    reach.relax(from, [least, self.f[from]], costs, &self.g);
                }
            }
        }
    }

    /// The largest potentials `f` for `g`, then the largest `g` for `f`: with equality wherever there
    /// was, and for points without weight too.
    #[inline(always)]
    fn tighten(&mut self) {
        let min =
            |a: Lanes, b: Lanes| std::array::from_fn(|k| if b[k] < a[k] { b[k] } else { a[k] });
        let infinite = [f64::INFINITY; LANES];
        let rows = || self.costs.chunks_exact(self.width);
        for (f, costs) in self.f.iter_mut().zip(rows()) {
            let slack = |(costs, g): (&Lanes, &Lanes)| std::array::from_fn(|k| costs[k] - g[k]);
            let least = costs.iter().zip(&self.g).map(slack).fold(infinite, min);
            *f = least.into_iter().fold(f64::INFINITY, f64::min);
        }
        self.g.fill(infinite);
        for (f, costs) in self.f.iter().zip(rows()) {
            for (g, costs) in self.g.iter_mut().zip(costs) {
                *g = min(*g, costs.map(|cost| cost - f));
            }
        }
        let [_, l] = self.sizes;
        self.g.as_flattened_mut()[l..].fill(0.0); // of no target: infinite costs stay so
    }
}
