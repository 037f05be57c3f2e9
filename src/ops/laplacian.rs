use burn::tensor::{Tensor, TensorData};

use super::gradient::with_pull_back;
use crate::host::to_vec;

/// The sums `u_i = Σ_j a_j exp(−|r_i − r_j|/ν)` for points `r` of the line with weights `a`,
/// differentiable with respect to both; the slope between points that coincide is 0.
///
/// The points are sorted on the host, to which those of other devices are read back, and since
/// `k_ij = k_il k_lj` for `l` between `i` and `j`, a sweep from below and one from above add up all pairs, in f64
/// whatever the dtype. So does the backward pass. No `n × n` matrix is stored.
///
/// A position that is not finite makes every sum NaN.
///
/// # Shapes
///
/// - positions: `[n]`
/// - weights: `[n]`
/// - output: `[n]`, in the dtype of the positions
///
/// Cost: `O(n log n)` operations; memory `O(n)`.
///
/// # Panics
///
/// If the numbers of positions and weights, their dtypes or devices differ, or if the bandwidth `ν` is
/// not a positive finite number.
pub fn laplacian_sum(positions: Tensor<1>, weights: Tensor<1>, bandwidth: f64) -> Tensor<1> {
    let ([n], [count]) = (positions.dims(), weights.dims());
    assert_eq!(n, count, "{n} positions but {count} weights");
    assert_eq!(weights.dtype(), positions.dtype(), "dtype of the weights");
    assert!(
        bandwidth.is_finite() && bandwidth > 0.0,
        "the kernel bandwidth is {bandwidth}, expected a positive finite number"
    );
    if n == 0 {
        return weights;
    }
    let (device, dtype) = (positions.device(), positions.dtype());
    let a = to_vec(weights.clone().detach());
    let mut r = to_vec(positions.clone().detach());
    let mut one = 1.0; // NaN where a position is not finite
    for r in r.iter_mut().filter(|r| !r.is_finite()) {
        (*r, one) = (0.0, f64::NAN);
    }
    let line = Line::new(&r, bandwidth);
    let of_a = line.sums(&a);
    let sums: Vec<f64> = of_a.iter().map(|u| one * u.total()).collect();
    let sums = Tensor::from_data(TensorData::new(sums, [n]), (&device, dtype));
    // with respect to positions, −(g_i S_i(a) + a_i S_i(g))/ν with S_i(w) = Σ_j w_j sign(r_i − r_j) k_ij, and
    // to weights, Σ_j g_j k_ij
    with_pull_back(sums, [positions, weights], move |upstream| {
        let g: Vec<f64> = upstream.iter().collect();
        let of_g = line.sums(&g);
        let slope = |i: usize| g[i] * of_a[i].signed() + a[i] * of_g[i].signed();
        let to_positions = (0..n).map(|i| -one * slope(i) / bandwidth).collect();
        let to_weights = of_g.iter().map(|u| one * u.total()).collect();
        [to_positions, to_weights]
            .map(|slopes: Vec<f64>| TensorData::new(slopes, [n]).convert_dtype(dtype))
    })
}

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
pub(crate) struct NeighbourSums {
    below: f64,
    at: f64,
    above: f64,
}

impl NeighbourSums {
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
    /// Sorts positions, which are finite.
    pub fn new(positions: &[f64], bandwidth: f64) -> Self {
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
        Self { group, decay }
    }

    /// The sums for each point, by a sweep from below and one from above.
    pub fn sums(&self, weights: &[f64]) -> Vec<NeighbourSums> {
        let groups = self.decay.len();
        let mut sums = vec![NeighbourSums::default(); groups];
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
