//! Outcomes in JSON, and p-values in words.

use std::fmt;

use serde_json::{Value, json};

/// An outcome as the library writes it, or why there is none.
pub fn known<E: fmt::Display>(outcome: &Result<impl serde::Serialize, E>) -> Value {
    match outcome {
        Ok(outcome) => json!(outcome),
        Err(reason) => json!({ "error": reason.to_string() }),
    }
}

/// A p-value, or that it is at most so much.
pub fn probability(p: f64, is_bound: bool) -> String {
    match is_bound {
        true => format!("≤ {p:.4}"),
        false => format!("{p:.4}"),
    }
}
