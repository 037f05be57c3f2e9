//! Errors of inputs, with their place: a file, a row with its line, a column.

use std::{error, fmt, path::Path};

use crate::RowLines;

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
#[doc(hidden)]
#[macro_export]
macro_rules! wrong {
    ($($reason:tt)*) => {
        $crate::Error::new(::std::format!($($reason)*))
    };
}

/// Returns an [`Error`] with a reason.
#[doc(hidden)]
#[macro_export]
macro_rules! bail {
    ($($reason:tt)*) => {
        return Err($crate::wrong!($($reason)*))
    };
}

/// Returns an [`Error`] with a reason unless a condition holds.
#[doc(hidden)]
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $($reason:tt)*) => {
        if !$condition {
            $crate::bail!($($reason)*);
        }
    };
}
#[doc(hidden)]
pub use crate::{bail, ensure, wrong};

impl Error {
    /// An error with a reason, whose place is not known yet.
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
    /// Adds the file.
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

/// An error whose text begins with `row 3: ` or `row 3, class 1: ` is at this row, as those of burn-calibration are.
impl<E: error::Error + 'static> From<E> for Error {
    fn from(error: E) -> Self {
        let reason = error.to_string();
        let placed = || {
            let (place, reason) = reason.strip_prefix("row ")?.split_once(": ")?;
            let (row, column) = match place.split_once(", ") {
                Some((row, column)) => (row, Some(column.to_owned())),
                None => (place, None),
            };
            Some(Self {
                row: Some(row.parse().ok()?),
                column,
                ..Self::new(reason)
            })
        };
        placed().unwrap_or_else(|| Self::new(&*reason))
    }
}

/// Errors of this crate are errors of any kind for `?`.
impl From<Error> for Box<dyn error::Error + Send + Sync> {
    fn from(error: Error) -> Self {
        error.to_string().into()
    }
}

/// The same of an error that stays on its thread.
impl From<Error> for Box<dyn error::Error> {
    fn from(error: Error) -> Self {
        error.to_string().into()
    }
}

impl Error {
    /// The row, if it is known, and what is wrong with it.
    pub fn into_row(self) -> (Option<usize>, String) {
        (self.row, self.reason)
    }

    /// The file, if it is known, and what is wrong in it.
    pub fn into_parts(self) -> (Option<String>, String) {
        let rest = Self {
            file: None,
            ..self.clone()
        };
        (self.file, rest.to_string())
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
