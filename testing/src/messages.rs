//! Messages that tests expect, one a line in the suite's `messages.txt` below the name of the test, in the order in which it gets
//! them. With `UPDATE_MESSAGES=1` the lines of the tests that run are written as they are found.

use std::{
    collections::BTreeMap,
    fs,
    path::PathBuf,
    sync::{LazyLock, Mutex},
    thread,
};

/// Per test its lines, and how many of them were compared.
type Lines = BTreeMap<String, (Vec<String>, usize)>;

static LINES: LazyLock<Mutex<Lines>> = LazyLock::new(|| Mutex::new(read()));

/// The file of the suite that runs, by the name of its program, `NAME-HASH`, in the folder of its package.
fn path() -> PathBuf {
    let program = std::env::current_exe().expect("the program of a test");
    let name = program.file_stem().and_then(|name| name.to_str());
    let (suite, _) = name
        .and_then(|name| name.rsplit_once('-'))
        .expect("a name with a hash");
    // the package of the library's tests is the folder `tests` itself
    let tests = PathBuf::from("tests");
    let folder = if tests.is_dir() {
        tests
    } else {
        PathBuf::new()
    };
    folder.join(suite).join("messages.txt")
}

fn read() -> Lines {
    let text = fs::read_to_string(path()).unwrap_or_default();
    let section = |section: &str| {
        let mut lines = section.lines().map(str::to_owned);
        Some((
            lines.next()?,
            (lines.filter(|line| !line.is_empty()).collect(), 0),
        ))
    };
    text.split("=== ").filter_map(section).collect()
}

/// The message is the next line of the running test.
#[track_caller]
pub fn says(message: impl ToString) {
    let (message, test) = (message.to_string(), thread::current());
    let test = test.name().expect("libtest names threads by their tests");
    let mut all = LINES
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let (lines, at) = all.entry(test.to_owned()).or_default();
    *at += 1;
    let expected = lines.get(*at - 1).cloned();
    if expected.as_ref() == Some(&message) {
        return;
    }
    if std::env::var_os("UPDATE_MESSAGES").is_none() {
        let expected = expected.unwrap_or_default();
        panic!("line {at} of {test} in messages.txt: expected\n{expected}\nfound\n{message}");
    }
    lines.truncate(*at - 1);
    lines.push(message);
    let section = |(test, (lines, _)): (&String, &(Vec<String>, usize))| {
        format!("=== {test}\n{}\n", lines.join("\n"))
    };
    let sections: Vec<String> = all.iter().map(section).collect();
    fs::write(path(), sections.join("\n")).unwrap();
}
