//! Scores of data: propriety, means, bounds, improvements, what data can get wrong.

use super::{
    scores::{CRPS, TARGETS},
    *,
};
use crate::prelude::*;

/// The predictions that the targets are drawn from score best, significantly.
#[test]
fn propriety() {
    let n = 20_000;
    let rng = &mut rng(10);
    let normal = |mean: f64, deviation: f64| Normal::new(repeated(mean, n), repeated(deviation, n));
    let truth = normal(0.0, 1.0);
    let targets = truth.sample(rng);
    fn worse<S: Score<Normal>>(score: S, truth: &Normal, other: &Normal, y: &Tensor<2>) {
        let gain = score.improvement(truth, other, y).unwrap();
        let Interval { lower: low, .. } = gain.interval(0.999).unwrap();
        assert!(low > 0.0, "{score:?}: {gain}");
    }
    for other in [
        normal(0.3, 1.0),
        normal(0.0, 1.4),
        normal(0.0, 0.7),
        normal(-0.2, 1.1),
    ] {
        worse(Crps, &truth, &other, &targets);
        worse(LogScore, &truth, &other, &targets);
    }
    // dependence, which the CRPS does not see
    let n = 2_000;
    let x = Normal::new(repeated(0.0, n * 20), repeated(1.0, n * 20)).sample(rng);
    let x = x.reshape([n, 20, 1]);
    let other = x.clone().slice([0..n, 1..20]);
    let other = Tensor::cat(vec![other, x.clone().slice([0..n, 0..1])], 1);
    let dependent = Samples::new(Tensor::cat(vec![x.clone(), x.clone()], 2));
    let independent = Samples::new(Tensor::cat(vec![x, other], 2));
    let y = Normal::new(repeated(0.0, n), repeated(1.0, n)).sample(rng);
    let y = Tensor::cat(vec![y.clone(), y], 1);
    let same = Crps.improvement(&dependent, &independent, &y).unwrap();
    assert!(same.difference.estimate.abs() < 1e-12);
}

/// The fair CRPS of few draws estimates that of the distribution they are from, the other is above.
#[test]
fn fairness() {
    let n = 20_000;
    let rng = &mut rng(11);
    let truth = Normal::new(repeated(0.0, n), repeated(1.0, n));
    let targets = truth.sample(rng);
    let few = Samples::drawn_from(&truth, 3, rng);
    let exact = std::f64::consts::PI.sqrt().recip(); // E CRPS = σ/√π
    let fair = FairCrps.mean(&few, &targets).unwrap();
    assert_near(fair.estimate, exact, 4.0 * fair.standard_error);
    let unfair = Crps.mean(&few, &targets).unwrap();
    let expected = exact * (1.0 + 1.0 / 3.0); // + E|X − X'|/2S = (2/√π)/6
    assert_near(unfair.estimate, expected, 4.0 * unfair.standard_error);
}

#[test]
fn data() {
    let (predictions, targets) = (normal_mixture(4), column(TARGETS));
    let bound = Crps.upper_bound(&predictions, &targets).unwrap();
    let mean = CRPS[2].iter().sum::<f64>() / 4.0;
    all_relative([bound.estimate], [mean], 1e-13);
    assert_eq!(bound.samples, 4);
    // blocks of 1024 rows
    let many = normal_mixture(2500);
    let y = column(TARGETS.repeat(625));
    let each = Crps.each(&many, &y).unwrap();
    all_relative(&each[2496..], CRPS[2], 1e-13);

    refuses(LogScore.upper_bound(&predictions, &targets));
    assert!(LogScore.mean(&predictions, &targets).is_ok());
}

#[test]
fn bad_data() {
    let targets = column([0.0, 1.0]);
    let normal = |deviation: f64| Normal::new(repeated(0.0, 2), column([1.0, deviation]));
    refuses(Crps.mean(&normal(-1.0), &targets));
    refuses(Crps.mean(&normal(1.0), &column([0.0, f64::NAN])));
    refuses(LogScore.mean(&normal(1.0), &column([0.0])));
    refuses(LogScore.mean(&normal(1.0), &tensor(&[[0.0, 0.0], [0.0, 0.0]])));
    let single = samples(&[vec![vec![0.0]], vec![vec![2.0]]]);
    refuses(FairCrps.mean(&single, &targets));
    refuses(Crps.improvement(&normal(1.0), &normal(0.0), &targets));
}

/// From predictions of one kind to those of another.
#[test]
fn improvement_between_kinds() {
    let targets = column(TARGETS);
    let after = Normal::new(repeated(0.5, 4), repeated(2.0, 4));
    let gain = Crps
        .improvement(&normal_mixture(4), &after, &targets)
        .unwrap();
    let expected = (CRPS[0].iter().sum::<f64>() - CRPS[2].iter().sum::<f64>()) / 4.0;
    all_relative([gain.difference.estimate], [expected], 1e-12);
}

/// A network's raw outputs trained by the CRPS end at mean and deviation of the targets.
#[test]
fn training() {
    let device: Device = device().autodiff();
    let rng = &mut rng(12);
    let n = 500;
    let targets = Normal::new(repeated(3.0, n), repeated(0.5, n)).sample(rng);
    let targets = Tensor::from_data(targets.into_data(), (&device, DType::F64));
    let loss = ScoreLoss::new(Crps);
    let mut raw = tensor_on(&[[0.0, 0.0]], &device, DType::F64).require_grad();
    for _ in 0..300 {
        let predictions = Normal::from_raw(raw.clone().expand([n, 2]), 1e-3);
        let gradients = loss.forward(&predictions, &targets).backward();
        let step = raw.grad(&gradients).unwrap();
        let next = raw.clone().inner() - step * 1.0;
        raw = Tensor::from_inner(next).require_grad();
    }
    let fitted = Normal::from_raw(raw, 1e-3);
    assert!((vector(fitted.mean())[0] - 3.0).abs() < 0.07);
    assert!((vector(fitted.standard_deviation())[0] - 0.5).abs() < 0.05);
    let density = fitted.log_density(&tensor_on(&[[3.0]], &device, DType::F64));
    assert!(vector(density)[0].is_finite());
}
