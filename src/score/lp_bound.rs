use std::fmt;

use burn::tensor::{Int, Tensor};
use serde::Serialize;

use super::{
    BoundedMean, ErrorSize, MeanEstimate, bounded_mean::PossibleTerm, error_size::SizeLaw,
};
use crate::{
    distribution::{Categorical, Predictive, Targets},
    error::{Result, check_length},
    estimator::{Aspect, check_order},
    host::to_vec,
};

/// A lower bound of the `Lp` calibration error, in expectation, by recalibrated predictions `g` (Berta,
/// Braun, Holzmüller, Bach, Jordan 2026, *A variational estimator for Lp calibration errors*).
///
/// With `C = E[e_y | p]` the error `‖p − C‖` is a convex function of `C`, which lies above its tangent at any
/// `g`. The tangent is linear in `C`, so its mean needs the labels alone:
///
/// ```text
/// power   E‖p − C‖_p^p ≥ E[(1 − p) ‖g − p‖_p^p + p Σ_c |u_c|^{p−1} sign(u_c) (e_y − p)_c],   u = g − p
/// norm    E‖p − C‖_p   ≥ E[Σ_c |u_c|^{p−1} sign(u_c) (e_y − p)_c / ‖u‖_p^{p−1}]
/// ```
///
/// with equality where `g = C`, and for the norm where `g − p` has the direction of `C − p`. The first is the
/// difference of a proper loss of `p` and `g`, of order 2 that of their Brier scores. A sample with `g = p` adds
/// 0. Order 1 looks at signs alone, whatever the size of `g − p`.
///
/// For one event, `r` is its probability, `c` its outcome and `C` its frequency: there is one coordinate,
/// and the power is in two parts, `E (r − C)₊^p` from samples with `g < r` and `E (C − r)₊^p` from those
/// with `g > r`. For the top label these are over- and underconfidence.
///
/// **Bias.** Never upward, if `g` was not fitted to these labels: of calibrated predictions the expectation
/// is 0 of order 1 and of norms, and at most 0 else. Downward by what `g` misses. A negative value means
/// that `g` is worse than `p`. The standard errors take `g` as given.
///
/// **Interval**, [`size`](Self::size). It allows for labels that were not observed, by [`BoundedMean`], as
/// the interval of an [`Improvement`](super::Improvement): a `g` that lowers a risk is a sure gain where no
/// event happened.
///
/// `C` is conditional on what `g` is a function of. A `g` that looks at more than the probability of an event,
/// as at the whole vector, bounds an error that is larger than that of the event.
/// [`LpCalibrationError`](crate::recalibration::LpCalibrationError) finds `g` by cross-fitting.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
#[must_use]
pub struct LpBound {
    /// The order `p ≥ 1`.
    pub order: f64,
    /// The bound of `E‖p − C‖_p^p`, of an event of `E|r − C|^p`.
    pub power: MeanEstimate,
    /// The bound of `E‖p − C‖_p`, of an event of `E|r − C|`.
    pub norm: MeanEstimate,
    /// The part of the power where the probability of the event is too high; none of vectors.
    pub over: Option<MeanEstimate>,
    /// The part where it is too low; the parts add up to the power.
    pub under: Option<MeanEstimate>,
    /// The power, and of an event its two parts.
    #[serde(skip)]
    laws: Vec<BoundedMean>,
}

impl LpBound {
    /// The bound by predictions of the same samples that were recalibrated without their labels.
    ///
    /// ```
    /// use burn::tensor::{Device, Int, Tensor};
    /// use burn_calibration::{distribution::Categorical, estimator::{Aspect, Event}, score::LpBound};
    ///
    /// # fn main() -> burn_calibration::error::Result<()> {
    /// let device = Device::default();
    /// let rows = |p: f32| Categorical::from_probabilities(Tensor::from_floats([[p, 1.0 - p]; 4], &device));
    /// let labels = Tensor::<1, Int>::from_ints([0, 0, 0, 1], &device);
    /// // 90 % sure, right in three cases of four, known to be about 80 %
    /// let bound = LpBound::of(1.0, Aspect::Event(Event::TopLabel), &rows(0.9)?, &rows(0.8)?, &labels)?;
    /// assert!((bound.power.estimate - 0.15).abs() < 1e-6);
    /// assert_eq!(bound.over, Some(bound.power)); // all of it is overconfidence
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Shapes
    ///
    /// - predictions, recalibrated: `n × m`
    /// - labels: `[n]`
    ///
    /// Cost: `O(n·m)`, on the host in f64.
    ///
    /// # Errors
    ///
    /// An order below 1 or not finite, an event that is not a class, predictions that are not valid, a label
    /// that is not a class, another number of samples or classes of one than of another.
    pub fn of(
        order: f64,
        aspect: Aspect,
        predictions: &Categorical,
        recalibrated: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<Self> {
        check_order(order)?;
        predictions.check()?;
        recalibrated.check().map_err(|error| error.of("after"))?;
        let labels = predictions.check_labels(labels)?;
        check_length(recalibrated.len(), labels.len(), "label")?;
        let m = predictions.classes();
        if recalibrated.classes() != m {
            return Err(Tensor::<1, Int>::mismatch(recalibrated.classes(), m));
        }
        if let Aspect::Event(event) = aspect {
            event.check(m)?;
        }
        let [p, g] = [predictions, recalibrated].map(|rows| to_vec(rows.probabilities().detach()));
        Ok(Self::from_rows(order, aspect, &p, &g, &labels))
    }

    /// The bound of checked rows of probabilities, `[n, m]`.
    pub(crate) fn from_rows(
        order: f64,
        aspect: Aspect,
        p: &[f64],
        g: &[f64],
        labels: &[usize],
    ) -> Self {
        let m = p.len() / labels.len();
        let class_of = |at: usize| match aspect {
            Aspect::Vector => None,
            Aspect::Event(event) => Some(event.class(&p[at * m..][..m])),
        };
        // power and norm of a sample if this is its label
        let terms = |at: usize, label: usize| {
            let (p, g) = (&p[at * m..][..m], &g[at * m..][..m]);
            let classes = class_of(at).map_or(0..m, |class| class..class + 1);
            let pair = |c: usize| (g[c] - p[c], f64::from(u8::from(c == label)) - p[c]);
            tangents(order, classes.map(pair))
        };
        let is_high = |at: usize| class_of(at).is_some_and(|c| g[at * m + c] < p[at * m + c]);
        let law = |part: Option<bool>| {
            let power = |at: usize, label: usize| {
                if part.is_none_or(|high| high == is_high(at)) {
                    terms(at, label).power
                } else {
                    0.0
                }
            };
            let missed = |rows: &[f64], place: usize| {
                let of_sample = |at: usize| {
                    let labels = expected_labels(&rows[at * m..][..m], class_of(at));
                    let (label, probability) = labels[place];
                    PossibleTerm {
                        value: power(at, label),
                        probability,
                    }
                };
                (0..labels.len()).map(of_sample).collect()
            };
            let lists = [(p, 0), (p, 1), (g, 0), (g, 1)];
            let seen = labels.iter().enumerate().map(|(at, &y)| power(at, y));
            BoundedMean::with_missed(
                seen.collect(),
                lists.map(|(rows, place)| missed(rows, place)),
            )
        };
        let norms = labels.iter().enumerate().map(|(at, &y)| terms(at, y).norm);
        let norms: Vec<f64> = norms.collect();
        let parts: &[_] = match aspect {
            Aspect::Vector => &[None],
            Aspect::Event(_) => &[None, Some(true), Some(false)],
        };
        let laws: Vec<BoundedMean> = parts.iter().map(|&part| law(part)).collect();
        let mean = |law: &BoundedMean| MeanEstimate::of(law.terms());
        Self {
            order,
            power: mean(&laws[0]),
            norm: MeanEstimate::of(&norms),
            over: laws.get(1).map(mean),
            under: laws.get(2).map(mean),
            laws,
        }
    }

    /// The bound of the error, the `p`-th root of that of its power (0 where that is negative). Its interval has
    /// no upper end: the error is at least so large.
    pub fn size(&self) -> ErrorSize {
        self.size_of(&self.laws[0])
    }

    /// The same of the parts of an event, over and under; none of vectors.
    pub fn parts(&self) -> Option<[ErrorSize; 2]> {
        match &self.laws[1..] {
            [over, under] => Some([over, under].map(|part| self.size_of(part))),
            _ => None,
        }
    }

    fn size_of(&self, power: &BoundedMean) -> ErrorSize {
        ErrorSize::of(SizeLaw::AtLeast {
            power: power.clone(),
            order: self.order,
        })
    }
}

/// The most likely label and the second, or an event and another class, with their probabilities.
fn expected_labels(probabilities: &[f64], event: Option<usize>) -> [(usize, f64); 2] {
    let largest = |without: Option<usize>| {
        let others = (0..probabilities.len()).filter(|&class| Some(class) != without);
        others
            .max_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b]))
            .expect("two classes or more")
    };
    let first = event.unwrap_or_else(|| largest(None));
    let probability = probabilities[first];
    [
        (first, probability),
        (largest(Some(first)), 1.0 - probability),
    ]
}

/// The tangents at `u = g − p` of norms, where `C` is the label.
struct Tangents {
    /// The tangent of `‖p − C‖_p^p`.
    power: f64,
    /// The tangent of `‖p − C‖_p`.
    norm: f64,
}

/// The tangents for pairs of `u_c` and `(e_y − p)_c`.
fn tangents(order: f64, pairs: impl Iterator<Item = (f64, f64)> + Clone) -> Tangents {
    let largest = pairs
        .clone()
        .fold(0.0, |most: f64, (u, _)| most.max(u.abs()));
    if largest == 0.0 {
        return Tangents {
            power: 0.0,
            norm: 0.0,
        };
    }
    let (mut size, mut slope) = (0.0, 0.0); // in units of the largest
    for (u, residual) in pairs.filter(|(u, _)| *u != 0.0) {
        let slant = (u.abs() / largest).powf(order - 1.0);
        size += slant * u.abs() / largest;
        slope += slant * u.signum() * residual;
    }
    let power = (1.0 - order) * size * largest + order * slope;
    Tangents {
        power: power * largest.powf(order - 1.0),
        norm: slope / size.powf(1.0 - order.recip()),
    }
}

impl fmt::Display for LpBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "order {}, at least", self.order)?;
        writeln!(f, "power  {}", self.power)?;
        write!(f, "norm   {}", self.norm)?;
        if let (Some(over), Some(under)) = (self.over, self.under) {
            write!(f, "\nover   {over}\nunder  {under}")?;
        }
        Ok(())
    }
}
