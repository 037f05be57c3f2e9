//! The command `calibration`.

use std::process::ExitCode;

fn main() -> ExitCode {
    burn_calibration_cli::run()
}
