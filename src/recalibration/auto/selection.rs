//! Trying maps, of classes and of distributions.

use std::ops::Deref;

use super::{
    Chosen,
    choice::{Choice, PassedOver},
    rules::{Rules, Tried, Validation},
};
use crate::{
    error::{Error, Result},
    parallel,
    recalibration::{
        FitProgress, FitReport, FitWarning, FittedMap, Guarantees, Keep, Progress,
        regularisation::{Split, in_order},
    },
};

/// Why a map is not tried, and the fewest samples if there are fewer.
pub type Reason = (String, Option<usize>);

/// Why a map needs more than `n` samples.
pub fn too_few(n: usize, least: usize) -> Option<Reason> {
    let reason = || format!("there are {n} samples, fewer than {least}");
    (n < least).then(|| (reason(), Some(least)))
}

/// Predictions with observations, to which maps are fitted and by which one is chosen.
///
/// What is evaluated of a map on samples that it was not fitted to are numbers, as many of each: logits of classes,
/// log scores of distributions.
pub trait SelectionSamples: Sync {
    type Kind: Copy + Sync;
    type Map: Deref<Target: FittedMap> + Sync;

    /// What the losses are, in words.
    const LOSS: &'static str;
    /// What maps may keep.
    const KEEPS: &'static [Keep];

    /// The kinds of maps by their names, simple ones first, and why one is not tried.
    fn candidates(&self) -> Vec<(Self::Kind, &'static str, Option<Reason>)>;

    /// A map that leaves the predictions as they are, and its numbers.
    fn unchanged(&self) -> Result<(Self::Map, Vec<f64>)>;

    /// Fits a map to all samples, and gives its numbers where a cross-validation found them on the way.
    fn fit(
        &self,
        kind: Self::Kind,
        progress: Progress<'_>,
    ) -> Result<(Self::Map, Option<Vec<f64>>)>;

    /// The numbers of what a split leaves out, by a fit to the rest as that of the map.
    fn left_out(&self, kind: Self::Kind, map: &Self::Map, split: &Split) -> Result<Vec<f64>>;

    /// A map by its numbers of all samples that are left out, in their order.
    fn tried(&self, name: &'static str, map: &Self::Map, numbers: Vec<f64>) -> Tried;
}

/// The maps that were tried, the predictions as they are first, and those that were passed over.
pub struct Selection<M> {
    pub tried: Vec<Tried>,
    pub maps: Vec<M>,
    passed_over: Vec<PassedOver>,
    keep: Option<Keep>,
    loss: &'static str,
}

impl<M> Selection<M> {
    /// Passes a map over for a reason, or because there are fewer samples than it needs.
    pub fn pass_over(&mut self, name: &'static str, (reason, least): Reason) {
        self.passed_over.push(PassedOver {
            name,
            reason,
            least,
        });
    }

    /// Whether a map keeps what is asked for; otherwise it is passed over.
    pub fn admits(&mut self, name: &'static str, guarantees: Guarantees) -> bool {
        let missing = self.keep.filter(|keep| !guarantees.keeps(*keep));
        if let Some(keep) = missing {
            self.pass_over(name, (format!("it does not keep {keep}"), None));
        }
        missing.is_none()
    }

    /// Adds a map, unless a loss is infinite.
    pub fn add(&mut self, tried: Tried, map: M) {
        if tried.losses.iter().all(|loss| loss.is_finite()) {
            self.tried.push(tried);
            self.maps.push(map);
        } else {
            let loss = self.loss;
            let reason = format!("its {loss} on held-out samples is infinite");
            self.pass_over(tried.name, (reason, None));
        }
    }
}

/// Tries all candidates and chooses among them.
pub fn choose<S: SelectionSamples>(
    samples: &S,
    splits: &[Split],
    keep: Option<Keep>,
    (validation, warnings): (Validation, Vec<FitWarning>),
    progress: Progress<'_>,
) -> Result<Chosen<S::Map>> {
    let (map, numbers) = samples.unchanged()?;
    let mut selection = Selection {
        tried: vec![samples.tried("none", &map, numbers)],
        maps: vec![map],
        passed_over: vec![],
        keep,
        loss: S::LOSS,
    };
    let mut open = Vec::new();
    for (kind, name, reason) in samples.candidates() {
        match reason {
            Some(reason) => selection.pass_over(name, reason),
            None => open.push((kind, name)),
        }
    }
    let fits = open.len();
    for (fit, (kind, name)) in (1..).zip(open) {
        let mut observe = |seen| progress(FitProgress { fit, fits, ..seen });
        let mut fitted = || {
            let (map, found) = samples.fit(kind, &mut observe)?;
            let numbers = match found {
                _ if keep.is_some_and(|keep| !map.guarantees().keeps(keep)) => vec![],
                Some(numbers) => numbers,
                None => {
                    let part = |k: usize| samples.left_out(kind, &map, &splits[k]);
                    let parts = parallel::map(splits.len(), &part).into_iter();
                    in_order(splits, parts.collect::<Result<_>>()?)
                }
            };
            Ok::<_, Error>((map, numbers))
        };
        match fitted() {
            Ok((map, numbers)) if selection.admits(name, map.guarantees()) => {
                selection.add(samples.tried(name, &map, numbers), map);
            }
            Ok(_) => {}
            Err(error) => selection.pass_over(name, (error.to_string(), None)),
        }
    }
    let tried = &selection.tried;
    let rules = Rules { tried, validation };
    let (at, choice) = Choice::among(rules, S::KEEPS, selection.passed_over, warnings);
    let map = selection.maps.swap_remove(at);
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
