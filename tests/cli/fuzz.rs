//! Small files of every format, mutated, and options out of range, through every subcommand: whatever
//! comes, the exit code is 0, 1 or 2, an error is one line, a number is one, and memory is bounded.
//!
//! Run `k` is that of seed `k`. `BURN_CALIBRATION_FUZZ` is the number of runs, and
//! `BURN_CALIBRATION_FUZZ_FROM` the first seed. What fails is kept in a folder of its own.

use std::{
    env, fs,
    io::{Cursor, Write},
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use flate2::{Compression, write::GzEncoder};
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};

use super::{LABELS, ROWS, calibration, folder, npy};

/// Runs where no other number is given.
const RUNS: u64 = 200;

/// Subcommands with the files that they read; the first word after an `@` is a kind of file.
const COMMANDS: &[&str] = &[
    "evaluate --predictions @p --labels @y --replicates 19",
    "evaluate --predictions @z --logits --labels @y --replicates 19 --json",
    "evaluate --predictions @p --labels @y --lens class-wise --replicates 19",
    "evaluate --predictions @p --labels @y --lens top-label --replicates 19 --json",
    "evaluate --predictions @p --labels @y --given @given --replicates 19",
    "evaluate --predictions @p --labels @y --replicates 19 --test skce_unbiased_exact --test cox",
    "evaluate --family normal --predictions @normal --targets @t --replicates 19 --json",
    "evaluate --family laplace --predictions @normal --targets @t --replicates 19",
    "evaluate --family normal-mixture --predictions @mixture --targets @t --replicates 19",
    "evaluate --family samples --predictions @z --targets @t --replicates 19",
    "compare --before @p --after @p --labels @y --redraws 19",
    "compare --before @z --after @z --labels @y --logits --redraws 19 --json",
    "fit --predictions @z --logits --labels @y -o out.map --method temperature",
    "fit --predictions @p --labels @y -o out.map --method isotonic --json",
    "fit --predictions @z --logits --labels @y -o out.map --method vector",
    "fit --predictions @z --logits --labels @y -o out.map --method platt",
    "apply @map --predictions @z --logits -o out.csv",
    "apply @map --predictions @z --logits -o out.npy --to-probabilities",
    "apply @map --predictions @p -o out.csv --to-probabilities",
    "show @map",
    "show @map --json",
    "show @map --export safetensors -o out.safetensors",
    "summarise --predictions @p --labels @y -o out.json",
    "summarise --predictions @z --logits --labels @y --bandwidth 0.5 --block 2 -o out.json",
    "summarise --family normal --predictions @normal --targets @t --bandwidth 0.5 --length-scale 1 --block 2 -o out.json",
    "merge @part @part",
    "merge @means --json",
    #[cfg(feature = "parquet")]
    "evaluate --predictions @columns --label-column label --replicates 19",
    "merge @part --json",
    #[cfg(feature = "report")]
    "report --predictions @p --labels @y -o out.html",
    #[cfg(feature = "report")]
    "report --family normal --predictions @normal --targets @t -o out.html",
];

/// Options that some subcommand has.
const OPTIONS: &[&str] = &[
    "--bandwidth",
    "--length-scale",
    "--replicates",
    "--redraws",
    "--level",
    "--tolerance",
    "--lp-error",
    "--seed",
    "--bins",
    "--block",
    "--kernel",
    "--distance",
    "--one-based",
    "--logits",
    "--json",
    "--target-kernel laplacian",
    "--lens class-wise",
    "--kernel gaussian",
    "--kernel matern52",
    "--kernel rational-quadratic:1",
    "--kernel generalised-exponential:0.5",
    "--distance l2",
    "--bandwidth median-with-diagonal",
    "--allow-duplicates",
];

/// Values and pieces of files that parsers and arithmetic stumble over.
const TOKENS: &[&str] = &[
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
    "median:4294967295",
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
const SCALES: &[f64] = &[
    0.0, -1.0, 1e-310, 1e-300, 1e-160, 1e-20, 1e8, 1e90, 1e155, 1e300, 3e307,
];

#[test]
fn whatever_comes() {
    let corpus = corpus();
    let number = |name: &str, usual| {
        let value = env::var(name).ok();
        value.map_or(usual, |value| value.parse().expect("a number of runs"))
    };
    let first = number("BURN_CALIBRATION_FUZZ_FROM", 0);
    let end = first + number("BURN_CALIBRATION_FUZZ", RUNS);
    let (next, failures) = (AtomicU64::new(first), Mutex::new(Vec::new()));
    let codes = [const { AtomicU64::new(0) }; 3];
    let workers = thread::available_parallelism().map_or(2, |count| count.get());
    thread::scope(|scope| {
        for worker in 0..workers {
            let (corpus, next, failures, codes) = (&corpus, &next, &failures, &codes);
            scope.spawn(move || {
                let folder = folder(&format!("fuzz-{first}-{worker}"));
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    match run(corpus, &folder, seed) {
                        Ok(code) => _ = codes[code].fetch_add(1, Ordering::Relaxed),
                        Err(failure) => {
                            let kept = folder.with_file_name(format!("fuzz-failed-{seed}"));
                            let _ = fs::remove_dir_all(&kept);
                            fs::rename(&folder, &kept).unwrap();
                            fs::create_dir_all(&folder).unwrap();
                            eprintln!("seed {seed}: {failure}");
                            failures.lock().unwrap().push(seed);
                        }
                    }
                }
            });
        }
    });
    println!("{} runs, exit codes 0, 1, 2: {codes:?}", end - first);
    let failures = failures.into_inner().unwrap();
    assert!(
        failures.is_empty(),
        "{} seeds failed: {failures:?}",
        failures.len()
    );
}

/// One run: the exit code, or what must not be.
fn run(corpus: &[(String, Vec<u8>)], folder: &Path, seed: u64) -> Result<usize, String> {
    let rng = &mut StdRng::seed_from_u64(seed);
    for entry in fs::read_dir(folder).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let mut arguments = Vec::new();
    for (at, word) in COMMANDS.choose(rng).unwrap().split(' ').enumerate() {
        let Some(kind) = word.strip_prefix('@') else {
            arguments.push(word.to_owned());
            continue;
        };
        let of_kind: Vec<_> = corpus
            .iter()
            .filter(|(name, _)| name.split('.').next() == Some(kind))
            .collect();
        let (name, bytes) = of_kind.choose(rng).unwrap();
        let mut bytes = bytes.clone();
        if name.ends_with(".csv") && rng.random_bool(0.15) {
            bytes = scaled(&bytes, SCALES.choose(rng).unwrap());
        }
        for _ in 0..[0, 0, 0, 0, 0, 1, 1, 2].choose(rng).copied().unwrap() {
            mutate(&mut bytes, rng);
        }
        let name = format!("{at}-{name}");
        fs::write(folder.join(&name), bytes).unwrap();
        arguments.push(if name.ends_with(".npz") {
            name + ":a"
        } else {
            name
        });
    }
    if rng.random_bool(0.4) {
        let option = OPTIONS.choose(rng).unwrap();
        arguments.extend(option.split(' ').map(str::to_owned));
        if rng.random_bool(0.6) {
            arguments.push(TOKENS.choose(rng).unwrap().replace('\0', "0"));
        }
    }
    check(folder, &arguments).map_err(|failure| format!("{}\n{failure}", arguments.join(" ")))
}

/// Runs with at most 1 GiB of memory.
fn check(folder: &Path, arguments: &[String]) -> Result<usize, String> {
    let limited = "ulimit -d 1048576; exec \"$0\" \"$@\"";
    let output = Command::new("sh")
        .args(["-c", limited, env!("CARGO_BIN_EXE_calibration")])
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    let code = match output.status.code() {
        Some(code @ 0..=2) => code as usize,
        _ => return Err(format!("{}: {complaint}", output.status)),
    };
    let usage = complaint.starts_with("error: "); // of clap: several lines
    // before it may come what was taken for what
    let are_lines = complaint
        .lines()
        .all(|line| line.starts_with("calibration: "));
    let lines = complaint.lines().count();
    if code == 2 && !usage && (!are_lines || !(1..=4).contains(&lines) || complaint.len() > 3000) {
        return Err(format!("not one line: {complaint}"));
    }
    if code != 0 {
        return Ok(code);
    }
    for out in ["out.csv", "out.json", "out.html"].map(|name| fs::read_to_string(folder.join(name)))
    {
        not_a_number(&out.unwrap_or_default())?;
    }
    not_a_number(&text)?;
    match text
        .starts_with('{')
        .then(|| serde_json::from_str::<serde_json::Value>(&text))
    {
        Some(Err(error)) => Err(format!("{error}: {text}")),
        _ => Ok(code),
    }
}

fn not_a_number(text: &str) -> Result<(), String> {
    // the reason why there is no number
    let text = text
        .replace("is inf, expected", "")
        .replace("is -inf, expected", "")
        .replace("is NaN, expected", "");
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    match words.find(|word| ["NaN", "nan", "inf"].contains(word)) {
        Some(word) => Err(format!(
            "{word} in {}",
            text.chars().take(5000).collect::<String>()
        )),
        None => Ok(()),
    }
}

/// A table with its numbers times a factor.
fn scaled(bytes: &[u8], factor: &f64) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let field = |field: &str| match field.parse::<f64>() {
        Ok(number) => format!("{:?}", number * factor),
        Err(_) => field.to_owned(),
    };
    let row = |row: &str| row.split(',').map(field).collect::<Vec<_>>().join(",") + "\n";
    text.lines().map(row).collect::<String>().into_bytes()
}

fn mutate(bytes: &mut Vec<u8>, rng: &mut StdRng) {
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

/// Files of every kind and format that are right.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = folder("fuzz-corpus");
    let (p, y) = (ROWS.repeat(3), LABELS.repeat(3));
    let numbers =
        |text: &str| -> Vec<f64> { text.split([',', '\n']).flat_map(str::parse).collect() };
    let table = |columns: usize, number: &dyn Fn(usize, usize) -> f64| -> String {
        let row = |i: usize| {
            (0..columns)
                .map(|c| number(i, c).to_string())
                .collect::<Vec<_>>()
                .join(",")
        };
        (0..12).map(|i| row(i) + "\n").collect()
    };
    let z = table(3, &|i, c| ((i * 7 + c * 5) % 11) as f64 / 2.0 - 2.5);
    let texts = [
        ("p.csv", p.clone()),
        ("p.header.csv", format!("cat,dog,emu\n{p}")),
        ("y.csv", y.clone()),
        ("z.csv", z.clone()),
        (
            "normal.csv",
            table(2, &|i, c| {
                if c == 0 {
                    0.5 + i as f64 / 4.0
                } else {
                    1.0 + i as f64 / 9.0
                }
            }),
        ),
        (
            "mixture.csv",
            table(6, &|i, c| [0.25, 0.75, i as f64, 1.0, 0.5, 2.0][c]),
        ),
        ("t.csv", table(1, &|i, _| (i * 5 % 12) as f64 / 4.0)),
        (
            "given.csv",
            "sex,age\nF,31\nM,45\nF,27\n".to_owned() + &"M,50\n".repeat(9),
        ),
    ];
    let mut corpus: Vec<(String, Vec<u8>)> = texts
        .map(|(name, text)| (name.into(), text.into_bytes()))
        .into();
    for (kind, text) in [("p", &p), ("z", &z)] {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        corpus.push((format!("{kind}.csv.gz"), gzip.finish().unwrap()));
        let array = npy(&numbers(text), &[12, 3], npyz::Order::C);
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        archive
            .start_file("a.npy", zip::write::SimpleFileOptions::default())
            .unwrap();
        archive.write_all(&array).unwrap();
        corpus.push((
            format!("{kind}.npz"),
            archive.finish().unwrap().into_inner(),
        ));
        corpus.push((format!("{kind}.npy"), array));
    }
    corpus.push((
        "y.npy".into(),
        npy(&numbers(&y), &[12], npyz::Order::Fortran),
    ));
    #[cfg(feature = "parquet")]
    for entry in
        fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/columnar")).unwrap()
    {
        let path = entry.unwrap().path();
        let end = path.extension().unwrap().to_string_lossy().into_owned();
        if end != "py" {
            corpus.push((format!("columns.{end}"), fs::read(path).unwrap()));
        }
    }
    for (name, bytes) in &corpus {
        fs::write(folder.join(name), bytes).unwrap();
    }
    let mut made = |arguments: &str, path: PathBuf, name: String| {
        let output = calibration(&folder, arguments);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        corpus.push((name, fs::read(path).unwrap()));
    };
    let made_map = folder.join("made");
    for method in [
        "temperature",
        "matrix",
        "platt",
        "isotonic",
        "order-invariant",
        "spline",
    ] {
        let fit =
            format!("fit --logits --predictions z.csv --labels y.csv --method {method} -o made");
        made(&fit, made_map.clone(), format!("map.{method}"));
    }
    let exported = folder.join("map.safetensors");
    made(
        "show made --export json -o part.foreign",
        folder.join("part.foreign"),
        "part.foreign".into(),
    );
    let fit = "fit --logits --predictions z.csv --labels y.csv --method vector -o made";
    made(fit, made_map, "map.vector".into());
    made(
        "show made --export safetensors -o map.safetensors",
        exported,
        "map.safetensors".into(),
    );
    for (data, options, name) in [
        ("--predictions p.csv --labels y.csv", "", "part.plain"),
        (
            "--predictions p.csv --labels y.csv",
            "--bandwidth 1 --block 2",
            "part.blocks",
        ),
        (
            "--family normal --predictions normal.csv --targets t.csv",
            "",
            "means.plain",
        ),
        (
            "--family normal --predictions normal.csv --targets t.csv",
            "--bandwidth 1 --length-scale 1 --block 2",
            "means.blocks",
        ),
    ] {
        let arguments = format!("summarise {data} {options} -o {name}");
        made(&arguments, folder.join(name), name.into());
    }
    corpus
}
