//! What the maps say that they keep.

use std::{iter::zip, sync::OnceLock};

use proptest::{collection::vec, prelude::*};

use super::{fitted, overconfident};
use crate::prelude::*;

type Maps = Vec<(&'static str, Box<dyn Recalibration>)>;

fn each(check: impl Fn(&str, &dyn Recalibration)) {
    static MAPS: OnceLock<std::sync::Mutex<Maps>> = OnceLock::new();
    let maps = MAPS.get_or_init(|| fitted().into());
    // a failed property leaves its mark on the lock, and must not hide behind it
    let maps = maps
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    maps.iter()
        .for_each(|(name, map)| check(name, map.as_ref()));
}

/// Up to six rows of four logits, some far out, with ties.
fn rows() -> impl Strategy<Value = Vec<Vec<f64>>> {
    let logit = prop_oneof![
        4 => -4.0..4.0f64,
        1 => Just(0.5),
        1 => -1e4..1e4f64,
        1 => Just(-1e4),
        1 => Just(1e4),
    ];
    vec(vec(logit, 4), 1..7)
}

fn log_softmax(row: &[f64]) -> Vec<f64> {
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = row.iter().map(|z| (z - largest).exp()).sum();
    row.iter().map(|z| z - largest - sum.ln()).collect()
}

proptest! {
    #![proptest_config(cases(200))]

    /// Ties stay ties, and a class above another is above it, or within rounding of it.
    #[test]
    fn the_order_is_kept_where_they_say_so(rows in rows()) {
        each(|name, map| {
            let out = vector(map.forward(tensor(&rows)));
            all_finite(&out);
            let promises = map.guarantees();
            for (row, out) in rows.iter().zip(out.chunks(4)) {
                let scale = out.iter().fold(1.0f64, |largest, z| largest.max(z.abs()));
                for a in 0..4 {
                    for b in 0..4 {
                        if promises.keeps_order && row[a] == row[b] {
                            assert_eq!(out[a], out[b], "{name}: {row:?} to {out:?}");
                        }
                        if promises.keeps_order && row[a] > row[b] {
                            let slack = 1e-12 * scale;
                            assert!(out[a] >= out[b] - slack, "{name}: {row:?} to {out:?}");
                        }
                        // strictly, where rounding cannot reach
                        let near = row.iter().all(|z| z.abs() < 5.0) && row[a] - row[b] > 1e-6;
                        if promises.keeps_order && near {
                            assert!(out[a] > out[b], "{name}: {row:?} to {out:?}");
                        }
                    }
                }
            }
        });
    }

    /// Other predictions become other predictions.
    #[test]
    fn injective_maps_keep_predictions_apart(a in vec(-4.0..4.0f64, 4), b in vec(-4.0..4.0f64, 4), shift in -5.0..5.0f64) {
        let (a, b) = (log_softmax(&a), log_softmax(&b));
        let apart = |a: &[f64], b: &[f64]| {
            a.iter().zip(b).map(|(a, b)| (a.exp() - b.exp()).abs()).fold(0.0, f64::max)
        };
        prop_assume!(apart(&a, &b) > 1e-3);
        each(|name, map| {
            if map.guarantees().injective_on_log_probabilities {
                let out = vector(map.forward(tensor(&[a.clone(), b.clone()])));
                let (a, b) = (log_softmax(&out[..4]), log_softmax(&out[4..]));
                assert!(apart(&a, &b) > 1e-9, "{name}: {a:?} and {b:?}");
            }
        });
        // on other logits of the same predictions
        let b: Vec<f64> = b.iter().map(|z| z + shift).collect();
        each(|name, map| {
            if map.guarantees().injective {
                let out = vector(map.forward(tensor(&[a.clone(), b.clone()])));
                let (a, b) = (log_softmax(&out[..4]), log_softmax(&out[4..]));
                assert!(apart(&a, &b) > 1e-9, "{name}: {a:?} and {b:?}");
            }
        });
    }

    /// Classes are only names for these.
    #[test]
    fn permuted_logits_become_the_permuted_map(rows in rows(), shift in 1usize..4) {
        let turn = |row: &[f64]| -> Vec<f64> { (0..4).map(|c| row[(c + shift) % 4]).collect() };
        let turned: Vec<Vec<f64>> = rows.iter().map(|row| turn(row)).collect();
        each(|name, map| {
            if ["temperature", "ensemble", "diagonal", "order-invariant"].contains(&name) {
                let out = vector(map.forward(tensor(&rows)));
                let out: Vec<f64> = out.chunks(4).flat_map(turn).collect();
                let then = vector(map.forward(tensor(&turned)));
                for (a, b) in out.iter().zip(&then) {
                    assert_relative_eq!(a, b, max_relative = 1e-11, epsilon = 1e-11);
                }
            }
        });
    }
}

/// Of 10⁵ rows of raw logits of any size, however near to each other: the largest logit stays the largest,
/// and nothing but its equals becomes as large.
#[test]
fn order_maps_keep_the_largest_logit() {
    let mut rng = rng(88);
    let mut row = || -> Vec<f64> {
        let base = -(10f64.powf(rng.random_range(-30.0..37.0)));
        let mut logit = || {
            let apart = 10f64.powi(rng.random_range(-17..2)) * f64::from(rng.random_range(-2..3));
            (base * (1.0 + apart)).max(-3e38)
        };
        (0..4).map(|_| logit()).collect()
    };
    let rows: Vec<Vec<f64>> = (0..100_000).map(|_| row()).collect();
    let greatest = |row: &[f64]| row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    each(|name, map| {
        if !name.starts_with("order") {
            return;
        }
        for dtype in [DType::F32, DType::F64] {
            let logits = tensor_on(&rows, &device(), dtype);
            let (before, after) = (vector(logits.clone()), vector(map.forward(logits)));
            for (row, out) in before.chunks(4).zip(after.chunks(4)) {
                let (largest, top) = (greatest(row), greatest(out));
                for (z, out) in row.iter().zip(out) {
                    assert!(out.is_finite(), "{name}, {dtype:?}: {row:?}");
                    let kept = (*z == largest) == (*out == top);
                    assert!(kept, "{name}, {dtype:?}: {row:?}, {out}");
                }
            }
        }
    });
}

/// Of 10⁵ rows of raw logits of any size, however near to each other: a class above another stays above it
/// but for rounding, and ties stay ties, in f32 and f64.
#[test]
fn order_is_kept_but_for_rounding() {
    let mut rng = rng(89);
    let mut row = || -> Vec<f64> {
        let base = 10f64.powf(rng.random_range(-20.0..5.0)) * f64::from(rng.random_range(-1..2));
        let apart = 10f64.powi(rng.random_range(-17..2));
        let mut logit = || base + apart * (1.0 + base.abs()) * f64::from(rng.random_range(-3..4));
        (0..4).map(|_| logit()).collect()
    };
    let rows: Vec<Vec<f64>> = (0..100_000).map(|_| row()).collect();
    each(|name, map| {
        if !map.guarantees().keeps_order {
            return;
        }
        for dtype in [DType::F32, DType::F64] {
            let unit = dtype.finfo().unwrap().epsilon;
            let logits = tensor_on(&rows, &device(), dtype);
            let (before, after) = (vector(logits.clone()), vector(map.forward(logits)));
            for (row, out) in before.chunks(4).zip(after.chunks(4)) {
                let size = out.iter().fold(1.0f64, |size, z| size.max(z.abs()));
                for (a, b) in (0..16).map(|pair| (pair / 4, pair % 4)) {
                    let kept = match row[a].total_cmp(&row[b]) {
                        std::cmp::Ordering::Equal => out[a] == out[b],
                        std::cmp::Ordering::Greater => out[a] >= out[b] - 8.0 * unit * size,
                        std::cmp::Ordering::Less => true,
                    };
                    assert!(kept, "{name}, {dtype:?}: {row:?} to {out:?}");
                }
            }
        }
    });
}

/// Of 10⁵ pairs of predictions, far from each other and near: different ones stay different, in f32 and f64.
#[test]
fn information_is_kept() {
    let mut rng = rng(91);
    let mut pair = |near: bool| -> [Vec<f64>; 2] {
        let mut row =
            |size: f64| -> Vec<f64> { (0..4).map(|_| rng.random_range(-size..size)).collect() };
        let a = row(4.0);
        let b = match near {
            true => a.iter().zip(row(0.1)).map(|(a, d)| a + d).collect(),
            false => row(4.0),
        };
        [a, b].map(|z| log_softmax(&z))
    };
    let rows: Vec<Vec<f64>> = (0..100_000).flat_map(|k| pair(k % 2 == 0)).collect();
    let apart = |a: &[f64], b: &[f64]| {
        let [a, b] = [a, b].map(log_softmax);
        (a.iter().zip(&b)).fold(0.0f64, |apart, (a, b)| apart.max((a.exp() - b.exp()).abs()))
    };
    each(|name, map| {
        if !map.guarantees().injective_on_log_probabilities {
            return;
        }
        for (dtype, bound) in [(DType::F32, 1e-6), (DType::F64, 1e-9)] {
            let out = vector(map.forward(tensor_on(&rows, &device(), dtype)));
            for (pair, out) in rows.chunks(2).zip(out.chunks(8)) {
                if apart(&pair[0], &pair[1]) > 1e-3 {
                    let after = apart(&out[..4], &out[4..]);
                    assert!(after > bound, "{name}, {dtype:?}: {pair:?} to {out:?}");
                }
            }
        }
    });
}

/// Increasing on a fine grid that goes beyond the knots, and the integral of its slope.
#[test]
fn diagonal_scaling_increases_and_integrates() {
    let (logits, classes) = overconfident(300, 83);
    let config = DiagonalScalingConfig::new().with_regularisation(Regularisation::Fixed(1e-5));
    let map = config.fitted(&logits, &classes);
    let knots = map.knots();
    assert_eq!(knots.len(), 33);
    assert!(knots.iter().all(|knot| knot.slope > 0.0));
    let slopes: Vec<f64> = knots.iter().map(|knot| knot.slope).collect();
    assert!(slopes[0] != slopes[32], "the network has not moved");
    let grid: Vec<Vec<f64>> = (0..40_000)
        .map(|k| vec![-10.0 + 5e-4 * f64::from(k), 0.0])
        .collect();
    let out = vector(map.forward(tensor(&grid)));
    let out: Vec<f64> = out.chunks(2).map(|row| row[0]).collect();
    assert!(out.windows(2).all(|pair| pair[0] < pair[1]));
    // Simpson's rule is exact for the piecewise linear slope between knots
    for pair in knots.windows(2) {
        let [left, right] = [pair[0], pair[1]];
        let width = right.place - left.place;
        let rise = 0.5 * width * (left.slope + right.slope);
        assert_relative(right.value - left.value, rise, 1e-9);
        let place = 0.5 * (left.place + right.place);
        let middle = vector(map.forward(tensor(&[[place, 0.0]])))[0];
        let half = width * (3.0 * left.slope + right.slope) / 8.0;
        assert_relative_eq!(
            middle - left.value,
            half,
            max_relative = 1e-9,
            epsilon = 1e-12
        );
    }
}

/// A scalar of each map is differentiable in the logits, by central differences.
#[test]
fn gradients_reach_the_logits() {
    let rows = [vec![1.0, -2.0, 0.3, 0.9], vec![-0.7, 2.2, 1.4, -3.0]];
    let loss = ScoreLoss::new(LogScore);
    each(|_, map| {
        check_gradient(&rows, 1e-5, |z| {
            loss.forward(map.forward(z), labels(&[0, 2]))
        });
    });
}

#[test]
fn single_precision_is_close() {
    let (rows, _) = overconfident(50, 84);
    each(|name, map| {
        let single = map.forward(tensor_on(&rows, &device(), DType::F32));
        assert_eq!(single.dtype(), DType::F32);
        for (a, b) in zip(vector(single), vector(map.forward(tensor(&rows)))) {
            assert_near_in(name, a, b, 2e-5 * b.abs().max(1.0));
        }
    });
}

/// A fitted affine map is not injective on logits, whose rows can be shifted, and on log-probabilities it
/// is where `W⁻¹1` has one sign.
#[test]
fn affine_maps_know_when_they_are_injective() {
    let (rows, classes) = overconfident(400, 85);
    let config = VectorScalingConfig::new();
    let map = config.fitted(&rows, &classes);
    let kept = map.guarantees();
    assert!(map.weight().iter().all(|a| *a > 0.0));
    assert!(kept.injective_on_log_probabilities && !kept.injective);
    let against: Vec<Vec<f64>> = (rows.iter())
        .map(|row| vec![-row[0], row[1], row[2], row[3]])
        .collect();
    let map = config.fitted(&against, &classes);
    let kept = map.guarantees();
    assert!(map.weight()[0] < 0.0 && !kept.injective_on_log_probabilities);
    assert!(!kept.injective && !kept.keeps_accuracy);
}

/// Logits beyond 1e30, in the fit and after it: the largest stays the largest.
#[test]
fn diagonal_scaling_of_logits_of_any_size() {
    let mut rng = rng(89);
    let unit = random_rows(60, 3, 2.0, &mut rng);
    let classes: Vec<usize> = unit.iter().map(|row| argmax(row)).collect();
    for size in [1.0, 1e29, 1e40, 1e90] {
        let rows: Vec<Vec<f64>> = unit
            .iter()
            .map(|row| row.iter().map(|z| z * size).collect())
            .collect();
        let config = DiagonalScalingConfig::new().with_regularisation(Regularisation::Fixed(1e-2));
        let map = config.fitted(&rows, &classes);
        let far = vec![
            vec![1e40, 1e35, 1e38],
            vec![-1e99, -1e97, -1e98],
            vec![0.0, 1e31, 1e33],
        ];
        // a map of logits of 1e90 cannot tell 1e31 from 0
        let far = if size < 1e50 { &far } else { &rows };
        for rows in [&rows, far] {
            let out = vector(map.forward(tensor(rows)));
            for (row, out) in rows.iter().zip(out.chunks(3)) {
                all_finite(out);
                assert_eq!(argmax(row), argmax(out), "{size}: {row:?}, {out:?}");
            }
        }
    }
}

/// Confident predictions of two classes that say nothing about the labels become uniform, and nothing is promised then.
#[test]
fn a_uniform_ensemble_promises_nothing() {
    let rows = table(200, 2, |i, c| if i % 2 == c { 20.0 } else { 0.0 });
    let classes: Vec<usize> = (0..200).map(|i| i / 2 % 2).collect();
    let config = EnsembleTemperatureScalingConfig::new();
    let map = config.fit(tensor(&rows), labels(&classes)).unwrap();
    assert_near(map.weights()[2], 1.0, 1e-5);
    assert!(!map.guarantees().keeps_accuracy && !map.guarantees().injective);
}
