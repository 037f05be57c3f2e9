use super::*;

/// What an evaluator computes of redrawn labels is the weighted estimate of these labels.
#[test]
fn evaluators_are_estimates() {
    let mut rng = rng(921);
    let kernel = |bandwidth| exponential(bandwidth);
    for sharpness in [0.3, 4.0] {
        let rows: Vec<Vec<f64>> = logit_rows()
            .iter()
            .map(|row| row.iter().map(|z| sharpness * z).collect())
            .collect();
        let plain = Categorical::from_logits(tensor(&rows)).unwrap();
        let weights = weight_tensor(&sample_weights());
        let (p, _) = plain.weighted(&weights, &labels(&classes())).unwrap();
        let sets: Vec<Vec<usize>> = (0..3)
            .map(|set| (plain.redrawer().draw)(3, &mut rng).set(set))
            .chain([classes()])
            .collect();
        let event = |event| Aspect::Event(event);
        let five = Binning::EqualMass { bins: 5 };
        let statistics: Vec<Box<dyn Statistic>> = vec![
            Box::new(Skce::unbiased(kernel(0.4))),
            Box::new(Skce::biased(
                Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(0.4)),
            )),
            Box::new(Skce::block(kernel(0.4), 7)),
            Box::new(Mmce::default()),
            Box::new(Mmce::new(MmceForm::Weighted)),
            Box::new(Mmce::new(MmceForm::Unbiased)),
            Box::new(Ece::default()),
            Box::new(Ece::new(event(Event::Class(1)), five)),
            Box::new(Ece::uniform(4)),
            Box::new(Mce::default()),
            Box::new(Tce::default()),
            Box::new(Tce::default().with_form(TceForm::Debiased)),
            Box::new(KolmogorovSmirnov::default()),
            Box::new(Cwce::default()),
            Box::new(SmoothEce::default()),
        ];
        for (k, statistic) in statistics.iter().enumerate() {
            let evaluator = statistic.evaluator(&p).unwrap();
            for set in &sets {
                let found = evaluator.values(&plain.as_redrawn(set)).unwrap()[0];
                let expected = statistic.on(&p, &labels(set));
                let close = (found - expected).abs() <= 1e-9 * (expected.abs() + 1e-3);
                assert!(close, "statistic {k}: {found}, expected {expected}");
            }
        }
    }
}

/// The aspects of the omnibus test are weighted means: by rows that are repeated.
#[test]
fn aspects_are_those_of_repeated_rows() {
    let ((p, y), (q, z)) = (weighted(&whole_weights()), repeated());
    let test = OmnibusTest::new().with_redraws(9);
    let [found, expected] = [(p, y), (q, z)].map(|(p, y)| omnibus(test, &p, &y, 922).aspects);
    let means = [
        "confidence",
        "brier_score",
        "log_score",
        "class_0",
        "class_2",
    ];
    for name in means
        .into_iter()
        .chain(["cumulative_confidence", "least_likely_label"])
    {
        let of = |aspects: &[AspectOutcome]| {
            let aspect = aspects.iter().find(|aspect| aspect.name == name);
            aspect.unwrap().estimate
        };
        assert_relative(of(&found), of(&expected), 1e-9);
    }
}

/// Targets of calibrated predictions.
fn calibrated(n: usize, rng: &mut StdRng) -> (Categorical, Tensor<1, Int>) {
    let p = categorical(&random_probabilities(n, 3, rng));
    let y = p.sample(rng);
    (p, y)
}

/// Weights with a heavy tail that depend on the predictions: p_0^{-2} over a uniform number.
fn heavy(p: &Categorical, rng: &mut StdRng) -> Tensor<1> {
    let rows = vector(p.probabilities());
    let weight = |row: &[f64]| (row[0] + 0.02).powi(-2) / (0.02 + rng.random::<f64>());
    weight_tensor(&rows.chunks(3).map(weight).collect::<Vec<_>>())
}

/// Weights are known before the labels: redraws have the law of the data, whatever the weights.
#[test]
fn exact_tests_keep_their_level() {
    let mut rng = rng(923);
    let (trials, level) = (simulated(1200), 0.1);
    let kernel = exponential(0.5);
    let mut rejected = [0; 5];
    for _ in 0..trials {
        let (p, y) = calibrated(25, &mut rng);
        let weights = heavy(&p, &mut rng);
        let (p, y) = p.weighted(&weights, &y).unwrap();
        fn p_value<S: Statistic>(
            statistic: S,
            p: &Categorical,
            y: &Tensor<1, Int>,
            rng: &mut StdRng,
        ) -> f64 {
            let test = ExactTest::new(statistic).with_replicates(19);
            test.outcome(p, y, rng).unwrap().p_value
        }
        let omnibus = OmnibusTest::new().with_redraws(19);
        let p_values = [
            p_value(Ece::default(), &p, &y, &mut rng),
            p_value(Skce::unbiased(kernel), &p, &y, &mut rng),
            p_value(Mmce::default(), &p, &y, &mut rng),
            p_value(Tce::default(), &p, &y, &mut rng),
            omnibus.outcome(&p, &y, &mut rng).unwrap().p_value,
        ];
        for (count, p_value) in rejected.iter_mut().zip(p_values) {
            *count += usize::from(p_value <= level + 1e-9);
        }
    }
    for count in rejected {
        assert_binomial(count, trials, (level, 3.5), rejected);
    }
}

/// A model that is wrong only where weights are large is found with weights, and not without.
#[test]
fn weights_direct_the_power() {
    let mut rng = rng(924);
    let n = 400;
    let p = vec![vec![0.5, 0.5]; n];
    let wrong = |i: usize| i < 20;
    let y: Vec<usize> = (0..n).map(|i| if wrong(i) { 1 } else { i % 2 }).collect();
    let weights: Vec<f64> = (0..n).map(|i| if wrong(i) { 100.0 } else { 1.0 }).collect();
    let (p, y) = (categorical(&p), labels(&y));
    let test = OmnibusTest::new().with_redraws(199);
    assert!(test.outcome(&p, &y, &mut rng).unwrap().p_value > 0.05);
    let (p, y) = p.weighted(&weight_tensor(&weights), &y).unwrap();
    assert!(test.outcome(&p, &y, &mut rng).unwrap().p_value <= 0.01);
    // real targets as well
    let real = tensor(&vec![vec![0.0]; n]);
    let targets: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            vec![if wrong(i) {
                1.5
            } else {
                1.2 * (i as f64 * 1.7).sin()
            }]
        })
        .collect();
    let (normal, targets) = (Normal::new(real.clone(), real + 1.0), tensor(&targets));
    let (weighted, targets) = normal.weighted(&weight_tensor(&weights), &targets).unwrap();
    let outcome = test.outcome(&weighted, &targets, &mut rng).unwrap();
    let location = &outcome.aspects[0];
    assert!(
        location.p_value <= 0.01 && location.estimate > 0.25,
        "{location:?}"
    );
}

/// What is said of an event is said of its weighted share.
#[test]
fn findings_are_by_weight() {
    let n = 200;
    let weights: Vec<f64> = (0..n).map(|i| if i < 100 { 3.0 } else { 1.0 }).collect();
    // 10 % of those of weight 3, and half of the others
    let is_event = |i: usize| i < 100 && i.is_multiple_of(10) || i >= 100 && i.is_multiple_of(2);
    let classes: Vec<usize> = (0..n).map(|i| usize::from(is_event(i))).collect();
    let risks = categorical(&vec![vec![0.5, 0.5]; n])
        .about(Subject::Event)
        .unwrap();
    let (risks, y) = risks
        .weighted(&weight_tensor(&weights), &labels(&classes))
        .unwrap();
    let test = OmnibusTest::new().with_redraws(99);
    let outcome = omnibus(test, &risks, &y, 925);
    let finding = &outcome.failing(0.05)[0].finding;
    assert_eq!(
        finding,
        "risks are too high: 50.0 % expected, 20.0 % observed, by weight"
    );
}
