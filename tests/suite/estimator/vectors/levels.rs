//! Level on calibrated regressions and power on others, and unbiasedness.

use super::data::gaussian;
use crate::prelude::*;

/// The same predictions with scales that are too small by a factor.
fn overconfident(predictions: &Normal, factor: f64) -> Normal {
    Normal::new(
        predictions.mean(),
        predictions.standard_deviation() * factor,
    )
}

fn kernel() -> TensorKernel<RealKernel> {
    gaussian(1.0, 1.0)
}

fn rejections(
    test: &dyn CalibrationTest<Normal>,
    (n, sets, factor): (usize, usize, f64),
    rng: &mut StdRng,
) -> usize {
    let mut rejects = || {
        let truth = random_normal(n, 1, rng);
        let targets = truth.sample(rng);
        let outcome = test.outcome(&overconfident(&truth, factor), &targets, rng);
        outcome.unwrap().p_value <= 0.05
    };
    (0..sets).filter(|_| rejects()).count()
}

/// Level 5 % of tests that are exact, or nearly so at this size.
#[test]
fn levels() {
    let exact = ExactTest::new(Skce::biased(kernel())).with_replicates(19);
    let gamma = AsymptoticSkceTest::new(kernel());
    let blocks = AsymptoticBlockSkceTest::linear(kernel());
    let tests: [(&str, &dyn CalibrationTest<Normal>, usize); 3] = [
        ("exact", &exact, 12),
        ("gamma", &gamma, 24),
        ("linear", &blocks, 128),
    ];
    let sets = simulated(300);
    for (name, test, n) in tests {
        let count = rejections(test, (n, sets, 1.0), &mut rng(101));
        assert_binomial(count, sets, (0.05, 3.0), name);
    }
    // never above its level
    let free = DistributionFreeSkceTest::new(Skce::unbiased(kernel()));
    assert_eq!(
        rejections(&free, (32, simulated(100), 1.0), &mut rng(102)),
        0
    );
    let cme = CmeTest::new(kernel(), 3);
    let count = rejections(&cme, (128, sets, 1.0), &mut rng(103));
    assert_binomial(count, sets, (0.05, 3.0), "CME");
}

/// Scales that are half of what they should be.
#[test]
fn power() {
    let gamma = AsymptoticSkceTest::new(kernel());
    let exact = ExactTest::new(Skce::biased(kernel())).with_replicates(39);
    let blocks = AsymptoticBlockSkceTest::new(kernel(), 8);
    let tests: [(&str, &dyn CalibrationTest<Normal>, usize); 3] = [
        ("gamma", &gamma, 100),
        ("exact", &exact, 60),
        ("blocks", &blocks, 320),
    ];
    for (name, test, n) in tests {
        let sets = simulated(80);
        let count = rejections(test, (n, sets, 0.5), &mut rng(104));
        assert!(count * 10 >= sets * 9, "{name}: {count} of {sets}");
    }
}

/// Mixtures go through the same tests: the mixture is calibrated, its first component is not.
#[test]
fn mixtures() {
    let mut rng = rng(105);
    let (a, b) = (
        random_normal(120, 1, &mut rng),
        random_normal(120, 1, &mut rng),
    );
    let shifted = Normal::new(b.mean() + 2.0, b.standard_deviation());
    let mixture = Mixture::ensemble(&[a.clone(), shifted]);
    let targets = mixture.sample(&mut rng);
    let test = AsymptoticSkceTest::new(kernel());
    assert!(test.outcome(&mixture, &targets, &mut rng).unwrap().p_value > 0.01);
    assert!(test.outcome(&a, &targets, &mut rng).unwrap().p_value < 0.01);
}

/// The mean of unbiased estimates of calibrated predictions is 0, that of biased ones is not.
#[test]
fn unbiased_estimates_average_to_zero() {
    let mut rng = rng(106);
    let mut z = |skce: Skce<_>, sets: usize| {
        let estimate = |_| {
            let predictions = random_normal(8, 2, &mut rng);
            skce.on(&predictions, &predictions.sample(&mut rng))
        };
        standardised(&(0..sets).map(estimate).collect::<Vec<f64>>(), 0.0)
    };
    for skce in [Skce::unbiased(kernel()), Skce::linear(kernel())] {
        assert!(z(skce, 1000).abs() < 4.0);
    }
    assert!(z(Skce::biased(kernel()), 200) > 4.0);
}
