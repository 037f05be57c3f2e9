use std::{
    fs, io,
    path::{Path, PathBuf},
};

use csv::Writer;

use crate::Result;

/// Where the results go.
pub struct Folder(PathBuf);

impl Folder {
    pub fn create(path: &Path) -> Result<Self> {
        match fs::create_dir_all(path) {
            Ok(()) => Ok(Self(path.into())),
            Err(error) => Err(format!("{}: {error}", path.display()).into()),
        }
    }

    /// Writes a file aside and then renames it: nobody finds half of one.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> io::Result<()> {
        let aside = self.0.join(format!(".{name}"));
        fs::write(&aside, content)?;
        fs::rename(aside, self.0.join(name))
    }
}

/// A table in CSV: a header, and rows that are tuples.
pub fn csv<R: serde::Serialize>(
    header: &[&str],
    rows: impl IntoIterator<Item = R>,
) -> Result<Vec<u8>> {
    let mut writer = Writer::from_writer(Vec::new());
    writer.write_record(header)?;
    for row in rows {
        writer.serialize(row)?;
    }
    Ok(writer.into_inner()?)
}
