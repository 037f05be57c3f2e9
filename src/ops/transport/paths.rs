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
/// again for the next problem. Rows are padded to vectors of the processor.
pub(super) struct Solver {
    /// `K` and `L`.
    sizes: [usize; 2],
    /// Numbers in a row.
    stride: usize,
    /// `[K, stride]`, infinite beyond `L`.
    costs: Vec<f64>,
    /// `[K, stride]`, in units.
    plan: Vec<f64>,
    supply: Vec<f64>, // [K], what is left
    demand: Vec<f64>, // [stride], what is left
    f: Vec<f64>,      // [K]
    g: Vec<f64>,      // [stride]
    // the shortest paths from one source to a target, and to all that are nearer
    to_source: Vec<f64>,       // [K], infinite for those not reached
    to_target: Vec<f64>,       // [stride], bounds for those not reached
    open: Vec<f64>,            // [stride], the same, infinite for those reached
    source_before: Vec<usize>, // [stride]
    target_before: Vec<usize>, // [K], from which mass is redirected
}

/// Numbers in a row where sizes are known to the compiler.
const WIDTH: usize = 8;

impl Solver {
    pub fn new(k: usize, l: usize) -> Self {
        let stride = l.next_multiple_of(WIDTH);
        Self {
            sizes: [k, l],
            stride,
            costs: vec![f64::INFINITY; k * stride],
            plan: vec![0.0; k * stride],
            supply: vec![0.0; k],
            demand: vec![0.0; stride],
            f: vec![0.0; k],
            g: vec![0.0; stride],
            to_source: vec![0.0; k],
            to_target: vec![0.0; stride],
            open: vec![0.0; stride],
            source_before: vec![0; stride],
            target_before: vec![0; k],
        }
    }

    /// The costs from each point to others, to be written before the problem is solved, `[L]`.
    #[inline(always)]
    pub fn costs_from(&mut self, from: usize) -> &mut [f64] {
        &mut self.costs[from * self.stride..][..self.sizes[1]]
    }

    /// The masses from a point to others, `[L]`, in units.
    pub fn masses_from(&self, from: usize) -> &[f64] {
        &self.plan[from * self.stride..][..self.sizes[1]]
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
        [&self.f, &self.g[..self.sizes[1]]]
    }

    /// The least cost, for an optimal plan of weights `a` (`K`) and `b` (`L`) in [`units`]. NaN if weights or
    /// costs are not finite, without a plan.
    #[inline(always)]
    pub fn solve(&mut self, a: &[f64], b: &[f64]) -> f64 {
        match self.stride {
            WIDTH => self.solve_padded::<WIDTH>(a, b),
            _ => self.solve_padded::<0>(a, b),
        }
    }

    /// For a stride of `W`, or any where that is 0.
    #[inline(always)]
    fn solve_padded<const W: usize>(&mut self, a: &[f64], b: &[f64]) -> f64 {
        let [k, l] = self.sizes;
        let stride = if W > 0 { W } else { self.stride };
        let mut sum = a[0] + b[0]; // finite if all are
        for costs in self.costs.chunks_exact(stride) {
            costs[..l].iter().for_each(|cost| sum += cost.abs());
        }
        if !sum.is_finite() {
            return f64::NAN;
        }
        self.plan.fill(0.0);
        self.supply.copy_from_slice(a);
        self.demand[..l].copy_from_slice(b);
        self.g.fill(0.0);
        self.tighten();
        for source in 0..k {
            while self.supply[source] > 0.0 {
                if !self.augment::<W>(source) {
                    return f64::NAN;
                }
            }
        }
        let mut total = 0.0;
        let rows = self.plan.chunks_exact(stride);
        for (plan, costs) in rows.zip(self.costs.chunks_exact(stride)) {
            let terms = plan[..l].iter().zip(&costs[..l]);
            terms.for_each(|(mass, cost)| total += mass * cost);
        }
        total / UNITS
    }

    /// Moves mass from `source` to the nearest target with demand left, along a shortest path by the
    /// reduced costs `c_kl − f_k − g_l ≥ 0`, on which mass from other sources may be redirected.
    ///
    /// Potentials rise by what a source is nearer than that target, and fall for targets: then reduced
    /// costs are still at least 0, and 0 on the path. False if there is none, as costs overflow.
    #[inline(always)]
    fn augment<const W: usize>(&mut self, source: usize) -> bool {
        let stride = if W > 0 { W } else { self.stride };
        let Some(end) = self.nearest_demand::<W>(source) else {
            return false;
        };
        let distance = self.to_target[end];
        if distance > 0.0 {
            for (f, to_source) in self.f.iter_mut().zip(&self.to_source) {
                *f += (distance - to_source).max(0.0);
            }
            for (g, to_target) in self.g.iter_mut().zip(&self.to_target) {
                *g -= (distance - to_target).max(0.0);
            }
        }

        // backwards: each source on the way gains mass for one target and loses it for the next
        let mut amount = self.supply[source].min(self.demand[end]);
        let mut target = end;
        loop {
            let from = self.source_before[target];
            if from == source {
                break;
            }
            target = self.target_before[from];
            amount = amount.min(self.plan[from * stride + target]);
        }
        let mut target = end;
        loop {
            let from = self.source_before[target];
            self.plan[from * stride + target] += amount;
            if from == source {
                break;
            }
            target = self.target_before[from];
            self.plan[from * stride + target] -= amount;
        }
        self.supply[source] -= amount;
        self.demand[end] -= amount;
        true
    }

    /// Dijkstra's algorithm from `source` to the first target with demand left.
    #[inline(always)]
    fn nearest_demand<const W: usize>(&mut self, source: usize) -> Option<usize> {
        let ([k, _], stride) = (self.sizes, if W > 0 { W } else { self.stride });
        self.to_source.fill(f64::INFINITY);
        self.to_target.fill(f64::INFINITY);
        self.open.fill(f64::INFINITY);
        self.to_source[source] = 0.0;
        self.relax::<W>(source);
        loop {
            // targets that were reached are no farther than any other path
            let (mut nearest, mut least) = (usize::MAX, f64::INFINITY);
            for (target, &length) in self.open[..stride].iter().enumerate() {
                if length < least {
                    (nearest, least) = (target, length);
                }
            }
            if nearest == usize::MAX {
                return None;
            }
            if self.demand[nearest] > 0.0 {
                return Some(nearest);
            }
            self.open[nearest] = f64::INFINITY;
            for from in 0..k {
                if self.plan[from * stride + nearest] > 0.0 && self.to_source[from] == f64::INFINITY
                {
                    self.to_source[from] = least;
                    self.target_before[from] = nearest;
                    self.relax::<W>(from);
                }
            }
        }
    }

    /// Shortens paths to all targets by those through a source.
    #[inline(always)]
    fn relax<const W: usize>(&mut self, from: usize) {
        let stride = if W > 0 { W } else { self.stride };
        let (start, f) = (self.to_source[from], self.f[from]);
        let costs = &self.costs[from * stride..][..stride];
        let (g, to_target) = (&self.g[..stride], &mut self.to_target[..stride]);
        let (open, before) = (&mut self.open[..stride], &mut self.source_before[..stride]);
        for t in 0..stride {
            let length = start + (costs[t] - f - g[t]).max(0.0);
            let shorter = length < to_target[t];
            to_target[t] = if shorter { length } else { to_target[t] };
            open[t] = if shorter { length } else { open[t] };
            before[t] = if shorter { from } else { before[t] };
        }
    }

    /// The largest potentials `f` for `g`, then the largest `g` for `f`: with equality wherever there
    /// was, and for points without weight too.
    #[inline(always)]
    fn tighten(&mut self) {
        let [_, l] = self.sizes;
        let rows = self.costs.chunks_exact(self.stride);
        for (f, costs) in self.f.iter_mut().zip(rows.clone()) {
            let slack = costs[..l].iter().zip(&self.g).map(|(cost, g)| cost - g);
            *f = slack.fold(f64::INFINITY, f64::min);
        }
        self.g[..l].fill(f64::INFINITY);
        for (f, costs) in self.f.iter().zip(rows) {
            for (g, cost) in self.g.iter_mut().zip(&costs[..l]) {
                *g = g.min(cost - f);
            }
        }
    }
}
