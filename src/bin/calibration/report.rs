//! `calibration report`.

use std::{fs, path::Path};

use burn::tensor::{DType, Device};
use burn_calibration::{
    distribution::Categorical,
    estimator::Event,
    report::{Report, ReportBuilder, Summary},
};

use crate::{
    args::{self, PictureFormat},
    input::Result,
    source,
};

pub fn run(args: &args::Report) -> Result<()> {
    let (device, dtype) = (Device::flex(), DType::F64);
    let (predictions, labels) = source::read(&args.source, &device, dtype)?;
    let after = match &args.after {
        Some(path) => {
            let after = source::read_predictions(path, args.source.logits, &device, dtype)?;
            check_shape(path, &after, &args.source.predictions, &predictions)?;
            Some(after)
        }
        None => None,
    };
    let first = usize::from(args.source.one_based);
    let names = (first..first + predictions.classes()).map(|class| class.to_string());
    let builder = ReportBuilder::new(&predictions, &labels)
        .with_title(&args.title)
        .with_class_names(names)
        .with_seed(args.seed);
    let builder = match &after {
        Some(after) => builder.with_after(after),
        None => builder,
    };
    let report = builder.build().map_err(|e| e.to_string())?;
    report.save(&args.output).map_err(|e| e.to_string())?;
    println!("{}", args.output.display());
    match &args.pictures {
        Some(folder) => save_pictures(&report, folder, args.format),
        None => Ok(()),
    }
}

fn check_shape(
    path: &Path,
    after: &Categorical,
    before_path: &Path,
    before: &Categorical,
) -> Result<()> {
    let shape = |p: &Categorical| (p.samples(), p.classes());
    if shape(after) == shape(before) {
        return Ok(());
    }
    Err(format!(
        "{}: {} rows of {} classes, expected {} rows of {}, as {}",
        path.display(),
        after.samples(),
        after.classes(),
        before.samples(),
        before.classes(),
        before_path.display()
    ))
}

/// Each diagram of the page under a name of its own.
fn save_pictures(report: &Report, folder: &Path, format: PictureFormat) -> Result<()> {
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let extension = match format {
        PictureFormat::Svg => "svg",
        PictureFormat::Png => "png",
    };
    let save = |prefix: &str, summary: &Summary| {
        let diagrams = [&summary.top_label].into_iter().chain(&summary.class_wise);
        for diagram in diagrams {
            let name = match diagram.event {
                Event::TopLabel => "top-label".into(),
                Event::Class(class) => format!("class-{}", report.class_names[class]),
            };
            let path = folder.join(format!("{prefix}{name}.{extension}"));
            diagram.save(&path).map_err(|e| e.to_string())?;
            println!("{}", path.display());
        }
        Ok(())
    };
    match &report.after {
        Some(after) => {
            save("before-", &report.before)?;
            save("after-", after)
        }
        None => save("", &report.before),
    }
}
