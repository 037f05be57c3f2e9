//! Fits of maps of normal and Laplace predictions, and of forecasts by quantiles.

use std::path::Path;

use burn::tensor::Tensor;
use burn_calibration::{
    distribution::{Component, Density, Marginals, QuantileForecasts},
    recalibration::{
        AutoRecalibrationConfig, ConformalShiftConfig, DistributionMethod, Fit as _, FitOptions,
        Recalibrated, Recalibration as _, Robust, ScaleFamily,
    },
    score::{MeanEstimate, Score as _, WeightedIntervalScore},
};

use super::{Data, FitSummary, chosen, finish, kept};
use crate::{
    args::FitArgs,
    error::{Result, ensure},
    files::Inputs,
    kind::{Kind, Vectors},
    progress::Progress,
    rows::PredictionForm,
    words::Computed,
};

/// Fits the map of normal or Laplace predictions that was named, or chooses one.
pub fn fit_distributions<P>(args: &FitArgs, path: &Path) -> Result<FitSummary>
where
    P: Vectors + ScaleFamily + Component + Marginals + Kind<Targets = Tensor<2>>,
{
    let keep = kept(args);
    let method = args.method.as_ref();
    let method = method
        .map(|name| name.parse::<DistributionMethod>())
        .transpose()?;
    let mut loaded = P::read(&Inputs::of(path), &args.source, PredictionForm::Logits)?;
    let mut data = Data::of(&loaded);
    let (predictions, targets) = (loaded.sets.remove(0), loaded.targets);
    let dimensions = predictions.dimensions();
    ensure!(
        dimensions == 1 || method != Some(DistributionMethod::Quantile),
        "--method quantile: its map makes draws, which rows hold for one dimension and not for {dimensions}, expected \
         temperature, variance or location-scale, or a fit for each coordinate"
    );
    let of = (predictions.clone(), targets.clone());
    let progress = Progress::new(1);
    let observe = &mut |at| progress.of_fit(at);
    let (mut map, name, choice) = match method {
        Some(method) => {
            let map = Robust(method).fit_with(of.0, of.1, FitOptions::new(None, observe))?;
            (map, method.name(), None)
        }
        None => {
            let config = AutoRecalibrationConfig::new().with_keep(keep);
            let config = config.with_seed(args.source.seed);
            chosen(config.fit_with(of.0, of.1, FitOptions::new(None, observe))?)
        }
    };
    drop(progress);
    let (_, weights) = predictions.parted();
    let log_loss = |log_density: Tensor<1>| -> Result<f64> {
        let scores = log_density.neg().try_into_vec_as::<f64>()?;
        Ok(MeanEstimate::weighted(&scores, &weights).estimate)
    };
    let before = log_loss(predictions.log_density(&targets))?;
    let after = match map.forward(predictions) {
        Recalibrated::Family(family) => Some(log_loss(family.log_density(&targets))?),
        Recalibrated::Mixture(mixture) => Some(log_loss(mixture.log_density(&targets))?),
        _ => None,
    };
    if let Some(after) = after {
        data.log_loss = Computed(Ok([before, after].into()));
    }
    finish(args, &mut map, (name, choice), data)
}

/// Fits the map of quantile forecasts.
pub fn fit_quantiles(args: &FitArgs, path: &Path) -> Result<FitSummary> {
    let mut loaded =
        QuantileForecasts::read(&Inputs::of(path), &args.source, PredictionForm::Logits)?;
    let mut data = Data::of(&loaded);
    let (forecasts, targets) = (loaded.sets.remove(0), loaded.targets);
    let mut map = ConformalShiftConfig::new().fit(forecasts.clone(), targets.clone())?;
    let score = |forecasts: &QuantileForecasts| -> Result<f64> {
        Ok(WeightedIntervalScore.mean(forecasts, &targets)?.estimate)
    };
    let scores = [score(&forecasts)?, score(&map.forward(forecasts.clone()))?];
    data.log_loss = Computed::or_skipped(None, "quantile forecasts have no density");
    data.interval_score = Some(scores.into());
    finish(args, &mut map, (CONFORMAL, None), data)
}

/// The name of the map of quantile forecasts.
pub const CONFORMAL: &str = "conformal";
