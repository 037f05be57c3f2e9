//! A.3: networks for the regression problem Friedman 1, and their ensemble.

mod curves;
mod data;
mod network;
mod penalty;
mod scores;
mod training;

use burn::tensor::Device;
use data::Data;
use rand::{SeedableRng, rngs::StdRng};

use crate::{Result, arguments::Arguments, output::Folder};

const PARTS: [&str; 2] = ["training", "test"];
/// Samples of each.
const SAMPLES: [usize; 2] = [100, 50];

/// What is in the paper.
pub fn networks(arguments: &Arguments, folder: &Folder) -> Result<()> {
    let mut rng = StdRng::seed_from_u64(arguments.seed);
    let data = SAMPLES.map(|n| Data::sample(n, &Device::default(), &mut rng));
    let points = curves::run(&data, arguments)?;
    folder.write("friedman.csv", curves::table(&points)?)?;
    folder.write("friedman.svg", curves::draw(&points)?)?;
    println!("{}", curves::markdown(&points));
    Ok(())
}

/// What is not.
pub fn penalised(arguments: &Arguments, folder: &Folder) -> Result<()> {
    let results = penalty::run(arguments)?;
    folder.write("penalty.csv", penalty::table(&results)?)?;
    println!("{}", penalty::markdown(&results, arguments));
    Ok(())
}
