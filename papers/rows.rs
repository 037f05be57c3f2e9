//! A file of results: a line of JSON for each. What is there is not computed again, so that a study can be
//! stopped and continued.

use std::{
    fs::{File, OpenOptions},
    io::{Read, Seek, SeekFrom, Write},
    path::Path,
    sync::Mutex,
};

use serde::{Serialize, de::DeserializeOwned};

use crate::Result;

pub struct Rows<R> {
    state: Mutex<State<R>>,
}

struct State<R> {
    rows: Vec<R>,
    file: Option<File>,
}

impl<R: Clone + Serialize + DeserializeOwned> Rows<R> {
    /// Results that are not kept.
    pub fn in_memory() -> Self {
        Self::new(vec![], None)
    }

    /// Those of a file, to show them; another program may be writing it.
    pub fn read(path: &Path) -> Result<Self> {
        Ok(Self::new(
            parse(path, &std::fs::read_to_string(path)?)?,
            None,
        ))
    }

    /// Those of a file, if it exists, to which others are added. A last line that was not written to its end
    /// is cut off.
    pub fn open(path: &Path) -> Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)?;
        file.try_lock()
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let rows = parse(path, &text)?;
        file.set_len(whole_lines(&text).len() as u64)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self::new(rows, Some(file)))
    }

    fn new(rows: Vec<R>, file: Option<File>) -> Self {
        Self {
            state: Mutex::new(State { rows, file }),
        }
    }

    /// The first row that is asked for.
    pub fn find(&self, asked: impl Fn(&R) -> bool) -> Option<R> {
        let state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        state.rows.iter().find(|row| asked(row)).cloned()
    }

    /// Adds a row, on disk first: one write of a whole line.
    pub fn add(&self, row: R) -> Result<()> {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(file) = &mut state.file {
            file.write_all(format!("{}\n", serde_json::to_string(&row)?).as_bytes())?;
        }
        state.rows.push(row);
        Ok(())
    }
}

fn whole_lines(text: &str) -> &str {
    &text[..text.rfind('\n').map_or(0, |last| last + 1)]
}

fn parse<R: DeserializeOwned>(path: &Path, text: &str) -> Result<Vec<R>> {
    let row = |(number, line)| {
        serde_json::from_str(line)
            .map_err(|error| format!("{}, line {}: {error}", path.display(), number + 1).into())
    };
    whole_lines(text).lines().enumerate().map(row).collect()
}
