//! `calibration summarise`.

use std::fmt;

use burn::tensor::Tensor;
use burn_calibration::{
    distribution::{Categorical, Weighted as _},
    error,
    estimator::{JointKernel, regression::IntervalCoverage},
    kernel::{Bandwidth, Kernel, RealKernel, TargetKernel, TensorKernel},
    names,
};
use burn_calibration_accumulator::{Accumulator, BlockWeights, Evaluation, Means, Rows, Saved};
use serde::Serialize;

use crate::{
    args::{FamilyName, SummariseArgs},
    error::{Context, Result, wrong},
    files::Inputs,
    kernel::shape,
    kind::{Kind, Vectors, with_vectors},
    limits::check_bins,
    merge::{Piece, Sums},
    outputs::to_write,
    rows::PredictionForm,
    words::{DataWords, KernelWords, TargetWords, key},
};

/// The settings that means of pieces share.
pub mod setting {
    pub const FAMILY: &str = "family";
    pub const DIMENSIONS: &str = "dimensions";
    pub const PROFILE: &str = "kernel";
    pub const DISTANCE: &str = "distance";
    pub const BANDWIDTH: &str = "bandwidth";
    pub const TARGET_PROFILE: &str = "target_kernel";
    pub const LENGTH_SCALE: &str = "length_scale";
    pub const BLOCK: &str = "block";
}

pub fn run(args: &SummariseArgs) -> Result<Summary> {
    match args.input.family {
        FamilyName::Categorical => summarise_classes(args),
        family => with_vectors!(family, P => summarise_vectors::<P>(args)),
    }
}

fn summarise_classes(args: &SummariseArgs) -> Result<Summary> {
    let inputs = Inputs::of(&args.input.predictions);
    let loaded = Categorical::read(&inputs, &args.source, PredictionForm::Logits)?;
    let data = loaded.data.without_names();
    let (predictions, _) = loaded.sets[0].parted();
    check_bins(args.bins, predictions.classes())?;
    let mut rows = Rows::new(&predictions, &loaded.targets)?;
    if let Some(weights) = &data.weights {
        rows = rows.weighted(&weights.rows.values)?;
    }
    let evaluation = || -> error::Result<_> {
        let empty = Evaluation::new(args.bins as usize, predictions.classes())?
            .about(predictions.subject())?;
        let mut evaluation = match kernel::<Categorical>(args) {
            Some(kernel) => empty.with_skce(kernel, args.block as usize)?,
            None => empty,
        };
        evaluation.update_rows(&rows)?;
        Ok(evaluation)
    };
    let evaluation = evaluation()?;
    let piece = Piece::new(evaluation, (rows.digest(), name(args)), loaded.columns);
    save(args, data, piece)
}

/// Sums up scores, coverages, and estimates of the SKCE in blocks.
fn summarise_vectors<P>(args: &SummariseArgs) -> Result<Summary>
where
    P: Kind<Targets = Tensor<2>> + Vectors,
    RealKernel: TargetKernel<P>,
{
    let inputs = Inputs::of(&args.input.predictions);
    let loaded = P::read(&inputs, &args.source, PredictionForm::Probabilities)?;
    let (targets, data) = (loaded.targets, loaded.data);
    let predictions = &loaded.sets[0].parted().0;
    let weights = data.weights.clone().unwrap_or_default().rows.values;
    let mut settings = vec![
        (setting::FAMILY, key(args.input.family)),
        (setting::DIMENSIONS, predictions.dimensions().to_string()),
    ];
    let kernel = kernel::<P>(args).map(|kernel| on_both(args, kernel));
    let kernel = kernel.transpose()?;
    if let Some(kernel) = kernel {
        let words = KernelWords::from(&kernel.predictions);
        let on_targets = TargetWords::from(kernel.targets);
        let number = |number: f64| format!("{number:?}");
        settings.extend([
            (setting::PROFILE, words.profile),
            (setting::DISTANCE, words.distance.to_owned()),
            (setting::BANDWIDTH, number(words.bandwidth)),
            (setting::TARGET_PROFILE, on_targets.profile),
            (setting::LENGTH_SCALE, number(on_targets.length_scale)),
            (setting::BLOCK, args.block.to_string()),
        ]);
    }
    let columns = || -> error::Result<_> {
        let mut columns = Vec::new();
        for (name, score) in P::scores() {
            columns.push((name, score.each(predictions, &targets)?));
        }
        for (name, level) in [(names::COVERAGE_50, 0.5), (names::COVERAGE_90, 0.9)] {
            let coverage = IntervalCoverage::new(level);
            columns.push((name, coverage.each(predictions, &targets)?));
        }
        let mut means = Means::new(settings);
        for (name, numbers) in &columns {
            match &weights[..] {
                [] => means.add(name.key, numbers)?,
                weights => means.add_weighted(name.key, numbers, weights)?,
            }
        }
        if let Some(kernel) = kernel {
            let block = args.block as usize;
            let weights = BlockWeights::new(&weights, block)?;
            let mut blocks = Vec::new();
            if predictions.len() >= block {
                let pairs = kernel.pairs(predictions, &targets)?;
                blocks = match weights.relative() {
                    Some(weights) => pairs.weighted_block_estimates(block, weights),
                    None => pairs.block_estimates(block),
                };
            }
            match weights.pairs() {
                [] => means.add(names::SKCE_BLOCK.key, &blocks)?,
                weights => means.add_weighted(names::SKCE_BLOCK.key, &blocks, weights)?,
            }
            columns.push((names::SKCE_BLOCK, blocks));
        }
        Ok((means, columns))
    };
    let (means, columns) = columns().of(&args.input.predictions)?;
    let targets = targets.try_into_vec_as::<f64>()?;
    let numbers = columns.into_iter().flat_map(|(_, numbers)| numbers);
    let digest = Means::digest_of(targets.into_iter().chain(numbers));
    save(
        args,
        data,
        Piece::new(means, (digest, name(args)), Vec::new()),
    )
}

/// The kernel on predictions, if a bandwidth is given.
fn kernel<P: Kind>(args: &SummariseArgs) -> Option<Kernel> {
    let bandwidth = Bandwidth::Fixed(args.bandwidth?);
    Some(shape::<P>(&args.shape).with_bandwidth(bandwidth))
}

/// The kernel on predictions times that on targets.
fn on_both(args: &SummariseArgs, kernel: Kernel) -> Result<TensorKernel<RealKernel>> {
    let length_scale = args.length_scale.ok_or_else(|| {
        wrong!("--bandwidth: expected --length-scale NUMBER as well, the same for every piece")
    })?;
    Ok(TensorKernel::new(
        kernel,
        args.target_kernel.with_length_scale(length_scale),
    ))
}

/// Returns the name of the predictions.
fn name(args: &SummariseArgs) -> String {
    args.input.predictions.display().to_string()
}

fn save(args: &SummariseArgs, data: DataWords, piece: Piece<impl Sums>) -> Result<Summary> {
    piece.save(to_write(&args.output))?;
    Ok(Summary {
        output: args.output.display().to_string(),
        data,
    })
}

/// The sums that were saved.
#[derive(Serialize)]
pub struct Summary {
    output: String,
    #[serde(flatten)]
    data: DataWords,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.output)
    }
}
