use maud::{Markup, html};

use super::{
    Assessed, Computed, Estimate, Report, Section, Size, Unit,
    number::{self, counted, decimals, fixed, p_value, percent, points, scientific, significant},
    page::capital,
};
use burn_calibration::{
    hypothesis::OmnibusOutcome,
    names::Name,
    score::{Improvement, Interval},
};

/// A row of the table: a number, with a sentence on what it means and what it cannot say.
struct Row {
    name: Name,
    meaning: &'static str,
    unit: Unit,
    cell: Cell,
}

impl Unit {
    /// Writes a number of a page.
    fn on_page(self) -> fn(f64) -> String {
        match self {
            Unit::Points => points,
            Unit::Ratio => number::ratio,
            Unit::Number => scientific,
            Unit::Decimals => fixed,
            Unit::Share => percent,
            Unit::Quantity => significant,
        }
    }
}

/// A number as it stands in the table.
#[derive(Clone)]
struct Cell {
    value: String,
    /// The precision: the standard error, the confidence interval, or the redraws.
    note: Option<String>,
    /// The reason why there is no number, or no interval.
    missing: Option<String>,
    /// The mean for a calibrated model, where that is above 0.
    if_calibrated: Option<String>,
}

impl Cell {
    fn of(value: String) -> Self {
        Self {
            value,
            note: None,
            missing: None,
            if_calibrated: None,
        }
    }

    /// An estimate with its standard error, where there is one.
    fn estimate(estimate: &Estimate) -> Self {
        let format = estimate.unit.on_page();
        match &estimate.value.0 {
            Ok(value) => Self {
                note: (value.standard_error().filter(|error| error.is_finite()))
                    .map(|error| format!("± {}", format(error))),
                if_calibrated: estimate.if_calibrated.map(format),
                ..Self::of(format(value.number()))
            },
            Err(reason) => Self::missing(reason),
        }
    }

    /// An error with its confidence interval, where that has two ends.
    fn size(size: &Size) -> Self {
        let format = size.unit.on_page();
        match &size.interval.0 {
            Ok(interval) => Self {
                note: ends(interval, format),
                ..Self::of(format(interval.estimate))
            },
            Err(reason) => Self::missing(reason),
        }
    }

    /// The p-value of all aspects together.
    fn p_value(Computed(omnibus): &Computed<OmnibusOutcome>) -> Self {
        match omnibus {
            Ok(outcome) => Self {
                note: Some(format!("({})", counted(outcome.redraws, "redraw"))),
                ..Self::of(p_value(outcome.probability()))
            },
            Err(reason) => Self::missing(reason),
        }
    }

    /// A paired change with its confidence interval, where there is one.
    fn change(change: &Improvement, level: f64, format: fn(f64) -> String) -> Self {
        let value = Self::of(format(change.difference.estimate));
        match change.interval(level) {
            Ok(interval) => Self {
                note: ends(&interval, format),
                missing: (change.unbounded())
                    .map(|reason| format!("an end of the interval is infinite: {reason}")),
                ..value
            },
            Err(reason) => Self {
                missing: Some(format!("no interval: {reason}")),
                ..value
            },
        }
    }

    fn missing(reason: impl ToString) -> Self {
        Self {
            missing: Some(reason.to_string()),
            ..Self::of("–".into())
        }
    }
}

/// The ends of an interval, if there are two.
fn ends(interval: &Interval, format: fn(f64) -> String) -> Option<String> {
    let Interval { lower, upper, .. } = *interval;
    let is_finite = lower.is_finite() && upper.is_finite();
    is_finite.then(|| format!("[{}, {}]", format(lower), format(upper)))
}

/// All numbers of a set of predictions: the test first, then the sizes of errors, then the estimates that have a meaning.
fn rows<S: Section>(set: &Assessed<S>) -> Vec<Row> {
    let test = Row {
        name: Name::new("p_value", "p-value of the omnibus test"),
        meaning: "The probability of data at least as extreme if the model were calibrated. A small p-value is evidence \
            against calibration. A large one is not evidence for it.",
        unit: Unit::Number,
        cell: Cell::p_value(&set.answer.omnibus),
    };
    let size = |(name, size): &(Name, Size)| Row {
        name: name.clone(),
        meaning: size.meaning,
        unit: size.unit,
        cell: Cell::size(size),
    };
    let estimate = |(name, estimate): &(Name, Estimate)| Row {
        name: name.clone().of(&estimate.of),
        meaning: estimate.meaning,
        unit: estimate.unit,
        cell: Cell::estimate(estimate),
    };
    let estimates = set.summary.0.iter().chain(&set.answer.estimates.0.0);
    let estimates = estimates.filter(|(_, estimate)| !estimate.meaning.is_empty());
    let sizes = set.answer.intervals.0.iter().map(size);
    let rows = [test].into_iter().chain(sizes);
    rows.chain(estimates.map(estimate)).collect()
}

/// The numbers of one or two sets of predictions, and the paired changes of two.
pub(super) fn numbers<S: Section>(report: &Report<S>) -> Markup {
    let before = rows(&report.before);
    let after = report.after.as_ref().map(rows);
    let heads: &[&str] = match after {
        None => &["value"],
        Some(_) => &["before", "after", "change"],
    };
    let find = |rows: &[Row], row: &Row| {
        let same = rows.iter().find(|other| other.name.key == row.name.key);
        let none = || Cell::missing("these predictions have no such number");
        same.map_or_else(none, |row| row.cell.clone())
    };
    let cells = |row: &Row| {
        let mut cells = vec![find(&before, row)];
        if let Some(after) = &after {
            cells.push(find(after, row));
            let change = report.change(row.name.key);
            let change = change.map(|c| Cell::change(c, report.level, row.unit.on_page()));
            cells.push(change.unwrap_or_else(|| Cell::of(String::new())));
        }
        cells
    };
    let is_new = |row: &&Row| before.iter().all(|other| other.name.key != row.name.key);
    let all = (before.iter()).chain(after.iter().flatten().filter(is_new));
    html! {
        h2 { "Numbers" }
        table.numbers {
            caption {
                "With ± one standard error, or in brackets the " (decimals(100.0 * report.level, 2))
                " % confidence interval, where it is known. Lower is better for scores and errors."
                @if report.after.is_some() {
                    " The change of a score is after minus before, for the same samples: its interval is \
                     narrower than the errors of both suggest."
                }
            }
            thead { tr { th scope="col" { "quantity" } @for name in heads { th scope="col" { (name) } } } }
            @for row in all { (lines(row, heads, &cells(row))) }
        }
    }
}

/// A number on a line, and below it what it means.
fn lines(row: &Row, heads: &[&str], cells: &[Cell]) -> Markup {
    let title = capital(&row.name.title).replace(" %", "\u{a0}%");
    html! {
        tbody {
            "\n"
            tr.value {
                th scope="row" { (title) }
                @for cell in cells {
                    td {
                        (cell.value)
                        @if let Some(note) = &cell.note { span.note { (note) } }
                    }
                }
            }
            tr.meaning {
                td colspan=(1 + cells.len()) {
                    (row.meaning)
                    @for (head, cell) in heads.iter().zip(cells) {
                        @let head = if heads.len() > 1 { capital(head) } else { "Here".to_owned() };
                        @if let Some(reason) = &cell.missing { " " (head) ": " (reason) "." }
                        @if let Some(mean) = &cell.if_calibrated {
                            " " (head) ": a calibrated model has " (mean) " on average."
                        }
                    }
                }
            }
        }
    }
}

/// The numbers of a picture as a table that opens on demand; the first column names the rows.
pub(super) fn picture_table(
    caption: &str,
    heads: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
) -> Markup {
    html! {
        details {
            summary { "Numbers of this picture" }
            table.bins {
                caption { (caption) }
                thead { tr { @for head in heads { th scope="col" { (head) } } } }
                tbody {
                    @for cells in rows {
                        "\n"
                        tr {
                            th scope="row" { (cells[0]) }
                            @for cell in &cells[1..] { td { (cell) } }
                        }
                    }
                }
            }
        }
    }
}
