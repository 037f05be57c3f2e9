//! `calibration apply`.

use burn::tensor::{
    Tensor,
    activation::{log_softmax, softmax},
    s,
};
use burn_calibration::{
    distribution::{Laplace, Normal},
    recalibration::{FittedTo, load_map},
};
use serde::Serialize;

use crate::{
    align::Names,
    args::{Apply, Family},
    distributions,
    fit::{CORRECTNESS, family},
    input::{Cells, Lines, Matrix, Result, clipped},
    methods::takes_zeros,
    rows::{Like, Wanted, logits, read_rows},
    source::{Where, device},
    words::{as_member, key, object, say},
    writer::{Format, Header, write_matrix},
};

/// What was applied to what.
#[derive(Serialize)]
pub struct Applied {
    /// The file of the map.
    map: String,
    kind: &'static str,
    n: usize,
    /// The number of classes or coordinates.
    #[serde(serialize_with = "as_member", flatten)]
    outcomes: (&'static str, usize),
    /// The family of the rows that were written, and what their numbers are.
    family: String,
    numbers: &'static str,
    /// The file that was written.
    output: String,
}

impl Applied {
    pub fn new(
        args: &Apply,
        kind: &'static str,
        (n, outcomes): (usize, (&'static str, usize)),
        family: String,
        numbers: &'static str,
    ) -> Self {
        Self {
            map: args.map.display().to_string(),
            kind,
            n,
            outcomes,
            family,
            numbers,
            output: args.output.display().to_string(),
        }
    }

    /// Prints an object, or nothing.
    pub fn show(&self, json: bool) -> Result<()> {
        if json {
            say(object("apply", self)?);
        }
        Ok(())
    }
}

pub fn run(args: &Apply) -> Result<()> {
    let format = Format::of(&args.output)?;
    let device = device(args.rows.device)?;
    match args.family {
        Family::Categorical => {}
        Family::Normal => return distributions::apply::<Normal>(args, format, &device),
        Family::Laplace => return distributions::apply::<Laplace>(args, format, &device),
        _ => return Err(distributions::UNKNOWN.into()),
    }
    let map = load_map(&args.map, &device).map_err(|e| e.to_string())?;
    let fitted_to = map.fitted_to();
    if fitted_to.family.as_deref() != Some(CORRECTNESS) {
        check_family(args, map.kind(), (fitted_to, &key(args.family)))?;
    }
    if let Some(logits) = fitted_to
        .logits
        .filter(|logits| *logits != args.rows.logits)
        && !IGNORE_SHIFTS.contains(&map.kind())
    {
        let (was, is, advice) = match logits {
            true => ("logits", "probabilities", "--logits if they are logits"),
            false => ("probabilities", "logits", "no --logits, or a map of logits"),
        };
        return Err(format!(
            "{}: the {} was fitted to {was}, and these are {is}, expected {advice}",
            args.map.display(),
            map.kind()
        ));
    }
    let wanted = (Where::NotNeeded, Wanted::Logits);
    let of = args.map.display().to_string();
    let like = Like {
        names: Some(Names {
            names: &fitted_to.columns,
            of: &of,
        }),
        confidence: None,
    };
    let rows = read_rows(&args.predictions, &args.rows, wanted, like, &device)?;
    let family = family(args.family, rows.predictions.subject());
    check_family(args, map.kind(), (fitted_to, &family))?;
    let classes = rows.predictions.classes();
    if let Some(expected) = map.width()
        && expected != classes
    {
        return Err(format!(
            "{}: {classes} columns, expected {expected}, the classes of {}",
            args.predictions.display(),
            args.map.display()
        ));
    }
    let logits = logits(
        &args.predictions,
        &rows.predictions,
        map.method().is_some_and(takes_zeros),
    )?;
    let numbers = Numbers::of(args);
    let values = numbers.values(map.forward(logits), rows.is_binary);
    let values = values.try_into_vec_as::<f64>().map_err(|e| e.to_string())?;
    let mut columns = if rows.is_binary { 1 } else { classes };
    let is_wrong = |value: &f64| !value.is_finite() && numbers != Numbers::Logarithms;
    if let Some(at) = values.iter().position(is_wrong) {
        return Err(format!(
            "{}: row {}, column {}: recalibrated it is {}, expected a finite number: the logits are too large \
             for the {}",
            args.predictions.display(),
            at / columns,
            at % columns,
            values[at],
            map.kind()
        ));
    }
    let n = values.len() / columns;
    let mut matrix = Matrix { columns, values };
    let mut names = rows.names;
    if let (true, Some((cells, lines))) = (rows.is_confidence, &rows.labels) {
        let at = rows.label_at.unwrap_or(1);
        matrix = beside_correctness(&matrix, cells, lines, at)
            .map_err(|reason| format!("{}: {reason}", args.predictions.display()))?;
        columns = 2;
        if !names.is_empty() {
            names.insert(at, rows.label_name.unwrap_or_default());
        }
    }
    debug_assert_eq!(columns, matrix.columns);
    let header = Header {
        ids: rows.ids.as_ref(),
        names: &names,
    };
    write_matrix(&args.output, format, numbers.name(), &matrix, header)?;
    let outcomes = (n, ("classes", classes));
    Applied::new(args, map.kind(), outcomes, family, numbers.name()).show(args.json)
}

/// The kinds of maps to which logits and log-probabilities of a prediction are the same: they do not change
/// with a number that is added to a row.
const IGNORE_SHIFTS: [&str; 2] = ["temperature scaling", "ensemble temperature scaling"];

/// Checks that a map was fitted to predictions of the family that it is applied to, where it says so.
pub fn check_family(args: &Apply, kind: &str, (to, family): (&FittedTo, &str)) -> Result<()> {
    match to.family.as_deref().filter(|known| *known != family) {
        None => Ok(()),
        Some(known) if [known, family].contains(&CORRECTNESS) => {
            let words = |family: &str| match family {
                CORRECTNESS => "confidence and correctness".into(),
                family => format!("--family {family}"),
            };
            Err(format!(
                "{}: a {kind} of {}, expected one of {}, as {} holds",
                args.map.display(),
                words(known),
                words(family),
                args.predictions.display()
            ))
        }
        Some(known) => Err(format!(
            "{}: a {kind} of --family {known}, expected one of --family {family}; --family {known} applies it \
             to such predictions, and fit --family {family} makes one of these",
            args.map.display()
        )),
    }
}

/// What is written: what was read, unless something else is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Logits,
    Probabilities,
    Percentages,
    Logarithms,
}

impl Numbers {
    fn of(args: &Apply) -> Self {
        match &args.rows {
            _ if args.to_probabilities => Self::Probabilities,
            _ if args.to_logits => Self::Logits,
            rows if rows.logits => Self::Logits,
            rows if rows.percent => Self::Percentages,
            rows if rows.log_probabilities => Self::Logarithms,
            _ => Self::Probabilities,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Logits => "logits",
            Self::Probabilities => "probabilities",
            Self::Percentages => "percentages",
            Self::Logarithms => "log_probabilities",
        }
    }

    /// The numbers of logits; of an event one column, that of class 1.
    fn values(self, logits: Tensor<2>, is_binary: bool) -> Tensor<2> {
        let event = |values: Tensor<2>| match is_binary {
            true => values.slice(s![.., 1..2]),
            false => values,
        };
        match self {
            Self::Logits if is_binary => {
                logits.clone().slice(s![.., 1..2]) - logits.slice(s![.., 0..1])
            }
            Self::Logits => logits,
            Self::Probabilities => event(softmax(logits, 1)),
            Self::Percentages => event(softmax(logits, 1)) * 100.0,
            Self::Logarithms => event(log_softmax(logits, 1)),
        }
    }
}

/// A column of confidences with that of their correctness at its place.
fn beside_correctness(
    confidences: &Matrix,
    cells: &Cells,
    lines: &Lines,
    at: usize,
) -> Result<Matrix> {
    let row = |(row, (&confidence, cell)): (usize, (&f64, &str))| {
        let correct = cell.parse::<f64>().ok().filter(|c| [0.0, 1.0].contains(c));
        let correct = correct.ok_or_else(|| {
            let place = lines.name(row);
            format!(
                "{place}: the correctness is {}, expected 0 or 1",
                clipped(cell)
            )
        })?;
        Ok(if at == 0 {
            [correct, confidence]
        } else {
            [confidence, correct]
        })
    };
    let rows = confidences.values.iter().zip(cells.iter()).enumerate();
    let values = rows.map(row).collect::<Result<Vec<_>>>()?.concat();
    Ok(Matrix { columns: 2, values })
}
