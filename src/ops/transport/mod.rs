//! Optimal transport between a few weighted points, exact and differentiable.
//!
//! A linear program for each pair, on the host, by shortest augmenting paths: 2 µs for 2 × 2 points,
//! 6 µs for 5 × 5, 30 µs for 10 × 10, with potentials; a third of that for points that are almost on a line,
//! such as the parameters of normal distributions, by [`distances`]. The simplex method of microlp 0.7 takes
//! 29, 136 and 417 µs, gives no potentials, and changes features of Burn's dependencies.

mod distances;
#[cfg_attr(not(any(feature = "flex", feature = "ndarray")), allow(dead_code))]
mod host;
mod paths;
#[cfg(test)]
mod tests;

use burn::tensor::{Tensor, TensorData};
use rayon::prelude::*;

pub(crate) use self::distances::transport_distances;
use self::paths::{Solver, UNITS, units};
use crate::host::to_vec;

/// The least cost `min_π Σ_kl π_kl c_kl` of transport from weights `a` to weights `b` for each pair of
/// distributions, over all couplings: `π ≥ 0` with `Σ_l π_kl = a_k` and `Σ_k π_kl = b_l`.
///
/// The gradient with respect to the costs is an optimal plan `π`, and with respect to the weights
/// optimal potentials `f` and `g` (the envelope theorem); where these are not unique, the least cost
/// has a kink, and they are a subgradient. Potentials are defined up to a constant, which is of no
/// consequence for weights that sum to 1, such as a softmax: it is chosen so that
/// `Σ_k a_k f_k = Σ_l b_l g_l`, half of the cost. There are no second derivatives.
///
/// The programs are solved on the host in f64, on all threads: weights and costs are read back,
/// unless `K = 1` or `L = 1`, where the only coupling is the product.
///
/// # Shapes
///
/// - weights_p: `[batch, n, K]`, at least 0, each row with sum 1
/// - weights_q: `[batch, m, L]`, the same
/// - costs: `[batch, n, m, K, L]`, finite
/// - output: `[batch, n, m]`, in the dtype of the input; NaN where a weight or cost is
///   not finite or a weight negative
///
/// # Panics
///
/// If the shapes do not agree.
pub(crate) fn transport_cost(
    weights_p: Tensor<3>,
    weights_q: Tensor<3>,
    costs: Tensor<5>,
) -> Tensor<3> {
    let [batch, n, m, k, l] = costs.dims();
    assert_eq!(
        (weights_p.dims(), weights_q.dims()),
        ([batch, n, k], [batch, m, l]),
        "transport_cost: the weights of both distributions must agree with the costs"
    );
    let a: Tensor<5> = weights_p.clone().reshape([batch, n, 1, k, 1]);
    let b: Tensor<5> = weights_q.clone().reshape([batch, 1, m, 1, l]);
    if k == 1 || l == 1 {
        return total(costs * a * b);
    }

    let Solutions { plans, f, g } = solve(
        &to_vec(weights_p.detach()),
        &to_vec(weights_q.detach()),
        &to_vec(costs.clone().detach()),
        Sizes { n, m, k, l },
    );
    let options = (&costs.device(), costs.dtype());
    let tensor =
        |values, shape: [usize; 5]| Tensor::<5>::from_data(TensorData::new(values, shape), options);
    let cost = total(tensor(plans, [batch, n, m, k, l]) * costs);
    // the weights change nothing here but the gradient
    let changes = [
        (a, tensor(f, [batch, n, m, k, 1])),
        (b, tensor(g, [batch, n, m, 1, l])),
    ];
    changes
        .into_iter()
        .filter(|(weights, _)| weights.is_tracked())
        .fold(cost, |cost, (weights, potentials)| {
            cost + total((weights.clone() - weights.detach()) * potentials)
        })
}

/// The sum over the last two dimensions: `[batch, n, m, ·, ·]` to `[batch, n, m]`.
fn total(terms: Tensor<5>) -> Tensor<3> {
    let [batch, n, m, _, _] = terms.dims();
    terms.sum_dim(4).sum_dim(3).reshape([batch, n, m])
}

/// The weights of each distribution in units.
fn all_units(weights: &[f64], each: usize) -> Vec<f64> {
    weights.chunks(each).flat_map(units).collect()
}

/// The numbers of distributions and of their points.
#[derive(Clone, Copy)]
struct Sizes {
    n: usize,
    m: usize,
    k: usize,
    l: usize,
}

/// An optimal plan for each pair, `[batch, n, m, K, L]`, and potentials, `[batch, n, m, K]` and
/// `[batch, n, m, L]`.
struct Solutions {
    plans: Vec<f64>,
    f: Vec<f64>,
    g: Vec<f64>,
}

/// Solves all programs, for weights `[batch, n, K]` and `[batch, m, L]` and costs
/// `[batch, n, m, K, L]`.
fn solve(weights_p: &[f64], weights_q: &[f64], costs: &[f64], sizes: Sizes) -> Solutions {
    let Sizes { n, m, k, l } = sizes;
    let pairs = costs.len() / (k * l);
    let (a, b) = (all_units(weights_p, k), all_units(weights_q, l));
    let mut plans = vec![0.0; costs.len()];
    let (mut f, mut g) = (vec![0.0; pairs * k], vec![0.0; pairs * l]);
    let outputs = plans
        .par_chunks_mut(k * l)
        .zip(f.par_chunks_mut(k))
        .zip(g.par_chunks_mut(l));
    let programs = costs.par_chunks(k * l).zip(outputs).enumerate();
    programs.with_min_len(64).for_each_init(
        || Solver::new(k, l),
        |solver, (pair, (costs, ((plan, f), g)))| {
            let (p, q) = (pair / m, pair / (n * m) * m + pair % m);
            let (a, b) = (&a[p * k..][..k], &b[q * l..][..l]);
            for (from, costs) in costs.chunks_exact(l).enumerate() {
                solver.costs_from(from).copy_from_slice(costs);
            }
            if solver.solve(a, b).is_nan() {
                return plan.fill(f64::NAN);
            }
            let masses = plan.iter_mut().zip(solver.plan());
            masses.for_each(|(plan, mass)| *plan = mass / UNITS);
            let [of_p, of_q] = solver.potentials(a, b);
            f.copy_from_slice(of_p);
            g.copy_from_slice(of_q);
        },
    );
    Solutions { plans, f, g }
}
