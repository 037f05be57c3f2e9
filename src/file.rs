//! Writing whole files, and digests that detect changes.
//!
//! ```
//! use burn_calibration::file;
//!
//! # fn main() -> burn_calibration::error::Result<()> {
//! let path = std::env::temp_dir().join(format!("burn-calibration-{}.txt", std::process::id()));
//! file::write(&path, b"whole")?; // aside, to the disk, and then in place
//! assert_eq!(file::read(&path).unwrap(), b"whole");
//! # std::fs::remove_file(&path).unwrap();
//! # Ok(())
//! # }
//! ```

use std::{
    fmt::Display,
    fs::{self, File},
    io::{self, BufWriter, Read, Write},
    path::Path,
};

use crate::error::{Error, Result};

/// Writes to a temporary file in the same folder, waits until it is on the disk, and then renames it. So no
/// reader finds a partial file, even after a power loss, and processes that write the same file at the same
/// time do not interfere. A replaced file keeps its permissions. Devices, pipes and files that the process
/// has open, such as `/dev/stdout`, are written directly; a symbolic link is followed.
///
/// The name of the temporary file begins with `.tmp`: that is what a killed process leaves.
///
/// # Errors
///
/// A path without a file name, a broken link, or an error of the file system or the writer.
pub fn write_with(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    path.file_name()
        .ok_or_else(|| io::Error::other("expected the name of a file"))?;
    let is_stream = fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
    if is_stream || is_open_already(path) {
        // at the end: a shell may have written to it
        let mut writer = BufWriter::new(fs::OpenOptions::new().append(true).open(path)?);
        write(&mut writer)?;
        return writer.flush();
    }
    // the file that a link names is replaced, not the link
    let path = &if path.is_symlink() {
        fs::canonicalize(path)?
    } else {
        path.to_path_buf()
    };
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        let reason = format!("there is no folder {}", folder.display());
        return Err(io::Error::new(io::ErrorKind::NotFound, reason));
    }
    let permissions = fs::metadata(path).map(|found| found.permissions()).ok();
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        // the permissions that a new file has, not those of a temporary one
        use std::{fs::Permissions, os::unix::fs::PermissionsExt};
        builder.permissions(Permissions::from_mode(0o666)); // less the mask of the process
    }
    let aside = builder.tempfile_in(folder)?;
    if let Some(permissions) = permissions {
        aside.as_file().set_permissions(permissions)?;
    }
    let mut writer = BufWriter::new(aside.as_file());
    write(&mut writer)?;
    writer.flush()?;
    drop(writer);
    aside.as_file().sync_all()?;
    aside.persist(path)?;
    // the name of the file is on the disk as well, where a folder can be opened
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Whether a path names what the process has open, which may be a file that others write to as well.
fn is_open_already(path: &Path) -> bool {
    let folders = ["/dev/fd", "/proc/self/fd"].map(Path::new);
    let streams = ["/dev/stdout", "/dev/stderr"].map(Path::new);
    streams.contains(&path)
        || path
            .parent()
            .is_some_and(|folder| folders.contains(&folder))
}

/// Writes bytes to a file, as [`write_with`] does.
pub fn write(path: &Path, content: &[u8]) -> Result<()> {
    write_with(path, |file| file.write_all(content)).map_err(|reason| error(path, reason))
}

/// Reads a whole file of at most 1 GiB.
///
/// # Errors
///
/// A file that cannot be read, or is larger than 1 GiB.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 <= LIMIT {
        Ok(bytes)
    } else {
        Err(io::Error::other("is larger than 1 GiB"))
    }
}

const LIMIT: u64 = 1 << 30;

/// A digest of 128 bits, the hash of Fowler, Noll and Vo over words of 8 bytes. A change of one word always
/// changes the digest. It protects against accidents, not against forgery.
#[derive(Debug, Clone, Copy)]
pub struct Digest(u128);

impl Digest {
    /// Zeros, the place of a digest that a file will have.
    pub(crate) const ZERO: Self = Self(0);

    /// The digest of nothing.
    #[expect(
        clippy::new_without_default,
        reason = "a digest of nothing is no default"
    )]
    pub fn new() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    /// Adds words.
    pub fn with(self, words: impl IntoIterator<Item = u64>) -> Self {
        let fold = |state: u128, word| {
            let mixed = (state ^ u128::from(word)).wrapping_mul((1 << 88) + 0x13b);
            mixed ^ (mixed >> 64)
        };
        Self(words.into_iter().fold(self.0, fold))
    }

    /// The digest of bytes and their number.
    pub fn of(bytes: &[u8]) -> Self {
        Self::new()
            .with([bytes.len() as u64])
            .with(bytes.chunks(8).map(|chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                u64::from_le_bytes(word)
            }))
    }
}

impl Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The error of a file, with its path and the reason.
pub fn error(path: &Path, reason: impl Display) -> Error {
    Error::File {
        path: path.display().to_string(),
        reason: reason.to_string(),
    }
}
