//! Lower bounds of Lp calibration errors by recalibrated predictions.

use burn_calibration::error::Result;
use proptest::prelude::*;

use crate::prelude::*;

const TOP_LABEL: Aspect = Aspect::Event(Event::TopLabel);

fn bound(order: f64, aspect: Aspect, p: &[Vec<f64>], g: &[Vec<f64>], y: &[usize]) -> LpBound {
    LpBound::of(order, aspect, &categorical(p), &categorical(g), &labels(y)).unwrap()
}

/// Predictions, recalibrated ones of which one stayed, and labels.
type Example = (Vec<Vec<f64>>, Vec<Vec<f64>>, Vec<usize>);

fn example() -> [Example; 2] {
    let rows = |rows: &[&[f64]]| rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>();
    let three = (
        rows(&[
            &[0.7, 0.2, 0.1],
            &[0.1, 0.85, 0.05],
            &[0.3, 0.3, 0.4],
            &[0.9, 0.06, 0.04],
        ]),
        rows(&[
            &[0.6, 0.3, 0.1],
            &[0.15, 0.8, 0.05],
            &[0.3, 0.3, 0.4],
            &[0.94, 0.01, 0.05],
        ]),
        vec![0, 2, 1, 0],
    );
    let rows = |r: [f64; 5]| r.map(|r| vec![1.0 - r, r]).to_vec();
    let p = rows([0.7, 0.15, 0.55, 0.9, 0.2]);
    let g = rows([0.6, 0.1, 0.48, 0.95, 0.3]);
    let two = (p, g, vec![1, 0, 1, 1, 1]);
    [three, two]
}

/// probmetrics 1.3.0: by how much `ProperLpLoss` of the predictions exceeds that of the recalibrated ones; and
/// `TopClassLoss` of it, of `OverConfidenceLoss` and of `UnderConfidenceLoss`, which count both columns.
#[test]
fn is_that_of_probmetrics() {
    let [(p, g, y), (p2, g2, y2)] = example();
    let norms = [
        (1.0, 0.0925),
        (1.5, 0.07661808056262515),
        (2.0, 0.06965422656790426),
        (3.0, 0.06251940789022929),
    ];
    for (order, expected) in norms {
        let found = bound(order, Aspect::Vector, &p, &g, &y).norm.estimate;
        assert_relative(found, expected, 1e-12);
    }
    let found = bound(1.0, TOP_LABEL, &p2, &g2, &y2);
    let parts = [found.power, found.over.unwrap(), found.under.unwrap()];
    for (part, expected) in parts.iter().zip([0.12, 0.02, 0.1]) {
        assert_relative(2.0 * part.estimate, expected, 1e-12);
    }
}

/// Of order 2 the power is the difference of Brier scores, of a vector and, halved, of an event.
#[test]
fn of_order_two_is_the_gain_in_the_brier_score() {
    let mut rng = rng(480);
    for m in [2, 3, 7] {
        let [p, g] = [(); 2].map(|()| random_probabilities(40, m, &mut rng));
        let y = random_labels(40, m, &mut rng);
        let brier = |rows: &[Vec<f64>]| {
            let bound = Brier.upper_bound(&categorical(rows), &labels(&y));
            bound.unwrap().estimate
        };
        let gain = brier(&p) - brier(&g);
        let found = bound(2.0, Aspect::Vector, &p, &g, &y);
        assert_relative_eq!(found.power.estimate, gain, epsilon = 1e-14);
        assert!(found.over.is_none() && found.parts().is_none());
        if m == 2 {
            let of_class = bound(2.0, Aspect::Event(Event::Class(1)), &p, &g, &y);
            assert_relative_eq!(of_class.power.estimate, gain / 2.0, epsilon = 1e-14);
        }
    }
}

proptest! {
    #![proptest_config(cases(64))]

    /// The expectation over labels from `C`, without sampling: at most the error, and equal to it where
    /// `g = C`; of an event the parts are those of the error.
    #[test]
    fn is_below_the_error_and_reaches_it(seed in 0u64..1 << 32, m in 2usize..6, order in 1.0f64..5.0) {
        let mut rng = rng(seed);
        let [p, g, c] = [(); 3].map(|()| random_probabilities(1, m, &mut rng));
        let expected = |aspect, g: &[Vec<f64>]| {
            let mut sums = [0.0; 4];
            for (y, weight) in c[0].iter().enumerate() {
                let found = bound(order, aspect, &p, g, &[y]);
                let part = |part: Option<MeanEstimate>| part.map_or(0.0, |part| part.estimate);
                let values = [found.power.estimate, found.norm.estimate, part(found.over), part(found.under)];
                sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += weight * value);
            }
            sums
        };
        let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
        let power: f64 = p[0].iter().zip(&c[0]).map(|(p, c)| (p - c).abs().powf(order)).sum();
        let norm = power.powf(order.recip());
        let [of_power, of_norm, ..] = expected(Aspect::Vector, &g);
        prop_assert!(of_power <= power + 1e-12 && of_norm <= norm + 1e-12);
        let [of_power, of_norm, ..] = expected(Aspect::Vector, &c);
        prop_assert!(close(of_power, power) && close(of_norm, norm));
        let top = argmax(&p[0]);
        let gap = p[0][top] - c[0][top];
        let parts = [gap.max(0.0).powf(order), (-gap).max(0.0).powf(order)];
        let [of_power, _, over, under] = expected(TOP_LABEL, &g);
        prop_assert!(over <= parts[0] + 1e-12 && under <= parts[1] + 1e-12);
        prop_assert!(close(over + under, of_power));
        let [of_power, of_norm, over, under] = expected(TOP_LABEL, &c);
        prop_assert!(close(of_norm, gap.abs()) && close(of_power, parts[0] + parts[1]));
        prop_assert!(close(over, parts[0]) && close(under, parts[1]));
    }
}

/// Nothing where nothing changed, one sample without a standard error, one-hot predictions, and orders whose
/// powers are below f64.
#[test]
fn of_degenerate_predictions() {
    let [(p, g, y), _] = example();
    let same = bound(3.0, TOP_LABEL, &p, &p, &y);
    assert_eq!((same.power.estimate, same.norm.estimate), (0.0, 0.0));
    let interval = same.size().interval(0.95).unwrap();
    assert_eq!((interval.lower, interval.upper), (0.0, f64::INFINITY));
    let one = bound(1.0, Aspect::Vector, &p[..1], &g[..1], &y[..1]);
    assert_eq!(one.power.samples, 1);
    assert_eq!(one.power.standard_error, f64::INFINITY);
    let sure = bound(1.0, TOP_LABEL, &[vec![1.0, 0.0]], &[vec![0.0, 1.0]], &[1]);
    assert_eq!(sure.over.unwrap().estimate, 1.0);
    let steep = bound(1e3, Aspect::Vector, &p, &g, &y);
    assert!(steep.norm.estimate.is_finite() && steep.power.estimate.abs() < 1e-300);
    let largest = steep.size().estimate;
    assert!((0.0..1.0).contains(&largest), "{largest}");
}

#[test]
fn is_the_same_in_f32() {
    let [(p, g, y), _] = example();
    let single = |rows: &[Vec<f64>]| Categorical::from_probabilities(single(rows)).unwrap();
    for order in [1.0, 2.0, 2.5] {
        let found = LpBound::of(order, TOP_LABEL, &single(&p), &single(&g), &labels(&y)).unwrap();
        let expected = bound(order, TOP_LABEL, &p, &g, &y);
        assert_near(found.power.estimate, expected.power.estimate, 1e-6);
    }
}

#[test]
fn refuses_what_does_not_fit() {
    let [(p, g, y), (p2, ..)] = example();
    let of = |order, aspect, g: &[Vec<f64>], y: &[usize]| -> Result<LpBound> {
        LpBound::of(order, aspect, &categorical(&p), &categorical(g), &labels(y))
    };
    for order in [0.5, f64::NAN, f64::INFINITY] {
        let found = of(order, TOP_LABEL, &g, &y);
        assert!(matches!(found, Err(Error::Parameter { .. })));
    }
    let class = Aspect::Event(Event::Class(3));
    refuses(of(1.0, class, &g, &y));
    refuses(of(1.0, TOP_LABEL, &g, &[0, 1, 2, 3]));
    assert!(of(1.0, TOP_LABEL, &g, &y[..3]).is_err());
    assert!(of(1.0, TOP_LABEL, &g[..3], &y).is_err());
    assert!(of(1.0, TOP_LABEL, &p2[..4], &y).is_err());
}
