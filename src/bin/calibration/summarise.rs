//! `calibration summarise`.

use burn_calibration::{
    accumulator::{Evaluation, Rows, Saved},
    distribution::Categorical,
    kernel::Bandwidth,
};

use crate::{
    args::Summarise, bandwidth::shape, input::Result, kind::Kind, limits::check_bins, piece::Piece,
    rows::Wanted, words::say,
};

pub fn run(args: &Summarise) -> Result<()> {
    let (sets, labels) = Categorical::read(&[&args.predictions], &args.source, Wanted::Logits)?;
    let predictions = &sets[0];
    check_bins(args.bins, predictions.classes())?;
    let evaluation = Evaluation::new(args.bins as usize, predictions.classes());
    let evaluation = match args.bandwidth {
        Some(bandwidth) => {
            let kernel =
                shape::<Categorical>(&args.shape).with_bandwidth(Bandwidth::Fixed(bandwidth));
            evaluation.and_then(|all| all.with_skce(kernel, args.block as usize))
        }
        None => evaluation,
    };
    let evaluation = evaluation.map_err(|e| e.to_string())?;
    let rows = Rows::new(predictions, &labels).map_err(|e| e.to_string())?;
    let piece = Piece::new(evaluation, &rows)?;
    piece.save(&args.output).map_err(|e| e.to_string())?;
    say(format_args!("{}\n", args.output.display()));
    Ok(())
}
