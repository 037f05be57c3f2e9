use burn_calibration::diagram::Reliability;

use super::*;

const TOP: Event = Event::TopLabel;

/// Weighted means and means over pairs are those of other programs.
#[test]
fn numbers_of_other_programs() {
    let (p, y) = weighted(&sample_weights());
    let check = |found: f64, expected: f64| assert_relative(found, expected, 1e-9);
    check(Accuracy.on(&p, &y), 0.29918258982424845);
    let log = LogScore.mean(&p, &y).unwrap();
    check(log.estimate, 1.6483510891059365);
    check(log.standard_error, 0.19011208419207296);
    check(log.effective, 39.08864157837197);
    check(Brier.mean(&p, &y).unwrap().estimate, 0.9189488931129975);
    check(Ece::default().on(&p, &y), 0.3998270463655077);
    let five = Binning::EqualMass { bins: 5 };
    let mass = Ece::new(Aspect::Event(TOP), five);
    let sizes: Vec<usize> = mass
        .bins(&p, &y)
        .unwrap()
        .iter()
        .map(|bin| bin.size)
        .collect();
    assert_eq!(sizes, [13, 12, 10, 11, 14]);
    check(mass.on(&p, &y), 0.3815612654902127);
    let tce = Tce::default().with_binning(five);
    check(tce.power(&p, &y).unwrap(), 0.12505742319124613);
    let ks = KolmogorovSmirnov::default();
    check(ks.on(&p, &y), 0.3820423259573188);
    for (form, expected) in [
        (MmceForm::Unweighted, 0.10216733503707832),
        (MmceForm::Unbiased, 0.09460453887067559),
        (MmceForm::Weighted, 0.10875924671629182),
    ] {
        for computation in [Computation::Auto, Computation::Composed] {
            let mmce = Mmce::new(form).with_computation(computation);
            check(mmce.on(&p, &y), expected);
        }
    }
    for (skce, expected) in [
        (Skce::biased(exponential(0.5)), 0.04083544616055213),
        (Skce::unbiased(exponential(0.5)), 0.016572090816974125),
        (Skce::block(exponential(0.5), 20), 0.0038926351508327367),
    ] {
        for computation in [Computation::Auto, Computation::Composed] {
            let skce = skce.with_computation(computation);
            check(skce.on(&p, &y), expected);
        }
    }
    let corp = Corp::of(
        &Brier,
        Event::Class(1),
        &p.class_wise(1, &y).unwrap().0,
        &class_1(&y),
    );
    let corp = corp.unwrap();
    check(corp.score, 0.5727574950609362);
    check(corp.miscalibration, 0.17791522715105357);
    check(corp.discrimination, 0.04541483908886651);
    check(corp.uncertainty, 0.44025710699874915);
}

fn class_1(y: &Tensor<1, Int>) -> Tensor<1, Int> {
    y.clone().equal_elem(1).int()
}

/// Means of whole weights are those of rows that are repeated. Means over pairs of different samples are not: repeated
/// rows are pairs too.
#[test]
fn whole_weights_are_repeated_rows() {
    let ((p, y), (q, z)) = (weighted(&whole_weights()), repeated());
    let uniform = Binning::Uniform { bins: 7 };
    let estimators: Vec<Box<dyn Estimator>> = vec![
        Box::new(Accuracy),
        Box::new(Ece::default()),
        Box::new(Ece::uniform(4)),
        Box::new(Ece::new(Aspect::Event(TOP), uniform)),
        Box::new(Mce::default()),
        Box::new(KolmogorovSmirnov::new(Event::Class(2))),
        Box::new(SmoothEce::default()),
        Box::new(Cwce::new(1.0)),
        Box::new(
            Tce::default()
                .with_binning(uniform)
                .with_form(TceForm::PlugIn { order: 2.0 }),
        ),
        Box::new(Mmce::default()),
        Box::new(Mmce::new(MmceForm::Weighted)),
        Box::new(Skce::biased(exponential(0.5))),
    ];
    for estimator in &estimators {
        let (found, expected) = (estimator.estimate(&p, &y), estimator.estimate(&q, &z));
        assert_relative(found.unwrap(), expected.unwrap(), 1e-11);
    }
    let corps = [(&p, &y), (&q, &z)].map(|(p, y)| Corp::of(&LogScore, TOP, p, y).unwrap());
    assert_relative(corps[0].miscalibration, corps[1].miscalibration, 1e-11);
    let diagrams = [(&p, &y), (&q, &z)].map(|(p, y)| Reliability::new(TOP).diagram(p, y).unwrap());
    assert_relative(diagrams[0].ece(), diagrams[1].ece(), 1e-11);
    assert_relative(diagrams[0].ece(), Ece::default().on(&p, &y), 1e-11);
    let overconfidence = [(&p, &y), (&q, &z)];
    let sizes = overconfidence.map(|(p, y)| Overconfidence::default().size(p, y).unwrap());
    assert_relative(sizes[0].estimate, sizes[1].estimate, 1e-11);
    let pairs = [(&p, &y), (&q, &z)].map(|(p, y)| Skce::unbiased(exponential(0.5)).on(p, y));
    assert!((pairs[0] - pairs[1]).abs() > 1e-3, "{pairs:?}");
}

/// The same of real numbers.
#[test]
fn whole_weights_of_real_predictions() {
    let mut rng = rng(913);
    let weights = whole_weights();
    let rows: Vec<usize> = (0..N).flat_map(|i| vec![i; weights[i] as usize]).collect();
    let mut column = || -> Tensor<2> {
        let numbers = (0..N).map(|_| vec![rng.random::<f64>(), rng.random()]);
        tensor(&numbers.collect::<Vec<_>>())
    };
    let (plain, y) = (Normal::new(column(), column() + 0.2), column() * 2.0);
    let (p, z) = plain.weighted(&weight_tensor(&weights), &y).unwrap();
    let (q, y) = (plain.select_rows(&rows), y.select_rows(&rows));
    let estimators: Vec<Box<dyn Estimator<Normal>>> = vec![
        Box::new(regression::Pinball::default()),
        Box::new(regression::IntervalCoverage::new(0.5)),
        Box::new(regression::QuantileCalibration::default()),
        Box::new(regression::Sharpness),
    ];
    for estimator in &estimators {
        let (found, expected) = (estimator.estimate(&p, &z), estimator.estimate(&q, &y));
        assert_relative(found.unwrap(), expected.unwrap(), 1e-11);
    }
    let width = [(&p, &z), (&q, &y)].map(|(p, y)| {
        let width = regression::IntervalCoverage::new(0.9).width(p, y);
        width.unwrap().estimate
    });
    assert_relative(width[0], width[1], 1e-11);
    let sizes = [(&p, &z), (&q, &y)].map(|(p, y)| {
        let size = IntervalOverconfidence::default().size(p, y).unwrap();
        size.interval(0.9).unwrap()
    });
    assert_relative(sizes[0].estimate, sizes[1].estimate, 1e-9);
    assert!(sizes[0].lower <= sizes[1].lower && sizes[0].upper >= sizes[1].upper);
    let ence = regression::Ence::default().estimate(&p, &z);
    contains(&ence.unwrap_err(), "this quantity takes no sample weights");
}

/// The SKCE of real predictions with weights, with and without features of the residuals, by the definition.
#[test]
fn pairs_of_real_predictions() {
    let mut rng = rng(911);
    let n = 12;
    let mut column = |scale: f64| -> Vec<Vec<f64>> {
        (0..n).map(|_| vec![scale * rng.random::<f64>()]).collect()
    };
    let (mean, deviation, targets) = (column(2.0), column(1.0), column(3.0));
    let weights: Vec<f64> = column(4.0).concat();
    let deviation = tensor(&deviation) + 0.5;
    let plain = Normal::new(tensor(&mean), deviation);
    let y = tensor(&targets);
    let (weighted, _) = plain.weighted(&weight_tensor(&weights), &y).unwrap();
    for on_targets in [RealKernel::gaussian(0.7), RealKernel::laplacian(0.7)] {
        let on_predictions = Kernel::wasserstein().with_bandwidth(Bandwidth::Fixed(0.8));
        let kernel = TensorKernel::new(on_predictions, on_targets);
        let pairs = kernel.pairs(&plain, &y).unwrap();
        let h = vector(pairs.tile(0..n, 0..n));
        let (mut sums, mut totals) = ([0.0; 2], [0.0; 2]);
        for i in 0..n {
            for j in 0..n {
                let w = weights[i] * weights[j];
                for (form, counts) in [true, i != j].into_iter().enumerate() {
                    if counts {
                        sums[form] += w * h[i * n + j];
                        totals[form] += w;
                    }
                }
            }
        }
        let forms = [SkceForm::Biased, SkceForm::Unbiased];
        for (form, expected) in forms.into_iter().zip([0, 1].map(|k| sums[k] / totals[k])) {
            for computation in [Computation::Auto, Computation::Composed] {
                let skce = Skce::new(kernel, form).with_computation(computation);
                assert_relative(skce.on(&weighted, &y), expected, 1e-9);
            }
            let evaluator = ExactTest::new(Skce::new(kernel, form)).with_replicates(3);
            let outcome = evaluator.outcome(&weighted, &y, &mut rng).unwrap();
            assert_relative(outcome.estimate, expected, 1e-9);
            let skce = Skce::new(kernel, form);
            let values = skce.evaluator(&weighted).unwrap();
            let values = values.values(&plain.as_redrawn(&targets.concat())).unwrap();
            assert_relative(values[0], expected, 1e-9);
        }
    }
    let crps = Crps.mean(&weighted, &y).unwrap().estimate;
    let each = Crps.each(&plain, &y).unwrap();
    let expected: f64 = each.iter().zip(&weights).map(|(x, w)| x * w).sum();
    assert_relative(crps, expected / weights.iter().sum::<f64>(), 1e-12);
}

/// What takes no weights says so, and names what does.
#[test]
fn others_refuse_weights() {
    let (p, y) = weighted(&sample_weights());
    let mut rng = rng(912);
    let refused = |result: Result<f64, Error>| {
        contains(&result.unwrap_err(), "takes no sample weights");
    };
    refuses(Ece::median_variance(5).estimate(&p, &y));
    refuses(HosmerLemeshow::default().estimate(&p, &y));
    refuses(TOP.outcomes(&p, &y));
    let tests: Vec<Box<dyn CalibrationTest>> = vec![
        Box::new(AsymptoticSkceTest::new(exponential(0.5))),
        Box::new(AsymptoticBlockSkceTest::linear(exponential(0.5))),
        Box::new(DistributionFreeSkceTest::new(Skce::biased(exponential(
            0.5,
        )))),
        Box::new(CmeTest::new(exponential(0.5), 3)),
        Box::new(ConsistencyTest::new(Ece::default())),
        Box::new(Cox::default()),
    ];
    for test in &tests {
        refuses(test.outcome(&p, &y, &mut rng));
    }
    let ucme = Ucme::new(
        exponential(0.5),
        &plain().0.select_rows(&[0, 1]),
        &labels(&[0, 1]),
    )
    .unwrap();
    refused(ucme.estimate(&p, &y));
    refused(ObservedExpected::of(TOP, &p, &y).map(|counts| counts.expected));
    refused(LpCalibrationError::new(1.0).bound(&p, &y).map(|_| 0.0));
}

/// The unbiased estimate of two of the samples, which is their `h`.
fn of_pair(rows: [usize; 2]) -> f64 {
    let (p, y) = plain();
    Skce::unbiased(exponential(0.5)).on(&p.select_rows(&rows), &y.select_rows(&rows))
}

/// Of blocks, where one weight exceeds the others by more than the digits of a number: its block alone counts.
#[test]
fn weights_of_pairs_do_not_cancel() {
    for ratio in [1e12, 1e17, 1e100] {
        let mut weights = vec![1.0; N];
        weights[3] = ratio;
        let (p, y) = weighted(&weights);
        for computation in [Computation::Auto, Computation::Composed] {
            let skce = Skce::linear(exponential(0.5)).with_computation(computation);
            assert_relative(skce.on(&p, &y), of_pair([2, 3]), 1e-6);
        }
        let of_blocks = Skce::linear(exponential(0.5)).size(&p, &y).unwrap();
        assert_relative(of_blocks.estimate, of_pair([2, 3]), 1e-6);
    }
}

/// Of all pairs, whose diagonal is taken away from the whole sum: the digits fall with the ratio of the weights.
#[test]
fn a_heavy_sample_in_all_pairs() {
    let mut weights = vec![1.0; N];
    weights[3] = 1e7;
    let pairs = || (0..N).flat_map(|i| (0..i).map(move |j| [i, j]));
    let weight = |[i, j]: [usize; 2]| weights[i] * weights[j];
    let sum: f64 = pairs().map(|pair| weight(pair) * of_pair(pair)).sum();
    let expected = sum / pairs().map(weight).sum::<f64>();
    let (p, y) = weighted(&weights);
    for computation in [Computation::Auto, Computation::Composed] {
        let skce = Skce::unbiased(exponential(0.5)).with_computation(computation);
        assert_relative(skce.on(&p, &y), expected, 1e-6);
    }
}
