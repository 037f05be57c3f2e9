//! The answer that comes first: is the model calibrated, where does it fail, and by how much?

use std::fmt;

use burn_calibration::{
    distribution::Predictive,
    hypothesis::{AspectOutcome, Omnibus, OmnibusOutcome, OmnibusTest},
    kernel::Kernel,
    score::{ErrorSize, Interval, Quantify},
};
use rand::rngs::StdRng;
use serde_json::{Value, json};

use crate::{
    args::SizeArgs,
    input::Result,
    words::{known, probability},
};

pub struct Answer {
    pub omnibus: Result<OmnibusOutcome>,
    pub sizes: Vec<Size>,
}

/// How large an error is.
pub struct Size {
    pub key: &'static str,
    pub title: String,
    /// In points: hundredths of a probability.
    pub in_points: bool,
    pub interval: Result<Interval>,
    /// The p-value of the hypothesis that it can be tolerated, and the tolerance.
    pub above: Option<(f64, Result<f64>)>,
}

/// Errors whose size is told.
pub struct Sizing<'a, P: Predictive> {
    pub args: &'a SizeArgs,
    pub predictions: &'a P,
    pub targets: &'a P::Targets,
}

impl<P: Predictive> Sizing<'_, P> {
    pub fn of(&self, key: &'static str, title: &str, error: &impl Quantify<P>) -> Size {
        self.size(key, title, false, error)
    }

    /// In points; these are compared with the tolerance.
    pub fn in_points(&self, key: &'static str, title: &str, error: &impl Quantify<P>) -> Size {
        self.size(key, title, true, error)
    }

    fn size(
        &self,
        key: &'static str,
        title: &str,
        in_points: bool,
        error: &impl Quantify<P>,
    ) -> Size {
        let size = error.size(self.predictions, self.targets);
        let size = size.map_err(|e| e.to_string());
        let known = || size.as_ref().map_err(Clone::clone);
        let interval = known().and_then(|size| interval(size, self.args.level));
        let above = |tolerance: f64| {
            let p_value = known().and_then(|size| {
                let p_value = size.p_value_above(tolerance);
                p_value.map_err(|e| e.to_string())
            });
            (tolerance, p_value)
        };
        Size {
            key,
            title: title.into(),
            in_points,
            interval,
            above: self.args.tolerance.filter(|_| in_points).map(above),
        }
    }
}

fn interval(size: &ErrorSize, level: f64) -> Result<Interval> {
    size.interval(level).map_err(|e| e.to_string())
}

/// Whether the level of intervals is one.
pub fn check_level(args: &SizeArgs) -> Result<()> {
    match args.level > 0.0 && args.level < 1.0 {
        true => Ok(()),
        false => Err(format!(
            "--level {}: expected a number between 0 and 1, both excluded",
            args.level
        )),
    }
}

/// The omnibus test with so many redraws.
pub fn omnibus<P: Omnibus>(
    kernel: Kernel,
    redraws: u32,
    predictions: &P,
    targets: &P::Targets,
    rng: &mut StdRng,
) -> Result<OmnibusOutcome> {
    let redraws = redraws as usize;
    let test = OmnibusTest::new()
        .with_kernel(kernel)
        .with_redraws(redraws)
        .with_most(redraws.saturating_mul(10));
    let outcome = test.outcome(predictions, targets, rng);
    outcome.map_err(|e| e.to_string())
}

impl Answer {
    pub fn omnibus_json(&self) -> Value {
        known(&self.omnibus)
    }

    pub fn intervals_json(&self) -> Value {
        let entry = |size: &Size| (size.key.to_owned(), size.json());
        Value::Object(self.sizes.iter().map(entry).collect())
    }
}

impl Size {
    pub fn json(&self) -> Value {
        let mut value = known(&self.interval);
        match &self.above {
            Some((tolerance, Ok(p))) => {
                value["tolerance"] = json!({ "error": tolerance, "p_value": p });
            }
            Some((_, Err(reason))) => value["tolerance"] = json!({ "error": reason }),
            None => (),
        }
        value
    }
}

/// Aspects that a table shows of many classes.
const SHOWN: usize = 20;

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.omnibus {
            Ok(outcome) => writeln!(f, "{outcome}")?,
            Err(reason) => writeln!(f, "There is no test of calibration: {reason}")?,
        }
        writeln!(f)?;
        for size in &self.sizes {
            write!(f, "{size}")?;
        }
        let Ok(outcome) = &self.omnibus else {
            return Ok(());
        };
        writeln!(
            f,
            "\naspects of the omnibus test, {} redraws",
            outcome.redraws
        )?;
        writeln!(
            f,
            "  {:36} {:>14} {:>14} {:>12} {:>12}",
            "", "estimate", "standardised", "p-value", "adjusted"
        )?;
        let mut aspects: Vec<&AspectOutcome> = outcome.aspects.iter().collect();
        if aspects.len() > SHOWN {
            aspects.sort_by(|a, b| a.p_value.total_cmp(&b.p_value)); // stable
            aspects.truncate(SHOWN);
        }
        for aspect in &aspects {
            let shown = |p| probability(p, p <= 1.0 / (outcome.redraws + 1) as f64);
            writeln!(
                f,
                "  {:36} {:>14.4e} {:>14.2} {:>12} {:>12}",
                aspect.name,
                aspect.estimate,
                aspect.standardised,
                shown(aspect.p_value),
                shown(aspect.adjusted_p_value)
            )?;
        }
        match outcome.aspects.len() - aspects.len() {
            0 => Ok(()),
            more => writeln!(
                f,
                "  and {more} aspects of larger p-values: --json has them"
            ),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let interval = match &self.interval {
            Ok(interval) => interval,
            Err(reason) => return writeln!(f, "{:36} -  {reason}", self.title),
        };
        let number = |value: f64| match self.in_points {
            true => format!("{:.2}", 100.0 * value),
            false => format!("{value:.3e}"),
        };
        write!(
            f,
            "{:36} {} [{}, {}], {} % interval",
            self.title,
            number(interval.estimate),
            number(interval.lower),
            number(interval.upper),
            100.0 * interval.level
        )?;
        match &self.above {
            Some((tolerance, Ok(p))) => writeln!(f, "; above {:.2}: p = {p:.4}", 100.0 * tolerance),
            _ => writeln!(f),
        }
    }
}
