//! Descent of a differentiable criterion to a minimum, on the host in f64: L-BFGS with a line search for
//! the weak Wolfe conditions, in a metric that may be the Hessian.
//!
//! J. Nocedal, S. Wright: *Numerical Optimization*, 2006, algorithms 7.4 and 7.5. A. Lewis, M. Overton:
//! *Nonsmooth optimization via quasi-Newton methods*, 2013, section 2.2. W. Hager, H. Zhang: *A new
//! conjugate gradient method with guaranteed descent*, 2005, section 4: near a minimum, where values
//! differ by rounding alone, slopes decide.

use std::collections::VecDeque;

use burn::tensor::{Device, Tensor, TensorData};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use super::{FitReport, FitStatus};
use crate::{
    host::{finest, to_scalar, to_vec},
    logistic::cholesky,
};

/// When a descent ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// The largest derivative in absolute value at which it has converged.
    pub tolerance: f64,
    /// The most iterations, of one or two evaluations each.
    pub iterations: usize,
    /// The least decrease of the value in ten iterations: 0, unless a point near the minimum will do.
    pub progress: f64,
}

impl Limits {
    pub fn new(tolerance: f64, iterations: usize) -> Self {
        Self {
            tolerance,
            iterations,
            progress: 0.0,
        }
    }
}

/// The first approximation of the Hessian, which steps refine.
#[derive(Debug)]
pub(super) enum Metric {
    /// A multiple of 1 that the last step tells.
    Identity,
    /// A multiple, which the last step tells, of positive numbers.
    Diagonal(DVector<f64>),
    /// The factors of the blocks on the diagonal, of parameters one after the other; one block is the Hessian.
    Blocks(Vec<Cholesky<f64, Dyn>>),
}

impl Metric {
    /// Factors positive semi-definite blocks, after a ridge of rounding size is added.
    pub fn blocks(blocks: impl IntoIterator<Item = DMatrix<f64>>) -> Self {
        let factored: Option<Vec<_>> = blocks.into_iter().map(cholesky).collect();
        factored.map_or(Self::Identity, Self::Blocks)
    }

    fn is_hessian(&self) -> bool {
        matches!(self, Self::Blocks(blocks) if blocks.len() == 1)
    }

    fn solve(&self, vector: &mut DVector<f64>) {
        match self {
            Self::Identity => {}
            Self::Diagonal(numbers) => vector.component_div_assign(numbers),
            Self::Blocks(blocks) => {
                let mut first = 0;
                for factors in blocks {
                    let size = factors.l_dirty().nrows();
                    factors.solve_mut(&mut vector.rows_mut(first, size));
                    first += size;
                }
            }
        }
    }
}

/// A value and its gradient.
pub(super) type Evaluated = (f64, Vec<f64>);

/// A function to descend.
pub(super) trait Descent {
    /// Returns the value and the gradient.
    fn at(&mut self, theta: &[f64]) -> Evaluated;

    /// Returns the metric at a point that was evaluated.
    fn metric(&mut self, _theta: &[f64]) -> Metric {
        Metric::Identity
    }
}

impl<F: FnMut(&[f64]) -> Evaluated> Descent for F {
    fn at(&mut self, theta: &[f64]) -> Evaluated {
        self(theta)
    }
}

/// A criterion of a tensor on a device, `[p] → [1]`, by autodiff.
pub(super) fn tensor_criterion(
    criterion: impl Fn(&Tensor<1>) -> Tensor<1>,
    device: &Device,
) -> impl Fn(&[f64]) -> Evaluated {
    let (dtype, device) = (finest(device), device.clone().autodiff());
    move |theta| {
        let data = TensorData::new(theta.to_vec(), [theta.len()]);
        let theta = Tensor::<1>::from_data(data, (&device, dtype)).require_grad();
        // a gradient for parameters that do not matter
        let loss = criterion(&theta) + theta.clone().sum() * 0.0;
        let value = to_scalar(loss.clone());
        let gradient = theta.grad(&loss.backward()).map(to_vec);
        (value, gradient.unwrap_or_default())
    }
}

/// Pairs of steps and changes that are remembered: fewer of many parameters, for the memory that they take.
fn history(parameters: usize) -> usize {
    ((1 << 21) / parameters.max(1)).clamp(6, 20)
}

/// Iterations in one Hessian.
const REFRESH: usize = 4;
/// The least share of the slope by which a step lowers the value, and the largest share of the slope that is left.
const WOLFE: [f64; 2] = [1e-4, 0.9];
/// Relative difference up to which values count as equal.
const ROUNDING: f64 = 1e-14;
/// The most evaluations along one direction.
const TRIALS: usize = 40;

/// A point that was evaluated.
struct Iterate {
    theta: DVector<f64>,
    value: f64,
    gradient: DVector<f64>,
}

/// A step `s` and the change of the gradient `y` along it.
struct CurvaturePair {
    s: DVector<f64>,
    y: DVector<f64>,
    product: f64,
}

/// Descends from a start; calls back after each evaluation with their number and the value.
pub(super) fn minimise(
    mut descent: impl Descent,
    start: &[f64],
    limits: Limits,
    observe: &mut dyn FnMut(usize, f64),
) -> (Vec<f64>, FitReport) {
    descend(&mut descent, start, limits, observe) // which is compiled once
}

fn descend(
    descent: &mut dyn Descent,
    start: &[f64],
    limits: Limits,
    observe: &mut dyn FnMut(usize, f64),
) -> (Vec<f64>, FitReport) {
    let mut evaluations = 0;
    let mut evaluate = |descent: &mut dyn Descent, theta: DVector<f64>| {
        let (value, gradient) = descent.at(theta.as_slice());
        evaluations += 1;
        observe(evaluations, value);
        Iterate {
            theta,
            value,
            gradient: gradient.into(),
        }
    };
    let mut here = evaluate(descent, DVector::from_column_slice(start));
    let mut metric = Metric::Identity;
    let mut pairs: VecDeque<CurvaturePair> = VecDeque::new();
    let mut age = 0;
    let (mut iterations, mut before) = (0, f64::INFINITY);
    let status = loop {
        if !here.value.is_finite() {
            break FitStatus::Stalled;
        }
        if here.gradient.amax() <= limits.tolerance {
            break FitStatus::Converged;
        }
        if iterations >= limits.iterations {
            break FitStatus::IterationLimit;
        }
        if iterations % 10 == 0 {
            if before - here.value < limits.progress {
                break FitStatus::Stalled;
            }
            before = here.value;
        }
        iterations += 1;
        if age == 0 || age == REFRESH && metric.is_hessian() {
            (metric, age) = (descent.metric(here.theta.as_slice()), 0);
            pairs.clear();
        }
        let direction = direction(&here.gradient, &pairs, &metric);
        // blocks know the length of a step, about
        let free = pairs.is_empty() && !matches!(metric, Metric::Blocks(_));
        let first = if free {
            f64::min(1.0, direction.lp_norm(1).recip())
        } else {
            1.0
        };
        let next = search(&here, &direction, first, &mut |theta| {
            evaluate(descent, theta)
        });
        age += 1;
        match next {
            Some(next) => {
                let s = &next.theta - &here.theta;
                let y = &next.gradient - &here.gradient;
                let product = s.dot(&y);
                if product > 0.0 {
                    pairs.push_back(CurvaturePair { s, y, product });
                }
                if pairs.len() > history(start.len()) {
                    pairs.pop_front();
                }
                here = next;
            }
            // without the memory of its steps, and in a metric of this place, it may go on
            None if age > 1 => age = 0,
            None => break FitStatus::Stalled,
        }
    };
    let gradient = Some(here.gradient.amax());
    let report = FitReport::new(status, here.value, gradient, evaluations);
    (here.theta.data.into(), report)
}

/// `−H⁻¹g` with the `H` of the metric and of the pairs, by the recursion of two loops.
fn direction(
    gradient: &DVector<f64>,
    pairs: &VecDeque<CurvaturePair>,
    metric: &Metric,
) -> DVector<f64> {
    let mut d = -gradient;
    let mut alphas = Vec::with_capacity(pairs.len());
    for pair in pairs.iter().rev() {
        let alpha = pair.s.dot(&d) / pair.product;
        d.axpy(-alpha, &pair.y, 1.0);
        alphas.push(alpha);
    }
    metric.solve(&mut d);
    if let (Some(last), false) = (pairs.back(), metric.is_hessian()) {
        let mut scaled = last.y.clone();
        metric.solve(&mut scaled);
        d *= last.product / last.y.dot(&scaled);
    }
    for (pair, alpha) in pairs.iter().zip(alphas.into_iter().rev()) {
        let beta = pair.y.dot(&d) / pair.product;
        d.axpy(alpha - beta, &pair.s, 1.0);
    }
    d
}

/// A point along a direction that is lower and where the slope is flatter; none if there is none of which
/// rounding lets one say so.
fn search(
    here: &Iterate,
    direction: &DVector<f64>,
    first: f64,
    evaluate: &mut dyn FnMut(DVector<f64>) -> Iterate,
) -> Option<Iterate> {
    let slope = here.gradient.dot(direction);
    if slope.is_nan() || slope >= 0.0 {
        return None;
    }
    let (mut low, mut high, mut step) = ((0.0, here.value, slope), f64::INFINITY, first);
    for _ in 0..TRIALS {
        let theta = &here.theta + direction * step;
        if theta == here.theta {
            return None;
        }
        let there = evaluate(theta);
        let end = there.gradient.dot(direction);
        let lower = there.value <= here.value + WOLFE[0] * step * slope;
        let level = there.value <= here.value + ROUNDING * here.value.abs()
            && end <= (2.0 * WOLFE[0] - 1.0) * slope;
        if !(there.value.is_finite() && end.is_finite() && (lower || level)) {
            high = step;
            let (start, value, slope) = low;
            let width = high - start;
            // the least point of the parabola through both, well inside
            let rise = there.value - value - slope * width;
            let inside = -0.5 * slope * width / rise;
            let inside = Some(inside).filter(|fraction| fraction.is_finite());
            step = start + width * inside.unwrap_or(0.0).clamp(0.1, 0.9);
        } else if end < WOLFE[1] * slope {
            low = (step, there.value, end);
            step = if high.is_finite() {
                0.5 * (step + high)
            } else {
                4.0 * step
            };
        } else {
            return Some(there);
        }
    }
    None
}
