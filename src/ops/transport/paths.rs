//! One transport problem, by shortest augmenting paths (the Hungarian method for masses): Ahuja,
//! Magnanti and Orlin, *Network Flows* (1993), section 9.7.

/// Weights are counted in units of `2^{−52}`: sums of whole numbers up to `2^52` are exact, so that
/// masses are used up exactly and every path carries at least one unit.
const UNITS: f64 = (1u64 << 52) as f64;

/// An optimal plan `[K, L]` for weights `a` (`K`) and `b` (`L`) and costs `[K, L]`, with optimal
/// potentials `f` (`K`) and `g` (`L`): `f_k + g_l ≤ c_kl`, with equality where `π_kl > 0`, and
/// `Σ_k a_k f_k = Σ_l b_l g_l`.
///
/// The weights are divided by their sums. The plan is NaN if a weight is negative, a weight or cost
/// not finite, or all weights 0.
pub(super) fn solve([a, b]: [&[f64]; 2], costs: &[f64], plan: &mut [f64], [f, g]: [&mut [f64]; 2]) {
    let (Some(a), Some(b)) = (units(a), units(b)) else {
        return plan.fill(f64::NAN);
    };
    if !costs.iter().all(|cost| cost.is_finite()) {
        return plan.fill(f64::NAN);
    }
    let mut problem = Problem {
        costs,
        paths: Paths::new(a.len(), b.len()),
        supply: a.clone(),
        demand: b.clone(),
        plan,
        f,
        g,
    };
    problem.tighten();
    for k in 0..a.len() {
        while problem.supply[k] > 0.0 {
            problem.augment(k);
        }
    }
    problem.tighten();
    problem.balance(&a, &b);
    plan.iter_mut().for_each(|mass| *mass /= UNITS);
}

/// The weights over their sum as whole numbers of units with sum `2^52`; none if they are not weights.
fn units(weights: &[f64]) -> Option<Vec<f64>> {
    let total: f64 = weights.iter().sum();
    if !(total > 0.0 && total.is_finite() && weights.iter().all(|&weight| weight >= 0.0)) {
        return None;
    }
    let mut units: Vec<f64> = weights
        .iter()
        .map(|weight| (weight / total * UNITS).round())
        .collect();
    let rest = UNITS - units.iter().sum::<f64>();
    let largest = units.iter_mut().max_by(|x, y| x.total_cmp(y))?;
    *largest += rest;
    Some(units)
}

/// A plan that has not moved all mass yet, and potentials for which it is optimal.
struct Problem<'a> {
    costs: &'a [f64],    // [K, L]
    supply: Vec<f64>,    // [K], what is left
    demand: Vec<f64>,    // [L], what is left
    plan: &'a mut [f64], // [K, L]
    f: &'a mut [f64],    // [K]
    g: &'a mut [f64],    // [L]
    paths: Paths,
}

/// The shortest paths from one source to a target, and to all that are nearer.
struct Paths {
    to_source: Vec<f64>,       // [K], infinite for those not reached
    to_target: Vec<f64>,       // [L], bounds for those not reached
    source_before: Vec<usize>, // [L]
    target_before: Vec<usize>, // [K], from which mass is redirected
    reached: Vec<bool>,        // [L]
    latest: Vec<usize>,        // sources reached last
}

impl Paths {
    fn new(k: usize, l: usize) -> Self {
        Self {
            to_source: vec![0.0; k],
            to_target: vec![0.0; l],
            source_before: vec![0; l],
            target_before: vec![0; k],
            reached: vec![false; l],
            latest: Vec::with_capacity(k),
        }
    }

    fn start(&mut self, source: usize) {
        self.to_source.fill(f64::INFINITY);
        self.to_target.fill(f64::INFINITY);
        self.reached.fill(false);
        self.to_source[source] = 0.0;
        self.latest.push(source);
    }
}

impl Problem<'_> {
    /// Moves mass from `source` to the nearest target with demand left, along a shortest path by the
    /// reduced costs `c_kl − f_k − g_l ≥ 0`, on which mass from other sources may be redirected.
    ///
    /// Potentials rise by what a source is nearer than that target, and fall for targets: then reduced
    /// costs are still at least 0, and 0 on the path.
    fn augment(&mut self, source: usize) {
        let end = self.nearest_demand(source);
        let distance = self.paths.to_target[end];
        for (f, to_source) in self.f.iter_mut().zip(&self.paths.to_source) {
            *f += (distance - to_source).max(0.0);
        }
        for (g, to_target) in self.g.iter_mut().zip(&self.paths.to_target) {
            *g -= (distance - to_target).max(0.0);
        }

        // backwards: each source on the way gains mass for one target and loses it for the next
        let Self { paths, plan, .. } = self;
        let l = self.demand.len();
        let gain = |target: &usize| paths.source_before[*target] * l + target;
        let loss = |target: &usize| {
            let from = paths.source_before[*target];
            (from != source).then(|| from * l + paths.target_before[from])
        };
        let targets = || std::iter::successors(Some(end), |target| Some(loss(target)? % l));
        let available = self.supply[source].min(self.demand[end]);
        let amount = targets()
            .filter_map(|target| loss(&target))
            .fold(available, |amount, edge| amount.min(plan[edge]));
        for target in targets() {
            plan[gain(&target)] += amount;
            if let Some(edge) = loss(&target) {
                plan[edge] -= amount;
            }
        }
        self.supply[source] -= amount;
        self.demand[end] -= amount;
    }

    /// Dijkstra's algorithm from `source` to the first target with demand left.
    fn nearest_demand(&mut self, source: usize) -> usize {
        let (k, l) = (self.supply.len(), self.demand.len());
        let paths = &mut self.paths;
        paths.start(source);
        loop {
            for from in paths.latest.drain(..) {
                for target in (0..l).filter(|&target| !paths.reached[target]) {
                    let reduced = self.costs[from * l + target] - self.f[from] - self.g[target];
                    let length = paths.to_source[from] + reduced.max(0.0);
                    if length < paths.to_target[target] {
                        paths.to_target[target] = length;
                        paths.source_before[target] = from;
                    }
                }
            }
            let nearest = (0..l)
                .filter(|&target| !paths.reached[target])
                .min_by(|&i, &j| paths.to_target[i].total_cmp(&paths.to_target[j]))
                .expect("demand is left, as much as supply");
            if self.demand[nearest] > 0.0 {
                return nearest;
            }
            paths.reached[nearest] = true;
            for from in 0..k {
                if self.plan[from * l + nearest] > 0.0 && paths.to_source[from].is_infinite() {
                    paths.to_source[from] = paths.to_target[nearest];
                    paths.target_before[from] = nearest;
                    paths.latest.push(from);
                }
            }
        }
    }

    /// The largest potentials `f` for `g`, then the largest `g` for `f`: with equality wherever there
    /// was, and for points without weight too.
    fn tighten(&mut self) {
        let (k, l) = (self.supply.len(), self.demand.len());
        for from in 0..k {
            let slack = (0..l).map(|to| self.costs[from * l + to] - self.g[to]);
            self.f[from] = slack.fold(f64::INFINITY, f64::min);
        }
        for to in 0..l {
            let slack = (0..k).map(|from| self.costs[from * l + to] - self.f[from]);
            self.g[to] = slack.fold(f64::INFINITY, f64::min);
        }
    }

    /// Potentials with `Σ_k a_k f_k = Σ_l b_l g_l`.
    fn balance(&mut self, a: &[f64], b: &[f64]) {
        let mean = |weights: &[f64], potentials: &[f64]| -> f64 {
            let terms = weights.iter().zip(potentials);
            terms
                .map(|(weight, potential)| weight / UNITS * potential)
                .sum()
        };
        let shift = (mean(b, self.g) - mean(a, self.f)) / 2.0;
        self.f.iter_mut().for_each(|f| *f += shift);
        self.g.iter_mut().for_each(|g| *g -= shift);
    }
}
