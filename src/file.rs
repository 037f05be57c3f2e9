//! Files that are written whole.

use std::{ffi::OsString, fmt::Display, fs, path::Path};

use crate::error::{Error, Result};

/// Writes a file aside and then renames it: nobody finds half of one.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<()> {
    let name = path
        .file_name()
        .ok_or_else(|| error(path, "expected the name of a file"))?;
    let mut aside = OsString::from(".");
    aside.push(name);
    aside.push(".part");
    let aside = path.with_file_name(aside);
    let written = fs::write(&aside, content).and_then(|()| fs::rename(&aside, path));
    written.map_err(|reason| {
        let _ = fs::remove_file(&aside); // it may not even exist; the first failure is the one to report
        error(path, reason)
    })
}

/// What is wrong with a file.
pub(crate) fn error(path: &Path, reason: impl Display) -> Error {
    Error::File {
        path: path.display().to_string(),
        reason: reason.to_string(),
    }
}
