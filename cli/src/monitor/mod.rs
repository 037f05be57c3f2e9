//! `monitor`: adds rows to the state of a monitor, and says whether the model is still calibrated.

mod waiting;
mod words;

use std::path::Path;

use burn_calibration::{
    distribution::Subject,
    file,
    monitor::{CalibrationMonitor, Change, Monitored},
};
use burn_calibration_reader::clipped;
use burn_calibration_report::MonitorReport;
use serde::{Deserialize, Serialize};

use crate::{
    args::{MonitorArgs, SourceArgs},
    error::{Context, Error, Result, ensure, wrong},
    files::Inputs,
    kind::{Kind, with_family},
    rows::PredictionForm,
    words::{counted, key, show},
};
use waiting::Waiting;
use words::{MonitorAnswer, PageNumbers};

/// The file of a state.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    family: String,
    /// The names of the columns of predictions; empty without.
    columns: Vec<String>,
    /// The names of classes for sentences; empty where they are numbers.
    class_names: Vec<String>,
    waiting: Waiting,
    monitor: CalibrationMonitor,
}

/// Adds the rows, writes the state, and prints the answer. Returns whether these rows raise an alarm.
pub fn run(args: &MonitorArgs, json: bool) -> Result<bool> {
    let (answer, state) = answer(args, State::of_file(&args.state)?)?;
    file::write(&args.state, state.as_bytes()).of(&args.state)?;
    show("monitor", &answer, json)?;
    Ok(answer.is_alarm)
}

/// Adds the rows to a state, or to a new one; returns the answer, and the state as JSON.
pub fn answer(args: &MonitorArgs, state: Option<State>) -> Result<(MonitorAnswer, String)> {
    let path = &args.state;
    let mut state = match state {
        Some(state) => state.with_options_of(args)?,
        None => State::new(args)?,
    };
    let before = state.monitor.state().clone();
    ensure!(
        args.source.labels.weights.is_none(),
        "--weights: a monitor takes rows without weights, expected none"
    );
    let change = if args.source.rows.id.is_some() {
        with_family!(args.family, P => state.add_by_id::<P>(args))?
    } else {
        ensure!(
            state.waiting.is_empty(),
            "{}: {} wait for their labels, expected --id COLUMN",
            path.display(),
            counted(state.waiting.len(), "row")
        );
        let predictions = args.predictions.as_deref();
        let predictions = predictions.ok_or_else(|| wrong!("expected --predictions FILE"))?;
        let mut source = args.source.clone();
        // labels of --soft-labels that are drawn in other calls are independent
        source.seed = source.seed.wrapping_add(before.rows);
        with_family!(args.family, P => state.add::<P>(predictions, &source))?
    };
    let answer = MonitorAnswer::new(&state, &before, change);
    Ok((answer, serde_json::to_string(&state)?))
}

impl State {
    /// The state of a file, if there is one.
    pub fn of_file(path: &Path) -> Result<Option<Self>> {
        if path.exists() {
            Self::parse(path, &file::read(path).of(path)?)
        } else {
            Ok(None)
        }
    }

    /// The state of a text, which errors name as a file; none of an empty one.
    pub fn parse(path: &Path, text: &[u8]) -> Result<Option<Self>> {
        if text.is_empty() {
            return Ok(None);
        }
        let state = serde_json::from_slice(text);
        let state = state.map_err(|reason| {
            wrong!("{reason}; expected a state that monitor of this version wrote")
        });
        state.of(path).map(Some)
    }

    /// A state without rows.
    fn new(args: &MonitorArgs) -> Result<Self> {
        let monitor = CalibrationMonitor::new(args.level.unwrap_or(0.05))?;
        let rows = args.rows_between_alarms.unwrap_or(10_000.0);
        Ok(Self {
            family: key(args.family),
            columns: Vec::new(),
            class_names: Vec::new(),
            waiting: Waiting::default(),
            monitor: monitor.with_rows_between_alarms(rows)?,
        })
    }

    /// The state, if its options are those of the arguments.
    fn with_options_of(self, args: &MonitorArgs) -> Result<Self> {
        let path = &args.state;
        let known = self.monitor.state();
        let fixed = |option: &str, given: Option<f64>, known: f64| {
            let is_same = given.is_none_or(|given| given == known);
            ensure!(
                is_same,
                "{}: {option} is {known} since the first row, expected the same or none",
                path.display()
            );
            Ok(())
        };
        fixed("--level", args.level, known.alpha)?;
        let between = args.rows_between_alarms;
        fixed("--rows-between-alarms", between, known.rows_between_alarms)?;
        ensure!(
            self.family == key(args.family),
            "{}: the rows are of --family {}, expected the same family",
            path.display(),
            self.family
        );
        Ok(self)
    }

    /// The sentences and the page.
    pub fn report(&self) -> MonitorReport<'_> {
        MonitorReport::new(&self.monitor, &self.class_names)
    }

    /// The page under a title, if there is one.
    pub fn report_under(&self, title: Option<&str>) -> MonitorReport<'_> {
        let report = self.report();
        match title {
            Some(title) => report.with_title(title),
            None => report,
        }
    }

    /// The numbers of a page that was written with its pictures to files.
    pub fn page_numbers(&self, files: Vec<String>) -> impl Serialize {
        PageNumbers::new(self, files)
    }

    /// Lets predictions wait, and adds the rows whose labels are there. Returns the first alarm of the detector.
    fn add_by_id<P: Kind + Monitored>(&mut self, args: &MonitorArgs) -> Result<Option<Change>> {
        let waiting = &mut self.waiting;
        let labelled = waiting.take_labelled::<P>(args, &self.columns, &self.monitor)?;
        let Some(labelled) = labelled else {
            return Ok(None);
        };
        let change = self.add::<P>(&labelled.predictions, &labelled.source);
        change.or_else(|error| {
            let (path, ids) = labelled.ids;
            let reason = match error.into_row() {
                (Some(row), reason) => format!("the id {}: {reason}", clipped(&ids[row])),
                (None, reason) => reason,
            };
            Err(Error::new(reason)).of(&path)
        })
    }

    /// Adds the rows of files. Returns the first alarm of the detector.
    fn add<P: Kind + Monitored>(
        &mut self,
        path: &Path,
        source: &SourceArgs,
    ) -> Result<Option<Change>> {
        let mut loaded = P::read(&Inputs::of(path), source, PredictionForm::Probabilities)?;
        let predictions = loaded.sets.remove(0);
        let columns = loaded.event.map_or(loaded.columns, |name| vec![name]);
        check_columns(path, &columns, &self.columns)?;
        if self.columns.is_empty() {
            self.columns = columns;
        }
        self.class_names = match predictions.predicted() {
            Subject::Event => vec!["no event".into(), "the event".into()],
            Subject::Correctness => vec!["wrong".into(), "a right label".into()],
            Subject::Classes => loaded.data.class_names,
        };
        let change = self.monitor.update(&predictions, &loaded.targets);
        change.of(path)
    }
}

/// Checks that the names of columns, if there are some, are those of the rows before.
fn check_columns(path: &Path, found: &[String], expected: &[String]) -> Result<()> {
    ensure!(
        found.is_empty() || expected.is_empty() || found == expected,
        "{}: the columns are {}, expected {} as before; --columns selects them in their order, and other columns need \
         another --state",
        path.display(),
        clipped(&found.join(", ")),
        clipped(&expected.join(", "))
    );
    Ok(())
}
