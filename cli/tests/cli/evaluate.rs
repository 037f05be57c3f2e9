//! `evaluate`: its numbers, and its answer.

use statrs::distribution::{ContinuousCDF, Normal};

use super::*;

/// Two samples at opposite vertices, by hand: see docs/mathematics.md, section 2.
#[test]
fn numbers_by_hand() {
    let folder = folder("by-hand");
    fs::write(folder.join("p.csv"), "1,0\n0,1\n").unwrap();
    fs::write(folder.join("y.csv"), "1\n0\n").unwrap();
    let arguments = "evaluate --predictions p.csv --labels y.csv --kernel gaussian --bandwidth 1 \
                     --test skce_unbiased_distribution_free --test skce_linear_asymptotic";
    let found = json(&folder, arguments);
    let e = (-1.0f64).exp();
    assert_eq!((&found["n"], &found["class_count"]), (&2.into(), &2.into()));
    assert_eq!(found["kernel"]["distance"], "l2");
    assert_relative_eq!(
        found["estimates"]["skce_biased"].as_f64().unwrap(),
        1.0 - e,
        max_relative = 1e-12
    );
    assert_relative_eq!(
        found["estimates"]["skce_unbiased"].as_f64().unwrap(),
        -2.0 * e,
        max_relative = 1e-12
    );
    assert_relative_eq!(found["estimates"]["brier"].as_f64().unwrap(), 2.0);
    assert_eq!(
        found["estimates"]["log"]["error"],
        "row 0: the log score of class 1 is infinite, expected a finite number"
    );
    assert_eq!(
        found["tests"]["skce_unbiased_distribution_free"]["p_value"],
        1.0
    );
    let error = found["tests"]["skce_linear_asymptotic"]["error"]
        .as_str()
        .unwrap();
    assert_eq!(
        error,
        "the asymptotic test of two blocks needs at least 4 samples, got 2"
    );
}

/// Of two classes the quantities of one event are those of class 1, by hand: the log-odds ±ln 9, of which
/// three in four come true, want a slope of ln 3/ln 9.
#[test]
fn one_event_of_two_classes() {
    let folder = folder("event");
    let rows = |r: &str, count: usize| r.repeat(count);
    fs::write(
        folder.join("p.csv"),
        rows("0.1,0.9\n", 40) + &rows("0.9,0.1\n", 40),
    )
    .unwrap();
    let labels = |first: usize| (0..40).map(move |i| if i % 4 > 0 { first } else { 1 - first });
    let labels: String = labels(1)
        .chain(labels(0))
        .map(|y| format!("{y}\n"))
        .collect();
    fs::write(folder.join("y.csv"), labels).unwrap();
    let tests = ["spiegelhalter", "hosmer_lemeshow", "cox"];
    let exact = tests.map(|test| format!("{test}_exact"));
    let asked = tests
        .iter()
        .map(|test| format!(" --test {test} --test {test}_exact"));
    let asked: String = asked.collect();
    let found = json(
        &folder,
        &format!("evaluate --predictions p.csv --labels y.csv{asked}"),
    );
    let estimate = |key: &str| found["estimates"][key].as_f64().unwrap();
    for (key, expected) in [
        ("cox_slope", 0.5),
        ("cox_intercept", 0.0),
        ("brier_miscalibration", 2.0 * 0.15 * 0.15),
        ("brier_discrimination", 2.0 * 0.25 * 0.25),
        ("brier_uncertainty", 0.5),
        ("log_uncertainty", 2f64.ln()),
    ] {
        assert_relative_eq!(
            estimate(key),
            expected,
            max_relative = 1e-9,
            epsilon = 1e-12
        );
    }
    // 12 more errors than 8: z = 12 · 0.8/√(80 · 0.64 · 0.09); H = 2 · 6²/(40 · 0.09)
    let statistics = [12.0 * 0.8 / (80.0 * 0.64 * 0.09f64).sqrt(), 20.0];
    for (test, expected) in tests.iter().zip(statistics) {
        let statistic = found["tests"][test]["statistic"].as_f64().unwrap();
        assert_relative_eq!(statistic, expected, max_relative = 1e-9);
    }
    for test in tests.map(String::from).iter().chain(&exact) {
        let p = found["tests"][test]["p_value"].as_f64().unwrap();
        assert!((0.001..0.005).contains(&p), "{test}: {p}");
    }
}

/// The answer comes first: in words, and in JSON with all that was looked at.
#[test]
fn the_answer_comes_first() {
    let folder = folder("answer");
    // 90 % sure, right in 60 %
    fs::write(folder.join("p.csv"), "0.9,0.06,0.04\n".repeat(200)).unwrap();
    let labels: String = (0..200)
        .map(|i| format!("{}\n", [0, 0, 0, 1, 2][i % 5]))
        .collect();
    fs::write(folder.join("y.csv"), labels).unwrap();
    let base = "evaluate --predictions p.csv --labels y.csv --tolerance 0.1";
    let found = json(&folder, base);
    let omnibus = &found["omnibus"];
    assert_eq!(
        (&omnibus["p_value"], &omnibus["redraws"]),
        (&0.001.into(), &999.into())
    );
    let aspects = omnibus["aspects"].as_array().unwrap();
    let confidence = &aspects[0];
    assert_eq!(confidence["name"], "confidence");
    assert_eq!(confidence["finding"], "overconfident by 30.0 points");
    assert_eq!(confidence["adjusted_p_value"], 0.001);
    assert_relative_eq!(
        confidence["estimate"].as_f64().unwrap(),
        0.3,
        epsilon = 1e-9
    );
    for aspect in aspects {
        for key in ["estimate", "standardised", "p_value", "adjusted_p_value"] {
            assert!(aspect[key].is_number(), "{key} of {aspect}");
        }
        assert!(aspect["p_value"].as_f64().unwrap() >= 0.001);
    }
    let intervals = &found["intervals"];
    for key in ["skce", "ece_debiased", "overconfidence"] {
        let end = |end: &str| intervals[key][end].as_f64().unwrap();
        assert!(
            end("lower") <= end("estimate") && end("estimate") <= end("upper"),
            "{key}"
        );
        assert_eq!(end("level"), 0.95);
    }
    // Clopper and Pearson for 120 of 200, SciPy: [0.5285, 0.6685]
    let over = &intervals["overconfidence"];
    assert_relative_eq!(
        over["lower"].as_f64().unwrap(),
        0.9 - 0.668_476,
        epsilon = 2e-4
    );
    assert_relative_eq!(
        over["upper"].as_f64().unwrap(),
        0.9 - 0.528_512,
        epsilon = 2e-4
    );
    assert_eq!(over["tolerance"]["error"], 0.1);
    assert!(over["tolerance"]["p_value"].as_f64().unwrap() < 1e-3);
    assert_eq!(found["tests"].as_object().unwrap().len(), 0);

    let table = String::from_utf8(calibration(&folder, base).stdout).unwrap();
    let lines: Vec<&str> = table.lines().take(6).collect();
    let found = |words: &str| lines.iter().any(|line| line.contains(words));
    assert!(found("The model is not calibrated: p ≤ 0.001."), "{table}");
    assert!(found("overconfident by 30.0 points"), "{table}");
    assert!(
        complaint(&folder, &format!("{base} --level 1")).contains("--level 1: expected a number")
    );
}

/// Lower bounds of the Lp error on request, of the top label in two parts and of the vector; with a lens of the
/// event alone.
#[test]
fn lp_errors_on_request() {
    let folder = folder("lp_error");
    fs::write(folder.join("p.csv"), "0.9,0.06,0.04\n".repeat(200)).unwrap();
    let labels: String = (0..200)
        .map(|i| format!("{}\n", [0, 0, 0, 1, 2][i % 5]))
        .collect();
    fs::write(folder.join("y.csv"), labels).unwrap();
    let base = "evaluate --predictions p.csv --labels y.csv --tolerance 0.1";
    let found = json(&folder, &format!("{base} --lp-error 1"));
    let intervals = &found["intervals"];
    let estimate = |key: &str| intervals[key]["estimate"].as_f64();
    // 90 % sure, right in 60 %: folds of 40 differ little
    assert_relative_eq!(estimate("lp_error").unwrap(), 0.3, epsilon = 1e-6);
    assert_relative_eq!(estimate("lp_over").unwrap(), 0.3, epsilon = 1e-6);
    assert_eq!(estimate("lp_under"), Some(0.0));
    assert_relative_eq!(estimate("lp_vector").unwrap(), 0.6, epsilon = 1e-6);
    assert_eq!(intervals["lp_error"]["tolerance"]["p_value"], 1e-3); // an approximation says no more
    assert_eq!(intervals["lp_error"]["upper"]["error"], "infinite");
    let of_event = json(&folder, &format!("{base} --lp-error 1 --lens top-label"));
    assert!(of_event["intervals"]["lp_over"].is_object());
    assert!(of_event["intervals"]["lp_vector"].is_null());
    assert!(json(&folder, base)["intervals"]["lp_error"].is_null());
    let table = String::from_utf8(calibration(&folder, &format!("{base} --lp-error 2")).stdout);
    assert!(
        table
            .unwrap()
            .contains("Lp error, order 2, at least, points")
    );
}

#[test]
fn lenses_and_chosen_tests() {
    let folder = folder("lenses");
    fs::write(folder.join("p.csv"), ROWS.repeat(10)).unwrap();
    fs::write(folder.join("y.csv"), LABELS.repeat(10)).unwrap();
    let base =
        "evaluate --predictions p.csv --labels y.csv --test skce_unbiased_exact --replicates 99";
    let top = json(&folder, &format!("{base} --lens top-label"));
    assert_eq!(top["tests"].as_object().unwrap().len(), 1);
    let p = top["tests"]["skce_unbiased_exact"]["p_value"]
        .as_f64()
        .unwrap();
    assert!((0.01..=1.0).contains(&p));
    let same = json(&folder, &format!("{base} --lens top-label --seed 0"));
    assert_eq!(top, same);
    let classes = json(&folder, &format!("{base} --lens class-wise"));
    assert_eq!(classes["classes"].as_array().unwrap().len(), 3);
    assert_eq!(
        classes["adjusted"]["skce_unbiased_exact"]["holm"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    let table = calibration(&folder, &format!("{base} --lens class-wise"));
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(
        table.contains("class 2") && table.contains("Benjamini-Hochberg"),
        "{table}"
    );
}

#[test]
fn bad_input_is_one_line_and_exit_code_2() {
    let folder = folder("bad");
    let check = |predictions: &str, labels: &str, arguments: &str, expected: &str| {
        fs::write(folder.join("p.csv"), predictions).unwrap();
        fs::write(folder.join("y.csv"), labels).unwrap();
        let arguments = format!("evaluate --predictions p.csv --labels y.csv {arguments}");
        assert_eq!(complaint(&folder, &arguments), expected);
    };
    let good = "0.5,0.5\n";
    check(
        "0.5,0.5\n0.5,x\n",
        "0\n1\n",
        "",
        "p.csv: row 1 (line 2), column 1: \"x\", expected a number",
    );
    check(
        "0.5,0.6\n",
        "0\n",
        "",
        "p.csv: row 0 (line 1): the probabilities sum to 1.1, expected 1 within 1e-2; --normalise divides each row by its sum",
    );
    check(
        "nan,0.5\n",
        "0\n",
        "--logits",
        "p.csv: row 0 (line 1), class 0: the logit is NaN, expected a finite number",
    );
    check(
        "1\n2\n",
        "0\n1\n",
        "",
        "p.csv: one column, expected one for each class; --positive takes it for the probability of class 1, and for its log-odds with --logits",
    );
    check("", "0\n", "", "p.csv: holds no rows");
    check(
        good,
        "0\n1\n",
        "",
        "y.csv: 2 labels, expected 1, as many as p.csv has rows; --labels-header yes if line 1 is a header",
    );
    check(
        good,
        "2\n",
        "",
        "y.csv: row 0 (line 1): the label is 2, expected a class in 0..=1; labels run from 1 to the number of classes: did you mean --one-based?",
    );
    check(
        good,
        "3\n",
        "--one-based",
        "y.csv: row 0 (line 1): the label is 3, expected a class in 1..=2",
    );
    check(
        good,
        "0\n",
        "--one-based",
        "y.csv: row 0 (line 1): the label is 0, expected a whole number of at least 1",
    );
    check(
        good,
        "0.5\n",
        "",
        "y.csv: row 0 (line 1): the label is 0.5, expected a whole number of at least 0",
    );
    check(
        good,
        "0,1,5\n",
        "",
        "y.csv: 3 columns, expected one label a row",
    );
    let missing = complaint(&folder, "evaluate --predictions none.csv --labels y.csv");
    begins(&missing, "none.csv: No such file");
    let usage = calibration(
        &folder,
        "evaluate --predictions p.csv --labels y.csv --bandwidth -1",
    );
    assert_eq!(usage.status.code(), Some(2));
}

/// The published estimates and p-values of Widmann et al. 2019 for four networks, to 1e-6.
#[test]
#[ignore = "needs the data folder, BURN_CALIBRATION_DATA"]
fn published_numbers() {
    let folder = data_folder().join("cifar10-predictions");
    let table = |name: &str| -> Vec<Vec<String>> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_path(folder.join(name))
            .unwrap();
        reader
            .records()
            .map(|record| record.unwrap().iter().map(str::to_owned).collect())
            .collect()
    };
    let (estimates, p_values) = (
        table("published_estimates.csv"),
        table("published_pvalues.csv"),
    );
    let linear = p_values[0]
        .iter()
        .position(|name| name == "SKCEul_median_asymptotic")
        .unwrap();
    let names = [
        "ece_uniform",
        "ece_median_variance",
        "skce_biased",
        "skce_unbiased",
        "skce_linear",
    ];
    for (row, p_row) in estimates.iter().zip(&p_values).skip(1) {
        assert_eq!(row[0], p_row[0]);
        let arguments = format!(
            "evaluate --predictions {}.csv.gz --labels labels.csv --one-based --bandwidth median-with-diagonal \
             --test skce_linear_asymptotic",
            row[0]
        );
        let found = json(&folder, &arguments);
        for (name, expected) in names.iter().zip(&row[1..]) {
            let expected: f64 = expected.parse().unwrap();
            let found = found["estimates"][name].as_f64().unwrap();
            println!(
                "{} {name}: off by {:.1e}",
                row[0],
                (found / expected - 1.0).abs()
            );
            assert_relative_eq!(found, expected, max_relative = 1e-6);
        }
        // the published standard deviation of the 5,000 blocks has the divisor N, ours N − 1
        let published: f64 = p_row[linear].parse().unwrap();
        let normal = Normal::standard();
        let statistic = normal.inverse_cdf(1.0 - published) * (4999.0f64 / 5000.0).sqrt();
        let expected = normal.sf(statistic);
        let found = found["tests"]["skce_linear_asymptotic"]["p_value"]
            .as_f64()
            .unwrap();
        assert_relative_eq!(found, expected, max_relative = 1e-6);
    }
}
