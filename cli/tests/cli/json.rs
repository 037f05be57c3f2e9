//! The JSON of every command: docs/json.md.

use crate::*;

const AFTER: &str = "0.5,0.3,0.2\n0.2,0.6,0.2\n0.3,0.3,0.4\n0.3,0.4,0.3\n";

/// Predictions with names, before and after, and labels of 40 samples; and real numbers of as many.
fn write(folder: &Path) {
    let header = "cat,dog,emu\n";
    let (mut normal, mut targets) = (String::new(), String::new());
    for i in 0..40 {
        let x = f64::from(i);
        normal += &format!("{:?},{:?}\n", (0.7 * x).sin(), 0.5 + 0.1 * (x % 7.0));
        targets += &format!("{:?}\n", (1.3 * x).cos() * 1.5);
    }
    for (name, text) in [
        ("p.csv", format!("{header}{}", ROWS.repeat(10))),
        ("q.csv", format!("{header}{}", AFTER.repeat(10))),
        ("y.csv", LABELS.repeat(10)),
        ("given.csv", format!("sex\n{}", "F\nM\n".repeat(20))),
        ("n.csv", normal),
        ("t.csv", targets),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
}

/// The members that are null, by their names.
fn nulls(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Null => found.push(path.to_owned()),
        Value::Array(elements) => elements.iter().for_each(|v| nulls(v, path, found)),
        Value::Object(members) => {
            for (name, value) in members {
                nulls(value, &format!("{path}.{name}"), found);
            }
        }
        _ => {}
    }
}

/// Runs a command, and checks what all objects have.
fn object(folder: &Path, arguments: &str) -> Value {
    let found = json(folder, arguments);
    let command = arguments.split(' ').next().unwrap();
    assert_eq!(
        (&found["schema"], &found["command"]),
        (&2.into(), &command.into()),
        "{arguments}"
    );
    let mut empty = Vec::new();
    nulls(&found, "", &mut empty);
    assert!(empty.is_empty(), "{arguments}: {empty:?}");
    found
}

const DATA: &str = "--predictions p.csv --labels y.csv";
const REAL: &str = "--predictions n.csv --targets t.csv";

#[test]
fn every_command_has_one_schema() {
    let folder = folder("json");
    write(&folder);
    for (arguments, members) in [
        (
            format!(
                "evaluate {DATA} --tolerance 0.02 --given given.csv --test cox --replicates 19"
            ),
            "n class_count class_names accuracy mean_confidence kernel given omnibus intervals estimates tests",
        ),
        (
            format!("evaluate {DATA} --lens class-wise --test cox --replicates 19"),
            "n class_count class_names classes adjusted",
        ),
        (
            format!("evaluate {DATA} --lens top-label --replicates 19"),
            "kernel omnibus intervals estimates",
        ),
        (
            format!("evaluate --family normal {REAL} --replicates 19"),
            "n dimensions family lens kernel target_kernel omnibus intervals estimates",
        ),
        (
            "compare --before p.csv --after q.csv --labels y.csv --redraws 19".into(),
            "n class_count class_names kernel level changes accuracy ece_top_label omnibus intervals",
        ),
        (
            "compare --family normal --before n.csv --after n.csv --targets t.csv --redraws 19"
                .into(),
            "n dimensions kernel changes omnibus intervals",
        ),
        (
            format!("fit {DATA} -o best.map"),
            "map method kind n class_count log_loss fit choice keeps_order",
        ),
        (
            format!("fit {DATA} --method isotonic -o isotonic.map"),
            "map method kind n class_count log_loss fit choice",
        ),
        (
            format!("fit --family normal {REAL} --method quantile -o quantile.map"),
            "map method kind n dimensions log_loss fit choice keeps_mean",
        ),
        ("show best.map".into(), "kind of fit parameters injective"),
        ("show quantile.map".into(), "kind of number fit parameters"),
        (
            "apply isotonic.map --predictions p.csv -o a.csv".into(),
            "map kind n class_count family numbers output",
        ),
        (
            "apply quantile.map --family normal --predictions n.csv -o b.csv".into(),
            "map kind n dimensions family numbers output",
        ),
        (
            format!("summarise {DATA} --bandwidth 0.5 --block 2 -o part.json"),
            "output n class_count",
        ),
        (
            format!("summarise {DATA} -o plain.json"),
            "output n class_count",
        ),
        (
            "merge part.json".into(),
            "n class_count parts estimates skce",
        ),
        ("merge plain.json".into(), "skce"),
    ] {
        let found = object(&folder, &arguments);
        for member in members.split(' ') {
            assert!(!found[member].is_null(), "{member} of {arguments}");
        }
    }
    let file = fs::read_to_string(folder.join("part.json")).unwrap();
    assert!(serde_json::from_str::<Value>(&file).is_ok());
}

#[test]
fn a_page_as_numbers() {
    let folder = folder("json-report");
    write(&folder);
    let found = object(
        &folder,
        &format!("report {DATA} --after q.csv -o page.html --pictures d"),
    );
    assert_eq!(found["files"][0], "page.html");
    assert_eq!(found["files"].as_array().unwrap().len(), 11);
    let evaluated = object(&folder, &format!("evaluate {DATA}"));
    let before = &found["before"];
    for name in ["omnibus", "intervals"] {
        assert_eq!(before[name], evaluated[name], "{name}");
    }
    for (name, value) in evaluated["estimates"].as_object().unwrap() {
        match name.as_str() {
            "skce_biased" | "skce_unbiased" => assert!(before["estimates"][name].is_null()),
            _ => assert_eq!(&before["estimates"][name], value, "{name}"),
        }
    }
    assert_eq!(before["page"]["top_label"]["event"], "TopLabel");
    assert!(found["after"]["page"]["brier"]["standard_error"].is_number());
    let real = object(&folder, &format!("report --family normal {REAL} -o n.html"));
    let estimates = &real["before"]["estimates"];
    assert!(estimates["crps"].is_number() && real["after"].is_null());
    assert!(real["before"]["page"]["pit"]["counts"].is_array());
}
