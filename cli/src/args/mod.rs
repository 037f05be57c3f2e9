//! The arguments of the command line.

#[cfg(feature = "files")]
mod arguments;
mod commands;
#[cfg(feature = "files")]
mod families;
#[cfg(feature = "files")]
mod maps;
mod options;
mod values;

pub use commands::*;
pub use options::*;
pub use values::*;
#[cfg(feature = "files")]
pub use {
    arguments::*,
    families::{check_families, check_options},
    maps::*,
};
