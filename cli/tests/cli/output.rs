//! Where results go: pipes that close, full devices, links, and files that are inputs.

#![cfg(unix)]

use std::{
    os::unix::fs::{FileTypeExt, symlink},
    process::Stdio,
};

use crate::*;

fn evaluate(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_calibration"));
    let arguments = ["evaluate", "--predictions", "p.csv", "--labels", "y.csv"];
    command.args(arguments).current_dir(folder);
    command
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
    let help = &mut Command::new(env!("CARGO_BIN_EXE_calibration"));
    assert_eq!(escapes(help.arg("--help")), [false, true]);
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
        assert!(
            script.contains(expected) && script.contains("soft-labels"),
            "{shell}"
        );
    }
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
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = evaluate(&folder).stdout(full).output().unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        (output.status.code(), complaint.lines().count()),
        (Some(1), 1)
    );
    begins(&complaint, "calibration: standard output: ");
}

#[test]
fn a_pipe_is_written_through() {
    let folder = example("fifo");
    let fifo = folder.join("out.csv");
    let _ = fs::remove_file(&fifo);
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    let fit = "fit --method temperature --predictions p.csv --labels y.csv -o t.map";
    done(&folder, fit);
    let reader = Command::new("cat")
        .arg(&fifo)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let apply = "apply t.map --predictions p.csv -o out.csv";
    done(&folder, apply);
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
        contains(
            &complaint(&folder, arguments),
            "the output is also an input, expected another name",
        );
    }
    assert_eq!(fs::read_to_string(folder.join("p.csv")).unwrap(), ROWS);
}

/// A thousand predictions of three classes, and labels.
fn many() -> (String, String) {
    let row = |row: usize| {
        let [a, b, c] = [7, 11, 13].map(|prime| 1.0 + (row * prime % 101) as f64);
        let total = a + b + c;
        (
            format!("{},{},{}\n", a / total, b / total, c / total),
            format!("{}\n", row * 17 % 3),
        )
    };
    (0..1000).map(row).unzip()
}

/// The same data and seed give the same bytes: ids of parameters are not drawn anew.
#[test]
fn two_fits_are_the_same_bytes() {
    let folder = folder("same bytes");
    let (predictions, labels) = many();
    write(&folder, &[("p.csv", &predictions), ("y.csv", &labels)]);
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
    let folder = folder("threads");
    let (predictions, labels) = many();
    write(&folder, &[("p.csv", &predictions), ("y.csv", &labels)]);
    let with = |threads: &str| {
        let tests = "--replicates 19 --test skce_unbiased_asymptotic --test skce_block_asymptotic --test cox";
        let arguments = format!("evaluate --predictions p.csv --labels y.csv --json {tests}");
        let output = Command::new(env!("CARGO_BIN_EXE_calibration"))
            .args(arguments.split(' '))
            .current_dir(&folder)
            .env("RAYON_NUM_THREADS", threads)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        String::from_utf8(output.stdout).unwrap()
    };
    let one = with("1");
    for threads in ["2", "3", "7"] {
        assert_eq!(with(threads), one, "{threads} threads");
    }
}
