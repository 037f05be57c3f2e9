//! `calibration completions` and `calibration man`.

use clap::Command;
use clap_complete::{Shell, generate};
use clap_mangen::Man;

use crate::{
    error::{Result, wrong},
    words::say,
};

/// Prints what a shell needs to complete the command.
pub fn completions(command: &mut Command, shell: Shell) {
    let mut script = Vec::new();
    generate(shell, command, "calibration", &mut script);
    say(String::from_utf8_lossy(&script));
}

/// Prints the page of the manual of the command, or of a subcommand.
pub fn man(command: &mut Command, subcommand: Option<&str>) -> Result<()> {
    command.build(); // names subcommands in full
    let page = match subcommand {
        None => command.clone(),
        Some(name) => {
            let found = command.find_subcommand(name);
            let found = found.ok_or_else(|| wrong!("{name}: no subcommand of calibration"))?;
            found.clone()
        }
    };
    let mut text = Vec::new();
    Man::new(page).render(&mut text)?;
    say(String::from_utf8_lossy(&text));
    Ok(())
}
