//! An increasing function of one variable: the integral of a positive, piecewise linear slope.

use burn::tensor::{Int, Tensor};

/// `w(x) = v₀ + ∫_{x₀}^x h(t) dt` with `h` linear between its values `s_k > 0` at the knots `x_k` and
/// constant beyond them: increasing, since `h` lies between positive numbers, with an inverse in
/// closed form. All of shape `[k]`, of the knots `x_0 … x_{k−1}`.
///
/// Between two knots `w(x) = v_i + s_i d + b_i d²`, `d = x − x_i`, `b_i = (s_{i+1} − s_i)/(2(x_{i+1} − x_i))`:
/// the two-point Clenshaw–Curtis rule in each interval, which is exact for such a slope, where higher
/// rules of a positive network need not give an increasing function.
#[derive(Debug, Clone)]
pub(super) struct Monotone {
    pub knots: Tensor<1>,
    pub values: Tensor<1>,
    pub slopes: Tensor<1>,
}

/// Beyond every logit, and finite in f32.
const NO_CEILING: f64 = 1e30;

/// How many of the points lie at or below each number, `0..=k`: `[n]`.
fn interval(numbers: Tensor<1>, points: Tensor<1>) -> Tensor<1, Int> {
    let ([n], [k]) = (numbers.dims(), points.dims());
    let passed = (numbers.reshape([n, 1])).greater_equal(points.reshape([1, k]));
    passed.int().sum_dim(1).reshape([n])
}

/// The first number once more in front: `[k] → [k + 1]`.
fn with_first(numbers: Tensor<1>) -> Tensor<1> {
    Tensor::cat(vec![numbers.clone().slice(0..1), numbers], 0)
}

impl Monotone {
    /// `b` of each interval, 0 beyond the knots: `[k + 1]`.
    fn bends(&self) -> Tensor<1> {
        let [k] = self.knots.dims();
        let steps = |x: &Tensor<1>| x.clone().slice(1..k) - x.clone().slice(0..k - 1);
        let none = self.slopes.clone().slice(0..1).zeros_like();
        let inner = steps(&self.slopes) / steps(&self.knots) * 0.5;
        Tensor::cat(vec![none.clone(), inner, none], 0)
    }

    /// `w` of each entry: `[n, m]`.
    pub fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let shape = x.dims();
        let numbers: Tensor<1> = x.reshape([shape[0] * shape[1]]);
        let interval = interval(numbers.clone(), self.knots.clone());
        let of = |coefficients: Tensor<1>| coefficients.select(0, interval.clone());
        let d = numbers - of(with_first(self.knots.clone()));
        let slope = of(with_first(self.slopes.clone())) + of(self.bends()) * d.clone();
        let w = of(with_first(self.values.clone())) + d * slope;
        // rounding must not pass the value at the next knot
        let [k] = self.values.dims();
        let open = self.values.clone().slice(k - 1..k).zeros_like() + NO_CEILING;
        let ceiling = of(Tensor::cat(vec![self.values.clone(), open], 0));
        w.min_pair(ceiling).reshape(shape)
    }

    /// `w⁻¹` of each entry: `[n, m]`, the root `d = 2a/(s_i + √(s_i² + 4 b_i a))` of
    /// `w = v_i + a`.
    pub fn inverse(&self, y: Tensor<2>) -> Tensor<2> {
        let shape = y.dims();
        let numbers: Tensor<1> = y.reshape([shape[0] * shape[1]]);
        let interval = interval(numbers.clone(), self.values.clone());
        let of = |coefficients: Tensor<1>| coefficients.select(0, interval.clone());
        let area = numbers - of(with_first(self.values.clone()));
        let slope = of(with_first(self.slopes.clone()));
        let root = slope.clone().square() + of(self.bends()) * area.clone() * 4.0;
        // at the next knot the root is s_{i+1} but for rounding
        let distance = area * 2.0 / (slope + root.clamp_min(0.0).sqrt());
        (of(with_first(self.knots.clone())) + distance).reshape(shape)
    }
}
