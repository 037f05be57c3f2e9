//! `evaluate`: its numbers, and its answer.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::*;

/// Aspects and intervals of the answer have all their numbers, in order; tests are those that are asked.
#[test]
fn answers_are_whole() {
    let folder = folder("answer");
    let [p, y] = [ROWS, LABELS].map(|lines| lines.repeat(10));
    write(&folder, &[("p.csv", p), ("y.csv", y)]);
    let base = "evaluate --predictions p.csv --labels y.csv --test skce_unbiased_exact";
    let found = json(&folder, base);
    for aspect in found["omnibus"]["aspects"].as_array().unwrap() {
        for key in ["estimate", "standardised", "p_value", "adjusted_p_value"] {
            assert!(aspect[key].is_number(), "{key} of {aspect}");
        }
        assert!(number(&aspect["p_value"]) >= 0.001);
    }
    for key in ["skce", "ece_debiased", "overconfidence"] {
        let interval = &found["intervals"][key];
        let numbers = ["lower", "estimate", "upper"].map(|end| number(&interval[end]));
        assert!(numbers.is_sorted(), "{key}");
    }
    let tests = found["tests"].as_object().unwrap();
    assert!(tests.keys().eq(["skce_unbiased_exact"]));
}

/// The published estimates and p-values of Widmann et al. 2019 for four networks, to 1e-6.
#[test]
#[ignore = "needs the data folder, BURN_CALIBRATION_DATA"]
fn published_numbers() {
    let folder = data_folder().join("cifar10-predictions");
    let table = |name: &str| -> Vec<Vec<String>> {
        let mut reader = csv::ReaderBuilder::new();
        let reader = reader.has_headers(false).from_path(folder.join(name));
        let rows = reader.unwrap().into_deserialize();
        rows.map(csv::Result::unwrap).collect()
    };
    let estimates = table("published_estimates.csv");
    let p_values = table("published_pvalues.csv");
    let mut header = p_values[0].iter();
    let linear = header.position(|name| name == "SKCEul_median_asymptotic");
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
            let found = number(&found["estimates"][name]);
            assert_relative_eq!(found, expected, max_relative = 1e-6);
        }
        // the published standard deviation of the 5,000 blocks has the divisor N, ours N − 1
        let published: f64 = p_row[linear.unwrap()].parse().unwrap();
        let normal = Normal::standard();
        let statistic = normal.inverse_cdf(1.0 - published) * (4999.0f64 / 5000.0).sqrt();
        let expected = normal.sf(statistic);
        let found = number(&found["tests"]["skce_linear_asymptotic"]["p_value"]);
        assert_relative_eq!(found, expected, max_relative = 1e-6);
    }
}

/// The exit code says whether a gate stays closed, and a line on standard error why; a gate that cannot close is an error.
#[test]
fn a_gate_has_an_exit_code() {
    let folder = folder("gate");
    let rows = |right: usize| lines(200, |i| format!("0.9,0.1,{}", u8::from(i >= right)));
    write(&folder, &[("good.csv", rows(180)), ("bad.csv", rows(120))]);
    let gate = |file: &str, options: &str| {
        let evaluate = format!("evaluate --predictions {file} --label-column 2 {options}");
        let output = calibration(&folder, &evaluate);
        let said = String::from_utf8(output.stderr).unwrap();
        (
            output.status.code().unwrap(),
            output.stdout.is_empty(),
            said,
        )
    };
    for options in [
        "--fail-if-rejected",
        "--fail-above 0.02",
        "--fail-if-rejected --json",
    ] {
        assert_eq!(gate("good.csv", options), (0, false, String::new()));
        let (code, is_empty, said) = gate("bad.csv", options);
        assert_eq!((code, is_empty), (3, false), "{options}: {said}");
        begins(
            &said,
            &format!("calibration: {}", options.split(' ').next().unwrap()),
        );
    }
    // 30 points are not above 40, and 1 in 20 redraws is not below 1 %
    assert_eq!(gate("bad.csv", "--fail-above 0.4").0, 0);
    let (code, is_empty, said) = gate("bad.csv", "--fail-if-rejected --redraws 19 --level 0.999");
    assert_eq!((code, is_empty), (2, true));
    contains(&said, "expected a larger --redraws");
    // right for all rows together, and wrong for each group
    let row = |i: usize| {
        format!(
            "0.4,{},{}",
            u8::from(i % 10 < 4),
            if i % 10 < 4 { "a" } else { "b" }
        )
    };
    write(
        &folder,
        &[("groups.csv", "r,y,g\n".to_owned() + &lines(200, row))],
    );
    let evaluate = "evaluate --predictions groups.csv --positive --columns r --label-column y --fail-if-rejected";
    assert_eq!(calibration(&folder, evaluate).status.code(), Some(0));
    let (code, said) = outcome(&folder, &format!("{evaluate} --given groups.csv:g"));
    assert_eq!(code, 3);
    begins(
        &said,
        "calibration: --fail-if-rejected: the model is not calibrated given g, p ≤ 0.0",
    );
    let classes = "--fail-if-rejected --lens class-wise";
    assert_eq!(
        (gate("good.csv", classes).0, gate("bad.csv", classes).0),
        (0, 3)
    );
}

/// The verdict, its gate and the findings have one level, that of `--level`, and say which it is.
#[test]
fn a_verdict_has_the_level_of_its_gate() {
    let folder = folder("verdict-level");
    write(&folder, &[("r.csv", include_str!("cases/level.csv"))]);
    let evaluate =
        "evaluate --predictions r.csv --positive --columns r --label-column y --fail-if-rejected";
    let output = calibration(&folder, evaluate);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    contains(
        &text,
        "There is no evidence against calibration: p = 0.084.\n",
    );
    let output = calibration(&folder, &format!("{evaluate} --level 0.9"));
    let [text, said] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(output.status.code(), Some(3));
    contains(
        &text,
        "The model is not calibrated: p = 0.084, at the level of 10 %.\n",
    );
    lacks(&text, &["no evidence"]);
    contains(
        &said,
        "the model is not calibrated, p = 0.084 is at most 0.100",
    );
    let stricter = printed(&folder, &format!("{evaluate} --level 0.99"));
    let words = "There is no evidence against calibration: p = 0.084, at the level of 1 %.\n";
    contains(&stricter, words);
}

/// A gate prints p-values as the answer does, and neither these nor its level as zero.
#[test]
fn a_gate_has_no_p_value_of_zero() {
    let folder = folder("gate-zero");
    let rows = lines(400, |i| {
        format!("{:.4},{}", (i as f64 + 0.5) / 400.0, u8::from(i % 10 > 0))
    });
    write(&folder, &[("r.csv", format!("r,y\n{rows}"))]);
    let evaluate = "evaluate --predictions r.csv --positive --columns r --label-column y";
    for (options, reason) in [
        ("--fail-above 0.02", "adjusted p ≤ 0.002 is at most 0.050\n"),
        (
            "--fail-if-rejected --level 0.9996 --redraws 9999",
            "p ≤ 1.0e-4 is at most 0.0004\n",
        ),
    ] {
        let output = calibration(&folder, &format!("{evaluate} {options}"));
        assert_eq!(output.status.code(), Some(3), "{options}");
        contains(&String::from_utf8(output.stderr).unwrap(), reason);
    }
}
