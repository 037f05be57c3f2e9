use std::{fmt, marker::PhantomData, path::Path};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};

use burn_calibration::{
    error::Result,
    file::{self, Digest},
};

/// A type that is saved under a name of its own.
pub trait Saved: Serialize + DeserializeOwned {
    /// The kind, in words.
    const KIND: &'static str;

    /// Saves as a file of JSON, whose last member is a checksum of all before it.
    ///
    /// # Errors
    ///
    /// A file that cannot be written; nobody finds half of one.
    fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let mut text = serde_json::to_string(self).map_err(|e| file::error(path, e))?;
        text.pop(); // the brace
        let sum = checksum(&text);
        file::write(path, (text + &sum).as_bytes())
    }

    /// A digest of what is saved, as 32 hexadecimal digits.
    fn digest(&self) -> String {
        let text = serde_json::to_vec(self).unwrap_or_default();
        Digest::of(&text).to_string()
    }

    /// Loads what [`save`](Self::save) saved.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, was cut off or changed, or holds something else.
    fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let reject =
            |reason: String| file::error(path, format!("not a saved {}: {reason}", Self::KIND));
        let text = file::read(path).map_err(|e| file::error(path, e))?;
        let text = String::from_utf8(text).map_err(|e| reject(e.to_string()))?;
        let loaded = serde_json::from_str(&text).map_err(|e| reject(e.to_string()))?;
        let length = checksum("").len();
        let (content, found) = text
            .split_at_checked(text.len().saturating_sub(length))
            .unwrap_or_default();
        if found == checksum(content) {
            Ok(loaded)
        } else {
            Err(reject(
                "it was changed after it was saved: its checksum is another".into(),
            ))
        }
    }
}

/// The end of a file, after all members but the last.
fn checksum(content: &str) -> String {
    format!(",\"checksum\":\"{}\"}}", Digest::of(content.as_bytes()))
}

/// The first field of everything saved: the kind of `A` and the version of its form.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Format<A>(PhantomData<fn() -> A>);

const VERSION: u32 = 1;

impl<A: Saved> fmt::Display for Format<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "burn-calibration {}, version {VERSION}", A::KIND)
    }
}

impl<A> Default for Format<A> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<A: Saved> Serialize for Format<A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, A: Saved> Deserialize<'de> for Format<A> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = Self::default();
        match String::deserialize(deserializer)? {
            found if found == expected.to_string() => Ok(expected),
            found => Err(serde::de::Error::custom(format!(
                "it holds \"{found}\", expected \"{expected}\""
            ))),
        }
    }
}

/// A number that every format keeps to the last bit: the shortest digits that give it back.
///
/// `serde_json` reads numbers of many digits with an error of one unit in the last place.
pub(super) mod exact {
    use super::*;

    pub fn serialize<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{x:?}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// Saves what `#[serde(remote = "Self")]` derives, and checks what it loads: the derived functions are
/// inherent, and these are the traits.
macro_rules! saved {
    ($accumulator:ty $(, of $score:ident)?, $kind:literal) => {
        impl$(<$score: Kept>)? Saved for $accumulator {
            const KIND: &'static str = $kind;
        }

        impl$(<$score: Kept>)? serde::Serialize for $accumulator {
            fn serialize<Out: serde::Serializer>(
                &self,
                serializer: Out,
            ) -> std::result::Result<Out::Ok, Out::Error> {
                Self::serialize(self, serializer)
            }
        }

        impl<'de $(, $score: Kept)?> serde::Deserialize<'de> for $accumulator {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> std::result::Result<Self, D::Error> {
                let accumulator = Self::deserialize(deserializer)?;
                accumulator.check().map_err(serde::de::Error::custom)?;
                Ok(accumulator)
            }
        }
    };
}

pub(super) use saved;
