//! Numbers in JSON that are read back bit for bit, infinite ones among them: as the shortest text that is theirs.

use serde::{Deserialize, Deserializer, Serializer, de::Error};

pub fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{number:?}"))
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    number(&String::deserialize(deserializer)?)
}

fn number<E: Error>(text: &str) -> Result<f64, E> {
    let number = text.parse().ok().filter(|number: &f64| !number.is_nan());
    number.ok_or_else(|| E::custom(format!("{text:?}, expected a number as text")))
}

/// Lists of such numbers.
pub mod list {
    use super::*;

    pub fn serialize<S: Serializer>(numbers: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(numbers.iter().map(|number| format!("{number:?}")))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        texts.iter().map(|text| number(text)).collect()
    }
}
