//! Reliability diagrams: numbers by hand, and the coverage of the bands.

use burn_calibration::diagram::Reliability;
use burn_calibration_report::{Draw, ReportBuilder};

use crate::support::{is_sound, mean_of, parsed, sample};
use burn_calibration_testing::data::*;

#[test]
fn bins_by_hand() {
    // five bins, right-closed: (0.2, 0.4] holds 0.3 and 0.4; (0.6, 0.8] holds the last two
    let predictions = binary(&[0.3, 0.4, 0.75, 0.65, 0.0]);
    let reliability = Reliability::new(Event::Class(1)).with_binning(Binning::Uniform { bins: 5 });
    let y = labels(&[1, 0, 1, 1, 0]);
    let diagram = reliability.diagram(&predictions, &y).unwrap();
    assert_eq!(diagram.histogram, [1, 2, 0, 2, 0]);
    assert!(diagram.bins.iter().map(|bin| bin.count).eq([1, 2, 2]));
    let expected = [
        [0.0, 0.2, 0.0, 0.0, 0.0, 0.0],
        // both wrong has probability 0.42, both right 0.12: the band is everything
        [0.2, 0.4, 0.35, 0.5, 0.0, 1.0],
        // both wrong has probability 0.0875
        [0.6, 0.8, 0.7, 1.0, 0.0, 1.0],
    ];
    for (bin, expected) in diagram.bins.iter().zip(expected) {
        let means = [bin.confidence, bin.frequency];
        let found = [[bin.lower, bin.upper], means, bin.band.into()];
        all_relative(found.concat(), expected, 1e-12);
    }
    assert_relative(diagram.ece(), (2.0 * 0.15 + 2.0 * 0.3) / 5.0, 1e-12);
    assert_relative(diagram.confidence(), 2.1 / 5.0, 1e-12);
    assert_relative(diagram.frequency(), 3.0 / 5.0, 1e-12);
    assert_eq!(diagram.outside(), 0);
    // at 90 % the tail of 0.0875 is still inside, at 80 % it is not
    for (level, low) in [(0.9, 0.0), (0.8, 0.5)] {
        let diagram = reliability.with_level(level).diagram(&predictions, &y);
        assert_eq!(diagram.unwrap().bins[2].band.lower, low);
    }
}

#[test]
fn ece_is_that_of_the_estimator() {
    let (predictions, labels) = sample(700, 4, 1);
    for event in [Event::TopLabel, Event::Class(2)] {
        for binning in [
            Binning::Uniform { bins: 15 },
            Binning::EqualMass { bins: 12 },
            Binning::MedianVariance { minimum: 50 },
        ] {
            let diagram = Reliability::new(event).with_binning(binning);
            let diagram = diagram.diagram(&predictions, &labels).unwrap();
            let ece = Ece::new(Aspect::Event(event), binning);
            assert_relative(diagram.ece(), ece.on(&predictions, &labels), 1e-12);
            assert_eq!(diagram.bins.iter().map(|bin| bin.count).sum::<usize>(), 700);
            assert_eq!(diagram.histogram.iter().sum::<usize>(), 700);
            for pair in diagram.bins.windows(2) {
                assert!(pair[0].upper <= pair[1].lower, "in order, disjoint");
            }
            for bin in &diagram.bins {
                assert!((bin.lower..=bin.upper).contains(&bin.confidence));
                assert!(bin.band.lower <= bin.confidence && bin.confidence <= bin.band.upper);
            }
        }
    }
}

/// On calibrated data a band of 95 % holds its frequency 95 % of the time, or a little more: the
/// counts are whole numbers.
#[test]
fn bands_cover_calibrated_data() {
    let mut rng = rng(2);
    let rows = random_probabilities(3000, 3, &mut rng);
    let predictions = categorical(&rows);
    let reliability = Reliability::default().with_binning(Binning::EqualMass { bins: 10 });
    let (mut inside, mut all) = (0, 0);
    for _ in 0..300 {
        let drawn = labels(&draw_classes(&rows, &mut rng));
        let diagram = reliability.diagram(&predictions, &drawn).unwrap();
        inside += diagram.bins.len() - diagram.outside();
        all += diagram.bins.len();
    }
    assert_eq!(all, 3000);
    let share = f64::from(inside as u32) / f64::from(all as u32);
    // a count of 300 samples has steps of some 0.04 standard deviations, or 0.5 % of coverage a tail;
    // three standard errors of 3000 bins are 1.2 %
    assert!((0.938..=0.972).contains(&share), "{share}");
}

#[test]
fn miscalibration_is_outside() {
    let predictions = binary(&[0.95; 200]);
    let drawn: Vec<usize> = (0..200).map(|i| usize::from(i % 5 > 0)).collect();
    let diagram = Reliability::default().diagram(&predictions, &labels(&drawn));
    let diagram = diagram.unwrap();
    let bin = diagram.bins[0];
    assert_eq!((diagram.bins.len(), diagram.outside()), (1, 1));
    assert_relative(bin.gap(), -0.15, 1e-12);
    assert!(!bin.is_inside() && bin.band.lower > 0.9);
}

#[test]
fn degenerate_data_have_a_diagram_and_a_page() {
    let check = |predictions: &Categorical, drawn: &[usize], bins: usize| {
        let (labels, binning) = (labels(drawn), Binning::Uniform { bins });
        let diagram = Reliability::default().with_binning(binning);
        let diagram = diagram.diagram(predictions, &labels).unwrap();
        parsed(&diagram.to_svg());
        let builder = ReportBuilder::new(predictions, &labels).with_after(predictions);
        let report = builder.with_binning(binning).build().unwrap();
        is_sound(&report.to_html());
        report
    };
    let one = check(&binary(&[0.7]), &[1], 15);
    let skce = one.before.answer.intervals.get("skce").unwrap();
    contains(&skce, "needs at least 2 samples, got 1");
    assert!(one.to_html().contains("needs at least 2 samples, got 1"));
    let one_bin = check(&binary(&[0.1, 0.5, 0.9]), &[1, 0, 1], 1);
    assert_eq!(one_bin.before.page.top_label.bins.len(), 1);
    check(&binary(&[0.5; 9]), &[1, 0, 1, 0, 0, 0, 0, 1, 1], 1000);
    // certain and right, certain and wrong: the log score is infinite
    check(&binary(&[1.0, 0.0, 1.0]), &[1, 0, 1], 15);
    let wrong = check(&binary(&[1.0, 0.0, 1.0]), &[1, 0, 0], 15);
    assert!(wrong.before.means.get("log").is_none());
    let page = wrong.to_html();
    assert!(page.contains("row 2: the log score of class 0 is infinite"));
    let json = serde_json::to_value(&wrong).unwrap();
    let reason = json["before"]["estimates"]["log"]["error"]
        .as_str()
        .unwrap();
    contains(&reason, "row 2: the log score of class 0");
    let brier = mean_of(&wrong.before, "brier");
    assert_eq!(json["before"]["means"]["brier"]["estimate"], brier);
    assert_eq!(json["before"]["estimates"]["brier"], brier);
    assert_eq!(json["before"]["omnibus"]["samples"], 3);
    assert_eq!(json["subject"]["names"], serde_json::json!(["0", "1"]));
    let item = "<li>a label of probability 0 occurred (row 2) (adjusted p\u{a0}≤\u{a0}0.001)";
    assert!(page.contains(item));
}
