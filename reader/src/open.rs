//! Files by what they hold, whatever their names.

use std::{
    fs::File,
    io::{self, BufReader, Cursor, Read, Seek},
    path::Path,
};

use flate2::read::MultiGzDecoder;

use super::limits::{MOST_WHOLE, Unpacked};
use crate::error::{Result, bail, ensure};

/// Bytes that have a place.
pub trait ReadSeek: Read + Seek {}

impl<R: Read + Seek> ReadSeek for R {}

/// The content of a file.
pub enum Content {
    Text(Box<dyn Read>),
    /// An object of JSON on each line.
    JsonLines(Box<dyn Read>),
    Npy(Box<dyn Read>),
    Archive(Box<dyn ReadSeek>),
    Safetensors(Vec<u8>),
    #[cfg(feature = "parquet")]
    Parquet(Vec<u8>),
}

/// Bytes by which a file is known.
const HEAD: usize = 16;

/// First bytes of what is not read here.
const OTHERS: [(&[u8], &str); 13] = [
    (b"\x89HDF", "HDF5"),
    (b"\x80\x02", "Python's pickle"),
    (b"\x80\x03", "Python's pickle"),
    (b"\x80\x04", "Python's pickle"),
    (b"\x80\x05", "Python's pickle"),
    (b"\xd0\xcf\x11\xe0", "Excel"),
    (b"ARROW1", ARROW),
    (b"\xff\xff\xff\xff", ARROW),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"\x28\xb5\x2f\xfd", "Zstandard"),
    (b"\xff\xfe", "text as UTF-16, not UTF-8"),
    (b"\xfe\xff", "text as UTF-16, not UTF-8"),
];

/// Arrow IPC, and how it becomes text.
const ARROW: &str = "Arrow IPC (pandas.read_feather(…).to_csv(…, index=False) converts it)";

/// Whether a path is that of standard input, which `-` stands for as well.
pub fn is_standard_input(path: &Path) -> bool {
    let names = ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];
    names.iter().any(|name| path == Path::new(name))
}

/// Opens a file, or standard input for `-`.
pub fn open(path: &Path) -> Result<Content> {
    if is_standard_input(path) {
        return content(Box::new(io::stdin()), None, false);
    }
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    ensure!(!metadata.is_dir(), "is a folder, expected a file");
    if !metadata.is_file() {
        return content(Box::new(file), None, false);
    }
    let head = head(&mut file)?;
    file.rewind()?;
    let reader = BufReader::new(file);
    if is_archive(&head) {
        Ok(Content::Archive(Box::new(reader)))
    } else {
        content(Box::new(reader), Some(metadata.len()), false)
    }
}

fn head(reader: &mut impl Read) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    let read = reader.take(HEAD as u64).read_to_end(&mut head);
    read?;
    Ok(head)
}

fn is_archive(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

/// Finds out what bytes are, of which there are so many if that is known.
fn content(mut reader: Box<dyn Read>, size: Option<u64>, is_unpacked: bool) -> Result<Content> {
    let head = head(&mut reader)?;
    let reader = Cursor::new(head.clone()).chain(reader);
    if head.starts_with(b"\x1f\x8b") {
        ensure!(!is_unpacked, "gzip within gzip, expected it once");
        let (packed, size): (Box<dyn Read>, u64) = if let Some(size) = size {
            (Box::new(reader), size)
        } else {
            let bytes = whole(reader)?;
            let size = bytes.len() as u64;
            (Box::new(Cursor::new(bytes)), size)
        };
        let unpacked = Unpacked::new(MultiGzDecoder::new(packed), size);
        return content(Box::new(BufReader::new(unpacked)), None, true);
    }
    if head.starts_with(b"PAR1") || head.starts_with(b"PARE") {
        return parquet(reader);
    }
    if let Some((_, format)) = OTHERS.iter().find(|(first, _)| head.starts_with(first)) {
        bail!("holds {format}, expected text such as CSV, NPY, NPZ or safetensors");
    }
    if head.starts_with(b"\x93NUMPY") {
        return Ok(Content::Npy(Box::new(reader)));
    }
    if is_archive(&head) {
        return Ok(Content::Archive(Box::new(Cursor::new(whole(reader)?))));
    }
    // the length of a header of JSON in eight bytes, of which those of large numbers are 0
    if head.len() > 8 && head[4..9] == *b"\0\0\0\0{" {
        return Ok(Content::Safetensors(whole(reader)?));
    }
    if is_json_lines(&head) {
        return Ok(Content::JsonLines(Box::new(reader)));
    }
    match markup(&head) {
        Some(format) => bail!("holds {format}, expected a table such as CSV"),
        None => Ok(Content::Text(Box::new(reader))),
    }
}

/// Whether a text begins with an object of JSON.
fn is_json_lines(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let next = head
        .trim_ascii_start()
        .strip_prefix(b"{")
        .map(<[u8]>::trim_ascii_start);
    next.is_some_and(|next| next.starts_with(b"\""))
}

/// What a text is that is no table, by its beginning. Labels may be words such as `<unk>` and `[CLS]`.
fn markup(head: &[u8]) -> Option<&'static str> {
    let head = head
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(head)
        .trim_ascii_start();
    let lower = head.to_ascii_lowercase();
    if [&b"<!doctype"[..], b"<html", b"<?xml", b"<!--"]
        .iter()
        .any(|tag| lower.starts_with(tag))
    {
        return Some("HTML or XML");
    }
    let (first, rest) = head.split_first()?;
    let next = rest.trim_ascii_start().first()?;
    let is_json = *first == b'[' && (b"[{\"-".contains(next) || next.is_ascii_digit());
    is_json.then_some("a list of JSON, not an object on each line")
}

#[cfg(feature = "parquet")]
fn parquet(reader: impl Read) -> Result<Content> {
    Ok(Content::Parquet(whole(reader)?))
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: impl Read) -> Result<Content> {
    bail!(
        "holds Parquet: expected a build with --features parquet, or text by \
         pandas.read_parquet(…).to_csv(…, index=False)"
    )
}

fn whole(reader: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = reader.take(MOST_WHOLE + 1).read_to_end(&mut bytes);
    read?;
    ensure!(
        bytes.len() as u64 <= MOST_WHOLE,
        "expected at most {} GiB",
        MOST_WHOLE >> 30
    );
    Ok(bytes)
}
