//! Small files of every format, mutated: whatever comes, there is a table whose parts have as many rows, or an error of one
//! line; nothing panics, and memory is bounded.
//!
//! Run `k` is that of seed `k`. `BURN_CALIBRATION_FUZZ` is the number of runs, and `BURN_CALIBRATION_FUZZ_FROM` the first
//! seed.

#[path = "../../../cli/tests/cli/fuzz/mutation.rs"]
mod mutation;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    env,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};

use crate::*;
use mutation::{SCALES, mutate, scaled};

/// Runs where no other number is given.
const RUNS: u64 = 2000;

/// Counts the bytes that are in memory, and refuses more than 1 GiB, as of a machine that has no more.
struct Counted(AtomicUsize);

#[global_allocator]
static MEMORY: Counted = Counted(AtomicUsize::new(0));

// SAFETY: memory is that of the system's allocator, which gets each layout as it came.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if self.0.fetch_add(layout.size(), Relaxed) > 1 << 30 {
            self.0.fetch_sub(layout.size(), Relaxed);
            return std::ptr::null_mut();
        }
        // SAFETY: as above
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        self.0.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above
        unsafe { System.dealloc(at, layout) }
    }
}

fn corpus() -> Vec<(&'static str, Vec<u8>)> {
    let p = ROWS.repeat(3);
    let array = npy(&rows(), &[4, 3], npyz::Order::C);
    let bytes: Vec<u8> = rows().iter().flat_map(|x| x.to_le_bytes()).collect();
    let jsonl = concat!(
        r#"{"id": 1, "p": {"a": 0.75, "b": 0.25}, "inner": {"y": "a"}, "logs": [[-1, true], ["-2", false]]}"#,
        "\n",
        r#"{"id": 2, "p": null, "inner": {"y": 1}, "logs": [[-900, true], ["-901", false]]}"#,
        "\n",
    );
    #[cfg_attr(not(feature = "parquet"), expect(unused_mut))]
    let mut corpus = vec![
        ("csv", p.clone().into()),
        (
            "csv",
            format!("id;\"a \"\"b\"\"\";c\n{}", p.replace(',', ";")).into(),
        ),
        (
            "csv",
            format!(
                ",0,1,2\n{}",
                (0..4)
                    .map(|i| format!("{i},0.5,0.25,0.25\r\n"))
                    .collect::<String>()
            )
            .into(),
        ),
        ("csv", "y\ncat\n\ndog\n\"e\nmu\"\n".into()),
        ("jsonl", jsonl.into()),
        ("npz", npz(&[("p", &array)])),
        (
            "st",
            safetensors_of(safetensors::Dtype::F64, &[4, 3], &bytes),
        ),
        ("gz", gzip(p.as_bytes())),
        ("gz", gzip(&array)),
        ("npy", array),
    ];
    #[cfg(feature = "parquet")]
    for entry in
        fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reader/columnar")).unwrap()
    {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "parquet") {
            corpus.push(("parquet", fs::read(path).unwrap()));
        }
    }
    corpus
}

#[test]
fn whatever_comes() {
    let number = |name: &str, usual| {
        let value = env::var(name).ok();
        value.map_or(usual, |value| value.parse().expect("a number of runs"))
    };
    let corpus = corpus();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p");
    let first = number("BURN_CALIBRATION_FUZZ_FROM", 0);
    let (mut tables, mut errors) = (0, 0);
    for seed in first..first + number("BURN_CALIBRATION_FUZZ", RUNS) {
        let rng = &mut StdRng::seed_from_u64(seed);
        let (end, mut bytes) = corpus.choose(rng).unwrap().clone();
        if end == "csv" && rng.random_bool(0.15) {
            bytes = scaled(&bytes, SCALES.choose(rng).unwrap());
        }
        (0..rng.random_range(0..4)).for_each(|_| mutate(&mut bytes, rng));
        fs::write(&path, &bytes).unwrap();
        let read = catch_unwind(AssertUnwindSafe(|| read_by(&path, rng)));
        match read.unwrap_or_else(|_| panic!("seed {seed}")) {
            Ok(()) => tables += 1,
            Err(error) => {
                let (_, reason) = error.into_parts();
                let is_short = !reason.is_empty() && reason.len() < 3000;
                assert!(is_short, "seed {seed}: {reason}");
                errors += 1;
            }
        }
    }
    assert!(
        tables > 0 && errors > 0,
        "{tables} tables and {errors} errors"
    );
}

/// Reads a file as predictions, as labels or by options.
fn read_by(path: &Path, rng: &mut StdRng) -> Result<()> {
    let option = |option: &'static str, rng: &mut StdRng| rng.random_bool(0.2).then_some(option);
    let options = OpenOptions {
        header: [None, None, Some(true), Some(false)]
            .choose(rng)
            .copied()
            .flatten(),
        blank_is_row: rng.random_bool(0.5),
        are_probabilities: rng.random_bool(0.5),
        ..OpenOptions::default()
    };
    let mut file = Opened::new(path, &options)?;
    let columns = PredictionColumns {
        columns: ["p", "0-1", "logs.*.0", "cat..emu"]
            .choose(rng)
            .copied()
            .and_then(|spec| option(spec, rng)),
        label: option("label", rng).map(|label| (label, false)),
        id: option("id", rng),
        ..PredictionColumns::default()
    };
    if rng.random_bool(0.3) {
        file.choose_labels((None, None), rng.random_bool(0.5), &[])?;
    } else {
        file.choose_predictions(&columns)?;
    }
    let table = file.read(rng.random_bool(0.2))?;
    let n = table.rows();
    assert!(n > 0 && table.numbers.values.len() == n * table.numbers.columns);
    assert!(table.labels.iter().all(|labels| labels.cells.len() == n));
    table.missing(&[]);
    Ok(())
}
