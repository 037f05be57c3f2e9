//! Errors of inputs, with their place: a file, a row with its line, a column.

use std::{any::Any, error, fmt, path::Path};

use burn_calibration::error::Error as DataError;

use crate::input::RowLines;

/// The result of what reads inputs.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of an input: its place, as far as it is known, and a reason with the expected condition.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Error {
    file: Option<String>,
    /// The row, from 0.
    row: Option<usize>,
    /// The line of the row, from 1, in text.
    line: Option<u64>,
    /// The column, by its number and name.
    column: Option<String>,
    reason: String,
}

/// An [`Error`] with a reason, as `format!` takes it.
macro_rules! wrong {
    ($($reason:tt)*) => {
        $crate::error::Error::new(format!($($reason)*))
    };
}

/// Returns an [`Error`] with a reason.
macro_rules! bail {
    ($($reason:tt)*) => {
        return Err($crate::error::wrong!($($reason)*))
    };
}

/// Returns an [`Error`] with a reason unless a condition holds.
macro_rules! ensure {
    ($condition:expr, $($reason:tt)*) => {
        if !$condition {
            $crate::error::bail!($($reason)*);
        }
    };
}
pub(crate) use {bail, ensure, wrong};

impl Error {
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            ..Self::default()
        }
    }

    /// Adds a hint that leads to the right result.
    pub fn with_hint(mut self, hint: &str) -> Self {
        self.reason = format!("{}; {hint}", self.reason);
        self
    }

    /// Adds the row.
    pub fn at_row(self, row: usize) -> Self {
        Self {
            row: Some(row),
            ..self
        }
    }

    /// Adds the line of the row.
    pub fn in_line(self, line: u64) -> Self {
        Self {
            line: Some(line),
            ..self
        }
    }

    /// Names the column, in the place of a class.
    pub fn in_column(self, column: impl fmt::Display) -> Self {
        Self {
            column: Some(column.to_string()),
            ..self
        }
    }

    /// Adds the row and the column, which may be a class.
    pub fn at(self, row: usize, column: impl fmt::Display) -> Self {
        self.at_row(row).in_column(column)
    }
}

/// Adds the file to an error.
pub trait Context<T> {
    fn of(self, path: &Path) -> Result<T>;

    /// Adds the line of the row as well, and the row that it is in the file where rows were left out.
    fn on(self, path: &Path, lines: &RowLines) -> Result<T>;
}

impl<T, E: Into<Error>> Context<T> for Result<T, E> {
    fn of(self, path: &Path) -> Result<T> {
        self.on(path, &RowLines::default())
    }

    fn on(self, path: &Path, lines: &RowLines) -> Result<T> {
        self.map_err(|error| {
            let error = error.into();
            if error.file.is_some() {
                return error;
            }
            Error {
                line: error.line.or(error.row.and_then(|row| lines.of(row))),
                row: error.row.map(|row| lines.row(row)),
                file: Some(path.display().to_string()),
                ..error
            }
        })
    }
}

impl<E: error::Error + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        let data = (&error as &dyn Any).downcast_ref();
        let reason = error.to_string();
        let Some(row) = data.and_then(DataError::row) else {
            return Self::new(reason);
        };
        // the same words without the place
        let rest = reason.strip_prefix(&format!("row {row}"));
        match rest.and_then(|rest| rest.split_once(": ")) {
            Some(("", reason)) => Self::new(reason).at_row(row),
            Some((column, reason)) => Self::new(reason).at(row, column.trim_start_matches(", ")),
            None => Self::new(reason),
        }
    }
}

/// The error for other programs.
impl From<Error> for DataError {
    fn from(error: Error) -> Self {
        let path = error.file.clone().unwrap_or_default();
        let reason = Error {
            file: None,
            ..error
        };
        Self::File {
            path,
            reason: reason.to_string(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}: ")?;
        }
        if let Some(row) = self.row {
            write!(f, "row {row}")?;
            if let Some(line) = self.line {
                write!(f, " (line {line})")?;
            }
            if let Some(column) = &self.column {
                write!(f, ", {column}")?;
            }
            write!(f, ": ")?;
        }
        f.write_str(&self.reason)
    }
}

/// Puts a message on one line, and removes control characters of quoted text.
pub fn one_line(reason: &str) -> String {
    const MOST: usize = 2000;
    let line: String = reason
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(MOST)
        .collect();
    line.trim_end().to_owned()
}
