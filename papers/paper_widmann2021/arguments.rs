use std::path::PathBuf;

use clap::{Parser, ValueEnum, value_parser};

/// Rerun the experiments of Widmann et al. 2021
#[derive(Debug, Parser)]
pub struct Arguments {
    /// The experiments to run, all by default
    #[arg(long, value_enum, value_delimiter = ',')]
    pub only: Vec<Experiment>,

    /// Data sets of each size, dimension and model of the synthetic study; 500 in the paper
    #[arg(long, default_value_t = 20, value_parser = value_parser!(u32).range(2..))]
    pub datasets: u32,

    /// Samples of the largest of these data sets; 1024 in the paper
    #[arg(long, default_value_t = 256, value_parser = value_parser!(u32).range(4..=1024))]
    pub samples: u32,

    /// Dimensions of their targets
    #[arg(long, value_delimiter = ',', default_value = "1,10", value_parser = value_parser!(u32).range(1..))]
    pub dimensions: Vec<u32>,

    /// Samples of the largest of them on which the exact test is made, which redraws the targets
    #[arg(long, default_value_t = 16)]
    pub exact: u32,

    /// Networks of each kind of the Friedman study; 10 in the paper
    #[arg(long, default_value_t = 10, value_parser = value_parser!(u32).range(2..))]
    pub networks: u32,

    /// Iterations of their training
    #[arg(long, default_value_t = 5000, value_parser = value_parser!(u32).range(1..))]
    pub iterations: u32,

    /// Iterations of the training with a penalty
    #[arg(long, default_value_t = 1000, value_parser = value_parser!(u32).range(1..))]
    pub penalised: u32,

    /// The weight of that penalty
    #[arg(long, default_value_t = 100.0)]
    pub lambda: f64,

    /// Decides on everything that is random
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    /// Folder of the figures (SVG) and the numbers behind them (CSV)
    #[arg(long, value_name = "DIR", default_value = "target/paper_widmann2021")]
    pub output: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub enum Experiment {
    /// Ordinary least squares
    Ols,
    /// Estimators and tests on models of which the truth is known
    Synthetic,
    /// Networks during training, and their ensemble
    Friedman,
    /// Networks that are trained with the calibration error
    Penalty,
}

impl Arguments {
    pub fn wants(&self, experiment: Experiment) -> bool {
        self.only.is_empty() || self.only.contains(&experiment)
    }
}
