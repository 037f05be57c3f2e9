use maud::{Markup, html};

use super::{
    Assessed, Known, Report, Section, Size, Unit,
    number::{self, decimals, p_value, points, scientific, whole},
    page::capital,
};
use burn_calibration::{
    error::Result,
    hypothesis::OmnibusOutcome,
    names::Name,
    score::{Improvement, Interval, MeanEstimate},
};

/// A number of a page, with a sentence on what it means and what it cannot say.
pub struct PageQuantity {
    name: Name,
    meaning: &'static str,
    cell: Cell,
    /// The format of the paired change, of quantities that have one.
    change: Option<fn(f64) -> String>,
}

impl PageQuantity {
    pub(super) fn new(name: Name, meaning: &'static str, cell: Cell) -> Self {
        Self {
            name,
            meaning,
            cell,
            change: None,
        }
    }

    pub(super) fn with_change(self, format: fn(f64) -> String) -> Self {
        Self {
            change: Some(format),
            ..self
        }
    }
}

/// A number as it stands in the table.
#[derive(Clone)]
pub struct Cell {
    value: String,
    /// The precision: the standard error, the confidence interval, or the redraws.
    note: Option<String>,
    /// The reason why there is no number, or no interval.
    missing: Option<String>,
}

impl Cell {
    pub fn of(value: String) -> Self {
        Self {
            value,
            note: None,
            missing: None,
        }
    }

    pub fn mean(mean: &MeanEstimate, format: fn(f64) -> String) -> Self {
        let error = mean.standard_error;
        Self {
            note: error.is_finite().then(|| format!("± {}", format(error))),
            ..Self::of(format(mean.estimate))
        }
    }

    /// A mean, or a sign and the reason why there is none.
    pub fn mean_or(mean: &Result<MeanEstimate>, sign: &str, format: fn(f64) -> String) -> Self {
        match mean {
            Ok(mean) => Self::mean(mean, format),
            Err(reason) => Self::missing(sign, reason),
        }
    }

    /// An error with its confidence interval, where that has two ends.
    fn size(size: &Size) -> Self {
        let format = match size.unit {
            Unit::Points => points,
            Unit::Ratio => number::ratio,
            Unit::Number => scientific,
        };
        match &size.interval.0 {
            Ok(interval) => Self {
                note: ends(interval, format),
                ..Self::of(format(interval.estimate))
            },
            Err(reason) => Self::missing("–", reason),
        }
    }

    /// The p-value of all aspects together.
    fn p_value(Known(omnibus): &Known<OmnibusOutcome>) -> Self {
        match omnibus {
            Ok(outcome) => Self {
                note: Some(format!("({} redraws)", whole(outcome.redraws))),
                ..Self::of(p_value(outcome.probability()))
            },
            Err(reason) => Self::missing("–", reason),
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

    pub fn missing(value: &str, reason: impl ToString) -> Self {
        Self {
            missing: Some(reason.to_string()),
            ..Self::of(value.into())
        }
    }
}

/// The ends of an interval, if there are two.
fn ends(interval: &Interval, format: fn(f64) -> String) -> Option<String> {
    let (lower, upper) = interval.ends();
    let is_finite = lower.is_finite() && upper.is_finite();
    is_finite.then(|| format!("[{}, {}]", format(lower), format(upper)))
}

/// All quantities of a set of predictions: the test first, then the sizes of errors.
fn quantities<S: Section>(set: &Assessed<S>) -> Vec<PageQuantity> {
    let test = PageQuantity::new(
        Name::new("p_value", "p-value of the omnibus test"),
        "The probability of data at least as extreme if the model were calibrated. A small p-value is \
         evidence against calibration. A large one is not evidence for it.",
        Cell::p_value(&set.answer.omnibus),
    );
    let sizes = set.answer.intervals.0.iter();
    let sizes =
        sizes.map(|(name, size)| PageQuantity::new(name.clone(), size.meaning, Cell::size(size)));
    let others = set.page.quantities();
    [test].into_iter().chain(sizes).chain(others).collect()
}

/// The quantities of one or two sets of predictions, and the paired changes of two.
pub(super) fn numbers<S: Section>(report: &Report<S>) -> Markup {
    let after = report.after.as_ref().map(quantities);
    let heads: &[&str] = match after {
        None => &["value"],
        Some(_) => &["before", "after", "change"],
    };
    let row = |(k, quantity): (usize, PageQuantity)| {
        let change = report.change(quantity.name.key).zip(quantity.change);
        let change = change.map(|(change, format)| Cell::change(change, report.level, format));
        let mut cells = vec![quantity.cell];
        if let Some(after) = &after {
            cells.push(after[k].cell.clone());
            cells.push(change.unwrap_or_else(|| Cell::of(String::new())));
        }
        row(&quantity.name, quantity.meaning, heads, &cells)
    };
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
            @for quantity in quantities(&report.before).into_iter().enumerate() { (row(quantity)) }
        }
    }
}

/// A quantity on a line, and below it what it means.
fn row(name: &Name, meaning: &str, heads: &[&str], cells: &[Cell]) -> Markup {
    let title = capital(&name.title).replace(" %", "\u{a0}%");
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
                    (meaning)
                    @for (head, cell) in heads.iter().zip(cells) {
                        @if let Some(reason) = &cell.missing {
                            " " @if heads.len() > 1 { (capital(head)) } @else { "Here" } ": " (reason) "."
                        }
                    }
                }
            }
        }
    }
}

/// The numbers of a picture as a table that opens on demand; the first column names the rows.
pub(super) fn of_picture(
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
