use super::*;

/// Normal predictions of formulas that other programs have too, with targets.
fn normals() -> (Normal, Tensor<2>) {
    let (mean, deviation, targets) = numbers();
    (Normal::new(mean, deviation), targets)
}

fn numbers() -> (Tensor<2>, Tensor<2>, Tensor<2>) {
    let rows: Vec<[f64; 3]> = (0..N)
        .map(|i| {
            let i = i as f64;
            let (mean, deviation) = ((1.3 * i).sin(), 0.5 + 0.4 * (0.7 * i).cos().powi(2));
            let error = 1.4 * deviation.powf(0.8) * 1.5 * (5.1 * i + 0.3).sin();
            [mean, deviation, mean + 0.3 * deviation + error]
        })
        .collect();
    let column = |k: usize| tensor(&rows.iter().map(|row| vec![row[k]]).collect::<Vec<_>>());
    (column(0), column(1), column(2))
}

fn heavy_normals() -> (Normal, Tensor<2>) {
    let (predictions, targets) = normals();
    let weights = weight_tensor(&sample_weights());
    predictions.weighted(&weights, &targets).unwrap()
}

/// Closed forms, and SciPy 1.17's minima of the weighted log score and of the weighted CRPS.
#[test]
fn maps_of_other_programs() {
    let (p, y) = heavy_normals();
    let map = TemperatureScalingConfig::new().fit(p.clone(), y.clone());
    assert_relative(map.unwrap().temperature(), 2.63394555341274, 1e-12);
    let variance = VarianceScalingConfig::new();
    let map = variance.fit_to(&p, &y);
    assert_relative(map.factors()[0].powi(2), 2.63394555341274, 1e-12);
    let crps = ScoreLoss::new(Crps);
    let map = variance.fit_to_by(&crps, &p, &y);
    assert_relative(map.factors()[0], 1.8631797818366316, 1e-5);
    let map = LocationScaleRecalibrationConfig::new().fit(p, y).unwrap();
    assert_relative(map.shifts()[0], 0.31130734654546954, 1e-6);
    assert_relative(map.factors()[0], 1.6857777417092974, 1e-6);
    assert_relative(map.powers()[0], 1.1546839948583953, 1e-6);
    assert_relative(map.report().unwrap().objective, 1.5069015161357884, 1e-9);
    let (mean, deviation, targets) = numbers();
    let laplace = Laplace::new(mean, deviation);
    let weights = weight_tensor(&sample_weights());
    let (laplace, y) = laplace.weighted(&weights, &targets).unwrap();
    let map = TemperatureScalingConfig::new().fit(laplace, y).unwrap();
    assert_relative(map.temperature(), 1.4652020040747238, 1e-12);
}

/// The weighted CRPS, by a criterion of one's own.
struct OwnCrps;

impl Criterion<Normal> for OwnCrps {
    fn value(&self, predictions: &Normal, targets: &Tensor<2>) -> Tensor<1> {
        let (plain, weights) = predictions.batch_parts();
        let weights: Tensor<1> = weights.expect("weights").squeeze_dim(1);
        let values = Crps.values(&plain, targets);
        (values * weights.clone()).sum() / weights.sum()
    }

    fn takes_weights(&self) -> bool {
        true
    }
}

/// A criterion that takes no weights is an error, and no panic; one that takes them is the weighted one.
#[test]
fn criteria_of_ones_own() {
    let (p, y) = heavy_normals();
    let variance = VarianceScalingConfig::new();
    let map = variance.fit_by(&OwnCrps, p.clone(), y.clone()).unwrap();
    assert_relative(map.factors()[0], 1.8631797818366316, 1e-5);
    let own = |p: &Normal, y: &Tensor<2>| Crps.values(p, y).mean();
    refuses(variance.fit_by(&own, p, y));
    let (p, y) = normals();
    let (equal, _) = p.weighted(&weight_tensor(&[0.3; N]), &y).unwrap();
    assert!(variance.fit_by(&own, equal, y).is_ok());
}

/// The bandwidth of the least weighted score of samples that are left out, and the means, by NumPy. Saved weights
/// are loaded.
#[test]
fn local_recalibration_of_numpy() {
    let (p, y) = heavy_normals();
    let y = y + (p.means() * p.means()) * 3.0; // a bias that depends on the prediction
    let map = LocalRecalibrationConfig::new().fit(p.clone(), y).unwrap();
    assert_relative(map.bandwidth(), 0.4, 1e-9);
    assert_relative(map.report().unwrap().objective, 1.8031425353258848, 1e-6);
    let expected = [
        1.6210349781905262,
        2.469136516992215,
        0.5128742253179994,
        2.752845049808645,
    ];
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("local.map");
    map.save(&path).unwrap();
    let DistributionMap::Local(loaded) = DistributionMap::load(&path, &device()).unwrap() else {
        panic!("local recalibration")
    };
    for map in [&map, &loaded] {
        let means = vector(map.forward(p.select_rows(&[0, 1, 17, 40])).means());
        for (mean, expected) in means.into_iter().zip(expected) {
            assert_relative(mean, expected, 1e-5);
        }
    }
}

/// By hand: weights of 1, 3 and 2 are an effective number of 18/7, of which they are 3/7, 9/7 and 6/7.
#[test]
fn levels_by_hand() {
    let column = |rows: [f64; 3]| tensor(&rows.map(|y| vec![y]));
    let standard = Normal::new(column([0.0; 3]), column([1.0; 3]));
    let targets = column([0.0, -4.0, 4.0]);
    let weights = weight_tensor(&[1.0, 3.0, 2.0]);
    let (p, y) = standard.weighted(&weights, &targets).unwrap();
    let map = QuantileRecalibrationConfig::new().fit(p, y).unwrap();
    let values: Vec<f64> = map.knots()[0].iter().map(|knot| knot.value).collect();
    for (found, expected) in values.into_iter().zip([0.0, 0.32, 0.56, 0.74, 1.0]) {
        assert!((found - expected).abs() < 1e-12, "{found}, {expected}");
    }
}

/// Whole weights are repeated rows, where a map has no smoothing, and rows of weight 0 are none.
#[test]
fn whole_weights_are_repeated_rows() {
    let (p, y) = normals();
    let weights = whole_weights();
    let rows: Vec<usize> = (0..N).flat_map(|i| vec![i; weights[i] as usize]).collect();
    let repeated = (p.select_rows(&rows), y.select_rows(&rows));
    let weighted = p.weighted(&weight_tensor(&weights), &y).unwrap();
    let methods = [
        DistributionMethod::Temperature,
        DistributionMethod::Variance,
        DistributionMethod::LocationScale,
    ];
    for method in methods {
        let [found, expected] = [&weighted, &repeated].map(|(p, y)| {
            let map = method.fit(p.clone(), y.clone()).unwrap();
            assert!(map.report().unwrap().warnings.is_empty(), "{method}");
            let parameters = map.named_parameters();
            let values = parameters.into_iter().flat_map(|one| one.values);
            values.chain([map.report().unwrap().objective]).collect()
        });
        let (found, expected): (Vec<f64>, Vec<f64>) = (found, expected);
        for (a, b) in found.iter().zip(&expected) {
            assert!((a - b).abs() < 1e-9, "{method}: {found:?}, {expected:?}");
        }
    }
}

/// A heavy sample is meant to rule: no row is set aside.
#[test]
fn no_row_is_set_aside() {
    let column = |y: f64| tensor(&[&vec![vec![0.5]; 39][..], &[vec![y]]].concat());
    let standard = Normal::new(column(0.0) * 0.0, column(1.0) * 0.0 + 1.0);
    let targets = column(1e4);
    let robust = || Robust(VarianceScalingConfig::new());
    let alone = robust().fit(standard.clone(), targets.clone());
    assert!(!alone.unwrap().report().unwrap().warnings.is_empty());
    let weights: Vec<f64> = (0..40).map(|i| 1.0 + f64::from(i == 39)).collect();
    let (p, y) = standard
        .weighted(&weight_tensor(&weights), &targets)
        .unwrap();
    let map = robust().fit(p, y).unwrap();
    assert!(map.report().unwrap().warnings.is_empty());
    let expected = ((39.0 * 0.25 + 2.0 * 1e8) / 41.0f64).sqrt();
    assert_relative(map.factors()[0], expected, 1e-12);
}

/// Most of the weight is of samples for which the model is twice as sure as it should be; it is right for the others.
#[test]
fn the_choice_is_by_weight() {
    let mut rng = rng(951);
    let (mut targets, mut weights) = (vec![], vec![]);
    for i in 0..600 {
        let is_heavy = i % 3 == 0;
        let z: f64 = rng.sample(rand_distr::StandardNormal);
        targets.push(vec![if is_heavy { 2.0 * z } else { z }]);
        weights.push(if is_heavy { 20.0 } else { 0.1 });
    }
    let zeros = tensor(&[[0.0]; 600]);
    let standard = Normal::new(zeros.clone(), zeros + 1.0);
    let (p, y) = standard
        .weighted(&weight_tensor(&weights), &tensor(&targets))
        .unwrap();
    let chosen = AutoRecalibrationConfig::new().fit(p, y).unwrap();
    assert_eq!(chosen.choice().chosen, "variance");
    let found = chosen.named_parameters()[0].values[0];
    assert!((1.75..2.25).contains(&found), "{found}");
    let gain = chosen.choice().change.estimate; // ln 2 − 3/2 of the heavy samples
    assert!((-1.2..-0.5).contains(&gain), "{gain}");
}
