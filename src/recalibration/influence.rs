//! Rows that would rule a fit.
//!
//! The mean log loss of a fit can fall because of one row while all others become worse: a predicted standard
//! deviation of 10⁻⁶ beside errors of 1 adds 10¹² to the mean of `z²`. Such rows are set aside and named.

use super::FitWarning;
use crate::{distribution::Weights, error::Result};

/// What a fit to `n` rows may add to the mean log loss of all but a few of them, for one parameter of scale of
/// a density `∝ exp(−|z|^r/r)/s`, times `r`; half of it for log losses of classes.
///
/// A twentieth of a unit of the log score of normal predictions, and what the chance of few rows can do: calibrated
/// targets reach it less than once in 10⁴ data sets of any size. Infinite with weights: a sample of a large weight is
/// meant to rule.
pub(super) fn allowance(weights: &Weights) -> impl Fn(usize) -> f64 {
    let is_weighted = weights.are_given();
    move |n| {
        if is_weighted {
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

/// What a robust fit found.
pub(super) struct Robust<M> {
    /// The map; none if too many rows would each rule it.
    pub map: Option<M>,
    /// The rows that it was not fitted to.
    pub set_aside: Vec<usize>,
}

/// Fits to all rows but those that would rule the fit.
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
) -> Result<Robust<M>> {
    let mut kept: Vec<usize> = (0..n).collect();
    let mut set_aside = Vec::new();
    loop {
        let (map, changes) = fit(&kept)?;
        let ruling = ruling(&changes, allowance(kept.len()));
        if ruling.is_empty() {
            set_aside.sort_unstable();
            let map = Some(map);
            return Ok(Robust { map, set_aside });
        }
        set_aside.extend(ruling.iter().map(|&at| kept[at]));
        if set_aside.len() > (n / 10).max(1) {
            set_aside.sort_unstable();
            return Ok(Robust {
                map: None,
                set_aside,
            });
        }
        let mut at = 0..;
        kept.retain(|_| !ruling.contains(&at.next().expect("a number")));
    }
}

/// The weighted mean of numbers `t = |z|^r`, which is the `r`-th power of the factor of the scales that has the lowest
/// log score, without the rows that would rule it.
pub(super) fn mean_power(t: &[f64], weights: &Weights) -> Robust<f64> {
    let t: Vec<f64> = t.iter().map(|t| t.min(1e300)).collect();
    let fit = |kept: &[usize]| {
        let total = weights.sum(kept);
        let terms = kept.iter().map(|&i| t[i] / total * weights.at(i));
        let mean: f64 = terms.sum();
        let least = mean.max(f64::MIN_POSITIVE);
        let change = |&i: &usize| t[i] * (least.recip() - 1.0) + least.ln();
        Ok((mean, kept.iter().map(change).collect()))
    };
    robust(t.len(), allowance(weights), fit).expect("no fit fails")
}

/// The maps of several coordinates, the identity where there is none, and the warning of the rows that they were not
/// fitted to.
pub(super) fn of_coordinates<M: Copy>(
    found: Vec<Robust<M>>,
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
