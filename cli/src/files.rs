//! What was read from files, with the weights of the samples.

use std::path::Path;

use burn::tensor::{DType, Int, Tensor, TensorData};
use burn_calibration::distribution::{Categorical, Predictive};
use serde::Serialize;

pub use burn_calibration_reader::{File, Files, Inputs, LeftOut, OpenFiles};

use burn_calibration_reader::RowWeights;

use crate::{
    args::SourceArgs,
    error::Result,
    kind::Kind,
    notes::{noted, say},
    outcome_weights::WeightedOutcomes,
    words::DataWords,
};

/// Weights of the samples, with their effective sample size.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SampleWeights {
    #[serde(flatten)]
    pub rows: RowWeights,
    /// The correlation of their logarithms with what the predictions of classes do not say of the outcome, where it
    /// is clear and large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome_correlation: Option<f64>,
}

impl From<RowWeights> for SampleWeights {
    fn from(weights: RowWeights) -> Self {
        Self {
            rows: weights,
            outcome_correlation: None,
        }
    }
}

/// Reads the files that a command names, with the names of the classes, or takes the arrays of a program in their place.
pub fn read(
    inputs: &Inputs,
    args: &SourceArgs,
    are_classes: bool,
    names: impl FnOnce(&OpenFiles) -> Result<Vec<String>>,
) -> Result<Files> {
    if let Some(data) = &args.arrays {
        return noted(|notes| data.files(are_classes, notes));
    }
    let options = args.options();
    let mut files = OpenFiles::new(inputs, &options, are_classes)?;
    let names = names(&files)?;
    if are_classes {
        files.open_labels(&names)?;
    } else {
        files.open_targets()?;
    }
    noted(|notes| files.read(&names, notes))
}

/// Returns the description of a set of predictions of files, for a result.
pub fn in_words<P: Kind>(
    files: &Files,
    weights: &Option<SampleWeights>,
    set: &P,
    class_names: Vec<String>,
) -> DataWords {
    DataWords {
        class_names,
        subject: set.predicted(),
        left_out: files.left_out,
        rows: files.sets[0].table.lines.selected().to_vec(),
        weights: weights.clone(),
        ..DataWords::new(set.len(), P::OUTCOMES(set.dimensions()))
    }
}

impl SampleWeights {
    /// Tells if weights may have been made from the outcome, as those of a case-control sample. Tests redraw the outcome
    /// and keep the weights, so that they reject calibrated models then: half of them in simulations.
    pub fn check_outcomes(
        &mut self,
        path: &Path,
        predictions: &Categorical,
        labels: &Tensor<1, Int>,
    ) -> Result<()> {
        let weights = self.rows.values.iter();
        let largest = WeightedOutcomes {
            probabilities: &predictions.probabilities().try_into_vec_as::<f64>()?,
            classes: predictions.classes(),
            labels: &labels.clone().try_into_vec_as::<i64>()?,
            log_weights: &weights.map(|w| w.ln()).collect::<Vec<_>>(),
        };
        let largest = largest.correlation();
        if let Some(correlation) = largest {
            self.outcome_correlation = largest;
            say(
                path,
                format!(
                    "the weights are correlated with the outcome beyond the predictions, by {correlation:.2}. If they \
                     were made from the outcome, as for a case-control sample, the p-values and findings of tests of \
                     calibration are not valid; intervals are valid"
                ),
            );
        }
        Ok(())
    }

    /// The predictions with their weights, if there are any.
    pub fn on<P: Predictive>(of: &Option<Self>, predictions: P, targets: &P::Targets) -> Result<P> {
        let Some(weights) = of else {
            return Ok(predictions);
        };
        let values = &weights.rows.values;
        let data = TensorData::new(values.clone(), [values.len()]);
        let dtype = match predictions.dtype() {
            DType::F64 => DType::F64,
            _ => DType::F32,
        };
        let weights = Tensor::from_data(data, (&predictions.device(), dtype));
        Ok(predictions.weighted(&weights, targets)?.0)
    }
}
