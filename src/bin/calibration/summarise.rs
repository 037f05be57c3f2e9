//! `calibration summarise`.

use burn_calibration::{
    accumulator::{Accumulator, Evaluation, Saved},
    kernel::Bandwidth,
};

use crate::{
    args::Summarise,
    input::Result,
    kernel::shape,
    source::{device, read_labels, read_predictions},
};

pub fn run(args: &Summarise) -> Result<()> {
    let device = device(args.source.device)?;
    let predictions = read_predictions(&args.predictions, &args.source, &device)?;
    let labels = read_labels(
        &args.source.labels,
        (&args.predictions, &predictions.probabilities()),
    )?;
    let evaluation = Evaluation::new(args.bins as usize, predictions.classes());
    let evaluation = match args.bandwidth {
        Some(bandwidth) => {
            let kernel = shape(&args.shape).with_bandwidth(Bandwidth::Fixed(bandwidth));
            evaluation.and_then(|all| all.with_skce(kernel, args.block as usize))
        }
        None => evaluation,
    };
    let mut evaluation = evaluation.map_err(|e| e.to_string())?;
    let taken = evaluation.update(&predictions, &labels);
    taken.map_err(|e| e.to_string())?;
    evaluation.save(&args.output).map_err(|e| e.to_string())?;
    println!("{}", args.output.display());
    Ok(())
}
