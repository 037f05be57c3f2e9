//! The likelihood of a line in the log-odds, `logit P(c = 1) = a + b x` with `x = logit r`.

use nalgebra::{Matrix2, Vector2};

use super::cox::{Coefficient, CoxFit};
use crate::{
    distribution::Weights,
    logistic::{Likelihood, Maximum, Sample, maximise, robust_covariance},
};

/// The logits of the event, and what depends on them alone.
pub(super) struct LogisticLine {
    /// The rows with probabilities other than 0 and 1.
    rows: Vec<usize>,
    /// Their log-odds, less the mean and in units of the scale: well conditioned.
    u: Vec<f64>,
    /// The mean log-odds, and their standard deviation: 0 where all are equal.
    mean: f64,
    scale: f64,
    /// The rows with probabilities of 0 and 1, and what these say.
    certain: Vec<(usize, bool)>,
    weights: Weights,
}

/// Steps of Newton's method.
const STEPS: usize = 200;

impl LogisticLine {
    pub fn of(probability: &[f64], weights: &Weights) -> Self {
        let (mut rows, mut x, mut certain) = (Vec::new(), Vec::new(), Vec::new());
        for (row, &r) in probability.iter().enumerate() {
            if r > 0.0 && r < 1.0 {
                rows.push(row);
                x.push(r.ln() - (-r).ln_1p());
            } else {
                certain.push((row, r >= 1.0))
            }
        }
        let n = x.len().max(1) as f64;
        let mean = x.iter().sum::<f64>() / n;
        let varies = x.windows(2).any(|pair| pair[0] != pair[1]);
        let variance = x.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
        let scale = if varies { variance.sqrt() } else { 0.0 };
        let u = if varies {
            x.iter().map(|x| (x - mean) / scale).collect()
        } else {
            vec![0.0; x.len()]
        };
        Self {
            rows,
            u,
            mean,
            scale,
            certain,
            weights: weights.clone(),
        }
    }

    /// Whether samples have weights.
    pub fn is_weighted(&self) -> bool {
        self.weights.are_given()
    }

    /// The degrees of freedom of the likelihood ratio: what there is to estimate.
    pub fn freedom(&self) -> usize {
        usize::from(!self.u.is_empty()) + usize::from(self.scale > 0.0)
    }

    /// `G = 2 (sup ℓ − ℓ(0, 1))`.
    pub fn ratio(&self, occurred: &[bool]) -> f64 {
        let Some(samples) = self.samples(occurred) else {
            return f64::INFINITY;
        };
        let own = Likelihood::at(&samples, &self.own()).value;
        let greatest = match separated(&samples) {
            Some(supremum) => supremum,
            None => self.maximum(&samples, [true; 2]).likelihood.value,
        };
        2.0 * (greatest - own).max(0.0)
    }

    /// The estimates at the supremum of the likelihood, or why there are none.
    pub fn estimates(&self, occurred: &[bool]) -> Result<CoxFit, &'static str> {
        let samples = self.samples(occurred).ok_or(CONTRADICTED)?;
        if self.scale == 0.0 {
            return Err("all probabilities other than 0 and 1 are equal");
        }
        if separated(&samples).is_some() {
            return Err("the probabilities separate the outcomes");
        }
        let maximum = self.maximum(&samples, [true; 2]);
        let [alpha, beta] = maximum.parameters.into();
        let information = maximum.likelihood.information;
        // the covariance of α and β, then of a = α − β mean/scale and b = β/scale
        let inverse = information.try_inverse().unwrap_or_default();
        let covariance = if self.is_weighted() {
            robust_covariance(&samples, &maximum.parameters, &inverse)
        } else {
            inverse
        };
        let to_a = Vector2::new(1.0, -self.mean / self.scale);
        let variance = to_a.dot(&(covariance * to_a));
        Ok(CoxFit {
            intercept: Coefficient {
                estimate: to_a.dot(&Vector2::new(alpha, beta)),
                standard_error: variance.sqrt(),
            },
            slope: Coefficient {
                estimate: beta / self.scale,
                standard_error: covariance[(1, 1)].sqrt() / self.scale,
            },
        })
    }

    /// The intercept with the slope fixed at 1, or why there is none.
    pub fn intercept(&self, occurred: &[bool]) -> Result<Coefficient, &'static str> {
        let samples = self.samples(occurred).ok_or(CONTRADICTED)?;
        if samples
            .windows(2)
            .all(|pair| pair[0].target == pair[1].target)
        {
            return Err("all outcomes are the same");
        }
        let maximum = self.maximum(&samples, [true, false]);
        let information = maximum.likelihood.information[(0, 0)];
        let standard_error = if self.is_weighted() {
            let inverse = Matrix2::new(information.recip(), 0.0, 0.0, 0.0);
            robust_covariance(&samples, &maximum.parameters, &inverse)[(0, 0)].sqrt()
        } else {
            information.sqrt().recip()
        };
        Ok(Coefficient {
            estimate: maximum.parameters[0] - self.mean,
            standard_error,
        })
    }

    /// `(α, β)` of the log-odds `α + β u` as they are.
    fn own(&self) -> Vector2<f64> {
        Vector2::new(self.mean, self.scale)
    }

    /// The maximum in `α`, and in `β` if that is free, where it exists.
    fn maximum(&self, samples: &[Sample<2>], free: [bool; 2]) -> Maximum<2> {
        maximise(samples, self.own(), free, STEPS)
    }

    /// The outcomes at `(1, u)`; none if something happened that has probability 0.
    fn samples(&self, occurred: &[bool]) -> Option<Vec<Sample<2>>> {
        let mut certain = self.certain.iter();
        if certain.any(|&(row, outcome)| occurred[row] != outcome) {
            return None;
        }
        let sample = |(&row, &u): (&usize, &f64)| Sample {
            features: Vector2::new(1.0, u),
            weight: self.weights.at(row),
            target: f64::from(occurred[row]),
        };
        Some(self.rows.iter().zip(&self.u).map(sample).collect())
    }
}

/// Why there are no estimates where [`LogisticLine::samples`] has none.
const CONTRADICTED: &str = "what has probability 0 occurred";

/// The supremum where it lies at infinity or does not depend on the slope: outcomes of one kind, all of one
/// kind on one side of those of the other, except for ties at the border, or equal log-odds (Albert and
/// Anderson 1984).
fn separated(samples: &[Sample<2>]) -> Option<f64> {
    let range = |kind: f64| {
        let of_kind = samples.iter().filter(|sample| sample.target == kind);
        of_kind.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), sample| {
            (low.min(sample.features[1]), high.max(sample.features[1]))
        })
    };
    let ((low, high), (low_of_hits, high_of_hits)) = (range(0.0), range(1.0));
    let border = if high <= low_of_hits {
        high
    } else if high_of_hits <= low {
        low
    } else {
        return None;
    };
    // at the border the likelihood is that of the frequency there
    let ties = samples.iter().filter(|sample| sample.features[1] == border);
    let (count, hits) = ties.fold((0.0, 0.0), |(count, hits), sample| {
        (count + sample.weight, hits + sample.weight * sample.target)
    });
    let term = |part: f64| match part {
        0.0 => 0.0,
        part => part * (part / count).ln(),
    };
    Some(term(hits) + term(count - hits))
}
