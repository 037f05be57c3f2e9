//! Descent of a differentiable criterion to a minimum, by Burn's L-BFGS with a strong Wolfe line
//! search.

use burn::{
    module::{Module, Param},
    optim::{GradientsParams, LBFGSConfig, LineSearchFn},
    tensor::{Device, Tensor, TensorData},
};

use super::{FitReport, FitStatus};
use crate::host::{finest, to_scalar, to_vec};

/// When a descent ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// The largest derivative in absolute value at which it has converged.
    pub tolerance: f64,
    /// The most iterations, of one or two evaluations each.
    pub iterations: usize,
}

impl Limits {
    pub fn new(tolerance: f64, iterations: usize) -> Self {
        Self {
            tolerance,
            iterations,
        }
    }
}

/// Burn's L-BFGS forgets steps `s` and changes of gradient `y` with `sᵀy ≤ 10⁻¹⁰`: times this number
/// those near the minimum of a mean are still remembered.
const SCALE: f64 = 1e4;
/// What stands for a criterion that is not finite: the line search steps back from it.
const WALL: f64 = 1e60;
/// Pairs of steps and changes that are remembered.
const HISTORY: usize = 20;

/// The parameters of a descent.
#[derive(Module, Debug)]
struct Point {
    theta: Param<Tensor<1>>,
}

/// Descends from a start; calls back after each evaluation with their number and the value.
pub(super) fn minimise(
    criterion: impl Fn(&Tensor<1>) -> Tensor<1>,
    start: &[f64],
    device: &Device,
    limits: Limits,
    observe: &mut dyn FnMut(usize, f64),
) -> (Vec<f64>, FitReport) {
    let (dtype, device) = (finest(device), device.clone().autodiff());
    let theta = TensorData::new(start.to_vec(), [start.len()]);
    let mut point = Point {
        theta: Param::from_tensor(Tensor::from_data(theta, (&device, dtype)).require_grad()),
    };
    let mut evaluations = 0;
    let mut evaluate = |point: &Point| {
        let theta = point.theta.val();
        let nothing = theta.clone().sum() * 0.0; // a gradient for parameters that do not matter
        let mut loss = criterion(&theta) * SCALE + nothing.clone();
        let mut value = to_scalar(loss.clone());
        if !value.is_finite() {
            (loss, value) = (nothing, WALL);
        }
        evaluations += 1;
        observe(evaluations, value / SCALE);
        (value, GradientsParams::from_grads(loss.backward(), point))
    };
    let mut report: Option<FitReport> = None;
    loop {
        let mut descent = LBFGSConfig::new()
            .with_max_iter(limits.iterations)
            .with_max_eval(Some(2 * limits.iterations + 1))
            .with_history_size(HISTORY)
            .with_tolerance_grad(limits.tolerance * SCALE)
            .with_tolerance_change(1e-13)
            .with_line_search_fn(LineSearchFn::StrongWolfe)
            .init();
        let mut spent = 0;
        (point, _) = descent.step(1.0, point, |point| {
            spent += 1;
            evaluate(&point)
        });
        let (value, gradients) = evaluate(&point);
        let gradient = gradients.get::<1>(point.theta.id).map(to_vec);
        let largest = |largest: f64, g: f64| largest.max(g.abs());
        let gradient = gradient.unwrap_or_default().into_iter().fold(0.0, largest) / SCALE;
        let objective = value / SCALE;
        // one that stalled goes on without the memory of its steps, for as long as that helps
        let stalled = report.is_some_and(|last| objective >= last.objective);
        let status = match gradient <= limits.tolerance {
            true => Some(FitStatus::Converged),
            false if spent >= limits.iterations => Some(FitStatus::IterationLimit),
            false => stalled.then_some(FitStatus::Stalled),
        };
        let ended = status.unwrap_or(FitStatus::Stalled);
        let so_far = FitReport::new(ended, objective, Some(gradient), 0);
        if status.is_some() {
            let theta = to_vec(point.theta.val().inner());
            return (
                theta,
                FitReport {
                    evaluations,
                    ..so_far
                },
            );
        }
        report = Some(so_far);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        tolerance: 1e-8,
        iterations: 400,
    };

    fn descend(
        criterion: impl Fn(&Tensor<1>) -> Tensor<1>,
        start: &[f64],
    ) -> (Vec<f64>, FitReport) {
        minimise(criterion, start, &Device::flex(), LIMITS, &mut |_, _| {})
    }

    #[test]
    fn a_curved_valley() {
        let rosenbrock = |theta: &Tensor<1>| {
            let [x, y] = [0, 1].map(|k| theta.clone().slice(k..k + 1));
            (y - x.clone() * x.clone()).square() * 100.0 + (x - 1.0).square()
        };
        let (theta, report) = descend(rosenbrock, &[-1.2, 1.0]);
        assert_eq!(report.status, FitStatus::Converged);
        assert!(theta.iter().all(|x| (x - 1.0).abs() < 1e-7), "{theta:?}");
    }

    #[test]
    fn beside_a_wall() {
        // x − log x: not a number below 0
        let wall = |theta: &Tensor<1>| theta.clone() - theta.clone().log();
        let (theta, report) = descend(wall, &[3.0]);
        assert_eq!(report.status, FitStatus::Converged);
        assert!((theta[0] - 1.0).abs() < 1e-7, "{theta:?}");
    }

    #[test]
    fn nothing_to_descend() {
        let constant = |theta: &Tensor<1>| theta.clone().zeros_like().sum() + 2.0;
        let (theta, report) = descend(constant, &[3.0, 4.0]);
        assert_eq!(
            (theta, report.status),
            (vec![3.0, 4.0], FitStatus::Converged)
        );
        assert_eq!(report.objective, 2.0);
    }
}
