use std::path::PathBuf;

use clap::{Parser, value_parser};

/// Rerun figure 3 of Gruber and Buettner 2022 on CIFAR-10 predictions: estimates of the calibration
/// error, and of what a recalibration gained, against the size of the test set
#[derive(Debug, Parser)]
pub struct Arguments {
    /// Folder of predictions, NAME.csv.gz, with labels.csv
    #[arg(long, value_name = "DIR", default_value = "../shared/data/cifar10-predictions", value_parser = predictions)]
    pub predictions: PathBuf,

    /// Which of them
    #[arg(long, value_name = "NAME", num_args = 1.., default_values = ["densenet121", "googlenet", "mobilenet_v2", "resnet18"])]
    pub networks: Vec<String>,

    /// Random test sets of each size but the largest
    #[arg(long, default_value_t = 100, value_parser = value_parser!(u32).range(2..))]
    pub repeats: u32,

    /// Decides on the test sets
    #[arg(long, default_value_t = 0)]
    pub seed: u64,

    /// Folder of the figure (SVG) and the numbers behind it (CSV)
    #[arg(long, value_name = "DIR", default_value = "target/paper_gruber2022")]
    pub output: PathBuf,
}

fn predictions(text: &str) -> Result<PathBuf, String> {
    let folder = PathBuf::from(text);
    match folder.join("labels.csv").is_file() {
        true => Ok(folder),
        false => Err("no labels.csv there; --predictions DIR names the folder of the data".into()),
    }
}
