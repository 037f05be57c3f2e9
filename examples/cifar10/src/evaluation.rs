//! Recalibration of a trained network, and what held-out images say of it before and after.

use std::{fs, path::Path};

use burn::tensor::{Int, Tensor};
use burn_calibration::{estimator::Estimator, prelude::*};
use burn_calibration_report::ReportBuilder;
use rand::{SeedableRng, rngs::StdRng};
use serde::{Deserialize, Serialize};

use crate::{Result, arguments::Arguments, run::Run, write::write_aside};

/// Logits `[n, m]` of a part of the data, with its labels `[n]`.
pub struct Outputs {
    pub logits: Tensor<2>,
    pub labels: Tensor<1, Int>,
}

/// Quantities of predictions of held-out images.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Measures {
    pub accuracy: f64,
    pub log_loss: f64,
    pub brier: f64,
    /// Top-label, 15 bins of equal width.
    pub ece: f64,
    /// The unbiased estimate.
    pub skce: f64,
    /// Of the omnibus test.
    pub p_value: f64,
}

/// A trained network on held-out images.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Evaluation {
    pub temperature: f64,
    /// Of the validation images, as trained: to choose weights by.
    pub validation: Measures,
    /// Of the validation images, with the temperature that is fitted to them; none in older files.
    #[serde(default)]
    pub validation_after: Option<Measures>,
    /// Of the test images, as trained.
    pub before: Measures,
    /// Of the test images, with the temperature.
    pub after: Measures,
}

/// What a run writes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Results {
    pub run: Run,
    pub parameters: usize,
    pub epochs_trained: usize,
    /// Steps of the optimiser, those before a resumption included.
    pub steps: usize,
    pub training_seconds: f64,
    #[serde(flatten)]
    pub evaluation: Evaluation,
}

impl Measures {
    fn of(
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
        run: &Run,
        redraws: usize,
    ) -> Result<Self> {
        let (_, correct) = predictions.top_label(labels)?;
        let score = |score: &dyn Score<Categorical>| score.upper_bound(predictions, labels);
        let kernel = Kernel::exponential().with_bandwidth(Bandwidth::Fixed(run.bandwidth));
        let test = OmnibusTest::new().with_kernel(kernel).with_redraws(redraws);
        let outcome = test.outcome(predictions, labels, &mut StdRng::seed_from_u64(run.seed))?;
        Ok(Self {
            accuracy: correct.float().mean().into_scalar::<f64>(),
            log_loss: score(&LogScore)?.estimate,
            brier: score(&Brier)?.estimate,
            ece: Ece::default().estimate(predictions, labels)?,
            skce: Skce::unbiased(kernel).estimate(predictions, labels)?,
            p_value: outcome.p_value,
        })
    }
}

/// Fits a temperature to the validation images and measures them and the test images before and after;
/// writes the map and a report.
pub fn evaluate(
    run: &Run,
    classes: &[String],
    validation: Outputs,
    test: Outputs,
    folder: &Path,
    arguments: &Arguments,
) -> Result<Evaluation> {
    let (logits, labels) = (validation.logits.clone(), validation.labels.clone());
    let map = TemperatureScalingConfig::new().fit(logits, labels)?;
    map.save(&folder.join("temperature.map"))?;
    let before_and_after = |of: &Outputs| -> Result<[Categorical; 2]> {
        let before = Categorical::from_logits(of.logits.clone())?;
        let after = Categorical::from_logits(map.forward(of.logits.clone()))?;
        Ok([before, after])
    };
    let measures = |predictions: &Categorical, labels: &Tensor<1, Int>| {
        Measures::of(predictions, labels, run, arguments.redraws)
    };
    let [of_validation, validation_after] = before_and_after(&validation)?;
    let [before, after] = before_and_after(&test)?;
    if !arguments.no_report {
        ReportBuilder::new(&before, &test.labels)
            .with_after(&after)
            .with_class_names(classes)
            .with_title(format!("CIFAR-10, {}", run.name()))
            .build()?
            .save(folder.join("report.html"))?;
    }
    Ok(Evaluation {
        temperature: map.temperature(),
        validation: measures(&of_validation, &validation.labels)?,
        validation_after: Some(measures(&validation_after, &validation.labels)?),
        before: measures(&before, &test.labels)?,
        after: measures(&after, &test.labels)?,
    })
}

impl Results {
    pub const FILE: &'static str = "results.json";

    pub fn save(&self, folder: &Path) -> Result<()> {
        write_aside(&folder.join(Self::FILE), &serde_json::to_vec_pretty(self)?)
    }

    /// Those of a run that was finished before, if any.
    pub fn load(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(Self::FILE);
        match path.exists() {
            false => Ok(None),
            true => {
                let text =
                    fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                let results = serde_json::from_slice(&text)
                    .map_err(|error| format!("{}: {error}", path.display()))?;
                Ok(Some(results))
            }
        }
    }
}
