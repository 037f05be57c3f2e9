//! Whole files and digests.

use std::{fs, io};

use burn_calibration::file::{Digest, read, write, write_with};

/// A file is replaced, with nothing beside it; a flipped bit changes its digest.
#[test]
fn whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for content in ["one", "two"] {
        write(&path, content.as_bytes()).unwrap();
        assert_eq!(read(&path).unwrap(), content.as_bytes());
    }
    let failed = write_with(&path, |file| {
        file.write_all(b"three")?;
        Err(io::Error::other("no more"))
    });
    assert_eq!(failed.unwrap_err().to_string(), "no more");
    assert_eq!(read(&path).unwrap(), b"two");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let absent = folder.path().join("absent");
    let error = write(&absent.join("file"), b"one").unwrap_err().to_string();
    assert!(error.ends_with(&format!("there is no folder {}", absent.display())));
}

/// A file that others may not read stays so.
#[cfg(unix)]
#[test]
fn permissions_stay() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    write(&path, b"one").unwrap();
    assert_ne!(mode(), 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    write(&path, b"two").unwrap();
    assert_eq!((mode(), read(&path).unwrap()), (0o600, b"two".to_vec()));
}

#[test]
fn every_bit_counts() {
    let bytes: Vec<u8> = (0..41).collect();
    let digest = |bytes: &[u8]| Digest::of(bytes).to_string();
    let mut seen = std::collections::BTreeSet::from([digest(&bytes), digest(&bytes[..40])]);
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        seen.insert(digest(&flipped));
    }
    seen.insert(digest(&[bytes.as_slice(), &[0]].concat()));
    assert_eq!(seen.len(), 8 * bytes.len() + 3);
}
