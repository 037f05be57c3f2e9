//! Any statistic as an exact test.

use crate::prelude::*;

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
) -> Vec<f64> {
    let mut outcome = || {
        let (rows, classes) = draw(model, n, m, rng);
        let outcome = test.outcome(&categorical(&rows), &labels(&classes), rng);
        outcome.unwrap().p_value
    };
    (0..sets).map(|_| outcome()).collect()
}

#[test]
fn ucme_is_a_statistic() {
    let mut rng = rng(613);
    let ucme = ucme(3, &mut rng);
    let test = ExactTest::new(ucme).with_replicates(99);
    let sets = simulated(400);
    let found = p_values(&test, sets, (Model::M1, 20, 3), &mut rng);
    let rejected = found.iter().filter(|p| **p <= 0.05).count();
    assert_at_most(rejected, sets, (0.05, 3.0), "UCME");
    let found = p_values(&test, simulated(24), (Model::M3, 250, 3), &mut rng);
    assert!(found.iter().all(|p| *p < 0.03), "{found:?}");
}
