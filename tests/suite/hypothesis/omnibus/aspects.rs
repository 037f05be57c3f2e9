//! Estimates of aspects, and the bounds of their adjusted p-values, by their definitions.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::prelude::*;

const ROWS: [[f64; 3]; 4] = [
    [0.2, 0.7, 0.1],
    [0.0, 0.4, 0.6],
    [0.5, 0.0, 0.5],
    [0.0, 0.0, 1.0],
];
/// `1/(4 P(Z ≥ √2))`.
const CAUTION: f64 = 3.178;

fn outcome(predictions: &Categorical, classes: &[usize], test: OmnibusTest) -> OmnibusOutcome {
    omnibus(test, predictions, &labels(classes), 1)
}

fn aspect<'a>(outcome: &'a OmnibusOutcome, name: &str) -> &'a AspectOutcome {
    let mut aspects = outcome.aspects.iter();
    aspects.find(|aspect| aspect.name == name).unwrap()
}

/// The aspects of the SKCE, by bandwidth.
fn of_kernel(outcome: &OmnibusOutcome) -> impl Iterator<Item = &AspectOutcome> {
    let aspects = outcome.aspects.iter();
    aspects.filter(|aspect| aspect.name.starts_with("skce"))
}

/// The values of a sample with label `y`, less their expectations: of the confidence, the Brier score, the log
/// score and each class.
fn terms(p: &[f64; 3], y: usize) -> [f64; 6] {
    let top = argmax(p);
    let less_expected = |value: &dyn Fn(usize) -> f64| {
        let expected = (0..3).filter(|&c| p[c] > 0.0).map(|c| p[c] * value(c));
        value(y) - expected.sum::<f64>()
    };
    let class = |c: usize| less_expected(&|y| -f64::from(c == y));
    [
        less_expected(&|y| f64::from(y != top)),
        less_expected(&|y| (0..3).map(|c| (p[c] - f64::from(c == y)).powi(2)).sum()),
        less_expected(&|y| -p[y].ln()),
        class(0),
        class(1),
        class(2),
    ]
}

/// Over all labels: estimates, that they are 0 in expectation, and the bounds of adjusted p-values by the larger
/// of the variance of calibrated labels and the sum of squares.
#[test]
fn means_and_bounds_agree_with_the_definitions() {
    let predictions = categorical(&ROWS);
    let names = [
        "confidence",
        "brier_score",
        "log_score",
        "class_0",
        "class_1",
        "class_2",
    ];
    let variances: [f64; 6] = std::array::from_fn(|k| {
        let of_label = |p: &[f64; 3], y: usize| match p[y] {
            0.0 => 0.0,
            probability => probability * terms(p, y)[k].powi(2),
        };
        ROWS.iter()
            .map(|p| (0..3).map(|y| of_label(p, y)).sum::<f64>())
            .sum()
    });
    let (mut means, mut bounded) = ([0.0; 6], 0);
    for (classes, probability) in labellings(&ROWS.map(Vec::from)) {
        let found = outcome(&predictions, &classes, OmnibusTest::new().with_redraws(99));
        let each: Vec<[f64; 6]> = (0..4).map(|i| terms(&ROWS[i], classes[i])).collect();
        for (k, name) in names.into_iter().enumerate() {
            let aspect = aspect(&found, name);
            let sum: f64 = each.iter().map(|terms| terms[k]).sum();
            let (estimate, expected) = (aspect.estimate, 0.25 * sum);
            let is_same = estimate == expected || (estimate - expected).abs() < 1e-14;
            assert!(is_same, "{name}, {classes:?}: {estimate}, {expected}");
            if probability > 0.0 {
                means[k] += probability * estimate;
            }
            if sum.abs() < 1e-12 || sum.is_infinite() || k == 0 {
                continue;
            }
            let squares: f64 = each.iter().map(|terms| terms[k] * terms[k]).sum();
            let out = sum.abs() / variances[k].max(squares).sqrt();
            let classes = if k > 2 { 2.0 } else { 1.0 };
            let bound = classes * (CAUTION * 2.0 * Normal::standard().sf(out)).min(1.0);
            let adjusted = aspect.adjusted_p_value;
            let least = bound.min(1.0) - 1e-12;
            assert!(adjusted >= least, "{name}: {adjusted}, {bound}");
            bounded += i32::from(adjusted < 1.0 && (adjusted - bound).abs() < 1e-12);
        }
    }
    assert!(means.iter().all(|mean| mean.abs() < 1e-15), "{means:?}");
    assert!(bounded > 5, "{bounded}");
}

/// Errors that cannot be chance if the accuracy is the mean confidence.
#[test]
fn counts_of_errors() {
    let predictions = categorical(&[[0.98, 0.02]; 8]);
    let p = |wrong: usize| {
        let classes: Vec<usize> = (0..8).map(|i| usize::from(i < wrong)).collect();
        let found = outcome(&predictions, &classes, OmnibusTest::new().with_redraws(999));
        aspect(&found, "confidence").adjusted_p_value
    };
    assert_eq!(p(0), 1.0);
    let at_least_two = 1.0 - 0.98f64.powi(8) - 8.0 * 0.02 * 0.98f64.powi(7);
    let bound = 2.0 * CAUTION * at_least_two;
    assert!((p(2) - bound).abs() < 1e-12, "{}, {bound}", p(2));
    assert!(p(1) > 0.5 && p(3) < 0.01 && p(8) < 0.005);
}

/// Ratios of probabilities whose products, or which themselves, are beyond the largest number.
#[test]
fn labels_that_are_hardly_possible() {
    for tiny in [1e-140_f64, 1e-160, 5e-324] {
        let predictions = categorical(&[[tiny, 1.0 - tiny]; 50]);
        for wrong in [1, 2, 50] {
            let classes: Vec<usize> = (0..50).map(|i| usize::from(i >= wrong)).collect();
            let found = outcome(&predictions, &classes, OmnibusTest::new().with_redraws(1));
            let estimate = aspect(&found, "log_score").estimate;
            let expected = -tiny.ln() * wrong as f64 / 50.0;
            let error = (estimate - expected).abs();
            assert!(error < 1e-13 * expected, "{tiny}, {wrong}: {error}");
        }
    }
}

#[test]
fn the_least_likely_label() {
    let p = [
        [0.5, 0.3, 0.2],
        [0.1, 0.8, 0.1],
        [0.0, 0.4, 0.6],
        [0.36, 0.32, 0.32],
    ];
    let predictions = categorical(&p);
    let sets = (predictions.redrawer().draw)(60, &mut rng(3));
    let least = |classes: &[usize]| {
        let found = outcome(&predictions, classes, OmnibusTest::new().with_redraws(1));
        let aspect = aspect(&found, "least_likely_label");
        (aspect.estimate, aspect.row.unwrap())
    };
    for set in 0..60 {
        let classes = sets.set(set);
        let of_label = p.iter().zip(&classes).map(|(p, &y)| p[y]);
        let expected = of_label.fold(1.0, f64::min);
        let (estimate, row) = least(&classes);
        assert!((estimate + expected.ln()).abs() < 1e-14, "{classes:?}");
        assert_eq!(p[row][classes[row]], expected);
    }
    assert_eq!(least(&[0; 4]), (f64::INFINITY, 2));
}

/// The counts of bins by hand: of class 1 of two classes, of the most likely class of three.
#[test]
fn counts_of_bins() {
    for m in [2, 3] {
        let row = |i: usize| {
            let p = 0.05 + 0.9 * i as f64 / 39.0;
            match m {
                2 => vec![1.0 - p, p],
                _ => vec![0.3 * (1.0 - p), p, 0.7 * (1.0 - p)],
            }
        };
        let rows: Vec<Vec<f64>> = (0..40).map(row).collect();
        let classes: Vec<usize> = (0..40).map(|i| i * 5 % m).collect();
        let event = |i: usize| -> (f64, bool) {
            let class = if m == 2 { 1 } else { argmax(&rows[i]) };
            (rows[i][class], classes[i] == class)
        };
        let mut order: Vec<usize> = (0..40).collect();
        order.sort_by(|&i, &j| event(i).0.total_cmp(&event(j).0));
        let of_bin = |members: &[usize]| {
            let gaps = members.iter().map(|&i| f64::from(event(i).1) - event(i).0);
            let variances = members.iter().map(|&i| event(i).0 * (1.0 - event(i).0));
            gaps.sum::<f64>().powi(2) / variances.sum::<f64>()
        };
        let expected: f64 = order.chunks(4).map(of_bin).sum();
        let test = OmnibusTest::new().with_redraws(1);
        let found = outcome(&categorical(&rows), &classes, test);
        let estimate = aspect(&found, "binned_frequencies").estimate;
        assert_near_in(m, estimate, expected, 1e-12);
    }
}

/// Of many samples the gap is taken at some confidences: it is at most the largest, and misses no more than the
/// samples between them can add. Of few it is the largest.
#[test]
fn gaps_at_some_confidences() {
    for (n, between) in [(300, 0.0), (10_500, 3.0)] {
        let mut rng = rng(6);
        let rows = random_pairs(n, 0.02..0.98, &mut rng);
        let (predictions, classes) = (categorical(&rows), random_labels(n, 2, &mut rng));
        let exact = KolmogorovSmirnov::default().on(&predictions, &labels(&classes));
        let found = outcome(&predictions, &classes, OmnibusTest::new().with_redraws(1));
        let estimate = aspect(&found, "cumulative_confidence").estimate;
        assert!(estimate <= exact + 1e-12, "{estimate}, {exact}");
        let least = exact - between / n as f64 - 1e-12;
        assert!(estimate >= least, "{estimate}, {exact}");
    }
}

/// The SKCE at all bandwidths at once is that of one after another, of few and of many errors.
#[test]
fn bandwidths_are_those_of_kernels_of_their_own() {
    let mut rng = rng(7);
    for scale in [2.0, 40.0] {
        let rows = random_rows(90, 3, scale, &mut rng);
        let predictions = categorical(&softmax_rows(&rows));
        let classes = random_labels(90, 3, &mut rng);
        for kernel in [
            Kernel::exponential(),
            Kernel::gaussian(),
            Kernel::matern32(),
            Kernel::matern52(),
            Kernel::generalised_exponential(0.5),
        ] {
            let at = |bandwidth| kernel.with_bandwidth(Bandwidth::Fixed(bandwidth));
            let test = OmnibusTest::new().with_redraws(1).with_kernel(at(0.4));
            let found = outcome(&predictions, &classes, test);
            for (together, bandwidth) in of_kernel(&found).zip([0.1, 0.4, 1.6]) {
                let alone = Skce::unbiased(at(bandwidth));
                let alone = alone.on(&predictions, &labels(&classes));
                let error = (together.estimate - alone).abs();
                assert!(error < 1e-13, "{kernel:?}, {bandwidth}: {error}");
            }
            assert_eq!(of_kernel(&found).count(), 3);
        }
    }
}

/// Of many samples the kernel is of low rank. With a landmark at each distinct prediction nothing is lost, but the
/// digits of single precision.
#[test]
fn landmarks_at_all_predictions_are_the_kernel() {
    let mut rng = rng(8);
    let (n, distinct) = (10_200, random_probabilities(3, 4, &mut rng));
    let rows: Vec<Vec<f64>> = (0..n).map(|i| distinct[i % 3].clone()).collect();
    let classes = random_labels(n, 4, &mut rng);
    let kernel = exponential(0.3);
    let test = OmnibusTest::new().with_redraws(1).with_kernel(kernel);
    let found = outcome(&categorical(&rows), &classes, test);
    // sums of residuals of equal predictions, and of their squares
    let mut sums = vec![[0.0; 4]; 3];
    let mut diagonal = 0.0;
    for (i, &y) in classes.iter().enumerate() {
        for c in 0..4 {
            let residual = f64::from(c == y) - rows[i][c];
            sums[i % 3][c] += residual;
            diagonal += residual * residual;
        }
    }
    for (aspect, bandwidth) in of_kernel(&found).zip([0.075, 0.3, 1.2]) {
        let mut total = -diagonal;
        for (p, a) in distinct.iter().zip(&sums) {
            for (q, b) in distinct.iter().zip(&sums) {
                total += (-0.5 * l1(p, q) / bandwidth).exp() * dot(a, b); // total variation
            }
        }
        let expected = total / (n * (n - 1)) as f64;
        assert_near(aspect.estimate, expected, 1e-6 * expected.abs() + 1e-9);
    }
    assert_eq!(of_kernel(&found).count(), 3);
}

/// The interval of the p-value: none in closed form.
#[test]
fn resampling_intervals() {
    let predictions = categorical(&[[0.9, 0.1]; 40]);
    let wrong = outcome(&predictions, &[1; 40], OmnibusTest::new().with_redraws(999));
    assert_eq!(wrong.p_value, 0.001);
    let Interval {
        lower: low,
        upper: high,
        ..
    } = wrong.resampling_interval;
    assert_eq!(low, 0.0);
    assert_near(high, 1.0 - 0.005f64.powf(1.0 / 999.0), 1e-12);
    let right: Vec<usize> = (0..40).map(|i| usize::from(i % 10 == 0)).collect();
    let right = outcome(&predictions, &right, OmnibusTest::new().with_redraws(999));
    let Interval {
        lower: low,
        upper: high,
        ..
    } = right.resampling_interval;
    assert!(low <= right.p_value && right.p_value <= high && high - low < 0.1);
}

/// Where class 0 is the most likely, wrong labels are class 1 in 16 of 20 cases where 10 are expected; by hand.
fn confused() -> OmnibusOutcome {
    let rows = [[0.6, 0.2, 0.2]; 50];
    let classes: Vec<usize> = (0..50)
        .map(|i| match i {
            0..30 => 0,
            30..46 => 1,
            _ => 2,
        })
        .collect();
    outcome(&categorical(&rows), &classes, OmnibusTest::new())
}

#[test]
fn labels_among_the_others() {
    let found = confused();
    let [of_table, of_pair] = ["other_labels", "label_pair"].map(|name| aspect(&found, name));
    // 20 wrong labels of 50 · 0.4: z = 6/√(20 · ¼) for both classes, and 1 − π = ½
    assert_near(of_table.estimate, 36.0 / 5.0, 1e-5);
    assert_near(of_pair.estimate, 6.0 / 5f64.sqrt(), 1e-5);
    // χ² ≥ 7.2 if 16 or more of 20 fair coins agree
    assert_near(of_table.p_value, 0.0118, 0.012);
    let sentence = "where class 0 is the most likely and wrong, the label is class 1 more often than predicted: 16 of \
                    20 wrong labels, 10.0 expected";
    assert_eq!(of_pair.finding, sentence);
    // twice the binomial tail, times the caution, times two pairs
    let tail = 6196.0 / f64::from(1 << 20);
    assert!(of_pair.adjusted_p_value >= 2.0 * 2.0 * CAUTION * tail - 1e-6);
}

#[test]
fn no_pairs_of_few_errors() {
    let rows = [[0.98, 0.01, 0.01]; 9];
    let found = outcome(&categorical(&rows), &[0; 9], OmnibusTest::new());
    assert!(
        found
            .aspects
            .iter()
            .all(|aspect| aspect.name != "label_pair")
    );
    let two = outcome(
        &categorical(&[[0.5, 0.5]; 40]),
        &[0; 40],
        OmnibusTest::new(),
    );
    assert!(
        two.aspects
            .iter()
            .all(|aspect| aspect.name != "other_labels")
    );
}

#[test]
fn too_few_redraws_give_no_verdict() {
    let rows = [[0.9, 0.1]; 40];
    let classes: Vec<usize> = (0..40).map(|i| i % 2).collect();
    let few = outcome(
        &categorical(&rows),
        &classes,
        OmnibusTest::new().with_redraws(9),
    );
    assert_eq!(few.least_p_value(), Some(0.1));
    let verdict =
        "There are too few redraws for a verdict: p ≤ 0.100; 9 redraws cannot give less than 0.10.";
    assert_eq!(few.verdict(), verdict);
    assert!(!few.is_rejected());
    let test = OmnibusTest::new().with_redraws(19);
    assert!(outcome(&categorical(&rows), &classes, test).is_rejected());
}

#[test]
fn outcomes_are_adjusted_together() {
    let wrong = (
        vec![[0.9, 0.1]; 40],
        (0..40).map(|i| i % 2).collect::<Vec<usize>>(),
    );
    let right = (vec![[0.5, 0.5]; 40], wrong.1.clone());
    let test = OmnibusTest::new().as_one_of(3);
    let outcomes =
        [&wrong, &right, &right].map(|(rows, classes)| outcome(&categorical(rows), classes, test));
    let alone = outcomes.clone();
    let together = OmnibusOutcome::together(outcomes.into());
    let p_values: Vec<f64> = alone.iter().map(|outcome| outcome.p_value).collect();
    let adjusted: Vec<f64> = together
        .iter()
        .map(|o| o.adjusted_p_value.unwrap())
        .collect();
    assert_eq!(adjusted, holm(&p_values).unwrap());
    assert!(together[0].is_rejected() && !together[1].is_rejected());
    assert!(together[0].verdict().ends_with(", adjusted for 3 tests."));
    for (together, alone) in together.iter().zip(&alone) {
        for (aspect, own) in together.aspects.iter().zip(&alone.aspects) {
            assert_eq!(
                aspect.adjusted_p_value,
                (3.0 * own.adjusted_p_value).min(1.0)
            );
        }
    }
}

/// The largest gap is that of all samples: it repeats the overconfidence.
#[test]
fn a_gap_of_all_samples_is_no_finding_of_its_own() {
    let rows: Vec<[f64; 3]> = (0..300)
        .map(|i| {
            let confidence = 0.6 + 0.3 * f64::from(i) / 300.0;
            [
                confidence,
                0.5 * (1.0 - confidence),
                0.5 * (1.0 - confidence),
            ]
        })
        .collect();
    let classes: Vec<usize> = (0..300).map(|i| i % 3).collect();
    let found = outcome(&categorical(&rows), &classes, OmnibusTest::new());
    let gap = aspect(&found, "cumulative_confidence");
    assert_eq!((gap.p_value, gap.adjusted_p_value), (0.001, 1.0));
    let named = found.failing(0.05);
    assert!(
        named
            .iter()
            .any(|aspect| aspect.finding.starts_with("overconfident by "))
    );
}
