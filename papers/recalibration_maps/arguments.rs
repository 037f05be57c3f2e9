use std::path::PathBuf;

use clap::Parser;

/// Fit every recalibration map to half of a file of predictions, and tell what it gained on the other
#[derive(Debug, Parser)]
pub struct Arguments {
    /// Folder of predictions, NAME.csv.gz, with labels.csv
    #[arg(long, value_name = "DIR", default_value = "../shared/data/cifar10-predictions", value_parser = predictions)]
    pub predictions: PathBuf,

    /// Which of them
    #[arg(long, value_name = "NAME", num_args = 1.., default_values = ["densenet121", "googlenet", "mobilenet_v2", "resnet18"])]
    pub networks: Vec<String>,
}

fn predictions(text: &str) -> Result<PathBuf, String> {
    let folder = PathBuf::from(text);
    match folder.join("labels.csv").is_file() {
        true => Ok(folder),
        false => Err("no labels.csv there; --predictions DIR names the folder of the data".into()),
    }
}
