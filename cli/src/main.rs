//! `calibration`: a predictions file in, estimates and p-values or a page of HTML out.
//!
//! Results, or the names of the files that hold them, go to standard output, everything else to
//! standard error; bad input gives one line and the exit code 2.

mod align;
mod answer;
mod apply;
mod args;
mod bandwidth;
mod classes;
mod columns;
mod compare;
mod completions;
mod error;
mod evaluate;
mod finite;
mod fit;
mod given;
mod input;
mod kernel;
mod kind;
mod kinds;
mod labels;
mod limits;
mod merge;
mod methods;
mod output;
mod piece;
mod probabilities;
mod progress;
mod quantities;
mod report;
mod rows;
mod show;
mod source;
mod summarise;
mod targets;
mod vectors;
mod words;
mod writer;

use std::{fs, path::PathBuf, process::ExitCode};

use crate::error::{Result, ensure};
use clap::{ArgMatches, CommandFactory, FromArgMatches};

fn main() -> ExitCode {
    let mut command = args::Arguments::command();
    let matches = command.get_matches_mut();
    let arguments = args::Arguments::from_arg_matches(&matches);
    let arguments = arguments.unwrap_or_else(|error| error.exit());
    let outcome = check_files(&matches).and_then(|()| match &arguments.command {
        args::Command::Evaluate(args) => evaluate::run(args),
        args::Command::Compare(args) => compare::run(args),
        args::Command::Report(args) => report::run(args),
        args::Command::Fit(args) => fit::run(args),
        args::Command::Apply(args) => apply::run(args),
        args::Command::Summarise(args) => summarise::run(args),
        args::Command::Merge(args) => merge::run(args),
        args::Command::Show(args) => show::run(args),
        args::Command::Completions { shell } => {
            completions::completions(&mut command, *shell);
            Ok(())
        }
        args::Command::Man { subcommand } => completions::man(&mut command, subcommand.as_deref()),
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("calibration: {}", one_line(&error.to_string()));
            ExitCode::from(2)
        }
    }
}

/// The arguments of all commands that are files to read.
const INPUTS: [&str; 7] = [
    "predictions",
    "labels",
    "before",
    "after",
    "given",
    "map",
    "parts",
];

/// Refuses an output that is an input as well, and standard input for two files.
fn check_files(matches: &ArgMatches) -> Result<()> {
    let Some((_, matches)) = matches.subcommand() else {
        return Ok(());
    };
    let paths = |name: &str| matches.try_get_many::<PathBuf>(name).ok().flatten();
    let inputs = || INPUTS.iter().filter_map(|name| paths(name)).flatten();
    ensure!(
        inputs().filter(|path| path.as_os_str() == "-").count() < 2,
        "-: standard input can be read once, expected it for one file"
    );
    for output in paths("output").into_iter().flatten() {
        // there may be no such file yet
        let found = fs::canonicalize(output).ok().filter(|path| path.is_file());
        let is_output = |path: &PathBuf| fs::canonicalize(path).ok() == found;
        ensure!(
            found.is_none() || !inputs().any(is_output),
            "{}: is an input, expected another name",
            output.display()
        );
    }
    Ok(())
}

/// A message on one line, whatever it quotes.
fn one_line(reason: &str) -> String {
    const MOST: usize = 2000;
    let line: String = reason
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(MOST)
        .collect();
    line.trim_end().to_owned()
}
