//! The answer of `monitor`, in JSON and in words.

use std::fmt;

use burn_calibration::{
    error::serialize_or_infinite,
    monitor::{Change, Component, HistoryPoint, MonitorState, Part, Stream},
    score::Interval,
};
use burn_calibration_report::MonitorLine;
use serde::Serialize;

use super::State;
use crate::words::{counted, verdict};

/// The answer after the rows so far. Rows count from 0, over all calls.
#[derive(Serialize)]
pub struct MonitorAnswer {
    pub family: String,
    /// The number of rows of all calls.
    rows: u64,
    /// The number of rows of this call.
    added: u64,
    waiting: usize,
    level: f64,
    /// Whether the rows of this call raise an alarm of the test or of the detector.
    pub is_alarm: bool,
    p_value: f64,
    #[serde(serialize_with = "serialize_or_infinite")]
    wealth: f64,
    #[serde(serialize_with = "serialize_or_infinite")]
    max_wealth: f64,
    /// The row of the alarm of the test.
    #[serde(skip_serializing_if = "Option::is_none")]
    alarm_at: Option<u64>,
    /// The row that had the probability 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    refuted: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    component: Option<Gain>,
    detector: Detector,
    /// Overconfidence, or overprediction, with bounds that hold after every row.
    #[serde(skip_serializing_if = "Option::is_none")]
    overconfidence: Option<Interval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overprediction: Option<Interval>,
    /// The coverage of each range of quantiles.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    coverage: Vec<Coverage>,
    #[serde(skip)]
    words: Words,
}

/// The answer in words.
struct Words {
    /// The first alarm of the detector in the rows of this call.
    alarm: Option<String>,
    verdict: String,
    is_rejected: bool,
    lines: Vec<MonitorLine>,
}

/// The coverage of a range of quantiles.
#[derive(Serialize)]
struct Coverage {
    part: Part,
    expected: Option<f64>,
    #[serde(flatten)]
    coverage: Interval,
}

/// The component with most of the wealth.
#[derive(Serialize)]
struct Gain {
    sentence: String,
    part: Part,
    factor: f64,
    shift: f64,
    /// Its share of the wealth.
    share: f64,
    since: u64,
}

#[derive(Serialize)]
struct Detector {
    value: f64,
    rows_between_alarms: f64,
    alarms: u64,
    /// The first alarm in the rows of this call.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<Alarm>,
    /// The last alarm of all rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<Alarm>,
}

#[derive(Serialize)]
struct Alarm {
    alarm: u64,
    since: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<String>,
}

impl MonitorAnswer {
    pub(super) fn new(state: &State, before: &MonitorState, change: Option<Change>) -> Self {
        let now = state.monitor.state();
        let sentence = |component: &Component| component.sentence(&state.class_names);
        let gain = |component: &Component| Gain {
            sentence: sentence(component),
            part: component.part,
            factor: component.factor,
            shift: component.shift,
            share: component.weight * component.wealth() / now.wealth,
            since: component.since(),
        };
        let alarm = |change: &Change| Alarm {
            alarm: change.alarm,
            since: change.since,
            sentence: change.component.as_ref().map(sentence),
        };
        let coverage = |(part, coverage): (Part, Interval)| Coverage {
            part,
            expected: part.level(),
            coverage,
        };
        let is_first = before.alarm_at.is_none() && now.alarm_at.is_some();
        let error = state.monitor.mean_error();
        let is_confidence = matches!(state.monitor.stream(), Some(Stream::Classes(_)));
        Self {
            family: state.family.clone(),
            rows: now.rows,
            added: now.rows - before.rows,
            waiting: state.waiting.len(),
            level: now.alpha,
            is_alarm: change.is_some() || is_first,
            p_value: now.p_value(),
            wealth: now.wealth,
            max_wealth: now.max_wealth,
            alarm_at: now.alarm_at,
            refuted: now.refuted,
            component: (state.monitor.winner().as_ref().map(gain))
                .filter(|_| now.refuted.is_none()),
            detector: Detector {
                value: now.detector,
                rows_between_alarms: now.rows_between_alarms,
                alarms: now.alarms,
                first: change.as_ref().map(alarm),
                last: now.change.as_ref().map(alarm),
            },
            overconfidence: error.filter(|_| is_confidence),
            overprediction: error.filter(|_| !is_confidence),
            coverage: state.monitor.coverage().into_iter().map(coverage).collect(),
            words: Words::new(state, before, change),
        }
    }
}

impl Words {
    fn new(state: &State, before: &MonitorState, change: Option<Change>) -> Self {
        let report = state.report();
        let rows = state.monitor.state().rows;
        let rows = format!("{rows} ({} new)", rows - before.rows);
        let mut lines = vec![MonitorLine::new("rows", rows)];
        lines.extend(report.lines());
        if !state.waiting.is_empty() {
            let rows = counted(state.waiting.len(), "row");
            lines.push(MonitorLine::new("waiting for labels", rows));
        }
        Self {
            alarm: change.and_then(|change| report.alarm(&change)),
            verdict: report.verdict(),
            is_rejected: report.is_rejected(),
            lines,
        }
    }
}

impl fmt::Display for MonitorAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = &self.words;
        if let Some(alarm) = &words.alarm {
            writeln!(f, "{}", verdict(alarm, false))?;
        }
        writeln!(f, "{}", verdict(&words.verdict, !words.is_rejected))?;
        writeln!(f)?;
        let mut lines = words.lines.iter();
        lines.try_for_each(|line| writeln!(f, "{:26} {}", line.title, line.text))
    }
}

/// The numbers of the page of a state.
#[derive(Serialize)]
pub struct PageNumbers {
    /// The page and the pictures.
    files: Vec<String>,
    #[serde(flatten)]
    answer: MonitorAnswer,
    history: Vec<Point>,
}

/// A point of the history, with numbers.
#[derive(Serialize)]
struct Point {
    row: u64,
    #[serde(serialize_with = "serialize_or_infinite")]
    wealth: f64,
    detector: f64,
    alarms: u64,
}

impl PageNumbers {
    pub(super) fn new(state: &State, files: Vec<String>) -> Self {
        let point = |point: &HistoryPoint| Point {
            row: point.row,
            wealth: point.wealth,
            detector: point.detector,
            alarms: point.alarms,
        };
        Self {
            files,
            answer: MonitorAnswer::new(state, state.monitor.state(), None),
            history: state.monitor.state().history.iter().map(point).collect(),
        }
    }
}
