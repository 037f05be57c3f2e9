//! Numbers that are not finite in what is about to be printed.

use crate::error::{Result, ensure};
use serde::Serialize;
use serde_json::Value;

/// Checks that every number of an outcome is finite: JSON has no others, and null stands for these. Nothing
/// else of an outcome is null.
pub fn check(outcome: &(impl Serialize + ?Sized)) -> Result<()> {
    let outcome = serde_json::to_value(outcome)?;
    let path = path_to_null(&outcome);
    ensure!(
        path.is_none(),
        "{} is infinite or not a number, expected a finite number: there are too few samples, or numbers that are \
         too large or too small",
        path.unwrap_or_default().join(".")
    );
    Ok(())
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
            check(&[Outer { name: "NaN", inner }])
        };
        assert_eq!(of(vec![0.0, -f64::MAX], 1.0), Ok(()));
        for (number, single, expected) in [
            (f64::NAN, 1.0, "inner.numbers is infinite or not a number,"),
            (-f64::INFINITY, 1.0, "inner.numbers is infinite or"),
            (0.0, f32::NAN, "inner.single is infinite or"),
        ] {
            let reason = of(vec![1.0, number], single).unwrap_err().to_string();
            assert!(reason.starts_with(expected), "{reason}");
        }
        assert!(check(&f64::NAN).is_err());
    }
}
