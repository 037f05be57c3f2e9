//! `calibration apply`.

use burn::tensor::activation::softmax;
use burn_calibration::recalibration::load_map;

use crate::{
    args::Apply,
    input::{Matrix, Result},
    source::{device, read_logits},
    writer::{Format, write_matrix},
};

pub fn run(args: &Apply) -> Result<()> {
    let format = Format::of(&args.output)?;
    let device = device(args.logits.device)?;
    let map = load_map(&args.map, &device).map_err(|e| e.to_string())?;
    let logits = read_logits(&args.logits, &device)?;
    let [_, columns] = logits.dims();
    if let Some(classes) = map.width()
        && classes != columns
    {
        return Err(format!(
            "{}: {columns} columns, expected {classes}, the classes of {}",
            args.logits.logits.display(),
            args.map.display()
        ));
    }
    let (name, rows) = match args.to_probabilities {
        false => ("logits", map.forward(logits)),
        true => ("probabilities", softmax(map.forward(logits), 1)),
    };
    let values = rows.try_into_vec_as::<f64>().map_err(|e| e.to_string())?;
    write_matrix(&args.output, format, name, &Matrix { columns, values })
}
