//! The kernel that the arguments name, and its bandwidth.

use std::fs;

use approx::assert_relative_eq;

use super::{LABELS, ROWS, calibration, contains, folder, json, number};

const EVALUATE: &str = "evaluate --predictions p.csv --labels y.csv";

fn written(test: &str) -> std::path::PathBuf {
    let folder = folder(test);
    fs::write(folder.join("p.csv"), ROWS.repeat(5)).unwrap();
    fs::write(folder.join("y.csv"), LABELS.repeat(5)).unwrap();
    folder
}

/// The median is over the pairs of different samples, by hand: total variations 0, 0.2, 0.6 and so on.
#[test]
fn one_rule_for_the_median() {
    let folder = folder("kernel-median");
    fs::write(folder.join("p.csv"), "1,0\n0.8,0.2\n0.5,0.5\n").unwrap();
    fs::write(folder.join("y.csv"), "0\n1\n0\n").unwrap();
    let bandwidth = |arguments: &str| number(&json(&folder, arguments)["kernel"]["bandwidth"]);
    // distances 0.2, 0.3, 0.5; with the diagonal 0, 0, 0 and each of these twice: the fifth of nine
    let with_diagonal = "--bandwidth median-with-diagonal";
    assert_relative_eq!(bandwidth(EVALUATE), 0.3, max_relative = 1e-12);
    let published = bandwidth(&format!("{EVALUATE} {with_diagonal}"));
    assert_relative_eq!(published, 0.2, max_relative = 1e-12);
    let compare = "compare --before p.csv --after p.csv --labels y.csv";
    assert_relative_eq!(bandwidth(compare), 0.3, max_relative = 1e-12);
    let published = bandwidth(&format!("{compare} {with_diagonal}"));
    assert_relative_eq!(published, 0.2, max_relative = 1e-12);
}

/// `evaluate` and `report` print the same SKCE of the same file.
#[test]
fn evaluate_and_report_agree() {
    let folder = written("kernel-agree");
    // 20 wrong labels, from which on there is an interval
    fs::write(folder.join("p.csv"), ROWS.repeat(10)).unwrap();
    fs::write(folder.join("y.csv"), LABELS.repeat(10)).unwrap();
    let report = "report --predictions p.csv --labels y.csv -o page.html";
    assert!(calibration(&folder, report).status.success());
    let page = fs::read_to_string(folder.join("page.html")).unwrap();
    let found = json(&folder, EVALUATE);
    let bandwidth = number(&found["kernel"]["bandwidth"]);
    let rounded = format!("{bandwidth:.6}");
    let rounded = rounded.trim_end_matches('0');
    assert!(
        page.contains(&format!("with bandwidth {rounded};")),
        "{bandwidth}"
    );
    let skce = format!("{:.2e}", number(&found["intervals"]["skce"]["estimate"]));
    let (mantissa, _) = skce.split_once('e').unwrap();
    let cell = format!("<td>{}\u{a0}×\u{a0}10", mantissa.replace('-', "−"));
    assert!(page.contains(&cell), "{cell}");
}

/// Every profile and every distance of the library is offered.
#[test]
fn profiles_and_distances() {
    let folder = written("kernel-names");
    for profile in [
        "exponential",
        "gaussian",
        "matern32",
        "matern52",
        "rational-quadratic:1.5",
        "generalised-exponential:0.5",
    ] {
        let found = json(
            &folder,
            &format!("{EVALUATE} --kernel {profile} --bandwidth 1"),
        );
        assert_eq!(found["kernel"]["profile"], profile);
        assert!(found["estimates"]["skce_unbiased"].is_number());
    }
    for (distance, short) in [
        ("total-variation", "tv"),
        ("tv", "tv"),
        ("l1", "l1"),
        ("euclidean", "l2"),
        ("l2", "l2"),
    ] {
        let found = json(&folder, &format!("{EVALUATE} --distance {distance}"));
        assert_eq!(found["kernel"]["distance"], short);
    }
}

/// Unknown names are refused with those that there are; the help lists the tests.
#[test]
fn unknown_names() {
    let folder = written("kernel-unknown");
    for (option, expected) in [
        ("--kernel cubic", "rational-quadratic:ALPHA"),
        ("--kernel rational-quadratic:-1", "a positive finite number"),
        ("--distance cosine", "total-variation, l1, euclidean"),
        ("--bandwidth mean", "median-with-diagonal"),
        ("--test skce", "skce_unbiased_asymptotic"),
    ] {
        let output = calibration(&folder, &format!("{EVALUATE} {option}"));
        assert_eq!(output.status.code(), Some(2));
        let complaint = String::from_utf8(output.stderr).unwrap();
        contains(&complaint, expected);
    }
    let help = String::from_utf8(calibration(&folder, "evaluate --help").stdout).unwrap();
    assert!(help.contains("ece_top_label_exact") && help.contains("median-with-diagonal"));
}
