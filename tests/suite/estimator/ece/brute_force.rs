use crate::prelude::*;

/// `Σ_k φ_σ(t − r + 2k) + φ_σ(t + r + 2k)`, but for terms beyond 10 σ.
fn reflected_gaussian(t: f64, r: f64, sigma: f64) -> f64 {
    let density =
        |x: f64| (-0.5 * (x / sigma).powi(2)).exp() / (sigma * (2.0 * std::f64::consts::PI).sqrt());
    let most = (5.0 * sigma).ceil() as i32;
    (-most..=most)
        .map(|k| density(t - r + 2.0 * f64::from(k)) + density(t + r + 2.0 * f64::from(k)))
        .sum()
}

#[test]
fn smooth_ece_agrees_with_its_definition() {
    let mut rng = rng(511);
    let r: Vec<f64> = (0..40).map(|_| rng.random_range(0.0..1.0)).collect();
    let classes = draw_events(r.iter().map(|r| r * r), &mut rng);
    let (p, y) = (binary(&r), labels(&classes));
    let by_definition = |sigma: f64| {
        let nodes = if sigma < 0.01 { 20_000 } else { 5000 };
        let smoothed = |t: f64| {
            let residual =
                |(r, &c): (&f64, &usize)| (c as f64 - r) * reflected_gaussian(t, *r, sigma);
            r.iter().zip(&classes).map(residual).sum::<f64>() / 40.0
        };
        let midpoint = |j: i32| (f64::from(j) + 0.5) / f64::from(nodes);
        (0..nodes).map(|j| smoothed(midpoint(j)).abs()).sum::<f64>() / f64::from(nodes)
    };
    let smooth = SmoothEce::new(SECOND);
    for (sigma, tolerance) in [(0.001, 1e-5), (0.02, 1e-6), (0.1, 1e-6), (1.3, 1e-6)] {
        let value = smooth.at_bandwidth(sigma, &p, &y).unwrap();
        assert_relative(value, by_definition(sigma), tolerance);
    }
    let fixed_point = smooth.on(&p, &y);
    let at = smooth.at_bandwidth(fixed_point, &p, &y).unwrap();
    assert_relative(at, fixed_point, 1e-7);
    assert!(smooth.at_bandwidth(1e-4, &p, &y).is_err());
}

/// One residual keeps its mass at any bandwidth; opposite residuals at 0 and 1 cancel slowly:
/// `smECE_σ = (4/π) Σ_j (−1)^j exp(−(π(2j+1)σ)²/2)/(2j+1)`.
#[test]
fn smooth_ece_by_hand() {
    let smooth = SmoothEce::new(SECOND);
    for sigma in [0.001, 0.01, 1.0] {
        let one = smooth.at_bandwidth(sigma, &binary(&[0.3]), &labels(&[1]));
        assert_relative(one.unwrap(), 0.7, 1e-10);
    }
    let (p, y) = (binary(&[0.0, 1.0]), labels(&[1, 0]));
    for sigma in [0.05, 0.3, 0.8] {
        let term = |j: i32| {
            let k = f64::from(2 * j + 1);
            f64::from(1 - 2 * (j % 2)) * (-0.5 * (std::f64::consts::PI * k * sigma).powi(2)).exp()
                / k
        };
        let expected = 4.0 / std::f64::consts::PI * (0..60).map(term).sum::<f64>();
        let value = smooth.at_bandwidth(sigma, &p, &y).unwrap();
        assert_relative(value, expected, 1e-10);
    }
    // tiny residuals: below the resolution, but not lost
    let (p, y) = (binary(&[0.9999, 0.9999]), labels(&[1, 1]));
    assert_relative(smooth.on(&p, &y), 1e-4, 1e-8);
}

/// The mean over data sets of a calibrated model, of one bin a prediction and of one bin for all: 0 if
/// unbiased; if debiased, less the variance of the predictions within bins; `Σ r(1−r)/n` if plugged in.
#[test]
fn debiasing_by_simulation() {
    let mut rng = rng(513);
    let two: &[f64] = &[0.6, 0.6, 0.6, 0.6, 0.9, 0.9, 0.9];
    let spread: &[f64] = &[0.1, 0.25, 0.4, 0.55, 0.7, 0.8, 0.95];
    let variance = {
        let mean = spread.iter().sum::<f64>() / 7.0;
        spread.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / 6.0
    };
    let noise: f64 = spread.iter().map(|r| r * (1.0 - r)).sum();
    for (r, bins, expected) in [
        (two, 15, [0.0, 0.0, (0.24 + 0.09) / 7.0]),
        (spread, 1, [0.0, -variance / 7.0, noise / 49.0]),
    ] {
        let tce = Tce::default().with_event(SECOND);
        let tce = tce.with_binning(Binning::Uniform { bins });
        let plug_in = TceForm::PlugIn { order: 2.0 };
        let forms = [TceForm::Unbiased, TceForm::Debiased, plug_in];
        let mut values = vec![Vec::new(); 3];
        for _ in 0..simulated(8000) {
            let classes = draw_events(r.iter().copied(), &mut rng);
            let (p, y) = (binary(r), labels(&classes));
            for (values, form) in values.iter_mut().zip(forms) {
                values.push(tce.with_form(form).power(&p, &y).unwrap());
            }
        }
        for (values, expected) in values.iter().zip(expected) {
            assert_mean(values, expected, 4.0);
        }
    }
}

/// A model that is not calibrated: `P(c | r) = r²` of uniform `r` has `E[r − c] = 1/2 − 1/3` in one bin.
#[test]
fn the_unbiased_form_is_unbiased_where_predictions_vary() {
    let mut rng = rng(514);
    let tce = Tce::default().with_event(SECOND);
    let tce = tce.with_binning(Binning::Uniform { bins: 1 });
    let mut value = |_| {
        let r: Vec<f64> = (0..8).map(|_| rng.random()).collect();
        let classes = draw_events(r.iter().map(|r| r * r), &mut rng);
        tce.power(&binary(&r), &labels(&classes)).unwrap()
    };
    let values: Vec<f64> = (0..simulated(16_000)).map(&mut value).collect();
    assert_mean(&values, 1.0 / 36.0, 4.0);
}
