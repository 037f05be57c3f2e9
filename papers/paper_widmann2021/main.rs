//! The experiments of D. Widmann, F. Lindsten, D. Zachariah: *Calibration tests beyond
//! classification*, 2021, rerun.
//!
//! ```sh
//! cargo run --release -p burn-calibration-papers --example paper_widmann2021
//! ```
//!
//! What came out, beside the published numbers, is in `docs/papers.md`.

mod arguments;
mod friedman;
mod kernel;
mod ols;
#[path = "../paper_widmann2019/output.rs"]
mod output;
#[path = "../paper_widmann2019/panels.rs"]
mod panels;
#[path = "../paper_widmann2019/parallel.rs"]
mod parallel;
mod plot;
mod synthetic;

use std::error::Error;

use arguments::{Arguments, Experiment};
use clap::Parser;
use output::Folder;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let folder = Folder::create(&arguments.output)?;
    if arguments.wants(Experiment::Ols) {
        ols::run(&arguments, &folder)?;
    }
    if arguments.wants(Experiment::Synthetic) {
        synthetic::run(&arguments, &folder)?;
    }
    if arguments.wants(Experiment::Friedman) {
        friedman::networks(&arguments, &folder)?;
    }
    if arguments.wants(Experiment::Penalty) {
        friedman::penalised(&arguments, &folder)?;
    }
    println!("Figures and numbers are in {}.", arguments.output.display());
    Ok(())
}
