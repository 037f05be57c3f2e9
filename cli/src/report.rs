//! `calibration report`.

use std::path::{Path, PathBuf};

use burn_calibration::{error, file};
use burn_calibration_report::{After, Assessed, ReportBuilder};
use serde::Serialize;

use crate::{
    args::{BinArgs, FamilyName, ReportArgs},
    error::{Result, wrong},
    files::Inputs,
    kind::{Kind, with_family, with_vectors},
    monitor, notes,
    outputs::is_standard_output,
    progress::Progress,
    quantities::Pairs,
    rows::Wanted,
    vectors::VectorFiles,
    words::{DataWords, KernelWords, TargetWords, object, say},
};

/// The numbers of a page.
#[derive(Serialize)]
struct Written<'a, S> {
    /// The page, and the diagrams.
    files: Vec<String>,
    #[serde(flatten)]
    data: DataWords,
    family: FamilyName,
    /// The bins that were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    binned: Option<BinArgs>,
    level: f64,
    seed: u64,
    /// The kernel on predictions, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<KernelWords>,
    #[serde(rename = "target_kernel", skip_serializing_if = "Option::is_none")]
    on_targets: Option<TargetWords>,
    /// The number of samples of the SKCE, if there is a kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    skce_samples: Option<usize>,
    before: &'a Assessed<S>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<&'a Assessed<S>>,
}

pub fn run(args: &ReportArgs, json: bool) -> Result<()> {
    if let Some(state) = &args.state {
        return report_of_state(args, state, json);
    }
    let output = (args.bins.asked(), json);
    match args.after_family.filter(|after| *after != args.family) {
        None => with_family!(args.family, P => report::<P>(args, output)),
        Some(after) => report_of_families(args, after, output),
    }
}

/// The page of the state of a monitor.
fn report_of_state(args: &ReportArgs, path: &Path, json: bool) -> Result<()> {
    let state = monitor::State::of_file(path, &args.source.rows.held)?;
    let state = state.ok_or_else(|| wrong!("{}: no such file", path.display()))?;
    let report = state.report();
    let report = match &args.title {
        Some(title) => report.with_title(title),
        None => report,
    };
    let save_diagrams = |folder: &Path| report.save_diagrams(folder);
    write_page(args, json, &report.to_html(), save_diagrams, |files| {
        object("report", &state.page_numbers(files))
    })
}

fn inputs(args: &ReportArgs) -> Result<Inputs<'_>> {
    let predictions = args.predictions.as_deref();
    let predictions = predictions.ok_or_else(|| wrong!("expected --predictions FILE"))?;
    let mut inputs = Inputs::of(predictions);
    inputs.predictions.extend(args.after.as_deref());
    Ok(inputs)
}

/// The report of predictions of one family.
fn report<P: Kind>(args: &ReportArgs, output: (Option<BinArgs>, bool)) -> Result<()> {
    let loaded = P::read(&inputs(args)?, &args.source, Wanted::Probabilities)?;
    let (sets, data) = (&loaded.sets, loaded.data.clone());
    let builder = ReportBuilder::new(&sets[0], &loaded.targets);
    let builder = P::set_up(builder, &data.class_names, args);
    let builder = match sets.get(1) {
        Some(after) => builder.with_after(after),
        None => builder,
    };
    write_report(args, output, data, builder)
}

/// The report of real numbers whose predictions after are of another family.
fn report_of_families(
    args: &ReportArgs,
    of_after: FamilyName,
    output: (Option<BinArgs>, bool),
) -> Result<()> {
    let mut files = VectorFiles::read(&inputs(args)?, &args.source)?;
    with_vectors!(args.family, P => {
        let before = files.parse::<P>(0, &args.source.rows)?;
        let data = files.files.in_words(&before, Vec::new());
        let after: Box<dyn After<P>> = with_vectors!(of_after, Q => {
            Box::new(files.parse::<Q>(1, &args.source.rows)?)
        });
        let builder = ReportBuilder::new(&before, &files.targets).with_after_of(&*after);
        write_report(args, output, data, builder)
    })
}

fn write_report<P: Kind>(
    args: &ReportArgs,
    (binned, json): (Option<BinArgs>, bool),
    data: DataWords,
    builder: ReportBuilder<P>,
) -> Result<()> {
    let progress = Progress::watched(1, &args.source.rows.held.watcher);
    progress.step("numbers and diagrams");
    let title = args.title.as_deref().unwrap_or("Calibration report");
    let builder = builder.with_title(title).with_seed(args.source.seed);
    let builder = builder.with_notes(notes::said());
    let report = builder.build()?;
    drop(progress);
    let kernel = report.kernel;
    let save_diagrams = |folder: &Path| report.save_diagrams(folder);
    write_page(args, json, &report.to_html(), save_diagrams, |files| {
        let written = Written {
            files,
            data,
            family: args.family,
            binned,
            level: report.level,
            seed: report.seed,
            kernel: kernel.between().as_ref().map(KernelWords::from),
            on_targets: P::on_targets(&kernel),
            skce_samples: kernel.between().map(|_| report.skce_samples),
            before: &report.before,
            after: report.after.as_ref(),
        };
        object("report", &written)
    })
}

/// Writes the page and its pictures, and the names of their files, or the numbers of these as JSON.
fn write_page(
    args: &ReportArgs,
    json: bool,
    page: &str,
    save_diagrams: impl FnOnce(&Path) -> error::Result<Vec<PathBuf>>,
    numbers: impl FnOnce(Vec<String>) -> Result<String>,
) -> Result<()> {
    let to_stdout = is_standard_output(&args.output);
    let mut files = Vec::new();
    if to_stdout {
        say(page);
    } else {
        file::write(&args.output, page.as_bytes())?;
        files.push(args.output.display().to_string());
    }
    if let Some(folder) = &args.pictures {
        let paths = save_diagrams(folder)?.into_iter();
        files.extend(paths.map(|path| path.display().to_string()));
    }
    if to_stdout || args.quiet {
        return Ok(());
    }
    if json {
        say(numbers(files)?);
    } else {
        files.iter().for_each(|file| say(format_args!("{file}\n")));
    }
    Ok(())
}
