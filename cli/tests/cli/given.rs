//! `calibration evaluate --given`: groups and numbers of a file.

use std::{collections::HashMap, fmt::Write};

use crate::*;

/// Even odds, and half of the labels: those of the women. The age says nothing.
fn write_example(folder: &Path) {
    let (mut p, mut y, mut given) = (String::new(), String::new(), String::from("sex,age\n"));
    for i in 0..120 {
        let woman = i % 2 == 0;
        writeln!(p, "0.5,0.5").unwrap();
        writeln!(y, "{}", u8::from(woman)).unwrap();
        let sex = if woman { "Female" } else { "Male" };
        writeln!(given, "{sex},{}", 20 + i * 37 % 60).unwrap();
    }
    for (name, text) in [("p.csv", p), ("y.csv", y), ("given.csv", given)] {
        fs::write(folder.join(name), text).unwrap();
    }
}

const EVALUATE: &str = "evaluate --predictions p.csv --labels y.csv";

/// The sentence first, with the groups; the same in JSON.
#[test]
fn says_for_whom() {
    let folder = folder("given");
    write_example(&folder);
    let text = printed(&folder, &format!("{EVALUATE} --given given.csv"));
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[4].starts_with("The model is not calibrated given sex, age: p ≤ 0.0")
            && lines[4].ends_with("adjusted for 8 tests."),
        "{text}"
    );
    let [women, men] = [lines[5], lines[6]].map(str::trim);
    assert!(
        women.starts_with("sex = Female: overconfident by 50.0 points"),
        "{text}"
    );
    assert!(
        men.starts_with("sex = Male: underconfident by 50.0 points"),
        "{text}"
    );
    contains(&text, "There is no evidence against calibration: p");

    let found = json(&folder, &format!("{EVALUATE} --given given.csv"));
    let given = &found["given"];
    assert!(given["p_value"].as_f64().unwrap() < 0.02);
    assert_eq!(given["columns"], serde_json::json!(["sex", "age"]));
    let tests = given["tests"].as_array().unwrap();
    let names: Vec<_> = tests
        .iter()
        .map(|test| test["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "sex = Female",
            "sex = Male",
            "age in 20..=34",
            "age in 35..=49",
            "age in 50..=64",
            "age in 65..=79",
            "age, by a kernel",
            "all columns, by a kernel",
        ]
    );
    for (k, test) in tests.iter().enumerate() {
        let is_wrong = k < 2 || k == 7;
        let adjusted = test["adjusted_p_value"].as_f64().unwrap();
        assert_eq!(adjusted <= 0.05, is_wrong, "{test}");
        let samples = [60, 60, 30, 30, 30, 30, 120, 120][k];
        assert_eq!(test["samples"], samples);
        assert_eq!(test["finding"].is_null(), !is_wrong);
    }
    let many: String = (0..120).map(|k| format!("id{k}\n")).collect();
    fs::write(folder.join("many.csv"), format!("id\n{many}")).unwrap();
    assert_eq!(
        complaint(&folder, &format!("{EVALUATE} --given many.csv")),
        "many.csv: column id: 120 groups, expected at most 100, or numbers"
    );
    // nothing else changes
    let without = json(&folder, EVALUATE);
    assert!(without.get("given").is_none());
    assert_eq!(without["estimates"], found["estimates"]);
}

/// Every lens and family takes the same road.
#[test]
fn lenses_and_families() {
    let folder = folder("given-kinds");
    write_example(&folder);
    let found = json(
        &folder,
        &format!("{EVALUATE} --lens class-wise --given given.csv"),
    );
    for class in found["classes"].as_array().unwrap() {
        assert!(class["given"]["p_value"].as_f64().unwrap() < 0.02);
    }
    let (mut p, mut y) = (String::new(), String::new());
    for i in 0..120 {
        writeln!(p, "0,1").unwrap();
        // about normal in all, too high for women
        let u = (f64::from(i * 29 % 120) + 0.5) / 120.0;
        let z = (u / (1.0 - u)).ln() / 1.7;
        writeln!(y, "{}", if i % 2 == 0 { z.abs() } else { -z.abs() }).unwrap();
    }
    fs::write(folder.join("n.csv"), p).unwrap();
    fs::write(folder.join("t.csv"), y).unwrap();
    let normal = "evaluate --family normal --predictions n.csv --targets t.csv --given given.csv";
    let found = json(&folder, normal);
    let tests = found["given"]["tests"].as_array().unwrap();
    let findings = [&tests[0], &tests[1]].map(|test| test["finding"].as_str().unwrap());
    begins(findings[0], "targets are too high: ");
    begins(findings[1], "targets are too low: ");
    assert!(tests[7]["adjusted_p_value"].as_f64().unwrap() < 0.05);
    assert!(tests[6]["adjusted_p_value"].as_f64().unwrap() > 0.05);
}

/// A table of frequencies by education of adult, its columns from the file as it is: not calibrated given
/// marital status, which it does not know.
#[test]
#[ignore = "needs the data folder, BURN_CALIBRATION_DATA"]
fn adult_given_marital_status() {
    let folder = folder("given-adult");
    let file = fs::File::open(data_folder().join("tabular/adult.csv.gz")).unwrap();
    let mut reader = csv::Reader::from_reader(flate2::read::MultiGzDecoder::new(file));
    let header = reader.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|other| other == name).unwrap();
    let [education, status, sex, age, income] =
        ["education_num", "marital_status", "sex", "age", "income"].map(column);
    let records: Vec<csv::StringRecord> = reader.records().map(csv::Result::unwrap).collect();
    let high = |record: &csv::StringRecord| record[income].starts_with('>');
    let mut table: HashMap<&str, (f64, f64)> = HashMap::new();
    for record in &records[2000..] {
        let (hits, count) = table.entry(&record[education]).or_default();
        *hits += f64::from(u8::from(high(record)));
        *count += 1.0;
    }
    let (mut p, mut y) = (String::new(), String::new());
    let mut given = String::from("status,sex,age\n");
    for record in &records[..2000] {
        let (hits, count) = table[&record[education]];
        let q = (hits + 0.5) / (count + 1.0);
        writeln!(p, "{},{q}", 1.0 - q).unwrap();
        writeln!(y, "{}", u8::from(high(record))).unwrap();
        writeln!(
            given,
            "{},{},{}",
            &record[status], &record[sex], &record[age]
        )
        .unwrap();
    }
    for (name, text) in [("p.csv", p), ("y.csv", y), ("given.csv", given)] {
        fs::write(folder.join(name), text).unwrap();
    }
    let found = json(
        &folder,
        &format!("{EVALUATE} --given given.csv --replicates 199"),
    );
    let tests = found["given"]["tests"].as_array().unwrap();
    let failing: Vec<&str> = (tests.iter())
        .filter(|test| test["adjusted_p_value"].as_f64().unwrap() <= 0.05)
        .map(|test| test["name"].as_str().unwrap())
        .collect();
    for name in ["status = Married-civ-spouse", "status = Never-married"] {
        assert!(failing.contains(&name), "{name}: {failing:?}");
    }
    assert!(
        failing.iter().any(|name| name.starts_with("age")),
        "{failing:?}"
    );
}
