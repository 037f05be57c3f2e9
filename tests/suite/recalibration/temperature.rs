use crate::{prelude::*, recalibration::logits::overconfident};

#[test]
fn the_temperature_that_made_the_data_is_found() {
    let (logits, classes) = overconfident(20_000, 41);
    let map = without_prior().fitted(&logits, &classes);
    assert_near(map.temperature(), 2.5, 0.1);
}

/// The derivative vanishes, neighbours are worse, and the report says what it is.
#[test]
fn the_fit_is_a_minimum() {
    let (logits, classes) = overconfident(500, 42);
    let map = without_prior().fitted(&logits, &classes);
    let (t, report) = (map.temperature(), converged(&map));
    assert!(report.gradient.unwrap().abs() < 1e-12);
    assert!(report.evaluations < 20);
    assert_relative(report.objective, log_loss_at(t, &logits, &classes), 1e-12);
    for factor in [0.999, 1.001] {
        assert!(log_loss_at(t * factor, &logits, &classes) > report.objective);
    }
}

/// With a prior of `log T`: the minimum of the sum, by central differences and on a grid; near 1 where few data
/// tell little, and above 0 where all are right.
#[test]
fn few_logits_with_a_prior() {
    let config = TemperatureScalingConfig::new().with_prior(Some(0.35));
    let other = overconfident(1000, 44);
    for n in [1, 3, 12, 40, 400] {
        let (logits, classes) = overconfident(n, 43);
        let right = argmaxes(&logits);
        for classes in [&classes, &right] {
            let map = config.fitted(&logits, classes);
            let (t, report) = (map.temperature(), converged(&map));
            let objective = |x: f64| {
                let prior = 2.0 * (1.0 + x * x / (3.0 * 0.35 * 0.35)).ln() / n as f64;
                log_loss_at(x.exp(), &logits, classes) + prior
            };
            let (x, h) = (t.ln(), 1e-5);
            assert_relative(report.objective, objective(x), 1e-12);
            let slope = (objective(x + h) - objective(x - h)) / (2.0 * h);
            assert!(slope.abs() < 1e-7, "{n}: {slope}");
            // of a few samples a lower minimum can be elsewhere
            let grid = (-400..400).map(|k| objective(0.01 * f64::from(k)));
            let least = grid.fold(f64::INFINITY, f64::min);
            assert!(n < 12 || least >= report.objective - 1e-12, "{n}: {t}");
            let near = t > 0.05 && log_loss_at(t, &other.0, &other.1) < 6.0;
            assert!(n > 12 || near, "{n}: {t}");
        }
    }
    for scale in [0.0, -1.0, f64::NAN] {
        let config = config.clone().with_prior(Some(scale));
        let error = config.fit(tensor(&other.0), labels(&other.1)).unwrap_err();
        contains(&error, "the scale of the prior");
    }
}

/// Rows of opposite logits: for a fraction q right at logit difference d, T = d / log(q/(1 − q)).
#[test]
fn a_closed_form_at_every_scale() {
    for scale in [1e-8, 1e-4, 1.0, 1e4, 1e8] {
        for dtype in [DType::F32, DType::F64] {
            let logits = tensor_on(&[[scale, 0.0]; 4], &device(), dtype);
            let map = without_prior().fit_to(&logits, &labels(&[0, 0, 0, 1]));
            let scale = f64::from(scale as f32).min(scale).max(scale); // exact in f64
            let tolerance = if dtype == DType::F32 { 1e-6 } else { 1e-11 };
            assert_relative(map.temperature(), scale / 3f64.ln(), tolerance);
        }
    }
}

#[test]
fn degenerate_data_end_at_a_bound_with_a_flag() {
    fn fit<const M: usize>(rows: &[[f64; M]], classes: &[usize]) -> (f64, FitStatus) {
        let map = without_prior().fitted(rows, classes);
        (map.temperature(), map.report().unwrap().status)
    }
    let separable = fit(&[[2.0, 0.0], [0.0, 1.0]], &[0, 1]);
    assert_eq!(separable.1, FitStatus::LowerBound);
    assert_relative(separable.0, 2.0 * (-20f64).exp(), 1e-12);
    let misleading = fit(&[[2.0, 0.0], [0.0, 1.0]], &[1, 0]);
    assert_eq!(misleading.1, FitStatus::UpperBound);
    assert_relative(misleading.0, 2.0 * 20f64.exp(), 1e-12);
    let equal = fit(&[[3.0, 3.0], [-1.0, -1.0]], &[1, 0]);
    assert_eq!(equal, (1.0, FitStatus::Indifferent));
    assert_eq!(fit(&[[1.0, 0.0]], &[0]).1, FitStatus::LowerBound); // one sample, right
    assert_eq!(fit(&[[1.0, 0.0]], &[1]).1, FitStatus::UpperBound); // one sample, wrong
    let (t, status) = fit(&[[1e4, 0.0], [0.0, 1e4], [1e4, 0.0]], &[0, 1, 1]);
    assert_eq!(status, FitStatus::Converged); // right two times of three
    assert_relative(t, 1e4 / 2f64.ln(), 1e-11);
    let one_class = fit(&[[1.0, 0.0, 0.0], [0.0, 0.5, 0.0]], &[0, 0]); // two classes missing
    assert_eq!(one_class.1, FitStatus::Converged);
}

/// By values of the log loss alone: half the digits of the fit by its derivative.
#[test]
fn fitting_by_any_criterion() {
    let (logits, classes) = overconfident(400, 43);
    let (logits, labels) = (tensor(&logits), labels(&classes));
    let newton = without_prior().fit_to(&logits, &labels).temperature();
    let by = |criterion: &dyn Criterion| {
        let map = without_prior().fit_to_by(criterion, &logits, &labels);
        converged(&map);
        map.temperature()
    };
    assert_relative(by(&ScoreLoss::new(LogScore)), newton, 1e-6);
    // the other criteria have minima near the temperature that made the data, and of their own
    let kernel = Kernel::exponential().with_bandwidth(Bandwidth::Fixed(0.5));
    let skce = SkceLoss::new(Skce::biased(kernel));
    let (brier, spherical) = (ScoreLoss::new(Brier), ScoreLoss::new(Spherical));
    for criterion in [&brier as &dyn Criterion, &spherical, &skce] {
        let t = by(criterion);
        assert!((1.8..3.5).contains(&t), "T = {t}");
        let value =
            |t: f64| scalar(criterion.value(&of_logits(logits.clone() * t.recip()), &labels));
        for factor in [0.99, 1.01] {
            assert!(value(t * factor) > value(t));
        }
    }
}

#[test]
fn a_separable_set_by_any_criterion() {
    let (rows, labels) = (tensor(&[[2.0, 0.0], [0.0, 1.0]]), labels(&[0, 1]));
    let map = without_prior().fit_to_by(&ScoreLoss::new(Brier), &rows, &labels);
    assert_eq!(map.report().unwrap().status, FitStatus::LowerBound);
    assert!(map.report().unwrap().objective < 1e-12);
}

#[test]
fn forward_divides_in_the_dtype_of_the_logits() {
    let (map, loss) = (temperature_map(2.0), ScoreLoss::new(LogScore));
    let logits = [vec![1.0, -3.0]];
    assert_eq!(vector(map.forward(tensor(&logits))), [0.5, -1.5]);
    let single = map.forward(single(&logits));
    assert_eq!(single.dtype(), DType::F32);
    assert_eq!(vector(single), [0.5, -1.5]);
    check_gradient(&logits, 1e-5, |z| {
        loss.forward(map.forward(z), labels(&[0]))
    });
}

/// Six right rows do not make certainty, and the prior does not matter for many rows.
#[test]
fn right_rows_are_no_certainty() {
    let fit = |rows: &[Vec<f64>], classes: &[usize], prior: Option<f64>| {
        let config = TemperatureScalingConfig::new().with_prior(prior);
        config.fitted(rows, classes)
    };
    let rows = vec![vec![2.0, 0.0, -1.0]; 6];
    let map = TemperatureScalingConfig::new().fitted(&rows, &[0; 6]);
    assert!(map.temperature() > 0.3, "{}", map.temperature());
    let warnings = &map.report().unwrap().warnings;
    assert!(warnings.contains(&FitWarning::AllRight { samples: 6 }));
    assert!(fit(&rows, &[0; 6], None).temperature() < 1e-6);

    let rows = vec![vec![4.0, 0.0]; 4000];
    let classes: Vec<usize> = (0..4000).map(|i| usize::from(i % 4 == 0)).collect();
    let exact = 4.0 / 3.0f64.ln();
    let found = fit(&rows, &classes, Some(0.35)).temperature();
    assert!((found / exact).ln().abs() < 0.01, "{found} {exact}");
}

/// One wild row does not rule a robust fit: it is named, and the others keep their temperature. A configuration
/// alone is fitted to it, and so is the refinement error.
#[test]
fn a_wild_row_is_set_aside() {
    let mut rows: Vec<Vec<f64>> = (0..300).map(|_| vec![2.0, 0.0]).collect();
    let mut classes: Vec<usize> = (0..300).map(|i| usize::from(i % 8 == 0)).collect();
    rows[5] = vec![1e9, 0.0];
    classes[5] = 1;
    let map = Robust(TemperatureScalingConfig::new()).fitted(&rows, &classes);
    let warnings = &map.report().unwrap().warnings;
    assert_eq!(warnings[..], [FitWarning::SetAside { rows: vec![5] }]);
    assert_near(map.temperature(), 1.0, 0.2);
    let map = without_prior().fitted(&rows, &classes);
    assert!(map.temperature() > 1e7, "{}", map.temperature());
    let warnings = &map.report().unwrap().warnings;
    assert!(
        !warnings
            .iter()
            .any(|of| matches!(of, FitWarning::SetAside { .. }))
    );
    let predictions = Categorical::from_logits(tensor(&rows)).unwrap();
    let refinement = RefinementError
        .estimate(&predictions, &labels(&classes))
        .unwrap();
    // all but one row are a coin toss: the wild one cannot be left out
    assert!(refinement > 0.69, "{refinement}");
}

/// Logits of any scale, drawn at a temperature of any size: no point of a grid is lower, also where the prior makes
/// several minima; by another formula.
#[test]
fn the_lowest_minimum_at_any_scale() {
    let mut rng = rng(47);
    let mut several = 0;
    for trial in 0..60 {
        let (n, m) = ([5, 30, 60][trial % 3], [2, 3, 10][trial / 3 % 3]);
        let scale = 10f64.powf(rng.random_range(-9.0..9.0));
        let beta = 10f64.powf(rng.random_range(-1.5..1.5));
        let rows = random_rows(n, m, 3.0, &mut rng);
        let label = |row: &Vec<f64>| {
            let p: Vec<f64> = row.iter().map(|z| beta * z).collect();
            draw_class(&softmax(&p), &mut rng)
        };
        let classes: Vec<usize> = rows.iter().map(label).collect();
        let logits = mapped(&rows, |z| z * scale);
        let map = TemperatureScalingConfig::new().fitted(&logits, &classes);
        let warnings = &map.report().unwrap().warnings;
        if warnings
            .iter()
            .any(|w| matches!(w, FitWarning::SetAside { .. }))
        {
            continue;
        }
        let prior = |x: f64| 2.0 * (x * x / (3.0 * 0.35 * 0.35)).ln_1p() / n as f64;
        let at = |x: f64| log_loss_at((-x).exp(), &logits, &classes) + prior(x);
        let found = at(-map.temperature().ln());
        let grid: Vec<f64> = (-900..=900).map(|k| at(0.05 * f64::from(k))).collect();
        let is_low = |w: &&[f64]| w[1] < w[0] - 1e-9 && w[1] < w[2] - 1e-9;
        several += usize::from(grid.windows(3).filter(is_low).count() > 1);
        let least = grid.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(found <= least + 1e-8, "{trial}: {found} {least} {scale}");
    }
    assert!(several > 3, "{several}");
}
