//! The value of an epoch is that of the estimator on all of its predictions.

use burn::train::metric::{Metric, MetricAttributes, Numeric};
use burn_calibration::{
    metric::{EpochMetric, PValue, Quantity},
    prelude::*,
};

use super::{end_epoch, feed};

use crate::prelude::*;

const N: usize = 53;

fn sizes() -> [Vec<usize>; 4] {
    let mut sevens = vec![7; N / 7];
    sevens.push(N % 7);
    [vec![1; N], sevens, vec![N], vec![1, 9, 3, 40]]
}

fn logits(dtype: DType) -> (Tensor<2>, Tensor<1, Int>) {
    let mut rng = rng(7);
    let rows = random_rows(N, 4, 3.0, &mut rng);
    let labels = random_labels(N, 4, &mut rng);
    (
        tensor_on(&rows, &device(), dtype),
        labels_on(&labels, &device()),
    )
}

/// Of logits and of probabilities, in f32 and f64, whatever the batches, epoch after epoch.
fn check<Q: Quantity>(quantity: Q, value: impl Fn(&Categorical, &Tensor<1, Int>) -> f64) {
    for dtype in [DType::F32, DType::F64] {
        let (logits, labels) = logits(dtype);
        let from_logits = Categorical::from_logits(logits.clone()).unwrap();
        let probabilities = from_logits.probabilities();
        let from_probabilities = Categorical::from_probabilities(probabilities.clone()).unwrap();
        let cases = [
            (
                EpochMetric::from_logits(quantity.clone()),
                logits,
                value(&from_logits, &labels),
            ),
            (
                EpochMetric::from_probabilities(quantity.clone()),
                probabilities,
                value(&from_probabilities, &labels),
            ),
        ];
        for (mut metric, output, expected) in cases {
            assert!(expected.is_finite() && expected != 0.0);
            // one metric for all epochs: what came before is forgotten
            for sizes in sizes() {
                feed(&mut metric, &output, &labels, &sizes);
                let value = end_epoch(&mut metric);
                assert_eq!(
                    value.to_bits(),
                    expected.to_bits(),
                    "{quantity:?} in {dtype:?} by {sizes:?}: {value}, expected {expected}"
                );
            }
        }
    }
}

/// As [`check`], against the method `estimate`.
macro_rules! check_estimators {
    ($($estimator:expr),* $(,)?) => {$(
        let estimator = $estimator;
        check(estimator.clone(), |p, y| estimator.estimate(p, y).unwrap());
    )*};
}

#[test]
fn equals_the_estimator_on_the_whole_epoch() {
    check_estimators![
        Ece::default(),
        Ece::equal_mass(5),
        Ece::median_variance(10),
        Mce::default(),
        Tce::default(),
        Cwce::default(),
        Cwce::new(2.0),
        KolmogorovSmirnov::new(Event::Class(1)),
        SmoothEce::default(),
        Mmce::default(),
        Mmce::new(MmceForm::Unbiased),
        RefinementError,
        Skce::unbiased(Kernel::exponential()),
        Skce::block(Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(0.5)), 10),
    ];
}

#[test]
fn equals_the_mean_score_of_the_whole_epoch() {
    check(Brier, |p, y| Brier.upper_bound(p, y).unwrap().estimate);
    check(LogScore, |p, y| {
        LogScore.upper_bound(p, y).unwrap().estimate
    });
    check(Spherical, |p, y| {
        Spherical.upper_bound(p, y).unwrap().estimate
    });
}

#[test]
fn equals_the_p_value_of_the_test_with_the_same_seed() {
    let asymptotic = AsymptoticSkceTest::new(Kernel::exponential());
    check(PValue::new("p-value", asymptotic, 0), |p, y| {
        asymptotic.outcome(p, y, &mut rng(0)).unwrap().p_value
    });
    let resampling = ExactTest::new(Skce::unbiased(Kernel::exponential())).with_replicates(99);
    for seed in [3, 4] {
        check(PValue::new("p-value", resampling, seed), |p, y| {
            resampling.outcome(p, y, &mut rng(seed)).unwrap().p_value
        });
    }
}

/// Not the mean over batches, which for one sample each would be `|r − c|`.
#[test]
fn by_hand() {
    let rows = [
        vec![0.75, 0.25],
        vec![0.75, 0.25],
        vec![0.75, 0.25],
        vec![0.75, 0.25],
    ];
    let (output, labels) = (tensor(&rows), labels(&[0, 0, 0, 1]));
    let mut ece = EpochMetric::from_probabilities(Ece::default());
    let mut log = EpochMetric::from_probabilities(LogScore);
    for sizes in [vec![1; 4], vec![4], vec![3, 1]] {
        feed(&mut ece, &output, &labels, &sizes);
        feed(&mut log, &output, &labels, &sizes);
        assert_eq!(end_epoch(&mut ece), 0.0, "75 % sure, 3 of 4 right");
        let expected = -(0.75f64.ln() * 3.0 + 0.25f64.ln()) / 4.0;
        assert!((end_epoch(&mut log) - expected).abs() < 1e-15);
    }
}

#[test]
fn a_new_epoch_starts_anew() {
    let (output, labels) = (tensor(&[vec![0.75, 0.25], vec![0.75, 0.25]]), [0, 1]);
    let mut metric = EpochMetric::from_probabilities(Ece::default());
    feed(&mut metric, &output, &crate::data::labels(&[1, 1]), &[2]);
    assert_eq!(end_epoch(&mut metric), 0.75);
    assert!(metric.value().is_none());
    feed(&mut metric, &output, &crate::data::labels(&labels), &[1, 1]);
    assert_eq!(end_epoch(&mut metric), 0.25);
}

#[test]
fn gradients_are_not_kept() {
    let device = device().autodiff();
    let (logits, labels) = logits(DType::F32);
    let tracked = Tensor::<2>::from_data(logits.clone().into_data(), &device).require_grad();
    let mut metric = EpochMetric::from_logits(Brier);
    feed(&mut metric, &(tracked * 1.0), &labels, &[N]);
    let plain = Categorical::from_logits(logits).unwrap();
    let expected = Brier.upper_bound(&plain, &labels).unwrap();
    assert_eq!(end_epoch(&mut metric), expected.estimate);
}

#[test]
fn which_way_is_better() {
    let higher_is_better = |attributes| match attributes {
        MetricAttributes::Numeric(numeric) => numeric.higher_is_better,
        MetricAttributes::None => panic!("not numeric"),
    };
    let ece = EpochMetric::from_logits(Ece::default());
    assert!(!higher_is_better(ece.attributes()));
    let test = AsymptoticSkceTest::new(Kernel::exponential());
    let p_value = EpochMetric::from_logits(PValue::new("p-value", test, 0));
    assert!(higher_is_better(p_value.attributes()));
}

/// An epoch that tells the classes apart better, but is too sure of it: worse by the log loss, better by
/// what a temperature leaves.
#[test]
fn the_refinement_error_does_not_stop_for_overconfidence() {
    let labels = labels(&[0, 0, 0, 0, 1, 1, 1, 1]);
    let epoch = |right: usize, logit: f64| {
        let row = |i: usize| {
            if (i % 4 < right) == (i < 4) {
                logit
            } else {
                -logit
            }
        };
        tensor(&(0..8).map(|i| vec![row(i), 0.0]).collect::<Vec<_>>())
    };
    let values = |output: Tensor<2>| {
        let mut log = EpochMetric::from_logits(LogScore);
        let mut refinement = EpochMetric::from_logits(RefinementError);
        feed(&mut log, &output, &labels, &[3, 5]);
        feed(&mut refinement, &output, &labels, &[3, 5]);
        (end_epoch(&mut log), end_epoch(&mut refinement))
    };
    let (first, second) = (values(epoch(2, 0.1)), values(epoch(3, 9.0)));
    assert!(
        second.0 > first.0 && second.1 < first.1,
        "{first:?} {second:?}"
    );
    let entropy = -0.75 * 0.75f64.ln() - 0.25 * 0.25f64.ln(); // right three times out of four
    assert!((second.1 - entropy).abs() < 1e-9);
}
