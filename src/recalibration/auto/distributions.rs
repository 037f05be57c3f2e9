//! The maps of normal and Laplace predictions that are tried.

use super::{
    rules::Tried,
    selection::{Reason, SelectionSamples, too_few},
};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::{
    distribution::{Component, Density as _, Marginals, Targets as _, Weights},
    recalibration::{
        DistributionMap, DistributionMethod, Keep, Recalibrated, ScaleFamily, VarianceScaling,
        common::*, influence::mean_power, regularisation::Split, scale::mean_powers,
        temperature::standardised,
    },
};

/// Samples without which a scale alone is fitted.
const FEW: usize = 20;
/// Samples without which no density is fitted.
const ENOUGH: usize = 50;

/// The maps that are tried, simple ones first, and the fewest samples of each.
const CANDIDATES: [(DistributionMethod, usize); 3] = [
    (DistributionMethod::Variance, 2),
    (DistributionMethod::LocationScale, FEW),
    (DistributionMethod::Local, ENOUGH),
];

/// Predictions with their weights and targets, which were checked.
pub struct DistributionSamples<P> {
    predictions: P,
    targets: Tensor<2>,
    weights: Weights,
}

impl<P: ScaleFamily + Component + Marginals> DistributionSamples<P> {
    pub fn new(predictions: P, targets: Tensor<2>) -> Self {
        let (_, weights) = predictions.parted();
        Self {
            predictions,
            targets,
            weights,
        }
    }

    pub fn len(&self) -> usize {
        self.targets.dims()[0]
    }

    /// Some rows.
    pub fn select(&self, rows: &[usize]) -> Self {
        let predictions = self.predictions.select_rows(rows);
        Self::new(predictions, self.targets.select_rows(rows))
    }

    /// The log score of each row after a map.
    fn log_scores(&self, map: &DistributionMap) -> Vec<f64> {
        let log_density = match map.forward(self.predictions.clone()) {
            Recalibrated::Family(family) => family.log_density(&self.targets),
            Recalibrated::Mixture(mixture) => mixture.log_density(&self.targets),
            Recalibrated::Quantiles(_) => unreachable!("it has no density and is not a candidate"),
        };
        to_vec(log_density.neg())
    }
}

impl<P: ScaleFamily + Component + Marginals> SelectionSamples for DistributionSamples<P> {
    type Kind = DistributionMethod;
    type Map = DistributionMap;
    const LOSS: &'static str = "log score";
    const KEEPS: &'static [Keep] = &[Keep::Mean, Keep::Information];

    fn candidates(&self) -> Vec<(DistributionMethod, &'static str, Option<Reason>)> {
        let [n, d] = self.targets.dims();
        let named = |(method, least): (DistributionMethod, usize)| {
            let too_many = method == DistributionMethod::Local && d > 1;
            let reason = || (format!("the targets have {d} coordinates"), None);
            let reason = too_few(n, least).or_else(|| too_many.then(reason));
            (method, method.name(), reason)
        };
        CANDIDATES.into_iter().map(named).collect()
    }

    fn unchanged(&self) -> Result<(DistributionMap, Vec<f64>)> {
        let device = self.predictions.device().without_autodiff();
        let map = VarianceScaling::from_factors(vec![1.0], &device)?.into();
        Ok((
            map,
            to_vec(self.predictions.log_density(&self.targets).neg()),
        ))
    }

    fn fit(
        &self,
        method: DistributionMethod,
        progress: Progress<'_>,
    ) -> Result<(DistributionMap, Option<Vec<f64>>)> {
        let map = method.fit(self.predictions.clone(), self.targets.clone())?;
        let objective = map.report().map_or(f64::NAN, |report| report.objective);
        observer(progress, 1, 1)(1, objective);
        Ok((map, None))
    }

    fn left_out(
        &self,
        method: DistributionMethod,
        _map: &DistributionMap,
        split: &Split,
    ) -> Result<Vec<f64>> {
        let rest = self.select(&split.rest);
        let fitted = method.fit(rest.predictions, rest.targets)?;
        Ok(self.select(&split.left_out).log_scores(&fitted))
    }

    fn tried(&self, name: &'static str, guarantees: Guarantees, losses: Vec<f64>) -> Tried {
        // standardised, the derivative of the mean log score with respect to 1/T, where T = 1
        let score = || {
            let powers = mean_powers(&self.predictions, &self.targets);
            let mean = mean_power(&powers, &self.weights).map.unwrap_or(1.0);
            let k = self.predictions.dimensions() as f64 / P::POWER;
            standardised([k * (mean - 1.0), k], self.len())
        };
        // the test is of samples without weights
        let is_tested = name == DistributionMethod::Variance.name() && !self.weights.are_given();
        Tried {
            name,
            losses,
            excess: vec![],
            weights: self.weights.clone(),
            score_p_value: is_tested.then(|| {
                let law = Normal::standard();
                2.0 * law.sf(score().abs())
            }),
            rank: CANDIDATES
                .iter()
                .position(|(method, _)| method.name() == name)
                .map_or(0, |place| place + 1),
            guarantees,
        }
    }
}
