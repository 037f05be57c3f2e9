//! Scalar maps without a formula: probabilities at knots among the log-odds, linear between them.

use std::{fmt, marker::PhantomData};

use super::{
    event::{self, EventOutcomes},
    odds,
};
use crate::recalibration::{common::*, fit::closed_form};

/// A configuration that finds the knots of a map.
pub trait Tabulate: Clone + fmt::Debug + Send + Sync + 'static {
    /// The kind of the map, in words.
    const KIND: &'static str;
    /// The name at the command line.
    const NAME: &'static str;
    /// What the map is, in a few words.
    const ABOUT: &'static str;
    /// Why it can be fitted to no criterion.
    const CLOSED_FORM: &'static str;

    /// The configuration by default.
    const DEFAULT: fn(u64) -> Self;

    /// Checks the configuration.
    fn validate(&self) -> Result<()>;

    /// The log-odds of an event by increasing value, at least one, and the recalibrated log-odds there,
    /// finite. Two that are equal are a jump.
    fn knots(&self, event: &EventOutcomes) -> Vec<(f64, f64)>;
}

/// The least margin: what f32 tells from 0.
const LEAST: f64 = 1e-30;

/// A margin in its domain.
pub(super) fn check_margin(margin: Option<f64>) -> Result<()> {
    let margin = margin.unwrap_or(LEAST);
    let (inside, expected) = (
        (LEAST..0.5).contains(&margin),
        "a number of at least 1e-30 and below 1/2",
    );
    check_parameter(inside, "the margin", margin, expected)
}

/// The log-odds of a probability that is kept in `[ε, 1−ε]`; without a margin `ε = 1/(2(n+1))` of `n`
/// samples.
pub(super) fn bounded(probability: f64, margin: Option<f64>, samples: usize) -> f64 {
    let margin = margin.unwrap_or(0.5 / (samples as f64 + 1.0));
    let bound = ((1.0 - margin) / margin).ln();
    let probability = probability.clamp(0.0, 1.0);
    (probability / (1.0 - probability))
        .ln()
        .clamp(-bound, bound)
}

/// The parameters of a map without a formula: for each event a function of its log-odds, linear between
/// knots, constant beyond them.
#[derive(Module, Debug)]
pub struct KnotTable<T: Tabulate> {
    /// `[k, l]`, non-decreasing in each row; `l` is a power of two, and the last knot of an event is
    /// repeated up to it.
    knots: Parameter<2>,
    /// The log-odds of the probability at each knot, `[k, l]`.
    values: Parameter<2>,
    #[module(skip)]
    found_by: PhantomData<T>,
}

impl<T: Tabulate> KnotTable<T> {
    fn new(events: Vec<Vec<(f64, f64)>>, device: &Device) -> Self {
        let longest = events.iter().map(Vec::len).max().unwrap_or(0);
        let shape = [events.len(), longest.next_power_of_two()];
        let (mut knots, mut values) = (Vec::new(), Vec::new());
        for event in &events {
            let last = event[event.len() - 1];
            let row = event.iter().copied().chain(std::iter::repeat(last));
            for (knot, value) in row.take(shape[1]) {
                knots.push(knot);
                values.push(value);
            }
        }
        Self {
            knots: Parameter::new(knots, shape, device),
            values: Parameter::new(values, shape, device),
            found_by: PhantomData,
        }
    }

    /// The recalibrated logits: `[n, m]`. A binary search among the knots, `log₂ l` steps for all
    /// entries at once; an entry at a jump has the value below it.
    fn forward(&self, logits: Tensor<2>) -> Tensor<2> {
        let [_, length] = self.knots.dims();
        let knots = self.knots.cast(logits.dtype());
        let values = self.values.cast(logits.dtype());
        let scores = odds::log_odds(logits).transpose(); // [k, n]
        let fixed = scores.clone().detach();
        // the last knot below the score, 0 if there is none
        let mut left = Tensor::<2, Int>::zeros(scores.dims(), &scores.device());
        let mut step = length / 2;
        while step > 0 {
            let ahead = knots.clone().gather(1, left.clone() + step as i64);
            left = left + ahead.lower(fixed.clone()).int() * step as i64;
            step /= 2;
        }
        let right = (left.clone() + 1).clamp_max(length as i64 - 1);
        let start = knots.clone().gather(1, left.clone());
        let width = knots.gather(1, right.clone()) - start.clone();
        let no_width = width.clone().equal_elem(0.0);
        let way = (scores - start) / width.mask_fill(no_width.clone(), 1.0);
        let way = way.clamp(0.0, 1.0).mask_fill(no_width, 0.0);
        let between = |ends: Tensor<2>| {
            let [start, end] = [&left, &right].map(|at| ends.clone().gather(1, at.clone()));
            (start * (-way.clone() + 1.0) + end * way.clone())
                .log()
                .transpose()
        };
        // g and 1 − g apart, so that neither is lost beside 1
        let sigmoid = |t: Tensor<2>| odds::log_sigmoid(t).exp(); // Burn's default goes through f32
        odds::logits(between(sigmoid(values.clone())), between(sigmoid(-values)))
    }
}

impl<T: Tabulate> LogitFit for T {
    type Form = KnotTable<T>;
    const NAME: &'static str = T::NAME;
    const ABOUT: &'static str = T::ABOUT;

    const DEFAULT: fn(u64) -> Self = T::DEFAULT;

    /// Fits the knots of each event, and reports the log loss of the map.
    fn find(&self, task: Task) -> Result<FitOutcome<KnotTable<T>>> {
        let data = &task.data;
        self.validate()?;
        let reason = format!(": {}", T::CLOSED_FORM);
        no_criterion(task.criterion.is_some(), T::KIND, &reason)?;
        let events = EventOutcomes::all(data);
        let knots = events.iter().map(|event| self.knots(event)).collect();
        let table = KnotTable::new(knots, &data.device);
        Ok(closed_form(table, task))
    }
}

impl<T: Tabulate> Fitted<KnotTable<T>> {
    /// Gives the knots of each event, by increasing log-odds, with the probabilities there: of class 1
    /// for two classes, else of each class. The map is linear between them and constant beyond; two
    /// knots at the same log-odds are a jump.
    pub fn knots(&self) -> Vec<Vec<(f64, f64)>> {
        let KnotTable { knots, values, .. } = &self.form;
        let length = knots.dims()[1];
        let (knots, values) = (knots.to_vec(), values.to_vec());
        let rows = knots.chunks(length).zip(values.chunks(length));
        rows.map(|(knots, values)| {
            let values = values.iter().map(|&value| event::sigmoid(value));
            let mut row: Vec<_> = knots.iter().copied().zip(values).collect();
            row.dedup();
            row
        })
        .collect()
    }
}

impl<T: Tabulate> Form for KnotTable<T> {
    const KIND: &'static str = T::KIND;

    /// Every probability of two classes is one half.
    fn template(device: &Device) -> Self {
        Self::new(vec![vec![(0.0, 0.0)]], device)
    }

    fn check(&self) -> Result<(), String> {
        let [k, length] = self.knots.dims();
        self.values.check_shape("values", [k, length])?;
        if k == 0 || k == 2 || !length.is_power_of_two() {
            return Err(format!("no map has {k} events with {length} knots"));
        }
        let increase = |row: &[f64]| row.windows(2).all(|pair| pair[0] <= pair[1]);
        if self.knots.to_vec().chunks(length).all(increase) {
            Ok(())
        } else {
            Err("the knots decrease".into())
        }
    }

    fn width(&self) -> Option<usize> {
        Some(odds::classes(self.knots.dims()[0]))
    }

    fn keeps(&self) -> Guarantees {
        Guarantees::NONE
    }
}

impl<T: Tabulate> Apply<Tensor<2>> for KnotTable<T> {
    fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        expect_classes(&logits, self);
        self.forward(logits)
    }
}
