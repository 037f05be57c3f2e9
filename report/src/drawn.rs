use std::path::Path;

use maud::Markup;

use super::svg::{self, Picture};
use burn_calibration::{error::Result, file};

/// A picture with its title and, in words, all that it shows.
pub struct Drawn {
    pub(super) picture: Picture,
    pub(super) title: String,
    pub(super) description: String,
}

impl Drawn {
    /// Writes the content of a file of SVG. The element `desc` holds all the numbers, for those who cannot see
    /// the picture.
    pub fn to_svg(&self) -> String {
        svg::written((self.picture).element(&self.title, &self.description, true))
    }

    /// The element of a page.
    pub(super) fn element(&self) -> Markup {
        (self.picture).element(&self.title, &self.description, false)
    }

    /// Saves the picture as `svg`. Written aside and renamed.
    ///
    /// # Errors
    ///
    /// [`Error::File`](burn_calibration::error::Error::File) for any other extension, or if the file cannot be
    /// written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        if !extension.eq_ignore_ascii_case("svg") {
            let reason = format!("the extension is \"{extension}\", expected svg");
            return Err(file::error(path, reason));
        }
        file::write(path, self.to_svg().as_bytes())
    }
}

/// Diagrams that are drawn as pictures of SVG, which scale and need no font.
pub trait Draw {
    /// The picture.
    fn drawn(&self) -> Drawn;

    /// Writes the picture: [`Drawn::to_svg`].
    fn to_svg(&self) -> String {
        self.drawn().to_svg()
    }

    /// Saves the picture: [`Drawn::save`], with its errors.
    fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.drawn().save(path)
    }
}
