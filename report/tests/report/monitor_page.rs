//! The page of a monitor: its pictures, its sentences and its numbers.

use burn_calibration::monitor::CalibrationMonitor;
use burn_calibration_report::MonitorReport;

use crate::support::{all, folder, has_texts, is_sound, parsed, pictures};
use burn_calibration_testing::data::*;

/// A monitor of an event that has probability 0.2 in each row, and happens in one row of `every`.
fn monitor(rows: usize, every: usize) -> CalibrationMonitor {
    let predictions = binary(&vec![0.2; rows]).about(Subject::Event).unwrap();
    let happened: Vec<usize> = (0..rows).map(|row| usize::from(row % every == 0)).collect();
    let monitor = CalibrationMonitor::new(0.05).unwrap();
    let mut monitor = monitor.with_rows_between_alarms(1000.0).unwrap();
    monitor.update(&predictions, &labels(&happened)).unwrap();
    monitor
}

/// An alarm of the detector alone: the sentence about the test does not contradict it.
#[test]
fn the_test_may_have_no_alarm() {
    let rows = 4000;
    let happens = |row: usize| row.is_multiple_of(5) || row > 3900 && row.is_multiple_of(2);
    let happened: Vec<usize> = (0..rows).map(|row| usize::from(happens(row))).collect();
    let predictions = binary(&vec![0.2; rows]).about(Subject::Event).unwrap();
    let mut monitor = CalibrationMonitor::new(0.05).unwrap();
    let change = monitor.update(&predictions, &labels(&happened)).unwrap();
    assert!(change.unwrap().alarm > 3900);
    let report = MonitorReport::new(&monitor, &[]);
    let expected = "The test of all 4000 rows has no alarm: p = ";
    assert!(report.verdict().starts_with(expected) && !report.is_rejected());
    let page = report.to_html();
    is_sound(&page);
    assert!(page.contains("The last alarm of the detector. Alarm at row 39"));
    assert!(monitor.state().history.len() <= 512);
}

/// The diamonds of a picture.
fn diamonds(picture: roxmltree::Node) -> usize {
    let paths = picture.descendants();
    let is_alarm = |path: &roxmltree::Node| {
        let class = path.attribute("class").unwrap_or_default();
        class.contains("fill-alarm")
    };
    paths.filter(is_alarm).count()
}

#[test]
fn alarms_are_drawn_and_named() {
    let monitor = monitor(600, 2);
    let state = monitor.state();
    let row = state.alarm_at.unwrap();
    assert!(state.alarms > 2);
    let report = MonitorReport::new(&monitor, &[]).with_title("Risk <of> loans");
    let page = report.to_html();
    is_sound(&page);
    let document = parsed(&page);
    let drawn = pictures(&document, "Risk <of> loans", 2);
    assert_eq!(diamonds(drawn[0]), 1);
    let points = monitor.state().history.iter();
    assert_eq!(
        diamonds(drawn[1]),
        points.filter(|point| point.alarms > 0).count()
    );
    // powers of ten, rows, and what the axes are
    has_texts(
        &document,
        &["10⁰", "10²", "0", "200", "row", "wealth", "detector"],
    );
    let change = state.change.as_ref().unwrap();
    let sentences = [
        report.verdict(),
        report.alarm(change).unwrap(),
        change.component.as_ref().unwrap().sentence(&[]),
    ];
    for sentence in &sentences {
        assert!(page.contains(sentence.as_str()), "{sentence}");
    }
    assert!(sentences[0].ends_with(&format!("an alarm of the test at row {row}.")));
    let rate = "(in 1000 rows or more a calibrated model has one such alarm): the model seems miscalibrated";
    assert!(sentences[1].contains(rate));
    // each line of numbers is a row of the table
    let rows = all(&document, "table").nth(1).unwrap().descendants();
    let cells: Vec<&str> = rows.filter_map(|node| node.text()).collect();
    let lines = report.lines();
    assert_eq!(lines.len(), 5);
    let gain = &lines[2].text; // of all rows, which show what the rows since one alarm need not
    assert!(gain.starts_with("the probabilities of class 1 are too low"));
    for line in &lines {
        assert!(cells.contains(&line.text.as_str()), "{line:?}");
    }
    assert!(lines[4].text.starts_with("-30.00 [-"), "{:?}", lines[4]);
    // the numbers of the pictures, in a table and in words
    let first = &monitor.state().history[0];
    assert_eq!(
        all(&document, "tr").count(),
        lines.len() + 1 + monitor.state().history.len()
    );
    let words = all(&document, "desc").next().unwrap().text().unwrap();
    assert!(words.contains(&format!(
        "An alarm is at 20.00: alarms at or after row {row}."
    )));
    assert!(
        words.contains(&format!("From row 0: {:.3}.", first.wealth)),
        "{words}"
    );
    let files = report.save_diagrams(folder("monitor")).unwrap();
    assert!(files[1].ends_with("detector.svg"));
}

#[test]
fn without_alarms_or_rows() {
    let calibrated = monitor(300, 5);
    let report = MonitorReport::new(&calibrated, &[]);
    let page = report.to_html();
    is_sound(&page);
    let document = parsed(&page);
    let drawn = pictures(&document, "Calibration in production", 2);
    assert_eq!(drawn.into_iter().map(diamonds).sum::<usize>(), 0);
    assert!(page.contains("No evidence against calibration after 300 rows: p = "));
    assert!(!page.contains("argest gain"));

    for rows in [0, 1] {
        let mut monitor = CalibrationMonitor::new(0.05).unwrap();
        if rows > 0 {
            let sure = binary(&[0.0]).about(Subject::Event).unwrap();
            monitor.update(&sure, &labels(&[1])).unwrap();
        }
        let page = MonitorReport::new(&monitor, &[]).to_html();
        is_sound(&page);
        let verdict = [
            "No evidence against calibration after 0 rows",
            "refuted by a fact: row 0",
        ];
        assert!(page.contains(verdict[rows]));
    }
}
