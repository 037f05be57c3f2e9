//! Intervals of mean scores cover the mean of the population.

use std::f64::consts::PI;

use burn_calibration::estimator::regression::Pinball;
use rand_distr::StandardNormal;

use crate::prelude::*;

/// Data sets of calibrated models, whose mean score is known. Student's intervals hold in 35 % of sets of 20 rare
/// events.
#[test]
fn of_calibrated_models() {
    let mut rng = rng(831);
    for n in [8, 20, 50, 200] {
        let [mut brier, mut log, mut crps, mut varied, mut upper, mut wis] = [0; 6];
        let trials = simulated(400);
        for _ in 0..trials {
            let event = binary(&vec![RARE; n]).about(Subject::Event).unwrap();
            let labels = event.sample(&mut rng);
            let entropy = -(RARE.ln() * RARE + (1.0 - RARE).ln() * (1.0 - RARE));
            brier += covers(&Brier, &event, &labels, 2.0 * RARE * (1.0 - RARE));
            log += covers(&LogScore, &event, &labels, entropy);

            let zeros = tensor(&vec![[0.0]; n]);
            let normal = Normal::new(zeros.clone(), zeros.ones_like());
            let targets = normal.sample(&mut rng);
            crps += covers(&Crps, &normal, &targets, PI.sqrt().recip());
            let pinball = Pinball::new(vec![0.95]).unwrap();
            let interval = pinball.interval(&normal, &targets, 0.95).unwrap();
            upper += usize::from(
                (interval.lower..=interval.upper).contains(&density(1.6448536269514722)),
            );

            let scale = |_| [(1.2 * rng.sample::<f64, _>(StandardNormal)).exp()];
            let scales = tensor(&(0..n).map(scale).collect::<Vec<_>>());
            let laplace = Laplace::new(zeros.clone(), scales);
            let targets = laplace.sample(&mut rng);
            varied += covers(&Crps, &laplace, &targets, 0.75 * 0.72f64.exp());

            let forecasts =
                QuantileForecasts::new(LEVELS.into(), tensor(&vec![[-1.0, 0.0, 1.0]; n]));
            let targets = normal.sample(&mut rng);
            wis += covers(
                &WeightedIntervalScore,
                &forecasts.unwrap(),
                &targets,
                (4.0 * density(1.0) + 2.0 * density(0.0)) / 3.0,
            );
        }
        for covering in [brier, log, crps, varied, upper, wis] {
            assert_covers(covering, trials, 0.91, n);
        }
    }
}

const RARE: f64 = 0.02;
const LEVELS: [f64; 3] = [0.158655253931457, 0.5, 0.841344746068543];

/// The density of a standard normal number: the expected pinball score of its quantile.
fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * PI).sqrt()
}

fn covers<P: Predictive>(
    score: &impl Score<P>,
    predictions: &P,
    targets: &P::Targets,
    truth: f64,
) -> usize {
    let interval = score.interval(predictions, targets, 0.95).unwrap();
    usize::from((interval.lower..=interval.upper).contains(&truth))
}
