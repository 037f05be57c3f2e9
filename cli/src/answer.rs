//! The answer that comes first: is the model calibrated, where does it fail, and by how much? Here it is computed, and
//! written in words.

use std::{borrow::Cow, fmt};

use burn_calibration::{
    hypothesis::{AspectOutcome, OmnibusOutcome, OmnibusTest, Probability},
    kernel::Kernel,
    numbers::{fixed, significant},
};
use burn_calibration_report::{Answer, Size, Sizing, View};

use crate::{
    args::SizeArgs,
    kind::Kind,
    table::TextTable,
    words::{Named, counted, or_infinite, shown, verdict},
};

/// Returns the options of the sizes of errors.
pub fn sizing<'a, P: Kind>(args: &SizeArgs, view: &'a View<P>) -> Sizing<'a> {
    let mut sizing = Sizing::new(args.level, &view.of.event);
    sizing.tolerance = args.tolerance;
    sizing.lp_order = args.lp_error;
    sizing
}

/// Returns the level of the verdict, one minus that of the intervals: without the rounding of the difference, 0.05 of 0.95.
pub fn verdict_level(args: &SizeArgs) -> f64 {
    const DIGITS: f64 = 1e12;
    ((1.0 - args.level) * DIGITS).round() / DIGITS
}

/// The omnibus test with so many redraws, and the most.
pub fn omnibus_test(kernel: Option<Kernel>, (redraws, most): (u32, usize)) -> OmnibusTest {
    let test = OmnibusTest::new();
    let test = kernel.map_or(test, |kernel| test.with_kernel(kernel));
    test.with_redraws(redraws as usize).with_most(most)
}

/// The name of an aspect, and that of a class if there is one.
fn title<'a>(aspect: &'a AspectOutcome, class_names: &[String]) -> Cow<'a, str> {
    match aspect.class().and_then(|class| class_names.get(class)) {
        Some(name) => format!("class {name}").into(),
        None => aspect.name.as_str().into(),
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
    failing: &[&AspectOutcome],
    is_verbose: bool,
) -> fmt::Result {
    for (at, sentence) in outcome.sentences().iter().enumerate() {
        match at {
            0 => writeln!(f, "{}", verdict(sentence, !outcome.is_rejected()))?,
            _ => writeln!(f, "{sentence}")?,
        }
    }
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
    let samples = counted(outcome.samples, "independent sample");
    let redraws = counted(outcome.redraws, "redraw");
    writeln!(f, "    omnibus test, n = {samples}, {redraws}")
}

/// Writes the verdict, the findings and the sizes; the aspects too where all is asked for. Classes have names.
pub fn write(
    f: &mut fmt::Formatter<'_>,
    answer: &Answer,
    class_names: &[String],
    is_verbose: bool,
) -> fmt::Result {
    match &answer.omnibus.0 {
        Ok(outcome) => write_findings(f, outcome, &answer.findings(), is_verbose)?,
        Err(reason) => writeln!(f, "There is no test of calibration: {reason}")?,
    }
    if !answer.intervals.is_empty() {
        write!(f, "\n{}", table_of_sizes(&answer.intervals))?;
    }
    let Ok(outcome) = &answer.omnibus.0 else {
        return Ok(());
    };
    if outcome.is_rejected() {
        let fit = "fit a map to held-out predictions, and apply it to others";
        writeln!(f, "\nnext: {fit}")?;
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
            or_infinite(aspect.standardised, |x| fixed(x, 2)),
            shown(Probability::resampled(aspect.p_value, redraws)),
            shown(outcome.adjusted(aspect)),
        ];
        table.row(&title(aspect, class_names), &cells, "");
    }
    write!(
        f,
        "\naspects of the omnibus test, {}\n{table}",
        counted(redraws, "redraw")
    )?;
    if let more @ 1.. = outcome.aspects.len() - aspects.len() {
        let more = counted(more, "more aspect");
        writeln!(
            f,
            "  and {more} with larger p-values, which are in the JSON"
        )?;
    }
    Ok(())
}

/// The sizes of errors by their titles.
pub fn table_of_sizes(Named(sizes): &Named<Size>) -> TextTable {
    let mut table = TextTable::default();
    for (name, size) in sizes {
        table.row(&name.title, &[""; 0], &size.to_string());
    }
    table
}
