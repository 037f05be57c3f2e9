//! The command for programs: options that are parsed, and answers in the place of output.

use std::{ffi::OsString, fmt};

use burn_calibration::hypothesis::OmnibusOutcome;
use clap::{ArgMatches, Parser};
use serde::Serialize;

use crate::{
    error::Result,
    words::{Computed, object},
};

/// The answer of a command.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Answer {
    /// The output of the command with `--json`.
    pub json: String,
    /// The output of the command without `--json`, without colours.
    pub text: String,
    /// The omnibus tests, each with what it is of: nothing of the whole prediction, "before" and "after" of two sets,
    /// the name of a class; or why there is none.
    pub outcomes: Vec<(String, Result<OmnibusOutcome, String>)>,
    /// The new state of `monitor`; empty for other commands.
    pub state: String,
    /// Notes about what was read and computed, which the command writes to standard error.
    pub notes: Vec<String>,
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

/// Omnibus tests with what they are of.
pub type Outcomes<'a> = Vec<(String, &'a Computed<OmnibusOutcome>)>;

impl Answer {
    /// Writes an outcome of a command as JSON and in words.
    pub(crate) fn new<T: Serialize + fmt::Display>(
        command: &'static str,
        outcome: &T,
        outcomes: Outcomes,
    ) -> Result<Self> {
        let known = |(of, outcome): (String, &Computed<OmnibusOutcome>)| {
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
