//! A.2: how far estimates of the calibration error are from the truth, and how often tests of
//! calibration err, on models of which the truth is known.

mod figures;
mod models;
mod study;
mod tables;
mod tests;

use crate::{Result, arguments::Arguments, output::Folder};

pub fn run(arguments: &Arguments, folder: &Folder) -> Result<()> {
    let results = study::run(arguments)?;
    folder.write("synthetic.csv", study::table(&results)?)?;
    folder.write("estimators.svg", figures::estimators(&results)?)?;
    folder.write("tests.svg", figures::tests(&results)?)?;
    println!("{}", tables::markdown(&results, arguments)?);
    Ok(())
}
