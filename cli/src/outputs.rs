//! What a command writes, and what it must not: no output replaces an input, and nothing stands beside an output on standard
//! output.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use burn_calibration_reader::is_standard_input;
use clap::ArgMatches;

use crate::error::{Result, ensure};

/// Whether a path is that of standard output, which `-` stands for as well.
pub fn is_standard_output(path: &Path) -> bool {
    let names = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    names.iter().any(|name| path == Path::new(name))
}

/// A path to write to, as the system knows it.
pub fn to_write(path: &Path) -> &Path {
    if is_standard_output(path) {
        Path::new("/dev/stdout")
    } else {
        path
    }
}

/// A path to read from, as the system knows it.
pub fn to_read(path: &Path) -> &Path {
    if is_standard_input(path) {
        Path::new("/dev/stdin")
    } else {
        path
    }
}

/// The arguments of all commands that may name files to read.
const INPUTS: [&str; 10] = [
    "predictions",
    "state",
    "labels",
    "before",
    "after",
    "given",
    "map",
    "parts",
    "weights",
    "classes",
];

/// Refuses an output that is also an input, standard input for two files, and a file on standard output beside JSON.
pub fn check(matches: &ArgMatches, json: bool) -> Result<()> {
    let Some((_, matches)) = matches.subcommand() else {
        return Ok(());
    };
    let values = |name: &str| {
        matches
            .try_get_raw(name)
            .ok()
            .flatten()
            .into_iter()
            .flatten()
    };
    let inputs: Vec<&OsStr> = INPUTS.iter().flat_map(|name| values(name)).collect();
    let from_standard_input = inputs
        .iter()
        .filter(|path| is_standard_input(path.as_ref()));
    ensure!(
        from_standard_input.count() < 2,
        "-: standard input can be read only once, expected it for one file"
    );
    for output in values("output") {
        let path = Path::new(output);
        ensure!(
            !json || !is_standard_output(path),
            "-o {}: --json goes to standard output too, expected a file",
            path.display()
        );
        // there may be no such file yet
        let found = fs::canonicalize(path).ok().filter(|path| path.is_file());
        let is_output = |input: &&OsStr| file_of(input) == found;
        ensure!(
            found.is_none() || !inputs.iter().any(is_output),
            "{}: the output is also an input, expected another name",
            path.display()
        );
    }
    Ok(())
}

/// The file of an input that may name an array of it, or columns: `FILE:PART`.
fn file_of(input: &OsStr) -> Option<PathBuf> {
    let of_part = || {
        let text = input.to_str()?;
        fs::canonicalize(text.rsplit_once(':')?.0).ok()
    };
    fs::canonicalize(input).ok().or_else(of_part)
}
