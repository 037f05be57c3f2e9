//! Values that may be missing, under names.

use std::fmt;

use burn_calibration::{
    error::{self, Error},
    names::Name,
};
use serde::{Serialize, Serializer};
use serde_json::Value;

/// Values under their names, in an order: an object in JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct Named<T>(pub Vec<(Name, T)>);

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name.key, value)))
    }
}

impl<T> Named<T> {
    /// The values that a function makes of these, under the same names.
    pub fn map<U>(self, make: impl Fn(T) -> U) -> Named<U> {
        let values = self.0.into_iter();
        Named(values.map(|(name, value)| (name, make(value))).collect())
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&T> {
        let mut values = self.0.iter();
        values.find_map(|(name, value)| (name.key == key).then_some(value))
    }
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// A value that was computed, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Computed<T>(pub Result<T, Missing>);

/// The reason why there is no value: `{"error": reason}` or `{"skipped": reason}` in JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// It could not be computed of the data.
    #[serde(rename = "error", serialize_with = "serialize_words")]
    Data(Error),
    /// It could not be computed.
    Error(String),
    /// It was not tried.
    Skipped(String),
}

impl<T: Serialize> Computed<T> {
    /// An outcome, if all its numbers are finite.
    pub fn of(outcome: error::Result<T>) -> Self {
        let outcome = outcome.map_err(Missing::Data);
        Self(outcome.and_then(|outcome| match check_finite(&outcome) {
            Ok(()) => Ok(outcome),
            Err(reason) => Err(Missing::Error(reason.trim_start().to_owned())),
        }))
    }

    /// An outcome, or why it was not tried.
    pub fn or_skipped(outcome: Option<T>, reason: &str) -> Self {
        Self(outcome.ok_or_else(|| Missing::Skipped(reason.into())))
    }
}

impl<T> Computed<T> {
    /// Names the row of the data in the reason why there is no value, where the samples are some of them, as
    /// [`Error::at_rows`] does.
    pub fn at_rows(self, rows: &[usize]) -> Self {
        Self(self.0.map_err(|missing| match missing {
            Missing::Data(error) => Missing::Data(error.at_rows(rows)),
            missing => missing,
        }))
    }
}

/// Serializes an error as its sentence.
fn serialize_words<S: Serializer>(error: &Error, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(error)
}

impl<T: Serialize> Serialize for Computed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Ok(value) => value.serialize(serializer),
            Err(missing) => missing.serialize(serializer),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Data(error) => error.fmt(f),
            Self::Error(reason) => f.write_str(reason),
            Self::Skipped(reason) => write!(f, "skipped: {reason}"),
        }
    }
}

/// Checks that every number of an outcome is finite: JSON has no others, and null stands for these. Nothing else of an
/// outcome is null.
///
/// # Errors
///
/// The name of the first number that is not finite.
pub fn check_finite(outcome: &(impl Serialize + ?Sized)) -> Result<(), String> {
    let outcome = serde_json::to_value(outcome).map_err(|error| error.to_string())?;
    let path = path_to_null(&outcome);
    path.map_or(Ok(()), |path| {
        Err(format!(
            "{} is infinite or not a number, expected a finite number: there are too few samples, or numbers that are \
             too large or too small",
            path.join(".")
        ))
    })
}

/// The names of the members on the way to the first null, if there is one.
fn path_to_null(value: &Value) -> Option<Vec<&str>> {
    match value {
        Value::Null => Some(Vec::new()),
        Value::Array(elements) => elements.iter().find_map(path_to_null),
        Value::Object(members) => members.iter().find_map(|(name, member)| {
            let mut path = path_to_null(member)?;
            path.insert(0, name);
            Some(path)
        }),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Inner {
        numbers: Vec<f64>,
        single: f32,
    }

    #[derive(Serialize)]
    struct Outer {
        name: &'static str,
        inner: Inner,
    }

    #[test]
    fn what_is_not_finite_is_named() {
        let of = |numbers: Vec<f64>, single| {
            let inner = Inner { numbers, single };
            check_finite(&[Outer { name: "NaN", inner }])
        };
        assert_eq!(of(vec![0.0, -f64::MAX], 1.0), Ok(()));
        for (number, single, expected) in [
            (f64::NAN, 1.0, "inner.numbers is infinite or not a number,"),
            (-f64::INFINITY, 1.0, "inner.numbers is infinite or"),
            (0.0, f32::NAN, "inner.single is infinite or"),
        ] {
            let reason = of(vec![1.0, number], single).unwrap_err();
            assert!(reason.starts_with(expected), "{reason}");
        }
        assert!(check_finite(&f64::NAN).is_err());
    }
}
