//! `calibration report`.

use std::{fs, path::Path};

use super::{LABELS, ROWS, begins, calibration, complaint, contains, folder};

const AFTER: &str = "0.5,0.3,0.2\n0.2,0.6,0.2\n0.3,0.3,0.4\n0.3,0.4,0.3\n";

fn written(folder: &Path, arguments: &str) -> Vec<String> {
    let output = calibration(folder, &format!("report {arguments}"));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && complaint.is_empty(),
        "{complaint}"
    );
    let names = String::from_utf8(output.stdout).unwrap();
    names.lines().map(str::to_owned).collect()
}

#[test]
fn page_and_pictures() {
    let folder = folder("report");
    fs::write(folder.join("p.csv"), ROWS.repeat(10)).unwrap();
    fs::write(folder.join("q.csv"), AFTER.repeat(10)).unwrap();
    fs::write(folder.join("y.csv"), LABELS.repeat(10)).unwrap();
    fs::write(folder.join("z.csv"), "1\n2\n1\n3\n".repeat(10)).unwrap();
    let read = |name: &str| fs::read(folder.join(name)).unwrap();

    let alone = "--predictions p.csv --labels y.csv -o alone.html --pictures alone";
    let names = [
        "alone.html",
        "alone/top-label.svg",
        "alone/isotonic.svg",
        "alone/class-0.svg",
        "alone/class-1.svg",
        "alone/class-2.svg",
    ];
    assert_eq!(written(&folder, alone), names);
    let page = String::from_utf8(read("alone.html")).unwrap();
    assert!(page.contains("<h1>Calibration report</h1>") && page.contains("40 predictions"));
    assert!(!page.contains(" after") && !page.contains("recalibration"));
    assert!(read("alone/class-2.svg").starts_with(b"<svg "));

    let both = "--predictions p.csv --after q.csv --labels z.csv --one-based --title A&B --seed 3 \
                --output both.html --pictures both";
    let names = written(&folder, both);
    assert_eq!(names.len(), 11);
    assert_eq!(names[1], "both/before-top-label.svg");
    assert_eq!(names[10], "both/after-class-3.svg");
    for name in &names[1..] {
        assert!(read(name).starts_with(b"<svg "), "{name}");
    }
    let page = String::from_utf8(read("both.html")).unwrap();
    assert!(page.contains("<h1>A&amp;B</h1>") && page.contains("Seed 3."));
    // the answer first, with the names of the classes as they are in the file
    let (head, _) = page.split_once("<h2>").unwrap();
    assert!(head.contains("Before recalibration: <strong>The model is not calibrated: p\u{a0}≤\u{a0}0.001."));
    assert!(head.contains("After recalibration: <strong>"));
    contains(
        head,
        "<li>class 2 is predicted too often, by 20.0 points (adjusted p",
    );
    assert!(page.contains("Class 3, 25.00\u{a0}% of the labels") && !page.contains("Class 0"));
}

#[test]
fn bad_input_is_one_line_and_exit_code_2() {
    let folder = folder("report-bad");
    fs::write(folder.join("p.csv"), ROWS).unwrap();
    fs::write(folder.join("y.csv"), LABELS).unwrap();
    fs::write(folder.join("q.csv"), "0.5,0.5\n").unwrap();
    fs::write(folder.join("r.csv"), ROWS.replace("0.7", "0.8")).unwrap();
    let check = |arguments: &str, expected: &str| {
        let arguments = format!("report --predictions p.csv --labels y.csv {arguments}");
        assert_eq!(complaint(&folder, &arguments), expected);
    };
    check(
        "--after q.csv -o x.html",
        "q.csv: 1 rows, expected 4, as many as p.csv has",
    );
    check(
        "--after r.csv -o x.html",
        "r.csv: row 0 (line 1): the probabilities sum to 1.1, expected 1 within 1e-2; --normalise divides each row by its sum",
    );
    check(
        "--one-based -o x.html",
        "y.csv: row 0 (line 1): the label is 0, expected a whole number of at least 1",
    );
    let none = complaint(
        &folder,
        "report --predictions p.csv --labels y.csv -o none/x.html",
    );
    begins(&none, "none/x.html: there is no folder none");
    assert!(!folder.join("x.html").exists());
}

/// A page to standard output is the page and nothing else, and no file has the name `-`.
#[test]
fn a_page_to_standard_output() {
    let folder = folder("report-stdout");
    fs::write(folder.join("p.csv"), ROWS).unwrap();
    fs::write(folder.join("y.csv"), LABELS).unwrap();
    let command = "report --predictions p.csv --labels y.csv -o";
    let written = calibration(&folder, &format!("{command} -"));
    assert!(written.status.success());
    calibration(&folder, &format!("{command} page.html"));
    let page = fs::read(folder.join("page.html")).unwrap();
    assert!(page == written.stdout && !folder.join("-").exists());
    let both = complaint(&folder, &format!("{command} - --json"));
    begins(
        &both,
        "-o -: --json goes to standard output too, expected a file",
    );
}

/// A number that is no seed is named as one.
#[test]
fn negative_seeds() {
    let usage = calibration(
        &folder("report-seed"),
        "report --predictions p.csv --labels y.csv -o x.html --seed -1",
    );
    let said = String::from_utf8_lossy(&usage.stderr).into_owned();
    assert!(
        said.contains("invalid value '-1' for '--seed <SEED>'"),
        "{said}"
    );
}
