//! Images and their classes, in memory as bytes.

use std::path::{Path, PathBuf};

use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};
use rayon::prelude::*;

use crate::Result;

pub const SIDE: usize = 32;
pub const CHANNELS: usize = 3;
/// Bytes of an image, `[32, 32, 3]`.
const SIZE: usize = SIDE * SIDE * CHANNELS;

/// An image, rows of pixels of three bytes, and its class.
#[derive(Clone, Debug)]
pub struct Image {
    pub pixels: Vec<u8>,
    pub class: usize,
}

/// The images of a part of the data.
#[derive(Clone, Debug)]
pub struct Images {
    pub images: Vec<Image>,
    pub classes: Vec<String>,
}

impl Images {
    /// From a folder with one folder a class, in alphabetical order, of JPEG or PNG files.
    pub fn read(folder: &Path) -> Result<Self> {
        let classes = entries(folder)?;
        let mut files = Vec::new();
        for (class, folder) in classes.iter().enumerate() {
            files.extend(entries(folder)?.into_iter().map(|file| (file, class)));
        }
        let read = |(file, class): &(PathBuf, usize)| {
            Ok(Image {
                pixels: pixels(file)?,
                class: *class,
            })
        };
        Ok(Self {
            images: files.par_iter().map(read).collect::<Result<_>>()?,
            classes: classes.iter().map(|folder| name(folder)).collect(),
        })
    }

    /// In an order that a seed decides.
    pub fn shuffled(mut self, seed: u64) -> Self {
        self.images.shuffle(&mut StdRng::seed_from_u64(seed));
        self
    }

    /// All but the last `n`, and these.
    pub fn split(mut self, n: usize) -> Result<(Self, Self)> {
        let all = self.images.len();
        if n == 0 || n >= all {
            return Err(format!("{n} of {all} images cannot be held out").into());
        }
        let last = Self {
            images: self.images.split_off(all - n),
            classes: self.classes.clone(),
        };
        Ok((self, last))
    }

    /// The first `n`, or all if there are fewer.
    pub fn limited(mut self, n: Option<usize>) -> Self {
        self.images.truncate(n.unwrap_or(usize::MAX));
        self
    }
}

/// Files and folders of a folder, in alphabetical order.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let at = |error| format!("{}: {error}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(at)?;
    let mut paths = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<Vec<_>>>()
        .map_err(at)?;
    paths.sort();
    match paths.is_empty() {
        true => Err(format!("{}: empty", folder.display()).into()),
        false => Ok(paths),
    }
}

fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

fn pixels(file: &Path) -> Result<Vec<u8>> {
    let image = image::open(file)
        .map_err(|error| format!("{}: {error}", file.display()))?
        .into_rgb8();
    let (width, height) = image.dimensions();
    let bytes = image.into_raw();
    match bytes.len() == SIZE && width as usize == SIDE {
        true => Ok(bytes),
        false => Err(format!(
            "{}: {width} × {height} pixels, expected {SIDE} × {SIDE}",
            file.display()
        )
        .into()),
    }
}
