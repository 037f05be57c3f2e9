//! Rows that would rule a fit.
//!
//! The mean log loss of a fit can fall because of one row while all others become worse: a predicted standard
//! deviation of 10⁻⁶ beside errors of 1 adds 10¹² to the mean of `z²`. Such rows are set aside and named.

use super::FitWarning;
use crate::error::Result;

/// What a fit to `n` rows may add to the mean log loss of all but a few of them, for one parameter of scale of
/// a density `∝ exp(−|z|^r/r)/s`, times `r`; half of it for log losses of classes.
///
/// A twentieth of a unit of the log score of normal predictions, and what the chance of few rows can do: calibrated
/// targets reach it less than once in 10⁴ data sets of any size.
pub(super) fn allowance(n: usize) -> f64 {
    0.1 + 8.0 / (n as f64 - 1.0)
}

/// The rows that are few among `n`: one in a hundred, and at least one.
pub(super) fn few(n: usize) -> usize {
    (n / 100).max(1)
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
    let few = few(n).min(n - 1);
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
/// Of all rows but those that are set aside, and but any few more, the mean change is at most the allowance,
/// unless that of all of them is above it. Where more than a tenth of the rows would have to be set aside there
/// is no map.
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

/// The mean of numbers `t = |z|^r`, which is the `r`-th power of the factor of the scales that has the least log
/// score, without the rows that would rule it; 1 where there is none.
pub(super) fn mean_power(t: &[f64]) -> (f64, Robust<()>) {
    let t: Vec<f64> = t.iter().map(|t| t.min(1e300)).collect();
    let mut mean = 1.0;
    let fit = |kept: &[usize]| {
        mean = kept.iter().map(|&i| t[i] / kept.len() as f64).sum();
        let least = mean.max(f64::MIN_POSITIVE);
        let change = |&i: &usize| t[i] * (least.recip() - 1.0) + least.ln();
        Ok(((), kept.iter().map(change).collect()))
    };
    let found = robust(t.len(), allowance, fit).expect("no fit fails");
    let mean = if found.map.is_some() { mean } else { 1.0 };
    (mean, found)
}

/// The warning of the rows that fits of several coordinates were not to.
pub(super) fn warning(mut set_aside: Vec<usize>, fitted: bool) -> Vec<FitWarning> {
    set_aside.sort_unstable();
    set_aside.dedup();
    match (set_aside.is_empty(), fitted) {
        (true, _) => vec![],
        (false, true) => vec![FitWarning::SetAside { rows: set_aside }],
        (false, false) => vec![FitWarning::NoMap { rows: set_aside }],
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::StdRng};
    use rand_distr::StandardNormal;

    use super::*;

    /// Of any data, the mean change over all rows but those named and any few more is at most the allowance.
    #[test]
    fn others_never_lose_more_than_the_allowance() {
        let mut rng = StdRng::seed_from_u64(5);
        for n in [2, 3, 7, 30, 150, 1000] {
            for set in 0..40 {
                let spread = [0.0, 1.0, 4.0, 20.0][set % 4];
                let heavy = set % 5;
                let number = |i: usize| {
                    let z: f64 = rng.sample(StandardNormal);
                    let scale: f64 = rng.sample(StandardNormal);
                    let outlier = if i < heavy {
                        10f64.powi(3 * heavy as i32)
                    } else {
                        1.0
                    };
                    z * z * (spread * scale).exp() * outlier
                };
                let t: Vec<f64> = (0..n).map(number).collect();
                let (mean, found) = mean_power(&t);
                let change = |t: &f64| t * (mean.recip() - 1.0) + mean.ln();
                let kept = t.iter().enumerate();
                let kept = kept.filter(|(i, _)| !found.set_aside.contains(i));
                let mut changes: Vec<f64> = kept.map(|(_, t)| change(t)).collect();
                changes.sort_by(f64::total_cmp);
                let others = &changes[few(changes.len()).min(changes.len() - 1)..];
                let mean = others.iter().sum::<f64>() / others.len() as f64;
                if changes.len() > 1 {
                    assert!(mean <= allowance(changes.len()) + 1e-9, "{n} {set}: {mean}");
                }
            }
        }
    }

    /// Calibrated rows are never set aside, nor those of predictions that are all wrong alike.
    #[test]
    fn ordinary_rows_stay() {
        let mut rng = StdRng::seed_from_u64(6);
        for n in [2, 3, 5, 20, 100, 1000] {
            for factor in [0.01, 1.0, 100.0] {
                for _ in 0..20 {
                    let t: Vec<f64> = (0..n)
                        .map(|_| factor * rng.sample::<f64, _>(StandardNormal).powi(2))
                        .collect();
                    assert!(mean_power(&t).1.set_aside.is_empty(), "{n} {factor} {t:?}");
                }
            }
        }
    }

    /// One row of 10¹² among calibrated ones is named, and two that hide each other.
    #[test]
    fn a_ruling_row_is_named() {
        let mut t = vec![1.0; 300];
        t[17] = 1e12;
        let (mean, found) = mean_power(&t);
        assert_eq!(found.set_aside, [17]);
        assert!((mean - 1.0).abs() < 1e-12);
        t[40] = 1e9;
        let (mean, found) = mean_power(&t);
        assert_eq!(found.set_aside, [17, 40]);
        assert!((mean - 1.0).abs() < 1e-12);
    }
}
