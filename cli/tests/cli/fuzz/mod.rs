//! Small files of every format, mutated, and options out of range, through every subcommand: whatever
//! comes, the exit code is 0, 1 or 2, an error is one line, a number is one, and memory is bounded.
//!
//! Run `k` is that of seed `k`. `BURN_CALIBRATION_FUZZ` is the number of runs, and
//! `BURN_CALIBRATION_FUZZ_FROM` the first seed. What fails is kept in a folder of its own.

mod corpus;
mod mutation;

use std::{
    env, fs,
    path::Path,
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};

use super::folder;
use corpus::corpus;
use mutation::{SCALES, TOKENS, mutate, scaled};

/// Runs where no other number is given.
const RUNS: u64 = 200;

/// Subcommands with the files that they read; the first word after an `@` is a kind of file.
const COMMANDS: &[&str] = &[
    "evaluate --predictions @p --labels @y --redraws 19",
    "evaluate --predictions @z --logits --labels @y --redraws 19 --json",
    "evaluate --predictions @p --labels @y --lens class-wise --redraws 19",
    "evaluate --predictions @p --labels @y --lens top-label --redraws 19 --json",
    "evaluate --predictions @p --labels @y --given @given --redraws 19",
    "evaluate --predictions @p --labels @y --redraws 19 --test skce_unbiased_exact --test cox",
    "evaluate --family normal --predictions @normal --targets @t --redraws 19 --json",
    "evaluate --family laplace --predictions @normal --targets @t --redraws 19",
    "evaluate --family normal-mixture --predictions @mixture --targets @t --redraws 19",
    "evaluate --family samples --predictions @z --targets @t --redraws 19",
    "evaluate --predictions @lines --columns p --label-column inner.y --redraws 19 --skip-missing",
    "evaluate --predictions @lines --columns logs.*.0 --label-column inner.y --log-probabilities --redraws 19",
    "evaluate --family multilabel --predictions @p --labels @hot --redraws 19",
    "evaluate --predictions @p --labels @hot --skip-missing --redraws 19 --json",
    "compare --predictions @models --models a,b --label-column y --redraws 19",
    "compare --before @p --after @p --labels @y --redraws 19",
    "compare --before @z --after @z --labels @y --logits --redraws 19 --json",
    "fit --predictions @z --logits --labels @y -o out.map --method temperature",
    "fit --predictions @p --labels @y -o out.map --method isotonic --json",
    "fit --predictions @z --logits --labels @y -o out.map --method vector",
    "fit --predictions @z --logits --labels @y -o out.map --method platt",
    "apply @map --predictions @z --logits -o out.csv",
    "apply @map --predictions @z --logits -o out.npy --to-probabilities",
    "apply @map --predictions @p -o out.csv --to-probabilities",
    "apply @map --predictions @lines --columns p --skip-missing -o out.csv --to-probabilities",
    "show @map",
    "show @map --json",
    "show @map --export safetensors -o out.safetensors",
    "summarise --predictions @p --labels @y -o out.json",
    "summarise --predictions @z --logits --labels @y --bandwidth 0.5 --block 2 -o out.json",
    "summarise --family normal --predictions @normal --targets @t --bandwidth 0.5 --length-scale 1 --block 2 -o out.json",
    "summarise --predictions @p --labels @y --weights @w -o out.json",
    "summarise --predictions @z --logits --labels @y --weights @w --bandwidth 0.5 --block 2 -o out.json",
    "summarise --family normal --predictions @normal --targets @t --weights @w --bandwidth 0.5 --length-scale 1 --block 2 -o out.json",
    "merge @part @part",
    "merge @means --json",
    #[cfg(feature = "parquet")]
    "evaluate --predictions @columns --label-column label --redraws 19",
    "merge @part --json",
    "report --predictions @p --labels @y -o out.html",
    "report --family normal --predictions @normal --targets @t -o out.html",
];

/// Options that some subcommand has.
const OPTIONS: &[&str] = &[
    "--bandwidth",
    "--length-scale",
    "--redraws",
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
    "--skip-missing",
    "--ignore-label",
    "--by-position",
    "--id id",
    "--id",
    "--columns 0-1",
    "--delimiter ;",
    "--percent",
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
    // but for the names of groups, and the reason why there is no number
    let unnamed = |line: &str| {
        let line = line.trim_start();
        match ["sex = ", "age = ", "sex,age = "]
            .iter()
            .find_map(|name| line.strip_prefix(name))
        {
            Some(group) => group.split_once("  ").map_or("", |(_, rest)| rest).into(),
            None => line.to_owned(),
        }
    };
    let mut text = text.lines().map(unnamed).collect::<Vec<_>>().join("\n");
    for word in ["inf", "-inf", "NaN"] {
        text = text.replace(&format!("is {word}, expected"), "");
    }
    // an end of an interval may be infinite, where it is said why
    if text.contains("end of an interval is infinite:") {
        text = text.replace("[-inf", "[").replace("inf]", "]");
    }
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    match words.find(|word| ["NaN", "nan", "inf"].contains(word)) {
        Some(word) => Err(format!(
            "{word} in {}",
            text.chars().take(5000).collect::<String>()
        )),
        None => Ok(()),
    }
}
