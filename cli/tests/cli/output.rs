//! Where results go: pipes that close, full devices, links, and files that are inputs.

#![cfg(unix)]

use std::{
    os::unix::fs::{FileTypeExt, symlink},
    process::Stdio,
};

use crate::*;

fn evaluate(folder: &Path) -> Command {
    command(folder, "evaluate --predictions p.csv --labels y.csv")
}

/// Colours are for terminals, and for those who force them.
#[test]
fn what_is_piped_has_no_colours() {
    let folder = example("colours");
    let escapes = |command: &mut Command| {
        for name in ["NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR"] {
            command.env_remove(name);
        }
        let piped = command.output().unwrap();
        let forced = command.env("CLICOLOR_FORCE", "1").output().unwrap();
        assert!(piped.status.success() && forced.status.success());
        [piped, forced].map(|output| output.stdout.contains(&0x1b))
    };
    assert_eq!(escapes(&mut evaluate(&folder)), [false, true]);
    assert_eq!(escapes(&mut command(&folder, "--help")), [false, true]);
    assert_eq!(escapes(evaluate(&folder).arg("--json")), [false, false]);
}

#[test]
fn shells_and_the_manual() {
    let folder = example("shells");
    for (shell, expected) in [
        ("bash", "_calibration()"),
        ("zsh", "#compdef calibration"),
        ("fish", "complete -c calibration"),
    ] {
        let script = printed(&folder, &format!("completions {shell}"));
        contains(&script, expected);
        contains(&script, "soft-labels");
    }
    contains(&printed(&folder, "evaluate --help"), "JSON Lines, Parquet");
    assert!(printed(&folder, "man").contains(".TH calibration 1"));
    let page = printed(&folder, "man evaluate");
    contains(&page.replace('\\', ""), ".TH calibration-evaluate 1");
    assert!(complaint(&folder, "man nothing").contains("no subcommand"));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = example("closed_pipe");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = evaluate(&folder).stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_is_one_line() {
    let folder = example("full_device");
    let full = fs::OpenOptions::new().write(true).open("/dev/full");
    let output = evaluate(&folder).stdout(full.unwrap()).output().unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    let found = (output.status.code(), complaint.lines().count());
    assert_eq!(found, (Some(1), 1));
    begins(&complaint, "calibration: standard output: ");
}

/// Notes, errors, the reasons of a gate, and what is said beside a file on standard output.
#[test]
#[cfg(target_os = "linux")]
fn exit_codes_do_not_depend_on_standard_error() {
    let folder = example("full_standard_error");
    let evaluate = "evaluate --predictions p.csv --labels y.csv";
    for (arguments, code) in [
        ("evaluate --predictions missing.csv --labels y.csv", 2),
        (evaluate, 0),
        (&format!("{evaluate} --fail-if-rejected --level 0.0001"), 3),
        (
            "fit --method temperature --predictions p.csv --labels y.csv -o -",
            0,
        ),
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full");
        let status = command(&folder, arguments)
            .stderr(full.unwrap())
            .stdout(Stdio::null())
            .status();
        assert_eq!(status.unwrap().code(), Some(code), "{arguments}");
    }
}

#[test]
fn a_pipe_is_written_through() {
    let folder = example("fifo");
    let fifo = folder.join("out.csv");
    let _ = fs::remove_file(&fifo);
    let made = Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    let fit = "fit --method temperature --predictions p.csv --labels y.csv -o t.map";
    done(&folder, fit);
    let mut cat = Command::new("cat");
    let reader = cat.arg(&fifo).stdout(Stdio::piped()).spawn().unwrap();
    done(&folder, "apply t.map --predictions p.csv -o out.csv");
    let read = reader.wait_with_output().unwrap().stdout;
    assert_eq!(String::from_utf8(read).unwrap().lines().count(), 4);
    assert!(fs::metadata(&fifo).unwrap().file_type().is_fifo());
}

#[test]
fn a_link_is_followed() {
    let folder = example("link");
    fs::write(folder.join("map_of_old"), "").unwrap();
    let link = folder.join("t.map");
    let _ = fs::remove_file(&link);
    symlink("map_of_old", &link).unwrap();
    let fit = "fit --method temperature --predictions p.csv --labels y.csv -o t.map";
    done(&folder, fit);
    assert!(link.is_symlink());
    assert!(fs::metadata(folder.join("map_of_old")).unwrap().len() > 0);
}

#[test]
fn an_input_is_not_overwritten() {
    let folder = example("overwriting");
    for arguments in [
        "fit --method temperature --predictions p.csv --labels y.csv -o ./p.csv",
        "summarise --predictions p.csv --labels y.csv -o y.csv",
    ] {
        let expected = "the output is also an input, expected another name";
        contains(&complaint(&folder, arguments), expected);
    }
    assert_eq!(read(&folder, "p.csv"), ROWS);
}

/// A thousand predictions of three classes, and labels.
fn many(test: &str) -> PathBuf {
    let row = |row: usize| {
        let [a, b, c] = [7, 11, 13].map(|prime| 1.0 + (row * prime % 101) as f64);
        let total = a + b + c;
        format!("{},{},{}", a / total, b / total, c / total)
    };
    let (rows, labels) = (lines(1000, row), lines(1000, |i| (i * 17 % 3).to_string()));
    let folder = folder(test);
    write(&folder, &[("p.csv", rows), ("y.csv", labels)]);
    folder
}

/// The same data and seed give the same bytes: ids of parameters are not drawn anew.
#[test]
fn two_fits_are_the_same_bytes() {
    let folder = many("same bytes");
    for method in ["temperature", "vector", "isotonic"] {
        let [first, second] = ["first.map", "second.map"].map(|map| {
            let fit = format!("fit --predictions p.csv --labels y.csv --method {method} -o {map}");
            printed(&folder, &fit);
            fs::read(folder.join(map)).unwrap()
        });
        assert!(first == second, "{method}");
    }
}

/// Sums go over blocks whose sizes do not depend on the number of threads.
#[test]
fn results_are_the_same_bytes_for_any_number_of_threads() {
    let folder = many("threads");
    let with = |threads: &str| {
        let tests =
            "--redraws 19 --test skce_unbiased_asymptotic --test skce_block_asymptotic --test cox";
        let mut evaluate = evaluate(&folder);
        let evaluate = evaluate.args(tests.split(' ')).arg("--json");
        let output = evaluate.env("RAYON_NUM_THREADS", threads).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        String::from_utf8(output.stdout).unwrap()
    };
    let one = with("1");
    for threads in ["2", "3", "7"] {
        assert_eq!(with(threads), one, "{threads} threads");
    }
}

/// What `apply` writes to standard output is read from standard input, with its other columns.
#[test]
fn a_pipe_of_two_commands() {
    let folder = folder("pipe of two");
    let rows = lines(60, |i| format!("r{i},0.9,0.1,{}", u8::from(i % 3 == 0)));
    write(&folder, &[("p.csv", format!("id,a,b,y\n{rows}"))]);
    printed(
        &folder,
        "fit --method shift --predictions p.csv --label-column y -o s.map",
    );
    let apply = "apply s.map --predictions p.csv --label-column y";
    let written = printed(&folder, apply);
    begins(&written, "id,a,b,y\nr0,0.");
    let mut evaluate = command(&folder, "evaluate --predictions - --label-column y --json");
    let evaluate = evaluate.stdin(std::process::Stdio::piped());
    let mut child = evaluate
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(written.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    // a shift brings the mean probability, 0.9, nearer to the frequency
    let confidence = number(&found["mean_confidence"]);
    assert!((confidence - 2.0 / 3.0).abs() < 0.1, "{found}");
}
