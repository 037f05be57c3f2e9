//! Figure 3 of S. Gruber, F. Buettner: *Better uncertainty calibration via proper scores for
//! classification and beyond*, 2022, on the predictions of CIFAR-10 networks that Widmann et al. 2019
//! published.
//!
//! ```sh
//! cargo run --release -p burn-calibration-papers --example paper_gruber2022 -- --predictions DIR
//! ```
//!
//! Temperature scaling, its ensemble and DIAG are fitted to the first half of the predictions. Test sets
//! of growing size are drawn from the second half: an estimator is robust if its mean over test sets
//! does not depend on their size. What came out is in `docs/papers.md`.

mod arguments;
mod draw;
mod estimators;
mod kde;
#[path = "../paper_widmann2019/output.rs"]
mod output;
#[path = "../recalibration_maps/reading.rs"]
mod reading;
mod study;

use std::error::Error;

use arguments::Arguments;
use clap::Parser;
use output::Folder;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let folder = Folder::create(&arguments.output)?;
    let mut results = Vec::new();
    for network in &arguments.networks {
        results.extend(study::run(network, &arguments)?);
    }
    folder.write("figure3.csv", study::csv(&results)?)?;
    for network in &arguments.networks {
        let file = format!("figure3_{network}.svg");
        folder.write(&file, draw::figure(network, &results)?)?;
    }
    println!("{}", study::markdown(&results));
    println!("Figures and numbers are in {}.", arguments.output.display());
    Ok(())
}
