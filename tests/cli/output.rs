//! Where results go: pipes that close, full devices, links, and files that are inputs.

#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::{FileTypeExt, symlink},
    path::Path,
    process::{Command, Stdio},
};

use super::{LABELS, ROWS, calibration, complaint, folder};

fn prepared(test: &str) -> std::path::PathBuf {
    let folder = folder(test);
    fs::write(folder.join("p.csv"), ROWS).unwrap();
    fs::write(folder.join("y.csv"), LABELS).unwrap();
    folder
}

fn evaluate(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_calibration"));
    let arguments = ["evaluate", "--predictions", "p.csv", "--labels", "y.csv"];
    command.args(arguments).current_dir(folder);
    command
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = prepared("closed_pipe");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = evaluate(&folder).stdout(writer).output().unwrap();
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_device_is_one_line() {
    let folder = prepared("full_device");
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
    assert!(
        complaint.starts_with("calibration: standard output: "),
        "{complaint}"
    );
}

#[test]
fn a_pipe_is_written_through() {
    let folder = prepared("fifo");
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
    assert!(calibration(&folder, fit).status.success());
    let reader = Command::new("cat")
        .arg(&fifo)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let apply = "apply t.map --predictions p.csv -o out.csv";
    assert!(calibration(&folder, apply).status.success());
    let read = reader.wait_with_output().unwrap().stdout;
    assert_eq!(String::from_utf8(read).unwrap().lines().count(), 4);
    assert!(fs::metadata(&fifo).unwrap().file_type().is_fifo());
}

#[test]
fn a_link_is_followed() {
    let folder = prepared("link");
    fs::write(folder.join("map_of_old"), "").unwrap();
    let link = folder.join("t.map");
    let _ = fs::remove_file(&link);
    symlink("map_of_old", &link).unwrap();
    let fit = "fit --method temperature --predictions p.csv --labels y.csv -o t.map";
    assert!(calibration(&folder, fit).status.success());
    assert!(link.is_symlink());
    assert!(fs::metadata(folder.join("map_of_old")).unwrap().len() > 0);
}

#[test]
fn an_input_is_not_overwritten() {
    let folder = prepared("overwriting");
    for arguments in [
        "fit --method temperature --predictions p.csv --labels y.csv -o ./p.csv",
        "summarise --predictions p.csv --labels y.csv -o y.csv",
    ] {
        let complaint = complaint(&folder, arguments);
        assert!(
            complaint.ends_with("is an input, expected another name"),
            "{complaint}"
        );
    }
    assert_eq!(fs::read_to_string(folder.join("p.csv")).unwrap(), ROWS);
}
