//! Reliability diagrams and the page: numbers by hand and against the estimators, the coverage of
//! the bands, files that are well-formed and hold every number.

use std::{fs, io::Read, path::PathBuf};

use approx::assert_relative_eq;
use burn::tensor::{Int, Tensor};
use burn_calibration::{
    distribution::Categorical,
    error::Error,
    estimator::{Aspect, Binning, Ece, Event, KolmogorovSmirnov},
    hypothesis::{AsymptoticSkceTest, CalibrationTest},
    kernel::Kernel,
    report::{Reliability, Report, ReportBuilder},
    score::ProperScore,
};
use rand::{RngExt, rngs::StdRng};
use roxmltree::{Document, Node, ParsingOptions};

use super::data::*;

/// Two classes, by the probability of the second.
fn binary(probabilities: &[f64]) -> Categorical {
    let rows: Vec<Vec<f64>> = probabilities.iter().map(|p| vec![1.0 - p, *p]).collect();
    categorical(&rows)
}

/// Labels drawn from the predictions: a calibrated model.
fn draw(rows: &[Vec<f64>], rng: &mut StdRng) -> Vec<usize> {
    let mut label = |row: &Vec<f64>| {
        let mut u = rng.random::<f64>();
        row.iter()
            .position(|p| {
                u -= p;
                u < 0.0
            })
            .unwrap_or(row.len() - 1)
    };
    rows.iter().map(&mut label).collect()
}

fn sample(n: usize, m: usize, seed: u64) -> (Categorical, Tensor<1, Int>) {
    let mut rng = rng(seed);
    let rows = random_probabilities(n, m, &mut rng);
    let drawn = random_labels(n, m, &mut rng);
    (categorical(&rows), labels(&drawn))
}

fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("report")
        .join(test);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The markup as a tree: an error here is a page that is not well-formed.
fn parsed(text: &str) -> Document<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options).unwrap()
}

fn all<'a>(document: &'a Document, tag: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    document
        .descendants()
        .filter(move |node| node.tag_name().name() == tag)
}

#[test]
fn bins_by_hand() {
    // five bins, right-closed: (0.2, 0.4] holds 0.3 and 0.4; (0.6, 0.8] holds the last two
    let predictions = binary(&[0.3, 0.4, 0.75, 0.65, 0.0]);
    let reliability = Reliability::new(Event::Class(1)).with_binning(Binning::Uniform { bins: 5 });
    let diagram = reliability
        .diagram(&predictions, &labels(&[1, 0, 1, 1, 0]))
        .unwrap();
    assert_eq!(diagram.histogram, [1, 2, 0, 2, 0]);
    let counts: Vec<usize> = diagram.bins.iter().map(|bin| bin.count).collect();
    assert_eq!(counts, [1, 2, 2]);
    let found: Vec<f64> = diagram
        .bins
        .iter()
        .flat_map(|bin| {
            [
                bin.lower,
                bin.upper,
                bin.confidence,
                bin.frequency,
                bin.band.0,
                bin.band.1,
            ]
        })
        .collect();
    let expected = [
        [0.0, 0.2, 0.0, 0.0, 0.0, 0.0],
        // both wrong has probability 0.42, both right 0.12: the band is everything
        [0.2, 0.4, 0.35, 0.5, 0.0, 1.0],
        // both wrong has probability 0.0875
        [0.6, 0.8, 0.7, 1.0, 0.0, 1.0],
    ];
    for (found, expected) in found.iter().zip(expected.concat()) {
        assert_relative_eq!(*found, expected, max_relative = 1e-12);
    }
    assert_relative_eq!(
        diagram.ece(),
        (2.0 * 0.15 + 2.0 * 0.3) / 5.0,
        max_relative = 1e-12
    );
    assert_relative_eq!(diagram.confidence(), 2.1 / 5.0, max_relative = 1e-12);
    assert_relative_eq!(diagram.frequency(), 3.0 / 5.0, max_relative = 1e-12);
    assert_eq!(diagram.outside(), 0);
    // at 90 % the tail of 0.0875 is still inside, at 80 % it is not
    let low = |level| {
        reliability
            .with_level(level)
            .diagram(&predictions, &labels(&[1, 0, 1, 1, 0]))
            .unwrap()
            .bins[2]
            .band
            .0
    };
    assert_eq!((low(0.9), low(0.8)), (0.0, 0.5));
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
            let diagram = Reliability::new(event)
                .with_binning(binning)
                .diagram(&predictions, &labels)
                .unwrap();
            let ece = Ece::new(Aspect::Event(event), binning);
            let expected = ece.estimate(&predictions, &labels).unwrap();
            assert_relative_eq!(diagram.ece(), expected, max_relative = 1e-12);
            assert_eq!(diagram.bins.iter().map(|bin| bin.count).sum::<usize>(), 700);
            assert_eq!(diagram.histogram.iter().sum::<usize>(), 700);
            for pair in diagram.bins.windows(2) {
                assert!(pair[0].upper <= pair[1].lower, "in order, disjoint");
            }
            for bin in &diagram.bins {
                assert!((bin.lower..=bin.upper).contains(&bin.confidence));
                assert!(bin.band.0 <= bin.confidence && bin.confidence <= bin.band.1);
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
        let drawn = labels(&draw(&rows, &mut rng));
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
    let diagram = Reliability::default()
        .diagram(&predictions, &labels(&drawn))
        .unwrap();
    let bin = diagram.bins[0];
    assert_eq!((diagram.bins.len(), diagram.outside()), (1, 1));
    assert_relative_eq!(bin.gap(), -0.15, max_relative = 1e-12);
    assert!(!bin.is_inside() && bin.band.0 > 0.9);
}

#[test]
fn degenerate_data_have_a_diagram_and_a_page() {
    let check = |predictions: &Categorical, drawn: &[usize], bins: usize| {
        let labels = labels(drawn);
        let diagram = Reliability::default()
            .with_binning(Binning::Uniform { bins })
            .diagram(predictions, &labels)
            .unwrap();
        parsed(&diagram.to_svg());
        let builder = ReportBuilder::new(predictions, &labels).with_after(predictions);
        let report = builder
            .with_binning(Binning::Uniform { bins })
            .build()
            .unwrap();
        let page = report.to_html();
        parsed(&page);
        for garbage in ["NaN", "inf<", "inf ", "inf,"] {
            assert!(!page.contains(garbage), "{garbage} in\n{page}");
        }
        report
    };
    let one = check(&binary(&[0.7]), &[1], 15);
    assert!(matches!(one.before.skce, Err(Error::TooFewSamples { .. })));
    assert!(one.to_html().contains("needs at least 2 samples, got 1"));
    let one_bin = check(&binary(&[0.1, 0.5, 0.9]), &[1, 0, 1], 1);
    assert_eq!(one_bin.before.top_label.bins.len(), 1);
    check(&binary(&[0.5; 9]), &[1, 0, 1, 0, 0, 0, 0, 1, 1], 1000);
    // certain and right, certain and wrong: the log score is infinite
    check(&binary(&[1.0, 0.0, 1.0]), &[1, 0, 1], 15);
    let wrong = check(&binary(&[1.0, 0.0, 1.0]), &[1, 0, 0], 15);
    assert!(matches!(
        wrong.before.log,
        Err(Error::ZeroProbability { row: 2, class: 0 })
    ));
    assert!(
        wrong
            .to_html()
            .contains("row 2: the observed class 0 has probability 0")
    );
}

#[test]
fn errors_name_the_cause() {
    let predictions = binary(&[0.5, 0.6]);
    let drawn = labels(&[0, 1]);
    let message = |reliability: Reliability| {
        let error = reliability.diagram(&predictions, &drawn).unwrap_err();
        error.to_string()
    };
    assert_eq!(
        message(Reliability::default().with_level(1.0)),
        "the level of a consistency band is 1, expected a number between 0 and 1"
    );
    assert_eq!(
        message(Reliability::new(Event::Class(2))),
        "the class of a class-wise lens is 2, expected a column of the predictions"
    );
    assert_eq!(
        message(Reliability::default().with_binning(Binning::Uniform { bins: 0 })),
        "the number of bins is 0, expected at least 1"
    );
    let build = |builder: ReportBuilder| builder.build().unwrap_err().to_string();
    let builder = ReportBuilder::new(&predictions, &drawn);
    assert_eq!(
        build(builder.clone().with_class_names(["a"])),
        "the number of class names is 1, expected one for each class"
    );
    let three = categorical(&[vec![0.2, 0.3, 0.5], vec![0.2, 0.3, 0.5]]);
    assert_eq!(
        build(builder.clone().with_after(&three)),
        "the predictions have 3 classes, expected 2"
    );
    let short = binary(&[0.5]);
    assert_eq!(
        build(builder.with_after(&short)),
        "1 predictions but 2 labels, expected as many of one as of the other"
    );
}

fn report() -> Report {
    let (before, labels) = sample(900, 12, 3);
    let (after, _) = sample(900, 12, 4);
    ReportBuilder::new(&before, &labels)
        .with_after(&after)
        .with_title("<b>\"A\" & 'B'\u{1}</b>")
        .build()
        .unwrap()
}

/// The numbers of a page are those of the estimators.
#[test]
fn numbers_are_those_of_the_estimators() {
    let (predictions, labels) = sample(300, 4, 5);
    let report = ReportBuilder::new(&predictions, &labels).build().unwrap();
    let summary = &report.before;
    assert_eq!((report.samples, report.classes()), (300, 4));
    let close = |found: f64, expected: f64| {
        assert_relative_eq!(found, expected, max_relative = 1e-12);
    };
    close(
        summary.ece,
        Ece::default().estimate(&predictions, &labels).unwrap(),
    );
    let ks = KolmogorovSmirnov::default().estimate(&predictions, &labels);
    close(summary.ks, ks.unwrap());
    let score = |score: ProperScore| score.upper_bound(&predictions, &labels).unwrap();
    assert_eq!(summary.brier, score(ProperScore::Brier));
    assert_eq!(summary.log, Ok(score(ProperScore::Log)));
    let test = AsymptoticSkceTest::new(Kernel::exponential());
    let outcome = test.evaluate(&predictions, &labels, &mut rng(0)).unwrap();
    assert_eq!(summary.skce, Ok(outcome));
    close(summary.accuracy.estimate, summary.top_label.frequency());
    close(summary.confidence.estimate, summary.top_label.confidence());
}

#[test]
fn classes_with_most_labels_are_shown() {
    let rows = vec![vec![0.25; 4]; 7];
    let (predictions, labels) = (categorical(&rows), labels(&[3, 3, 1, 1, 2, 0, 3]));
    let build = |most| {
        let builder = ReportBuilder::new(&predictions, &labels).with_most_classes(most);
        builder.build().unwrap()
    };
    assert_eq!(build(2).shown_classes, [1, 3]);
    assert_eq!(build(3).shown_classes, [0, 1, 3]); // of equally many the first
    assert!(
        build(2)
            .to_html()
            .contains("2 of the 4 classes: those with most labels")
    );
    assert!(build(10).to_html().contains("All classes"));
    assert!(!build(0).to_html().contains("Class by class"));
}

#[test]
fn a_subset_is_drawn_by_the_seed_and_said() {
    let (predictions, labels) = sample(400, 3, 6);
    let build = |seed| {
        let builder = ReportBuilder::new(&predictions, &labels).with_skce_samples(100);
        builder.with_seed(seed).build().unwrap()
    };
    let (one, same, other) = (build(1), build(1), build(2));
    assert_eq!(one.to_html(), same.to_html());
    assert_ne!(one.before.skce, other.before.skce);
    assert_eq!(one.before.brier, other.before.brier);
    assert_eq!(one.before.skce.as_ref().unwrap().samples(), 100);
    assert!(one.to_html().contains("on 100 samples drawn at random"));
}

#[test]
fn the_page_is_well_formed_and_complete() {
    let report = report();
    let page = report.to_html();
    let document = parsed(&page);
    assert_eq!(all(&document, "main").count(), 1);
    let heading = all(&document, "h1").next().unwrap();
    assert_eq!(heading.text(), Some("<b>\"A\" & 'B'\u{fffd}</b>"));
    for forbidden in ["http", "<script", "<link", "<img", "url(", "@import", "<b>"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    for attribute in document.descendants().flat_map(|node| node.attributes()) {
        let name = attribute.name();
        assert!(
            !["href", "src", "id"].contains(&name) && !name.starts_with("on"),
            "{name}"
        );
    }
    // 2 diagrams of the top label, 10 of 12 classes twice, each with its text alternative
    let pictures: Vec<Node> = all(&document, "svg")
        .filter(|svg| svg.attribute("aria-hidden").is_none())
        .collect();
    assert_eq!(pictures.len(), 22);
    for picture in &pictures {
        assert_eq!(picture.attribute("role"), Some("img"));
        assert!(picture.attribute("viewBox").is_some() && picture.attribute("width").is_none());
        let child = |tag: &str| {
            let mut children = picture.children();
            children
                .find(|node| node.has_tag_name(tag))
                .unwrap()
                .text()
                .unwrap()
                .to_owned()
        };
        assert!(child("title").starts_with("Reliability diagram: "));
        assert!(child("desc").contains("samples, mean probability"));
    }
    for table in all(&document, "table") {
        assert!(table.children().any(|node| node.has_tag_name("caption")));
    }
    for figure in all(&document, "figure") {
        assert!(
            figure
                .children()
                .any(|node| node.has_tag_name("figcaption"))
        );
    }
    for summary in [&report.before, report.after.as_ref().unwrap()] {
        let outcome = summary.skce.as_ref().unwrap();
        let numbers = [
            format!("{:.2}\u{a0}%", 100.0 * summary.accuracy.estimate),
            format!("{:.2}\u{a0}%", 100.0 * summary.confidence.estimate),
            format!("{:.4}", summary.brier.estimate),
            format!("{:.4}", summary.brier.standard_error),
            format!("{:.4}", summary.log.as_ref().unwrap().estimate),
            format!("{:.4}", summary.ece),
            format!("{:.4}", summary.ks),
            format!("{:.2e}", outcome.estimate())
                .split('e')
                .next()
                .unwrap()
                .replace('-', "−")
                + " × 10",
        ];
        for number in numbers {
            assert!(page.contains(&number), "{number}");
        }
        for diagram in [&summary.top_label].into_iter().chain(&summary.class_wise) {
            for bin in &diagram.bins {
                let number = format!(
                    "frequency {:.4}, band {:.4} to {:.4}",
                    bin.frequency, bin.band.0, bin.band.1
                );
                assert!(page.contains(&number), "{number}");
            }
        }
    }
}

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
    diagram.save(folder.join("a.PNG")).unwrap();
    report().save(folder.join("page.html")).unwrap();
    let mut names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["a.PNG", "a.svg", "page.html"]); // nothing is left aside
    let complaint = |path: PathBuf| diagram.save(path).unwrap_err().to_string();
    let gif = folder.join("a.gif");
    assert_eq!(
        complaint(gif.clone()),
        format!(
            "{}: the extension is \"gif\", expected svg or png",
            gif.display()
        )
    );
    assert!(complaint(folder.join("a")).ends_with("the extension is \"\", expected svg or png"));
    assert!(complaint(folder.join("none/a.svg")).contains("No such file"));
}

/// The pixels of a PNG file without filters, of which each checksum is looked at.
fn decoded(file: &[u8], width: u32, height: u32) -> Vec<u8> {
    let mut rest = file.strip_prefix(b"\x89PNG\r\n\x1a\n").unwrap();
    let mut chunks = Vec::new();
    while let Some((length, tail)) = rest.split_first_chunk::<4>() {
        let end = 4 + u32::from_be_bytes(*length) as usize;
        let (body, tail) = tail.split_at(end);
        let (checksum, tail) = tail.split_first_chunk::<4>().unwrap();
        let mut crc = flate2::Crc::new();
        crc.update(body);
        assert_eq!(crc.sum(), u32::from_be_bytes(*checksum));
        chunks.push(body.split_at(4));
        rest = tail;
    }
    let names: Vec<&[u8]> = chunks.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, [b"IHDR", b"IDAT", b"IEND"]);
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    assert_eq!(chunks[0].1, [&size[..], &[8, 2, 0, 0, 0]].concat());
    let mut rows = Vec::new();
    let mut decoder = flate2::read::ZlibDecoder::new(chunks[1].1);
    decoder.read_to_end(&mut rows).unwrap();
    let row = 1 + 3 * width as usize;
    assert_eq!(rows.len(), row * height as usize);
    rows.chunks(row)
        .flat_map(|row| &row[1..])
        .copied()
        .collect()
}

/// The file has the size it says, ink where the frame of the plot is, and text.
#[test]
fn png_is_the_same_picture() {
    let (predictions, labels) = sample(60, 3, 8);
    let diagram = Reliability::default()
        .diagram(&predictions, &labels)
        .unwrap();
    let path = folder("png").join("diagram.png");
    diagram.save(&path).unwrap();
    let pixels = decoded(&fs::read(path).unwrap(), 960, 1220);
    let dark = |x: usize, y: usize| pixels[3 * (y * 960 + x)] < 100;
    let frame_at = |x: usize, y: usize| (x - 3..=x + 3).any(|x| dark(x, y));
    // the left and right edges of the plot, at pixels of twice the units of the SVG
    assert!(frame_at(144, 400) && frame_at(932, 400));
    let ink = |x: std::ops::Range<usize>, y: std::ops::Range<usize>| {
        x.flat_map(|x| y.clone().map(move |y| (x, y)))
            .filter(|&(x, y)| dark(x, y))
            .count()
    };
    assert!(ink(140..928, 10..60) > 500, "the heading");
    assert!(ink(0..50, 200..700) > 500, "the name of the vertical axis");
    assert!(
        ink(300..800, 1158..1218) > 500,
        "the name of the horizontal axis"
    );
    // nothing touches the edge of the paper
    assert_eq!(
        ink(0..960, 0..4) + ink(0..960, 1216..1220) + ink(0..4, 0..1220) + ink(956..960, 0..1220),
        0
    );
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
