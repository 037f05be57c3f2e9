//! `calibration`: a predictions file in, estimates and p-values or a page of HTML out.
//!
//! Results, or the names of the files that hold them, go to standard output, everything else to
//! standard error; bad input gives one line and the exit code 2.

mod answer;
mod apply;
mod args;
mod bandwidth;
mod columns;
mod compare;
mod distributions;
mod evaluate;
mod finite;
mod fit;
mod given;
mod input;
mod kernel;
mod kind;
mod kinds;
mod limits;
mod merge;
mod methods;
mod output;
mod piece;
mod progress;
mod quantities;
#[cfg(feature = "report")]
mod report;
mod rows;
mod show;
mod source;
mod summarise;
mod words;
mod writer;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{CommandFactory, FromArgMatches, builder::PossibleValuesParser};

fn main() -> ExitCode {
    // the names of the tests come from the table of quantities, which the arguments do not know
    let names = PossibleValuesParser::new(quantities::test_keys());
    let command = args::Arguments::command().mut_subcommand("evaluate", |evaluate| {
        evaluate.mut_arg("tests", |test| test.value_parser(names))
    });
    let arguments = args::Arguments::from_arg_matches(&command.get_matches());
    let arguments = arguments.unwrap_or_else(|error| error.exit());
    let outcome = refuse_overwriting(&arguments.command).and_then(|()| match &arguments.command {
        args::Command::Evaluate(args) => evaluate::run(args),
        args::Command::Compare(args) => compare::run(args),
        #[cfg(feature = "report")]
        args::Command::Report(args) => report::run(args),
        args::Command::Fit(args) => fit::run(args),
        args::Command::Apply(args) => apply::run(args),
        args::Command::Summarise(args) => summarise::run(args),
        args::Command::Merge(args) => merge::run(args),
        args::Command::Show(args) => show::run(args),
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("calibration: {}", one_line(&reason));
            ExitCode::from(2)
        }
    }
}

/// The first line of a reason, as far as anyone reads it: it may quote a file.
fn one_line(reason: &str) -> String {
    let line = reason.lines().next().unwrap_or_default();
    match line.char_indices().nth(1000) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line.to_owned(),
    }
}

/// Refuses an output that is an input as well.
fn refuse_overwriting(command: &args::Command) -> input::Result<()> {
    let (output, inputs): (&Path, Vec<&Path>) = match command {
        args::Command::Evaluate(_) | args::Command::Compare(_) => return Ok(()),
        #[cfg(feature = "report")]
        args::Command::Report(args) => {
            let after = args.after.iter().map(PathBuf::as_path);
            let inputs = [&*args.predictions, &*args.source.labels.labels];
            (&args.output, after.chain(inputs).collect())
        }
        args::Command::Fit(args) => {
            let inputs = vec![&*args.predictions, &*args.source.labels.labels];
            (&args.output, inputs)
        }
        args::Command::Apply(args) => (&args.output, vec![&args.map, &args.predictions]),
        args::Command::Summarise(args) => {
            let inputs = vec![&*args.predictions, &*args.source.labels.labels];
            (&args.output, inputs)
        }
        args::Command::Show(args) => match &args.output {
            None => return Ok(()),
            Some(output) => (output, vec![&*args.map]),
        },
        args::Command::Merge(args) => match &args.output {
            None => return Ok(()),
            Some(output) => (output, args.parts.iter().map(PathBuf::as_path).collect()),
        },
    };
    let Ok(found) = fs::canonicalize(output) else {
        return Ok(()); // there is no such file yet
    };
    let is_output = |input: &&Path| fs::canonicalize(input).is_ok_and(|input| input == found);
    match found.is_file() && inputs.iter().any(is_output) {
        true => Err(format!(
            "{}: is an input, expected another name",
            output.display()
        )),
        false => Ok(()),
    }
}
