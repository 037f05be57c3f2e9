//! `calibration report --family …`.

use crate::*;

/// Means, standard deviations and targets, a little too certain before.
#[test]
fn page_and_pictures() {
    let folder = folder("real-report");
    let rows = |deviation| lines(60, |i| format!("{},{deviation}", i % 7));
    let files = [
        ("p.csv", rows(0.5)),
        ("q.csv", rows(1.5)),
        (
            "y.csv",
            lines(60, |i| (i as i64 % 7 + i as i64 % 5 - 2).to_string()),
        ),
    ];
    write(&folder, &files);
    let written = |arguments: &str| -> Vec<String> {
        let names = quiet(&folder, &format!("report {arguments}"));
        names.lines().map(str::to_owned).collect()
    };
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    let normal = "--family normal --predictions p.csv --targets y.csv";
    let both = format!("{normal} --after q.csv -o both.html --pictures both");
    let names = written(&both);
    let expected = [
        "both.html",
        "both/before-pit.svg",
        "both/before-quantiles.svg",
        "both/after-pit.svg",
        "both/after-quantiles.svg",
    ];
    assert_eq!(names, expected);
    assert!(read("both/after-pit.svg").starts_with(b"<svg "));
    let page = String::from_utf8(read("both.html")).unwrap();
    contains(&page, "60 predictions of a real number, before and after");
    let (head, _) = page.split_once("<h2>").unwrap();
    let verdict = "Before recalibration: <strong>The model is not calibrated: p\u{a0}≤\u{a0}0.001.";
    contains(head, verdict);
    let narrow = "<li>predictions are too narrow: after a common shift, errors are ";
    contains(head, narrow);
    contains(&page, "Overconfidence of 90\u{a0}% intervals, points");

    // the other families; three draws a row
    fs::write(folder.join("draws.csv"), "0,1,2\n".repeat(60)).unwrap();
    fs::write(folder.join("mixture.csv"), "1,0,2\n".repeat(60)).unwrap();
    for (family, file) in [
        ("laplace", "p.csv"),
        ("normal-mixture", "mixture.csv"),
        ("samples", "draws.csv"),
    ] {
        let files = format!("--predictions {file} --targets y.csv");
        let alone = format!("--family {family} {files} -o a.html --pictures alone");
        let expected = ["a.html", "alone/pit.svg", "alone/quantiles.svg"];
        assert_eq!(written(&alone), expected);
        let page = String::from_utf8(read("a.html")).unwrap();
        assert_eq!(page.contains("Log score"), family != "samples");
    }
}
