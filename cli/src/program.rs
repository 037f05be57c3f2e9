//! The command for programs, with predictions in memory instead of files, and answers instead of output.

use std::{ffi::OsString, fmt, path::Path, sync::Arc};

use burn_calibration::hypothesis::OmnibusOutcome;
use burn_calibration_reader::{Held, Memory};
use clap::{ArgMatches, Parser};
use serde::Serialize;

use crate::{
    args::{Arguments, Command, RowsArgs, check_families},
    compare,
    error::{Result, bail},
    evaluate, monitor, notes,
    progress::Watcher,
    report,
    words::{Known, object},
};

/// Files in memory, with names that the options of a command can use instead of paths, and the function that is told of
/// the progress, if there is one.
#[derive(Debug, Clone, Default)]
pub struct HeldFiles {
    pub(crate) memory: Memory,
    /// The names of the classes, which may be none, where labels are the numbers of columns.
    pub(crate) classes: Option<Arc<[String]>>,
    pub(crate) watcher: Watcher,
}

impl HeldFiles {
    /// Holds files under these names.
    pub fn new(files: impl IntoIterator<Item = (String, Held)>) -> Self {
        Self {
            memory: Memory::new(files),
            ..Self::default()
        }
    }

    /// Names the classes in the order of the columns. Labels are the numbers of columns, from 0, whatever the names.
    pub fn with_class_names(self, names: Vec<String>) -> Self {
        let classes = Some(names.into());
        Self { classes, ..self }
    }

    /// Tells a function of each step of the work as it begins: its title, its number from 0, and how many steps there
    /// are. A panic of the function ends the work, and reaches whoever called [`answer`].
    pub fn with_progress(self, told: impl Fn(&str, u64, u64) + Send + Sync + 'static) -> Self {
        let watcher = Watcher::new(told);
        Self { watcher, ..self }
    }

    pub(crate) fn get(&self, path: &Path) -> Option<&Held> {
        self.memory.get(path)
    }
}

/// The answer of a command.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Answer {
    /// The output of the command with `--json`; empty for a page.
    pub json: String,
    /// The output of the command without `--json`, without colours; for a page the HTML.
    pub text: String,
    /// The omnibus tests, each with what it is of: nothing of the whole prediction, "before" and "after" of two sets,
    /// the name of a class; or why there is none.
    pub outcomes: Vec<(String, Result<OmnibusOutcome, String>)>,
    /// The new state of `monitor`; empty for other commands.
    pub state: String,
    /// Notes about what was read and computed, which the command writes to standard error.
    pub notes: Vec<String>,
}

/// Answers `evaluate`, `compare` of two sets, `report` or `monitor` with the options of the command, of which some name
/// files in memory. A page goes to no file, whatever `--output` says, and neither does the state of `monitor`. That may
/// be in memory too, for `report --state` as well: an empty text begins anew.
///
/// ```
/// use burn_calibration_cli::{Held, HeldFiles, answer};
///
/// let array = |columns, values| Held::Numbers { columns, values };
/// let files = HeldFiles::new([
///     ("probabilities".into(), array(2, [0.9, 0.1].repeat(100))),
///     ("labels".into(), array(1, [0.0, 1.0].repeat(50))),
/// ]);
/// let options = ["evaluate", "--predictions", "probabilities", "--labels", "labels"];
/// let answer = answer(options, files).unwrap();
/// assert!(answer.outcomes[0].1.as_ref().unwrap().p_value < 0.01); // half of them are wrong
/// ```
///
/// # Errors
///
/// What the command would say: an unknown option, or what is wrong in which row of which file.
pub fn answer<T: Into<OsString> + Clone>(
    options: impl IntoIterator<Item = T>,
    files: HeldFiles,
) -> Result<Answer, String> {
    let name = std::iter::once("calibration".into());
    let options = name.chain(options.into_iter().map(Into::into));
    let (arguments, command, given) = parsed::<Arguments, _>(options)?;
    let (answer, notes) = notes::kept(|| {
        check_families(&command, &given).and_then(|()| of_command(arguments.command, files))
    });
    let answer = answer.map_err(|error| error.to_string())?;
    Ok(Answer { notes, ..answer })
}

/// Options with the command that takes them and what was given, or what is wrong with them, on one line.
pub fn parsed<T: Parser, Text: Into<OsString> + Clone>(
    options: impl IntoIterator<Item = Text>,
) -> Result<(T, clap::Command, ArgMatches), String> {
    let mut command = T::command();
    let given = command.try_get_matches_from_mut(options);
    let parsed = given.and_then(|given| Ok((T::from_arg_matches(&given)?, given)));
    let (options, given) = parsed.map_err(|reason| {
        let reason = reason.to_string();
        let lines = reason.lines().take_while(|line| !line.is_empty());
        let lines: Vec<&str> = lines.map(str::trim).collect();
        lines.join(" ").trim_start_matches("error: ").to_owned()
    })?;
    Ok((options, command, given))
}

fn of_command(command: Command, files: HeldFiles) -> Result<Answer> {
    let hold = |rows: &mut RowsArgs| rows.held = files;
    match command {
        Command::Evaluate(mut args) => {
            hold(&mut args.source.rows);
            args.verbose = true;
            let evaluation = evaluate::run(&args)?;
            Answer::new("evaluate", &evaluation, evaluation.outcomes())
        }
        Command::Compare(mut args) => {
            hold(&mut args.source.rows);
            let comparison = compare::run(&args)?;
            Answer::new("compare", &comparison, comparison.outcomes())
        }
        Command::Report(mut args) => {
            hold(&mut args.source.rows);
            let folder = tempfile::tempdir()?;
            args.output = folder.path().join("page.html");
            args.quiet = true;
            report::run(&args, false)?;
            Ok(Answer {
                json: String::new(),
                text: std::fs::read_to_string(&args.output)?,
                outcomes: Vec::new(),
                state: String::new(),
                notes: Vec::new(),
            })
        }
        Command::Monitor(mut args) => {
            hold(&mut args.source.rows);
            let (answer, state) = monitor::answer(&args)?;
            let answer = Answer::new("monitor", &answer, Vec::new())?;
            Ok(Answer { state, ..answer })
        }
        _ => bail!("expected evaluate, compare, report or monitor"),
    }
}

/// Omnibus tests with what they are of.
pub type Outcomes<'a> = Vec<(String, &'a Known<OmnibusOutcome>)>;

impl Answer {
    fn new<T: Serialize + fmt::Display>(
        command: &'static str,
        outcome: &T,
        outcomes: Outcomes,
    ) -> Result<Self> {
        let known = |(of, outcome): (String, &Known<OmnibusOutcome>)| {
            let outcome = outcome.0.as_ref().cloned();
            (of, outcome.map_err(|reason| reason.to_string()))
        };
        Ok(Self {
            json: object(command, outcome)?,
            text: anstream::adapter::strip_str(&outcome.to_string()).to_string(),
            outcomes: outcomes.into_iter().map(known).collect(),
            state: String::new(),
            notes: Vec::new(),
        })
    }
}
