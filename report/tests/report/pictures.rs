//! Files: written whole, and well formed.

use std::{collections::BTreeSet, fs, path::PathBuf};

use burn_calibration::diagram::Reliability;
use burn_calibration_report::Draw;

use crate::support::{folder, has_texts, parsed, report, sample};

#[test]
fn files_are_written_whole() {
    let folder = folder("files");
    let (predictions, labels) = sample(60, 3, 7);
    let diagram = Reliability::default().diagram(&predictions, &labels);
    let diagram = diagram.unwrap();
    let file = folder.join("a.svg");
    diagram.save(&file).unwrap();
    assert_eq!(fs::read_to_string(file).unwrap(), diagram.to_svg());
    diagram.save(folder.join("b.SVG")).unwrap();
    report().save(folder.join("page.html")).unwrap();
    let names = fs::read_dir(&folder).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: BTreeSet<_> = names.collect();
    assert!(names.iter().eq(["a.svg", "b.SVG", "page.html"])); // nothing is left aside
    let complaint = |path: PathBuf| diagram.save(path).unwrap_err().to_string();
    let gif = folder.join("a.gif");
    let expected = format!("{}: the extension is \"gif\", expected svg", gif.display());
    assert_eq!(complaint(gif), expected);
    assert!(complaint(folder.join("a")).ends_with("the extension is \"\", expected svg"));
    assert!(complaint(folder.join("none/a.svg")).contains("there is no folder"));
}

#[test]
fn svg_is_well_formed_and_named() {
    let (predictions, labels) = sample(60, 3, 9);
    let diagram = Reliability::default().diagram(&predictions, &labels);
    let svg = diagram.unwrap().to_svg();
    let document = parsed(&svg);
    let root = document.root_element();
    assert_eq!(root.attribute("viewBox"), Some("0 0 480 610"));
    let namespace = root.tag_name().namespace();
    assert_eq!(namespace, Some("http://www.w3.org/2000/svg"));
    has_texts(&document, &["confidence", "observed frequency", "samples"]);
}
