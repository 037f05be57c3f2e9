//! Predictions of real vectors and their targets: rows of numbers.

use std::path::{Path, PathBuf};

use burn::tensor::{Device, Tensor};

use crate::{
    align::in_order,
    args::{RowsArgs, SourceArgs},
    error::{Context, Result, ensure, wrong},
    input::{Cells, Ids, Lines, Matrix, Options, clipped, read_table, say},
    source::{Where, label_options, no_labels, options, places, tensor},
};

/// The numbers of a file.
pub struct Numbers {
    pub rows: Tensor<2>,
    pub path: PathBuf,
    /// The names of the columns; empty if the file has none.
    pub names: Vec<String>,
    /// What names the rows; none by position.
    pub ids: Option<Ids>,
    pub lines: Lines,
}

/// Reads the numbers of a file: columns in the order of names that are expected, if they are the same names.
pub fn read_numbers(
    path: &Path,
    args: &RowsArgs,
    options: &Options,
    expected: &[String],
    device: &Device,
) -> Result<(Numbers, Option<Cells>)> {
    let mut table = read_table(path, options)?;
    let place = |name: &String| table.names.iter().position(|other| other == name);
    let order: Option<Vec<usize>> = expected.iter().map(place).collect();
    let is_other = expected != table.names && expected.len() == table.names.len();
    if let Some(order) = order.filter(|_| is_other && !args.by_position) {
        table.numbers = table.numbers.with_columns(&order);
        table.names = in_order(&table.names, &order);
        let names = clipped(&table.names.join(", "));
        say(
            path,
            format_args!("columns are taken by their names: {names}"),
        );
    }
    let numbers = Numbers {
        rows: tensor(table.numbers, args.device, device),
        path: path.to_path_buf(),
        names: table.names,
        ids: table.ids.filter(|_| !args.by_position),
        lines: table.lines,
    };
    Ok((numbers, table.labels))
}

/// Reads files of predictions, and the targets from a file of their own or a column of the first. Columns are
/// in the order of names that are expected, or of those of the first file.
pub fn read_vectors(
    paths: &[&Path],
    args: &SourceArgs,
    expected: &[String],
    device: &Device,
) -> Result<(Vec<Numbers>, Numbers)> {
    let file = args.labels.labels.as_deref();
    let mut sets: Vec<Numbers> = Vec::new();
    let mut own = None;
    for (path, place) in paths.iter().zip(places(&args.labels)) {
        let options = Options {
            confidence: Some(false),
            ..options(&args.rows, place)
        };
        let expected = sets.first().map_or(expected, |first| &first.names);
        let (numbers, cells) = read_numbers(path, &args.rows, &options, expected, device)?;
        if let Some(cells) = cells.filter(|_| place == Where::Here) {
            let values = targets(&cells).on(path, &numbers.lines)?;
            own = Some(Numbers {
                rows: tensor(Matrix { columns: 1, values }, args.rows.device, device),
                path: path.to_path_buf(),
                names: Vec::new(),
                ids: None,
                lines: numbers.lines.clone(),
            });
        }
        sets.push(numbers);
    }
    let targets = match (file, own) {
        (Some(file), _) => {
            let options = Options {
                columns: args.rows.label_column.as_deref(),
                ..label_options(&args.labels)
            };
            read_numbers(file, &args.rows, &options, &[], device)?.0
        }
        (None, Some(own)) => own,
        (None, None) => return Err(no_labels(paths[0])),
    };
    Ok((sets, targets))
}

/// Words for the location and the scale of a distribution in names of columns.
const LOCATIONS: [&str; 7] = ["mean", "means", "mu", "loc", "location", "median", "m"];
const SCALES: [&str; 11] = [
    "sd",
    "std",
    "stdev",
    "stddev",
    "sigma",
    "scale",
    "scales",
    "deviation",
    "s",
    "b",
    "stds",
];

/// Whether the names are increasing numbers between 0 and 1, as of quantiles.
pub fn are_levels(names: &[String]) -> bool {
    let levels: Vec<f64> = names.iter().filter_map(|name| name.parse().ok()).collect();
    let rise = levels.windows(2).all(|pair| pair[0] < pair[1]);
    let inside = levels.iter().all(|level| 0.0 < *level && *level < 1.0);
    levels.len() > 1 && levels.len() == names.len() && rise && inside
}

/// Checks that locations come before scales where the names of all columns tell which they are.
pub fn check_halves(names: &[String]) -> Result<()> {
    // Some(true) of a scale
    let role = |name: &String| {
        let name = name.to_lowercase();
        let words = || name.split(|c: char| !c.is_alphabetic());
        let is = |known: &[&str]| words().any(|word| known.contains(&word));
        match (is(&LOCATIONS), is(&SCALES)) {
            (true, false) => Some(false),
            (false, true) => Some(true),
            _ => None,
        }
    };
    let Some(roles) = names.iter().map(role).collect::<Option<Vec<_>>>() else {
        return Ok(());
    };
    let half = names.len() / 2;
    let is_wrong = |(column, is_scale): (usize, &bool)| *is_scale != (column >= half);
    ensure!(
        !roles.iter().enumerate().any(is_wrong),
        "the columns are named {}, expected locations and then scales; --columns NAME,NAME gives their \
             order, and --by-position takes them as they are",
        clipped(&names.join(", "))
    );
    Ok(())
}

fn targets(cells: &Cells) -> Result<Vec<f64>> {
    let target = |(row, cell): (usize, &str)| {
        let wrong = |_| wrong!("the target is {cell:?}, expected a number").at_row(row);
        cell.parse().map_err(wrong)
    };
    cells.iter().enumerate().map(target).collect()
}
