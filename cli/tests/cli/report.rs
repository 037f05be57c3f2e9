//! `calibration report`.

use burn_calibration_cli::{
    Array, BandwidthChoice, CompareOptions, Data, EvaluateOptions, FamilyName, MonitorOptions,
    NamedPredictions, ReportOptions, Variable, VariableValues, compare, evaluate, monitor,
    monitor_report, report,
};

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

fn array(columns: usize, values: Vec<f64>) -> Array {
    Array { columns, values }
}

fn named(name: &str, family: FamilyName, rows: Array) -> NamedPredictions {
    NamedPredictions {
        name: name.into(),
        family,
        rows,
    }
}

fn classes(rows: Array, labels: Vec<f64>) -> Data {
    let predictions = named("p", FamilyName::Categorical, rows);
    Data::new(predictions, array(1, labels))
}

/// A program keeps the state of a monitor in memory, and has its page from there.
#[test]
fn page_of_a_state_in_memory() {
    let added = |state: &str| {
        let data = Data {
            is_event: true,
            ..classes(array(1, vec![0.2; 30]), [0.0, 1.0].repeat(15))
        };
        monitor(state, data, &MonitorOptions::default()).unwrap()
    };
    let state = added(&added("").state).state;
    let page = monitor_report(&state, Some("Loans")).unwrap().html;
    assert!(page.contains("<h2>Wealth</h2>") && page.contains("60 rows, counted"));
    assert!(page.contains("<title>Loans</title>"));
    let error = monitor_report("", None).unwrap_err();
    begins(&error, "state: no rows");
}

/// A program has notes in the answer, names of classes beside labels that are numbers of columns, and columns of variables
/// that are what it says, whatever their names and texts.
#[test]
fn notes_names_and_columns_in_memory() {
    let column = |name: &str, values| Variable {
        name: name.into(),
        values,
    };
    let codes = ["1", "NA", ""].repeat(20);
    let codes = codes.into_iter().map(String::from).collect();
    let data = Data {
        given: vec![
            column(
                "id",
                VariableValues::Numbers((0..60).map(f64::from).collect()),
            ),
            column("a;b, c", VariableValues::Groups(codes)),
        ],
        class_names: ["2", "0", "1,1"].map(String::from).to_vec(),
        ..classes(
            array(3, [0.5, 0.3, 0.2001].repeat(60)),
            [1.0, 2.0, 1.0].repeat(20),
        )
    };
    let options = EvaluateOptions {
        redraws: 99,
        ..EvaluateOptions::default()
    };
    let answer = evaluate(data, &options, |_, _, _| ()).unwrap();
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

/// Typed options are those of the command: the same JSON to the last digit, and the same page.
#[test]
fn calls_of_programs_answer_as_the_command() {
    let folder = folder("typed-calls");
    let rows = |scale: f64| -> Vec<f64> {
        let row = |i: usize| [((i * 7) % 11) as f64 * 0.3 - 1.0, scale];
        (0..80).flat_map(row).collect()
    };
    let targets: Vec<f64> = (0..80).map(|i| ((i * 5) % 13) as f64 * 0.2 - 1.0).collect();
    let csv = |columns: usize, values: &[f64]| -> String {
        let line = |row: &[f64]| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        values.chunks(columns).map(|row| line(row) + "\n").collect()
    };
    let (before, after) = (rows(0.25), rows(0.5));
    let files = [("p.csv", csv(2, &before)), ("q.csv", csv(2, &after))];
    write(&folder, &files);
    write(&folder, &[("y.csv", csv(1, &targets))]);
    let data = |after_family| Data {
        after: Some(named("q.csv", after_family, array(2, after.clone()))),
        ..Data::new(
            named("p.csv", FamilyName::Normal, array(2, before.clone())),
            array(1, targets.clone()),
        )
    };
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let options = EvaluateOptions {
        level: 0.9,
        redraws: 99,
        bandwidth: BandwidthChoice::Fixed(0.7),
        seed: 5,
        ..EvaluateOptions::default()
    };
    let steps = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let told = steps.clone();
    let progress =
        move |title: &str, step, of| told.lock().unwrap().push((title.to_owned(), step, of));
    let found = evaluate(data(FamilyName::Normal), &options, progress).unwrap();
    let command = "evaluate --family normal --predictions p.csv --targets y.csv --level 0.9 --redraws 99 \
                   --bandwidth 0.7 --seed 5";
    assert_eq!(parsed(&found.json), json(&folder, command));
    let steps = steps.lock().unwrap();
    let titles: Vec<&str> = steps.iter().map(|(title, ..)| title.as_str()).collect();
    assert_eq!(titles[1], "omnibus test");
    assert!(
        steps
            .iter()
            .enumerate()
            .all(|(at, (_, step, of))| at as u64 == *step && *of == 4)
    );
    let two = "--family normal --after-family laplace --targets y.csv";
    let options = CompareOptions {
        redraws: 99,
        ..CompareOptions::default()
    };
    let found = compare(data(FamilyName::Laplace), &options, |_, _, _| ()).unwrap();
    let command = format!("compare --before p.csv --after q.csv --redraws 99 {two}");
    assert_eq!(parsed(&found.json), json(&folder, &command));
    let options = ReportOptions::default();
    let page = report(data(FamilyName::Laplace), &options, |_, _, _| ()).unwrap();
    done(
        &folder,
        &format!("report --predictions p.csv --after q.csv {two} -o page.html"),
    );
    assert_eq!(page.html, read(&folder, "page.html"));
}

/// Weights and an order of classes are those of the command, and several columns of outcomes are one-hot labels.
#[test]
fn weights_and_labels_of_arrays() {
    let folder = folder("typed-weights");
    let weights: Vec<f64> = (0..60).map(|i| 1.0 + f64::from(i % 3)).collect();
    let lines: Vec<String> = weights.iter().map(f64::to_string).collect();
    let files = [("p.csv", ROWS.repeat(15)), ("w.csv", lines.join("\n"))];
    write(&folder, &files);
    write(&folder, &[("y.csv", "0\n1\n2\n1\n".repeat(15))]);
    let rows = ROWS.split(['\n', ',']).filter_map(|cell| cell.parse().ok());
    let rows: Vec<f64> = rows.collect();
    let data = |outcomes| Data {
        weights: Some(weights.clone()),
        are_ordered: true,
        ..Data::new(
            named("p.csv", FamilyName::Categorical, array(3, rows.repeat(15))),
            outcomes,
        )
    };
    let options = EvaluateOptions {
        redraws: 99,
        ..EvaluateOptions::default()
    };
    let answer = |outcomes| {
        let answer = evaluate(data(outcomes), &options, |_, _, _| ()).unwrap();
        serde_json::from_str::<Value>(&answer.json).unwrap()
    };
    let found = answer(array(1, [0.0, 1.0, 2.0, 1.0].repeat(15)));
    let command = format!("{EVALUATE} --weights w.csv --ordered --redraws 99");
    assert_eq!(found, json(&folder, &command));
    let of_one = [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.0, 1.0, 0.0],
    ];
    assert_eq!(found, answer(array(3, of_one.concat().repeat(15))));
    let wrong = data(array(1, [0.0, 1.0, 3.0, 1.0].repeat(15)));
    let error = evaluate(wrong, &options, |_, _, _| ()).unwrap_err();
    begins(&error, "y_true: row 2: the label is 3");
}

/// Numbers of typed options that the command would refuse.
#[test]
fn numbers_of_options_are_checked() {
    let usual = EvaluateOptions::default;
    let cases = [
        (
            EvaluateOptions {
                level: 1.0,
                ..usual()
            },
            "the level is 1",
        ),
        (
            EvaluateOptions {
                redraws: 0,
                ..usual()
            },
            "0 redraws",
        ),
        (EvaluateOptions { bins: 0, ..usual() }, "0 bins"),
        (
            EvaluateOptions {
                tolerance: Some(1.0),
                ..usual()
            },
            "the tolerance is 1",
        ),
        (
            EvaluateOptions {
                lp_error: Some(0.5),
                ..usual()
            },
            "the order of the Lp error is 0.5",
        ),
        (
            EvaluateOptions {
                bandwidth: BandwidthChoice::Fixed(-1.0),
                ..usual()
            },
            "the bandwidth is Fixed(-1.0)",
        ),
        (
            EvaluateOptions {
                tests: vec!["no".into()],
                ..usual()
            },
            "--test no",
        ),
    ];
    for (options, reason) in cases {
        let data = classes(array(2, [0.9, 0.1].repeat(20)), [0.0, 1.0].repeat(10));
        begins(&evaluate(data, &options, |_, _, _| ()).unwrap_err(), reason);
    }
}
