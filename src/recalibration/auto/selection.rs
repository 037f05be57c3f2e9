//! Trying maps, of classes and of distributions.

use super::{
    Chosen,
    choice::{Choice, PassedOver},
    rules::{Rules, Tried, Validation},
};
use crate::{
    error::{Error, Result},
    numbers::counted,
    parallel,
    recalibration::{
        FitProgress, FitReport, FitWarning, FittedMap, Keep, Progress,
        regularisation::{Split, in_order},
    },
};

/// The reason why a map is not tried, and its smallest sample size if there are fewer samples.
pub type Reason = (String, Option<usize>);

/// The reason that `n` samples are too few, if they are.
pub fn too_few(n: usize, least: usize) -> Option<Reason> {
    let reason = || format!("{}, fewer than {least}", counted(n, "sample"));
    (n < least).then(|| (reason(), Some(least)))
}

/// A kind of map with its name, and the reason why it is not tried.
pub struct CandidateKind<K> {
    pub kind: K,
    pub name: &'static str,
    pub reason_against: Option<Reason>,
}

/// The terms of a choice.
pub struct Terms<'a> {
    pub splits: &'a [Split],
    pub validation: Validation,
    /// The property that the map must keep.
    pub keep: Option<Keep>,
    /// The properties that maps may keep.
    pub keeps: &'static [Keep],
    /// The loss, in words.
    pub loss: &'static str,
    pub warnings: Vec<FitWarning>,
}

/// Tries all candidates, simple ones first, and chooses among them.
///
/// A map is evaluated on samples that it was not fitted to. It gives as many numbers for each sample: logits of classes,
/// log scores of distributions.
///
/// - unchanged: a map that leaves the predictions as they are, as a trial by the name "none"
/// - fit: fits a map to all samples, and gives its numbers where a cross-validation found them on the way
/// - left_out: the numbers of what a split leaves out, by a fit to the rest as that of the map
/// - tried: a map by its numbers of all samples that are left out, in their order
pub fn choose<K: Copy + Sync, M: FittedMap + Sync>(
    candidates: Vec<CandidateKind<K>>,
    unchanged: (Tried, M),
    fit: impl Fn(K, Progress<'_>) -> Result<(M, Option<Vec<f64>>)>,
    left_out: impl Fn(K, &M, &Split) -> Result<Vec<f64>> + Sync,
    tried: impl Fn(&'static str, &M, Vec<f64>) -> Tried,
    terms: Terms<'_>,
    progress: Progress<'_>,
) -> Result<Chosen<M>> {
    let (mut all_tried, mut maps) = (vec![unchanged.0], vec![unchanged.1]);
    let mut passed_over = Vec::new();
    let mut pass_over = |name: &'static str, (reason, least): Reason| {
        passed_over.push(PassedOver {
            name,
            reason,
            least,
        });
    };
    let mut open = Vec::new();
    for candidate in candidates {
        match candidate.reason_against {
            Some(reason) => pass_over(candidate.name, reason),
            None => open.push((candidate.kind, candidate.name)),
        }
    }
    let (fits, splits) = (open.len(), terms.splits);
    for (number, (kind, name)) in (1..).zip(open) {
        let mut observe = |seen| {
            progress(FitProgress {
                fit: number,
                fits,
                ..seen
            })
        };
        let mut trial = || {
            let words = |error: Error| error.to_string();
            let (map, found) = fit(kind, &mut observe).map_err(words)?;
            let guarantees = map.guarantees();
            if let Some(keep) = terms.keep.filter(|keep| !guarantees.keeps(*keep)) {
                return Err(format!("it does not keep {keep}"));
            }
            let part = |k: usize| left_out(kind, &map, &splits[k]);
            let parts = || {
                parallel::map(splits.len(), &part)
                    .into_iter()
                    .collect::<Result<_>>()
            };
            let numbers = match found {
                Some(numbers) => numbers,
                None => in_order(splits, parts().map_err(words)?),
            };
            let tried = tried(name, &map, numbers);
            if tried.losses.iter().all(|loss| loss.is_finite()) {
                return Ok((tried, map));
            }
            let loss = terms.loss;
            Err(format!("its {loss} on held-out samples is infinite"))
        };
        match trial() {
            Ok((tried, map)) => {
                all_tried.push(tried);
                maps.push(map);
            }
            Err(reason) => pass_over(name, (reason, None)),
        }
    }
    let rules = Rules {
        tried: &all_tried,
        validation: terms.validation,
    };
    let (at, choice) = Choice::among(rules, terms.keeps, passed_over, terms.warnings);
    let map = maps.swap_remove(at);
    Ok(Chosen { map, choice })
}

/// The warnings of a fit to `n` rows, and the rows that are left where it set some aside.
pub fn kept_rows(report: Option<&FitReport>, n: usize) -> (Vec<FitWarning>, Option<Vec<usize>>) {
    let warnings = report.map_or(vec![], |report| report.warnings.clone());
    let kept = warnings.iter().find_map(|warning| match warning {
        FitWarning::SetAside { rows } => Some((0..n).filter(|row| !rows.contains(row)).collect()),
        _ => None,
    });
    (warnings, kept)
}
