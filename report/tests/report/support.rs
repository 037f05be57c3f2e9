//! Data, and pages as trees of markup.

use std::{fs, path::PathBuf};

use burn_calibration_report::{Answer, Assessed, ReliabilitySection, Report, ReportBuilder};
use rand_distr::{Distribution, StandardNormal};
use roxmltree::{Document, Node, ParsingOptions};

use burn_calibration_testing::data::*;

/// A mean of a set of predictions, by its key.
pub fn mean_of<S>(set: &Assessed<S>, key: &str) -> f64 {
    set.means.get(key).unwrap().estimate
}

/// An estimate of a set of predictions, by its key.
pub fn number_of<S>(set: &Assessed<S>, key: &str) -> f64 {
    let estimate = set.answer.estimates.0.get(key).unwrap();
    estimate.value.0.as_ref().unwrap().number()
}

pub fn sample(n: usize, m: usize, seed: u64) -> (Categorical, Tensor<1, Int>) {
    let mut rng = rng(seed);
    let rows = random_probabilities(n, m, &mut rng);
    let drawn = random_labels(n, m, &mut rng);
    (categorical(&rows), labels(&drawn))
}

pub fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let folder = folder.join("report").join(test);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The markup as a tree: an error here is a page that is not well-formed.
pub fn parsed(text: &str) -> Document<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options).unwrap()
}

/// A page or picture is well-formed, without numbers that are none.
pub fn is_sound(page: &str) {
    parsed(page);
    for garbage in ["NaN", "inf<", "inf ", "inf,"] {
        assert!(!page.contains(garbage), "{garbage} in\n{page}");
    }
}

pub fn all<'a>(document: &'a Document, tag: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    let nodes = document.descendants();
    nodes.filter(move |node| node.tag_name().name() == tag)
}

pub fn has_texts(document: &Document, expected: &[&str]) {
    let texts = all(document, "text").filter_map(|text| text.text());
    let texts: Vec<&str> = texts.collect();
    for text in expected {
        assert!(texts.contains(text), "{texts:?}");
    }
}

/// A page on its own, under a heading: its so many pictures.
pub fn pictures<'a>(document: &'a Document, heading: &str, count: usize) -> Vec<Node<'a, 'a>> {
    let first = all(document, "h1").next().unwrap();
    assert_eq!(first.text(), Some(heading));
    let page = document.input_text();
    for forbidden in ["http", "<script", "<link", "<img", "url(", "@import", "<b>"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    let pictures = all(document, "svg").filter(|svg| svg.attribute("aria-hidden").is_none());
    let pictures: Vec<Node> = pictures.collect();
    assert_eq!(pictures.len(), count);
    for picture in &pictures {
        assert_eq!(picture.attribute("role"), Some("img"));
    }
    pictures
}

/// The digits of a number with a power of ten.
pub fn digits(number: f64) -> String {
    let text = format!("{number:.2e}").replace('-', "−");
    text.split('e').next().unwrap().to_owned()
}

pub fn report() -> Report<ReliabilitySection> {
    let (before, labels) = sample(900, 12, 3);
    let (after, _) = sample(900, 12, 4);
    ReportBuilder::new(&before, &labels)
        .with_after(&after)
        .with_title("<b>\"A\" & 'B'\u{1}</b>")
        .build()
        .unwrap()
}

/// `N(0, 1)` in each coordinate, and targets from it times a factor.
pub fn standard(n: usize, d: usize, factor: f64, rng: &mut StdRng) -> (Normal, Tensor<2>) {
    let mut draws = StandardNormal.sample_iter(rng);
    let draws: Vec<f64> = draws.by_ref().take(n * d).collect();
    let targets = column(draws).reshape([n, d]) * factor;
    let predictions = Normal::new(targets.zeros_like(), targets.ones_like());
    (predictions, targets)
}

/// An error of an answer with its interval.
pub fn interval(answer: &Answer, key: &str) -> Interval {
    let size = answer.intervals.get(key).expect(key);
    *size.interval.0.as_ref().expect(key)
}
