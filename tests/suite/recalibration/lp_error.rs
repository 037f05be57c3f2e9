//! Lp calibration errors by cross-fitting, where the truth is known.

use crate::prelude::*;

const TOP_LABEL: Aspect = Aspect::Event(Event::TopLabel);

/// Predictions `softmax(z)` whose labels are of `softmax(z·factor)`.
fn tempered(n: usize, m: usize, factor: f64, rng: &mut StdRng) -> [Vec<Vec<f64>>; 2] {
    let logits = random_rows(n, m, 2.0, rng);
    let truth = softmax_rows(&mapped(&logits, |z| z * factor));
    [logits, truth]
}

/// Twenty samples of overconfident and of underconfident predictions: the mean bound of whole vectors by the right
/// family of maps is within noise of the error from below, and not below nine tenths of it.
#[test]
fn of_a_known_temperature() {
    for (factor, order) in [(0.5, 1.0), (2.0, 1.0), (0.5, 2.0)] {
        let mut rng = rng(490);
        let (mut differences, mut truths) = (vec![], vec![]);
        for _ in 0..20 {
            let [logits, truth] = tempered(500, 3, factor, &mut rng);
            let y = labels(&draw_classes(&truth, &mut rng));
            let error = LpCalibrationError::new(order).with_aspect(Aspect::Vector);
            let error = error.with_map(without_prior());
            let found = error.bound(&from_logits(&logits), &y).unwrap();
            let power = |(z, c): (&Vec<f64>, &Vec<f64>)| -> f64 {
                let pairs = softmax(z).into_iter().zip(c);
                pairs.map(|(p, c)| (p - c).abs().powf(order)).sum()
            };
            let expected = logits.iter().zip(&truth).map(power).sum::<f64>() / 500.0;
            differences.push(found.power.estimate - expected);
            truths.push(expected);
        }
        let above = standardised(&differences, 0.0);
        assert!(above < 3.0, "{above} standard errors above");
        let share = differences.iter().sum::<f64>() / truths.iter().sum::<f64>();
        assert!(share > -0.1, "{factor}, {order}: {share} below");
    }
}

/// Predictions of two classes that are too sure above ¾ and not sure enough below, by the map that is chosen:
/// each part is at most that of the truth within noise, and more than half of it.
#[test]
fn tells_overconfidence_from_underconfidence() {
    let mut rng = rng(491);
    let (mut over, mut under) = (vec![], vec![]);
    let n = 2000;
    let mut expected = [0.0; 2];
    for _ in 0..8 {
        let r: Vec<f64> = (0..n).map(|_| rng.random_range(0.5..0.98)).collect();
        let frequency = |r: f64| 0.75 + 0.4 * (r - 0.75); // of a line with the slope 0.4
        let row = |r: &f64| vec![1.0 - frequency(*r), frequency(*r)];
        let y = draw_classes(&r.iter().map(row).collect::<Vec<_>>(), &mut rng);
        let found = LpCalibrationError::new(1.0).bound(&binary(&r), &labels(&y));
        let found = found.unwrap();
        let gaps = || r.iter().map(|r| (r - frequency(*r)) / n as f64);
        let parts: [f64; 2] = [
            gaps().map(|gap| gap.max(0.0)).sum(),
            gaps().map(|gap| (-gap).max(0.0)).sum(),
        ];
        over.push(found.over.unwrap().estimate - parts[0]);
        under.push(found.under.unwrap().estimate - parts[1]);
        expected = parts;
    }
    for (differences, expected) in [over, under].iter().zip(expected) {
        assert!(standardised(differences, 0.0) < 3.0);
        let mean = differences.iter().sum::<f64>() / 8.0;
        assert!(mean > -0.5 * expected, "{mean} of {expected}");
    }
}

/// Of calibrated predictions the bounds are 0 in expectation, by a map that overfits too.
#[test]
fn of_calibrated_predictions_is_nothing() {
    let mut rng = rng(492);
    let (mut vectors, mut norms, mut squares) = (vec![], vec![], vec![]);
    for seed in 0..20 {
        let [logits, truth] = tempered(200, 4, 1.0, &mut rng);
        let p = from_logits(&logits);
        let y = labels(&draw_classes(&truth, &mut rng));
        let event = LpCalibrationError::new(2.0).with_seed(seed);
        let vector = event.clone().with_aspect(Aspect::Vector);
        let vector = vector.with_map(StructuredMatrixScalingConfig::new());
        let found = vector.bound(&p, &y).unwrap();
        vectors.push(found.norm.estimate);
        squares.push(found.power.estimate);
        let event = event.with_map(PlattScalingConfig::new());
        norms.push(event.bound(&p, &y).unwrap().norm.estimate);
        assert!(event.on(&p, &y) >= 0.0);
    }
    assert!(standardised(&vectors, 0.0).abs() < 3.5);
    assert!(standardised(&norms, 0.0).abs() < 3.5);
    assert!(standardised(&squares, 0.0) < 0.0);
}

/// The same of the same seed, near it in f32, of probabilities as of their logits.
#[test]
fn does_not_depend_on_how_predictions_are_given() {
    let mut rng = rng(493);
    let [logits, truth] = tempered(300, 3, 0.4, &mut rng);
    let y = labels(&draw_classes(&truth, &mut rng));
    for aspect in [TOP_LABEL, Aspect::Vector, Aspect::Event(Event::Class(2))] {
        let error = LpCalibrationError::new(1.5).with_aspect(aspect);
        let error = error.with_map(without_prior());
        let power = |p: &Categorical| error.bound(p, &y).unwrap().power.estimate;
        let expected = power(&from_logits(&logits));
        assert_eq!(power(&from_logits(&logits)), expected);
        let probabilities = categorical(&softmax_rows(&logits));
        assert_relative(power(&probabilities), expected, 1e-9);
        let single = Categorical::from_logits(tensor_on(&logits, &device(), DType::F32)).unwrap();
        assert_relative(power(&single), expected, 1e-4);
    }
}

fn degenerate(rows: &[Vec<f64>], y: &[usize]) -> [LpBound; 2] {
    [TOP_LABEL, Aspect::Vector].map(|aspect| {
        let error = LpCalibrationError::new(1.0).with_aspect(aspect);
        let error = error.with_folds(2);
        error.bound(&from_logits(rows), &labels(y)).unwrap()
    })
}

/// Equal predictions, logits of every scale, all right, all wrong, two samples, one-hot probabilities.
#[test]
fn of_degenerate_predictions() {
    let bounded = |found: [LpBound; 2]| {
        for bound in &found {
            let is_bounded = |part: MeanEstimate| part.estimate.abs() <= 2.0;
            assert!(is_bounded(bound.power) && is_bounded(bound.norm), "{bound}");
        }
        found
    };
    let mut rng = rng(494);
    let equal = vec![vec![3.0, 0.0, 0.0]; 40];
    let fives: Vec<usize> = (0..40).map(|i| usize::from(i % 2 == 0)).collect();
    let [top, _] = bounded(degenerate(&equal, &fives));
    assert!(top.over.unwrap().estimate > 0.3); // 91 % sure, right in half of the cases
    for scale in [1e-6, 1.0, 1e6] {
        let rows: Vec<Vec<f64>> = random_rows(40, 3, scale, &mut rng);
        let _ = bounded(degenerate(&rows, &random_labels(40, 3, &mut rng)));
        let top: Vec<usize> = rows.iter().map(|z| argmax(z)).collect();
        let _ = bounded(degenerate(&rows, &top));
        let wrong: Vec<usize> = top.iter().map(|c| (c + 1) % 3).collect();
        let _ = bounded(degenerate(&rows, &wrong));
    }
    let _ = bounded(degenerate(&random_rows(2, 2, 1.0, &mut rng), &[0, 1]));
    let sure = categorical(&[[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]);
    let found = LpCalibrationError::new(2.0).with_folds(2);
    let found = found.bound(&sure, &labels(&[0, 1, 1, 0])).unwrap();
    assert!(found.power.estimate.is_finite());
}

#[test]
fn refuses_what_does_not_fit() {
    let p = from_logits(&[[1.0, 0.0], [0.0, 2.0]]);
    let y = labels(&[0, 1]);
    let of = |error: LpCalibrationError, y: &Tensor<1, Int>| refuses(error.bound(&p, y));
    let two = LpCalibrationError::new(1.0).with_folds(2);
    for wrong in [
        two.clone().with_folds(1),
        two.clone().with_folds(3),
        LpCalibrationError::new(0.9),
    ] {
        of(wrong, &y);
    }
    let class = two.clone().with_aspect(Aspect::Event(Event::Class(2)));
    of(class, &y);
    of(two.clone(), &labels(&[0, 2]));
    let one = from_logits(&[[1.0, 0.0]]);
    assert!(two.bound(&one, &labels(&[0])).is_err());
}

/// It has a size, so that a tolerance can be tested.
#[test]
fn can_be_compared_with_a_tolerance() {
    let rows = vec![vec![3.0, 0.0]; 200];
    let y: Vec<usize> = (0..200).map(|i| usize::from(i % 2 == 0)).collect();
    for (tolerance, is_above) in [(0.2, true), (0.5, false)] {
        let test = ToleranceTest::new(LpCalibrationError::new(1.0), tolerance);
        let outcome = test.seeded(&from_logits(&rows), &labels(&y), 1);
        assert_eq!(outcome.p_value < 0.01, is_above, "{outcome:?}");
    }
}
