//! `calibration apply`.

use burn::tensor::activation::softmax;
use burn_calibration::{
    distribution::{Laplace, Normal},
    recalibration::{MapKind, load_map},
};
use serde::Serialize;

use crate::{
    args::{Apply, Family},
    distributions,
    input::{Matrix, Result},
    methods::takes_zeros,
    rows::{Wanted, logits, read_rows},
    source::{Where, device},
    words::{as_member, key, object, say},
    writer::{Format, write_matrix},
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
    let wanted = (Where::NotNeeded, Wanted::Logits);
    let predictions = read_rows(&args.predictions, &args.rows, wanted, &device)?.predictions;
    let columns = predictions.classes();
    if let Some(classes) = map.width()
        && classes != columns
    {
        return Err(format!(
            "{}: {columns} columns, expected {classes}, the classes of {}",
            args.predictions.display(),
            args.map.display()
        ));
    }
    let kind = MapKind::all().iter().find(|kind| kind.kind() == map.kind());
    let logits = logits(
        &args.predictions,
        &predictions,
        kind.is_some_and(takes_zeros),
    )?;
    let (name, rows) = match args.to_probabilities {
        false => ("logits", map.forward(logits)),
        true => ("probabilities", softmax(map.forward(logits), 1)),
    };
    let values = rows.try_into_vec_as::<f64>().map_err(|e| e.to_string())?;
    if let Some(at) = values.iter().position(|value| !value.is_finite()) {
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
    write_matrix(&args.output, format, name, &Matrix { columns, values })?;
    let outcomes = (n, ("classes", columns));
    Applied::new(args, map.kind(), outcomes, key(args.family), name).show(args.json)
}
