//! `calibration report`.

use std::{fs, path::Path};

use burn_calibration::{
    estimator::Event,
    report::{Report, ReportBuilder, Summary},
};

use crate::{
    args::{self, Family, PictureFormat},
    input::Result,
    real,
    source::{check_sizes, device, read_labels, read_predictions},
};

pub fn run(args: &args::Report) -> Result<()> {
    match args.family {
        Family::Categorical => categorical(args),
        _ => real::report(args),
    }
}

fn categorical(args: &args::Report) -> Result<()> {
    let device = device(args.source.device)?;
    let read = |path: &Path| read_predictions(path, &args.source, &device);
    let predictions = read(&args.predictions)?;
    let after = args.after.as_deref().map(read).transpose()?;
    if let (Some(path), Some(after)) = (&args.after, &after) {
        check_sizes((path, after), (&args.predictions, &predictions))?;
    }
    let labels = read_labels(
        &args.source.labels,
        (&args.predictions, &predictions.probabilities()),
    )?;
    let first = usize::from(args.source.labels.one_based);
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

/// Each diagram of the page under a name of its own.
fn save_pictures(report: &Report, folder: &Path, format: PictureFormat) -> Result<()> {
    let extension = make_folder(folder, format)?;
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

/// Makes the folder for pictures, and gives their extension.
pub fn make_folder(folder: &Path, format: PictureFormat) -> Result<&'static str> {
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(match format {
        PictureFormat::Svg => "svg",
        PictureFormat::Png => "png",
    })
}
