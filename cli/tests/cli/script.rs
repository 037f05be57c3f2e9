//! Scripts: files, commands and what these say, as text in `scripts/`. Each line begins with a mark:
//!
//! | line | meaning |
//! | --- | --- |
//! | `# text` | a comment |
//! | `=== title` | a folder of its own, with the files that are written before the first title |
//! | `--- name` | a file, whose lines follow: `\| line`, or `9\| line` for nine of them; `--- name x9` repeats all |
//! | `--- name < path` | a copy of a file that lies beside these tests |
//! | `$ arguments` | the command; `$ cat name` has the text of a file as its output, or the error `no file` |
//! | `? arguments` | the same with `--verbose`, but its output is what stands above the table of aspects |
//! | `& line`, `! line` | all that standard error has: notes, and the error of what ends with exit code 2 |
//! | `> part`, `- part` | a line of the output has this part; no line has it |
//! | `= /pointer value` | with `--json`: a JSON value, `number`, `low..high` or `middle ± tolerance` |
//! | `== arguments` | has the object of the command above, but for names of classes and notes |
//!
//! `[..]` stands for any text, and `*` in a pointer for any of the elements. With `UPDATE_SCRIPTS=1` the lines of standard error are written as they are found.

use crate::*;

const ANY: &str = "[..]";

/// Whether a text is what a pattern says.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, pattern)) = pattern.split_once(ANY) else {
        return text == pattern;
    };
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let (middle, last) = pattern.rsplit_once(ANY).unwrap_or(("", pattern));
    for part in middle.split(ANY) {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

fn has(text: &str, part: &str) -> bool {
    let pattern = format!("{ANY}{part}{ANY}");
    text.lines().any(|line| matches(&pattern, line))
}

fn agrees(found: &Value, expected: &str) -> bool {
    let numbers = |separator: &str| {
        let (one, other) = expected.split_once(separator)?;
        Some((one.parse::<f64>().ok()?, other.parse::<f64>().ok()?))
    };
    let within = |low: f64, high: f64| found.as_f64().is_some_and(|x| (low..=high).contains(&x));
    if let Some((middle, tolerance)) = numbers(" ± ") {
        return within(middle - tolerance, middle + tolerance);
    }
    if let Some((low, high)) = numbers("..") {
        return within(low, high);
    }
    if expected == "number" {
        return found.is_number();
    }
    match serde_json::from_str(expected).expect(expected) {
        Value::Number(number) => {
            let number = number.as_f64().unwrap();
            let tolerance = 1e-9 * number.abs();
            within(number - tolerance, number + tolerance)
        }
        Value::String(pattern) => found.as_str().is_some_and(|text| matches(&pattern, text)),
        value => *found == value,
    }
}

/// What a command says: its output, and the lines of standard error as the script has them.
fn run_command(folder: &Path, mark: &str, arguments: &str) -> (String, Vec<String>) {
    if let Some(name) = arguments.strip_prefix("cat ") {
        return match fs::read_to_string(folder.join(name)) {
            Ok(text) => (text, Vec::new()),
            Err(_) => (String::new(), vec!["! no file".to_owned()]),
        };
    }
    let verbose = if mark == "?" { " --verbose" } else { "" };
    let output = calibration(folder, &format!("{arguments}{verbose}"));
    let [mut text, said] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    if mark == "?" {
        let (answer, _) = text.split_once("\naspects of the omnibus test").unwrap();
        text = answer.to_owned();
    }
    // of an option that is refused, the first line says why, and the others how to get help
    let usage = usize::from(said.starts_with("error: "));
    let lines = said.lines().take(if usage == 1 { 1 } else { usize::MAX });
    let note = |line: &str| {
        let line = line.strip_prefix("calibration: ").unwrap_or(line);
        format!("& {line}")
    };
    let mut lines: Vec<String> = lines.map(note).collect();
    match output.status.code() {
        Some(0) => {}
        Some(2) if text.is_empty() && !lines.is_empty() => {
            lines.last_mut().unwrap().replace_range(..1, "!");
        }
        code => lines.push(format!("! exit code {code:?} with the output {text}")),
    }
    (text, lines)
}

/// Runs a command with what the script expects of it, and returns the lines of standard error.
fn check(folder: &Path, command: &str, expected: &[&str], failed: &mut Vec<String>) -> Vec<String> {
    let (mark, arguments) = command.split_once(' ').unwrap();
    let (text, said) = run_command(folder, mark, arguments);
    let is_said = |line: &&&str| line.starts_with(['&', '!']);
    let patterns: Vec<&str> = expected.iter().filter(is_said).copied().collect();
    let mut all = patterns.iter().zip(&said);
    let agree = patterns.len() == said.len() && all.all(|(pattern, line)| matches(pattern, line));
    if !agree {
        failed.push(format!(
            "{command}\nexpected {patterns:#?}\nfound {said:#?}"
        ));
    }
    let mut object = None;
    let others = expected
        .iter()
        .filter(|line| !is_said(line) && !line.starts_with('#'));
    for line in others {
        let (mark, rest) = line.split_once(' ').unwrap();
        if mark == ">" || mark == "-" {
            if has(&text, rest) != (mark == ">") {
                let start: String = text.chars().take(5000).collect();
                failed.push(format!("{command}\n{line}\nin\n{start}"));
            }
            continue;
        }
        let object = object.get_or_insert_with(|| {
            let output = calibration(folder, &format!("{arguments} --json"));
            serde_json::from_slice::<Value>(&output.stdout).unwrap_or_default()
        });
        let is_right = match mark {
            "=" => {
                let (pointer, value) = rest.split_once(' ').unwrap();
                let (list, rest) = pointer.split_once("/*").unwrap_or((pointer, ""));
                let at = object.pointer(list).unwrap_or(&Value::Null);
                match at.as_array().filter(|_| !rest.is_empty()) {
                    Some(all) => (all.iter()).any(|one| agrees(&one[&rest[1..]], value)),
                    None => agrees(at, value),
                }
            }
            "==" => found(folder, rest) == unnamed(object.clone()),
            _ => panic!("{line}: no line of a script"),
        };
        if !is_right {
            failed.push(format!("{command}\n{line}\nof {object:#}"));
        }
    }
    if agree {
        patterns.into_iter().map(str::to_owned).collect()
    } else {
        said
    }
}

/// The bytes of a file, and how many lines of the script say them.
fn file(header: &str, lines: &[&str]) -> (String, Vec<u8>, usize) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli");
    if let Some((name, path)) = header.split_once(" < ") {
        return (name.to_owned(), fs::read(here.join(path)).unwrap(), 0);
    }
    let (name, times) = header.split_once(" x").unwrap_or((header, "1"));
    let line = |line: &&str| {
        let (times, line) = line.split_once('|')?;
        let times = if times.is_empty() {
            Some(1)
        } else {
            times.parse().ok()
        };
        let line = line.strip_prefix(' ').unwrap_or(line);
        Some(format!("{line}\n").repeat(times?))
    };
    let lines: Vec<String> = lines.iter().map_while(line).collect();
    let text = lines.concat().repeat(times.parse().unwrap());
    (name.to_owned(), text.into_bytes(), lines.len())
}

/// Runs the commands of a script, and tells everything that is not as it says.
pub fn script(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/cli/scripts/{name}.txt"));
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let (mut shared, mut failed, mut written) = (Vec::new(), Vec::new(), String::new());
    let mut place: Option<PathBuf> = None;
    let mut k = 0;
    while k < lines.len() {
        let line = lines[k];
        let mut used = 1;
        written += &format!("{line}\n");
        if let Some(title) = line.strip_prefix("=== ") {
            let own = folder(&format!("{name}-{title}"));
            fs::remove_dir_all(&own).unwrap(); // what an earlier run has left
            fs::create_dir(&own).unwrap();
            for (name, bytes) in &shared {
                fs::write(own.join(name), bytes).unwrap();
            }
            place = Some(own);
        } else if let Some(header) = line.strip_prefix("--- ") {
            let (name, bytes, count) = file(header, &lines[k + 1..]);
            match &place {
                Some(folder) => fs::write(folder.join(name), bytes).unwrap(),
                None => shared.push((name, bytes)),
            }
            used += count;
            let kept = lines[k + 1..k + used].iter();
            written.extend(kept.map(|line| format!("{line}\n")));
        } else if line.starts_with(['$', '?']) {
            let of_it =
                |line: &&&str| line.starts_with(['&', '!', '>', '-', '=', '#']) && !is_head(line);
            let expected: Vec<&str> = lines[k + 1..].iter().take_while(of_it).copied().collect();
            let said = check(place.as_ref().expect(line), line, &expected, &mut failed);
            used += expected.len();
            let others = expected.iter().filter(|line| !line.starts_with(['&', '!']));
            let lines = said.iter().map(String::as_str).chain(others.copied());
            written.extend(lines.map(|line| format!("{line}\n")));
        } else {
            assert!(line.is_empty() || line.starts_with('#'), "{line}: no mark");
        }
        k += used;
    }
    if std::env::var_os("UPDATE_SCRIPTS").is_some() {
        fs::write(path, written).unwrap();
    }
    assert!(failed.is_empty(), "{name}:\n{}", failed.join("\n\n"));
}

/// Whether a line begins a folder or a file.
fn is_head(line: &str) -> bool {
    line.starts_with("=== ") || line.starts_with("--- ")
}
