use super::*;

fn config() -> QuantileRecalibrationConfig {
    QuantileRecalibrationConfig::new()
}

/// Knots of a map of levels.
fn curve<const N: usize>(knots: [[f64; 2]; N]) -> Vec<Knot> {
    knots.map(Knot::from).to_vec()
}

fn standard(n: usize, d: usize) -> Normal {
    Normal::new(repeated(&vec![0.0; d], n), repeated(&vec![1.0; d], n))
}

/// The recalibrated levels of the fit are the expected ranks; equal levels have the mean of theirs.
#[test]
fn levels_of_the_fit_are_uniform() {
    let y = [2.0, -1.0, 0.5, -0.1, 0.5, 0.5, 3.0];
    let (p, y) = (standard(7, 1), column(y));
    let map = config().fit_to(&p, &y);
    let levels = vector(map.forward(p.clone()).cdf(&y));
    for (level, rank) in levels.into_iter().zip([6.0, 1.0, 4.0, 2.0, 4.0, 4.0, 7.0]) {
        close(level, rank / 8.0, 1e-15);
    }
    // ranks 3, 4, 5 about 4
    close(map.report().unwrap().objective, 2.0 / 64.0 / 7.0, 1e-15);
    assert_eq!(map.knots()[0].len(), 7);
    assert!(map.guarantees().injective);
}

/// Biased and too sharp predictions of other data become uniform, in each coordinate.
#[test]
fn levels_of_other_data_are_nearly_uniform() {
    let (n, mut rng) = (4000, rng(10));
    let truth = Normal::new(repeated(&[1.0, -0.5], n), repeated(&[0.5, 3.0], n));
    let p = standard(n, 2);
    let map = config().fit(p.clone(), truth.sample(&mut rng)).unwrap();
    let levels = vector(map.forward(p.clone()).cdf(&truth.sample(&mut rng)));
    for c in 0..2 {
        let mut levels: Vec<f64> = levels.iter().skip(c).step_by(2).copied().collect();
        levels.sort_by(f64::total_cmp);
        // Kolmogorov–Smirnov, two samples: 1.95 √(2/n) at 0.1 %
        let distance = |(k, level): (usize, &f64)| (level - (k as f64 + 0.5) / n as f64).abs();
        let largest = levels.iter().enumerate().map(distance).fold(0.0, f64::max);
        assert!(largest < 1.95 * (2.0 / n as f64).sqrt(), "{largest}");
    }
    // the median becomes that of the truth
    let medians = vector(map.forward(p.clone()).quantile(0.5));
    assert!((medians[0] - 1.0).abs() < 0.05 && (medians[1] + 0.5).abs() < 0.2);
}

/// Rows of different predictions, quantiles and levels of each invert each other.
#[test]
fn quantiles_invert_the_distribution_function() {
    let mut rng = rng(11);
    let location = tensor(&random_rows(20, 2, 2.0, &mut rng));
    let scale = tensor(&random_rows(20, 2, 1.0, &mut rng)).exp();
    let p = Laplace::new(location.clone(), scale);
    let map = config().fit(p.clone(), location * 0.5).unwrap();
    let recalibrated = map.forward(p.clone());
    let mut before = vec![f64::NEG_INFINITY; 40];
    for level in [1e-6, 0.01, 0.2, 0.5, 0.7, 0.99, 1.0 - 1e-6] {
        let quantile = recalibrated.quantile(level);
        for back in vector(recalibrated.cdf(&quantile)) {
            close(back, level, 1e-9);
        }
        let quantile = vector(quantile);
        assert!(quantile.iter().zip(&before).all(|(x, y)| x > y));
        before = quantile;
    }
}

/// Two knots by hand: `R(¼) = ½` doubles the levels below.
#[test]
fn by_hand() {
    let knots = vec![curve([[0.0, 0.0], [0.25, 0.5], [1.0, 1.0]])];
    let map = QuantileRecalibration::from_knots(knots.clone(), &device()).unwrap();
    assert_eq!(map.knots(), knots);
    let p = Normal::new(column([1.0]), column([2.0]));
    let recalibrated = map.forward(p.clone());
    // at the levels ⅒, ¼, ⅖ of the prediction
    let at = |level: f64| vector(p.quantile(level))[0];
    for (level, expected) in [(0.1, 0.2), (0.25, 0.5), (0.4, 0.6)] {
        let y = column([at(level)]);
        close(vector(recalibrated.cdf(&y))[0], expected, 1e-14);
        close(vector(recalibrated.quantile(expected))[0], at(level), 1e-13);
    }
    let samples = recalibrated.samples(4, &mut rng(12));
    // levels ⅛, ⅜, ⅝, ⅞
    let expected = [0.0625, 0.1875, 0.4375, 0.8125].map(at);
    all_near(vector(samples.draws()), expected, 2e-13);
}

/// Each coordinate takes all its levels, in an order that differs between coordinates and rows.
#[test]
fn samples_are_a_latin_hypercube() {
    let p = standard(3, 2);
    let y = matrix(&[0.0, 1.0, 0.5, 0.3, -1.0, 2.0], 2);
    let map = config().fit_to(&p, &y);
    let recalibrated = map.forward(p.clone());
    let s = 50;
    let draws = vector(recalibrated.samples(s, &mut rng(13)).draws());
    let quantiles: Vec<Vec<f64>> = (0..s)
        .map(|k| vector(recalibrated.quantile((k as f64 + 0.5) / s as f64)))
        .collect();
    for at in 0..6 {
        let (row, c) = (at / 2, at % 2);
        let mut values: Vec<f64> = (0..s).map(|k| draws[(row * s + k) * 2 + c]).collect();
        assert!(values.windows(2).any(|pair| pair[0] > pair[1]));
        values.sort_by(f64::total_cmp);
        let expected: Vec<f64> = quantiles.iter().map(|row| row[at]).collect();
        assert_eq!(values, expected);
    }
}

/// Targets so far out that their levels are 0 or 1 keep their ranks, and no probability is at infinity.
#[test]
fn targets_in_the_far_tails() {
    let (p, y) = (standard(4, 1), column([-1e3, -1e4, 0.0, 1e3]));
    let map = config().fit_to(&p, &y);
    assert_eq!(map.knots(), [curve([[0.0, 0.0], [0.5, 0.6], [1.0, 1.0]])]);
    assert_eq!(vector(map.forward(p.clone()).cdf(&y)), [0.0, 0.0, 0.6, 1.0]);
    assert!(vector(map.forward(p.clone()).quantile(0.01))[0].is_finite());
    let far = column([-1e3, -1e4, 1e5, 1e3]);
    let error = config().fit(p.clone(), far).unwrap_err();
    assert!(matches!(error, Error::Parameter { .. }), "{error}");
}

#[test]
fn degenerate_data() {
    // one sample: half of the probability on each side of it
    let (p, y) = (standard(1, 1), column([1.0]));
    let map = config().fit_to(&p, &y);
    assert_eq!(vector(map.forward(p.clone()).cdf(&y)), [0.5]);
    refuses(config().fit(p.clone(), column([f64::NAN])));
    refuses(config().fit(p.clone(), column([1.0, 2.0])));
    let zero = Normal::new(column([0.0]), column([0.0]));
    refuses(config().fit(zero.clone(), y.clone()));
    for knots in [
        vec![],
        vec![curve([])],
        vec![curve([[0.0, 0.0], [1.0, 0.5]])],
        vec![curve([[0.0, 0.0], [0.5, 0.6], [0.7, 0.4], [1.0, 1.0]])],
        vec![curve([[0.0, 0.0], [f64::NAN, 0.6], [1.0, 1.0]])],
    ] {
        assert!(QuantileRecalibration::from_knots(knots, &device()).is_err());
    }
    let flat = vec![curve([[0.0, 0.0], [0.5, 0.5], [0.7, 0.5], [1.0, 1.0]])];
    let flat = QuantileRecalibration::from_knots(flat, &device()).unwrap();
    assert!(!flat.guarantees().injective);
}

/// Of a prediction that is mapped to itself; upper tails without cancellation.
#[test]
fn moments_draws_and_tails() {
    // exact moments of a normal prediction that is mapped to itself
    let same = vec![curve([[0.0, 0.0], [1.0, 1.0]])];
    let same = QuantileRecalibration::from_knots(same, &device()).unwrap();
    let q = same.forward(Normal::new(column([3.0]), column([2.0])));
    let many = q.select_rows(&[0; 20_000]);
    let draws = vector(many.sample(&mut rng(17)));
    assert!((mean(&draws) - 3.0).abs() < 5.0 * 2.0 / (draws.len() as f64).sqrt());
    close(vector(q.means())[0], 3.0, 1e-10);
    close(vector(q.variances())[0], 4.0, 1e-8);
    let Tails { lower, upper } = q.on_host().tails(0, 3.0 + 2.0 * 20.0);
    assert_eq!(lower, 1.0);
    assert!((upper / 2.7536241186061556e-89 - 1.0).abs() < 1e-10); // scipy.stats.norm.sf(20)
}

#[test]
fn another_dimension_panics() {
    let map = config().fit(standard(3, 1), column([0.0, 1.0, 2.0]));
    panics(|| map.unwrap().forward(standard(3, 2)));
}
