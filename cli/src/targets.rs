//! Predictions of real vectors and their targets: rows of numbers.

use std::path::{Path, PathBuf};

use burn::tensor::{Device, Tensor};

use crate::{
    align::{in_order, say_by_name},
    args::{DeviceName, RowsArgs},
    error::{Context, Result, ensure, wrong},
    input::{Cells, Ids, Lines, Matrix, Options, clipped, read_table},
    source::tensor,
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
        say_by_name(path, "columns", &table.names);
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

impl Numbers {
    /// Targets in a column beside the predictions.
    pub fn beside(&self, cells: &Cells, name: DeviceName, device: &Device) -> Result<Self> {
        let target = |(row, cell): (usize, &str)| {
            let wrong = |_| wrong!("the target is {cell:?}, expected a number").at_row(row);
            cell.parse().map_err(wrong)
        };
        let values: Result<_> = cells.iter().enumerate().map(target).collect();
        let values = values.on(&self.path, &self.lines)?;
        Ok(Self {
            rows: tensor(Matrix { columns: 1, values }, name, device),
            path: self.path.clone(),
            names: Vec::new(),
            ids: None,
            lines: self.lines.clone(),
        })
    }
}

/// Words for the location and the scale of a distribution in names of columns.
const LOCATIONS: &str = "mean means mu loc location median m";
const SCALES: &str = "sd std stdev stddev stds sigma scale scales deviation s b";

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
        let is = |known: &str| {
            known
                .split(' ')
                .any(|known| words().any(|word| word == known))
        };
        match (is(LOCATIONS), is(SCALES)) {
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
