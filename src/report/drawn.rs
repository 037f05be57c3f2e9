use std::path::Path;

use super::{picture::Picture, png, svg};
use crate::{error::Result, file};

/// A picture with its name and, in words, all that it shows.
pub struct Drawn {
    pub(super) picture: Picture,
    pub(super) title: String,
    pub(super) description: String,
}

impl Drawn {
    /// Writes a file of SVG.
    pub fn to_svg(&self) -> String {
        svg::document(&self.picture, &self.title, &self.description)
    }

    /// Writes an element of a page.
    pub fn element(&self) -> String {
        svg::element(&self.picture, &self.title, &self.description)
    }

    /// Saves the picture, in the format of the extension: `svg` or `png`.
    pub fn save(&self, path: &Path) -> Result<()> {
        let extension = path.extension().unwrap_or_default();
        let bytes = match extension.to_string_lossy().to_lowercase().as_str() {
            "svg" => self.to_svg().into_bytes(),
            "png" => png::encode(&self.picture).map_err(|error| file::error(path, error))?,
            other => {
                let reason = format!("the extension is \"{other}\", expected svg or png");
                return Err(file::error(path, reason));
            }
        };
        file::write(path, &bytes)
    }
}

/// The pictures of a diagram, which the function `$drawn` draws alone.
macro_rules! pictured {
    ($diagram:ty, $drawn:ident, $(#[doc = $doc:literal])*) => {
        impl $diagram {
            $(#[doc = $doc])*
            ///
            /// The element `desc` holds all the numbers, for those who cannot see the picture.
            pub fn to_svg(&self) -> String {
                self.$drawn().to_svg()
            }

            /// Saves the picture, in the format of the extension: `svg` or `png` (960 pixels wide, with an
            /// embedded font). Written aside and renamed.
            ///
            /// # Errors
            ///
            /// [`Error::File`](crate::error::Error::File) for any other extension, or if the file cannot be
            /// written.
            pub fn save(&self, path: impl AsRef<std::path::Path>) -> crate::error::Result<()> {
                self.$drawn().save(path.as_ref())
            }
        }
    };
}

pub(super) use pictured;
