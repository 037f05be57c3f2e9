//! Numbers: against NumPy, the library and what they are by hand.

use approx::assert_relative_eq;
use burn::tensor::Tensor;
use burn_calibration::{
    distribution::Weighted as _,
    score::{Brier, Score},
};
use rand::RngExt;
use rand_distr::{Distribution, LogNormal};

use super::*;
use burn_calibration_testing::models::{Model, draw};

/// Six samples, by NumPy: the formulas of the documentation in a few lines.
#[test]
fn against_numpy() {
    let (p, y, w) = example();
    let kernel = Kernel::exponential().with_bandwidth(Bandwidth::Fixed(0.5));
    let empty = Evaluation::new(4, 3).unwrap().with_skce(kernel, 3).unwrap();
    let all = with(&empty, &p, &y, &w);
    let Observations {
        samples, weighted, ..
    } = all.observations();
    assert_eq!((samples, weighted), (6, Some(true)));
    assert_eq!(all.brier().weight(), 12.0);
    let effective = 4.430769230769231;
    let expected = [
        [0.3812499999999999, 0.1979990324395312, effective],
        [0.655999162070042, 0.29250242277077604, effective],
        [0.23493744534870817, 0.13167797597657466, effective],
        // blocks of weights 3.5 and 22.5
        [
            -0.05632365047058853,
            0.06318668495402949,
            26.0 * 26.0 / (3.5 * 3.5 + 22.5 * 22.5),
        ],
    ];
    let binned = [
        0.5416666666666666,
        0.1625,
        0.31000000000000005,
        -0.06134722222222222,
        0.14305555555555555,
    ];
    let expected = [&expected.concat()[..], &binned].concat();
    all_relative(numbers(&all), expected, 1e-14);
    let totals = all.top_label().totals()[1];
    assert_eq!(
        (totals.samples, totals.weight, totals.occurred),
        (3, 5.0, 0.5)
    );
    assert_relative_eq!(totals.probability, 2.05, max_relative = 1e-15);
    refuses(all.skce().unwrap().outcome());
}

/// The estimators of all predictions at once, which carry their weights.
#[test]
fn against_the_library() {
    let (p, y) = draw(Model::M2, 400, 4, &mut rng(31));
    let weights: Vec<f64> = LogNormal::new(0.0, 1.0)
        .unwrap()
        .sample_iter(rng(32))
        .take(400)
        .collect();
    let column = Tensor::<1>::from_data(&weights[..], (&device(), burn::tensor::DType::F64));
    let (predictions, classes) = categorical(&p).weighted(&column, &labels(&y)).unwrap();
    let kernel = fixed(Kernel::exponential());
    let all = with(&evaluation(4, 5), &p, &y, &weights);
    let estimate = |estimator: &dyn Estimator| estimator.estimate(&predictions, &classes).unwrap();
    let binning = Binning::Uniform { bins: 7 };
    let ece = Ece::new(Aspect::Event(Event::TopLabel), binning);
    let debiased = Tce::default()
        .with_binning(binning)
        .with_form(TceForm::Debiased);
    let top = all.top_label();
    all_relative(
        [
            top.frequency().unwrap(),
            top.ece().unwrap(),
            top.mce().unwrap(),
            top.power(TceForm::Debiased).unwrap(),
            all.class_wise().cwce().unwrap(),
        ],
        [
            estimate(&Accuracy),
            estimate(&ece),
            estimate(&Mce::new(ece)),
            debiased.power(&predictions, &classes).unwrap(),
            estimate(&Cwce::default().with_binning(binning)),
        ],
        1e-14,
    );
    let skce = all.skce().unwrap().mean().unwrap();
    let expected = Skce::block(kernel, 5)
        .estimate(&predictions, &classes)
        .unwrap();
    assert_relative_eq!(skce.estimate, expected, epsilon = 1e-15);
    let (brier, expected) = (
        all.brier().mean().unwrap(),
        Brier.mean(&predictions, &classes).unwrap(),
    );
    assert_relative_eq!(brier.estimate, expected.estimate, max_relative = 1e-15);
    assert_relative_eq!(brier.effective, expected.effective, max_relative = 1e-14);
    // the jackknife is another estimate of the same error
    assert_relative_eq!(
        brier.standard_error,
        expected.standard_error,
        max_relative = 0.02
    );
}

/// 95 % intervals by `n_eff − 1` degrees of freedom cover as often as they say, with weights of a heavy tail.
#[test]
fn intervals_cover() {
    let (mut rng, heavy) = (rng(33), LogNormal::new(0.0, 1.5).unwrap());
    for n in [8, 40] {
        let draws = 2000;
        let mut covered = 0;
        for _ in 0..draws {
            let mut means = Means::new([("family", "normal")]);
            let values: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
            let weights: Vec<f64> = (0..n).map(|_| heavy.sample(&mut rng)).collect();
            means.add_weighted("crps", &values, &weights).unwrap();
            let interval = means.mean("crps").unwrap().interval(0.95).unwrap();
            covered += usize::from(interval.lower <= 0.0 && 0.0 <= interval.upper);
        }
        // 0.95 with a standard error of 0.005
        let share = covered as f64 / draws as f64;
        assert!((0.93..0.985).contains(&share), "{n}: {share}");
    }
}

/// Means of numbers, with the same rules.
#[test]
fn means_of_numbers() {
    let empty = || Means::new([("family", "normal")]);
    let weighted = |x: &[f64], w: &[f64]| {
        let mut means = empty();
        means.add_weighted("crps", x, w).unwrap();
        means
    };
    let mut merged = weighted(&[1.0, 5.0], &[1e300, 0.0]);
    merged.merge(&weighted(&[3.0], &[3e300])).unwrap();
    let mean = merged.mean("crps").unwrap();
    assert_eq!(
        (mean.estimate, merged.count("crps"), merged.weight("crps")),
        (2.5, 2, 4e300)
    );
    assert_eq!(mean.effective, 1.6);
    // shares ¼ and ¾, of which the sum of squares is ⅝: (x₁ − x₂)²/2 times that
    assert_relative_eq!(mean.standard_error, 1.25f64.sqrt(), max_relative = 1e-15);
    let most = weighted(&[1.0, 2.0], &[f64::MAX; 2]);
    let mean = most.mean("crps").unwrap();
    assert_eq!(
        (mean.estimate, mean.standard_error, most.weight("crps")),
        (1.5, 0.5, f64::INFINITY)
    );
    let mut plain = empty();
    plain.add("crps", &[1.0]).unwrap();
    refuses(plain.merge(&merged));
    refuses(merged.add("crps", &[1.0]));
    refuses(empty().add_weighted("crps", &[1.0], &[-1.0]));
    let one = weighted(&[2.0], &[0.3]).mean("crps").unwrap();
    assert_eq!((one.estimate, one.standard_error), (2.0, f64::INFINITY));
    let none = weighted(&[2.0], &[0.0]);
    refuses(none.mean("crps"));
}

/// Blocks whose weights are far apart, of both ends of the numbers, and a pair by hand.
#[test]
fn blocks_of_any_weights() {
    let (p, y, _) = example();
    let empty = BlockSkceAccumulator::linear(fixed(Kernel::exponential()), 3).unwrap();
    let values: Vec<f64> = (0..3)
        .map(|b| {
            having(&empty, &p[2 * b..2 * b + 2], &y[2 * b..2 * b + 2])
                .mean()
                .unwrap()
                .estimate
        })
        .collect();
    // w_i w_j of the pairs: 1, 1 and 2
    let weights = [1e100, 1e-100, 1e-100, 1e100, 2.0, 1.0];
    let expected = (values[0] + values[1] + 2.0 * values[2]) / 4.0;
    let found = with(&empty, &p, &y, &weights).mean().unwrap();
    assert_relative_eq!(found.estimate, expected, max_relative = 1e-14);
    assert_eq!(found.samples, 3);
}
