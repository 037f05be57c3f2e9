//! `calibration apply`.

mod classes;
mod real;

use burn_calibration::{
    distribution::{Laplace, Normal},
    recalibration::FittedMap,
};
use burn_calibration_reader::Matrix;
use serde::Serialize;

use crate::{
    args::{ApplyArgs, FamilyName, RowsArgs},
    error::{Context, Result, ensure, wrong},
    files::{File, LeftOut},
    fit::CORRECTNESS,
    notes::{noted, say as tell},
    words::{OutcomeSpace, complain, key, object, say},
    writer::{Format, Layout, write_matrix},
};
use classes::apply_classes;
use real::{apply_distributions, apply_quantiles};

/// Recalibrated predictions as rows of a file, and their description in JSON.
#[derive(Serialize)]
pub struct Applied {
    /// The file of the map.
    map: String,
    kind: &'static str,
    n: usize,
    #[serde(flatten)]
    outcomes: OutcomeSpace,
    /// The family of the rows that were written, and what their numbers are.
    family: String,
    numbers: &'static str,
    /// The file that was written.
    output: String,
    #[serde(skip)]
    pub matrix: Matrix,
    /// The names of the columns; empty if the predictions have none.
    #[serde(skip)]
    pub names: Vec<String>,
    /// The last columns that are no predictions, and are written after all others.
    #[serde(skip)]
    pub beside: usize,
    /// The rows that are written empty.
    #[serde(skip_serializing_if = "LeftOut::is_none")]
    left_out: LeftOut,
}

impl Applied {
    fn new(args: &ApplyArgs, map: &dyn FittedMap, outcomes: OutcomeSpace, matrix: Matrix) -> Self {
        Self {
            map: args.map.display().to_string(),
            kind: map.kind(),
            n: matrix.rows(),
            outcomes,
            family: key(args.input.family),
            numbers: "parameters",
            output: args.output.display().to_string(),
            matrix,
            names: Vec::new(),
            beside: 0,
            left_out: LeftOut::default(),
        }
    }
}

pub fn run(args: &ApplyArgs, json: bool) -> Result<()> {
    let format = Format::of(&args.output)?;
    let mut file = read(args)?;
    let n = file.table.rows();
    let mut others = std::mem::take(&mut file.table.others);
    if args.only_predictions {
        let correct = file.table.labels.first().map(|labels| labels.at);
        others.retain(|column| Some(column.at) == correct);
    }
    let (kept, left_out) = kept_rows(&mut file, &args.rows)?;
    let names = file.table.names.clone();
    let mut made = match args.input.family {
        FamilyName::Categorical => apply_classes(args, &mut file)?,
        FamilyName::Normal => apply_distributions::<Normal>(args, &mut file)?,
        FamilyName::Laplace => apply_distributions::<Laplace>(args, &mut file)?,
        FamilyName::Quantiles => apply_quantiles(args, &mut file)?,
        _ => unreachable!("the families of apply are checked"),
    };
    if !left_out.is_none() {
        made.matrix = made.matrix.spread(&kept, n);
        made.left_out = left_out;
    }
    let layout = Layout::new(&file, &names, others, &made)?;
    // a tensor has the name of what it holds
    let name = match args.input.family {
        FamilyName::Categorical => made.numbers,
        _ => "predictions",
    };
    write_matrix(&args.output, format, name, &made.matrix, &layout)?;
    if json {
        say(object("apply", &made)?);
    } else if ![CORRECTNESS, &key(args.input.family)].contains(&made.family.as_str()) {
        tell(&args.output, format!("rows of --family {}", made.family));
    }
    Ok(())
}

/// Reads the predictions. Labels beside them are not needed, except for the correctness beside confidences.
fn read(args: &ApplyArgs) -> Result<File> {
    let are_classes = args.input.family == FamilyName::Categorical;
    let options = args.rows.options();
    noted(|notes| File::alone(&args.input.predictions, &options, are_classes, notes))
}

/// Leaves out the rows without a value; returns those that are kept.
fn kept_rows(file: &mut File, args: &RowsArgs) -> Result<(Vec<usize>, LeftOut)> {
    let (mut missing, counts) = file.missing(args.skip_missing, &[])?;
    let n = file.table.rows();
    missing.sort_unstable();
    missing.dedup();
    let kept: Vec<usize> = (0..n)
        .filter(|row| missing.binary_search(row).is_err())
        .collect();
    if let Some(counts) = counts {
        let path = file.path.display();
        ensure!(!kept.is_empty(), "{path}: no row has all values");
        let rows = missing.len();
        complain(format_args!(
            "{rows} of {n} rows are written empty, because values are missing: {counts}"
        ));
        file.table.select(&kept);
    }
    let left_out = LeftOut {
        rows: missing.len(),
        missing: missing.len(),
        ignored: 0,
    };
    Ok((kept, left_out))
}

/// Checks that a map was fitted to predictions of the family that it is applied to, where it says so.
fn check_family(args: &ApplyArgs, map: &dyn FittedMap, family: &str) -> Result<()> {
    let kind = map.kind();
    let fitted_to = map.fitted_to().family.as_deref();
    let Some(known) = fitted_to.filter(|known| *known != family) else {
        return Ok(());
    };
    let wrong = if [known, family].contains(&CORRECTNESS) {
        let words = |family: &str| match family {
            CORRECTNESS => "confidence and correctness".into(),
            family => format!("--family {family}"),
        };
        wrong!(
            "a {kind} of {}, expected one of {}, as {} holds",
            words(known),
            words(family),
            args.input.predictions.display()
        )
    } else {
        wrong!(
            "a {kind} of --family {known}, expected one of --family {family}; --family {known} applies it to \
             such predictions, and fit --family {family} makes one of these"
        )
    };
    Err(wrong).of(&args.map)
}
