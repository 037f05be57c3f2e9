use super::Number;

/// The leading divided differences `p[x_0], p[x_0, x_1], …, p[x_0, …, x_{N−1}]` of the polynomial
/// `p(x) = Σ_k c_k x^k` by Horner's scheme, without a subtraction of nodes: they may coincide, and
/// then `p[x, x] = p'(x)`, `p[x, x, x] = p''(x)/2`.
///
/// With `p(x) = p(x_0) + (x − x_0)·q(x)`, the coefficients of `q` are the partial results of Horner's
/// scheme for `p(x_0)`, and `q[x_1, …] = p[x_0, x_1, …]`.
#[inline(always)]
pub(super) fn divided_differences<X: Number, const N: usize>(
    coefficients: &[f64],
    nodes: [&X; N],
) -> [X; N] {
    let mut differences = nodes.map(
        #[inline(always)]
        |node| node.constant(0.0),
    );
    for &coefficient in coefficients.iter().rev() {
        for i in (1..N).rev() {
            let next = differences[i - 1].clone();
            differences[i] = differences[i].clone().mul_add(nodes[i].clone(), next);
        }
        differences[0] = differences[0].clone() * nodes[0].clone() + coefficient;
    }
    differences
}
