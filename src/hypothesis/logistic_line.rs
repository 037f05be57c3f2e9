//! The likelihood of a line in the log-odds, `logit P(c = 1) = a + b x` with `x = logit r`.

use rayon::prelude::*;

use super::cox::{Coefficient, CoxFit};

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
}

/// The estimates at the supremum of the likelihood, or why there are none.
pub(super) enum Supremum {
    At(CoxFit),
    Nowhere(&'static str),
}

/// The log-likelihood at some `α + β u`, with gradient, and the information of `αα`, `αβ`, `ββ`.
#[derive(Clone, Copy, Default)]
struct Likelihood {
    value: f64,
    gradient: [f64; 2],
    information: [f64; 3],
}

/// Steps of Newton's method, and halvings of a step.
const STEPS: usize = 200;
/// The squared length of a step, in standard errors, that is none.
const CONVERGED: f64 = 1e-20;
/// The longest step of an intercept.
const LONGEST: f64 = 10.0;
/// The part of a likelihood that is lost to rounding, at most about.
const ROUNDING: f64 = 1e-13;
/// Samples of a sum of its own: the parts are the same, in the same order, whatever the number of threads.
const PART: usize = 1024;

impl LogisticLine {
    pub fn of(probability: &[f64]) -> Self {
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
        }
    }

    /// The degrees of freedom of the likelihood ratio: what there is to estimate.
    pub fn freedom(&self) -> usize {
        usize::from(!self.u.is_empty()) + usize::from(self.scale > 0.0)
    }

    /// `G = 2 (sup ℓ − ℓ(0, 1))`.
    pub fn ratio(&self, occurred: &[bool]) -> f64 {
        if self.contradicted(occurred) {
            return f64::INFINITY;
        }
        let of_rows = self.outcomes(occurred);
        let own = self.likelihood(&of_rows, [self.mean, self.scale]).value;
        let greatest = match self.separated(&of_rows) {
            Some(supremum) => supremum,
            None => self.maximum(&of_rows).1.value,
        };
        2.0 * (greatest - own).max(0.0)
    }

    /// The estimates.
    pub fn supremum(&self, occurred: &[bool]) -> Supremum {
        let of_rows = self.outcomes(occurred);
        if self.contradicted(occurred) {
            return Supremum::Nowhere("what has probability 0 occurred");
        }
        if self.scale == 0.0 {
            return Supremum::Nowhere("all probabilities other than 0 and 1 are equal");
        }
        if self.separated(&of_rows).is_some() {
            return Supremum::Nowhere("the probabilities separate the outcomes");
        }
        let ([alpha, beta], likelihood) = self.maximum(&of_rows);
        let [aa, ab, bb] = likelihood.information;
        let determinant = aa * bb - ab * ab;
        // the covariance of α and β, then of a = α − β mean/scale and b = β/scale
        let [aa, ab, bb] = [bb, -ab, aa].map(|entry| entry / determinant);
        let shift = self.mean / self.scale;
        let variance = aa - 2.0 * shift * ab + shift * shift * bb;
        Supremum::At(CoxFit {
            intercept: Coefficient {
                estimate: alpha - beta * shift,
                standard_error: variance.sqrt(),
            },
            slope: Coefficient {
                estimate: beta / self.scale,
                standard_error: bb.sqrt() / self.scale,
            },
        })
    }

    /// The intercept with the slope fixed at 1, or why there is none.
    pub fn intercept(&self, occurred: &[bool]) -> Result<Coefficient, &'static str> {
        let of_rows = self.outcomes(occurred);
        if self.contradicted(occurred) {
            return Err("what has probability 0 occurred");
        }
        if of_rows.iter().all(|&c| c) || of_rows.iter().all(|&c| !c) {
            return Err("all outcomes are the same");
        }
        // the gradient falls in the intercept, from above 0 to below: Newton within a bracket
        let at = |a: f64| self.likelihood(&of_rows, [self.mean + a, self.scale]);
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let (mut a, mut here) = (0.0, at(0.0));
        for _ in 0..STEPS {
            let (gradient, information) = (here.gradient[0], here.information[0]);
            if gradient > 0.0 {
                low = a
            } else {
                high = a
            }
            if gradient * gradient <= CONVERGED * information {
                break;
            }
            let step = (gradient / information).clamp(-LONGEST, LONGEST);
            let newton = a + step;
            let next = if newton > low && newton < high {
                newton
            } else {
                0.5 * (low + high)
            };
            if next == a {
                break;
            }
            (a, here) = (next, at(next));
        }
        Ok(Coefficient {
            estimate: a,
            standard_error: here.information[0].sqrt().recip(),
        })
    }

    fn outcomes(&self, occurred: &[bool]) -> Vec<bool> {
        self.rows.iter().map(|&row| occurred[row]).collect()
    }

    /// Tells whether something happened that has probability 0.
    fn contradicted(&self, occurred: &[bool]) -> bool {
        let mut certain = self.certain.iter();
        certain.any(|&(row, outcome)| occurred[row] != outcome)
    }

    /// The supremum where it lies at infinity or does not depend on the slope: outcomes of one kind, all of
    /// one kind on one side of those of the other, but for ties at the border, or equal log-odds (Albert
    /// and Anderson 1984).
    fn separated(&self, occurred: &[bool]) -> Option<f64> {
        let range = |kind: bool| {
            let of_kind = self.u.iter().zip(occurred).filter(|(_, c)| **c == kind);
            of_kind.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (u, _)| {
                (low.min(*u), high.max(*u))
            })
        };
        let ((low, high), (low_of_hits, high_of_hits)) = (range(false), range(true));
        let border = match (high <= low_of_hits, high_of_hits <= low) {
            (true, _) => high,
            (_, true) => low,
            _ => return None,
        };
        // at the border the likelihood is that of the frequency there
        let ties = self.u.iter().zip(occurred).filter(|(u, _)| **u == border);
        let (count, hits) = ties.fold((0.0, 0.0), |(count, hits), (_, &c)| {
            (count + 1.0, hits + f64::from(c))
        });
        let term = |part: f64| match part {
            0.0 => 0.0,
            part => part * (part / count).ln(),
        };
        Some(term(hits) + term(count - hits))
    }

    /// The maximum, which exists: by Newton's method from `(0, 1)`, with steps that are halved until the
    /// likelihood does not fall.
    fn maximum(&self, occurred: &[bool]) -> ([f64; 2], Likelihood) {
        let mut at = [self.mean, self.scale];
        let mut here = self.likelihood(occurred, at);
        for _ in 0..STEPS {
            let [aa, ab, bb] = here.information;
            let [a, b] = here.gradient;
            let determinant = aa * bb - ab * ab;
            let mut step = [
                (bb * a - ab * b) / determinant,
                (aa * b - ab * a) / determinant,
            ];
            let length = step[0] * a + step[1] * b;
            if !(length.is_finite() && length > CONVERGED) {
                break;
            }
            let rounding = ROUNDING * here.value.abs();
            if length <= rounding {
                // too short for the likelihood to tell: as long as it is, the last
                let to = [at[0] + step[0], at[1] + step[1]];
                return (to, self.likelihood(occurred, to));
            }
            let mut halvings = (0..STEPS).map(|_| {
                let to = [at[0] + step[0], at[1] + step[1]];
                step = step.map(|step| 0.5 * step);
                (to, self.likelihood(occurred, to))
            });
            let Some(next) = halvings.find(|(_, next)| next.value >= here.value - rounding) else {
                break;
            };
            (at, here) = next;
        }
        (at, here)
    }

    fn likelihood(&self, occurred: &[bool], [alpha, beta]: [f64; 2]) -> Likelihood {
        let part = |(u, occurred): (&[f64], &[bool])| {
            let mut sums = Likelihood::default();
            for (&u, &occurred) in u.iter().zip(occurred) {
                sums.add(alpha + beta * u, u, occurred);
            }
            sums
        };
        let parts = (self.u.par_chunks(PART)).zip(occurred.par_chunks(PART));
        let parts: Vec<Likelihood> = parts.map(part).collect();
        parts
            .into_iter()
            .fold(Likelihood::default(), Likelihood::plus)
    }
}

impl Likelihood {
    /// Adds an outcome at the log-odds `t = α + β u`.
    fn add(&mut self, t: f64, u: f64, occurred: bool) {
        let small = (-t.abs()).exp();
        let less_likely = small / (1.0 + small);
        // whether the outcome is the less likely one
        let (surprise, residual) = if (t < 0.0) == occurred {
            (t.abs(), 1.0 - less_likely)
        } else {
            (0.0, less_likely)
        };
        let residual = if occurred { residual } else { -residual };
        self.value -= surprise + small.ln_1p();
        self.gradient[0] += residual;
        self.gradient[1] += residual * u;
        let weight = less_likely * (1.0 - less_likely);
        self.information[0] += weight;
        self.information[1] += weight * u;
        self.information[2] += weight * u * u;
    }

    fn plus(self, other: Self) -> Self {
        let [a, b] = self.gradient;
        let [aa, ab, bb] = self.information;
        Self {
            value: self.value + other.value,
            gradient: [a + other.gradient[0], b + other.gradient[1]],
            information: [
                aa + other.information[0],
                ab + other.information[1],
                bb + other.information[2],
            ],
        }
    }
}
