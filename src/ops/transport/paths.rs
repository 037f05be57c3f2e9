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
/// again for the next problem.
pub(super) struct Solver {
    /// `K` and `L`.
    sizes: [usize; 2],
    /// The costs between all points, `[K, L]`, to be written before the problem is solved.
    pub costs: Vec<f64>,
    plan: Vec<f64>,   // [K, L], in units
    supply: Vec<f64>, // [K], what is left
    demand: Vec<f64>, // [L], what is left
    f: Vec<f64>,      // [K]
    g: Vec<f64>,      // [L]
    // the shortest paths from one source to a target, and to all that are nearer
    to_source: Vec<f64>,       // [K], infinite for those not reached
    target_before: Vec<usize>, // [K], from which mass is redirected
    to_target: Vec<f64>,       // [L], bounds for those not reached
    is_reached: Vec<bool>,     // [L]
    source_before: Vec<usize>, // [L]
}

impl Solver {
    pub fn new([k, l]: [usize; 2]) -> Self {
        Self {
            sizes: [k, l],
            costs: vec![0.0; k * l],
            plan: vec![0.0; k * l],
            supply: vec![0.0; k],
            demand: vec![0.0; l],
            f: vec![0.0; k],
            g: vec![0.0; l],
            to_source: vec![0.0; k],
            target_before: vec![0; k],
            to_target: vec![0.0; l],
            is_reached: vec![false; l],
            source_before: vec![0; l],
        }
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
        let shift = (mean(b, &self.g) - mean(a, &self.f)) / 2.0;
        self.f.iter_mut().for_each(|f| *f += shift);
        self.g.iter_mut().for_each(|g| *g -= shift);
        [&self.f, &self.g]
    }

    /// The least cost, for an optimal plan of weights `a` (`K`) and `b` (`L`) in [`units`]. NaN if weights or
    /// costs are not finite, without a plan.
    pub fn solve(&mut self, a: &[f64], b: &[f64]) -> f64 {
        let magnitude: f64 = self.costs.iter().map(|cost| cost.abs()).sum();
        if !(magnitude + a[0] + b[0]).is_finite() {
            return f64::NAN;
        }
        self.plan.fill(0.0);
        self.supply.copy_from_slice(a);
        self.demand.copy_from_slice(b);
        self.g.fill(0.0);
        self.tighten();
        for source in 0..self.sizes[0] {
            while self.supply[source] > 0.0 {
                if !self.augment(source) {
                    return f64::NAN; // costs overflow
                }
            }
        }
        let terms = self.plan.iter().zip(&self.costs);
        terms.map(|(mass, cost)| mass * cost).sum::<f64>() / UNITS
    }

    /// Moves mass from `source` to the nearest target with demand left, along a shortest path by the
    /// reduced costs `c_kl − f_k − g_l ≥ 0`, on which mass from other sources may be redirected.
    ///
    /// Potentials rise by what a source is nearer than that target, and fall for targets: then reduced
    /// costs are still at least 0, and 0 on the path. False if there is none.
    fn augment(&mut self, source: usize) -> bool {
        let [_, l] = self.sizes;
        let (end, distance) = self.nearest_demand(source);
        if distance == f64::INFINITY {
            return false;
        }
        for (f, to_source) in self.f.iter_mut().zip(&self.to_source) {
            *f += (distance - to_source).max(0.0);
        }
        for (g, to_target) in self.g.iter_mut().zip(&self.to_target) {
            *g -= (distance - to_target).max(0.0);
        }

        // backwards: each source on the way gains mass for one target and loses it for the next
        let mut amount = self.supply[source].min(self.demand[end]);
        let mut target = end;
        while self.source_before[target] != source {
            let from = self.source_before[target];
            target = self.target_before[from];
            amount = amount.min(self.plan[from * l + target]);
        }
        let mut target = end;
        loop {
            let from = self.source_before[target];
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

    /// Dijkstra's algorithm from `source` to the first target with demand left, and its distance: infinite if
    /// there is none.
    fn nearest_demand(&mut self, source: usize) -> (usize, f64) {
        let [k, l] = self.sizes;
        self.to_source.fill(f64::INFINITY);
        self.to_target.fill(f64::INFINITY);
        self.is_reached.fill(false);
        self.to_source[source] = 0.0;
        self.relax(source);
        loop {
            let (mut nearest, mut least) = (0, f64::INFINITY);
            for (target, &length) in self.to_target.iter().enumerate() {
                if length < least && !self.is_reached[target] {
                    (nearest, least) = (target, length);
                }
            }
            if least == f64::INFINITY || self.demand[nearest] > 0.0 {
                return (nearest, least);
            }
            self.is_reached[nearest] = true;
            for from in 0..k {
                if self.plan[from * l + nearest] > 0.0 && self.to_source[from] == f64::INFINITY {
                    self.to_source[from] = least;
                    self.target_before[from] = nearest;
                    self.relax(from);
                }
            }
        }
    }

    /// Shortens paths to all targets by those through a source; those that were reached are no farther.
    fn relax(&mut self, from: usize) {
        let [_, l] = self.sizes;
        let (start, f) = (self.to_source[from], self.f[from]);
        let targets = self.to_target.iter_mut().zip(&mut self.source_before);
        let costs = self.costs[from * l..][..l].iter().zip(&self.g);
        for ((to_target, before), (cost, g)) in targets.zip(costs) {
            let length = start + (cost - f - g).max(0.0);
            if length < *to_target {
                (*to_target, *before) = (length, from);
            }
        }
    }

    /// The largest potentials `f` for `g`, then the largest `g` for `f`: with equality wherever there
    /// was, and for points without weight too.
    fn tighten(&mut self) {
        let [_, l] = self.sizes;
        for (f, costs) in self.f.iter_mut().zip(self.costs.chunks_exact(l)) {
            let slacks = costs.iter().zip(&self.g).map(|(cost, g)| cost - g);
            *f = slacks.fold(f64::INFINITY, f64::min);
        }
        self.g.fill(f64::INFINITY);
        for (f, costs) in self.f.iter().zip(self.costs.chunks_exact(l)) {
            for (g, cost) in self.g.iter_mut().zip(costs) {
                *g = g.min(cost - f);
            }
        }
    }
}
