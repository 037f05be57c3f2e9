//! An increasing function of one variable: the integral of a positive, piecewise linear slope.

use burn::tensor::{Int, Tensor};

/// `w(x) = v₀ + ∫_{x₀}^x h(t) dt` with `h` linear between its values `s_k > 0` at the knots `x_k` and
/// constant beyond them: increasing, since `h` lies between positive numbers, with an inverse in
/// closed form. All of shape `[k]`.
///
/// Between two knots `w(x) = v_k + s_k d + (s_{k+1} − s_k) d²/(2Δ_k)`, `d = x − x_k`: the two-point
/// Clenshaw–Curtis rule in each interval, which is exact for such a slope, where higher rules of a
/// positive network need not give an increasing function.
#[derive(Debug, Clone)]
pub(super) struct Monotone {
    pub knots: Tensor<1>,
    pub values: Tensor<1>,
    pub slopes: Tensor<1>,
}

impl Monotone {
    /// From slopes at knots, `[k]`, with a value at the first knot, `[1]`.
    pub fn integrate(knots: Tensor<1>, slopes: Tensor<1>, first: Tensor<1>) -> Self {
        let [k] = knots.dims();
        let pairs = |x: &Tensor<1>| (x.clone().slice([0..k - 1]), x.clone().slice([1..k]));
        let ((left, right), (below, above)) = (pairs(&knots), pairs(&slopes));
        let areas = (right - left) * (below + above) * 0.5;
        let values = Tensor::cat(vec![first.clone(), areas.cumsum(0) + first], 0);
        Self {
            knots,
            values,
            slopes,
        }
    }

    /// The interval of each number of a flat tensor among points `[k]`, `0..k − 1`; the first and the
    /// last reach on without end: `[n]`.
    pub fn intervals(numbers: Tensor<1>, points: Tensor<1>) -> Tensor<1, Int> {
        let ([n], [k]) = (numbers.dims(), points.dims());
        let inner = points.slice([1..k - 1]).reshape([1, k - 2]);
        let passed = numbers.reshape([n, 1]).greater_equal(inner);
        passed.int().sum_dim(1).reshape([n])
    }

    /// The two ends of each interval: `[n]` twice.
    fn ends(points: &Tensor<1>, interval: &Tensor<1, Int>) -> (Tensor<1>, Tensor<1>) {
        let at = |interval: Tensor<1, Int>| points.clone().select(0, interval);
        (at(interval.clone()), at(interval.clone() + 1))
    }

    /// `w` of numbers in the given intervals of the knots: `[n]`.
    pub fn at(&self, numbers: Tensor<1>, interval: &Tensor<1, Int>) -> Tensor<1> {
        let (left, right) = Self::ends(&self.knots, interval);
        let (below, above) = Self::ends(&self.slopes, interval);
        let (value, ceiling) = Self::ends(&self.values, interval);
        let inside = numbers
            .clone()
            .max_pair(left.clone())
            .min_pair(right.clone());
        let beyond = numbers.clone() - inside.clone();
        let d = inside - left.clone();
        let bend = (above.clone() - below.clone()) / (right - left) * 0.5;
        let area = d.clone() * (below.clone() + bend * d);
        // rounding must not pass the next knot
        let within = (value + area).min_pair(ceiling);
        let last = beyond.clone().greater_elem(0.0);
        within + beyond * below.mask_where(last, above)
    }

    /// `w` of each entry: `[n, m]`.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let shape = x.dims();
        let numbers: Tensor<1> = x.reshape([shape[0] * shape[1]]);
        let interval = Self::intervals(numbers.clone(), self.knots.clone());
        self.at(numbers, &interval).reshape(shape)
    }

    /// `w⁻¹` of each entry: `[n, m]`, the root `d = 2a/(s_k + √(s_k² + 2a(s_{k+1} − s_k)/Δ_k))` of
    /// `w = v_k + a`.
    pub fn inverse(&self, y: Tensor<2>) -> Tensor<2> {
        let shape = y.dims();
        let numbers: Tensor<1> = y.reshape([shape[0] * shape[1]]);
        let interval = Self::intervals(numbers.clone(), self.values.clone());
        let (left, right) = Self::ends(&self.knots, &interval);
        let (below, above) = Self::ends(&self.slopes, &interval);
        let (floor, ceiling) = Self::ends(&self.values, &interval);
        let inside = numbers.clone().max_pair(floor.clone()).min_pair(ceiling);
        let beyond = numbers - inside.clone();
        let area = inside - floor;
        let bend = (above.clone() - below.clone()) / (right - left.clone());
        let root = (below.clone().square() + bend * area.clone() * 2.0)
            .clamp_min(0.0)
            .sqrt();
        let last = beyond.clone().greater_elem(0.0);
        let x = left + area * 2.0 / (below.clone() + root) + beyond / below.mask_where(last, above);
        x.reshape(shape)
    }
}
