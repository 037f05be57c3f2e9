//! Arrays in the place of the files of a command.

use burn_calibration_reader::{Held, HeldColumn};

use crate::{
    args::{FamilyName, LabelsArgs, OrderArgs, RowsArgs, SourceArgs},
    program::HeldFiles,
};

/// Numbers in rows of equal length.
#[derive(Debug, Clone)]
pub struct Array {
    /// The number of columns.
    pub columns: usize,
    /// The numbers, row by row.
    pub values: Vec<f64>,
}

/// Predictions under the name that errors and notes have for them.
#[derive(Debug, Clone)]
pub struct NamedPredictions {
    /// The name.
    pub name: String,
    /// The kind of the predictions.
    pub family: FamilyName,
    /// Their parameters, one row per sample: the columns of the command's files.
    pub rows: Array,
}

/// Predictions, what occurred, and what else is known of each sample.
#[derive(Debug, Clone)]
pub struct Data {
    /// The predictions.
    pub predictions: NamedPredictions,
    /// Other predictions of the same samples, for [`compare()`](crate::compare()) and [`report()`](crate::report()).
    pub after: Option<NamedPredictions>,
    /// Whether predictions of classes are logits.
    pub are_logits: bool,
    /// Whether predictions of classes are one column, the probability or the log-odds of an event.
    pub is_event: bool,
    /// Whether predictions of classes have an order, that of the columns.
    pub are_ordered: bool,
    /// The levels of quantiles.
    pub levels: Vec<f64>,
    /// What occurred: classes from 0, or targets.
    pub outcomes: Array,
    /// The weights of the samples.
    pub weights: Option<Vec<f64>>,
    /// Variables to test calibration given these, for [`evaluate()`](crate::evaluate()).
    pub given: Vec<HeldColumn>,
    /// The names of the classes; none where they are numbers.
    pub class_names: Vec<String>,
}

/// The names of arrays besides predictions.
const OUTCOMES: &str = "y_true";
const WEIGHTS: &str = "sample_weight";
pub(super) const GIVEN: &str = "given";
pub(super) const STATE: &str = "state";

impl Data {
    /// Predictions with what occurred, and nothing else; those of classes are probabilities.
    pub fn new(predictions: NamedPredictions, outcomes: Array) -> Self {
        Self {
            predictions,
            after: None,
            are_logits: false,
            is_event: false,
            are_ordered: false,
            levels: Vec::new(),
            outcomes,
            weights: None,
            given: Vec::new(),
            class_names: Vec::new(),
        }
    }

    /// What is said of the order of the classes.
    pub(super) fn order(&self) -> OrderArgs {
        let ordered = self.are_ordered;
        OrderArgs { ordered }
    }

    /// The arrays as what files are to the command.
    pub(super) fn source(
        &self,
        seed: u64,
        progress: impl Fn(&str, u64, u64) + Send + Sync + 'static,
    ) -> SourceArgs {
        self.source_beside(None, seed, progress)
    }

    /// The arrays, and a file beside them, as what files are to the command.
    pub(super) fn source_beside(
        &self,
        other: Option<(String, Held)>,
        seed: u64,
        progress: impl Fn(&str, u64, u64) + Send + Sync + 'static,
    ) -> SourceArgs {
        let held = HeldFiles::new(self.files().chain(other))
            .with_class_names(self.class_names.clone())
            .with_progress(progress);
        SourceArgs {
            labels: LabelsArgs {
                labels: Some(OUTCOMES.into()),
                weights: self.weights.is_some().then(|| WEIGHTS.into()),
                ..LabelsArgs::default()
            },
            rows: RowsArgs {
                logits: self.are_logits,
                force: true, // programs say what their arrays are
                positive: self.is_event,
                levels: self.levels.clone(),
                held,
                ..RowsArgs::default()
            },
            seed,
        }
    }

    /// The arrays by their names.
    fn files(&self) -> impl Iterator<Item = (String, Held)> {
        let array = |name: &str, array: &Array| {
            let Array { columns, values } = array.clone();
            (name.to_owned(), Held::Numbers { columns, values })
        };
        let sets = std::iter::once(&self.predictions).chain(&self.after);
        let sets = sets.map(move |set| array(&set.name, &set.rows));
        let weights = self.weights.clone().map(|values| {
            let weights = Held::Numbers { columns: 1, values };
            (WEIGHTS.to_owned(), weights)
        });
        let given = (!self.given.is_empty()).then(|| {
            let given = Held::Columns(self.given.clone());
            (GIVEN.to_owned(), given)
        });
        sets.chain([array(OUTCOMES, &self.outcomes)])
            .chain(weights)
            .chain(given)
    }
}

/// The state of a monitor as what its file is to the command.
pub(super) fn state_file(state: &str) -> (String, Held) {
    (STATE.to_owned(), Held::Text(state.to_owned()))
}
