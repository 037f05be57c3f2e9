use std::sync::{Arc, Mutex};

use burn::train::{
    logger::{EvaluationProgressLogger, TrainingProgressLogger},
    metric::MetricDefinition,
    renderer::{
        EvaluationName, MetricState, MetricsRenderer, MetricsRendererEvaluation,
        MetricsRendererTraining,
    },
};

/// Instead of a dashboard or lines of progress: keeps what they would show of the validation data.
#[derive(Clone, Default)]
pub struct Quiet {
    pub entries: Arc<Mutex<Vec<String>>>,
}

impl MetricsRendererTraining for Quiet {
    fn update_train(&mut self, _state: MetricState) {}

    fn update_valid(&mut self, state: MetricState) {
        if let MetricState::Numeric(entry, Some(_)) = state {
            let text = entry.serialized_entry.formatted;
            self.entries.lock().unwrap().push(text);
        }
    }
}

impl MetricsRendererEvaluation for Quiet {
    fn update_test(&mut self, _name: EvaluationName, _state: MetricState) {}
}

impl MetricsRenderer for Quiet {
    fn manual_close(&mut self) {}
    fn register_metric(&mut self, _definition: MetricDefinition) {}
}

impl TrainingProgressLogger for Quiet {
    fn start(&mut self, _: usize, _: usize, _: Option<usize>, _: Option<&str>) {}
    fn update_epoch(&mut self, _: usize) {}
    fn start_split(&mut self, _: &str, _: usize) {}
    fn update_split(&mut self, _: usize) {}
    fn end_split(&mut self) {}
    fn end(&mut self) {}
    fn log_event_training(&mut self, _: String) {}
}

impl EvaluationProgressLogger for Quiet {
    fn start_global_progress(&mut self, _: usize) {}
    fn start_test(&mut self, _: &str, _: usize) {}
    fn update_test_progress(&mut self, _: usize) {}
    fn end_test(&mut self) {}
    fn end_global_progress(&mut self) {}
    fn log_event_evaluation(&mut self, _: String) {}
}
