//! `calibration report`.

use std::path::{Path, PathBuf};

use burn_calibration::report::{ReportBuilder, Reportable};

use crate::{
    args::{PictureFormat, Report},
    input::Result,
    kind::{Kind, with_family},
    progress::Progress,
    rows::Wanted,
    words::say,
};

pub fn run(args: &Report) -> Result<()> {
    with_family!(args.family, P => report::<P>(args))
}

fn report<P: Kind + Reportable>(args: &Report) -> Result<()> {
    let paths = [&args.predictions].into_iter().chain(&args.after);
    let paths: Vec<&Path> = paths.map(PathBuf::as_path).collect();
    let (sets, targets) = P::read(&paths, &args.source, Wanted::Probabilities)?;
    let builder = ReportBuilder::new(&sets[0], &targets)
        .with_title(&args.title)
        .with_seed(args.seed);
    let mut builder = P::named(builder, usize::from(args.source.labels.one_based));
    if let Some(after) = sets.get(1) {
        builder = builder.with_after(after);
    }
    let progress = Progress::new(0);
    progress.step("numbers and diagrams", 0);
    let report = builder.build().map_err(|e| e.to_string())?;
    drop(progress);
    report.save(&args.output).map_err(|e| e.to_string())?;
    say(format_args!("{}\n", args.output.display()));
    if let Some(folder) = &args.pictures {
        let extension = match args.format {
            PictureFormat::Svg => "svg",
            PictureFormat::Png => "png",
        };
        let paths = report.save_diagrams(folder, extension);
        for path in paths.map_err(|e| e.to_string())? {
            say(format_args!("{}\n", path.display()));
        }
    }
    Ok(())
}
