//! Predictions of real vectors and their targets: rows of numbers.

use std::path::{Path, PathBuf};

use burn::tensor::{Device, Tensor};

use crate::{
    args::{SourceArgs, YesNo},
    input::{Cells, Lines, Matrix, Options, Result, read_table},
    source::{Where, no_labels, options, places, tensor},
};

/// The numbers of a file.
pub struct Numbers {
    pub rows: Tensor<2>,
    pub path: PathBuf,
    lines: Lines,
}

impl Numbers {
    /// Adds the file and the line to what is wrong with a row.
    pub fn wrong(&self, reason: String) -> String {
        format!("{}: {}", self.path.display(), self.lines.add_to(&reason))
    }
}

/// Reads files of predictions, and the targets from a file of their own or a column of the first.
pub fn read_vectors(
    paths: &[&Path],
    args: &SourceArgs,
    device: &Device,
) -> Result<(Vec<Numbers>, Numbers)> {
    let file = args.labels.labels.as_deref();
    let on_device = |matrix: Matrix| tensor(matrix, args.rows.device, device);
    let mut sets = Vec::new();
    let mut own = None;
    for (path, place) in paths.iter().zip(places(&args.labels)) {
        let options = Options {
            confidence: Some(false),
            ..options(&args.rows, place)
        };
        let mut table = read_table(path, &options)?;
        if let Some(cells) = table.labels.take().filter(|_| place == Where::Here) {
            let values = targets(&cells, &table.lines);
            let values = values.map_err(|reason| format!("{}: {reason}", path.display()))?;
            own = Some(Numbers {
                rows: on_device(Matrix { columns: 1, values }),
                path: path.to_path_buf(),
                lines: table.lines.clone(),
            });
        }
        sets.push(Numbers {
            rows: on_device(table.numbers),
            path: path.to_path_buf(),
            lines: table.lines,
        });
    }
    let targets = match (file, own) {
        (Some(file), _) => {
            let options = Options {
                header: args.labels.labels_header.map(|header| header == YesNo::Yes),
                columns: args.rows.label_column.as_deref(),
                confidence: Some(false),
                ..Options::default()
            };
            let table = read_table(file, &options)?;
            Numbers {
                rows: on_device(table.numbers),
                path: file.to_path_buf(),
                lines: table.lines,
            }
        }
        (None, Some(own)) => own,
        (None, None) => return Err(no_labels(paths[0])),
    };
    Ok((sets, targets))
}

fn targets(cells: &Cells, lines: &Lines) -> Result<Vec<f64>> {
    let target = |(row, cell): (usize, &str)| {
        let place = lines.name(row);
        let wrong = |_| format!("{place}: the target is {cell:?}, expected a number");
        cell.parse().map_err(wrong)
    };
    cells.iter().enumerate().map(target).collect()
}
