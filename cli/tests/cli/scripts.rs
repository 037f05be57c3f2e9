//! A test for each script.

use crate::script::script;

#[test]
fn sentences() {
    script("sentences");
}

#[test]
fn events() {
    script("events");
}

#[test]
fn inputs() {
    script("inputs");
}

#[test]
fn errors() {
    script("errors");
}

#[test]
fn matching() {
    script("matching");
}

#[test]
fn readings() {
    script("readings");
}

#[test]
fn maps() {
    script("maps");
}

#[test]
fn reports() {
    script("reports");
}

#[test]
#[cfg(feature = "parquet")]
fn columnar() {
    script("columnar");
}

#[test]
fn missing() {
    script("missing");
}

#[test]
fn quantiles() {
    script("quantiles");
}

#[test]
fn bins() {
    script("bins");
}

#[test]
fn several() {
    script("several");
}

#[test]
fn jsonl() {
    script("jsonl");
}

#[test]
fn weights() {
    script("weights");
}

#[test]
fn pieces() {
    script("pieces");
}

#[test]
#[cfg(feature = "parquet")]
fn guesses() {
    script("guesses");
}

#[test]
fn monitor() {
    script("monitor");
}
