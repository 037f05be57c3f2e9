//! The `calibration` command as its users run it.

#[cfg(feature = "parquet")]
mod columnar_faults;
mod compare;
mod distributions;
mod evaluate;
mod families;
mod faults;
mod fit_cases;
mod formats;
mod fuzz;
mod given;
mod inputs;
mod json;
mod left_out;
mod limits;
mod merge;
mod output;
mod read;
mod readings;
mod real_targets;
mod recalibrate;
mod report;
mod report_families;
mod script;
mod scripts;
mod sentences;
mod show;
mod soft;
mod support;

use support::*;
