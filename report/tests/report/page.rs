//! The page: its numbers are those of the estimators, its markup is well-formed and complete.

use burn_calibration::diagram::Band;
use burn_calibration_report::{ALL_PAIRS, BLOCK, ReportBuilder, Sizing, View};

use crate::support::{all, digits, interval, mean_of, number_of, parsed, pictures, report, sample};
use burn_calibration_testing::data::*;

/// The numbers of a page are those of the estimators.
#[test]
fn numbers_are_those_of_the_estimators() {
    let (predictions, labels) = sample(300, 4, 5);
    let report = ReportBuilder::new(&predictions, &labels).build().unwrap();
    let (set, answer) = (&report.before, &report.before.answer);
    assert_eq!((report.samples, report.classes()), (300, 4));
    let ece = Ece::default().on(&predictions, &labels);
    assert_relative(number_of(set, "ece_top_label"), ece, 1e-12);
    assert_relative(set.page.top_label.ece(), ece, 1e-12);
    let ks = KolmogorovSmirnov::default().on(&predictions, &labels);
    assert_relative(number_of(set, "ks"), ks, 1e-12);
    let score = |score: &dyn Score<Categorical>| score.upper_bound(&predictions, &labels).unwrap();
    assert_eq!(set.means.get("brier"), Some(&score(&Brier)));
    assert_eq!(set.means.get("log"), Some(&score(&LogScore)));
    // the test and the estimate have one kernel
    let kernel = report.kernel;
    let median = Kernel::exponential().with_bandwidth_of(&predictions.probabilities());
    assert_eq!(kernel, median.unwrap());
    let test = OmnibusTest::new().with_kernel(kernel);
    let (found, expected) = (
        answer.omnibus.0.clone().unwrap(),
        omnibus(test, &predictions, &labels, 0),
    );
    assert_eq!(
        (found.p_value, &found.aspects),
        (expected.p_value, &expected.aspects)
    );
    let skce = Skce::unbiased(kernel).size(&predictions, &labels).unwrap();
    assert_eq!(interval(answer, "skce"), skce.interval(0.95).unwrap());
    let over = Overconfidence::default().size(&predictions, &labels);
    let over = over.unwrap().interval(0.95).unwrap();
    assert_eq!(interval(answer, "overconfidence"), over);
    let debiased = Tce::default().size(&predictions, &labels).unwrap();
    let debiased = debiased.interval(0.95).unwrap();
    assert_eq!(interval(answer, "ece_debiased"), debiased);
    let top = &set.page.top_label;
    assert_relative(mean_of(set, "accuracy"), top.frequency(), 1e-12);
    assert_relative(mean_of(set, "mean_confidence"), top.confidence(), 1e-12);
}

/// No evidence, and intervals that exclude the value of a calibrated model: one sentence, on the page as in JSON.
#[test]
fn the_verdict_names_intervals_that_disagree() {
    let risks: Vec<f64> = (0..150).map(|i| 0.1 + 0.8 * f64::from(i) / 150.0).collect();
    let occurred = |i: usize| (0.618034 * i as f64) % 1.0 < risks[i] - 0.08;
    let drawn: Vec<usize> = (0..150).map(|i| usize::from(occurred(i))).collect();
    let predictions = binary(&risks).about(Subject::Event).unwrap();
    let report = ReportBuilder::new(&predictions, &labels(&drawn))
        .build()
        .unwrap();
    let outcome = report.before.answer.omnibus.0.as_ref().unwrap();
    let sentence = "Some intervals exclude the value of a calibrated model: O/E of the event (1), mean probability \
                    minus frequency of the event (0). An interval is of one quantity by itself. The verdict is adjusted \
                    for all 9 aspects.";
    assert_eq!(outcome.sentences()[1..], [sentence]);
    assert!(
        report
            .to_html()
            .contains(&format!("</strong> {sentence} Omnibus test with"))
    );
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["before"]["omnibus"]["verdict"], outcome.verdict());
}

/// The page begins with the verdict and the aspects that fail, classes by their names.
#[test]
fn the_answer_comes_first() {
    // 90 % sure of the second class, which it never is
    let (predictions, drawn) = (binary(&[0.9; 40]), labels(&[0; 40]));
    let builder = ReportBuilder::new(&predictions, &drawn).with_class_names(["cat", "<dog>"]);
    let page = builder.clone().build().unwrap().to_html();
    let (head, _) = page.split_once("<h2>Numbers</h2>").unwrap();
    let answers = [
        "<h1>Calibration report</h1>\n<div class=\"answer\"><div><p class=\"verdict\"><strong>",
        "<strong>The model is not calibrated: p\u{a0}≤\u{a0}0.001.</strong> Omnibus test with 999 redraws.",
        "overconfident by 90.0 points (adjusted p\u{a0}≤\u{a0}0.001)",
        "class cat is predicted too rarely, by 90.0 points (adjusted p\u{a0}≤\u{a0}0.001)",
        "class &lt;dog&gt; is predicted too often, by 90.0 points",
    ];
    for answer in answers {
        assert!(head.contains(answer), "{answer} in\n{head}");
    }
    // one verdict each, and in the table p-values, points and intervals
    let after = binary(&[0.0; 40]);
    let report = builder.with_after(&after).build().unwrap();
    let page = report.to_html();
    assert!(page.contains("Before recalibration: <strong>The model is not calibrated"));
    assert!(page.contains("After recalibration: <strong>There is no evidence against calibration"));
    assert!(page.contains("This does not prove that the model is calibrated."));
    assert!(page.contains("<td>p\u{a0}≤\u{a0}0.001<span class=\"note\">(999 redraws)</span></td>"));
    let over = interval(&report.before.answer, "overconfidence");
    let lower = 100.0 * over.lower;
    let cell = format!("<td>90.00<span class=\"note\">[{lower:.2}, 90.00]</span></td>");
    assert!(page.contains(&cell), "{cell}");
    assert!(page.contains("the 95 % confidence interval"));
    // the paired change of a score, which the text speaks of
    let change = report.changes[0].improvement.as_ref().unwrap();
    assert_eq!(report.changes[0].key, "brier");
    let Interval { lower, upper, .. } = change.interval(0.95).unwrap();
    let [change, lower, upper] =
        [change.difference.estimate, lower, upper].map(|x| format!("{x:.4}").replace('-', "−"));
    let cell = format!("<td>{change}<span class=\"note\">[{lower}, {upper}]</span></td>");
    assert!(page.contains(&cell), "{cell}");
    // one picture stands above the numbers
    let (head, _) = page.split_once("<h2>Numbers</h2>").unwrap();
    assert_eq!(head.matches("<h2>").count(), 1);
}

/// The numbers of a page are the estimates of the answer, with what a calibrated model has, and the notes stand under the
/// verdict.
#[test]
fn estimates_and_notes() {
    let (predictions, labels) = sample(300, 4, 5);
    let report = ReportBuilder::new(&predictions, &labels)
        .with_ordered_classes(true)
        .with_notes(vec!["p.csv: rows sum to 1 within <1e-4>".into()])
        .build()
        .unwrap();
    let page = report.to_html();
    let (head, numbers) = page.split_once("<h2>Numbers</h2>").unwrap();
    contains(
        &head,
        "<li>Note: p.csv: rows sum to 1 within &lt;1e-4&gt;</li>",
    );
    let mut shown = 0;
    for (name, estimate) in &report.before.answer.estimates.0.0 {
        let title = name.clone().of(&estimate.of).title.to_string();
        let title = title[..1].to_uppercase() + &title[1..];
        let is_shown = numbers.contains(&format!("<th scope=\"row\">{title}</th>"));
        assert_eq!(is_shown, !estimate.meaning.is_empty(), "{title}");
        shown += usize::from(is_shown);
    }
    assert_eq!(shown, 5); // ECE, KS, Brier, log and ranked probability score
    let ranked = RankedProbabilityScore.mean(&predictions, &labels).unwrap();
    contains(&numbers, &format!("<td>{:.4}<span", ranked.estimate));
    let ece = report
        .before
        .answer
        .estimates
        .0
        .get("ece_top_label")
        .unwrap();
    let mean = format!(
        "Here: a calibrated model has {:.4} on average.",
        ece.if_calibrated.unwrap()
    );
    contains(&numbers, &mean);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["notes"][0], "p.csv: rows sum to 1 within <1e-4>");
    assert_eq!(
        json["before"]["estimates"]["brier"],
        json["before"]["means"]["brier"]["estimate"]
    );
}

/// The sentence of the SKCE, which does not say what is wrong, comes after those that do.
#[test]
fn the_skce_comes_last() {
    let (predictions, drawn) = (binary(&[0.9; 200]), labels(&[0; 200]));
    let report = ReportBuilder::new(&predictions, &drawn).build().unwrap();
    let findings = report.before.answer.findings();
    let is_skce: Vec<bool> = findings
        .iter()
        .map(|f| f.name.starts_with("skce"))
        .collect();
    assert!(is_skce.contains(&true) && is_skce.contains(&false));
    assert!(is_skce.is_sorted(), "{is_skce:?}");
}

/// Of many findings three are seen at once.
#[test]
fn many_failing_aspects_are_counted() {
    let rows: Vec<Vec<f64>> = vec![vec![1.0 / 30.0; 30]; 600];
    let drawn: Vec<usize> = (0..600).map(|i| i % 3).collect();
    let (predictions, labels) = (categorical(&rows), labels(&drawn));
    let report = ReportBuilder::new(&predictions, &labels).build().unwrap();
    let failing = report
        .before
        .answer
        .omnibus
        .0
        .as_ref()
        .unwrap()
        .failing(0.05)
        .len();
    assert!(failing > 30, "{failing}");
    let page = report.to_html();
    assert!(page.contains(&format!("<summary>and {} more</summary>", failing - 3)));
    assert!(page.contains("something is off in the whole prediction: SKCE "));
}

#[test]
fn the_worst_classes_are_shown() {
    let rows = vec![vec![0.25; 4]; 140];
    let (predictions, labels) = (
        categorical(&rows),
        labels(&[3, 3, 1, 1, 2, 0, 3].repeat(20)),
    );
    let build = |most| {
        let builder = ReportBuilder::new(&predictions, &labels).with_most_classes(most);
        builder.build().unwrap()
    };
    // frequencies of 1, 2, 1 and 3 sevenths, where a quarter is predicted
    assert_eq!(build(2).subject.shown, [0, 3]); // of equal ones the first
    assert_eq!(build(3).subject.shown, [0, 2, 3]);
    let page = build(2).to_html();
    assert!(page.contains("The 2 of 4 classes with the largest calibration errors"));
    assert!(build(10).to_html().contains("All classes"));
    assert!(!build(0).to_html().contains("Class by class"));
}

/// Above 20,000 samples the SKCE is of blocks, and its name says so.
#[test]
fn many_samples_are_compared_by_blocks() {
    let (predictions, labels) = sample(ALL_PAIRS + 1, 3, 6);
    let kernel = JointKernel::fixed(&Kernel::exponential(), &predictions).unwrap();
    let expected = Skce::block(kernel, BLOCK).size(&predictions, &labels);
    let view = View::new(predictions, labels, None, &[]);
    let sizes = view.sizes(&Sizing::new(0.95, ""), Some(kernel));
    let (name, size) = sizes.last().unwrap();
    assert_eq!(name.key, "skce");
    contains(&name.title, "25 samples each");
    let interval = size.interval.0.clone().unwrap();
    assert_eq!(interval, expected.unwrap().interval(0.95).unwrap());
}

#[test]
fn the_page_is_well_formed_and_complete() {
    let report = report();
    let page = report.to_html();
    let document = parsed(&page);
    assert_eq!(all(&document, "main").count(), 1);
    for attribute in document.descendants().flat_map(|node| node.attributes()) {
        let name = attribute.name();
        let is_allowed = !["href", "src", "id"].contains(&name) && !name.starts_with("on");
        assert!(is_allowed, "{name}");
    }
    // 2 × 2 diagrams of the top label, 10 of 12 classes twice, each with its text alternative
    for picture in pictures(&document, "<b>\"A\" & 'B'\u{fffd}</b>", 24) {
        assert!(picture.attribute("viewBox").is_some() && picture.attribute("width").is_none());
        let child = |tag: &str| {
            let child = picture.children().find(|node| node.has_tag_name(tag));
            child.unwrap().text().unwrap().to_owned()
        };
        let contents = match child("title") {
            title if title.starts_with("Reliability diagram: ") => "samples, mean probability",
            title if title.starts_with("Isotonic reliability diagram: ") => "isotonic regression",
            title => panic!("{title}"),
        };
        assert!(child("desc").contains(contents));
    }
    for (tag, child) in [("table", "caption"), ("figure", "figcaption")] {
        for node in all(&document, tag) {
            assert!(node.children().any(|node| node.has_tag_name(child)));
        }
    }
    for set in [&report.before, report.after.as_ref().unwrap()] {
        let [skce, debiased] = ["skce", "ece_debiased"].map(|key| interval(&set.answer, key));
        let points = |x: f64| format!("{:.2}", 100.0 * x).replace('-', "−");
        let ends = format!("[{}, {}]", points(debiased.lower), points(debiased.upper));
        let numbers = [
            format!("{:.2}\u{a0}%", 100.0 * mean_of(set, "accuracy")),
            format!("{:.2}\u{a0}%", 100.0 * mean_of(set, "mean_confidence")),
            format!("{:.4}", mean_of(set, "brier")),
            format!("{:.4}", set.means.get("brier").unwrap().standard_error),
            format!("{:.4}", mean_of(set, "log")),
            format!("{:.4}", number_of(set, "ece_top_label")),
            format!("{:.4}", number_of(set, "ks")),
            points(debiased.estimate) + "<span class=\"note\">" + &ends,
            digits(skce.estimate) + "\u{a0}×\u{a0}10",
        ];
        for number in numbers {
            assert!(page.contains(&number), "{number}");
        }
        for diagram in [&set.page.top_label]
            .into_iter()
            .chain(&set.page.class_wise)
        {
            for bin in &diagram.bins {
                let (share, Band { lower, upper }) = (bin.frequency, bin.band);
                let number = format!("frequency {share:.4}, band {lower:.4} to {upper:.4}");
                assert!(page.contains(&number), "{number}");
            }
        }
    }
}

/// What a calibrated model has on average, against estimates of labels that are drawn here.
#[test]
fn means_if_calibrated() {
    let (classes, _) = sample(300, 4, 5);
    let mut rng = rng(17);
    let r: Vec<f64> = (0..300).map(|_| 0.4 * rng.random::<f64>()).collect();
    let event = binary(&r).about(Subject::Event).unwrap();
    for (predictions, one) in [(classes, Event::TopLabel), (event, Event::Class(1))] {
        let e90 = |y: &_| Ici::new(one).errors(&predictions, y).unwrap().ninetieth;
        let corp = |score: &dyn Divergence, y: &_| {
            Corp::of(score, one, &predictions, y)
                .unwrap()
                .miscalibration
        };
        type Of<'a> = Box<dyn Fn(&Tensor<1, Int>) -> f64 + 'a>;
        let p = &predictions;
        let estimates: Vec<(&str, Of)> = vec![
            ("ece_uniform", Box::new(|y| Ece::uniform(10).on(p, y))),
            (
                "ece_median_variance",
                Box::new(|y| Ece::median_variance(100).on(p, y)),
            ),
            ("ece_class_wise", Box::new(|y| Cwce::default().on(p, y))),
            ("ks", Box::new(|y| KolmogorovSmirnov::new(one).on(p, y))),
            ("e90", Box::new(e90)),
            ("brier_miscalibration", Box::new(|y| corp(&Brier, y))),
            ("log_miscalibration", Box::new(|y| corp(&LogScore, y))),
        ];
        let draws: Vec<_> = (0..400).map(|_| predictions.sample(&mut rng)).collect();
        let report = ReportBuilder::new(&predictions, &draws[0]).build().unwrap();
        let mut compared = 0;
        for (name, estimate) in estimates {
            let Some(found) = report.before.answer.estimates.0.get(name) else {
                continue;
            };
            let values: Vec<f64> = draws.iter().map(&estimate).collect();
            let mean = values.iter().sum::<f64>() / 400.0;
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 399.0;
            let error = 4.5 * (variance * (1.0 / 400.0 + 1.0 / 100.0)).sqrt(); // 100 sets at this size
            let found = found.if_calibrated.unwrap();
            assert!(
                (found - mean).abs() <= error,
                "{name}: {found}, expected {mean} ± {error}"
            );
            compared += 1;
        }
        assert_eq!(compared, 6); // class-wise errors are of classes, E90 is of an event
    }
}
