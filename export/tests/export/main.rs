//! Formulas: they compute what the map computes.

mod evaluation;

use std::sync::LazyLock;

use burn::tensor::{DType, Device, Int, Tensor, TensorData, activation::softmax};
use burn_calibration::recalibration::TemperatureScaling;
use burn_calibration::{
    distribution::{Marginals as _, Normal},
    prelude::*,
    recalibration::*,
};
use burn_calibration_export::Formula;
use burn_calibration_testing::data::cases;
use proptest::{collection::vec, prelude::*};
use rand::{SeedableRng as _, rngs::StdRng};

use evaluation::evaluate;

fn device() -> Device {
    Device::flex()
}

fn tensor<R: AsRef<[f64]>>(rows: &[R]) -> Tensor<2> {
    let numbers: Vec<f64> = rows.iter().flat_map(|row| row.as_ref()).copied().collect();
    let data = TensorData::new(numbers, [rows.len(), rows[0].as_ref().len()]);
    Tensor::from_data(data, (&device(), DType::F64))
}

fn vector<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

fn temperature_map(t: f64) -> TemperatureScaling {
    TemperatureScaling::from_temperature(t, &device()).unwrap()
}

fn assert_relative(found: f64, expected: f64, tolerance: f64) {
    let near = (found - expected).abs() <= tolerance * expected.abs();
    assert!(near, "{found}, {expected}");
}

/// Logits of so many classes, some of them equal, with labels that are right more often than not.
fn noisy(m: usize) -> (Tensor<2>, Tensor<1, Int>) {
    let (n, mut rng) = (120, StdRng::seed_from_u64(11));
    let mut row = || (0..m).map(|_| rng.random_range(-3.0..3.0)).collect();
    let mut rows: Vec<Vec<f64>> = (0..n).map(|_| row()).collect();
    rows[7] = rows[3].clone();
    rows[8] = vec![0.5; m];
    let label = |row: &Vec<f64>| {
        let moved = row.iter().map(|z| z + rng.random_range(-3.0..3.0));
        let largest = moved.enumerate().max_by(|(_, a), (_, b)| a.total_cmp(b));
        largest.unwrap().0 as i64
    };
    let classes: Vec<i64> = rows.iter().map(label).collect();
    let labels = Tensor::<1, Int>::from_data(&classes[..], &device());
    (tensor(&rows), labels)
}

/// A map of every kind, of two and of four classes, and corrections alone and after a map.
static MAPS: LazyLock<Vec<(usize, LogitMap)>> = LazyLock::new(|| {
    let mut maps = Vec::new();
    for m in [2, 4] {
        let (logits, labels) = noisy(m);
        let fit = |kind: &MapKind| {
            let (logits, labels) = (logits.clone(), labels.clone());
            kind.config(3).fit(logits, labels).unwrap()
        };
        let all: Vec<LogitMap> = MapKind::ALL.iter().map(fit).collect();
        let rates = (0..m).map(|c| (c + 1) as f64);
        let rates: Vec<f64> = rates.map(|c| c / (m * (m + 1) / 2) as f64).collect();
        let uniform = vec![(m as f64).recip(); m];
        let alone = PriorCorrection::new(uniform.clone(), rates.clone()).unwrap();
        let of = |map: LogitMap| PriorCorrection::of(map, uniform.clone(), rates.clone()).unwrap();
        let table = all
            .iter()
            .find(|map| map.method() == Some(MapKind::Isotonic));
        let made = [alone, of(all[0].clone()), of(table.unwrap().clone())].map(LogitMap::from);
        maps.extend(all.into_iter().chain(made).map(|map| (m, map)));
    }
    maps
});

/// The formula and the map agree on rows of so many logits, wherever the map gives numbers.
fn agree(m: usize, rows: &[Vec<f64>]) -> Result<(), TestCaseError> {
    let maps = MAPS.iter().filter(|(of, _)| *of == m);
    all_agree(maps.map(|(_, map)| map), rows)
}

fn all_agree<'a>(
    maps: impl Iterator<Item = &'a LogitMap>,
    rows: &[Vec<f64>],
) -> Result<(), TestCaseError> {
    for map in maps {
        let formula = Formula::for_classes(map).expect("a map with a closed form");
        for row in rows {
            let expected = vector(softmax(map.forward(tensor(&[row])), 1));
            if expected.iter().any(|p| p.is_nan()) {
                continue;
            }
            let found = evaluate(&formula, &[("logits", row)]).remove(0);
            prop_assert_eq!(found.len(), row.len());
            // what is added to logits is rounded to their last place
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let tolerance = 1e-11 + f64::EPSILON * largest.abs();
            for (p, q) in found.iter().zip(&expected) {
                let near = (p - q).abs() < tolerance;
                prop_assert!(near, "{} of {row:?}: {found:?}, {expected:?}", map.kind());
            }
        }
    }
    Ok(())
}

fn logit() -> impl Strategy<Value = f64> {
    let masked = prop_oneof![Just(-1e4), Just(-1e9)];
    prop_oneof![Just(0.0), Just(30.0), Just(-30.0), masked, -6.0..6.0f64]
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn any_logits(
        two in vec(logit(), 2),
        four in vec(logit(), 4),
    ) {
        agree(2, &[two])?;
        agree(4, &[four])?;
    }
}

/// At the logits of the fit, where some maps jump, and at logits of −∞ where the map takes them.
#[test]
fn logits_of_the_fit_and_infinite_ones() {
    for m in [2, 4] {
        let rows: Vec<Vec<f64>> = vector(noisy(m).0).chunks(m).map(<[f64]>::to_vec).collect();
        // of more than two classes a Venn–Abers predictor jumps there, by the last bit of the log-odds
        let jumps = |map: &LogitMap| m > 2 && map.method() == Some(MapKind::VennAbers);
        let maps = MAPS.iter().filter(|(of, map)| *of == m && !jumps(map));
        all_agree(maps.map(|(_, map)| map), &rows).unwrap();
        let mut infinite = vec![1.5; m];
        infinite[1] = f64::NEG_INFINITY;
        agree(m, &[infinite]).unwrap();
    }
    let cool = temperature_map(2.0);
    let formula = Formula::for_classes(&cool.into()).unwrap();
    let certain = evaluate(&formula, &[("logits", &[0.0, f64::NEG_INFINITY])]);
    assert_eq!(certain, [[1.0, 0.0]]);
}

/// By hand: what is printed of maps with few numbers.
#[test]
fn in_writing() {
    let device = device();
    let lines = |map: LogitMap| -> Vec<String> {
        let text = Formula::for_classes(&map).unwrap().to_string();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        lines.map(String::from).collect()
    };
    let cool = temperature_map(1.7317);
    assert_eq!(lines(cool.clone().into()), ["p = softmax(z / 1.7317)"]);
    let platt = PlattScaling::from_parameters(&[[1.21, -0.3]], &device).unwrap();
    let both = [
        "s = z[1] − z[0]",
        "g = sigmoid(1.21 · s − 0.3)",
        "p = [1 − g, g]",
    ];
    assert_eq!(lines(platt.clone().into()), both);
    let beta = BetaCalibration::from_parameters(&[[0.5, 2.0, 1e-7]], &device).unwrap();
    let line = "g = sigmoid(0.5 · (min(s, 0) − u) + 2 · (max(s, 0) + u) + 1e-7)";
    assert_eq!(
        lines(beta.clone().into())[1..3],
        ["u = log(1 + exp(min(s, -1 · s)))", line]
    );
    let (weight, bias) = (vec![1.0, 0.5, 0.1 + 0.2], vec![0.0, -0.25, 1e300]);
    let of_classes = VectorScaling::from_parameters(weight.clone(), bias.clone(), &device).unwrap();
    let written = [
        "p = softmax(a · z + b)",
        "a = [1, 0.5, 0.30000000000000004]",
        "b = [0, -0.25, 1e300]",
    ];
    assert_eq!(lines(of_classes.clone().into()), written);
    let matrix = [weight.clone(), weight.clone(), weight].concat();
    let matrix = MatrixScaling::from_parameters(matrix, bias, &device).unwrap();
    assert_eq!(lines(matrix.clone().into())[0], "p = softmax(W · z + b)");
    let correction = PriorCorrection::new(vec![0.5, 0.5], vec![0.25, 0.75]).unwrap();
    let corrected = [
        "q = softmax(z)",
        "w = q · r",
        "p = w / sum(w)",
        "r = [0.5, 1.5]",
    ];
    assert_eq!(lines(correction.clone().into()), corrected);
}

/// Names that a correction and its map share are told apart.
#[test]
fn names_are_given_once() {
    for (_, map) in MAPS.iter() {
        let text = Formula::for_classes(map).unwrap().to_string();
        let steps = text.lines().filter(|line| !line.starts_with('#'));
        let mut names: Vec<_> = steps.map(|line| line.split(" = ").next()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{text}");
    }
}

/// Of distributions, by their definitions.
#[test]
fn of_distributions() {
    let device = device();
    let levels = vec![0.1, 0.5, 0.9];
    let shifts = ConformalShift::from_shifts(levels, vec![0.5, -1.0, 0.25], &device).unwrap();
    let formula = Formula::for_quantiles(&shifts);
    let moved = evaluate(&formula, &[("quantiles", &[0.0, 1.0, 2.0])]);
    assert_eq!(moved, [[0.0, 0.0, 2.25]]); // the lower one is at most the median
    let mut cool = temperature_map(4.0);
    for (family, expected) in [("normal", 6.0), ("laplace", 12.0)] {
        let family = Some(family.into());
        cool.set_fitted_to(FittedTo {
            family,
            ..FittedTo::default()
        });
        let formula = Formula::for_distributions(&cool.clone().into()).unwrap();
        assert_eq!(evaluate(&formula, &[("scale", &[3.0])]), [[expected]]);
    }
    let one = Tensor::<2>::from_data([[0.0], [1.0], [2.0]], (&device, DType::F64));
    let predictions = Normal::new(one.clone(), one.ones_like() * 2.0);
    let observed = Tensor::<2>::from_data([[1.5], [2.0], [-1.0]], (&device, DType::F64));
    for method in DistributionMethod::ALL {
        let map = method.fit(predictions.clone(), observed.clone()).unwrap();
        let formula = Formula::for_distributions(&map);
        let (location, scale) = (("location", &[1.0][..]), ("scale", &[2.0][..]));
        match map.forward(predictions.clone()) {
            Recalibrated::Family(after) if formula.is_some() => {
                let results = evaluate(&formula.unwrap(), &[location, scale]);
                let after = after.select_rows(&[1]);
                let scale = results.last().unwrap()[0];
                assert_relative(scale, vector(after.standard_deviation())[0], 1e-14);
                if results.len() == 2 {
                    assert_relative(results[0][0], vector(after.mean())[0], 1e-14);
                }
            }
            Recalibrated::Quantiles(after) => {
                let before = vector(predictions.cdf(&observed))[0];
                let found = evaluate(&formula.unwrap(), &[("levels", &[before])]);
                assert_relative(found[0][0], vector(after.cdf(&observed))[0], 1e-14);
            }
            // a temperature that does not say of what, and local recalibration
            _ => assert!(formula.is_none(), "{method}"),
        }
    }
}
