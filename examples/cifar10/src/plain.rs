//! A line an epoch on standard error, where there is no dashboard.

use std::collections::BTreeMap;

use burn::train::{
    LearnerSummary,
    logger::{EvaluationProgressLogger, TrainingProgressLogger},
    metric::MetricDefinition,
    renderer::{
        EvaluationName, MetricState, MetricsRenderer, MetricsRendererEvaluation,
        MetricsRendererTraining,
    },
};

/// The validation metrics of the epoch.
pub struct Plain {
    run: String,
    epochs: usize,
    /// By their identifiers.
    names: BTreeMap<String, String>,
    values: BTreeMap<String, f64>,
}

impl Plain {
    pub fn new(run: String) -> Self {
        Self {
            run,
            epochs: 0,
            names: BTreeMap::new(),
            values: BTreeMap::new(),
        }
    }
}

impl MetricsRendererTraining for Plain {
    fn update_train(&mut self, _state: MetricState) {}

    fn update_valid(&mut self, state: MetricState) {
        if let MetricState::Numeric(entry, Some(value)) = state {
            let id = format!("{:?}", entry.metric_id);
            let name = self.names.get(&id).cloned().unwrap_or(id);
            self.values.insert(name, value.current());
        }
    }

    /// The files of the metrics have all of the summary.
    fn on_train_end(
        &mut self,
        _summary: Option<LearnerSummary>,
    ) -> Result<(), Box<dyn std::error::Error>> {
        Ok(())
    }
}

impl MetricsRendererEvaluation for Plain {
    fn update_test(&mut self, _name: EvaluationName, _state: MetricState) {}
}

impl MetricsRenderer for Plain {
    fn manual_close(&mut self) {}

    fn register_metric(&mut self, definition: MetricDefinition) {
        let id = format!("{:?}", definition.metric_id);
        // "p-value [AsymptoticSkceTest …]" is long
        let name = definition.name.split(" [").next().unwrap_or_default();
        self.names.insert(id, name.to_lowercase());
    }
}

impl TrainingProgressLogger for Plain {
    fn start(&mut self, epochs: usize, _: usize, _: Option<usize>, _: Option<&str>) {
        self.epochs = epochs;
    }

    fn update_epoch(&mut self, epoch: usize) {
        let values = self
            .values
            .iter()
            .map(|(name, value)| format!(", {name} {value:.4}"));
        let values: String = values.collect();
        eprintln!("{}: epoch {epoch} of {}{values}", self.run, self.epochs);
        self.values.clear();
    }

    fn start_split(&mut self, _: &str, _: usize) {}
    fn update_split(&mut self, _: usize) {}
    fn end_split(&mut self) {}
    fn end(&mut self) {}

    /// Burn has one for each iteration.
    fn log_event_training(&mut self, _: String) {}
}

impl EvaluationProgressLogger for Plain {
    fn start_global_progress(&mut self, _: usize) {}
    fn start_test(&mut self, _: &str, _: usize) {}
    fn update_test_progress(&mut self, _: usize) {}
    fn end_test(&mut self) {}
    fn end_global_progress(&mut self) {}
    fn log_event_evaluation(&mut self, _: String) {}
}
