use std::path::Path;

use super::{picture::Picture, svg};
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

    /// Saves a file of SVG, with its extension.
    pub fn save(&self, path: &Path) -> Result<()> {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        if !extension.eq_ignore_ascii_case("svg") {
            let reason = format!("the extension is \"{extension}\", expected svg");
            return Err(file::error(path, reason));
        }
        file::write(path, self.to_svg().as_bytes())
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

            /// Saves the picture as `svg`. Written aside and renamed.
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
