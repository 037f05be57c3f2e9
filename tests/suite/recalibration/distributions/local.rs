use super::{location_scale::biased, *};

fn fit(p: Normal, y: Tensor<2>) -> LocalRecalibration {
    LocalRecalibrationConfig::new().fit(p, y).unwrap()
}

const BANDWIDTH: f64 = 0.2;
const LEFT_OUT: f64 = 0.8528565635489769;
const LOG_DENSITIES: [f64; 2] = [-0.9158444156384933, -2.936308326430136];

/// The same formulas in NumPy.
#[test]
fn densities_of_numpy() {
    let [m, s, y] = biased().map(column);
    let map = fit(Normal::new(m, s), y);
    assert_eq!(map.bandwidth(), BANDWIDTH);
    close(map.report().unwrap().objective, LEFT_OUT, 1e-6);
    let new = Normal::new(column([0.5, -1.5]), column([1.2, 0.7]));
    let recalibrated: Mixture<Normal> = map.forward(new);
    let got = vector(recalibrated.log_density(&column([1.0, -2.0])));
    all_near(got, LOG_DENSITIES, 1e-6);
}

/// Errors that depend on the prediction: local recalibration removes what a map of all levels cannot.
#[test]
fn local_errors_are_removed() {
    let (n, mut rng) = (2_000, rng(5));
    let m = u(2 * n);
    let wrong = Normal::new(column(m.clone()), repeated(&[1.0], 2 * n));
    // the truth is wider by ten to the right of a half, and shifted to the left of it
    let truth = |m: f64| if m > 0.5 { [m, 2.0] } else { [m + 3.0, 0.2] };
    let of = |c: usize| column(m.iter().map(|m| truth(*m)[c]));
    let truth = Normal::new(of(0), of(1));
    let y = truth.sample(&mut rng);
    let half = |p: &Normal, first: usize| {
        let rows = |x: Tensor<2>| x.slice_dim(0, first * n..(first + 1) * n);
        Normal::new(rows(p.mean()), rows(p.standard_deviation()))
    };
    let targets = |first: usize| y.clone().slice_dim(0, first * n..(first + 1) * n);
    let map = fit(half(&wrong, 0), targets(0));
    let score = |log_density: Tensor<1>| -scalar(log_density.mean());
    let best = score(half(&truth, 1).log_density(&targets(1)));
    let local = map.forward(half(&wrong, 1));
    let got = score(local.log_density(&targets(1)));
    assert!(got < best + 0.1, "{got}, the truth has {best}");
    let global = LocationScaleRecalibrationConfig::new();
    let global = global.fit_to(&half(&wrong, 0), &targets(0));
    let global = score(global.forward(half(&wrong, 1)).log_density(&targets(1)));
    assert!(got < global - 0.5, "{got} {global}");
}

/// Of calibrated predictions little is lost.
#[test]
fn calibrated_predictions_stay() {
    let (n, mut rng) = (500, rng(6));
    let p = Normal::new(column(u(n)), column(v(n)));
    let y = p.sample(&mut rng);
    let map = fit(p.clone(), y);
    let y = p.sample(&mut rng);
    let score = |log_density: Tensor<1>| -scalar(log_density.mean());
    let before = score(p.log_density(&y));
    let after = score(map.forward(p).log_density(&y));
    assert!(after < before + 0.05, "{before} {after}");
}

#[test]
fn degenerate_data() {
    let (mean, one) = (column([0.0, 1.0, 2.0]), column([1.0; 3]));
    for (s, y) in [
        (one.clone(), mean.clone()), // every target is the mean
        (one.clone() * 1e-6, column([5.0, -4.0, 0.0])), // far in the tails
        (one.clone(), mean.clone() + 3.0), // the same error everywhere
    ] {
        let p = Normal::new(mean.clone(), s);
        let recalibrated = fit(p.clone(), y.clone()).forward(p);
        recalibrated.check().unwrap();
        all_finite(vector(recalibrated.log_density(&y)));
    }
    let same = Normal::new(repeated(&[1.0], 4), repeated(&[2.0], 4)); // predictions that are all equal
    let y = column([0.0, 1.0, 2.0, 5.0]);
    let laplace = Laplace::new(repeated(&[1.0], 4), repeated(&[2.0], 4));
    let of_normal = fit(same.clone(), y.clone()).forward(same);
    let map = LocalRecalibrationConfig::new().fit_to(&laplace, &y);
    let of_laplace: Mixture<Laplace> = map.forward(laplace);
    for means in [of_normal.means(), of_laplace.means()].map(vector) {
        let are_near = means.iter().all(|mean| *mean > 0.5 && *mean < 3.0);
        assert!(are_near, "{means:?}");
    }
}

#[test]
fn errors() {
    let two = Normal::new(repeated(&[0.0, 0.0], 3), repeated(&[1.0, 1.0], 3));
    let one = Normal::new(column([0.0]), column([1.0]));
    for (wrong, words) in [(two, "coordinates"), (one, "samples")] {
        let map = LocalRecalibrationConfig::new().fit(wrong.clone(), wrong.mean());
        contains(&map.unwrap_err(), words);
    }
}
