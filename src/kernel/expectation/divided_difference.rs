use burn::tensor::Tensor;

/// The leading divided differences `p[x_0], p[x_0, x_1], …, p[x_0, …, x_{N−1}]` of the polynomial
/// `p(x) = Σ_k c_k x^k` by Horner's scheme, without a subtraction of nodes: they may coincide, and
/// then `p[x, x] = p'(x)`, `p[x, x, x] = p''(x)/2`.
///
/// With `p(x) = p(x_0) + (x − x_0)·q(x)`, the coefficients of `q` are the partial results of Horner's
/// scheme for `p(x_0)`, and `q[x_1, …] = p[x_0, x_1, …]`.
pub(super) fn divided_differences<const D: usize, const N: usize>(
    coefficients: &[f64],
    nodes: [&Tensor<D>; N],
) -> [Tensor<D>; N] {
    let mut differences = nodes.map(Tensor::zeros_like);
    for &coefficient in coefficients.iter().rev() {
        for i in (1..N).rev() {
            differences[i] = differences[i].clone() * nodes[i].clone() + differences[i - 1].clone();
        }
        differences[0] = differences[0].clone() * nodes[0].clone() + coefficient;
    }
    differences
}
