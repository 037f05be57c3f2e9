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
    /// At most [`LARGEST_ODDS`].
    odds_against: f64,
    /// None where a tie hides it.
    happened: Option<bool>,
}

impl Chance {
    /// `q/p` of what happened, where the odds against are multiplied. A certain event stays so. A tie counts as the
    /// worse of both outcomes, which loses wealth and keeps the level.
    fn ratio(self, factor: f64) -> f64 {
        let odds = self.odds_against;
        if odds <= 0.0 {
            return 1.0;
        }
        let yes = (1.0 + odds) / (1.0 + odds * factor);
        match self.happened {
            Some(true) => yes,
            Some(false) => yes * factor,
            None => yes.min(yes * factor),
        }
    }
}

/// Larger odds count as these, so that products with factors are finite.
const LARGEST_ODDS: f64 = 1e300;

impl Component {
    /// The factor of the odds against an event.
    fn odds_factor(&self) -> f64 {
        (-self.shift).exp()
    }
}

/// The ratios of components in a row, in their order; those that learn do so.
///
/// - odds_factors: those of all components before the row
/// - chance: the chance of a part
fn ratios(
    odds_factors: &[f64],
    chance: impl Fn(Part) -> Chance,
) -> impl FnMut(usize, &mut Component) -> f64 {
    // components of one part and factor follow each other
    let mut last: Option<((f64, Part), Chance, f64)> = None;
    move |k, component| {
        let of = (component.factor, component.part);
        let (_, chance, factor) = match last {
            Some(known) if known.0 == of => known,
            _ => {
                let chance = chance(component.part);
                let odds = chance.odds_against;
                let factor = if of.0 == 1.0 {
                    1.0
                } else {
                    odds.powf(of.0).min(LARGEST_ODDS) / odds
                };
                *last.insert((of, chance, factor))
            }
        };
        if !component.learns() {
            return chance.ratio(factor * odds_factors[k]);
        }
        let ratio = chance.ratio(factor * component.odds_factor());
        if let Some(happened) = chance.happened {
            component.learn(-chance.odds_against.ln(), happened);
        }
        ratio
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
        let components = monitor.state.components.iter();
        let odds_factors: Vec<f64> = components.map(Component::odds_factor).collect();
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
                let (class, against) = match part {
                    Part::Class(class) if p.len() == 2 => (class, p[1 - class]),
                    Part::Class(class) => (class, (total - p[class]).max(0.0)),
                    _ => (top, rows.error_probability[i] * total),
                };
                Chance {
                    odds_against: (against / p[class]).min(LARGEST_ODDS),
                    happened: Some(label == class),
                }
            };
            let mut of_event = ratios(&odds_factors, chance);
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
        let components = monitor.state.components.iter();
        let odds_factors: Vec<f64> = components.map(Component::odds_factor).collect();
        let mut errors = Vec::new();
        for (q, &y) in values.chunks(levels.len()).zip(&targets) {
            let at = |level| levels.iter().position(|other| *other == level);
            let end = |level, beyond| at(level).map_or(beyond, |place| q[place]);
            // whether the target is in a range in any case, and whether it may be
            let is_in = |part| {
                let Part::Range { low, high } = part else {
                    return [true; 2];
                };
                let (from, to) = (end(low, f64::NEG_INFINITY), end(high, f64::INFINITY));
                [from < y && y < to, from <= y && y <= to]
            };
            let chance = |part: Part| {
                let (level, [sure, possible]) = (part.level().unwrap_or(1.0), is_in(part));
                Chance {
                    odds_against: (1.0 - level) / level,
                    happened: (sure == possible).then_some(sure),
                }
            };
            errors.clear();
            for part in &ranges {
                let error = |is_in| f64::from(u8::from(is_in)) - part.level().unwrap_or(1.0);
                errors.extend(is_in(*part).map(error));
            }
            monitor.add(true, ratios(&odds_factors, chance), &errors);
        }
        Ok(())
    }
}
