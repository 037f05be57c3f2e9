//! `calibration report`.

use burn_calibration_cli::{Held, HeldColumn, HeldFiles, HeldValues, answer};

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

/// A program has notes in the answer, names of classes beside labels that are numbers of columns, and columns of variables
/// that are what it says, whatever their names and texts.
#[test]
fn notes_names_and_columns_in_memory() {
    let array = |columns, values| Held::Numbers { columns, values };
    let column = |name: &str, values| HeldColumn {
        name: name.into(),
        values,
    };
    let codes = ["1", "NA", ""].repeat(20);
    let codes = codes.into_iter().map(String::from).collect();
    let columns = vec![
        column("id", HeldValues::Numbers((0..60).map(f64::from).collect())),
        column("a;b, c", HeldValues::Groups(codes)),
    ];
    let files = HeldFiles::new([
        ("p".into(), array(3, [0.5, 0.3, 0.2001].repeat(60))),
        ("y".into(), array(1, [1.0, 2.0, 1.0].repeat(20))),
        ("x".into(), Held::Columns(columns)),
    ]);
    let files = files.with_class_names(["2", "0", "1,1"].map(String::from).to_vec());
    let options = "evaluate --predictions p --labels y --given x --replicates 99";
    let answer = answer(options.split(' '), files).unwrap();
    assert_eq!(
        answer.notes,
        ["p: rows sum to 1 within 1e-4: each row is divided by its sum"]
    );
    let json: Value = serde_json::from_str(&answer.json).unwrap();
    assert_eq!(json["class_names"], serde_json::json!(["2", "0", "1,1"]));
    let given = &json["given"];
    assert_eq!(given["columns"], serde_json::json!(["id", "a;b, c"]));
    let tests = given["tests"].as_array().unwrap().iter();
    let groups = tests.filter(|test| test["column"] == "a;b, c" && test["kind"] == "group");
    assert_eq!(groups.count(), 3);
}
