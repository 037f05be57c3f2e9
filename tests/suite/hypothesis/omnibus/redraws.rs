//! Exact tests whose redraws stop by themselves, and any statistic as one of them.

use burn_calibration::{
    estimator::{Ece, Mmce, Skce, Ucme},
    hypothesis::*,
    kernel::Kernel,
};
use rand::rngs::StdRng;

use crate::dirichlet_model::DirichletModel;
use crate::{
    data::*,
    models::{Model, draw},
};

const SEQUENTIAL: Redraws = Redraws::Sequential {
    exceedances: 5,
    most: 199,
};
const UNTIL_DECIDED: Redraws = Redraws::UntilDecided {
    level: 0.05,
    risk: 1e-3,
    most: 999,
};

/// The UCME at ten locations that do not depend on the data.
fn ucme(m: usize, rng: &mut StdRng) -> Ucme {
    let uniform = DirichletModel::new(vec![1.0; m], 1.0, vec![1.0 / m as f64; m]);
    let (locations, classes) = uniform.sample(10, &device(), rng);
    Ucme::new(Kernel::gaussian(), &locations, &classes).unwrap()
}

fn p_values(
    test: &dyn CalibrationTest,
    sets: usize,
    (model, n, m): (Model, usize, usize),
    rng: &mut StdRng,
) -> Vec<(f64, usize)> {
    let mut outcome = || {
        let (rows, classes) = draw(model, n, m, rng);
        let outcome = test.evaluate(&categorical(&rows), &labels(&classes), rng);
        let outcome = outcome.unwrap();
        let redraws = outcome.replicates().unwrap();
        let p = outcome.p_value();
        assert!(p >= 1.0 / (redraws + 1) as f64 - 1e-15 && p <= 1.0);
        (p, redraws)
    };
    (0..sets).map(|_| outcome()).collect()
}

/// Valid at every level, and early where the data are like the redraws.
#[test]
fn redraws_that_stop_keep_the_level() {
    let mut rng = rng(611);
    let sets = 200;
    let skce = Skce::unbiased(Kernel::exponential());
    let tests: [(&str, &dyn CalibrationTest, usize); 3] = [
        (
            "sequential SKCE",
            &ExactTest::new(skce).with_redraws(SEQUENTIAL),
            199,
        ),
        (
            "sequential MMCE",
            &ExactTest::new(Mmce::default()).with_redraws(SEQUENTIAL),
            199,
        ),
        (
            "decided ECE",
            &ExactTest::new(Ece::default()).with_redraws(UNTIL_DECIDED),
            999,
        ),
    ];
    for (name, test, most) in tests {
        let found = p_values(test, sets, (Model::M1, 30, 3), &mut rng);
        for level in [0.01, 0.05, 0.2, 0.5] {
            let rejected = found.iter().filter(|(p, _)| *p <= level + 1e-12).count() as f64;
            let expected = sets as f64 * level;
            let bound = expected + 3.0 * (expected * (1.0 - level)).sqrt();
            assert!(rejected <= bound, "{name}: {rejected} at {level}");
        }
        assert!(found.iter().all(|(_, redraws)| *redraws <= most));
        let early = found.iter().filter(|(_, redraws)| redraws * 2 < most);
        assert!(early.count() * 2 > sets, "{name}");
        // far from calibrated: sequential ones go on to the end, the decided ones stop
        let found = p_values(test, 5, (Model::M3, 80, 3), &mut rng);
        assert!(found.iter().all(|(p, _)| *p < 0.03), "{name}: {found:?}");
    }
}

/// The p-value `h/l` of the sequential test is that of the redraws that it drew, and the seed decides.
#[test]
fn sequential_p_values_are_ratios() {
    let mut rng = rng(612);
    let test = ExactTest::new(Skce::biased(Kernel::exponential())).with_redraws(SEQUENTIAL);
    for _ in 0..30 {
        let (rows, classes) = draw(Model::M1, 20, 3, &mut rng);
        let evaluate = |seed| {
            let outcome = test.evaluate(
                &categorical(&rows),
                &labels(&classes),
                &mut crate::data::rng(seed),
            );
            let outcome = outcome.unwrap();
            (outcome.p_value(), outcome.replicates().unwrap())
        };
        let (p, redraws) = evaluate(3);
        assert_eq!((p, redraws), evaluate(3));
        match redraws < 199 {
            true => assert_eq!(p, 5.0 / redraws as f64),
            false => assert!(p <= 5.0 / 199.0 + 1e-12, "{p}"),
        }
    }
}

#[test]
fn ucme_is_a_statistic() {
    let mut rng = rng(613);
    let ucme = ucme(3, &mut rng);
    let test = ExactTest::new(ucme).with_redraws(SEQUENTIAL);
    let sets = 100;
    let found = p_values(&test, sets, (Model::M1, 20, 3), &mut rng);
    let rejected = found.iter().filter(|(p, _)| *p <= 0.05).count();
    assert!(rejected <= 11, "{rejected} of {sets}"); // 5 + 3 standard deviations
    let found = p_values(&test, 5, (Model::M3, 250, 3), &mut rng);
    assert!(found.iter().all(|(p, _)| *p < 0.03), "{found:?}");
}
