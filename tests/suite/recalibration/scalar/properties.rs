use proptest::{collection::vec, prelude::*};

use super::*;

/// Log-odds of two classes, some of them equal, with their classes.
fn scored() -> impl Strategy<Value = (Vec<f64>, Vec<usize>)> {
    let score = prop_oneof![(-3i32..4).prop_map(f64::from), -6.0..6.0f64,];
    vec((score, 0usize..2), 1..40).prop_map(|rows| rows.into_iter().unzip())
}

/// What is claimed of the maps holds on rows: different rows stay different, the order of two
/// classes and hence the accuracy is kept.
fn check_guarantees(map: &dyn Recalibration, scores: &[f64]) -> Result<(), TestCaseError> {
    let kept = map.guarantees();
    let output = vector(map.forward(tensor(&two_classes(scores))));
    let new: Vec<f64> = output.chunks(2).map(|row| row[1] - row[0]).collect();
    for (s, t) in scores.iter().zip(&new) {
        if kept.keeps_order {
            prop_assert!(s * t > 0.0 || *s == 0.0 && t.abs() < 1e-12, "{s} {t}");
        }
        if kept.keeps_accuracy {
            prop_assert!(s * t >= 0.0);
        }
    }
    for (i, s) in scores.iter().enumerate() {
        for (j, r) in scores.iter().enumerate() {
            if kept.injective && (s - r).abs() > 1e-3 {
                prop_assert!(new[i] != new[j], "{s} {r}");
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(simulated(256) as u32))]

    #[test]
    fn isotonic_regression_is_the_min_max_formula((scores, classes) in scored()) {
        let config = IsotonicRegressionConfig::new();
        let map = config.fitted(&two_classes(&scores), &classes);
        let mut rows: Vec<_> = scores.iter().copied().zip(classes.iter().copied()).collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        // the mean from the first sample at least as large as one to the last at most another
        let mean = |low: f64, high: f64| {
            let inside: Vec<_> = rows.iter().filter(|(s, _)| (low..=high).contains(s)).collect();
            inside.iter().map(|(_, y)| *y as f64).sum::<f64>() / inside.len() as f64
        };
        for (&s, g) in scores.iter().zip(probabilities(&map, &scores)) {
            let below = scores.iter().copied().filter(|t| *t <= s);
            let above = |low| {
                let ends = scores.iter().copied().filter(|t| *t >= s);
                ends.map(|high| mean(low, high)).fold(f64::INFINITY, f64::min)
            };
            let expected = below.map(above).fold(0.0, f64::max);
            let margin = 0.5 / (scores.len() as f64 + 1.0);
            let expected = expected.clamp(margin, 1.0 - margin);
            prop_assert!((g - expected).abs() < 1e-13, "{g} {expected}");
        }
    }

    #[test]
    fn monotone_maps_are_monotone((scores, classes) in scored()) {
        let maps = every_of(&two_classes(&scores), &classes);
        let grid: Vec<f64> = (-80..=80).map(|x| 0.1 * f64::from(x)).collect();
        let slope = PlattScalingConfig::new().fitted(&two_classes(&scores), &classes).parameters()[0][0];
        for (map, sign) in [(0, slope.signum()), (1, 1.0), (2, 1.0)] {
            let values = probabilities(&*maps[map], &grid);
            let rises = values.windows(2).all(|pair| sign * (pair[1] - pair[0]) > -1e-13);
            prop_assert!(rises, "{}: {values:?}", maps[map].kind());
        }
    }

    #[test]
    fn guarantees_hold_of_fits((scores, classes) in scored()) {
        for map in every_of(&two_classes(&scores), &classes) {
            check_guarantees(&*map, &scores)?;
        }
    }

    #[test]
    fn guarantees_hold_of_parameters(a in -2.0..2.0f64, b in prop_oneof![Just(0.0), -1.0..1.0f64], scores in vec(-6.0..6.0f64, 1..20)) {
        let platt = PlattScaling::from_parameters(&[[a, b]], &device()).unwrap();
        let kept = platt.guarantees();
        prop_assert_eq!(kept.keeps_order, a > 0.0 && b == 0.0);
        prop_assert_eq!(kept.injective, a != 0.0);
        check_guarantees(&platt, &scores)?;
        let c = (a.abs() - b.abs()) * std::f64::consts::LN_2;
        let beta = BetaCalibration::from_parameters(&[[a.abs(), b.abs(), c]], &device()).unwrap();
        prop_assert!(beta.guarantees().keeps_order && beta.guarantees().injective);
        check_guarantees(&beta, &scores)?;
    }

    /// Classes in another order: the same maps in that order.
    #[test]
    fn class_wise_maps_have_no_order_of_classes(seed in 0u64..1000, m in 3usize..6) {
        let (rows, classes) = overconfident(40, m, seed);
        let turned: Vec<Vec<f64>> = rows.iter().map(|row| {
            let mut row = row.clone();
            row.rotate_right(1);
            row
        }).collect();
        let turned_classes: Vec<usize> = classes.iter().map(|y| (y + 1) % m).collect();
        let maps = every_of(&rows, &classes).into_iter().zip(every_of(&turned, &turned_classes));
        for (map, turned_map) in maps {
            let output = vector(map.forward(tensor(&rows)));
            let other = vector(turned_map.forward(tensor(&turned)));
            for (row, other) in output.chunks(m).zip(other.chunks(m)) {
                for c in 0..m {
                    prop_assert!((row[c] - other[(c + 1) % m]).abs() < 1e-6, "{}", map.kind());
                }
            }
        }
    }

    /// For two classes too, of maps that treat an event and its complement alike.
    #[test]
    fn two_classes_have_no_order((scores, classes) in scored()) {
        let (rows, swapped): (Vec<Vec<f64>>, Vec<Vec<f64>>) = scores.iter().map(|&s| (vec![0.0, s], vec![s, 0.0])).unzip();
        let others: Vec<usize> = classes.iter().map(|y| 1 - y).collect();
        let maps = every_of(&rows, &classes).into_iter().zip(every_of(&swapped, &others));
        for (map, other) in maps.take(3) {
            let (a, b) = (vector(map.forward(tensor(&rows))), vector(other.forward(tensor(&swapped))));
            for (row, other) in a.chunks(2).zip(b.chunks(2)) {
                prop_assert!((row[0] - other[1]).abs() < 1e-6 && (row[1] - other[0]).abs() < 1e-6, "{}: {row:?} {other:?}", map.kind());
            }
        }
    }

    #[test]
    fn single_precision_agrees(seed in 0u64..1000, m in 2usize..5) {
        let (rows, classes) = overconfident(60, m, seed);
        let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().map(|z| f64::from(*z as f32)).collect()).collect();
        let double = every_of(&rows, &classes);
        let from_single = every(&single(&rows), &labels(&classes));
        let probe: Vec<Vec<f64>> = random_rows(30, m, 5.0, &mut rng(seed + 1));
        for (map, from_single) in double.iter().zip(from_single).take(CONTINUOUS) {
            let expected = vector(map.forward(tensor(&probe)));
            prop_assert_eq!(&vector(from_single.forward(tensor(&probe))), &expected);
            for (x, y) in vector(map.forward(single(&probe))).iter().zip(&expected) {
                prop_assert!((x - y).abs() < 1e-3 * (1.0 + y.abs()), "{}: {x} {y}", map.kind());
            }
        }
    }
}

/// Where nothing is claimed, something can be lost.
#[test]
fn what_is_not_claimed() {
    let none = Guarantees::NONE;
    for m in [2, 3] {
        let (rows, classes) = overconfident(100, m, 30);
        let maps = every_of(&rows, &classes);
        for map in &maps[if m == 2 { 2 } else { 0 }..] {
            assert_eq!(map.guarantees(), none);
        }
    }
    let mut injective = none;
    (
        injective.injective,
        injective.injective_on_log_probabilities,
    ) = (true, true);
    let shifted = PlattScaling::from_parameters(&[[1.0, 1.0]], &device()).unwrap();
    assert_eq!(shifted.guarantees(), injective);
    assert!(probabilities(&shifted, &[-0.5])[0] > 0.5);
    let constant = BetaCalibration::from_parameters(&[[0.0, 0.0, 1.0]], &device()).unwrap();
    assert_eq!(constant.guarantees(), none);
    // three classes: another one wins
    let classwise = PlattScaling::from_parameters(&[[3.0, 0.0], [0.5, 0.0], [0.5, 0.0]], &device());
    let output = vector(classwise.unwrap().forward(tensor(&[[0.1, 0.0, 0.0]])));
    assert!(output[0] < output[1]);
}
