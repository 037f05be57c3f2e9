use std::path::{Path, PathBuf};

use maud::html;

use super::{
    drawn::Drawn,
    monitor_picture,
    number::counted,
    outcome::save_all,
    page::{self, capital, figure},
};
use burn_calibration::{
    error::Result,
    file,
    monitor::{CalibrationMonitor, Change, Component, Part, Stream},
    numbers::{self, decimals, points, significant},
    score::Interval,
};

/// A report on a [`CalibrationMonitor`]: in sentences, in lines of numbers, and on a page.
///
/// The page has the wealth over the rows with the level of the test, the detector with its alarms, and the numbers.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{distribution::Categorical, monitor::CalibrationMonitor};
/// use burn_calibration_report::MonitorReport;
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// let mut monitor = CalibrationMonitor::new(0.05)?;
/// let rows = Tensor::<2>::from_floats([[0.9, 0.1]; 40], &device);
/// let labels = Tensor::<1, Int>::arange(0..40, &device).remainder_scalar(2); // half of them wrong
/// monitor.update(&Categorical::from_probabilities(rows)?, &labels)?;
///
/// let report = MonitorReport::new(&monitor, &[]);
/// assert!(report.verdict().starts_with("The model has not been calibrated: p = 0.00"));
/// assert!(report.to_html().contains("<h2>Wealth</h2>"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct MonitorReport<'a> {
    monitor: &'a CalibrationMonitor,
    class_names: &'a [String],
    title: String,
}

/// A number of a [`MonitorReport`] in words.
#[derive(Debug, Clone, PartialEq)]
pub struct MonitorLine {
    /// The name of the number.
    pub title: String,
    /// The number.
    pub text: String,
}

impl MonitorLine {
    /// Creates a line.
    pub fn new(title: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            text: text.into(),
        }
    }
}

impl<'a> MonitorReport<'a> {
    /// Creates the report of a monitor.
    ///
    /// - class_names: names of the classes; empty for their numbers
    pub fn new(monitor: &'a CalibrationMonitor, class_names: &'a [String]) -> Self {
        Self {
            monitor,
            class_names,
            title: "Calibration in production".into(),
        }
    }

    /// Sets the title of the page.
    pub fn with_title(self, title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..self
        }
    }

    /// Whether the test has had an alarm, or a fact refutes the predictions.
    pub fn is_rejected(&self) -> bool {
        self.monitor.state().alarm_at.is_some()
    }

    /// The sentence about the test: whether the model has ever been miscalibrated.
    pub fn verdict(&self) -> String {
        let state = self.monitor.state();
        let p = decimals(state.p_value(), 4, 1);
        match (state.refuted, state.alarm_at) {
            (Some(row), _) => {
                let fact = "gave the probability 0 to what happened";
                format!("The predictions are refuted by a fact: row {row} {fact}.")
            }
            (None, Some(row)) => format!(
                "The model has not been calibrated: p = {p}, an alarm of the test at row {row}."
            ),
            (None, None) => {
                let rows = numbers::counted(state.rows as usize, "row");
                if state.alarms > 0 {
                    format!("The test of all {rows} has no alarm: p = {p}.")
                } else {
                    format!("No evidence against calibration after {rows}: p = {p}.")
                }
            }
        }
    }

    /// The sentence about an alarm of the detector; none if the alarm is a fact, of which the verdict speaks.
    pub fn alarm(&self, change: &Change) -> Option<String> {
        let Change { alarm, since, .. } = change;
        let reason = self.sentence(change.component.as_ref()?);
        let between = self.monitor.state().rows_between_alarms;
        let rate = format!("in {between} rows or more a calibrated model has one such alarm");
        Some(format!(
            "Alarm at row {alarm} ({rate}): the model seems miscalibrated, about since row {since}: {reason}."
        ))
    }

    /// The numbers, the most important first. Rows count from 0.
    pub fn lines(&self) -> Vec<MonitorLine> {
        let (monitor, state) = (self.monitor, self.monitor.state());
        let [wealth, most] = [state.wealth, state.max_wealth].map(|x| {
            if x.is_infinite() {
                "∞".into()
            } else {
                significant(x, 3)
            }
        });
        let mut lines = vec![
            MonitorLine::new("p-value at every moment", decimals(state.p_value(), 4, 1)),
            MonitorLine::new("wealth", format!("{wealth}, at most {most}")),
        ];
        // before an alarm the component is chance, and after a fact the wealth has no shares
        let has_shares = self.is_rejected() && state.refuted.is_none();
        if let Some(gain) = monitor.winner().filter(|_| has_shares) {
            let share = 100.0 * gain.weight * gain.wealth() / state.wealth;
            let (sentence, since) = (self.sentence(&gain), gain.since());
            let share = significant(share, 3);
            let text = format!("{sentence} ({share} % of the wealth, since row {since})");
            lines.push(MonitorLine::new("largest gain", text));
        }
        let (value, between) = (significant(state.detector, 3), state.rows_between_alarms);
        let alarms = counted(state.alarms as usize, "alarm");
        let mut detector = format!("{value} of {between}, {alarms}");
        if let Some(Change { alarm, since, .. }) = &state.change {
            detector += &format!(", the last at row {alarm}, of a change about at row {since}");
        }
        lines.push(MonitorLine::new("detector", detector));
        let title = match monitor.stream() {
            Some(Stream::Classes(_)) => "overconfidence, points",
            Some(Stream::Density(_) | Stream::Draws(_)) => "1/2 minus mean PIT, points",
            _ => "overprediction, points",
        };
        let error = monitor.mean_error();
        lines.extend(error.map(|error| MonitorLine::new(title, bounds(&error))));
        lines.extend(monitor.coverage().iter().filter_map(coverage));
        lines
    }

    fn sentence(&self, component: &Component) -> String {
        component.sentence(self.class_names)
    }

    /// The page: one file without scripts, links or resources to load, and well-formed XML.
    pub fn to_html(&self) -> String {
        let state = self.monitor.state();
        let change = state.change.as_ref().and_then(|change| self.alarm(change));
        let rows = counted(state.rows as usize, "row");
        let overview = html! {
            div.answer {
                p.verdict { strong { (self.verdict()) } }
                @if let Some(change) = change { p { "The last alarm of the detector. " (change) } }
            }
            p { (rows) ", counted from 0 in the order in which their targets became known." }
        };
        let mut drawings = self.drawings().into_iter().map(|(_, drawn)| drawn);
        let [wealth, detector] = [(); 2].map(|()| drawings.next().expect("two pictures"));
        let level = significant(100.0 * state.alpha, 3);
        let wealth = html! {
            h2 { "Wealth" }
            p {
                "Each row is a bet against the predictions. The wealth begins at 1. If each prediction is calibrated given the "
                "rows before it, the wealth ever reaches the dashed line with a probability of at most " (level) "\u{a0}%. A "
                "diamond is an alarm: there is evidence that the model has not been calibrated."
            }
            (figure(&wealth, "The largest wealth from each point to the next one, on an axis of powers of ten.", &html! {}))
        };
        let between = state.rows_between_alarms;
        let detector = html! {
            h2 { "Has the model become miscalibrated?" }
            p {
                "The detector is the sum of the wealth of bets that begin at each row so far. It has an alarm at the dashed "
                "line, and then starts again. Under the same condition, alarms are at least " (between) " rows apart in the "
                "mean. A diamond is a point with an alarm."
            }
            (figure(
                &detector,
                "The largest value of the detector from each point to the next one, on an axis of powers of ten.",
                &monitor_picture::numbers(self.monitor)
            ))
        };
        let numbers = html! {
            h2 { "Numbers" }
            table.numbers.lines {
                caption { "After all rows. Bounds and p-values hold after every row, however often they are looked at." }
                tbody {
                    @for line in self.lines() {
                        "\n" tr { th scope="row" { (capital(&line.title)) } td { (line.text) } }
                    }
                }
            }
        };
        let method = html! {
            h2 { "How it was computed" }
            p.method {
                "The wealth is a mixture of likelihood ratios of recalibrations of each prediction, which are fixed or learned "
                "from the rows before. It is a non-negative martingale if each prediction is calibrated given the rows before "
                "it (Ville 1939; Shafer 2021; Henzi and Ziegel 2022). The detector is of the Shiryaev–Roberts kind (Shin, "
                "Ramdas and Rinaldo 2023). Bounds are confidence sequences (Howard, Ramdas, McAuliffe and Sekhon 2021). Rows "
                "must enter in an order that does not depend on their targets. Targets that are predicted together and share "
                "a cause may raise an alarm although each prediction is right by itself. An error of groups that cancels, and "
                "one that no recalibration describes, is found late or never. burn-calibration " (env!("CARGO_PKG_VERSION")) "."
            }
        };
        page::page(&self.title, &[overview, wealth, detector, numbers, method])
    }

    /// Saves the page of [`to_html`](Self::to_html), by a temporary file that is renamed.
    ///
    /// # Errors
    ///
    /// [`Error::File`](burn_calibration::error::Error::File) if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        file::write(path.as_ref(), self.to_html().as_bytes())
    }

    /// Saves both pictures, `wealth.svg` and `detector.svg`, in a folder, which is created if it does not exist. Returns
    /// the names of the files.
    ///
    /// # Errors
    ///
    /// [`Error::File`](burn_calibration::error::Error::File) if a file cannot be written.
    pub fn save_diagrams(&self, folder: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
        save_all(folder.as_ref(), &self.drawings())
    }

    fn drawings(&self) -> Vec<(String, Drawn)> {
        vec![
            ("wealth".into(), monitor_picture::wealth(self.monitor)),
            ("detector".into(), monitor_picture::detector(self.monitor)),
        ]
    }
}

/// A mean error with its bounds, in points.
fn bounds(error: &Interval) -> String {
    let ends = [error.estimate, error.lower, error.upper].map(|x| points(x, 2));
    let [estimate, lower, upper] = ends;
    let level = 100.0 * error.level;
    format!("{estimate} [{lower}, {upper}], {level} % bounds at every moment")
}

/// The coverage of a range with its bounds, in per cent.
fn coverage((part, coverage): &(Part, Interval)) -> Option<MonitorLine> {
    let Part::Range { low, .. } = part else {
        return None;
    };
    let level = significant_percent(part.level()?);
    let title = if *low == 0.0 {
        format!("below the {level} quantile, %")
    } else {
        format!("in the {level} interval, %")
    };
    Some(MonitorLine::new(title, bounds(coverage)))
}

/// A level without rounding errors: `90 %`.
fn significant_percent(level: f64) -> String {
    format!("{} %", (1e9 * level).round() / 1e7)
}
