//! Scalar maps of knots: probabilities at knots among the log-odds, linear between them.

use burn::{
    module::Module,
    tensor::{Device, Int, Tensor},
};

use super::{closed_form_by_event, event::sigmoid, odds, recalibrated};
use crate::{
    error::Result,
    host::to_vec,
    recalibration::{
        FitTask, LogitFit,
        fitted::Form,
        parameter::{Parameter, check_shape, parameter},
        task::NoDescent,
    },
};

/// A knot of a function that is linear between its knots.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knot {
    /// The argument.
    pub place: f64,
    /// The value of the function there.
    pub value: f64,
}

impl From<[f64; 2]> for Knot {
    fn from([place, value]: [f64; 2]) -> Self {
        Self { place, value }
    }
}

/// For each event a function of its log-odds, linear between knots, constant beyond them.
#[derive(Module, Debug)]
pub struct Table {
    /// `[k, l]`, non-decreasing in each row; `l` is a power of two, and the last knot of an event is repeated up to it.
    knots: Parameter<2>,
    /// The log-odds of the probability at each knot, `[k, l]`.
    values: Parameter<2>,
}

impl Table {
    /// Every event has the probability one half.
    pub fn template(width: usize, device: &Device) -> Self {
        let zero = Knot::from([0.0; 2]);
        Self::new(vec![vec![zero]; odds::events(width)], device)
    }

    /// The table of events, for each of which there are log-odds by increasing value, at least one, and the
    /// recalibrated log-odds there, finite. Two that are equal are a jump.
    fn new(rows: Vec<Vec<Knot>>, device: &Device) -> Self {
        let [knots, values] = padded(rows, device);
        Self { knots, values }
    }

    /// The knots of each event with the probabilities there.
    pub fn probabilities(&self) -> Vec<Vec<Knot>> {
        let mut rows = padded_rows(&self.knots, &self.values);
        for knot in rows.iter_mut().flatten() {
            knot.value = sigmoid(knot.value);
        }
        rows
    }

    pub fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        recalibrated(logits, |scores| {
            interpolated(&self.knots, &self.values, scores)
        })
    }
}

impl Form for Table {
    fn check(&self) -> Result<(), String> {
        odds::check_events(self.knots.dims()[0])?;
        check_shape(&self.values, "values", self.knots.dims())?;
        check_knots(&self.knots)
    }

    fn width(&self) -> Option<usize> {
        Some(odds::classes(self.knots.dims()[0]))
    }
}

/// The fits of maps that are a table, by the knots of their configurations, and these knots. A criterion is an error with
/// the reason.
macro_rules! table_maps {
    ($($Map:ident by $Config:ident, $reason:literal;)*) => {$(
        impl LogitFit for super::$Config {
            type Map = super::$Map;

            fn find(&self, task: &mut FitTask) -> Result<super::$Map> {
                self.validate()?;
                let refusal = NoDescent {
                    map: super::$Map::KIND,
                    reason: $reason,
                };
                closed_form_by_event(task, refusal, |events, device| {
                    let knots = events.iter().map(|event| self.knots(event));
                    super::$Map::new(Table::new(knots.collect(), device), None)
                })
            }
        }

        impl super::$Map {
            /// Returns the knots of each event, by increasing log-odds, with the probabilities there: of class 1
            /// for two classes, otherwise of each class. The map is linear between them and constant beyond; two
            /// knots at the same log-odds are a jump.
            pub fn knots(&self) -> Vec<Vec<Knot>> {
                self.form.probabilities()
            }
        }
    )*};
}

table_maps! {
    HistogramBinning by HistogramBinningConfig,
        "the frequency in a bin has the least log loss and the least Brier score already";
    IsotonicRegression by IsotonicRegressionConfig,
        "pooling adjacent violators has the least log loss and the least Brier score already";
    SplineCalibration by SplineCalibrationConfig,
        "the spline is fitted to the cumulative accuracy by least squares";
}

/// The log-odds of a probability that is kept in `[ε, 1−ε]`, `ε = 1/(2(n+1))` of `n` samples.
pub(super) fn bounded(probability: f64, samples: f64) -> f64 {
    let margin = 0.5 / (samples + 1.0);
    let probability = probability.clamp(margin, 1.0 - margin);
    (probability / (1.0 - probability)).ln()
}

/// The knots and values of events, `[k, l]` each, with the last of an event repeated.
pub fn padded(events: Vec<Vec<Knot>>, device: &Device) -> [Parameter<2>; 2] {
    let longest = events.iter().map(Vec::len).max().unwrap_or(0);
    let shape = [events.len(), longest.next_power_of_two()];
    let row = |event: &Vec<Knot>| {
        let last = event.last().copied().unwrap_or([f64::NAN; 2].into());
        let row = event.clone().into_iter().chain(std::iter::repeat(last));
        row.take(shape[1]).collect::<Vec<_>>()
    };
    let knots: Vec<Knot> = events.iter().flat_map(row).collect();
    [|knot: &Knot| knot.place, |knot: &Knot| knot.value]
        .map(|of| parameter(knots.iter().map(of).collect(), shape, device))
}

/// The knots and values of each event, without the padding.
pub fn padded_rows(knots: &Parameter<2>, values: &Parameter<2>) -> Vec<Vec<Knot>> {
    let length = knots.dims()[1];
    let pairs = to_vec(knots.val()).into_iter().zip(to_vec(values.val()));
    let pairs: Vec<Knot> = pairs.map(|(place, value)| Knot { place, value }).collect();
    let without_padding = |row: &[Knot]| {
        let mut row = row.to_vec();
        row.dedup();
        row
    };
    pairs.chunks(length.max(1)).map(without_padding).collect()
}

/// Returns what is wrong with knots that were loaded.
pub(super) fn check_knots(knots: &Parameter<2>) -> Result<(), String> {
    let length = knots.dims()[1];
    if !length.is_power_of_two() {
        return Err(format!("no map has {length} knots"));
    }
    if to_vec(knots.val()).chunks(length).all(<[f64]>::is_sorted) {
        Ok(())
    } else {
        Err("the knots decrease".into())
    }
}

/// The number of knots below each score, `[k, n]`, of knots `[k, l]`: a binary search, `log₂ l` steps for all
/// entries at once.
pub fn knots_below(knots: &Tensor<2>, scores: &Tensor<2>) -> Tensor<2, Int> {
    let mut below = Tensor::<2, Int>::zeros(scores.dims(), &scores.device());
    let mut step = knots.dims()[1] / 2;
    let passed = |knot: Tensor<2, Int>| knots.clone().gather(1, knot).lower(scores.clone()).int();
    while step > 0 {
        below = below.clone() + passed(below + (step as i64 - 1)) * step as i64;
        step /= 2;
    }
    below.clone() + passed(below)
}

/// `log g` and `log(1−g)` of log-odds, `[n, k]`, linear in the log-odds between the probabilities at knots,
/// `[k, l]`; a score at a jump has the value below it.
pub(super) fn interpolated(
    knots: &Parameter<2>,
    values: &Parameter<2>,
    scores: Tensor<2>,
) -> [Tensor<2>; 2] {
    let [knots, values] = [knots, values].map(|numbers| numbers.val().cast(scores.dtype()));
    let scores = scores.transpose(); // [k, n]
    let last = knots.dims()[1] as i64 - 1;
    let right = knots_below(&knots, &scores.clone().detach());
    let left = (right.clone() - 1).clamp_min(0);
    let right = (left.clone() + 1).clamp_max(last);
    let start = knots.clone().gather(1, left.clone());
    let width = knots.gather(1, right.clone()) - start.clone();
    let no_width = width.clone().equal_elem(0.0);
    let way = (scores - start) / width.mask_fill(no_width.clone(), 1.0);
    let way = way.clamp(0.0, 1.0).mask_fill(no_width, 0.0);
    // from the lower end on, and never above the higher one: values rise or fall with the score after rounding too, and
    // those between equal ends are these to the last bit
    let between = |ends: Tensor<2>| {
        let [start, end] = [&left, &right].map(|at| ends.clone().gather(1, at.clone()));
        let falls = end.clone().lower(start.clone());
        let low = start.clone().mask_where(falls.clone(), end.clone());
        let high = end.mask_where(falls.clone(), start);
        let way = way.clone().mask_where(falls, -way.clone() + 1.0);
        let value = low.clone() + (high.clone() - low) * way;
        let above = (value.clone() - high).detach().clamp_min(0.0);
        (value - above).log().transpose()
    };
    // g and 1 − g apart, so that neither is lost beside 1
    let sigmoid = |t: Tensor<2>| odds::log_sigmoid(t).exp(); // Burn's default goes through f32
    [between(sigmoid(values.clone())), between(sigmoid(-values))]
}
