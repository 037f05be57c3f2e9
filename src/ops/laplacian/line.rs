/// Points of a line grouped by position, and the kernel between neighbouring groups.
#[derive(Debug)]
pub(crate) struct Line {
    /// The group of each point, in ascending order of positions: `[n]`.
    group: Vec<usize>,
    /// The kernel between each group and the one below it: `[groups]`, 0 for the first.
    decay: Vec<f64>,
}

/// `Σ_j a_j k_ij` over the points `j` below point `i`, at its position (`i` included), and above.
#[derive(Clone, Copy, Default)]
pub(crate) struct Sums {
    below: f64,
    at: f64,
    above: f64,
}

impl Sums {
    /// `Σ_j a_j k_ij`.
    pub fn total(&self) -> f64 {
        self.below + self.at + self.above
    }

    /// `Σ_j a_j sign(r_i − r_j) k_ij`.
    pub fn signed(&self) -> f64 {
        self.below - self.above
    }
}

impl Line {
    /// None if a position is not finite. One sort.
    pub fn new(positions: &[f64], bandwidth: f64) -> Option<Self> {
        if !positions.iter().all(|r| r.is_finite()) {
            return None;
        }
        let mut sorted: Vec<(f64, usize)> = positions.iter().copied().zip(0..).collect();
        sorted.sort_unstable_by(|(r, _), (s, _)| r.total_cmp(s));
        let mut group = vec![0; positions.len()];
        let mut decay = Vec::with_capacity(positions.len());
        let mut below = f64::NEG_INFINITY;
        for (r, i) in sorted {
            if r > below {
                decay.push((-(r - below) / bandwidth).exp());
                below = r;
            }
            group[i] = decay.len() - 1;
        }
        Some(Self { group, decay })
    }

    /// The sums for each point, by a sweep from below and one from above.
    pub fn sums(&self, weights: &[f64]) -> Vec<Sums> {
        let groups = self.decay.len();
        let mut sums = vec![Sums::default(); groups];
        for (&g, a) in self.group.iter().zip(weights) {
            sums[g].at += a;
        }
        for g in 1..groups {
            sums[g].below = (sums[g - 1].below + sums[g - 1].at) * self.decay[g];
        }
        for g in (1..groups).rev() {
            sums[g - 1].above = (sums[g].above + sums[g].at) * self.decay[g];
        }
        self.group.iter().map(|&g| sums[g]).collect()
    }

    /// `Σ_ij a_i a_j k_ij`, by one sweep.
    pub fn form(&self, weights: &[f64]) -> f64 {
        let mut at = vec![0.0; self.decay.len()];
        for (&g, a) in self.group.iter().zip(weights) {
            at[g] += a;
        }
        let (mut below, mut form) = (0.0, 0.0); // Σ_j a_j k_ij over the groups below
        let mut last = 0.0;
        for (at, decay) in at.into_iter().zip(&self.decay) {
            below = (below + last) * decay;
            form += at * (at + 2.0 * below);
            last = at;
        }
        form
    }
}
