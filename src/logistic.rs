//! Logistic regression on few features: maximum likelihood by Newton's method, on the host in f64.

use nalgebra::{Cholesky, DefaultAllocator, Dim, OMatrix, SMatrix, SVector, allocator::Allocator};

use crate::parallel;

/// A sample, or several samples with the same features.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample<const P: usize> {
    pub features: SVector<f64, P>,
    pub weight: f64,
    /// The probability to fit, from 0 to 1: whether the event occurred, or the mean of that.
    pub target: f64,
}

/// The weighted log-likelihood of the log-odds `θ·x`, with its gradient and the Fisher information.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Likelihood<const P: usize> {
    pub value: f64,
    pub gradient: SVector<f64, P>,
    pub information: SMatrix<f64, P, P>,
}

/// The result of a maximisation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Maximum<const P: usize> {
    pub parameters: SVector<f64, P>,
    pub likelihood: Likelihood<P>,
    /// The number of evaluations of the likelihood.
    pub evaluations: usize,
}

/// The squared length of a step, in standard errors, that is none.
const CONVERGED: f64 = 1e-20;
/// The part of a likelihood that is lost to rounding, at most about.
const ROUNDING: f64 = 1e-13;
/// The part of the slope by which a step raises the likelihood, at least.
const ARMIJO: f64 = 1e-4;
/// Halvings of a step, at most.
const HALVINGS: usize = 200;
/// Samples of a sum of its own: the parts are the same, in the same order, whatever the number of threads.
const PART: usize = 1024;

impl<const P: usize> Likelihood<P> {
    /// Sums over all samples.
    pub fn at(samples: &[Sample<P>], parameters: &SVector<f64, P>) -> Self {
        let of_part = |samples: &[Sample<P>]| {
            let mut sum = Self::none();
            samples
                .iter()
                .for_each(|sample| sum.add(sample, parameters));
            sum
        };
        let parts: Vec<&[Sample<P>]> = samples.chunks(PART).collect();
        let parts: Vec<Self> = parallel::map(parts.len(), &|k| of_part(parts[k]));
        parts.into_iter().fold(Self::none(), |sum, part| Self {
            value: sum.value + part.value,
            gradient: sum.gradient + part.gradient,
            information: sum.information + part.information,
        })
    }

    fn none() -> Self {
        Self {
            value: 0.0,
            gradient: SVector::zeros(),
            information: SMatrix::zeros(),
        }
    }

    fn add(&mut self, sample: &Sample<P>, parameters: &SVector<f64, P>) {
        let Sample {
            features: x,
            weight,
            target,
        } = sample;
        let log_odds = parameters.dot(x);
        let small = (-log_odds.abs()).exp();
        // p and 1 − p apart, so that neither is lost beside 1
        let (likely, less_likely) = (1.0 / (1.0 + small), small / (1.0 + small));
        let [p, rest] = if log_odds < 0.0 {
            [less_likely, likely]
        } else {
            [likely, less_likely]
        };
        self.value += weight * (target * log_odds - log_odds.max(0.0) - small.ln_1p());
        self.gradient += x * (weight * (target * rest - (1.0 - target) * p));
        self.information += x * x.transpose() * (weight * p * rest);
    }

    /// The step of Newton's method in the parameters that are free.
    fn step(&self, free: [bool; P]) -> Option<SVector<f64, P>> {
        let (mut gradient, mut information) = (self.gradient, self.information);
        let largest = information.diagonal().amax();
        for k in (0..P).filter(|&k| !free[k]) {
            gradient[k] = 0.0;
            information.row_mut(k).fill(0.0);
            information.column_mut(k).fill(0.0);
            information[(k, k)] = largest;
        }
        Some(cholesky(information)?.solve(&gradient))
    }
}

/// The covariance of the parameters of greatest likelihood whatever the model and the weights, with the inverse
/// information `I⁻¹`: the sandwich `I⁻¹ Σ g gᵀ/(1 − h)² I⁻¹` of the gradient `g` and the leverage `h` of each sample,
/// about that of the jackknife (MacKinnon and White 1985, HC3).
pub(crate) fn robust_covariance<const P: usize>(
    samples: &[Sample<P>],
    parameters: &SVector<f64, P>,
    inverse: &SMatrix<f64, P, P>,
) -> SMatrix<f64, P, P> {
    let of_sample = |sample: &Sample<P>| {
        let mut own = Likelihood::none();
        own.add(sample, parameters);
        let leverage = (own.information * inverse).trace();
        let step = inverse * own.gradient / (1.0 - leverage);
        step * step.transpose()
    };
    samples.iter().map(of_sample).sum()
}

/// Maximises the likelihood in the parameters that are free, by steps that are halved until it rises. It is
/// concave; parameters that the samples do not determine stay near their start.
pub(crate) fn maximise<const P: usize>(
    samples: &[Sample<P>],
    start: SVector<f64, P>,
    free: [bool; P],
    steps: usize,
) -> Maximum<P> {
    let mut evaluations = 0;
    let mut at = |parameters: SVector<f64, P>| {
        evaluations += 1;
        (parameters, Likelihood::at(samples, &parameters))
    };
    let mut here = at(start);
    for _ in 0..steps {
        let (from, likelihood) = here;
        let step = likelihood.step(free).unwrap_or_else(SVector::zeros);
        let length = step.dot(&likelihood.gradient);
        let rounding = ROUNDING * likelihood.value.abs();
        if !length.is_finite() || length <= CONVERGED {
            break;
        }
        if length <= rounding {
            // too short for the likelihood to tell: as long as it is, the last
            here = at(from + step);
            break;
        }
        let mut parts = (0..HALVINGS).map(|halvings| 0.5f64.powi(halvings as i32));
        let higher = parts.find_map(|part| {
            let next = at(from + step * part);
            let least = likelihood.value + ARMIJO * part * length - rounding;
            (next.1.value >= least).then_some(next)
        });
        let Some(next) = higher else { break };
        here = next;
    }
    let (parameters, likelihood) = here;
    Maximum {
        parameters,
        likelihood,
        evaluations,
    }
}

/// Factors a positive semi-definite matrix, after a ridge of rounding size is added.
pub(crate) fn cholesky<D: Dim>(mut matrix: OMatrix<f64, D, D>) -> Option<Cholesky<f64, D>>
where
    DefaultAllocator: Allocator<D, D> + Allocator<D>,
{
    let mut ridge = 1e-13 * matrix.diagonal().amax();
    for _ in 0..6 {
        (0..matrix.nrows()).for_each(|k| matrix[(k, k)] += ridge);
        if let Some(factors) = matrix.clone().cholesky() {
            return Some(factors);
        }
        ridge *= 100.0;
    }
    None
}
