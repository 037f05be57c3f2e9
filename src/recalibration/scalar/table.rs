//! Scalar maps without a formula: probabilities at knots among the log-odds, linear between them.

use crate::prelude::LogScore;
use burn::{
    module::{Module, Param},
    tensor::{Device, Int, Tensor},
};

use super::{
    event::{self, Event},
    odds,
};
use crate::{
    error::{Error, Result},
    host::{to_scalar, to_vec},
    loss::{Criterion, ScoreLoss},
    recalibration::{
        FitProgress, FitReport,
        data::FitData,
        file::{Parts, parameter},
    },
};

/// How the knots of a map are found.
pub(super) trait Tabulate {
    /// The map, and why it can be fitted to no criterion.
    const CLOSED_FORM: (&'static str, &'static str);

    /// Checks the configuration.
    fn validate(&self) -> Result<()>;

    /// The log-odds of an event by increasing value, at least one, and the recalibrated log-odds there,
    /// finite. Two that are equal are a jump.
    fn knots(&self, event: &Event) -> Vec<(f64, f64)>;
}

/// The least margin: what f32 tells from 0.
const LEAST: f64 = 1e-30;

/// A margin in its domain.
pub(super) fn check_margin(margin: Option<f64>) -> Result<()> {
    match margin {
        Some(value) if !(LEAST..0.5).contains(&value) => Err(Error::Parameter {
            name: "the margin",
            value,
            expected: "a number of at least 1e-30 and below 1/2",
        }),
        _ => Ok(()),
    }
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

/// For each event a function of its log-odds, linear between knots, constant beyond them.
#[derive(Module, Debug)]
pub(super) struct Table {
    /// `[k, l]`, non-decreasing in each row; `l` is a power of two, and the last knot of an event is
    /// repeated up to it.
    knots: Param<Tensor<2>>,
    /// The log-odds of the probability at each knot, `[k, l]`.
    values: Param<Tensor<2>>,
}

impl Table {
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
            knots: parameter(knots, shape, device),
            values: parameter(values, shape, device),
        }
    }

    /// The number of classes.
    pub fn classes(&self) -> usize {
        odds::classes(self.knots.dims()[0])
    }

    /// The knots of each event, with the probabilities there.
    pub fn knots(&self) -> Vec<Vec<(f64, f64)>> {
        let length = self.knots.dims()[1];
        let (knots, values) = (to_vec(self.knots.val()), to_vec(self.values.val()));
        let rows = knots.chunks(length).zip(values.chunks(length));
        rows.map(|(knots, values)| {
            let values = values.iter().map(|&value| event::sigmoid(value));
            let mut row: Vec<_> = knots.iter().copied().zip(values).collect();
            row.dedup();
            row
        })
        .collect()
    }

    /// The recalibrated logits: `[n, m]`. A binary search among the knots, `log₂ l` steps for all
    /// entries at once; an entry at a jump has the value below it.
    pub fn forward(&self, logits: Tensor<2>) -> Tensor<2> {
        let [_, length] = self.knots.dims();
        let knots = self.knots.val().cast(logits.dtype());
        let values = self.values.val().cast(logits.dtype());
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

    /// Fits the knots of each event, and reports the log loss of the map.
    pub fn fit(
        config: &impl Tabulate,
        criterion: Option<&dyn Criterion>,
        data: &FitData,
        progress: &mut dyn FnMut(FitProgress),
    ) -> Result<(Self, FitReport)> {
        config.validate()?;
        if criterion.is_some() {
            return Err(no_such_fit(config));
        }
        let events = Event::all(data);
        let knots = events.iter().map(|event| config.knots(event)).collect();
        let table = Self::new(knots, &data.device);
        let logits = table.forward(data.tensor(data.logits.clone()).inner());
        let labels = data.labels_tensor().inner();
        let objective = to_scalar(ScoreLoss::new(LogScore).forward(logits, labels));
        progress(FitProgress {
            fit: 1,
            fits: 1,
            evaluations: 1,
            objective,
        });
        Ok((table, FitReport::closed_form(objective)))
    }

    /// Of a saved map.
    pub fn restore(parts: &mut Parts) -> Result<Self, String> {
        let knots = parts.take::<2>("table.knots")?;
        let [k, length] = knots.dims();
        let table = Self {
            values: parts.take_shaped("table.values", [k, length])?,
            knots,
        };
        if k == 0 || k == 2 || !length.is_power_of_two() {
            return Err(format!("no map has {k} events with {length} knots"));
        }
        let numbers = to_vec(table.knots.val());
        let increase = |row: &[f64]| row.windows(2).all(|pair| pair[0] <= pair[1]);
        match numbers.chunks(length).all(increase) {
            true => Ok(table),
            false => Err("the knots decrease".into()),
        }
    }
}

fn no_such_fit<T: Tabulate>(_: &T) -> Error {
    let (map, reason) = T::CLOSED_FORM;
    Error::NoSuchFit { map, reason }
}

/// What a map of [`Tabulate`] is: its fit, knots and file.
macro_rules! table_map {
    ($config:ident, $map:ident, $kind:literal) => {
        impl $crate::recalibration::Fit for $config {
            type Map = $map;

            fn fit_observed(
                &self,
                criterion: Option<&dyn $crate::loss::Criterion>,
                logits: ::burn::tensor::Tensor<2>,
                labels: ::burn::tensor::Tensor<1, ::burn::tensor::Int>,
                progress: &mut dyn FnMut($crate::recalibration::FitProgress),
            ) -> $crate::error::Result<$map> {
                let data = $crate::recalibration::data::FitData::new(&logits, &labels)?;
                let (table, report) = super::table::Table::fit(self, criterion, &data, progress)?;
                Ok($map {
                    table,
                    report: Some(report),
                })
            }
        }

        impl $map {
            /// The knots of each event, by increasing log-odds, with the probabilities there: of class
            /// 1 for two classes, else of each class. The map is linear between them and constant
            /// beyond; two knots at the same log-odds are a jump.
            pub fn knots(&self) -> Vec<Vec<(f64, f64)>> {
                self.table.knots()
            }

            fn apply(&self, logits: ::burn::tensor::Tensor<2>) -> ::burn::tensor::Tensor<2> {
                self.table.forward(logits)
            }

            fn width(&self) -> Option<usize> {
                Some(self.table.classes())
            }

            fn keeps(&self) -> $crate::recalibration::Guarantees {
                $crate::recalibration::Guarantees::NONE
            }
        }

        impl $crate::recalibration::file::Stored for $map {
            const KIND: &'static str = $kind;

            fn restore(parts: &mut $crate::recalibration::file::Parts) -> Result<Self, String> {
                Ok(Self {
                    table: super::table::Table::restore(parts)?,
                    report: None,
                })
            }
        }

        $crate::recalibration::map::impl_recalibration!($map);
    };
}
pub(super) use table_map;
