//! `calibration report`.

use std::path::{Path, PathBuf};

use burn_calibration::{error, file};
use burn_calibration_report::{After, Assessed, Distances as _, ReportBuilder};
use serde::Serialize;

use crate::{
    args::{BinArgs, FamilyName, ReportArgs},
    error::{Result, wrong},
    files::{Inputs, in_words},
    kind::{Kind, with_family, with_vectors},
    monitor::State,
    notes,
    outputs::is_standard_output,
    progress::Progress,
    rows::PredictionForm,
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
    before: &'a Assessed<S>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<&'a Assessed<S>>,
}

/// A page that is made.
struct Page<'a> {
    html: String,
    /// Writes its diagrams to files in a folder.
    save_diagrams: &'a dyn Fn(&Path) -> error::Result<Vec<PathBuf>>,
    /// Its numbers as JSON, with the names of the files that were written.
    numbers: &'a dyn Fn(Vec<String>) -> Result<String>,
}

/// The function that takes a page.
type Sink<'a> = &'a mut dyn FnMut(Page) -> Result<()>;

pub fn run(args: &ReportArgs, json: bool) -> Result<()> {
    make(args, &mut |page| write(args, json, page))
}

/// The text of the page.
pub fn html(args: &ReportArgs) -> Result<String> {
    let mut html = String::new();
    make(args, &mut |page| {
        html = page.html;
        Ok(())
    })?;
    Ok(html)
}

fn make(args: &ReportArgs, sink: Sink) -> Result<()> {
    if let Some(path) = &args.state {
        return report_of_state(args, path, sink);
    }
    match args.after_family.filter(|after| *after != args.family) {
        None => with_family!(args.family, P => report::<P>(args, sink)),
        Some(after) => report_of_families(args, after, sink),
    }
}

/// The page of the state of a monitor.
fn report_of_state(args: &ReportArgs, path: &Path, sink: Sink) -> Result<()> {
    let state = State::of_file(path)?;
    let state = state.ok_or_else(|| wrong!("{}: no such file", path.display()))?;
    let report = state.report_under(args.title.as_deref());
    sink(Page {
        html: report.to_html(),
        save_diagrams: &|folder| report.save_diagrams(folder),
        numbers: &|files| object("report", &state.page_numbers(files)),
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
fn report<P: Kind>(args: &ReportArgs, sink: Sink) -> Result<()> {
    let loaded = P::read(&inputs(args)?, &args.source, PredictionForm::Probabilities)?;
    let (sets, data) = (&loaded.sets, loaded.data.clone());
    let builder = ReportBuilder::new(&sets[0], &loaded.targets);
    let builder = P::set_up(builder, &data.class_names, args);
    let builder = match sets.get(1) {
        Some(after) => builder.with_after(after),
        None => builder,
    };
    make_report(args, sink, data, builder)
}

/// The report of real numbers whose predictions after are of another family.
fn report_of_families(args: &ReportArgs, of_after: FamilyName, sink: Sink) -> Result<()> {
    let mut files = VectorFiles::read(&inputs(args)?, &args.source)?;
    with_vectors!(args.family, P => {
        let before = files.parse::<P>(0, &args.source.rows)?;
        let data = in_words(&files.files, &files.weights, &before, Vec::new());
        let after: Box<dyn After<P>> = with_vectors!(of_after, Q => {
            Box::new(files.parse::<Q>(1, &args.source.rows)?)
        });
        let builder = ReportBuilder::new(&before, &files.targets).with_after_of(&*after);
        make_report(args, sink, data, builder)
    })
}

fn make_report<P: Kind>(
    args: &ReportArgs,
    sink: Sink,
    data: DataWords,
    builder: ReportBuilder<P>,
) -> Result<()> {
    let progress = Progress::watched(1, &args.source.watcher);
    progress.step("numbers and diagrams");
    let title = args.title.as_deref().unwrap_or("Calibration report");
    let builder = builder.with_title(title).with_seed(args.source.seed);
    let builder = builder
        .with_notes(notes::said())
        .with_rows(data.rows.clone());
    let report = builder.build()?;
    drop(progress);
    let kernel = report.kernel;
    let written = |files| {
        let written = Written {
            files,
            data: data.clone(),
            family: args.family,
            binned: args.bins.asked(),
            level: report.level,
            seed: report.seed,
            kernel: kernel.on_predictions().as_ref().map(KernelWords::from),
            on_targets: P::on_targets(&kernel),
            before: &report.before,
            after: report.after.as_ref(),
        };
        object("report", &written)
    };
    sink(Page {
        html: report.to_html(),
        save_diagrams: &|folder| report.save_diagrams(folder),
        numbers: &written,
    })
}

/// Writes the page and its pictures, and the names of their files, or the numbers of these as JSON.
fn write(args: &ReportArgs, json: bool, page: Page) -> Result<()> {
    let to_stdout = is_standard_output(&args.output);
    let mut files = Vec::new();
    if to_stdout {
        say(page.html);
    } else {
        file::write(&args.output, page.html.as_bytes())?;
        files.push(args.output.display().to_string());
    }
    if let Some(folder) = &args.pictures {
        let paths = (page.save_diagrams)(folder)?.into_iter();
        files.extend(paths.map(|path| path.display().to_string()));
    }
    if to_stdout {
        return Ok(());
    }
    if json {
        say((page.numbers)(files)?);
    } else {
        files.iter().for_each(|file| say(format_args!("{file}\n")));
    }
    Ok(())
}
