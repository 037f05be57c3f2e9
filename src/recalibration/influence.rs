//! Rows that would rule a fit, and fits that leave them out.

use serde::{Deserialize, Serialize};

use super::{Fit, FitOptions, FitWarning};
use crate::{distribution::Weights, error::Result};

/// The configuration of a map, fitted without the rows that would rule the fit.
///
/// The mean log loss of a fit can fall because of one row while all others become worse: a predicted standard deviation
/// of 10⁻⁶ beside errors of 1 adds 10¹² to the mean of `z²`. A configuration alone is the estimator of its paper, and is
/// fitted to every row. With `Robust` a row is set aside, and named in a [`FitWarning`], if the mean loss of the others
/// would become worse because of it. This bounds the loss over all rows but those, and any 1 % more (one at least): the
/// fit raises the mean log score of a coordinate by at most `(0.1 + 8/(n−1))/r`, whatever the data (`r` is 2 of normal
/// and 1 of Laplace predictions), and the mean log loss of classes by at most `0.05 + 4/(n−1)`. If more than a tenth of
/// the rows would have to be set aside, none is, and a warning names them; distributions stay unchanged then.
///
/// No row is set aside if the predictions have weights, where a heavy sample may rule; in a fit by another criterion
/// than the log loss; and by [`QuantileRecalibration`](super::QuantileRecalibration), whose ranks no row
/// rules. [`AutoRecalibration`](super::AutoRecalibration) and the command `calibration` are robust.
///
/// Cost: one fit more for each time that rows are set aside.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::distribution::Normal;
/// use burn_calibration::recalibration::{Fit, Robust, VarianceScalingConfig};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// let mut errors = [[1.0], [-1.0]].repeat(50);
/// errors[7] = [1e6];
/// let targets = Tensor::<1>::from_floats(errors.concat().as_slice(), &device).unsqueeze_dim(1);
/// let predictions = Normal::new(Tensor::zeros([100, 1], &device), Tensor::ones([100, 1], &device));
/// let config = VarianceScalingConfig::new();
/// let all = config.fit(predictions.clone(), targets.clone())?;
/// assert!((all.factors()[0] - 1e5).abs() < 1.0);
/// let robust = Robust(config).fit(predictions, targets)?;
/// assert!((robust.factors()[0] - 1.0).abs() < 1e-6);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[must_use]
pub struct Robust<C>(
    /// The configuration of the map.
    pub C,
);

impl<P, T, C: Fit<P, T>> Fit<P, T> for Robust<C> {
    type Map = C::Map;
    type Scored = C::Scored;

    fn fit_with(
        &self,
        predictions: P,
        targets: T,
        options: FitOptions<'_, C::Scored>,
    ) -> Result<C::Map> {
        let is_robust = true;
        let options = FitOptions {
            is_robust,
            ..options
        };
        self.0.fit_with(predictions, targets, options)
    }
}

/// The largest rise of the mean log loss over the rows that a fit to `n` rows keeps, for one parameter of scale of
/// a density `∝ exp(−|z|^r/r)/s`, times `r`; half of it for log losses of classes.
///
/// A twentieth of a unit of the log score of normal predictions, and what the chance of few rows can do: calibrated
/// targets reach it less than once in 10⁴ data sets of any size. Infinite of a fit that is not robust, and with
/// weights: a sample of a large weight is meant to rule.
pub(super) fn allowance(weights: &Weights, is_robust: bool) -> impl Fn(usize) -> f64 {
    let takes_all = weights.are_given() || !is_robust;
    move |n| {
        if takes_all {
            f64::INFINITY
        } else {
            0.1 + 8.0 / (n as f64 - 1.0)
        }
    }
}

/// The rows whose losses fall the most by a fit, if the mean change of the others is above the allowance and
/// that of all is not.
fn ruling(changes: &[f64], allowance: f64) -> Vec<usize> {
    let n = changes.len();
    if n < 2 {
        return vec![];
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| changes[i].total_cmp(&changes[j]));
    // one in a hundred, and at least one
    let few = (n / 100).max(1).min(n - 1);
    // from the end, lest a huge change hides the others
    let mut sum: f64 = order[few..].iter().rev().map(|&i| changes[i]).sum();
    let mut least = None;
    for count in (0..=few).rev() {
        if sum / (n - count) as f64 > allowance {
            least = Some(count);
        }
        if count > 0 {
            sum += changes[order[count - 1]];
        }
    }
    match least {
        Some(count) => order[..count].to_vec(),
        None => vec![],
    }
}

/// The result of a robust fit.
pub(super) struct RobustFit<M> {
    /// The map; none if too many rows would each rule it.
    pub map: Option<M>,
    /// The rows that it was not fitted to.
    pub set_aside: Vec<usize>,
}

/// Fits to all rows but those that would rule the fit; to all where the allowance is infinite.
///
/// - `fit`: gives a map of the rows, and the change of the loss of each
/// - `allowance`: by the number of rows
///
/// For all rows but those that are set aside, and but any few more, the mean change is at most the
/// allowance, unless that of all of them is above it. Where more than a tenth of the rows would have to be
/// set aside there is no map.
pub(super) fn robust<M>(
    n: usize,
    allowance: impl Fn(usize) -> f64,
    mut fit: impl FnMut(&[usize]) -> Result<(M, Vec<f64>)>,
) -> Result<RobustFit<M>> {
    let mut kept: Vec<usize> = (0..n).collect();
    let mut set_aside = Vec::new();
    loop {
        let (map, changes) = fit(&kept)?;
        let ruling = ruling(&changes, allowance(kept.len()));
        if ruling.is_empty() {
            set_aside.sort_unstable();
            let map = Some(map);
            return Ok(RobustFit { map, set_aside });
        }
        set_aside.extend(ruling.iter().map(|&at| kept[at]));
        if set_aside.len() > (n / 10).max(1) {
            set_aside.sort_unstable();
            return Ok(RobustFit {
                map: None,
                set_aside,
            });
        }
        let mut at = 0..;
        kept.retain(|_| !ruling.contains(&at.next().expect("a number")));
    }
}

/// The weighted mean of numbers `t = |z|^r`, which is the `r`-th power of the factor of the scales that has the lowest
/// log score, without the rows that would rule it if the fit is robust.
pub(super) fn mean_power(t: &[f64], weights: &Weights, is_robust: bool) -> RobustFit<f64> {
    let t: Vec<f64> = t.iter().map(|t| t.min(1e300)).collect();
    robust(t.len(), allowance(weights, is_robust), |kept| {
        let total = weights.sum(kept);
        let terms = kept.iter().map(|&i| t[i] / total * weights.at(i));
        let mean: f64 = terms.sum();
        let least = mean.max(f64::MIN_POSITIVE);
        let change = |&i: &usize| t[i] * (least.recip() - 1.0) + least.ln();
        Ok((mean, kept.iter().map(change).collect()))
    })
    .expect("no fit fails")
}

/// The maps of several coordinates, the identity where there is none, and the warning of the rows that they were not
/// fitted to.
pub(super) fn coordinate_maps<M: Copy>(
    found: Vec<RobustFit<M>>,
    identity: M,
) -> (Vec<M>, Vec<FitWarning>) {
    let mut rows: Vec<usize> = found.iter().flat_map(|one| one.set_aside.clone()).collect();
    rows.sort_unstable();
    rows.dedup();
    let warnings = match (rows.is_empty(), found.iter().all(|one| one.map.is_some())) {
        (true, _) => vec![],
        (false, true) => vec![FitWarning::SetAside { rows }],
        (false, false) => vec![FitWarning::NoMap { rows }],
    };
    let maps = found.into_iter().map(|one| one.map.unwrap_or(identity));
    (maps.collect(), warnings)
}
