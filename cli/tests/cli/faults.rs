//! What people gave it that broke it: each is an error of one line, or works.

use std::{process::Stdio, time::Duration};

use crate::*;

/// The arguments that name logits.
fn logits(file: &str) -> String {
    format!("--logits --predictions {file} --labels y.csv")
}

/// Lines of numbers, row after row.
fn write(folder: &Path, name: &str, columns: usize, numbers: impl Iterator<Item = f64>) {
    let numbers: Vec<String> = numbers.map(|x| format!("{x:?}")).collect();
    let mut rows = numbers.chunks(columns).map(|row| row.join(","));
    let text = lines(rows.len(), |_| rows.next().unwrap());
    fs::write(folder.join(name), text).unwrap();
}

/// Numbers between -1 and 1 that look random.
fn noise(count: usize) -> impl Iterator<Item = f64> {
    (1..=count).map(|i| (i as f64 * 12.9898).sin() * 43_758.545_3 % 1.0)
}

/// Forty normal predictions, targets, logits of three classes and labels.
fn data(folder: &Path) {
    let normal = noise(40).flat_map(|mean| [mean, 1.0]);
    write(folder, "normal.csv", 2, normal);
    write(folder, "t.csv", 1, noise(80).skip(40));
    write(folder, "z.csv", 3, noise(120).map(|z| 3.0 * z));
    write(folder, "y.csv", 1, (0..40).map(|i| f64::from(i * 7 % 3)));
}

/// Standard output has no number that is none, and JSON nulls only where there is nothing to tell.
fn has_numbers(folder: &Path, arguments: &str) {
    let output = calibration(folder, arguments);
    let [text, complaint] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    match output.status.code() {
        Some(0) => (),
        Some(2) if complaint.starts_with("error: ") => return, // of an option
        Some(2) => return assert_eq!(complaint.lines().count(), 1, "{complaint}"),
        other => panic!("{arguments}: exit code {other:?}: {complaint}"),
    }
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    let found = words.find(|word| matches!(word.to_lowercase().as_str(), "nan" | "inf"));
    assert!(found.is_none(), "{arguments}: {text}");
}

#[test]
fn any_finite_number_is_taken_or_refused() {
    let folder = folder("finite");
    data(&folder);
    for (k, target) in [1e155, -1.7e308, 1e-310].into_iter().enumerate() {
        let targets = noise(80).skip(40).enumerate();
        let targets = targets.map(|(i, y)| if i == 3 { target } else { y });
        write(&folder, &format!("t{k}.csv"), 1, targets);
        let files = format!("--family normal --predictions normal.csv --targets t{k}.csv");
        done(&folder, &format!("report {files} -o page.html"));
        lacks(&read(&folder, "page.html"), &["NaN", "undefined"]);
        has_numbers(&folder, &format!("evaluate {files}"));
    }
    write(&folder, "far.csv", 1, noise(80).skip(40).map(|y| 1e155 * y));
    let far = "evaluate --family normal --predictions normal.csv --targets far.csv";
    let far = complaint(&folder, far);
    begins(&far, "the length scale of the target kernel is");
    let files = "--family normal --predictions normal.csv --targets t.csv";
    for option in [
        "--length-scale 1e-160",
        "--bandwidth 5e-324",
        "--bandwidth 1e-100 --length-scale 1e-100",
        "--bandwidth 1e100 --length-scale 1e100 --target-kernel laplacian",
    ] {
        has_numbers(&folder, &format!("evaluate {files} {option}"));
    }
    let too_small = outcome(&folder, &format!("evaluate {files} --length-scale 1e-160"));
    contains(&too_small.1, "from 1e-100 to 1e100");
}

#[test]
fn fits_on_logits_of_any_size() {
    let folder = folder("sizes");
    data(&folder);
    for size in ["1e307", "1e-300", "1e90", "1e-90"] {
        let factor: f64 = size.parse().unwrap();
        write(&folder, "scaled.csv", 3, noise(120).map(|z| factor * z));
        let fit = format!("fit {} --method temperature -o t.map", logits("scaled.csv"));
        let (code, complaint) = outcome(&folder, &fit);
        match size {
            "1e307" => contains(&complaint, "row 0, class 0: the logit is "),
            "1e-300" => contains(&complaint, "the largest difference"),
            // labels of chance gain less by such a temperature than its prior costs: the lowest sum is near 1
            "1e-90" => {
                assert_eq!(code, 0, "{complaint}");
                let shown = json(&folder, "show t.map");
                let t = number(&shown["parameters"][0]["values"][0]);
                assert!((t - 1.0).abs() < 1e-9, "{t} for {size}");
            }
            _ => {
                assert_eq!(code, 0, "{complaint}");
                let shown = json(&folder, "show t.map");
                let t = number(&shown["parameters"][0]["values"][0]);
                assert!((1e-3..1e12).contains(&(t / factor)), "{t} for {size}");
            }
        }
    }
}

/// Maps of logits as large as can be: numbers, or an error.
#[test]
fn maps_of_logits_of_any_size() {
    let folder = folder("huge");
    data(&folder);
    let huge = noise(120).map(|z| 1e308 * z.signum());
    write(&folder, "huge.csv", 3, huge);
    let methods = "temperature vector matrix platt beta dirichlet isotonic structured-vector";
    for method in methods.split(' ') {
        let fit = format!("fit {} --method {method} -o {method}.map", logits("z.csv"));
        done(&folder, &fit);
        for option in ["", "--to-probabilities"] {
            let file = logits("huge.csv").replace(" --labels y.csv", "");
            let arguments = format!("apply {method}.map {file} {option} -o out.csv");
            let _ = fs::remove_file(folder.join("out.csv"));
            let (code, complaint) = outcome(&folder, &arguments);
            if code == 0 {
                lacks(&read(&folder, "out.csv"), &["NaN", "inf"]);
            } else {
                let found = (code, complaint.lines().count());
                assert_eq!(found, (2, 1), "{complaint}");
                assert!(!folder.join("out.csv").exists());
            }
        }
    }
}

/// Every method, fitted to logits of which one or all are huge: numbers, or an error that names a row.
#[test]
fn fits_of_every_method_to_huge_logits() {
    let folder = folder("huge_fits");
    data(&folder);
    let methods = "temperature ensemble-temperature diagonal order-preserving order-invariant vector matrix \
                   dirichlet structured-vector structured-matrix platt beta quadratic isotonic histogram spline \
                   venn-abers";
    let one = |size: f64| {
        noise(120)
            .enumerate()
            .map(move |(i, z)| if i == 31 { size } else { z })
    };
    write(&folder, "one.csv", 3, one(1e40));
    write(&folder, "two.csv", 2, one(-1e40).take(80));
    write(&folder, "all.csv", 2, noise(80).map(|z| 1e39 * z));
    write(&folder, "most.csv", 3, one(1e300));
    let binary = (0..40).map(|i| f64::from(u8::from(i % 3 == 1)));
    write(&folder, "two_y.csv", 1, binary);
    for method in methods.split_whitespace() {
        for file in ["one", "two", "all", "most"] {
            let labels = if ["two", "all"].contains(&file) {
                "two_y.csv"
            } else {
                "y.csv"
            };
            let rows = format!("--logits --predictions {file}.csv");
            let fit = format!("fit {rows} --labels {labels} --method {method} -o huge.map");
            let (code, complaint) = outcome(&folder, &fit);
            if file == "most" {
                let expected =
                    "row 10, class 1: the logit is 1e300, expected a number of at most 1e100";
                contains(&complaint, expected);
                continue;
            }
            assert_eq!(code, 0, "{fit}: {complaint}");
            done(
                &folder,
                &format!("apply huge.map {rows} --to-probabilities -o out.csv"),
            );
            lacks(&read(&folder, "out.csv"), &["NaN", "inf"]);
        }
    }
}

#[test]
fn a_flipped_bit_is_an_error() {
    let folder = folder("bits");
    data(&folder);
    for (command, load) in [("fit --method vector", "show"), ("summarise", "merge")] {
        done(&folder, &format!("{command} {} -o saved", logits("z.csv")));
        let saved = fs::read(folder.join("saved")).unwrap();
        done(&folder, &format!("{load} saved"));
        for k in 0..60 {
            let (byte, bit) = (k * saved.len() / 60, k % 8);
            let mut flipped = saved.clone();
            flipped[byte] ^= 1 << bit;
            fs::write(folder.join("flipped"), flipped).unwrap();
            let complaint = complaint(&folder, &format!("{load} flipped"));
            begins(&complaint, "flipped: not a saved ");
        }
        let number = saved.iter().rposition(|byte| byte.is_ascii_digit());
        if load == "merge" {
            // a digit of the payload
            let mut changed = saved.clone();
            let mut before = changed[..number.unwrap() - 60].iter();
            let digit = before.rposition(|byte| (b'1'..b'9').contains(byte));
            changed[digit.unwrap()] += 1;
            fs::write(folder.join("flipped"), changed).unwrap();
            complaint(&folder, "merge flipped");
        }
    }
}

/// An `apply` that is ended while it writes leaves no part of its output under the name of it.
#[test]
#[cfg(target_os = "linux")]
fn nothing_is_left_of_what_was_ended() {
    let folder = folder("signals");
    data(&folder);
    let fit = format!("fit {} --method temperature -o t.map", logits("z.csv"));
    done(&folder, &fit);
    write(&folder, "large.csv", 3, noise(600_000));
    let file = logits("large.csv").replace(" --labels y.csv", "");
    let mut ended = 0;
    let signals = ["INT", "TERM", "KILL", "TERM", "INT"];
    for (signal, milliseconds) in signals.into_iter().zip([10, 100, 200, 400, 800]) {
        let mut apply = command(&folder, &format!("apply t.map {file} -o out.csv"));
        let mut child = apply.stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        let mut kill = Command::new("kill");
        kill.args([format!("-{signal}"), child.id().to_string()]);
        let _ = kill.stderr(Stdio::null()).status();
        ended += usize::from(!child.wait().unwrap().success());
    }
    assert!(ended > 0);
    if let Ok(whole) = fs::read_to_string(folder.join("out.csv")) {
        assert!(whole.lines().count() >= 200_000);
    }
}

/// Targets drawn at scales of 1e308 overflow, and so do coordinates: a reason, and no panic.
#[test]
fn scales_that_overflow() {
    let folder = folder("scales");
    let rows = lines(12, |k| format!("0.5,{k}5e306"));
    fs::write(folder.join("p.csv"), rows + "0.5,1.7e308\n").unwrap();
    fs::write(folder.join("y.csv"), "0.5\n".repeat(13)).unwrap();
    for family in ["normal", "laplace"] {
        for option in ["", " --bandwidth median-with-diagonal --distance l1"] {
            let arguments =
                format!("evaluate --family {family} --predictions p.csv --targets y.csv{option}");
            let output = calibration(&folder, &arguments);
            let said = [output.stdout, output.stderr].concat();
            let said = String::from_utf8_lossy(&said);
            assert!(matches!(output.status.code(), Some(0 | 2)), "{said}");
            assert!(!said.contains("panicked"), "{said}");
        }
    }
}

/// A line break in an argument is not one in the note about it.
#[test]
fn a_note_is_one_line() {
    let folder = folder("a-note-is-one-line");
    write(&folder, "p.csv", 2, [0.5, 0.5, 0.25, 0.75].into_iter());
    write(&folder, "y.csv", 1, [0.0, 1.0].into_iter());
    let mut evaluate = command(&folder, "evaluate --predictions p.csv --labels y.csv");
    let output = evaluate
        .args(["--ignore-label", "7\n\n8"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("0 of 2 rows have the label 7  8 and are left out"),
        "{said}"
    );
    assert!(
        said.lines().all(|line| line.starts_with("calibration: ")),
        "{said}"
    );
}
