//! Numbers of files as tensors, and the order of their columns.

use burn::tensor::{DType, Device, Tensor, TensorData};

use burn_calibration_reader::{
    Matrix, clipped,
    names::{in_order, places_of, say_by_name},
};

use crate::{
    args::RowsArgs,
    error::{Context, Result, wrong},
    files::File,
    notes::{noted, say},
};

/// Numbers as a tensor of f64 on the CPU.
pub fn tensor(matrix: Matrix) -> Tensor<2> {
    let shape = [matrix.rows(), matrix.columns];
    let values = TensorData::new(matrix.values, shape);
    Tensor::from_data(values, (&Device::flex(), DType::F64))
}

/// Puts the columns of a file in the order of names that are expected, if they are the same names.
pub fn order_columns(file: &mut File, args: &RowsArgs, expected: &[String]) {
    let table = &mut file.table;
    let is_other = expected != table.names && expected.len() == table.names.len();
    if is_other && !args.reading.by_position && !table.names.is_empty() && !expected.is_empty() {
        if let Some(order) = places_of(expected, &table.names) {
            table.numbers = table.numbers.with_columns(&order);
            table.names = in_order(&table.names, &order);
            noted(|notes| say_by_name(notes, &file.path, "columns", &table.names));
        } else {
            let [found, expected] =
                [&table.names[..], expected].map(|names| clipped(&names.join(", ")));
            let note = format!("columns are taken by their order: {found} as {expected}");
            say(&file.path, note);
        }
    }
}

/// The targets of a file: its numbers, or the columns of labels beside them.
pub fn targets(file: &mut File, are_beside: bool) -> Result<Matrix> {
    if !are_beside {
        return Ok(std::mem::take(&mut file.table.numbers));
    }
    let labels = &file.table.labels;
    let mut values = Vec::with_capacity(file.table.rows() * labels.len());
    for row in 0..file.table.rows() {
        for column in labels {
            let cell = &column.cells[row];
            let wrong = |_| wrong!("the target is {cell:?}, expected a number").at_row(row);
            values.push(
                cell.parse()
                    .map_err(wrong)
                    .on(&file.path, &file.table.lines)?,
            );
        }
    }
    Ok(Matrix {
        columns: labels.len(),
        values,
    })
}

/// Whether the names are increasing numbers between 0 and 1, as of quantiles.
pub fn are_levels(names: &[String]) -> bool {
    let levels: Vec<f64> = names.iter().filter_map(|name| name.parse().ok()).collect();
    let rise = levels.windows(2).all(|pair| pair[0] < pair[1]);
    let inside = levels.iter().all(|level| 0.0 < *level && *level < 1.0);
    levels.len() > 1 && levels.len() == names.len() && rise && inside
}
