//! `calibration summarise`.

use std::fmt;

use burn_calibration::{
    accumulator::{Evaluation, Rows, Saved},
    distribution::{Categorical, Predictive},
    kernel::Bandwidth,
};
use serde::Serialize;

use crate::{
    args::Summarise,
    bandwidth::shape,
    input::Result,
    kind::Kind,
    limits::check_bins,
    piece::Piece,
    rows::Wanted,
    words::{as_member, show},
};

pub fn run(args: &Summarise) -> Result<()> {
    let loaded = Categorical::read(&[&args.predictions], &args.source, Wanted::Logits)?;
    let (predictions, labels) = (&loaded.sets[0], loaded.targets);
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
    let summary = Summary {
        output: args.output.display().to_string(),
        n: predictions.len(),
        outcomes: predictions.outcomes(),
    };
    show("summarise", &summary, args.json)
}

/// The sums that were saved.
#[derive(Serialize)]
struct Summary {
    output: String,
    n: usize,
    #[serde(serialize_with = "as_member", flatten)]
    outcomes: (&'static str, usize),
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.output)
    }
}
