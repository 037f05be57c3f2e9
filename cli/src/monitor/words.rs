//! The answer of `monitor`, in JSON and in words.

use std::fmt;

use burn_calibration::{
    error::serialize_or_infinite,
    monitor::{Change, Component, MonitorState, Part, Stream},
    numbers::{points, significant},
    score::Interval,
};
use serde::Serialize;

use super::{Added, State};
use crate::words::{probability, verdict};

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
    #[serde(skip)]
    note: Option<String>,
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
    pub(super) fn new(state: &State, before: &MonitorState, added: Added) -> Self {
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
        let is_first = before.alarm_at.is_none() && now.alarm_at.is_some();
        let error = state.monitor.mean_error();
        let is_confidence = matches!(state.monitor.stream(), Some(Stream::Classes(_)));
        Self {
            family: state.family.clone(),
            rows: now.rows,
            added: now.rows - before.rows,
            waiting: state.waiting.len(),
            level: now.alpha,
            is_alarm: added.change.is_some() || is_first,
            p_value: now.p_value(),
            wealth: now.wealth,
            max_wealth: now.max_wealth,
            alarm_at: now.alarm_at,
            refuted: now.refuted,
            component: state.monitor.winner().map(gain),
            detector: Detector {
                value: now.detector,
                rows_between_alarms: now.rows_between_alarms,
                alarms: now.alarms,
                first: added.change.as_ref().map(alarm),
                last: now.change.as_ref().map(alarm),
            },
            overconfidence: error.filter(|_| is_confidence),
            overprediction: error.filter(|_| !is_confidence),
            note: added.note,
        }
    }

    /// What has happened, the most important first.
    fn headlines(&self) -> Vec<(String, bool)> {
        let mut lines = Vec::new();
        if let Some(Alarm {
            alarm,
            since,
            sentence: Some(sentence),
        }) = &self.detector.first
        {
            let alarm = format!("Alarm at row {alarm}: the model has become miscalibrated");
            lines.push((
                format!("{alarm}, about since row {since}: {sentence}."),
                false,
            ));
        }
        let p = probability(self.p_value, false);
        lines.push(match (self.refuted, self.alarm_at) {
            (Some(row), _) => {
                let fact = "gave the probability 0 to what happened";
                (
                    format!("The predictions are refuted by a fact: row {row} {fact}."),
                    false,
                )
            }
            (None, Some(row)) => {
                let p = format!("p = {p}, an alarm of the test at row {row}");
                (format!("The model has not been calibrated: {p}."), false)
            }
            (None, None) => {
                let rows = format!("after {} rows", self.rows);
                (
                    format!("No evidence against calibration {rows}: p = {p}."),
                    true,
                )
            }
        });
        lines
    }
}

impl fmt::Display for MonitorAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (line, is_good) in self.headlines() {
            writeln!(f, "{}", verdict(&line, is_good))?;
        }
        self.note
            .iter()
            .try_for_each(|note| writeln!(f, "{note}"))?;
        let wealth = |x: f64| {
            if x.is_infinite() {
                "∞".into()
            } else {
                significant(x, 3)
            }
        };
        let mut lines = vec![
            (
                "rows",
                format!("{}, of which {} are new", self.rows, self.added),
            ),
            ("p-value at every moment", probability(self.p_value, false)),
            (
                "wealth",
                format!(
                    "{}, at most {}",
                    wealth(self.wealth),
                    wealth(self.max_wealth)
                ),
            ),
        ];
        if let Some(gain) = self.component.as_ref().filter(|_| self.alarm_at.is_some()) {
            let Gain {
                sentence,
                share,
                since,
                ..
            } = gain;
            let share = significant(100.0 * share, 3);
            let text = format!("{sentence} ({share} % of the wealth, since row {since})");
            lines.push(("largest gain", text));
        }
        let Detector {
            value,
            rows_between_alarms,
            alarms,
            last,
            ..
        } = &self.detector;
        let value = significant(*value, 3);
        let mut detector = format!("{value} of {rows_between_alarms}, {alarms} alarms");
        if let Some(Alarm { alarm, since, .. }) = last {
            detector += &format!(", the last at row {alarm}, of a change about at row {since}");
        }
        lines.push(("detector", detector));
        let errors = [
            ("overconfidence, points", &self.overconfidence),
            ("overprediction, points", &self.overprediction),
        ];
        for (title, interval) in errors {
            lines.extend(interval.map(|bounds| {
                let ends = [bounds.estimate, bounds.lower, bounds.upper];
                let [estimate, lower, upper] = ends.map(|x| points(x, 2));
                let level = 100.0 * bounds.level;
                let text =
                    format!("{estimate} [{lower}, {upper}], {level} % bounds at every moment");
                (title, text)
            }));
        }
        if self.waiting > 0 {
            lines.push(("waiting for labels", format!("{} rows", self.waiting)));
        }
        writeln!(f)?;
        lines
            .iter()
            .try_for_each(|(title, text)| writeln!(f, "{title:26} {text}"))
    }
}
