//! The JSON of every command: docs/json.md.

use crate::*;

const AFTER: &str = "0.5,0.3,0.2\n0.2,0.6,0.2\n0.3,0.3,0.4\n0.3,0.4,0.3\n";

/// Predictions with names, before and after, and labels of 40 samples; and real numbers of as many.
fn write(folder: &Path) {
    let header = "cat,dog,emu\n";
    let x = |i: usize| i as f64;
    let normal = |x: f64| format!("{:?},{:?}", (0.7 * x).sin(), 0.5 + 0.1 * (x % 7.0));
    let target = |x: f64| format!("{:?}", (1.3 * x).cos() * 1.5);
    let files = [
        ("p.csv", format!("{header}{}", ROWS.repeat(10))),
        ("q.csv", format!("{header}{}", AFTER.repeat(10))),
        ("y.csv", LABELS.repeat(10)),
        ("given.csv", format!("sex\n{}", "F\nM\n".repeat(20))),
        ("n.csv", lines(40, |i| normal(x(i)))),
        ("t.csv", lines(40, |i| target(x(i)))),
    ];
    crate::write(folder, &files);
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
    assert_eq!(found["schema"], 2, "{arguments}");
    assert_eq!(found["command"], command, "{arguments}");
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
    let commands = "\
evaluate DATA --tolerance 0.02 --given given.csv --test cox --replicates 19: n class_count class_names accuracy \
mean_confidence kernel given omnibus intervals estimates tests
evaluate DATA --lens class-wise --test cox --replicates 19: n class_count class_names classes adjusted
evaluate DATA --lens top-label --replicates 19: kernel omnibus intervals estimates
evaluate --family normal REAL --replicates 19: n dimensions family lens kernel target_kernel omnibus intervals estimates
compare --before p.csv --after q.csv --labels y.csv --redraws 19: n class_count class_names kernel level changes \
accuracy ece_top_label omnibus intervals
compare --family normal --before n.csv --after n.csv --targets t.csv --redraws 19: n dimensions kernel changes omnibus \
intervals
fit DATA -o best.map: map method kind n class_count log_loss fit choice keeps_order
fit DATA --method isotonic -o isotonic.map: map method kind n class_count log_loss fit choice
fit --family normal REAL --method quantile -o quantile.map: map method kind n dimensions log_loss fit choice keeps_mean
show best.map: kind of fit parameters injective
show quantile.map: kind of number fit parameters
apply isotonic.map --predictions p.csv -o a.csv: map kind n class_count family numbers output
apply quantile.map --family normal --predictions n.csv -o b.csv: map kind n dimensions family numbers output
summarise DATA --bandwidth 0.5 --block 2 -o part.json: output n class_count
summarise DATA -o plain.json: output n class_count
merge part.json: n class_count parts estimates skce
merge plain.json: skce";
    for line in commands.lines() {
        let (arguments, members) = line.split_once(": ").unwrap();
        let arguments = arguments.replace("DATA", DATA).replace("REAL", REAL);
        let found = object(&folder, &arguments);
        for member in members.split(' ') {
            assert!(!found[member].is_null(), "{member} of {arguments}");
        }
    }
    assert!(serde_json::from_str::<Value>(&read(&folder, "part.json")).is_ok());
}

#[test]
fn a_page_as_numbers() {
    let folder = folder("json-report");
    write(&folder);
    let report = format!("report {DATA} --after q.csv -o page.html --pictures d");
    let found = object(&folder, &report);
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
    assert!(found["after"]["means"]["brier"]["standard_error"].is_number());
    let real = object(&folder, &format!("report --family normal {REAL} -o n.html"));
    let estimates = &real["before"]["estimates"];
    assert!(estimates["crps"].is_number() && real["after"].is_null());
    assert!(real["before"]["page"]["pit"]["counts"].is_array());
}
