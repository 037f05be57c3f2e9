use std::path::PathBuf;

use clap::{Parser, value_parser};

/// Rerun figures 1 and 2 and the CIFAR-10 networks of Widmann et al. 2019
///
/// On two cores the default takes one to two minutes, the data sets of the paper (--datasets 10000)
/// half an hour; --replicates 1000 takes two hours, by extrapolation. --cifar10 is another minute, or
/// four with 1000 replicates.
#[derive(Debug, Parser)]
pub struct Arguments {
    /// Data sets of each of the three models
    #[arg(long, default_value_t = 500, value_parser = value_parser!(u32).range(2..))]
    pub datasets: u32,

    /// Replicates of the tests that resample; their p-values are multiples of 1/(replicates + 1)
    #[arg(long, default_value_t = 199, value_parser = value_parser!(u32).range(1..))]
    pub replicates: u32,

    /// Decides on every data set and every resample
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    /// Folder of the figures (SVG) and the numbers behind them (CSV)
    #[arg(long, value_name = "DIR", default_value = "target/paper_widmann2019")]
    pub output: PathBuf,

    /// Folder of the published predictions of CIFAR-10 networks, NAME.csv.gz, with labels.csv,
    /// published_estimates.csv and published_pvalues.csv
    #[arg(long, value_name = "DIR", value_parser = predictions)]
    pub cifar10: Option<PathBuf>,
}

impl Arguments {
    pub fn replicates(&self) -> usize {
        self.replicates as usize
    }
}

/// A wrong folder is better known before the figures than after.
fn predictions(text: &str) -> Result<PathBuf, String> {
    let folder = PathBuf::from(text);
    match folder.join("labels.csv").is_file() {
        true => Ok(folder),
        false => Err("no labels.csv there".into()),
    }
}
