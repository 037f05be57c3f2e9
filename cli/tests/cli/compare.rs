use std::fs;

use approx::assert_relative_eq;

use super::{
    LABELS, ROWS, begins, calibration, complaint, contains, data_folder, folder, json, number,
};

/// Three predictions against even ones, by hand; the exponential kernel has bandwidth 1.
#[test]
fn numbers_by_hand() {
    let folder = folder("compare-by-hand");
    fs::write(folder.join("before.csv"), "0.9,0.1\n0.2,0.8\n0.9,0.1\n").unwrap();
    fs::write(folder.join("after.csv"), "0.5,0.5\n0.5,0.5\n0.5,0.5\n").unwrap();
    fs::write(folder.join("y.csv"), "0\n0\n1\n").unwrap();
    let base = "compare --before before.csv --after after.csv --labels y.csv";
    let found = json(&folder, &format!("{base} --bandwidth 1 --level 0.5"));
    assert_eq!((&found["n"], &found["class_count"]), (&3.into(), &2.into()));
    assert_eq!(found["kernel"]["bandwidth"], 1.0);
    let brier = &found["changes"]["brier"];
    // 0.02, 1.28, 1.62 before and 0.5 after
    assert_relative_eq!(number(&brier["before"]), 2.92 / 3.0, max_relative = 1e-12);
    assert_relative_eq!(number(&brier["after"]), 0.5, max_relative = 1e-12);
    let differences = [0.48, -0.78, -1.12];
    let mean = differences.iter().sum::<f64>() / 3.0;
    let squares: f64 = differences.iter().map(|d: &f64| (d - mean).powi(2)).sum();
    let error = (squares / 6.0).sqrt();
    assert_relative_eq!(number(&brier["difference"]), mean, max_relative = 1e-12);
    assert_relative_eq!(
        number(&brier["standard_error"]),
        error,
        max_relative = 1e-12
    );
    let [low, high] = [0, 1].map(|end| number(&brier["interval"][end]));
    assert!(-1.12 < low && low < mean && mean < high && high < 0.48);
    assert!(number(&brier["p_value"]) > 0.1);
    // after: δ = ±(½, −½), with h = ½, −½, −½
    let skce = &found["changes"]["skce_unbiased"];
    assert_relative_eq!(number(&skce["after"]), -1.0 / 6.0, max_relative = 1e-12);
    // before: δ = 0.1, 0.8, −0.9 times (1, −1), total variation 0.7, 0, 0.7
    let k = (-0.7f64).exp();
    let before = 2.0 * (0.08 * k - 0.09 - 0.72 * k) / 3.0;
    assert_relative_eq!(number(&skce["before"]), before, max_relative = 1e-12);
    for (key, before, after) in [
        ("accuracy", 1.0 / 3.0, 2.0 / 3.0),
        ("ece_top_label", 1.6 / 3.0, 1.0 / 6.0),
    ] {
        assert_relative_eq!(number(&found[key]["before"]), before, max_relative = 1e-12);
        assert_relative_eq!(number(&found[key]["after"]), after, max_relative = 1e-12);
    }
    for set in ["before", "after"] {
        let p = number(&found["omnibus"][set]["p_value"]);
        assert!((0.001..=1.0).contains(&p));
        assert!(found["intervals"][set]["overconfidence"]["lower"].is_number());
    }

    let table = String::from_utf8(calibration(&folder, base).stdout).unwrap();
    for words in [
        "Brier score",
        "log score",
        "spherical score",
        "SKCE of both classes, unbiased",
        "95 % interval",
        "biased",
    ] {
        assert!(table.contains(words), "{words} in\n{table}");
    }
}

/// A file with itself: no difference at all, as probabilities or as logits.
#[test]
fn equal_files_have_no_difference() {
    let folder = folder("compare-equal");
    fs::write(folder.join("p.csv"), ROWS).unwrap();
    fs::write(folder.join("y.csv"), LABELS).unwrap();
    let found = json(
        &folder,
        "compare --before p.csv --after p.csv --labels y.csv",
    );
    for (name, change) in found["changes"].as_object().unwrap() {
        assert_eq!(change["difference"], 0.0, "{name}");
        if name != "skce_unbiased" {
            assert_eq!(change["interval"], serde_json::json!([0.0, 0.0]), "{name}");
            assert_eq!(change["p_value"], 1.0, "{name}");
        }
        assert_eq!(change["before"], change["after"], "{name}");
    }
    let logits = json(
        &folder,
        "compare --logits --force --before p.csv --after p.csv --labels y.csv",
    );
    assert_ne!(
        logits["changes"]["log"]["before"],
        found["changes"]["log"]["before"]
    );
}

/// 50 rows without an error say nothing of two models that expect 0.6 and 0.8.
#[test]
fn no_evidence_from_no_errors() {
    let folder = folder("compare-few-errors");
    for (name, text) in [
        ("cb.csv", include_str!("cases/cb.csv")),
        ("ca.csv", include_str!("cases/ca.csv")),
        ("cy.csv", include_str!("cases/cy.csv")),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    let arguments = "compare --before cb.csv --after ca.csv --labels cy.csv";
    let found = json(&folder, arguments);
    for name in ["brier", "log", "spherical"] {
        let change = &found["changes"][name];
        assert!(number(&change["p_value"]) > 0.2, "{name}: {change}");
        let [low, high] = [0, 1].map(|end| number(&change["interval"][end]));
        assert!(low < 0.0 && high > 0.0, "{name}: {change}");
    }
    let skce = &found["changes"]["skce_unbiased"];
    let reason = "the difference of two SKCE needs at least 20 wrong labels, got 0";
    assert_eq!(skce["interval"]["error"], reason);
    assert_eq!(skce["p_value"]["error"], reason);
    assert!(skce["difference"].is_number());
    let table = String::from_utf8(calibration(&folder, arguments).stdout).unwrap();
    contains(&table, &format!("no interval: {reason}"));
}

/// p-values of approximations end at 0.001.
#[test]
fn p_values_have_a_floor() {
    let folder = folder("compare-floor");
    fs::write(folder.join("p.csv"), "0.99,0.01\n".repeat(400)).unwrap();
    fs::write(folder.join("q.csv"), "0.5,0.5\n".repeat(400)).unwrap();
    fs::write(folder.join("y.csv"), "0\n1\n".repeat(200)).unwrap();
    let arguments = "compare --before p.csv --after q.csv --labels y.csv";
    let found = json(&folder, arguments);
    for name in ["brier", "log", "skce_unbiased"] {
        assert_eq!(found["changes"][name]["p_value"], 1e-3, "{name}");
    }
    contains(
        &String::from_utf8(calibration(&folder, arguments).stdout).unwrap(),
        "≤ 0.0010",
    );
}

/// Eight of eight are wrong at 98 %: an error of about 98 points, of at most 100.
#[test]
fn all_wrong_is_seen() {
    let folder = folder("compare-all-wrong");
    fs::write(folder.join("p.csv"), include_str!("cases/allwrong8.csv")).unwrap();
    let found = json(
        &folder,
        "evaluate --predictions p.csv --positive --label-column y",
    );
    let ece = &found["intervals"]["ece_debiased"];
    let [estimate, lower, upper] = ["estimate", "lower", "upper"].map(|end| number(&ece[end]));
    assert!((estimate - 0.98).abs() < 0.02, "{ece}");
    assert!(
        lower > 0.5 && lower < 0.97 && upper > 0.98 && upper <= 1.0,
        "{ece}"
    );
}

/// What is not defined on the data says why, and the rest is there.
#[test]
fn undefined_quantities() {
    let folder = folder("compare-undefined");
    fs::write(folder.join("p.csv"), "0.5,0.5\n").unwrap();
    fs::write(folder.join("q.csv"), "0,1\n").unwrap();
    fs::write(folder.join("y.csv"), "0\n").unwrap();
    let arguments = "compare --before p.csv --after q.csv --labels y.csv";
    let found = json(&folder, arguments);
    assert_eq!(
        found["changes"]["log"]["error"],
        "after recalibration: row 0: the log score of class 0 is infinite, expected a finite number"
    );
    assert_eq!(
        found["changes"]["skce_unbiased"]["error"],
        "a jackknife standard error of the SKCE needs at least 3 samples, got 1"
    );
    let brier = &found["changes"]["brier"];
    assert_eq!(
        (&brier["difference"], &brier["p_value"]),
        (&1.5.into(), &1.0.into())
    );
    assert_eq!(brier["interval"][0]["error"], "infinite");
    assert!(found["omnibus"]["before"]["p_value"].is_number());
    let table = String::from_utf8(calibration(&folder, arguments).stdout).unwrap();
    contains(&table, "[-inf, inf]");
}

/// Above the limit of quadratic cost: by blocks.
#[test]
fn many_samples_are_compared_by_blocks() {
    let folder = folder("compare-many");
    fs::write(folder.join("p.csv"), "0.9,0.1\n0.1,0.9\n".repeat(10_001)).unwrap();
    fs::write(folder.join("q.csv"), "0.6,0.4\n0.4,0.6\n".repeat(10_001)).unwrap();
    let labels: String = (0..20_002)
        .map(|i| format!("{}\n", (i / 2) % 5 / 4))
        .collect();
    fs::write(folder.join("y.csv"), labels).unwrap();
    let base = "compare --before p.csv --after q.csv --labels y.csv";
    let found = json(&folder, &format!("{base} --bandwidth median:1000"));
    assert!(found["changes"]["skce_unbiased"].is_null());
    assert!(number(&found["changes"]["skce_block"]["interval"][1]) < 0.0);
    assert_eq!(number(&found["omnibus"]["before"]["p_value"]), 1e-3);
    // by default the bandwidth is that of some samples, and the command says so
    let output = calibration(&folder, base);
    let note = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{note}");
    contains(&note, "the median of 5000 of the 20002 samples");
    let refused = complaint(&folder, &format!("{base} --bandwidth median-with-diagonal"));
    contains(&refused, "takes too long");
}

#[test]
fn bad_input_is_one_line_and_exit_code_2() {
    let folder = folder("compare-bad");
    let check = |before: &str, after: &str, labels: &str, arguments: &str, expected: &str| {
        fs::write(folder.join("p.csv"), before).unwrap();
        fs::write(folder.join("q.csv"), after).unwrap();
        fs::write(folder.join("y.csv"), labels).unwrap();
        let arguments = format!("compare --before p.csv --after q.csv --labels y.csv {arguments}");
        assert_eq!(complaint(&folder, &arguments), expected);
    };
    let good = "0.5,0.5\n";
    check(
        "0.5,0.5\n0.5,0.5\n",
        good,
        "0\n0\n",
        "",
        "q.csv: 1 rows, expected 2, as many as p.csv has",
    );
    check(
        good,
        "0.5,0.3,0.2\n",
        "0\n",
        "",
        "q.csv: 3 columns, expected 2, as many as p.csv has",
    );
    check(
        good,
        "0.5,0.6\n",
        "0\n",
        "",
        "q.csv: row 0 (line 1): the probabilities sum to 1.1, expected 1 within 1e-2; --normalise divides each row by its sum",
    );
    check(
        good,
        good,
        "0\n1\n",
        "",
        "y.csv: 2 labels, expected 1, as many as p.csv has rows; --labels-header yes if line 1 is a header",
    );
    check(
        good,
        good,
        "2\n",
        "",
        "y.csv: row 0 (line 1): the label is 2, expected a class in 0..=1; labels run from 1 to the number of classes: did you mean --one-based?",
    );
    for level in ["0", "1", "95", "NaN"] {
        let expected = format!("--level {level}: expected a number between 0 and 1, both excluded");
        check(good, good, "0\n", &format!("--level {level}"), &expected);
    }
    let missing = complaint(
        &folder,
        "compare --before p.csv --after none.csv --labels y.csv",
    );
    begins(&missing, "none.csv: No such file");
}

/// Two networks on CIFAR-10: the estimates are those of `evaluate`.
#[test]
#[ignore = "needs the data folder, BURN_CALIBRATION_DATA"]
fn real_predictions() {
    let folder = data_folder().join("cifar10-predictions");
    let (before, after) = ("resnet18.csv.gz", "googlenet.csv.gz");
    let found = json(
        &folder,
        &format!(
            "compare --before {before} --after {after} --labels labels.csv --one-based \
             --bandwidth median-with-diagonal"
        ),
    );
    let bandwidth = number(&found["kernel"]["bandwidth"]);
    assert_relative_eq!(bandwidth, 0.9986237963, max_relative = 1e-6); // with the diagonal
    for (file, when) in [(before, "before"), (after, "after")] {
        let alone = json(
            &folder,
            &format!(
                "evaluate --predictions {file} --labels labels.csv --one-based --bandwidth {bandwidth} \
                 --test skce_unbiased_asymptotic"
            ),
        );
        for name in ["brier", "log", "skce_unbiased"] {
            let expected = number(&alone["estimates"][name]);
            let found = number(&found["changes"][name][when]);
            assert_relative_eq!(found, expected, max_relative = 1e-10);
        }
        assert_eq!(
            found["ece_top_label"][when],
            alone["estimates"]["ece_top_label"]
        );
    }
    // published for the first, see the reference
    let skce = &found["changes"]["skce_unbiased"];
    assert_relative_eq!(number(&skce["before"]), 2.625240399e-4, max_relative = 1e-6);
    let accuracy = &found["accuracy"];
    assert!(
        number(&accuracy["before"]) > 0.9 && number(&accuracy["after"]) > 0.9,
        "{accuracy}"
    );
}
