//! The command: which subcommand is called, and what the process ends with.

use std::process::ExitCode;
#[cfg(feature = "parquet")]
use std::{panic, thread};

use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};
use clap_complete::Shell;

use crate::{
    apply, args, compare,
    error::{self, Result, wrong},
    evaluate, fit, merge, monitor, outputs, report, show, summarise,
    words::{complain, say, show, show_beside},
};

/// Runs the command with the arguments of the process.
pub fn run() -> ExitCode {
    #[cfg(feature = "parquet")]
    silence_reader();
    let mut command = args::Arguments::command();
    let matches = command.get_matches_mut();
    let arguments = args::Arguments::from_arg_matches(&matches);
    let arguments = arguments.unwrap_or_else(|error| error.exit());
    match called(&mut command, &matches, arguments) {
        Ok(code) => code,
        Err(error) => {
            complain(error::one_line(&error.to_string()));
            ExitCode::from(2)
        }
    }
}

/// The exit code of a gate that stays closed, and of an alarm.
const CLOSED: u8 = 3;

/// Runs the subcommand that was called.
fn called(
    command: &mut Command,
    matches: &ArgMatches,
    mut arguments: args::Arguments,
) -> Result<ExitCode> {
    let json = arguments.json;
    outputs::check(matches, json)?;
    args::check_families(command, matches)?;
    match &mut arguments.command {
        args::Command::Evaluate(args) => {
            args.sizes.tolerance = args.sizes.tolerance.or(args.gate.fail_above);
            return evaluate_and_judge(args, json);
        }
        args::Command::Compare(args) => show("compare", &compare::run(args)?, json)?,
        args::Command::Report(args) => report::run(args, json)?,
        args::Command::Fit(args) => fit::run(args, json)?,
        args::Command::Apply(args) => apply::run(args, json)?,
        args::Command::Summarise(args) => {
            show_beside(
                "summarise",
                &summarise::run(args)?,
                json,
                Some(&args.output),
            )?;
        }
        args::Command::Merge(args) => {
            show_beside("merge", &merge::run(args)?, json, args.output.as_deref())?;
        }
        args::Command::Monitor(args) => {
            if monitor::run(args, json)? {
                return Ok(ExitCode::from(CLOSED));
            }
        }
        args::Command::Show(args) => {
            show_beside("show", &show::run(args)?, json, args.output.as_deref())?;
        }
        args::Command::Completions { shell } => completions(command, *shell)?,
        args::Command::Man { subcommand } => man(command, subcommand.as_deref())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints no message of a panic of the thread that reads Parquet, which is an error there.
#[cfg(feature = "parquet")]
fn silence_reader() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if thread::current().name() != Some(burn_calibration_reader::PARQUET_THREAD) {
            usual(info);
        }
    }));
}

/// Prints an evaluation, and says why a gate stays closed.
fn evaluate_and_judge(args: &args::EvaluateArgs, json: bool) -> Result<ExitCode> {
    let answer = evaluate::run(args)?;
    let reasons = evaluate::reasons(args, &answer)?;
    show("evaluate", &answer, json)?;
    reasons.iter().for_each(complain);
    Ok(match &reasons[..] {
        [] => ExitCode::SUCCESS,
        _ => ExitCode::from(CLOSED),
    })
}

/// Prints the completion script for a shell.
fn completions(command: &mut Command, shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, command, "calibration", &mut script);
    say(String::from_utf8_lossy(&script));
    Ok(())
}

/// Prints the manual page of the command, or of a subcommand.
fn man(command: &mut Command, subcommand: Option<&str>) -> Result<()> {
    command.build(); // names subcommands in full
    let mut page = command.clone();
    if let Some(name) = subcommand {
        let found = command.find_subcommand(name);
        let found = found.ok_or_else(|| wrong!("{name}: no subcommand of calibration"))?;
        page = found.clone();
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    say(String::from_utf8_lossy(&text));
    Ok(())
}
