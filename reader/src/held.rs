//! Files in memory.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// A file in memory.
#[derive(Debug, Clone)]
pub enum Held {
    /// An array, as for an NPY file.
    Numbers {
        /// The number of columns.
        columns: usize,
        /// The numbers, row by row.
        values: Vec<f64>,
    },
    /// The text of a table, such as CSV.
    Text(String),
    /// Columns with names, of which each is what it says: none is an index, an id or missing.
    Columns(Vec<HeldColumn>),
}

/// A column in memory.
#[derive(Debug, Clone)]
pub struct HeldColumn {
    /// The name of the column.
    pub name: String,
    /// The values, row by row.
    pub values: HeldValues,
}

/// The values of a column in memory.
#[derive(Debug, Clone)]
pub enum HeldValues {
    /// Finite numbers.
    Numbers(Vec<f64>),
    /// The group of each row, by its name.
    Groups(Vec<String>),
}

/// Files in memory, by the names that stand for their paths.
#[derive(Debug, Clone, Default)]
pub struct Memory(Arc<BTreeMap<PathBuf, Held>>);

impl Memory {
    /// Holds files under these names.
    pub fn new(files: impl IntoIterator<Item = (String, Held)>) -> Self {
        let files = files.into_iter();
        let files = files.map(|(name, file)| (PathBuf::from(name), file));
        Self(Arc::new(files.collect()))
    }

    /// The file of a name, if it is in memory.
    pub fn get(&self, path: &Path) -> Option<&Held> {
        self.0.get(path)
    }
}
