//! Ratios of events: classes, and ranges of quantiles.

use burn::tensor::{Int, Tensor};

use super::{CalibrationMonitor, Component, Monitored, Part, Stream};
use crate::{
    distribution::{Batch, Categorical, QuantileForecasts, Subject},
    error::Result,
    host::to_vec,
    ops::exp,
};

/// The prediction of an event, and what happened.
#[derive(Clone, Copy)]
struct Chance {
    odds_against: f64,
    /// None where a tie hides it.
    happened: Option<bool>,
}

impl Chance {
    /// `q/p` of what happened, where the odds against become others. An impossible or certain event stays so. A tie
    /// counts as the worse of both outcomes, which loses wealth and keeps the level.
    fn ratio(self, odds: f64) -> f64 {
        let old = self.odds_against;
        if old <= 0.0 || old.is_infinite() {
            return 1.0;
        }
        let odds = odds.min(LARGEST_ODDS);
        let yes = (1.0 + old) / (1.0 + odds);
        let no = || yes * odds / old;
        match self.happened {
            Some(true) => yes,
            Some(false) => no(),
            None => yes.min(no()),
        }
    }
}

/// Larger odds count as these.
const LARGEST_ODDS: f64 = 1e300;

impl Component {
    /// The probability that the component gives an event of this probability.
    pub(super) fn recalibrated(&self, p: f64) -> f64 {
        1.0 / (1.0 + ((1.0 - p) / p).powf(self.factor) * (-self.shift).exp())
    }
}

/// Bets on events: `e^(−shift)` of each component, which all rows need.
struct EventBets(Vec<f64>);

impl EventBets {
    fn new(components: &[Component]) -> Self {
        let factors = components.iter().map(|component| (-component.shift).exp());
        Self(factors.collect())
    }

    /// The ratios of the components in a row, in their order; those that learn do so.
    ///
    /// - chance: the chance of a part; none if it is no event
    fn ratios(
        &self,
        chance: impl Fn(Part) -> Option<Chance>,
    ) -> impl FnMut(usize, &mut Component) -> f64 {
        // components of one part and factor follow each other
        let mut last = None;
        move |k, component| {
            let of = (component.factor, component.part);
            let (chance, powered) = match last {
                Some((other, chance, powered)) if of == other => (chance, powered),
                _ => {
                    let Some(chance) = chance(component.part) else {
                        return 1.0;
                    };
                    let odds: f64 = chance.odds_against;
                    let powered = if of.0 == 1.0 { odds } else { odds.powf(of.0) };
                    last = Some((of, chance, powered));
                    (chance, powered)
                }
            };
            if !component.learns() {
                return chance.ratio(powered * self.0[k]);
            }
            let ratio = chance.ratio(powered * (-component.shift).exp());
            if let Some(happened) = chance.happened {
                component.learn(-chance.odds_against.ln(), happened);
            }
            ratio
        }
    }
}

impl Monitored for Categorical {
    fn stream(&self) -> Stream {
        match self.subject() {
            Subject::Event => Stream::Event,
            _ => Stream::Classes(self.classes()),
        }
    }

    fn bet(&self, labels: &Tensor<1, Int>, monitor: &mut CalibrationMonitor) -> Result<()> {
        let labels = self.checked_targets(labels)?;
        let rows = self.rows();
        let bets = EventBets::new(&monitor.components);
        let (mut logs, mut powers) = (Vec::new(), Vec::new());
        for (i, &label) in labels.iter().enumerate() {
            let (p, top) = (rows.row(i), rows.top[i] as usize);
            // the event, or the most likely class
            let class = if self.subject() == Subject::Classes {
                top
            } else {
                1
            };
            let error = p[class].min(1.0) - f64::from(u8::from(label == class));
            // the sum of rounded probabilities: without it a bet could win a little in every row
            let total: f64 = p.iter().sum();
            let chance = |part| {
                let (class, odds_against) = match part {
                    Part::Class(class) if p.len() == 2 => (class, p[1 - class] / p[class]),
                    Part::Class(class) => (class, (total - p[class]).max(0.0) / p[class]),
                    Part::TopLabel => (top, rows.error_probability[i] * total / p[top]),
                    _ => return None,
                };
                let happened = Some(label == class);
                Some(Chance {
                    odds_against,
                    happened,
                })
            };
            let mut of_event = bets.ratios(chance);
            logs.clear();
            let ratio = |k: usize, component: &mut Component| {
                if component.part != Part::Probabilities {
                    return of_event(k, component);
                }
                if logs.is_empty() {
                    logs.extend(p.iter().map(|x| (x / p[top]).ln()));
                }
                powers.clear();
                powers.extend(logs.iter().map(|log| component.factor * log));
                exp(&mut powers);
                powers[label] / powers.iter().sum::<f64>() * total / p[label]
            };
            monitor.add(p[label] > 0.0, ratio, &[error]);
        }
        Ok(())
    }
}

impl Monitored for QuantileForecasts {
    fn stream(&self) -> Stream {
        Stream::Quantiles(self.levels().to_vec())
    }

    fn bet(&self, targets: &Tensor<2>, monitor: &mut CalibrationMonitor) -> Result<()> {
        let (values, targets) = (to_vec(self.values()), to_vec(targets.clone()));
        let (levels, ranges) = (self.levels(), self.stream().ranges());
        let (bets, mut errors) = (EventBets::new(&monitor.components), Vec::new());
        for (q, &y) in values.chunks(levels.len()).zip(&targets) {
            let at = |level| levels.iter().zip(q).find(|(other, _)| **other == level);
            let end = |level, beyond| at(level).map_or(beyond, |(_, quantile)| *quantile);
            let chance = |part| {
                let Part::Range { low, high } = part else {
                    return None;
                };
                let (from, to) = (end(low, f64::NEG_INFINITY), end(high, f64::INFINITY));
                let [is_sure, is_possible] = [from < y && y < to, from <= y && y <= to];
                Some(Chance {
                    odds_against: (1.0 - (high - low)) / (high - low),
                    happened: (is_sure == is_possible).then_some(is_sure),
                })
            };
            errors.clear();
            for part in &ranges {
                let happened = chance(*part).and_then(|chance| chance.happened);
                let [sure, possible] = [happened == Some(true), happened != Some(false)];
                let error = |counts| f64::from(u8::from(counts)) - part.level().unwrap_or(0.0);
                errors.extend([sure, possible].map(error));
            }
            monitor.add(true, bets.ratios(chance), &errors);
        }
        Ok(())
    }
}
