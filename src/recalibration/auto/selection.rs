//! The maps that a choice tries, of classes and of distributions.

use super::choice::{Choice, PassedOver, Tried, Validation};
use crate::{
    error::Result,
    recalibration::{
        FitWarning, Guarantees, Keep,
        regularisation::{Split, in_order},
    },
};

/// The maps that were tried, the predictions as they are first, and those that were passed over.
pub struct Selection<M> {
    pub tried: Vec<Tried>,
    /// Each map that was tried, with what the choice needs of it.
    pub maps: Vec<M>,
    passed_over: Vec<PassedOver>,
    keep: Option<Keep>,
    /// What the losses are, in words.
    loss: &'static str,
}

impl<M> Selection<M> {
    /// Begins with the predictions as they are.
    pub fn new(none: (Tried, M), keep: Option<Keep>, loss: &'static str) -> Self {
        Self {
            tried: vec![none.0],
            maps: vec![none.1],
            passed_over: vec![],
            keep,
            loss,
        }
    }

    /// Passes a map over for a reason, or because there are fewer samples than it needs.
    pub fn pass_over(&mut self, name: &'static str, reason: String, least: Option<usize>) {
        self.passed_over.push(PassedOver {
            name,
            reason,
            least,
        });
    }

    /// Whether a map keeps what is asked for; else it is passed over.
    pub fn admits(&mut self, name: &'static str, guarantees: Guarantees) -> bool {
        let missing = self.keep.filter(|keep| !guarantees.keeps(*keep));
        if let Some(keep) = missing {
            self.pass_over(name, format!("it does not keep {keep}"), None);
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
            let reason = format!("its {loss} on samples that it was not fitted to is infinite");
            self.pass_over(tried.name, reason, None);
        }
    }

    /// Chooses a map: all of them, the number of the chosen one, and why. It tells what it costs to keep each
    /// property.
    pub fn choose(
        self,
        keeps: &[Keep],
        validation: Validation,
        warnings: Vec<FitWarning>,
    ) -> (Vec<M>, usize, Choice) {
        let (at, choice) =
            Choice::among(&self.tried, keeps, self.passed_over, validation, warnings);
        (self.maps, at, choice)
    }
}

/// Numbers of the samples that are left out of each fit, as many of each, in the order of all samples.
pub fn cross_validate(
    splits: &[Split],
    left_out: impl Fn(&Split) -> Result<Vec<f64>>,
) -> Result<Vec<f64>> {
    let numbers: Vec<_> = splits.iter().map(left_out).collect::<Result<_>>()?;
    Ok(in_order(splits, numbers))
}
