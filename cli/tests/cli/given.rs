//! `calibration evaluate --given`: groups and numbers of a file.

use std::collections::HashMap;

use crate::*;

/// Even odds, and half of the labels: those of the women. The age says nothing.
fn write_example(folder: &Path) {
    let (p, y) = ("0.5,0.5\n".repeat(120), "1\n0\n".repeat(60));
    let person = |i| format!("{},{}", ["Female", "Male"][i % 2], 20 + i * 37 % 60);
    let given = format!("sex,age\n{}", lines(120, person));
    write(folder, &[("p.csv", p), ("y.csv", y), ("given.csv", given)]);
}

fn tests(found: &Value) -> &[Value] {
    found["given"]["tests"].as_array().unwrap()
}

fn adjusted(test: &Value) -> f64 {
    number(&test["adjusted_p_value"])
}

const EVALUATE: &str = "evaluate --predictions p.csv --labels y.csv";

/// The sentence first, with the groups; the same in JSON.
#[test]
fn says_for_whom() {
    let folder = folder("given");
    write_example(&folder);
    let text = printed(&folder, &format!("{EVALUATE} --given given.csv"));
    let lines: Vec<&str> = text.lines().collect();
    let answer = "The model is not calibrated given sex, age: p ≤ 0.0";
    begins(lines[4], answer);
    assert!(lines[4].ends_with("adjusted for 8 tests."), "{text}");
    let words = |at: usize| lines[at].split_whitespace().collect::<Vec<_>>().join(" ");
    let columns = "n expected observed overconfidence, points interval p-value adjusted";
    assert_eq!(words(5), columns);
    begins(&words(6), "sex = Female 60 50.0 % 0 % 50.00 [");
    begins(&words(7), "sex = Male 60 50.0 % 100 % -50.00 [");
    begins(&words(12), "age, by a kernel 120 ");
    let failing = lines[14..].iter().map(|line| line.trim());
    let failing: Vec<&str> = failing.take_while(|line| !line.is_empty()).collect();
    assert!(
        failing
            .iter()
            .any(|line| line.starts_with("sex = Female: overconfident by 50.0 points"))
    );
    assert!(
        failing
            .iter()
            .any(|line| line.starts_with("sex = Male: underconfident by 50.0 points"))
    );
    contains(&text, "There is no evidence against calibration: p");

    let found = json(&folder, &format!("{EVALUATE} --given given.csv"));
    let given = &found["given"];
    assert!(number(&given["p_value"]) < 0.02);
    assert_eq!(given["columns"], serde_json::json!(["sex", "age"]));
    let expected = [
        ("sex = Female", 60, true),
        ("sex = Male", 60, true),
        ("age in 20 to 34", 30, false),
        ("age in 35 to 49", 30, false),
        ("age in 50 to 64", 30, false),
        ("age in 65 to 79", 30, false),
        ("age, by a kernel", 120, false),
        ("all columns, by a kernel", 120, true),
    ];
    assert_eq!(tests(&found).len(), expected.len());
    for (test, (name, samples, is_wrong)) in tests(&found).iter().zip(expected) {
        assert_eq!(test["name"], name);
        assert_eq!(adjusted(test) <= 0.05, is_wrong, "{test}");
        assert_eq!(test["samples"], samples);
        assert_eq!(test["finding"].is_null(), !is_wrong);
    }
    let women = &tests(&found)[0];
    let numbers = [
        &women["expected"],
        &women["observed"],
        &women["overconfidence"]["estimate"],
    ];
    assert_eq!(numbers.map(number), [0.5, 0.0, 0.5]);
    assert!(tests(&found)[6].get("expected").is_none());
    let many = format!("id\n{}", crate::lines(120, |k| format!("id{k}")));
    fs::write(folder.join("many.csv"), many).unwrap();
    let complaint = complaint(&folder, &format!("{EVALUATE} --given many.csv"));
    let expected = "many.csv: column id: 120 groups, expected at most 100, or numbers";
    assert_eq!(complaint, expected);
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
    let evaluate = format!("{EVALUATE} --lens class-wise --given given.csv");
    let found = json(&folder, &evaluate);
    for class in found["classes"].as_array().unwrap() {
        assert!(number(&class["given"]["p_value"]) < 0.02);
    }
    // about normal in all, too high for women
    let target = |i| {
        let u = ((i * 29 % 120) as f64 + 0.5) / 120.0;
        let z = (u / (1.0 - u)).ln().abs() / 1.7;
        (if i % 2 == 0 { z } else { -z }).to_string()
    };
    let (p, y) = ("0,1\n".repeat(120), lines(120, target));
    write(&folder, &[("n.csv", p), ("t.csv", y)]);
    let normal = "evaluate --family normal --predictions n.csv --targets t.csv --given given.csv";
    let found = json(&folder, normal);
    let tests = tests(&found);
    let findings = [&tests[0], &tests[1]].map(|test| test["finding"].as_str().unwrap());
    begins(findings[0], "targets are too high: ");
    begins(findings[1], "targets are too low: ");
    assert!(adjusted(&tests[7]) < 0.05);
    assert!(adjusted(&tests[6]) > 0.05);
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
    let p = lines(2000, |i| {
        let (hits, count) = table[&records[i][education]];
        let q = (hits + 0.5) / (count + 1.0);
        format!("{},{q}", 1.0 - q)
    });
    let y = lines(2000, |i| u8::from(high(&records[i])).to_string());
    let given = |i: usize| {
        [status, sex, age]
            .map(|column| &records[i][column])
            .join(",")
    };
    let given = format!("status,sex,age\n{}", lines(2000, given));
    write(&folder, &[("p.csv", p), ("y.csv", y), ("given.csv", given)]);
    let evaluate = format!("{EVALUATE} --given given.csv --redraws 199");
    let found = json(&folder, &evaluate);
    let failing = tests(&found).iter().filter(|test| adjusted(test) <= 0.05);
    let failing: Vec<&str> = failing.filter_map(|test| test["name"].as_str()).collect();
    for start in [
        "status = Married-civ-spouse",
        "status = Never-married",
        "age",
    ] {
        let is_there = failing.iter().any(|name| name.starts_with(start));
        assert!(is_there, "{start}: {failing:?}");
    }
}
