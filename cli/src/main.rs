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
mod distributions;
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

use clap::{CommandFactory, FromArgMatches, builder::PossibleValuesParser};

fn main() -> ExitCode {
    // the names of the tests come from the table of quantities, which the arguments do not know
    let names = PossibleValuesParser::new(quantities::test_keys());
    let mut command = args::Arguments::command().mut_subcommand("evaluate", |evaluate| {
        evaluate.mut_arg("tests", |test| test.value_parser(names))
    });
    let arguments = args::Arguments::from_arg_matches(&command.get_matches_mut());
    let arguments = arguments.unwrap_or_else(|error| error.exit());
    let outcome = check_files(&arguments.command).and_then(|()| match &arguments.command {
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
        Err(reason) => {
            eprintln!("calibration: {}", one_line(&reason));
            ExitCode::from(2)
        }
    }
}

/// Refuses an output that is an input as well, and standard input for two files.
fn check_files(command: &args::Command) -> input::Result<()> {
    let source = |source: &args::SourceArgs| source.labels.labels.clone();
    let (output, inputs): (Option<&PathBuf>, Vec<PathBuf>) = match command {
        args::Command::Evaluate(args) => {
            let files = [args.predictions.clone()].into_iter();
            let others = source(&args.source).into_iter().chain(args.given.clone());
            (None, files.chain(others).collect())
        }
        args::Command::Compare(args) => {
            let files = [args.before.clone(), args.after.clone()].into_iter();
            (None, files.chain(source(&args.source)).collect())
        }
        args::Command::Report(args) => {
            let files = [args.predictions.clone()].into_iter();
            let others = source(&args.source).into_iter().chain(args.after.clone());
            (Some(&args.output), files.chain(others).collect())
        }
        args::Command::Fit(args) => {
            let files = [args.predictions.clone()].into_iter();
            (
                Some(&args.output),
                files.chain(source(&args.source)).collect(),
            )
        }
        args::Command::Apply(args) => {
            let files = vec![args.map.clone(), args.predictions.clone()];
            (Some(&args.output), files)
        }
        args::Command::Summarise(args) => {
            let files = [args.predictions.clone()].into_iter();
            (
                Some(&args.output),
                files.chain(source(&args.source)).collect(),
            )
        }
        args::Command::Show(args) => (args.output.as_ref(), vec![args.map.clone()]),
        args::Command::Merge(args) => (args.output.as_ref(), args.parts.clone()),
        args::Command::Completions { .. } | args::Command::Man { .. } => (None, Vec::new()),
    };
    if inputs
        .iter()
        .filter(|input| input.as_os_str() == "-")
        .count()
        > 1
    {
        return Err("-: standard input can be read once, expected it for one file".into());
    }
    let Some((output, found)) = output.and_then(|path| Some((path, fs::canonicalize(path).ok()?)))
    else {
        return Ok(()); // there is no such file yet
    };
    let is_output = |input: &PathBuf| fs::canonicalize(input).is_ok_and(|input| input == found);
    match found.is_file() && inputs.iter().any(is_output) {
        true => Err(format!(
            "{}: is an input, expected another name",
            output.display()
        )),
        false => Ok(()),
    }
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
