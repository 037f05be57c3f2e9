//! `calibration show`.

use std::{fmt, path::Path};

use burn::tensor::Device;
use burn_calibration::{
    file::write_with,
    recalibration::{
        ConformalShift, DistributionMap, FitReport, FittedMap, FittedTo, Guarantees, Knot,
        LogitMap, NamedParameter, load_map,
    },
};
use burn_calibration_export::{Formula, to_onnx};
use burn_calibration_reader::clipped;
use serde::Serialize;

use crate::{
    args::{ExportFormat, FamilyName, ShowArgs},
    error::{Context, Result, wrong},
    fit::{CORRECTNESS, NOT_KNOWN, warnings},
    outputs::to_write,
    rows::clip_words,
    words::{Computed, key, object},
};

#[derive(Serialize)]
pub struct Shown {
    kind: &'static str,
    /// The input of the map: classes, levels, or dimensions of targets.
    of: &'static str,
    /// Their number; none if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<usize>,
    #[serde(flatten)]
    guarantees: Guarantees,
    fit: Computed<FitReport>,
    fitted_to: FittedTo,
    parameters: Vec<NamedParameter>,
    /// The effect on the ranking of an event, of maps of two classes where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    ranking: Option<Ranking>,
    /// The formula, if it is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    formula: Option<String>,
}

/// The effect of a map on the ranking of predictions by the probability of an event.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Ranking {
    /// A larger probability stays larger.
    Kept,
    /// Different probabilities become equal, and none falls below a smaller one.
    Tied,
    /// A larger probability becomes smaller: the slope is below 0.
    Reversed,
    /// It is reversed in a part of the probabilities.
    Turned,
}

impl Ranking {
    /// Returns the effect of a map of an event; none where it is not known.
    fn of(map: &LogitMap, columns: &[String]) -> Option<Self> {
        let of_slope = |slope: f64| match slope {
            _ if slope > 0.0 => Self::Kept,
            _ if slope < 0.0 => Self::Reversed,
            _ => Self::Tied,
        };
        // constant beyond their knots
        let of_knots = |knots: &[Vec<Knot>]| {
            let values = knots.iter().flatten().map(|knot| knot.value);
            if values.is_sorted() {
                Self::Tied
            } else {
                Self::Turned
            }
        };
        let is_of_event = map.width() == Some(2) || (1..=2).contains(&columns.len());
        if !is_of_event {
            return None;
        }
        Some(match map {
            LogitMap::Temperature(_) => Self::Kept,
            LogitMap::Platt(map) => of_slope(map.parameters()[0][0]),
            LogitMap::Beta(map) => of_slope(map.parameters()[0][0] + map.parameters()[0][1]),
            LogitMap::Quadratic(map) => match map.parameters()[0] {
                [slope, 0.0, _] => of_slope(slope),
                _ => Self::Turned,
            },
            LogitMap::Isotonic(map) => of_knots(&map.knots()),
            LogitMap::Histogram(map) => of_knots(&map.knots()),
            LogitMap::Spline(map) => of_knots(&map.knots()),
            LogitMap::VennAbers(_) => Self::Tied,
            _ => return None,
        })
    }

    fn words(self) -> &'static str {
        match self {
            Self::Kept => "yes",
            Self::Tied => "with ties: some different probabilities become equal",
            Self::Reversed => "no: the slope is below 0, a larger probability becomes smaller",
            Self::Turned => "no: in a part of the probabilities a larger one becomes smaller",
        }
    }
}

pub fn run(args: &ShowArgs) -> Result<Shown> {
    let device = Device::flex();
    let of_distributions = DistributionMap::load(&args.map, &device).ok();
    // a temperature is of both
    let of_distributions = of_distributions.filter(|map| match &map.fitted_to().family {
        Some(family) => ![&key(FamilyName::Categorical), CORRECTNESS].contains(&family.as_str()),
        None => map.kind() != "temperature scaling",
    });
    let of_quantiles = ConformalShift::load(&args.map, &device).ok();
    let of_classes = match (&of_distributions, &of_quantiles) {
        (None, None) => Some(load_map(&args.map, &device)?),
        _ => None,
    };
    let (map, of): (&dyn FittedMap, _) = match (&of_distributions, &of_quantiles, &of_classes) {
        (Some(map), ..) => (map, "dimensions"),
        (_, Some(map), _) => (map, "levels"),
        (.., map) => (map.as_ref().expect("one of the three"), "classes"),
    };
    let formula = match (&of_distributions, &of_quantiles, &of_classes) {
        (Some(map), ..) => Formula::for_distributions(map),
        (_, Some(map), _) => Some(Formula::for_quantiles(map)),
        (.., map) => map.as_ref().and_then(Formula::for_classes),
    };
    let formula = || {
        let none = || {
            wrong!(
                "a {} has no formula: its result depends on all errors of its fit, with weights that \
                 differ for each prediction; expected another kind of map",
                map.kind()
            )
        };
        formula.as_ref().ok_or_else(none).of(&args.map)
    };
    let mut formula_text = None;
    if args.formula {
        formula_text = Some(described(formula()?, map.fitted_to()));
    }
    let shown = Shown {
        kind: map.kind(),
        of,
        number: map.width(),
        guarantees: map.guarantees(),
        fit: Computed::or_skipped(map.report().cloned(), NOT_KNOWN),
        fitted_to: map.fitted_to().clone(),
        parameters: map.named_parameters(),
        ranking: (of_classes.as_ref()).and_then(|of| Ranking::of(of, &map.fitted_to().columns)),
        formula: formula_text,
    };
    let write = |path: &Path, bytes: &[u8]| {
        let written = write_with(to_write(path), |file| file.write_all(bytes));
        written.map_err(|e| wrong!("cannot write: {e}")).of(path)
    };
    match (args.export, &args.output) {
        (Some(ExportFormat::Json), Some(path)) => {
            write(path, object("show", &shown)?.as_bytes())?;
        }
        (Some(ExportFormat::Onnx), Some(path)) => {
            write(path, &to_onnx(formula()?, map.width()))?;
        }
        _ => {}
    }
    Ok(shown)
}

/// A formula with what the predictions of the fit were, which are what it takes.
fn described(formula: &Formula, fitted_to: &FittedTo) -> String {
    let columns = &fitted_to.columns;
    let mut text = formula.to_string();
    if fitted_to.family.as_deref() == Some(CORRECTNESS) {
        text +=
            "# classes: wrong, right; a confidence c gives them the probabilities 1 − c and c\n";
    } else if !columns.is_empty() {
        text += &format!("# columns: {}\n", columns.join(", "));
    }
    if fitted_to.logits == Some(false) {
        text += "# the logits z are the logarithms of probabilities, as in the fit\n";
    }
    text
}

/// Numbers of a parameter that are shown.
const SHOWN: usize = 10;

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(formula) = &self.formula {
            return f.write_str(formula);
        }
        let (kind, of) = (self.kind, self.of);
        match self.number {
            Some(number) => writeln!(f, "{kind} of {number} {of}")?,
            None => writeln!(f, "{kind} of any number of {of}")?,
        }
        match &self.fit {
            Computed(Ok(report)) => writeln!(f, "fit: {report}")?,
            Computed(Err(_)) => writeln!(f, "fit: not known")?,
        }
        let FittedTo {
            family,
            logits,
            columns,
            clip,
        } = &self.fitted_to;
        if let Some(family) = family {
            let logits = logits.filter(|are| *are).map_or("", |_| " --logits");
            match family.as_str() {
                CORRECTNESS => writeln!(f, "fitted to: confidence and correctness{logits}")?,
                family => writeln!(f, "fitted to: --family {family}{logits}")?,
            }
        }
        if !columns.is_empty() {
            writeln!(f, "columns: {}", clipped(&columns.join(", ")))?;
        }
        if let Some(clip) = clip {
            let clip = clip_words(*clip);
            writeln!(f, "clip: probabilities below {clip} are taken as {clip}")?;
        }
        let of = match family.as_deref() {
            Some(CORRECTNESS) => CORRECTNESS,
            _ => self.of,
        };
        f.write_str(&guarantee_lines(self.guarantees, of))?;
        if let Some(ranking) = self.ranking {
            writeln!(
                f,
                "{:31} {}",
                "keeps the ranking of an event:",
                ranking.words()
            )?;
        }
        for parameter in &self.parameters {
            let shape: Vec<String> = parameter.shape.iter().map(usize::to_string).collect();
            write!(f, "{} [{}]:", parameter.name, shape.join(", "))?;
            for value in parameter.text(SHOWN, |value| value.to_string()) {
                write!(f, " {value}")?;
            }
            match parameter.values.len().saturating_sub(SHOWN) {
                0 => writeln!(f)?,
                more => writeln!(f, " and {more} more")?,
            }
        }
        let report = self.fit.0.as_ref().ok();
        let warnings = warnings(report, None, (columns, false));
        (warnings.iter()).try_for_each(|warning| writeln!(f, "warning: {warning}"))
    }
}

/// Returns the guarantees for classes, the two outcomes of an event, [`CORRECTNESS`], or dimensions: a line
/// each.
pub fn guarantee_lines(kept: Guarantees, of: &str) -> String {
    let injective = ("injective:", kept.injective);
    let order = ("keeps the order of the classes:", kept.keeps_order);
    let lines = match of {
        "classes" => vec![
            order,
            ("keeps the accuracy:", kept.keeps_accuracy),
            injective,
        ],
        "outcomes" => vec![("keeps each side of 1/2:", kept.keeps_accuracy), injective],
        CORRECTNESS => vec![injective], // the accuracy is data
        _ => vec![("keeps the means:", kept.keeps_mean), injective],
    };
    let line = |(what, kept)| {
        let kept = if kept { "yes" } else { "not always" };
        format!("{what:31} {kept}\n")
    };
    lines.into_iter().map(line).collect()
}
