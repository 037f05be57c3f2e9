//! The answer that comes first: is the model calibrated, where does it fail, and by how much?

use std::{borrow::Cow, fmt, ops::Not};

use burn_calibration::{
    distribution::Categorical,
    error,
    hypothesis::{AspectOutcome, OmnibusOutcome, OmnibusTest, Probability},
    kernel::Kernel,
    names::{self, Name},
    numbers::{self, points, significant},
    score::{ErrorSize, Interval, ObservedExpected, Quantify},
};
use rand::rngs::StdRng;
use serde::Serialize;

use crate::{
    args::SizeArgs,
    kind::{Kind, View},
    limits::{BLOCK, QUADRATIC_LIMIT},
    quantities::Pairs,
    table::TextTable,
    words::{Known, Named, or_infinite, probability, shown, verdict},
};

#[derive(Serialize)]
pub struct Answer {
    /// Names of classes, where these are not numbers from 0.
    #[serde(skip)]
    pub class_names: Vec<String>,
    pub omnibus: Known<OmnibusOutcome>,
    pub intervals: Named<Size>,
}

/// The size of an error.
#[derive(Serialize)]
pub struct Size {
    /// How it is shown.
    #[serde(skip)]
    pub unit: Unit,
    #[serde(flatten)]
    pub interval: Known<Interval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Known<Tolerance>>,
}

/// How a size is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// In points, hundredths of a probability.
    Points,
    /// As a ratio.
    Ratio,
    /// With an exponent.
    Number,
}

/// The hypothesis that an error is at most so large.
#[derive(Serialize)]
pub struct Tolerance {
    pub error: f64,
    pub p_value: f64,
    /// Whether the p-value is the least that is told.
    #[serde(skip_serializing_if = "Not::not")]
    pub is_bound: bool,
    /// Whether the error has a sign, so that the hypothesis is about its absolute value.
    #[serde(skip)]
    pub is_signed: bool,
}

/// Errors of a view whose size is told.
pub struct Sizing<'a, P: Kind> {
    pub args: &'a SizeArgs,
    pub view: &'a View<P>,
}

/// The sizes of the errors; that of the SKCE with its kernel.
pub fn sizes<P: Kind>(args: &SizeArgs, view: &View<P>, kernel: Option<P::Kernel>) -> Named<Size> {
    let sizing = Sizing { args, view };
    let mut sizes = P::sizes(&sizing);
    let skce = kernel.and_then(|kernel| kernel.skce(view));
    sizes.extend(skce.map(|size| {
        let name = if view.predictions.len() <= QUADRATIC_LIMIT {
            names::SKCE
        } else {
            let (key, title) = (names::SKCE.key, names::SKCE_BLOCK.title);
            Name { key, title }.with(format_args!("{BLOCK} samples each"))
        };
        let name = name.of(&view.of.whole);
        (name, sizing.known(Unit::Number, size))
    }));
    Named(sizes)
}

impl<P: Kind> Sizing<'_, P> {
    /// Returns the size in points, and compares it with the tolerance.
    pub fn in_points(&self, name: Name, error: &impl Quantify<P>) -> (Name, Size) {
        let size = error.size(&self.view.predictions, &self.view.targets);
        (name.with("points"), self.known(Unit::Points, size))
    }

    pub fn known(&self, unit: Unit, size: error::Result<ErrorSize>) -> Size {
        let interval = size.clone().and_then(|size| size.interval(self.args.level));
        let tolerance = |error: f64| {
            let tolerance = |size: ErrorSize| {
                let p_value = size.p_value_above(error)?;
                let is_bound = size.is_bound(p_value);
                Ok(Tolerance {
                    error,
                    p_value,
                    is_bound,
                    is_signed: size.is_signed(),
                })
            };
            Known::of(size.clone().and_then(tolerance))
        };
        Size {
            unit,
            interval: Known::of(interval),
            tolerance: (self.args.tolerance.filter(|_| unit == Unit::Points)).map(tolerance),
        }
    }
}

impl Sizing<'_, Categorical> {
    /// The number of observed events by that of expected ones.
    pub fn ratio(&self) -> (Name, Size) {
        let (view, event) = (self.view, self.view.event());
        let (predictions, labels) = (&view.predictions, &view.targets);
        let counts = ObservedExpected::of(event, predictions, labels);
        let mut name = names::OBSERVED_EXPECTED.of(&view.of.event);
        if let Ok(counts) = &counts {
            let (observed, expected) = (counts.observed, numbers::expected(counts.expected));
            name = name.with(format_args!("{observed} of {expected}"));
        }
        self.ratio_as(name)
    }

    /// The same under a name.
    pub fn ratio_as(&self, name: Name) -> (Name, Size) {
        let View {
            predictions,
            targets,
            ..
        } = self.view;
        let level = self.args.level;
        let ratio = ObservedExpected::interval(self.view.event(), predictions, targets, level);
        let size = Size {
            unit: Unit::Ratio,
            interval: Known::of(ratio),
            tolerance: None,
        };
        (name, size)
    }
}

/// The omnibus test with so many redraws, and the most, as one of so many tests.
pub fn omnibus<P: Kind>(
    kernel: Option<Kernel>,
    (redraws, most): (u32, usize),
    tests: usize,
    view: &View<P>,
    class_names: &[String],
    rng: &mut StdRng,
) -> Known<OmnibusOutcome> {
    let test = OmnibusTest::new();
    let test = kernel.map_or(test, |kernel| test.with_kernel(kernel));
    let test = test.with_redraws(redraws as usize).with_most(most);
    let test = if tests > 1 {
        test.as_one_of(tests)
    } else {
        test
    };
    let outcome = test.outcome(&view.predictions, &view.targets, rng);
    Known::of(outcome.map(|outcome| outcome.with_class_names(class_names)))
}

/// An omnibus test beside the sizes of errors.
pub fn beside(omnibus: Known<OmnibusOutcome>, sizes: &Named<Size>) -> Known<OmnibusOutcome> {
    let sizes = sizes.0.iter();
    let known =
        sizes.filter_map(|(name, size)| Some((name.clone(), *size.interval.0.as_ref().ok()?)));
    Known(omnibus.0.map(|outcome| outcome.beside(known)))
}

impl Answer {
    /// The name of an aspect, and that of a class if there is one.
    fn title<'a>(&self, aspect: &'a AspectOutcome) -> Cow<'a, str> {
        let name = aspect.class().and_then(|class| self.class_names.get(class));
        match name {
            Some(name) => format!("class {name}").into(),
            None => aspect.name.as_str().into(),
        }
    }
}

/// Aspects that a table shows of many classes.
const SHOWN: usize = 20;

/// Findings that the first screen shows.
const FINDINGS: usize = 5;

/// Writes the verdict of a test, and its findings: all of them, or the first.
fn write_findings(
    f: &mut fmt::Formatter<'_>,
    outcome: &OmnibusOutcome,
    is_verbose: bool,
) -> fmt::Result {
    for (at, sentence) in outcome.sentences().iter().enumerate() {
        match at {
            0 => writeln!(f, "{}", verdict(sentence, !outcome.is_rejected()))?,
            _ => writeln!(f, "{sentence}")?,
        }
    }
    let failing = outcome.failing(OmnibusOutcome::LEVEL);
    let most = if is_verbose { failing.len() } else { FINDINGS };
    for aspect in failing.iter().take(most) {
        let p = outcome.adjusted(aspect);
        writeln!(f, "    {} (adjusted {p})", aspect.finding)?;
    }
    if let more @ 1.. = failing.len().saturating_sub(most) {
        writeln!(f, "    and {more} more: --verbose")?;
    }
    if failing.is_empty() && outcome.is_rejected() {
        writeln!(f, "    no single aspect is significant by itself")?;
    }
    let (samples, redraws) = (outcome.samples, outcome.redraws);
    writeln!(f, "    omnibus test, n = {samples}, {redraws} redraws")
}

impl Answer {
    /// Writes the verdict, the findings and the sizes; the aspects too where all is asked for.
    pub fn write(&self, f: &mut fmt::Formatter<'_>, is_verbose: bool) -> fmt::Result {
        match &self.omnibus.0 {
            Ok(outcome) => write_findings(f, outcome, is_verbose)?,
            Err(reason) => writeln!(f, "There is no test of calibration: {reason}")?,
        }
        if !self.intervals.0.is_empty() {
            write!(f, "\n{}", self.intervals)?;
        }
        let Ok(outcome) = &self.omnibus.0 else {
            return Ok(());
        };
        if outcome.is_rejected() {
            writeln!(
                f,
                "\nnext: `calibration fit` fits a map to held-out predictions, and `calibration apply` applies it to others"
            )?;
        }
        if !is_verbose {
            return Ok(());
        }
        let redraws = outcome.redraws;
        let mut table = TextTable::new(&["estimate", "standardised", "p-value", "adjusted"]);
        let mut aspects: Vec<&AspectOutcome> = outcome.aspects.iter().collect();
        if aspects.len() > SHOWN {
            aspects.sort_by(|a, b| a.p_value.total_cmp(&b.p_value)); // stable
            aspects.truncate(SHOWN);
        }
        for aspect in &aspects {
            let cells = [
                significant(aspect.estimate, 4),
                or_infinite(aspect.standardised, |x| format!("{x:.2}")),
                shown(Probability::resampled(aspect.p_value, redraws)),
                shown(outcome.adjusted(aspect)),
            ];
            table.row(&self.title(aspect), &cells, "");
        }
        write!(
            f,
            "\naspects of the omnibus test, {redraws} redraws\n{table}"
        )?;
        if let more @ 1.. = outcome.aspects.len() - aspects.len() {
            let json = "aspects of larger p-values: --json has them";
            writeln!(f, "  and {more} {json}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Named<Size> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = TextTable::default();
        for (name, size) in &self.0 {
            table.row(&name.title, &[""; 0], &size.to_string());
        }
        write!(f, "{table}")
    }
}

impl Size {
    /// A number as people write it.
    fn number(&self, value: f64) -> String {
        match self.unit {
            Unit::Points => points(value, 2),
            Unit::Ratio => significant(value, 3),
            Unit::Number => significant(value, 4),
        }
    }

    /// The estimate and its interval as cells of a table.
    pub fn cells(&self) -> [String; 2] {
        match &self.interval.0 {
            Ok(interval) => {
                let [lower, upper] = [interval.lower, interval.upper].map(|end| self.number(end));
                [
                    self.number(interval.estimate),
                    format!("[{lower}, {upper}]"),
                ]
            }
            Err(_) => ["-", ""].map(str::to_owned),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match &self.interval.0 {
            Ok(interval) => 100.0 * interval.level,
            Err(reason) => return write!(f, "-  {reason}"),
        };
        let [estimate, interval] = self.cells();
        write!(f, "{estimate} {interval}, {level} % interval")?;
        match &self.tolerance {
            Some(Known(Ok(tolerance))) => {
                let error = points(tolerance.error, 2);
                let p = probability(tolerance.p_value, tolerance.is_bound);
                let sign = if tolerance.is_bound { "" } else { "= " };
                let what = if tolerance.is_signed {
                    "absolute value above"
                } else {
                    "above"
                };
                write!(f, "; {what} {error}: p {sign}{p}")
            }
            _ => Ok(()),
        }
    }
}
