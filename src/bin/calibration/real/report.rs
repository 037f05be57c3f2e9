use std::path::Path;

use burn_calibration::{
    distribution::AbsoluteMoments,
    kernel::{RealKernel, TargetKernel},
    report::{RealReport, RealReportBuilder, RealSummary},
};

use super::source::{Predictions, read};
use crate::{args::Report, input::Result, report::make_folder, source::device};

/// `calibration report --family …`.
pub fn report(args: &Report) -> Result<()> {
    for (given, name) in [
        (args.source.logits, "--logits"),
        (args.source.labels.one_based, "--one-based"),
    ] {
        if given {
            return Err(format!("{name}: of the family categorical only"));
        }
    }
    let device = device(args.source.device)?;
    let targets = &args.source.labels.labels;
    let read = |path: &Path| {
        let files = (path, targets.as_path());
        read(args.family, files, (args.source.device, &device))
    };
    let (predictions, observed) = read(&args.predictions)?;
    let after = args.after.as_deref().map(read).transpose()?;
    macro_rules! built {
        ($($family:ident by $builder:expr),+ $(,)?) => {
            match &predictions {
                $(Predictions::$family(predictions) => {
                    let after = after.as_ref().map(|(after, _)| match after {
                        Predictions::$family(after) => after,
                        _ => unreachable!("of the same family"),
                    });
                    build($builder(predictions, &observed), after, args)
                })+
            }
        };
    }
    let report = built!(
        Normal by RealReportBuilder::new,
        Laplace by RealReportBuilder::new,
        NormalMixture by RealReportBuilder::new,
        Samples by |draws, observed| RealReportBuilder::without_density(draws, observed).with_ranks(),
    )?;
    report.save(&args.output).map_err(|e| e.to_string())?;
    println!("{}", args.output.display());
    save_pictures(&report, args)
}

fn build<'a, P: AbsoluteMoments>(
    builder: RealReportBuilder<'a, P>,
    after: Option<&'a P>,
    args: &Report,
) -> Result<RealReport>
where
    RealKernel: TargetKernel<P>,
{
    let builder = builder.with_title(&args.title).with_seed(args.seed);
    let builder = match after {
        Some(after) => builder.with_after(after),
        None => builder,
    };
    builder.build().map_err(|e| e.to_string())
}

/// Each diagram of the page under a name of its own.
fn save_pictures(report: &RealReport, args: &Report) -> Result<()> {
    let Some(folder) = &args.pictures else {
        return Ok(());
    };
    let extension = make_folder(folder, args.format)?;
    let save = |prefix: &str, summary: &RealSummary| {
        let path = |name: &str| folder.join(format!("{prefix}{name}.{extension}"));
        let (pit, quantiles) = (path("pit"), path("quantiles"));
        summary.pit.save(&pit).map_err(|e| e.to_string())?;
        println!("{}", pit.display());
        let saved = summary.quantiles.save(&quantiles);
        saved.map_err(|e| e.to_string())?;
        println!("{}", quantiles.display());
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
