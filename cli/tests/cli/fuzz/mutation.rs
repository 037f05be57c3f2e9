//! What is done to files.

use rand::{Rng, RngExt, rngs::StdRng, seq::IndexedRandom};

/// Values and pieces of files that parsers and arithmetic stumble over.
pub const TOKENS: &[&str] = &[
    "0",
    "1",
    "-1",
    "0.5",
    "2",
    "1e308",
    "-1e308",
    "1.7e308",
    "5e-324",
    "1e-310",
    "1e155",
    "-1e155",
    "1e-160",
    "1e400",
    "NaN",
    "inf",
    "-inf",
    "-0",
    "1e100",
    "1e-100",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "18446744073709551616",
    "99999999999999999999",
    "median",
    "\"",
    "\"\"",
    "'",
    ";",
    "\t",
    "\n",
    "\n\n",
    ",",
    ",,",
    " ",
    "#",
    "é",
    "\0",
    "{",
    "}",
    "[",
    "null",
    "true",
    "x",
    "1_000",
    "0x10",
];

/// Factors of a whole table.
pub const SCALES: &[f64] = &[
    0.0, -1.0, 1e-310, 1e-300, 1e-160, 1e-20, 1e8, 1e90, 1e155, 1e300, 3e307,
];

/// A table with its numbers times a factor.
pub fn scaled(bytes: &[u8], factor: &f64) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let field = |field: &str| match field.parse::<f64>() {
        Ok(number) => format!("{:?}", number * factor),
        Err(_) => field.to_owned(),
    };
    let row = |row: &str| row.split(',').map(field).collect::<Vec<_>>().join(",") + "\n";
    text.lines().map(row).collect::<String>().into_bytes()
}

/// Changes a bit, a byte, a number or a field, takes some away or repeats them.
pub fn mutate(bytes: &mut Vec<u8>, rng: &mut StdRng) {
    let n = bytes.len();
    let at = rng.random_range(0..=n);
    let end = (at + rng.random_range(0..20usize)).min(n);
    let token = TOKENS.choose(rng).unwrap().as_bytes();
    match rng.random_range(0..9) {
        0 if at < n => bytes[at] ^= 1 << rng.random_range(0..8),
        1 if at < n => bytes[at] = rng.random_range(0..=255) as u8,
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..end)),
        4 => {
            let part = bytes[at..end].to_vec();
            bytes.splice(at..at, part);
        }
        5 if at + 8 <= n => {
            let numbers = [
                f64::NAN,
                f64::INFINITY,
                1e308,
                -1e308,
                5e-324,
                1e155,
                f64::from_bits(rng.next_u64()),
            ];
            let number = numbers.choose(rng).unwrap();
            bytes[at / 8 * 8..][..8].copy_from_slice(&number.to_le_bytes());
        }
        6 => drop(bytes.splice(at..at, token.iter().copied())),
        _ => {
            // a field of a table
            let is_end = |byte: &u8| matches!(byte, b',' | b'\n' | b':' | b' ');
            let from = bytes[..at].iter().rposition(is_end).map_or(0, |k| k + 1);
            let to = bytes[at..].iter().position(is_end).map_or(n, |k| at + k);
            drop(bytes.splice(from..to, token.iter().copied()));
        }
    }
}
