use super::*;

/// Labels that depend on the logits, by a formula.
fn related() -> Vec<usize> {
    let score = |i: usize, c: usize, z: f64| {
        let (i, c) = (i as f64, c as f64);
        z + 1.8 * (5.1 * i + 1.7 * c * c + 0.3).sin()
    };
    let rows = logit_rows();
    let likely = |i: usize| {
        let scores: Vec<f64> = (0..3).map(|c| score(i, c, rows[i][c])).collect();
        argmax(&scores)
    };
    (0..N).map(likely).collect()
}

fn with_weights(
    rows: &[Vec<f64>],
    classes: &[usize],
    weights: &[f64],
) -> (Categorical, Tensor<1, Int>) {
    let predictions = Categorical::from_logits(tensor(rows)).unwrap();
    let weights = weight_tensor(weights);
    predictions.weighted(&weights, &labels(classes)).unwrap()
}

fn three() -> (Categorical, Tensor<1, Int>) {
    with_weights(&logit_rows(), &related(), &sample_weights())
}

/// Class 1 of two, with the difference of two logits as its log-odds.
fn two(weights: &[f64]) -> (Categorical, Tensor<1, Int>) {
    let rows = logit_rows()
        .iter()
        .map(|z| vec![0.0, z[1] - z[0]])
        .collect::<Vec<_>>();
    let classes: Vec<usize> = related().iter().map(|y| usize::from(*y == 1)).collect();
    with_weights(&rows, &classes, weights)
}

/// scikit-learn's logistic and isotonic regression with sample weights; SciPy's minimum for a temperature.
#[test]
fn maps_of_other_programs() {
    let (p, y) = two(&sample_weights());
    let platt = PlattScalingConfig::new().fit_to(&p, &y);
    let [[a, b]] = platt.parameters()[..] else {
        panic!("one event")
    };
    assert_relative(a, 0.607454802425719, 1e-5);
    assert_relative(b, -0.24243514016931017, 1e-5);
    let scores = [-2.0, -0.5, 0.0, 0.7, 2.0].map(|s| vec![0.0, s]);
    // the prediction itself has the mean weight
    let venn_abers = VennAbersConfig::new().fit_to(&p, &y);
    let VennAbersInterval { lower, upper } = venn_abers.interval(tensor(&scores));
    let expected = [
        [0.24382611122243572, 0.2837954576080704],
        [0.2461179338893184, 0.2886559686849767],
        [0.2461179338893184, 0.2886559686849768],
        [0.60007437197796, 0.6625405190037396],
        [0.60007437197796, 0.6625405190037396],
    ];
    for ((lower, upper), expected) in vector(lower).into_iter().zip(vector(upper)).zip(expected) {
        assert_relative(lower, expected[0], 1e-12);
        assert_relative(upper, expected[1], 1e-12);
    }
    let isotonic = IsotonicRegressionConfig::new().fit(p, y).unwrap();
    let found = softmax_rows(isotonic.forward(tensor(&scores)));
    let expected = [
        0.25575411564780715,
        0.25575411564780715,
        0.25575411564780715,
    ];
    let expected = [&expected[..], &[0.6400562177827411; 2]].concat();
    for (row, expected) in found.iter().zip(expected) {
        assert_relative(row[1], expected, 1e-9);
    }
    let (p, y) = three();
    let temperature = without_prior();
    let map = temperature.fit_to(&p, &y);
    assert_relative(map.temperature(), 0.8423572246410856, 1e-7);
    let matrix = MatrixScalingConfig::new().with_regularisation(Regularisation::Fixed(0.0));
    let map = matrix.fit(p, y).unwrap();
    let found = softmax_rows(map.forward(tensor(&logit_rows()[..3])));
    let expected = [
        [
            0.05341922959043376,
            0.946254373023451,
            0.0003263973861153243,
        ],
        [0.5379526712700587, 0.01934830312911493, 0.44269902560082636],
        [0.6680569763256322, 0.2882187420106815, 0.04372428166368627],
    ];
    for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
        assert!((found - expected).abs() < 1e-4, "{found}, {expected}");
    }
}

fn softmax_rows(logits: Tensor<2>) -> Vec<Vec<f64>> {
    let m = logits.dims()[1];
    let rows = vector(logits);
    rows.chunks(m).map(softmax).collect()
}

/// Of every kind: equal weights give the map without weights to the last digit.
#[test]
fn equal_weights_are_none() {
    for (predictions, y) in [
        two(&[2.5; N]),
        with_weights(&logit_rows(), &related(), &[0.3; N]),
    ] {
        for kind in MapKind::ALL {
            let logits = predictions.logits().unwrap();
            let plain = kind.config(3).fit(logits, y.clone()).unwrap();
            let weighted = kind.config(3).fit(predictions.clone(), y.clone()).unwrap();
            assert_eq!(
                weighted.named_parameters(),
                plain.named_parameters(),
                "{kind}"
            );
        }
    }
}

/// Without smoothing and priors whole weights are repeated rows.
#[test]
fn whole_weights_are_repeated_rows() {
    let weights = whole_weights();
    let (rows, classes) = (logit_rows(), related());
    let (p, y) = with_weights(&rows, &classes, &weights);
    let repeated: Vec<usize> = (0..N).flat_map(|i| vec![i; weights[i] as usize]).collect();
    let all: Vec<Vec<f64>> = repeated.iter().map(|&i| rows[i].clone()).collect();
    let of: Vec<usize> = repeated.iter().map(|&i| classes[i]).collect();
    let (logits, labels) = (tensor(&all), labels(&of));
    let vector_scaling = VectorScalingConfig::new().with_regularisation(Regularisation::Fixed(0.0));
    let temperature = without_prior();
    let found = [
        vector_scaling.fit_to(&p, &y).forward(tensor(&rows)),
        temperature.fit(p, y).unwrap().forward(tensor(&rows)),
    ];
    let expected = [
        vector_scaling
            .fit_to(&logits, &labels)
            .forward(tensor(&rows)),
        temperature
            .fit(logits, labels)
            .unwrap()
            .forward(tensor(&rows)),
    ];
    for (found, expected) in found.into_iter().zip(expected) {
        let pairs = softmax_rows(found)
            .concat()
            .into_iter()
            .zip(softmax_rows(expected).concat());
        pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-5, "{a}, {b}"));
    }
}

/// Every kind with weights is fitted to the weighted log loss, which is hardly worse than before.
#[test]
fn every_kind() {
    let weights = sample_weights();
    for (p, y) in [two(&weights), three()] {
        let loss = |logits: Tensor<2>| {
            let after = Categorical::from_logits(logits).unwrap();
            let after = after.with_sample_weights(p.sample_weights()).unwrap();
            LogScore.mean(&after, &y).unwrap().estimate
        };
        let logits = p.logits().unwrap();
        let before = loss(logits.clone());
        for kind in MapKind::ALL {
            let map = kind.config(0).fit_to(&p, &y);
            let after = loss(map.forward(logits.clone()));
            assert!(after < before + 0.02, "{kind}: {after}, {before}");
            if *kind == MapKind::Isotonic {
                let plain = kind.config(0).fit(logits.clone(), y.clone());
                let of_plain = loss(plain.unwrap().forward(logits.clone()));
                assert!(after < of_plain, "{kind}: {after}, {of_plain}");
            }
        }
    }
}

#[test]
fn a_criterion_takes_no_weights() {
    let (p, y) = three();
    let brier = ScoreLoss::new(Brier);
    refuses(TemperatureScalingConfig::new().fit_by(&brier, p.clone(), y.clone()));
}

/// The model is right for most samples, and twice as sure as it should be for those with most of the weight.
#[test]
fn the_choice_is_by_weight() {
    let mut rng = rng(941);
    let (mut rows, mut classes, mut weights) = (vec![], vec![], vec![]);
    for i in 0..600 {
        let z: f64 = rng.random_range(-4.0..4.0);
        let is_heavy = i % 3 == 0;
        let truth = if is_heavy { 0.4 * z } else { z };
        let probability = 1.0 / (1.0 + (-truth).exp());
        rows.push(vec![0.0, z]);
        classes.push(usize::from(rng.random::<f64>() < probability));
        weights.push(if is_heavy { 20.0 } else { 0.5 });
    }
    let (p, y) = with_weights(&rows, &classes, &weights);
    let chosen = AutoRecalibrationConfig::new().fit_to(&p, &y);
    let choice = chosen.choice();
    assert_ne!(choice.chosen, "none");
    let temperature = MapKind::Temperature
        .config(0)
        .fit(p.clone(), y.clone())
        .unwrap();
    let found = temperature.named_parameters()[0].values[0];
    assert!((2.0..3.2).contains(&found), "{found}");
}

/// With weights of a heavy tail, that depend on nothing, the temperature of overconfident predictions is found by its
/// score test, and hardly ever one of calibrated predictions.
#[test]
fn weighted_gains_are_established() {
    let mut rng = rng(935);
    let chosen = [0.5, 1.0].map(|slope: f64| {
        let trials = 40;
        let is_chosen = |_: &i32| {
            let (mut rows, mut classes, mut weights) = (vec![], vec![], vec![]);
            for _ in 0..150 {
                let z: f64 = 2.0 * rng.sample::<f64, _>(rand_distr::StandardNormal);
                rows.push(vec![0.0, z]);
                classes.push(usize::from(
                    rng.random::<f64>() < 1.0 / (1.0 + (-slope * z).exp()),
                ));
                weights.push(rng.sample::<f64, _>(rand_distr::StandardNormal).exp());
            }
            let (p, y) = with_weights(&rows, &classes, &weights);
            let fitted = AutoRecalibrationConfig::new().fit(p, y).unwrap();
            fitted.choice().chosen != "none"
        };
        (0..trials).filter(is_chosen).count()
    });
    assert!(chosen[0] >= 15 && chosen[1] <= 4, "{chosen:?}");
}
