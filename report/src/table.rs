use super::{
    Section,
    number::{decimals, p_value, scientific, whole},
    page::capital,
    svg::escaped,
};
use burn_calibration::{
    error::Result,
    hypothesis::OmnibusOutcome,
    names::{self, Name},
    score::{Interval, MeanEstimate},
};

/// A number of a page, with a sentence on what it means and what it cannot say.
pub struct Quantity<S> {
    pub(super) name: Name,
    pub(super) meaning: &'static str,
    pub(super) cell: fn(&S) -> Cell,
}

/// A number as it stands in the table.
pub struct Cell {
    pub value: String,
    /// The precision: the standard error, the confidence interval, or the redraws.
    pub note: Option<String>,
    /// The reason why there is no number.
    pub missing: Option<String>,
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

    /// An error with its confidence interval, where that has two ends.
    pub fn interval(interval: &Result<Interval>, format: fn(f64) -> String) -> Self {
        let interval = match interval {
            Ok(interval) => interval,
            Err(reason) => return Self::missing("–", reason),
        };
        let ends = [interval.lower, interval.upper];
        let note = || {
            let [lower, upper] = ends.map(|end| format(end).replace(' ', "\u{a0}"));
            format!("[{lower}, {upper}]")
        };
        Self {
            note: ends.iter().all(|end| end.is_finite()).then(note),
            ..Self::of(format(interval.estimate))
        }
    }

    /// The p-value of all aspects together.
    pub fn p_value(omnibus: &Result<OmnibusOutcome>) -> Self {
        match omnibus {
            Ok(outcome) => Self {
                note: Some(format!("({} redraws)", whole(outcome.redraws))),
                ..Self::of(p_value(outcome.p_value, outcome.redraws))
            },
            Err(reason) => Self::missing("–", reason),
        }
    }

    pub fn missing(value: &str, reason: impl ToString) -> Self {
        Self {
            missing: Some(reason.to_string()),
            ..Self::of(value.into())
        }
    }
}

/// The quantities of one or two sets of predictions with their names; the level is that of the
/// confidence intervals.
pub(super) fn numbers<S: Section>(
    named: &[(&str, &S)],
    quantities: &[Quantity<S>],
    level: f64,
) -> String {
    let test = Quantity {
        name: Name::new("p_value", "p-value of the omnibus test"),
        meaning: "How likely data that are at least as far off would be if the model were calibrated: \
                  a small one is evidence against calibration, a large one is no evidence for it.",
        cell: |section: &S| Cell::p_value(section.omnibus()),
    };
    let skce = Quantity {
        name: names::SKCE,
        meaning: "Squared kernel calibration error of the whole predictions; that of the model is never \
                  negative, and 0 only if it is calibrated, the estimate is by chance also below. Its \
                  size depends on the kernel, so it compares models under the same kernel only.",
        cell: |section: &S| Cell::interval(section.skce(), scientific),
    };
    let heads: String = match named.len() {
        1 => head("value"),
        _ => named.iter().map(|(name, _)| head(name)).collect(),
    };
    let paired = match named.len() {
        1 => "",
        _ => {
            " Before and after are of the same samples: a difference is known better than the \
             errors of both say."
        }
    };
    let mut html = format!(
        "<h2>Numbers</h2>\n<table class=\"numbers\">\n<caption>With ± one standard error, or \
         in brackets the {} % confidence interval, where it is known. Lower is better for scores and \
         errors.{paired}</caption>\n\
         <thead><tr><th scope=\"col\">quantity</th>{heads}</tr></thead>\n",
        decimals(100.0 * level, 2)
    );
    for quantity in [test].iter().chain(quantities).chain([&skce]) {
        let cells: Vec<Cell> = named.iter().map(|(_, s)| (quantity.cell)(s)).collect();
        let columns: String = cells.iter().map(cell).collect();
        let missing: String = named
            .iter()
            .zip(&cells)
            .filter_map(|((name, _), cell)| {
                let reason = cell.missing.as_ref()?;
                let place = match named.len() {
                    1 => "Here".into(),
                    _ => capital(name),
                };
                Some(format!(" {place}: {}.", escaped(reason)))
            })
            .collect();
        html += &format!(
            "<tbody>\n<tr class=\"value\"><th scope=\"row\">{}</th>{columns}</tr>\n\
             <tr class=\"meaning\"><td colspan=\"{}\">{}{missing}</td></tr>\n</tbody>\n",
            capital(&quantity.name.title).replace(" %", "&#160;%"),
            1 + named.len(),
            quantity.meaning
        );
    }
    html + "</table>\n"
}

fn head(name: &str) -> String {
    format!("<th scope=\"col\">{name}</th>")
}

fn cell(cell: &Cell) -> String {
    let note = cell.note.as_ref().map_or(String::new(), |note| {
        format!("<span class=\"note\">{note}</span>")
    });
    format!("<td>{}{note}</td>", cell.value)
}

/// The numbers of a picture as a table that opens on demand; the first column names the rows.
pub(super) fn of_picture(
    caption: &str,
    heads: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
) -> String {
    let row = |cells: Vec<String>| {
        let cell = |cell: &String| format!("<td>{cell}</td>");
        let others: String = cells[1..].iter().map(cell).collect();
        format!("<tr><th scope=\"row\">{}</th>{others}</tr>\n", cells[0])
    };
    format!(
        "<details>\n<summary>Numbers of this picture</summary>\n<table class=\"bins\">\n\
         <caption>{caption}</caption>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table>\n\
         </details>\n",
        heads.iter().map(|name| head(name)).collect::<String>(),
        rows.map(row).collect::<String>()
    )
}
