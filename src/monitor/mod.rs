//! Watching a model in production: tests and alarms that are right at every moment.
//!
//! A p-value that is looked at daily has no level. A [`CalibrationMonitor`] bets against the predictions
//! instead. If each prediction is calibrated given all rows before it, the wealth
//! `E_t = Σ_k w_k Π_{s ≤ t} q_s^k(Y_s)/p_s(Y_s)` of recalibrations `q^k` that are fixed or learned from the past
//! is a non-negative martingale from 1, however the rows depend on each other. So
//! `P(sup_t E_t ≥ 1/α) ≤ α` (Ville 1939), and `min(1, 1/max_s E_s)` is a p-value at any moment. Targets that are
//! predicted together and share a cause are [another case](crate::guide::monitor#what-must-hold).
//!
//! A detector answers whether the model has *become* miscalibrated: `M_t^k = R_t^k (M_{t−1}^k + 1)`, with an alarm
//! at `Σ_k w_k M_t^k ≥ A`. False alarms are at least `A` rows apart in the mean (Shin, Ramdas and Rinaldo 2023).
//! It starts again after an alarm.
//!
//! The order of rows matters, and must not depend on their targets. So monitors of two pieces of a stream cannot
//! be merged; save the state, and go on with it. A tie of a target with a quantile counts as the worse of both
//! sides; one with draws has the mean of the places that it may have. Nothing is drawn at random.
//!
//! The sources are Shafer, "Testing by betting" (2021), Henzi and Ziegel (2022), Arnold, Henzi and Ziegel (2023),
//! and Howard, Ramdas, McAuliffe and Sekhon (2021) for the confidence sequence.
//!
//! ```
//! use burn::tensor::{Device, Int, Tensor};
//! use burn_calibration::{distribution::Categorical, monitor::CalibrationMonitor};
//!
//! # fn main() -> burn_calibration::error::Result<()> {
//! let device = Device::default();
//! let mut monitor = CalibrationMonitor::new(0.05)?.with_rows_between_alarms(10_000.0)?;
//! for _day in 0..5 {
//!     let predictions = Tensor::<2>::from_floats([[0.1, 0.9], [0.3, 0.7]], &device).repeat_dim(0, 20);
//!     let labels = Tensor::<1, Int>::from_ints([0, 1], &device).repeat_dim(0, 20); // half of them wrong
//!     monitor.update(&Categorical::from_probabilities(predictions)?, &labels)?;
//! }
//! let state = monitor.state();
//! assert!(state.p_value() < 1e-6 && state.alarm_at.is_some() && state.alarms > 0);
//! let resumed: CalibrationMonitor = serde_json::from_str(&serde_json::to_string(&monitor).unwrap()).unwrap();
//! assert_eq!(resumed, monitor);
//! # Ok(())
//! # }
//! ```

mod component;
mod events;
mod exact;
mod finding;
mod history;
mod reals;
mod sentence;
mod sequence;

pub use component::{Component, Part, Stream};
pub use finding::Finding;
pub use history::HistoryPoint;

use serde::{Deserialize, Serialize};

use crate::{
    distribution::Predictive,
    error::{Error, Result, check_inside, check_positive},
    score::Interval,
};
use finding::{Capital, findings};
use sequence::Sums;

/// Predictions that a [`CalibrationMonitor`] watches: classes, densities, draws and quantiles.
#[diagnostic::on_unimplemented(
    message = "the monitor does not take predictions `{Self}`",
    label = "not predictions that a monitor watches",
    note = "a tensor of logits becomes predictions by `Categorical::from_logits(logits)?`, one of probabilities \
            by `Categorical::from_probabilities(probabilities)?`"
)]
pub trait Monitored: Predictive {
    /// The kind of the predictions.
    fn stream(&self) -> Stream;

    /// Adds valid rows to a monitor with components of this kind. [`CalibrationMonitor::update`] checks both.
    ///
    /// # Errors
    ///
    /// Invalid targets, before any row is added.
    fn bet(&self, targets: &Self::Targets, monitor: &mut CalibrationMonitor) -> Result<()>;
}

/// A test and a detector of miscalibration for a stream of predictions. See the [module](self).
///
/// Its size does not depend on the number of rows. As JSON it resumes bit for bit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrationMonitor {
    version: Version,
    stream: Option<Stream>,
    state: MonitorState,
    /// The sums of the errors, or for quantiles two of each range: of targets certainly in it, and of those possibly.
    errors: Vec<Sums>,
    /// The first alarm of the detector in this update.
    #[serde(skip)]
    first: Option<Change>,
}

/// The version of a saved monitor. One of another version is refused.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Version {
    #[serde(rename = "1")]
    One,
}

/// The test and the detector after the rows so far. Rows are numbered from 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct MonitorState {
    /// The number of rows.
    pub rows: u64,
    /// The level of the test.
    #[serde(with = "exact")]
    pub alpha: f64,
    /// `E_t`; infinite if the predictions are refuted.
    #[serde(with = "exact")]
    pub wealth: f64,
    /// The largest `E_s` so far.
    #[serde(with = "exact")]
    pub max_wealth: f64,
    /// The first row at which the wealth was `1/α` or more: the test rejects calibration since then.
    pub alarm_at: Option<u64>,
    /// The first row whose prediction gave what happened the probability 0. This fact refutes the predictions.
    pub refuted: Option<u64>,
    /// `Σ_k w_k M_t^k` of the detector. At `rows_between_alarms` it has an alarm, and starts again.
    #[serde(with = "exact")]
    pub detector: f64,
    /// The least mean number of rows between false alarms of the detector.
    #[serde(with = "exact")]
    pub rows_between_alarms: f64,
    /// The number of alarms of the detector.
    pub alarms: u64,
    /// The last of these alarms.
    pub change: Option<Change>,
    /// The components, with their wealth.
    pub components: Vec<Component>,
    /// The history of wealth and detector, in order: at most 512 points, each of as many rows.
    pub history: Vec<HistoryPoint>,
}

/// An alarm of the detector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The row of the alarm.
    pub alarm: u64,
    /// The estimated first row after the change: the row after the last minimum of the component's wealth. Alarms that
    /// follow each other may be of one change.
    pub since: u64,
    /// The component that gained most, with the findings of the rows since the alarm before; none if the prediction
    /// gave what happened the probability 0.
    pub component: Option<Component>,
}

impl MonitorState {
    /// The p-value `min(1, 1/max_s E_s)`, valid after every row.
    pub fn p_value(&self) -> f64 {
        1.0 / self.max_wealth
    }
}

impl CalibrationMonitor {
    /// Creates a monitor whose test has false alarms in at most `alpha` of all streams. The detector has at least
    /// 10,000 rows between false alarms in the mean. The components are [those](Stream::components) of the first
    /// predictions.
    ///
    /// # Errors
    ///
    /// An `alpha` that is not between 0 and 1.
    pub fn new(alpha: f64) -> Result<Self> {
        check_inside("alpha", alpha)?;
        Ok(Self {
            version: Version::One,
            stream: None,
            state: MonitorState {
                rows: 0,
                alpha,
                wealth: 1.0,
                max_wealth: 1.0,
                alarm_at: None,
                refuted: None,
                detector: 0.0,
                rows_between_alarms: 10_000.0,
                alarms: 0,
                change: None,
                components: Vec::new(),
                history: Vec::new(),
            },
            errors: Vec::new(),
            first: None,
        })
    }

    /// Sets the least mean number of rows between false alarms of the detector.
    ///
    /// # Errors
    ///
    /// A number that is not positive.
    pub fn with_rows_between_alarms(mut self, rows: f64) -> Result<Self> {
        check_positive("the rows between alarms", rows)?;
        self.state.rows_between_alarms = rows;
        Ok(self)
    }

    /// Adds rows, in the order in which their targets became known. Returns the first alarm of the detector among them.
    /// A row takes a few nanoseconds for each component, or the time of a density.
    ///
    /// # Errors
    ///
    /// Invalid predictions or targets, with their row and value; weights; predictions of another kind than before.
    /// No row is added then.
    pub fn update<P: Monitored>(
        &mut self,
        predictions: &P,
        targets: &P::Targets,
    ) -> Result<Option<Change>> {
        self.check(predictions)?;
        predictions.check_targets(targets)?;
        let stream = predictions.stream();
        if self.stream.is_none() {
            (self.state.components, self.stream) = (stream.components(), Some(stream));
        }
        predictions.bet(targets, self)?;
        Ok(self.first.take())
    }

    /// Checks predictions whose targets are still to come, as [`update`](Self::update) does.
    ///
    /// # Errors
    ///
    /// The errors of `update`.
    pub fn check<P: Monitored>(&self, predictions: &P) -> Result<()> {
        predictions.check()?;
        let stream = predictions.stream();
        let (what, expected) = match &self.stream {
            Some(known) if *known != stream => (
                format!("predictions of the kind {stream:?} after {known:?}"),
                "the same kind in all updates, or a monitor of its own",
            ),
            Some(_) if !stream.has(&self.state.components) => (
                format!("a saved monitor of {stream:?} with other components"),
                "those that a monitor of such predictions has",
            ),
            _ => return Ok(()),
        };
        Err(Error::Unsupported { what, expected })
    }

    /// Adds a row.
    ///
    /// - is_possible: whether the prediction gave what happened a positive probability
    /// - ratio: the ratio of a component at a place of the list; the component may learn
    /// - errors: those of the confidence sequences, as many in every row
    fn add(
        &mut self,
        is_possible: bool,
        mut ratio: impl FnMut(usize, &mut Component) -> f64,
        errors: &[f64],
    ) {
        let state = &mut self.state;
        let row = state.rows;
        state.rows += 1;
        self.errors.resize(errors.len(), Sums::default());
        let pairs = self.errors.iter_mut().zip(errors);
        pairs.for_each(|(sums, error)| sums.add(*error));
        let (mut wealth, mut detector) = (0.0, 0.0);
        if is_possible {
            for (k, component) in state.components.iter_mut().enumerate() {
                let ratio = ratio(k, component);
                component.step(ratio, row);
                wealth += component.weight * component.wealth;
                detector += component.weight * component.detector;
            }
        } else {
            state.refuted.get_or_insert(row);
        }
        if state.refuted.is_some() {
            wealth = f64::INFINITY;
        }
        (state.wealth, state.detector) = (wealth, detector);
        state.max_wealth = state.max_wealth.max(state.wealth);
        if state.alarm_at.is_none() && state.wealth * state.alpha >= 1.0 {
            state.alarm_at = Some(row);
        }
        let is_change = !is_possible || state.detector >= state.rows_between_alarms;
        let point = HistoryPoint {
            row,
            wealth,
            detector,
            alarms: u64::from(is_change),
        };
        history::add(&mut state.history, point);
        if !is_change {
            return;
        }
        // an alarm, which a component explains or a fact; then the detector starts again
        let before = state.change.as_ref();
        let unchanged = before.map_or(row + 1, |before| row - before.alarm);
        let most = self.largest(|component| component.detector.ln(), (unchanged as f64).ln());
        let component = most.filter(|_| is_possible);
        let since = component.as_ref().map_or(row, Component::since);
        let change = Change {
            alarm: row,
            since,
            component,
        };
        self.first.get_or_insert_with(|| change.clone());
        let state = &mut self.state;
        (state.change, state.detector) = (Some(change), 0.0);
        state.alarms += 1;
        let components = state.components.iter_mut();
        components.for_each(|component| component.detector = 0.0);
    }

    /// The component with the largest weighted capital, with the findings about its part.
    ///
    /// - log: the logarithm of the capital of a component per unit of its weight
    /// - unchanged: that of the predictions themselves
    fn largest(&self, log: impl Fn(&Component) -> f64, unchanged: f64) -> Option<Component> {
        let components = &self.state.components;
        let weighted = |component: &Component| component.weight.ln() + log(component);
        let largest = components.iter();
        let mut largest = (largest.max_by(|a, b| weighted(a).total_cmp(&weighted(b))))?.clone();
        // a density is moved in all coordinates at once: a gain does not say in which of them it is wrong
        if !matches!(self.stream, Some(Stream::Density(2..))) {
            let of_part = components.iter().filter(|one| one.part == largest.part);
            let capital = |component| Capital {
                component,
                log: log(component),
            };
            let capitals = of_part.filter(|one| !one.learns()).map(capital);
            largest.findings = findings(largest.part, &capitals.collect::<Vec<_>>(), unchanged);
        }
        Some(largest)
    }

    /// The kind of the predictions; none before the first update.
    pub fn stream(&self) -> Option<&Stream> {
        self.stream.as_ref()
    }

    /// The test and the detector after the rows so far.
    pub fn state(&self) -> &MonitorState {
        &self.state
    }

    /// The component with most of the wealth, with the findings of all rows; none while no component has gained.
    pub fn winner(&self) -> Option<Component> {
        let winner = self.largest(Component::log_wealth, 0.0);
        winner.filter(|winner| winner.log_wealth() > 0.0)
    }

    /// The mean error of all rows so far, with bounds that hold after every row with probability `1 − α`: the bounds
    /// are for the mean of its expectations, each given the rows before. None before the first row, and none for
    /// quantiles, which have their [coverage](Self::coverage).
    ///
    /// The error is that of the event, predicted probability less outcome; of classes, confidence less whether the
    /// label is right; of real targets, ½ less the predicted distribution function at the target, or its rank among
    /// draws. It is positive for overprediction and overconfidence.
    pub fn mean_error(&self) -> Option<Interval> {
        match &self.errors[..] {
            [sums] => Some(sums.interval(self.state.rows, self.state.alpha)),
            _ => None,
        }
    }

    /// The coverage of each range of quantiles in all rows so far: the share of targets below each quantile, then that
    /// in each central interval. Empty before the first row, and for predictions that are no quantiles.
    ///
    /// A target that equals a quantile may count on either side of it. The lower bound is of the targets that are in the
    /// range on both counts, the upper bound of those that are on one, and the estimate is the share between these
    /// nearest to the [level](Part::level). With probability `1 − α` the bounds of calibrated forecasts contain the
    /// levels of all ranges after every row.
    pub fn coverage(&self) -> Vec<(Part, Interval)> {
        let ranges = self.stream.as_ref().map_or(vec![], Stream::ranges);
        let (rows, alpha) = (self.state.rows, self.state.alpha / ranges.len() as f64);
        let pairs = ranges.into_iter().zip(self.errors.chunks_exact(2));
        let of_range = |(part, sums): (Part, &[Sums])| {
            let [sure, possible] = [&sums[0], &sums[1]].map(|sums| sums.interval(rows, alpha));
            let level = part.level()?;
            let coverage = Interval {
                estimate: level + 0.0f64.clamp(sure.estimate, possible.estimate),
                lower: (level + sure.lower).max(0.0),
                upper: (level + possible.upper).min(1.0),
                level: 1.0 - self.state.alpha,
            };
            Some((part, coverage))
        };
        pairs.filter_map(of_range).collect()
    }
}
