//! Features of the Gaussian kernel on the line, exact to rounding.
//!
//! `exp(−(x − y)²/2ℓ²) = c² ∫ φ_t(x) φ_t(y) dt` with `φ_t(x) = exp(−(x − t)²/ℓ²)`, and the trapezoidal
//! rule of step `h` has the relative error `2 exp(−π²ℓ²/2h²)`, whatever `x` and `y` are: below rounding for
//! `h ≈ ℓ/3`. Where only the tails of densities are, which are smooth, steps grow exponentially, unless numbers
//! are so far from 0 that such nodes would be rounded. So a few dozen numbers of each sample stand for all of its
//! draws or components.

use burn::tensor::{DType, Tensor, TensorData};

use super::{RealExpectations, RealKernel, RealProfile};
use crate::{host::to_vec, ops::is_on_host, root::enclose};

/// The largest number of features: the pairs of predictions cost less than more of them.
const MOST: usize = 1024;
/// Up to this number of nodes the grid has no gaps between intervals.
const FEW: f64 = 128.0;
/// The distance from 0, in length scales, from which on nodes have few digits, so that they are not rounded.
const FAR: f64 = 32.0;

impl RealKernel {
    /// [`TargetKernel::residual_features`]. None except for a Gaussian kernel on the line, on the host,
    /// where numbers are finite and do not spread over many more length scales than there are features.
    pub(super) fn on_grid<P: RealExpectations>(
        &self,
        predictions: &P,
        sets: &[Tensor<2>],
    ) -> Option<Vec<Tensor<2>>> {
        let fits = |y: &Tensor<2>| y.dims()[1] == 1 && is_on_host(y);
        if self.profile != RealProfile::Gaussian || sets.is_empty() || !sets.iter().all(fits) {
            return None;
        }
        let intervals = predictions.reach()?;
        let targets = sets.iter().flat_map(|y| to_vec(y.clone().detach()));
        let points = targets.map(|y| [y, y]);
        let options = (&predictions.device(), predictions.dtype());
        let grid = Grid::over(
            intervals.into_iter().chain(points).collect(),
            self.length_scale,
            options.1,
        )?;
        let r = grid.nodes.len();
        let nodes = Tensor::<2>::from_data(TensorData::new(grid.nodes, [r, 1]), options);
        let scales = Tensor::<2>::from_data(TensorData::new(grid.scales, [1, r]), options);
        let narrow = Self::gaussian(self.length_scale * 0.5f64.sqrt());
        let expected = predictions
            .mean_kernel(&narrow, &nodes, 1)
            .squeeze_dim::<2>(0);
        let residuals = |y: &Tensor<2>| {
            let (y, nodes) = (y.clone().unsqueeze(), nodes.clone().unsqueeze());
            let kernel = narrow.between_points(y, nodes).squeeze_dim::<2>(0);
            (kernel - expected.clone()) * scales.clone()
        };
        Some(sets.iter().map(residuals).collect())
    }
}

/// The nodes `t = ψ(u)` of the trapezoidal rule in `u`, and the factors `c √(h ψ'(u))` of `φ_t`.
struct Grid {
    nodes: Vec<f64>,
    scales: Vec<f64>,
}

impl Grid {
    /// For numbers in the middles of intervals, outside which densities are small. None if an end is not
    /// finite, or there are more than [`MOST`] nodes.
    fn over(mut intervals: Vec<[f64; 2]>, length_scale: f64, dtype: DType) -> Option<Self> {
        // rounding to some 10⁻¹⁵, or to 10⁻⁸: of the rule, of what is cut off at the ends, and of the stretch
        let (step, margin, inner, growth) = match dtype {
            DType::F64 => (0.36, 4.4, 5.0, 2.0),
            _ => (0.5, 3.1, 3.1, 1.25),
        };
        let [step, margin, inner, growth] =
            [step, margin, inner, growth].map(|x: f64| x * length_scale);
        let middles = intervals.iter().map(|[low, high]| 0.5 * (low + high));
        let [lowest, highest] = hull(middles.map(|x| [x, x]));
        let (step, stretch) = if lowest.abs().max(highest.abs()) < FAR * length_scale {
            (
                step,
                Some(Stretch::new([lowest - inner, highest + inner], growth)),
            )
        } else {
            // of four binary digits, so that nodes are not rounded
            let unit = (step.log2().floor() - 3.0).exp2();
            ((step / unit).floor() * unit, None)
        };
        let [first, last] = hull(intervals.iter().copied());
        let is_possible = |end: f64| (end / step).abs() < 1e15;
        if !(is_possible(first) && is_possible(last))
            || intervals.iter().flatten().any(|x| x.is_nan())
        {
            return None;
        }
        let nodes_of = |[low, high]: [f64; 2]| {
            let [low, high] = [low - margin, high + margin];
            let place = |t| stretch.as_ref().map_or(t, |stretch| stretch.inverse(t)) / step;
            [place(low).floor(), place(high).ceil()]
        };
        // a few more nodes cost less than to sort the intervals
        let whole = nodes_of([first, last]);
        let parts = if whole[1] - whole[0] < FEW {
            vec![whole]
        } else {
            intervals.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]));
            joined(&intervals, 2.0 * margin)
                .into_iter()
                .map(nodes_of)
                .collect()
        };
        let (mut places, mut next) = (Vec::new(), f64::NEG_INFINITY);
        for [first, last] in parts {
            next = next.max(first);
            if last - next >= (MOST - places.len()) as f64 {
                return None;
            }
            while next <= last {
                places.push(next * step);
                next += 1.0;
            }
        }
        let area = length_scale * (0.5 * std::f64::consts::PI).sqrt(); // ∫ exp(−2t²/ℓ²) dt
        let slope = |u| stretch.as_ref().map_or(1.0, |stretch| stretch.slope(u));
        let node = |u| stretch.as_ref().map_or(u, |stretch| stretch.of(u));
        let scale = |&u: &f64| (step * slope(u) / area).sqrt();
        Some(Self {
            scales: places.iter().map(scale).collect(),
            nodes: places.into_iter().map(node).collect(),
        })
    }
}

/// The smallest interval that contains all of these.
fn hull(intervals: impl Iterator<Item = [f64; 2]>) -> [f64; 2] {
    let wider = |a: [f64; 2], b: [f64; 2]| [a[0].min(b[0]), a[1].max(b[1])];
    intervals.fold([f64::INFINITY, f64::NEG_INFINITY], wider)
}

/// Joins sorted intervals that are at most `gap` apart.
fn joined(intervals: &[[f64; 2]], gap: f64) -> Vec<[f64; 2]> {
    let mut all: Vec<[f64; 2]> = Vec::new();
    for &[low, high] in intervals {
        match all.last_mut() {
            Some(last) if low <= last[1] + gap => last[1] = last[1].max(high),
            _ => all.push([low, high]),
        }
    }
    all
}

/// `ψ(u) = u + w e^{(u − b)/w} − w e^{(a − u)/w}`: nearly `u` between `a` and `b`, and exponential beyond, where
/// densities are smooth. The rule converges as fast as without it, since `ψ` is analytic.
struct Stretch {
    /// `a` and `b`
    inner: [f64; 2],
    /// `w`
    growth: f64,
}

impl Stretch {
    fn new(inner: [f64; 2], growth: f64) -> Self {
        Self { inner, growth }
    }

    fn of(&self, u: f64) -> f64 {
        let [low, high] = self.beyond(u);
        u + self.growth * (high - low)
    }

    /// `ψ'(u)`
    fn slope(&self, u: f64) -> f64 {
        let [low, high] = self.beyond(u);
        1.0 + low + high
    }

    fn beyond(&self, u: f64) -> [f64; 2] {
        let [a, b] = self.inner;
        [a - u, u - b].map(|x| (x / self.growth).exp())
    }

    /// The `u` with `ψ(u) = t`, to a few units in the last place.
    fn inverse(&self, t: f64) -> f64 {
        let [a, b] = self.inner;
        let ends = [t.min(a) - self.growth, t.max(b) + self.growth];
        enclose(ends, 0.0, |u| self.of(u) - t)[1]
    }
}
