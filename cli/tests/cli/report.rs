//! `calibration report`.

use crate::*;

const EVALUATE: &str = "evaluate --predictions p.csv --labels y.csv";

fn written(test: &str) -> std::path::PathBuf {
    let folder = folder(test);
    fs::write(folder.join("p.csv"), ROWS.repeat(5)).unwrap();
    fs::write(folder.join("y.csv"), LABELS.repeat(5)).unwrap();
    folder
}

/// A page to standard output is the page and nothing else, and no file has the name `-`.
#[test]
fn a_page_to_standard_output() {
    let folder = example("report-stdout");
    let command = "report --predictions p.csv --labels y.csv -o";
    let written = calibration(&folder, &format!("{command} -"));
    assert!(written.status.success());
    calibration(&folder, &format!("{command} page.html"));
    let page = fs::read(folder.join("page.html")).unwrap();
    assert!(page == written.stdout && !folder.join("-").exists());
}

/// `evaluate` and `report` print the same SKCE of the same file.
#[test]
fn evaluate_and_report_agree() {
    let folder = written("kernel-agree");
    // 20 wrong labels, from which on there is an interval
    fs::write(folder.join("p.csv"), ROWS.repeat(10)).unwrap();
    fs::write(folder.join("y.csv"), LABELS.repeat(10)).unwrap();
    let report = "report --predictions p.csv --labels y.csv -o page.html";
    done(&folder, report);
    let page = fs::read_to_string(folder.join("page.html")).unwrap();
    let found = json(&folder, EVALUATE);
    let bandwidth = number(&found["kernel"]["bandwidth"]);
    let rounded = format!("{bandwidth:.6}");
    let rounded = rounded.trim_end_matches('0');
    assert!(
        page.contains(&format!("with bandwidth {rounded}.")),
        "{bandwidth}"
    );
    let skce = format!("{:.2e}", number(&found["intervals"]["skce"]["estimate"]));
    let (mantissa, _) = skce.split_once('e').unwrap();
    let cell = format!("<td>{}\u{a0}×\u{a0}10", mantissa.replace('-', "−"));
    assert!(page.contains(&cell), "{cell}");
}
