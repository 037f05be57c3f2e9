use std::path::Path;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use burn_calibration::{
    error::Result,
    file::{self, Digest},
};

/// A type that can be saved, with the name of its kind.
pub trait Saved: Serialize + DeserializeOwned {
    /// The kind, in words.
    const KIND: &'static str;

    /// Saves as a file of JSON: an object with `kind`, `version`, a checksum `crc`, and `payload`.
    ///
    /// # Errors
    ///
    /// A file that cannot be written. There is never a partial file.
    fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let envelope = Envelope {
            kind: kind::<Self>(),
            version: VERSION,
            crc: self.digest(),
            payload: self,
        };
        let text = serde_json::to_vec(&envelope).map_err(|e| file::error(path, e))?;
        file::write(path, &text)
    }

    /// A digest of what is saved, as 32 hexadecimal digits: the checksum of its file.
    fn digest(&self) -> String {
        let text = serde_json::to_vec(self).unwrap_or_default();
        Digest::of(&text).to_string()
    }

    /// Loads a file that [`save`](Self::save) wrote.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, is truncated or changed, has another version, or has another content.
    fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let reject =
            |reason: String| file::error(path, format!("not a saved {}: {reason}", Self::KIND));
        let text = file::read(path).map_err(|e| file::error(path, e))?;
        let head: Head = serde_json::from_slice(&text).map_err(|e| reject(e.to_string()))?;
        head.check(&kind::<Self>()).map_err(reject)?;
        let envelope: Envelope<Self> =
            serde_json::from_slice(&text).map_err(|e| reject(e.to_string()))?;
        // sums have one form, so that those of an unchanged file are written as they were
        if envelope.payload.digest() == envelope.crc {
            Ok(envelope.payload)
        } else {
            let reason = "it was changed after it was saved: its checksum differs";
            Err(reject(reason.into()))
        }
    }
}

/// The version of what is saved.
const VERSION: u32 = 3;

/// The name of a kind in files.
fn kind<A: Saved>() -> String {
    format!("burn-calibration {}", A::KIND)
}

/// A file.
#[derive(Serialize, Deserialize)]
struct Envelope<A> {
    kind: String,
    version: u32,
    crc: String,
    payload: A,
}

/// The kind and version in a file.
#[derive(Deserialize)]
struct Head {
    kind: Option<String>,
    version: Option<u32>,
    /// Kind and version of a file of version 1.
    format: Option<String>,
}

impl Head {
    fn check(self, kind: &str) -> Result<(), String> {
        let found = match (self.kind, self.version) {
            (Some(found), Some(VERSION)) if found == kind => return Ok(()),
            (Some(found), Some(version)) => format!("{found}, version {version}"),
            _ => self
                .format
                .unwrap_or("nothing with a kind and a version".into()),
        };
        let again = if found.starts_with(&format!("{kind}, version")) {
            "; sum the predictions up again"
        } else {
            ""
        };
        Err(format!(
            "it holds {found}, expected {kind}, version {VERSION}{again}"
        ))
    }
}

/// Serialises what `#[serde(remote = "Self")]` derives, and checks what it deserialises: the derived functions
/// are inherent, and these are the traits.
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
