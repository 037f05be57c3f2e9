//! `monitor`: adds rows to the state of a monitor, and says whether the model is still calibrated.

mod waiting;
mod words;

use std::path::Path;

use burn_calibration::{
    distribution::Subject,
    file,
    monitor::{CalibrationMonitor, Change, Monitored},
};
use burn_calibration_reader::{Held, clipped};
use burn_calibration_report::MonitorReport;
use serde::{Deserialize, Serialize};

use crate::{
    args::{MonitorArgs, SourceArgs},
    error::{Context, Error, Result, ensure, wrong},
    files::Inputs,
    kind::{Kind, with_family},
    program::HeldFiles,
    rows::Wanted,
    words::{DataWords, counted, key, show},
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

/// What the rows of a call say.
#[derive(Default)]
struct Added {
    /// The first alarm of the detector.
    change: Option<Change>,
    /// A note about rounded zeros.
    note: Option<String>,
}

/// Adds the rows, writes the state, and prints the answer. Returns whether these rows raise an alarm.
pub fn run(args: &MonitorArgs, json: bool) -> Result<bool> {
    let (answer, state) = answer(args)?;
    file::write(&args.state, state.as_bytes()).of(&args.state)?;
    show("monitor", &answer, json)?;
    Ok(answer.is_alarm)
}

/// Adds the rows to the state; returns the answer, and the state as JSON.
pub fn answer(args: &MonitorArgs) -> Result<(MonitorAnswer, String)> {
    let path = &args.state;
    let mut state = State::read(path, args)?;
    let before = state.monitor.state().clone();
    ensure!(
        args.source.labels.weights.is_none(),
        "--weights: a monitor takes rows without weights, expected none"
    );
    let added = if args.source.rows.id.is_some() {
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
    let answer = MonitorAnswer::new(&state, &before, added);
    Ok((answer, serde_json::to_string(&state)?))
}

impl State {
    /// The state of a file; none if there is no file, or an empty one in memory.
    pub fn of_file(path: &Path, held: &HeldFiles) -> Result<Option<Self>> {
        let text = match held.get(path) {
            Some(Held::Text(text)) => text.as_bytes().to_vec(),
            _ if path.exists() => file::read(path).of(path)?,
            _ => Vec::new(),
        };
        if text.is_empty() {
            return Ok(None);
        }
        let state = serde_json::from_slice(&text);
        let state = state.map_err(|reason| {
            wrong!("{reason}; expected a state that monitor of this version wrote")
        });
        state.of(path).map(Some)
    }

    /// The state of a file, which has the same options, or a new one.
    fn read(path: &Path, args: &MonitorArgs) -> Result<Self> {
        let family = key(args.family);
        let Some(state) = Self::of_file(path, &args.source.rows.held)? else {
            let monitor = CalibrationMonitor::new(args.level.unwrap_or(0.05))?;
            let rows = args.rows_between_alarms.unwrap_or(10_000.0);
            return Ok(Self {
                family,
                columns: Vec::new(),
                class_names: Vec::new(),
                waiting: Waiting::default(),
                monitor: monitor.with_rows_between_alarms(rows)?,
            });
        };
        let known = state.monitor.state();
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
            state.family == family,
            "{}: the rows are of --family {}, expected the same family",
            path.display(),
            state.family
        );
        Ok(state)
    }

    /// The sentences and the page.
    pub fn report(&self) -> MonitorReport<'_> {
        MonitorReport::new(&self.monitor, &self.class_names)
    }

    /// The numbers of a page that was written with its pictures to files.
    pub fn page_numbers(&self, files: Vec<String>) -> impl Serialize {
        PageNumbers::new(self, files)
    }

    /// Lets predictions wait, and adds the rows whose labels are there.
    fn add_by_id<P: Kind + Monitored>(&mut self, args: &MonitorArgs) -> Result<Added> {
        let waiting = &mut self.waiting;
        let labelled = waiting.take_labelled::<P>(args, &self.columns, &self.monitor)?;
        let Some(labelled) = labelled else {
            return Ok(Added::default());
        };
        let added = self.add::<P>(&labelled.predictions, &labelled.source);
        added.or_else(|error| {
            let (path, ids) = labelled.ids;
            let reason = match error.into_row() {
                (Some(row), reason) => format!("the id {}: {reason}", clipped(&ids[row])),
                (None, reason) => reason,
            };
            Err(Error::new(reason)).of(&path)
        })
    }

    /// Adds the rows of files.
    fn add<P: Kind + Monitored>(&mut self, path: &Path, source: &SourceArgs) -> Result<Added> {
        let mut loaded = P::read(&Inputs::of(path), source, Wanted::Probabilities)?;
        let predictions = loaded.sets.remove(0);
        if self.columns.is_empty() {
            self.columns = loaded.columns;
        } else {
            ensure!(
                loaded.columns.is_empty() || loaded.columns == self.columns,
                "{}: the columns are {}, expected {} as before; --columns selects them in their order",
                path.display(),
                loaded.columns.join(", "),
                self.columns.join(", ")
            );
        }
        let DataWords {
            class_names,
            rounded_zeros,
            ..
        } = loaded.data;
        self.class_names = match predictions.predicted() {
            Subject::Event => vec!["no event".into(), "the event".into()],
            Subject::Correctness => vec!["wrong".into(), "a right label".into()],
            Subject::Classes => class_names,
        };
        let change = self.monitor.update(&predictions, &loaded.targets);
        Ok(Added {
            change: change.of(path)?,
            note: rounded_zeros.map(|zeros| zeros.to_string()),
        })
    }
}
