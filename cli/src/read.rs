//! Reading files of predictions and labels in other programs.

use std::{ffi::OsString, path::PathBuf};

use burn::tensor::{Int, Tensor};
use burn_calibration::{distribution::Categorical, error};
use burn_calibration_reader::Resolution;
use clap::Parser;

use crate::{
    args::{FamilyName, SourceArgs, check_options},
    error::{Context, Error, Result},
    files::Inputs,
    kind::Kind,
    program::parsed,
    rows::{self, FilePredictions, PredictionForm, zero_refused},
};

/// Predictions of classes and their labels, read by [`read_classes`], in f64 on Burn's default CPU backend.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClassFiles {
    /// The predictions for `n` samples and `m` classes; with `--positive` those of an event, which is class
    /// 1 of two.
    pub predictions: Categorical,
    /// The labels, `[n]`: classes from 0.
    pub labels: Tensor<1, Int>,
    /// The names of the classes; empty if the files have none.
    pub class_names: Vec<String>,
    path: PathBuf,
    resolution: Resolution,
}

impl ClassFiles {
    /// The logits, `[n, m]`, which losses and maps take: those of the file with `--logits`, otherwise the
    /// logarithms of the probabilities.
    ///
    /// # Errors
    ///
    /// A probability of 0, which has no finite logarithm; `--clip` raises it.
    pub fn logits(&self) -> error::Result<Tensor<2>> {
        let (logits, has_zeros) = rows::logits(&self.predictions).map_err(data_error)?;
        if has_zeros {
            let rows = FilePredictions {
                predictions: self.predictions.clone(),
                names: self.class_names.clone(),
                resolution: self.resolution,
            };
            let refused: Result<_> = Err(zero_refused(&logits, &rows)).of(&self.path);
            return refused.map_err(data_error);
        }
        Ok(logits)
    }
}

/// The error of the library for one of a file.
fn data_error(error: Error) -> error::Error {
    let (path, reason) = error.into_parts();
    error::Error::File {
        path: path.unwrap_or_default(),
        reason,
    }
}

/// The options of [`read_classes`].
#[derive(Parser)]
#[command(name = "read_classes", no_binary_name = true, disable_help_flag = true)]
struct ReadOptions {
    /// Predictions, one row per sample
    #[arg(long, value_name = "FILE")]
    predictions: PathBuf,

    #[command(flatten)]
    source: SourceArgs,
}

/// Reads predictions of classes and their labels from files, as the command does: CSV and other text, NPY,
/// NPZ (`FILE.npz:ARRAY`), safetensors (`FILE.safetensors:TENSOR`), gzip of these, and with the feature
/// `parquet` Parquet. The options are those of `calibration evaluate` that describe the files.
/// Notes about the reading of the files, such as columns that are left out, go to standard error, as in
/// the command.
///
/// ```
/// use burn_calibration_cli::read_classes;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let file = folder.path().join("held_out.csv");
/// std::fs::write(&file, "cat,dog,label\n2.0,-1.0,cat\n0.5,1.5,dog\n0.25,0.0,dog\n")?;
/// let file = file.to_str().expect("UTF-8");
/// let data = read_classes(["--predictions", file, "--logits", "--label-column", "label"])?;
/// let (logits, labels) = (data.logits()?, data.labels);
/// assert_eq!((logits.dims(), labels.dims()), ([3, 2], [3]));
/// assert_eq!(data.class_names, ["cat", "dog"]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// An option that is unknown or lacks its value; a file that cannot be read or does not hold what the options say:
/// which file, row, column and value, and what was expected.
pub fn read_classes<T: Into<OsString> + Clone>(
    options: impl IntoIterator<Item = T>,
) -> error::Result<ClassFiles> {
    let parsed = parsed::<ReadOptions, _>(options).map_err(|what| error::Error::Unsupported {
        what,
        expected: "options of `calibration evaluate` that are of files",
    });
    let (options, command, given) = parsed?;
    check_options(&command, &given, FamilyName::Categorical).map_err(data_error)?;
    let inputs = Inputs::of(&options.predictions);
    let loaded = Categorical::read(&inputs, &options.source, PredictionForm::Logits);
    let mut loaded = loaded.of(&options.predictions).map_err(data_error)?;
    Ok(ClassFiles {
        resolution: loaded.data.resolution,
        predictions: loaded.sets.remove(0),
        labels: loaded.targets,
        class_names: loaded.data.class_names,
        path: options.predictions,
    })
}
