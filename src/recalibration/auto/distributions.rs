//! A choice among maps of normal and Laplace predictions.

use std::ops::Deref;

use super::{
    choice::{Choice, Tried, Validation},
    selection::{Selection, cross_validate},
};
use crate::{
    distribution::{Component, Density, Marginals, Subject},
    recalibration::{
        DistributionMap, DistributionMethod, Keep, Recalibrated, ScaleFamily, VarianceScaling,
        VarianceScalingConfig,
        common::*,
        regularisation::{folds, splits},
        scale::TemperedLogScore,
        temperature::standardised,
        warning::FitWarning,
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

/// Configuration of [`AutoDistributionRecalibration`], which it fits.
#[derive(Config, Debug)]
pub struct AutoDistributionRecalibrationConfig {
    /// What the map has to keep: [`Keep::Mean`] or [`Keep::Information`]. Default: nothing.
    #[config(default = "None")]
    pub keep: Option<Keep>,
    /// The number of folds, at least 2. Default: 5.
    #[config(default = 5)]
    pub folds: usize,
    /// The seed of the folds. Default: 0.
    #[config(default = 0)]
    pub seed: u64,
    /// Whether a map is chosen only if its gain is established. Default: yes. Else no map is a candidate like every
    /// other, and the simplest one within one standard error of the best is taken.
    #[config(default = true)]
    pub only_established: bool,
}

/// The map of normal or Laplace predictions that the data favour, and what was learnt about the others.
///
/// As [`AutoRecalibration`](super::AutoRecalibration) of classes: each candidate is fitted to all folds but one
/// and evaluated by the log score `−ln f(y)` on the one left out, and of those whose gain is established the
/// simplest one within one standard error of the best is chosen; without one the predictions stay as they are. The candidates, simple ones first, are variance scaling, location-scale
/// recalibration from 20 samples, and, for one coordinate, local recalibration from 50. Quantile recalibration
/// is not among them: the curves of its levels have no density to score. Rows that would rule the fit of variance scaling are
/// set aside and named, see [`FitWarning`]. Cost: six fits of each.
///
/// ```
/// # use burn::tensor::{Device, Distribution, Tensor};
/// use burn_calibration::distribution::Normal;
/// use burn_calibration::recalibration::{AutoDistributionRecalibrationConfig, Fit, Recalibrated};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// # let device = Device::default();
/// # device.seed(1);
/// # let targets = Tensor::<2>::random([400, 1], Distribution::Normal(0.0, 3.0), &device);
/// let standard = Normal::new(Tensor::zeros([400, 1], &device), Tensor::ones([400, 1], &device));
/// let map = AutoDistributionRecalibrationConfig::new().fit(standard.clone(), targets)?;
/// println!("{}", map.choice());
/// assert_eq!(map.choice().chosen, "variance"); // the targets are three times as wide
/// let Recalibrated::Family(wider) = map.forward(standard) else {
///     unreachable!("variance scaling stays within the family")
/// };
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct AutoDistributionRecalibration {
    map: DistributionMap,
    choice: Choice,
}

impl<P: ScaleFamily + Component + Marginals> Fit<P, Tensor<2>>
    for AutoDistributionRecalibrationConfig
{
    type Map = AutoDistributionRecalibration;

    /// Chooses by the log score; another criterion is an error.
    fn fit_observed(
        &self,
        criterion: Option<&dyn Objective<P, Tensor<2>>>,
        predictions: P,
        targets: Tensor<2>,
        progress: Progress<'_>,
    ) -> Result<AutoDistributionRecalibration> {
        no_criterion(
            criterion.is_some(),
            "a choice among maps of distributions",
            "",
        )?;
        at_least(2, "the number of folds", self.folds, "at least 2")?;
        predictions.check()?;
        predictions.check_targets(&targets)?;
        let (predictions, targets, warnings) = without_ruling_rows(predictions, targets)?;
        let [n, d] = targets.dims();
        let splits = splits(&folds(n, self.folds.min(n), self.seed));
        let device = predictions.device().without_autodiff();
        let same = VarianceScaling::from_factors(vec![1.0], &device)?;
        let tried = |name, losses, score, guarantees| Tried {
            name,
            losses,
            excess: vec![],
            score,
            guarantees,
        };
        let losses = log_scores(predictions.log_density(&targets));
        let none = tried("none", losses, None, same.guarantees());
        let none = (none, DistributionMap::Variance(Box::new(same)));
        let mut selection = Selection::new(none, self.keep, "log score");
        let score = standardised(TemperedLogScore::new(&predictions, &targets).at(1.0), n);
        let fits = CANDIDATES.iter().filter(|(_, least)| n >= *least).count();
        for (at, (method, least)) in CANDIDATES.into_iter().enumerate() {
            let name = method.name();
            if n < least {
                let reason = format!("there are {n} samples, fewer than {least}");
                selection.pass_over(name, reason, Some(least));
                continue;
            }
            if method == DistributionMethod::Local && d > 1 {
                let reason = format!("the targets have {d} coordinates");
                selection.pass_over(name, reason, None);
                continue;
            }
            let map = method.fit(predictions.clone(), targets.clone())?;
            if !selection.admits(name, map.guarantees()) {
                continue;
            }
            let losses = cross_validate(&splits, |split| {
                let (fitted, known) = select(&predictions, &targets, &split.rest);
                let (new, unknown) = select(&predictions, &targets, &split.left_out);
                Ok(log_scores(match method.fit(fitted, known)?.forward(new) {
                    Recalibrated::Family(family) => family.log_density(&unknown),
                    Recalibrated::Mixture(mixture) => mixture.log_density(&unknown),
                    Recalibrated::Quantiles(_) => {
                        unreachable!("it has no density and is no candidate")
                    }
                }))
            })?;
            let mean = losses.iter().sum::<f64>() / n as f64;
            observer(&mut *progress, at + 1, fits)(splits.len() + 1, mean);
            let score = (method == DistributionMethod::Variance).then_some(score);
            selection.add(tried(name, losses, score, map.guarantees()), map);
        }
        let validation = Validation {
            samples: n,
            splits: splits.len(),
            folds: splits.len(),
            only_established: self.only_established,
            subject: Subject::Classes,
        };
        let keeps = [Keep::Mean, Keep::Information];
        let (mut maps, at, choice) = selection.choose(&keeps, validation, warnings);
        let map = maps.swap_remove(at);
        Ok(AutoDistributionRecalibration { map, choice })
    }
}

/// The data without rows that would rule the fit of their scales, and what there is to say about them.
fn without_ruling_rows<P: ScaleFamily>(
    predictions: P,
    targets: Tensor<2>,
) -> Result<(P, Tensor<2>, Vec<FitWarning>)> {
    let map = VarianceScalingConfig::new().fit(predictions.clone(), targets.clone())?;
    let warnings = map
        .report()
        .expect("a map that was fitted")
        .warnings
        .clone();
    let Some(FitWarning::SetAside { rows }) = warnings.first() else {
        return Ok((predictions, targets, warnings));
    };
    let kept = (0..targets.dims()[0]).filter(|row| !rows.contains(row));
    let kept: Vec<usize> = kept.collect();
    let (predictions, targets) = select(&predictions, &targets, &kept);
    Ok((predictions, targets, warnings))
}

/// Some rows.
fn select<P: ScaleFamily>(predictions: &P, targets: &Tensor<2>, rows: &[usize]) -> (P, Tensor<2>) {
    let rows: Vec<i64> = rows.iter().map(|row| *row as i64).collect();
    let rows = Tensor::<1, Int>::from_data(rows.as_slice(), &targets.device());
    let select = |x: Tensor<2>| x.select(0, rows.clone());
    (predictions.map(&select), select(targets.clone()))
}

fn log_scores(log_density: Tensor<1>) -> Vec<f64> {
    to_vec(log_density.neg())
}

impl AutoDistributionRecalibration {
    /// Tells what was chosen, among what, and why.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// Gives the chosen map.
    pub fn into_map(self) -> DistributionMap {
        self.map
    }
}

impl Deref for AutoDistributionRecalibration {
    type Target = DistributionMap;

    fn deref(&self) -> &Self::Target {
        &self.map
    }
}
