//! `calibration report`.

use burn_calibration_cli::{Held, HeldFiles, answer};

use crate::*;

const EVALUATE: &str = "evaluate --predictions p.csv --labels y.csv";

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
    let folder = folder("kernel-agree");
    // 20 wrong labels, from which on there is an interval
    let (p, y) = (ROWS.repeat(10), LABELS.repeat(10));
    write(&folder, &[("p.csv", p), ("y.csv", y)]);
    let report = "report --predictions p.csv --labels y.csv -o page.html";
    done(&folder, report);
    let page = read(&folder, "page.html");
    let found = json(&folder, EVALUATE);
    let bandwidth = number(&found["kernel"]["bandwidth"]);
    let rounded = format!("{bandwidth:.6}");
    let rounded = rounded.trim_end_matches('0');
    let said = page.contains(&format!("with bandwidth {rounded}."));
    assert!(said, "{bandwidth}");
    let skce = format!("{:.2e}", number(&found["intervals"]["skce"]["estimate"]));
    let (mantissa, _) = skce.split_once('e').unwrap();
    let cell = format!("<td>{}\u{a0}×\u{a0}10", mantissa.replace('-', "−"));
    assert!(page.contains(&cell), "{cell}");
}

/// A program keeps the state of a monitor in memory, and has its page from there.
#[test]
fn page_of_a_state_in_memory() {
    let array = |columns, values| Held::Numbers { columns, values };
    let monitor = |state: &str| {
        let files = HeldFiles::new([
            ("p".into(), array(1, vec![0.2; 30])),
            ("y".into(), array(1, [0.0, 1.0].repeat(15))),
            ("state".into(), Held::Text(state.into())),
        ]);
        let options = "monitor --state state --predictions p --positive --labels y";
        answer(options.split(' '), files).unwrap()
    };
    let state = monitor(&monitor("").state).state;
    let files = HeldFiles::new([("state".into(), Held::Text(state))]);
    let page = answer("report --state state -o none".split(' '), files).unwrap();
    assert!(page.text.contains("<h2>Wealth</h2>") && page.text.contains("60 rows, counted"));
    let files = HeldFiles::new([("state".into(), Held::Text(String::new()))]);
    let error = answer("report --state state -o none".split(' '), files).unwrap_err();
    assert_eq!(error, "state: no such file");
}
