//! Correction for the base rates of classes.

use burn::tensor::activation::{log_softmax, softmax};
use rand_distr::{Distribution as _, Normal as Gaussian};

use super::files::Temporary;
use crate::prelude::*;

const TRAINED_AT: [f64; 3] = [0.2, 0.3, 0.5];
const PRIOR: [f64; 3] = [0.7, 0.25, 0.05];

fn correction() -> PriorCorrection {
    PriorCorrection::new(TRAINED_AT.to_vec(), PRIOR.to_vec()).unwrap()
}

/// The posterior of three normal densities with the means 0, 1 and 3, by Bayes' rule.
fn posterior(x: f64, rates: [f64; 3]) -> [f64; 3] {
    let joint = [0, 1, 2].map(|c| {
        let mean = [0.0, 1.0, 3.0][c];
        rates[c] * (-(x - mean) * (x - mean) / 2.0f64).exp()
    });
    joint.map(|p| p / joint.iter().sum::<f64>())
}

/// The Bayes classifier at the rates of training becomes that at the rates of use; in f64 and f32, with logits that
/// are shifted.
#[test]
fn it_is_bayes_rule() {
    let device = Device::flex();
    let points = [-2.0, 0.0, 0.5, 1.7, 2.0, 3.5, 8.0];
    let [before, after] = [TRAINED_AT, PRIOR].map(|rates| points.map(|x| posterior(x, rates)));
    for (dtype, tolerance) in [(DType::F64, 1e-13), (DType::F32, 1e-5)] {
        let before = Tensor::<2>::from_data(before, (&device, dtype));
        let corrected = softmax(correction().forward(before.log() + 7.0), 1);
        assert_eq!(corrected.dtype(), dtype);
        all_near(vector(corrected), after.as_flattened(), tolerance);
    }
    // back again
    let back = PriorCorrection::new(PRIOR.to_vec(), TRAINED_AT.to_vec()).unwrap();
    let logits = Tensor::<2>::from_data(after, (&device, DType::F64)).log();
    let returned = vector(softmax(back.forward(logits), 1));
    all_near(returned, before.as_flattened(), 1e-13);
}

/// xgboost #500, lightgbm #2107: a model that was trained on as many events as others is wrong where events are
/// rare, and right after the correction.
#[test]
fn undersampled_events() {
    let device = Device::flex();
    let mut rng = StdRng::seed_from_u64(5);
    let (n, rate) = (20_000, 0.02);
    let labels: Vec<i64> = (0..n).map(|i| i64::from(i % 50 == 0)).collect();
    let scores = labels.iter().map(|&y| {
        let x: f64 = Gaussian::new(y as f64 * 2.0, 1.0).unwrap().sample(&mut rng);
        2.0 * x - 2.0 // the log-odds at equal rates, by the normal densities
    });
    let logits: Vec<f64> = scores.flat_map(|score| [0.0, score]).collect();
    let logits = Tensor::<2>::from_data(TensorData::new(logits, [n, 2]), (&device, DType::F64));
    let labels = Tensor::<1, Int>::from_data(&labels[..], &device);
    let p_value = |logits: Tensor<2>| {
        let predictions = Categorical::from_logits(logits).unwrap();
        let event = Aspect::Event(Event::Class(1));
        let test = ExactTest::new(Ece::new(event, Binning::Uniform { bins: 15 }));
        test.p_value(&predictions, &labels, 0)
    };
    assert_eq!(p_value(logits.clone()), 0.001);
    let map = PriorCorrection::new(vec![0.5, 0.5], vec![1.0 - rate, rate]).unwrap();
    assert!(p_value(map.forward(logits)) > 0.05);
}

/// The other map comes first.
#[test]
fn after_another_map() {
    let device = Device::flex();
    let temperature = temperature_map(2.0);
    let map = PriorCorrection::of(temperature.into(), TRAINED_AT.to_vec(), PRIOR.to_vec()).unwrap();
    let logits = Tensor::<2>::from_data([[1.0, -2.0, 0.5], [0.0, 4.0, 1.0]], (&device, DType::F64));
    let expected = log_softmax(correction().forward(logits.clone() / 2.0), 1);
    let found = log_softmax(map.forward(logits), 1);
    all_near(vector(found), vector(expected), 1e-14);
    assert!(map.guarantees().injective && !map.guarantees().keeps_order);
}

/// A file has the rates, and the other map of any kind with how its fit went.
#[test]
fn saved_and_loaded() {
    let device = Device::flex();
    let logits = tensor(&[
        [1.0, -2.0, 0.5],
        [0.0, 4.0, 1.0],
        [0.3, 0.2, 0.0],
        [0.0, 1.0, 2.0],
    ]);
    let labels = Tensor::<1, Int>::from_data([0, 1, 1, 2], &device);
    let fitted = VectorScalingConfig::new().fit_to(&logits, &labels);
    let of = |map: LogitMap| PriorCorrection::of(map, TRAINED_AT.to_vec(), PRIOR.to_vec()).unwrap();
    let cool = of(temperature_map(0.5).into());
    let maps = [correction(), of(fitted.into()), cool];
    for (index, map) in maps.iter().enumerate() {
        let file = Temporary::new("prior.map");
        let path = &file.0;
        map.save(path).unwrap();
        let loaded = load_map(path, &device).unwrap();
        assert_eq!(loaded.kind(), "prior correction");
        assert_eq!(loaded.width(), Some(3));
        assert_eq!(loaded.report().is_some(), index == 1);
        let [a, b] = [loaded.forward(logits.clone()), map.forward(logits.clone())];
        assert_eq!(vector(a), vector(b));
    }
}

#[test]
fn bad_rates() {
    let device = Device::flex();
    let error = |from: &[f64], to: &[f64]| {
        refuses(PriorCorrection::new(from.to_vec(), to.to_vec()));
    };
    error(&[0.5, 0.5], &[1.0, 0.0]);
    error(&[0.5, 0.6], &[0.5, 0.5]);
    error(&[0.5, 0.5], &[f64::NAN, 0.5]);
    error(&TRAINED_AT, &[0.5, 0.5]);
    error(&[], &[]);
    let of_two = VectorScaling::from_parameters(vec![1.0; 2], vec![0.0; 2], &device).unwrap();
    for map in [of_two.into(), correction().into()] {
        let corrected = PriorCorrection::of(map, TRAINED_AT.to_vec(), PRIOR.to_vec());
        refuses(corrected);
    }
}
