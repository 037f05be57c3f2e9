//! Files of one call side by side.

use crate::*;
use burn_calibration_reader::labels::{LabelClasses, of_files};
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// Texts in the place of files, of which `p` has predictions and `y` the labels.
fn files(p: &str, y: &str, options: ReadOptions) -> (Result<Files>, Notes) {
    let texts = [("p", p), ("y", y)];
    let texts = texts.map(|(name, text)| (name.into(), text.to_owned()));
    let options = ReadOptions {
        labels: Some("y".into()),
        texts: Texts::new(texts.into()),
        ..options
    };
    let mut notes = Notes::default();
    let inputs = Inputs::of("p".as_ref());
    let read = OpenFiles::new(&inputs, &options, true).and_then(|mut files| {
        files.open_labels(&[])?;
        files.read(&[], &mut notes)
    });
    (read, notes)
}

fn labels(files: &Files) -> String {
    let cells = &files.labels.as_ref().unwrap().table.labels[0].cells;
    cells.iter().collect::<Vec<_>>().join(",")
}

/// Rows are in their order, in which columns that files share must agree, or matched by a column.
#[test]
fn rows_of_several_files() {
    let p = "name,a,b\nu,0.5,0.5\nv,0.25,0.75\nw,1,0\n";
    let by_id = || ReadOptions {
        id: Some("NAME".into()),
        ..ReadOptions::default()
    };
    let shuffled = "y,name\n1,w\n0,u\n2,v\n";
    let (read, notes) = files(p, shuffled, by_id());
    assert_eq!(labels(&read.unwrap()), "0,2,1");
    assert!(notes.0.is_empty());
    let (read, _) = files(p, shuffled, ReadOptions::default());
    let expected = "y: row 0 (line 2), column 1 (name): w, expected u as in row 0 (line 2) of p, because rows are \
                    matched by their order; --id name matches them by this column, and --by-position does not compare it";
    assert_eq!(read.err().unwrap().to_string(), expected);
    let by_position = ReadOptions {
        by_position: true,
        label_column: Some("y".into()),
        ..ReadOptions::default()
    };
    assert_eq!(labels(&files(p, shuffled, by_position).0.unwrap()), "1,0,2");
    for (y, expected) in [
        (
            "y,name\n1,u\n0,u\n2,v\n",
            "y: rows 0 and 1 have the id u, expected each id once",
        ),
        (
            "y,name\n1,u\n0,x\n2,v\n",
            "y: no row has the id w, which row 2 of p has",
        ),
        ("y,name\n1,u\n2,v\n", "y: 2 rows, expected 3, as in p"),
    ] {
        begins(&files(p, y, by_id()).0.err().unwrap().to_string(), expected);
    }
}

/// A missing value is an error, or its row is left out of all files, and counted in a note.
#[test]
fn rows_that_are_left_out() {
    let (p, y) = ("a,b\n0.5,\n0.25,0.75\n1,0\n0,1\n", "y\n0\n1\nNA\n255\n");
    let error = files(p, y, ReadOptions::default()).0.err().unwrap();
    begins(
        &error.to_string(),
        "p: row 0 (line 2), column 1 (b): the value is empty, NA, null or NaN",
    );
    let (read, notes) = files(
        p,
        y,
        ReadOptions {
            skip_missing: true,
            ignore_label: vec!["255".into()],
            ..ReadOptions::default()
        },
    );
    let read = read.unwrap();
    assert_eq!(labels(&read), "1");
    assert_eq!(read.sets[0].table.numbers.values, [0.25, 0.75]);
    assert_eq!((read.left_out.missing, read.left_out.ignored), (2, 1));
    let expected = [
        "2 of 4 rows are left out, because values are missing: 1 in column 1 (b) of p, 1 in column 0 (y) of y",
        "y: 1 of 4 rows have the label 255 and are left out",
    ];
    assert_eq!(notes.0, expected);
}

/// The notes about two files, also by the probabilities of the labels.
fn told(p: &str, y: &str) -> String {
    let (read, mut notes) = files(p, y, ReadOptions::default());
    let read = read.unwrap();
    let numbers = &read.sets[0].table.numbers;
    let cells = read.of_labels().table.labels[0].cells.iter();
    let labels: Vec<usize> = cells.map(|label| label.parse().unwrap()).collect();
    let rows = numbers.values.chunks(numbers.columns).zip(labels);
    let of_labels = rows.map(|(row, label)| row[label]).collect();
    read.note_copies(|| of_labels, &mut notes);
    notes.0.join("; ")
}

/// Copies of rows are told with their number, and samples that are alike are not.
#[test]
fn repeated_rows() {
    let row = |k: u32, decimals: usize| {
        let p = f64::from(k % 997) / 997.0 * 0.9 + 0.05;
        format!("{p:.decimals$},{:.decimals$}\n", 1.0 - p)
    };
    let rows = |decimals: usize| -> Vec<String> { (1..100).map(|k| row(k, decimals)).collect() };
    let label = |k: usize| format!("{}\n", k % 2);
    let labels: Vec<String> = (0..99).map(label).collect();
    let twice = |lines: &[String]| lines.concat().repeat(2);
    let expected = "p: 99 of 198 rows repeat an earlier row, with all digits of its predictions and the label: p-values \
                    and intervals take rows as independent, and are too small and too narrow if these are copies";
    assert_eq!(told(&twice(&rows(8)), &twice(&labels)), expected);
    // each row once, few decimals, and few copies
    assert_eq!(told(&rows(8).concat(), &labels.concat()), "");
    assert_eq!(told(&twice(&rows(2)), &twice(&labels)), "");
    let few = |copies: usize| {
        let again = |lines: &[String]| lines.concat() + &lines[..copies].concat();
        told(&again(&rows(8)), &again(&labels))
    };
    assert_eq!(few(4), "");
    begins(&few(5), "p: 5 of 104 rows repeat an earlier row");
    // ends of a scale, where numbers in binary repeat
    let ends = "0.99999994,0.00000006\n0.00012345,0.99987655\n".repeat(50);
    assert_eq!(told(&ends, &"0\n1\n".repeat(50)), "");
    // predictions of a few groups, with and without an event each
    let groups: String = (0..200).map(|k| row(k % 5, 8)).collect();
    let of_groups: String = (0..200).map(|k| label(k / 7)).collect();
    assert_eq!(told(&groups, &of_groups), "");
    // samples that are alike: every other one has another label
    let alike: String = (0..100).map(|k| row(1 + k / 2, 8)).collect();
    let of_alike: String = (0..100)
        .map(|k| label(k / 2 + usize::from(k % 4 == 1)))
        .collect();
    assert_eq!(told(&alike, &of_alike), "");
}

/// Sets of independent samples of a model that knows three features of so many categories each, and how often their
/// rows are told to be copies; then the same of sets in which each row is there twice.
///
/// - `logits`: those of a cell of the three features, by random numbers
/// - `power`: what makes the predictions of the probabilities; at 1 they are calibrated
fn copies_told(
    sets: u64,
    n: usize,
    categories: usize,
    power: f64,
    logits: impl Fn(&mut dyn FnMut() -> f64) -> Vec<f64>,
) -> [usize; 2] {
    let mut counts = [0; 2];
    for seed in 0..sets {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut uniform = || rng.random::<f64>();
        let share = |weights: Vec<f64>| {
            let sum: f64 = weights.iter().sum();
            weights.iter().map(|w| w / sum).collect::<Vec<f64>>()
        };
        let cells: Vec<Vec<f64>> = (0..categories.pow(3))
            .map(|_| share(logits(&mut uniform).iter().map(|z| z.exp()).collect()))
            .collect();
        let (mut p, mut y) = (String::new(), String::new());
        for _ in 0..n {
            let cell = &cells[(uniform() * cells.len() as f64) as usize];
            let (drawn, mut below) = (uniform(), 0.0);
            let label = cell.iter().position(|p| {
                below += p;
                below > drawn
            });
            let predicted = share(cell.iter().map(|p| p.powf(power)).collect());
            let words: Vec<String> = predicted.iter().map(f64::to_string).collect();
            p += &format!("{}\n", words.join(","));
            y += &format!("{}\n", label.unwrap_or(0));
        }
        for (count, times) in counts.iter_mut().zip(1..) {
            let told = told(&p.repeat(times), &y.repeat(times));
            *count += usize::from(told.contains("repeat an earlier row"));
        }
    }
    counts
}

/// Independent samples of a rare event, or of a confident model, have equal predictions and labels and are no copies;
/// nor are they if the model is wrong. Of 40 sets of which one in a thousand may be told, one is with probability 0.04,
/// two with 0.0008; of those of wrong models, of which one in twenty may be, seven or more with 0.003.
#[test]
fn samples_that_agree_are_no_copies() {
    let normal = |uniform: &mut dyn FnMut() -> f64| {
        let radius = (-2.0 * (1.0 - uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * uniform()).cos()
    };
    let event = |logit: f64, scale: f64| {
        move |uniform: &mut dyn FnMut() -> f64| vec![0.0, logit + scale * normal(uniform)]
    };
    let three = |uniform: &mut dyn FnMut() -> f64| {
        vec![
            4.5 + 1.7 * normal(uniform),
            1.7 * normal(uniform),
            1.7 * normal(uniform),
        ]
    };
    for [told, _] in [
        copies_told(40, 1000, 7, 1.0, event(-4.2, 0.7)),
        copies_told(40, 1000, 7, 1.0, event(-5.2, 0.5)),
        copies_told(40, 500, 5, 1.0, event(-3.2, 0.7)),
        copies_told(40, 1000, 8, 1.0, three),
    ] {
        assert!(told <= 1, "{told}");
    }
    // few samples of a cell
    for [told, of_copies] in [
        copies_told(40, 1000, 30, 1.0, event(-3.2, 0.7)),
        copies_told(40, 500, 20, 1.0, three),
    ] {
        assert!(told <= 1, "{told}");
        assert!(of_copies >= 38, "{of_copies}");
    }
    for [told, _] in [
        copies_told(40, 1000, 7, 0.3, event(-4.2, 0.7)),
        copies_told(40, 1000, 7, 2.0, event(-4.2, 0.7)),
        copies_told(40, 1000, 8, 0.3, three),
        copies_told(40, 1000, 8, 3.0, three),
    ] {
        assert!(told <= 6, "{told}");
    }
}

/// Draws calibrated sets of classes, with labels from 0, or from 1 if `first` is 1. Counts those of which a note asks
/// whether labels count from 1.
fn one_based_told(sets: u64, n: usize, logits: &[f64], scale: f64, first: usize) -> usize {
    let count = |seed: u64| {
        let mut rng = StdRng::seed_from_u64(seed);
        let (mut p, mut y, mut logarithms) = (String::new(), String::new(), Vec::new());
        for _ in 0..n {
            let z = logits
                .iter()
                .map(|z| z + scale * rng.random_range(-1.7..1.7));
            let weights: Vec<f64> = z.map(f64::exp).collect();
            let sum: f64 = weights.iter().sum();
            let row: Vec<f64> = weights.iter().map(|w| w / sum).collect();
            let (drawn, mut below) = (rng.random::<f64>(), 0.0);
            let label = row.iter().position(|p| {
                below += p;
                below > drawn
            });
            let words: Vec<String> = row.iter().map(f64::to_string).collect();
            p += &format!("{}\n", words.join(","));
            y += &format!("{}\n", label.unwrap_or(0) + first);
            logarithms.extend(row.into_iter().map(f64::ln));
        }
        let m = logits.len();
        if y.lines().any(|label| label == m.to_string()) {
            return None; // an error
        }
        let (read, _) = files(&p, &y, ReadOptions::default());
        let classes = LabelClasses::new(&[], m, false, false);
        let mut notes = Notes::default();
        let of = |labels: Vec<i64>| {
            let rows = logarithms.chunks(m).zip(labels);
            rows.map(|(row, label)| row[label as usize]).collect()
        };
        of_files(
            &ReadOptions::default(),
            &read.unwrap(),
            &classes,
            of,
            &mut notes,
        )
        .unwrap();
        Some(usize::from(notes.0.join("").contains("no label is 0")))
    };
    (0..sets).filter_map(count).sum()
}

/// Labels that count from 0 may lack a 0 by chance: of many classes, and of a rare one. Of 40 sets one in twenty may be
/// told: seven or more are with probability 0.003.
#[test]
fn labels_without_a_zero() {
    for told in [
        one_based_told(40, 40, &[0.0; 100], 2.0, 0),
        one_based_told(40, 200, &[-6.0, 0.0, 0.0, -6.0], 1.5, 0),
        one_based_told(40, 4, &[0.0; 5], 1.0, 0),
    ] {
        assert!(told <= 6, "{told}");
    }
    let of_shifted = one_based_told(40, 200, &[0.0, 0.0, 0.0, -9.0], 1.5, 1);
    assert!(of_shifted >= 38, "{of_shifted}");
}

/// A zero in the ratio of likelihoods is a probability that may be rounded.
#[test]
fn labels_of_probability_zero_count_from_1() {
    let p = "0.9,0.1,0\n0.2,0.8,0\n1,0,0\n0,1,0\n";
    let y = "1\n2\n1\n2\n";
    let (read, _) = files(p, y, ReadOptions::default());
    let read = read.unwrap();
    let numbers = read.sets[0].table.numbers.values.clone();
    let classes = LabelClasses::new(&[], 3, false, false);
    let of = |labels: Vec<i64>| {
        let rows = numbers.chunks(3).zip(labels);
        rows.map(|(row, label)| row[label as usize].ln()).collect()
    };
    let mut notes = Notes::default();
    of_files(&ReadOptions::default(), &read, &classes, of, &mut notes).unwrap();
    begins(
        &notes.0.join(""),
        "y: no label is 0, the first class: add --one-based",
    );
}
