//! Tables as people and programs write them.

#[cfg(feature = "parquet")]
mod columnar;
mod formats;
mod fuzz;
mod matching;
mod support;
mod text;

use support::*;
