//! `calibration report`.

use std::path::{Path, PathBuf};

use burn_calibration::{error, file};
use burn_calibration_report::{After as PageAfter, Assessed, ReportBuilder};
use serde::Serialize;

use crate::{
    args::{BinArgs, FamilyName, ReportArgs},
    error::{Result, wrong},
    files::{Inputs, in_words},
    kind::{Estimates, Kind, with_family, with_vectors},
    monitor,
    outputs::is_standard_output,
    progress::Progress,
    quantities::{Pairs, estimates},
    rows::Wanted,
    vectors::VectorFiles,
    words::{
        DataWords, Estimate, KernelWords, Named, TargetWords, Told, check_finite, object, say,
    },
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
    before: PageNumbers<'a, S>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<PageNumbers<'a, S>>,
}

/// The numbers of one set of predictions.
#[derive(Serialize)]
struct PageNumbers<'a, S> {
    /// The answer, and the other numbers of the page with standard errors and diagrams.
    #[serde(flatten)]
    set: &'a Assessed<S>,
    /// The estimates of `evaluate` of linear cost.
    estimates: Named<Told<Estimate>>,
}

/// A page that is made.
struct Page<'a> {
    html: String,
    /// Writes its diagrams to files in a folder.
    save_diagrams: &'a dyn Fn(&Path) -> error::Result<Vec<PathBuf>>,
    /// Its numbers as JSON, with the names of the files that were written.
    numbers: &'a dyn Fn(Vec<String>) -> Result<String>,
}

/// What becomes of a page.
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
    if let Some(state) = &args.state {
        return report_of_state(args, state, sink);
    }
    match args.after_family.filter(|after| *after != args.family) {
        None => with_family!(args.family, P => report::<P>(args, sink)),
        Some(after) => report_of_families(args, after, sink),
    }
}

/// The page of the state of a monitor.
fn report_of_state(args: &ReportArgs, path: &Path, sink: Sink) -> Result<()> {
    let state = monitor::State::of_file(path, &args.source.rows.held)?;
    let state = state.ok_or_else(|| wrong!("{}: no such file", path.display()))?;
    let report = state.report();
    let report = match &args.title {
        Some(title) => report.with_title(title),
        None => report,
    };
    sink(Page {
        html: report.to_html(),
        save_diagrams: &|folder| report.save_diagrams(folder),
        numbers: &|files| object("report", &state.page_numbers(files)),
    })
}

/// Predictions after: their page, and their estimates.
trait After<P: Kind>: PageAfter<P> {
    fn estimates(&self, targets: &P::Targets, kernel: P::Kernel, bins: BinArgs) -> Estimates;
}

impl<P: Kind, Q> After<P> for Q
where
    Q: Kind<Targets = P::Targets, Section = P::Section, Subject = P::Subject, Kernel = P::Kernel>,
{
    fn estimates(&self, targets: &P::Targets, kernel: P::Kernel, bins: BinArgs) -> Estimates {
        let mut view = self.clone().view(targets.clone(), None, &[]);
        view.bins = bins;
        estimates(&view, kernel)
    }
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
    let loaded = P::read(&inputs(args)?, &args.source, Wanted::Probabilities)?;
    let (sets, data) = (&loaded.sets, loaded.data.clone());
    let builder = ReportBuilder::new(&sets[0], &loaded.targets);
    let builder = P::set_up(builder, &data.class_names, &args.bins);
    let (builder, after) = match sets.get(1) {
        Some(after) => (builder.with_after(after), Some(after as &dyn After<P>)),
        None => (builder, None),
    };
    make_report(args, sink, data, (builder, after), &loaded.targets)
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
        make_report(args, sink, data, (builder, Some(&*after)), &files.targets)
    })
}

fn make_report<P: Kind>(
    args: &ReportArgs,
    sink: Sink,
    data: DataWords,
    (builder, after): (ReportBuilder<P>, Option<&dyn After<P>>),
    targets: &P::Targets,
) -> Result<()> {
    let before = builder.predictions();
    let progress = Progress::watched(1, &args.source.rows.held.watcher);
    progress.step("numbers and diagrams");
    let title = args.title.as_deref().unwrap_or("Calibration report");
    let builder = builder.with_title(title).with_seed(args.source.seed);
    let report = builder.build()?;
    drop(progress);
    let kernel = report.kernel;
    let numbers = |predictions: &dyn After<P>, set| -> Result<_> {
        check_finite(set)?;
        let estimates = Named(predictions.estimates(targets, kernel, args.bins));
        Ok(PageNumbers { set, estimates })
    };
    let written = |files| {
        let written = Written {
            files,
            data: data.clone(),
            family: args.family,
            binned: args.bins.asked(),
            level: report.level,
            seed: report.seed,
            kernel: kernel.between().as_ref().map(KernelWords::from),
            on_targets: P::on_targets(&kernel),
            skce_samples: kernel.between().map(|_| report.skce_samples),
            before: numbers(before, &report.before)?,
            after: (report.after.as_ref().zip(after))
                .map(|(set, after)| numbers(after, set))
                .transpose()?,
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
