//! Figures 1 and 2 and the CIFAR-10 networks of D. Widmann, F. Lindsten, D. Zachariah:
//! *Calibration tests in multi-class classification: a unifying framework*, 2019, rerun.
//!
//! ```sh
//! cargo run --release -p burn-calibration-papers --example paper_widmann2019
//! ```
//!
//! Three models of which the truth is known give many small data sets. Figure 1 shows how far
//! estimates of the calibration error are from the truth, figure 2 how often tests of calibration
//! err. What came out, beside the published numbers, is in `docs/papers.md`.

mod arguments;
mod cifar10;
mod figure1;
mod figure2;
mod models;
mod output;
mod panels;
mod parallel;
mod simulation;
mod tests;

use std::error::Error;

use arguments::Arguments;
use clap::Parser;
use output::Folder;
use simulation::simulate;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let folder = Folder::create(&arguments.output)?;

    // Each data set goes through every test; a test gives an estimate and a p-value.
    let results = models::all()
        .into_iter()
        .map(|model| simulate(model, &arguments))
        .collect::<Result<Vec<_>>>()?;
    folder.write("results.csv", simulation::table(&results)?)?;

    // Figure 1: the distributions of the estimates.
    folder.write("figure1.csv", figure1::table(&results)?)?;
    folder.write("figure1.svg", figure1::draw(&results)?)?;
    println!("{}", figure1::markdown(&results));

    // Figure 2: how often the p-values mislead.
    folder.write("figure2.csv", figure2::table(&results)?)?;
    folder.write("figure2.svg", figure2::draw(&results)?)?;
    println!("{}", figure2::markdown(&results, &arguments));

    // Figures 83 and 84, as tables: real networks.
    match &arguments.cifar10 {
        Some(predictions) => {
            let networks = cifar10::evaluate(predictions, &arguments)?;
            folder.write("cifar10.csv", cifar10::table(&networks)?)?;
            println!("{}", cifar10::markdown(&networks));
        }
        None => println!("CIFAR-10 skipped: --cifar10 DIR names no folder of predictions.\n"),
    }
    println!("Figures and numbers are in {}.", arguments.output.display());
    Ok(())
}
