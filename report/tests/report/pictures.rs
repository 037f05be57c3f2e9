//! Files: written whole, and well formed.

use std::{fs, path::PathBuf};

use burn_calibration::diagram::Reliability;
use burn_calibration_report::Draw;

use crate::support::{all, folder, parsed, report, sample};

#[test]
fn files_are_written_whole() {
    let folder = folder("files");
    let (predictions, labels) = sample(60, 3, 7);
    let diagram = Reliability::default()
        .diagram(&predictions, &labels)
        .unwrap();
    diagram.save(folder.join("a.svg")).unwrap();
    assert_eq!(
        fs::read_to_string(folder.join("a.svg")).unwrap(),
        diagram.to_svg()
    );
    diagram.save(folder.join("b.SVG")).unwrap();
    report().save(folder.join("page.html")).unwrap();
    let mut names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["a.svg", "b.SVG", "page.html"]); // nothing is left aside
    let complaint = |path: PathBuf| diagram.save(path).unwrap_err().to_string();
    let gif = folder.join("a.gif");
    assert_eq!(
        complaint(gif.clone()),
        format!("{}: the extension is \"gif\", expected svg", gif.display())
    );
    assert!(complaint(folder.join("a")).ends_with("the extension is \"\", expected svg"));
    assert!(complaint(folder.join("none/a.svg")).contains("there is no folder"));
}

#[test]
fn svg_is_well_formed_and_named() {
    let (predictions, labels) = sample(60, 3, 9);
    let diagram = Reliability::default()
        .diagram(&predictions, &labels)
        .unwrap();
    let svg = diagram.to_svg();
    let document = parsed(&svg);
    let root = document.root_element();
    assert_eq!(root.attribute("viewBox"), Some("0 0 480 610"));
    assert_eq!(
        root.tag_name().namespace(),
        Some("http://www.w3.org/2000/svg")
    );
    let texts: Vec<&str> = all(&document, "text")
        .filter_map(|text| text.text())
        .collect();
    for name in ["confidence", "observed frequency", "samples"] {
        assert!(texts.contains(&name), "{texts:?}");
    }
}
