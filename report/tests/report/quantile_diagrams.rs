use burn_calibration::{
    diagram::{PitDiagram, QuantileDiagram},
    estimator::regression::{Pit, QuantileCalibration, QuantileCurve, QuantilePoint},
};
use burn_calibration_report::Draw;

use crate::support::{all, has_texts, parsed, standard};
use burn_calibration_testing::data::*;

/// The histogram of 10 bins and the curve.
fn drawn(predictions: &Normal, targets: &Tensor<2>) -> (PitDiagram, QuantileDiagram) {
    let pit = Pit::new(predictions, targets).unwrap();
    let curve = QuantileCalibration::default().curve(predictions, targets);
    let n = targets.dims()[0];
    let quantiles = QuantileDiagram::new(curve.unwrap(), n, 0.95);
    (PitDiagram::new(&pit, 10, 0.95).unwrap(), quantiles.unwrap())
}

#[test]
fn histogram_by_hand() {
    // transforms 0.1, 0.5, 0.7 and 0.977
    let targets = column([-1.281_551_565_5, 0.0, 0.524_400_512_7, 2.0]);
    let predictions = Normal::new(targets.zeros_like(), targets.ones_like());
    let pit = Pit::new(&predictions, &targets).unwrap();
    let diagram = PitDiagram::new(&pit, 5, 0.95).unwrap();
    assert_eq!(diagram.counts, [1, 0, 1, 1, 1]);
    // binomial, 4 times 1/5: P(0) = 0.41, P(≤ 2) = 0.9728, P(≤ 3) = 0.9984
    assert_eq!(diagram.band, [0.0, 3.0].into());
    assert_eq!(
        PitDiagram::new(&pit, 5, 0.9).unwrap().band,
        [0.0, 2.0].into()
    );
    assert_eq!((diagram.values(), diagram.outside()), (4, 0));
    assert_relative_eq!(diagram.density(3.0), 3.75);
    let one = PitDiagram::of_coordinate(&pit, 0, 5, 0.95).unwrap();
    assert_eq!((one.coordinate, &one.counts), (Some(0), &diagram.counts));
    parsed(&one.to_svg());
}

#[test]
fn coordinates_are_counted_together() {
    let (predictions, targets) = standard(300, 3, 1.5, &mut rng(1));
    let pit = Pit::new(&predictions, &targets).unwrap();
    let pooled = PitDiagram::new(&pit, 8, 0.95).unwrap();
    let one = |c| PitDiagram::of_coordinate(&pit, c, 8, 0.95).unwrap();
    let [a, b, c] = [0, 1, 2].map(|c| one(c).counts);
    let sums = (0..8).map(|bin| a[bin] + b[bin] + c[bin]);
    assert!(sums.eq(pooled.counts.iter().copied()));
    assert_eq!(pooled.values(), 900);
    assert!(!pooled.is_inside(0) && !pooled.is_inside(7), "too certain");
}

#[test]
fn curve_by_hand() {
    let point = |level, frequency| QuantilePoint { level, frequency };
    let curve = QuantileCurve {
        points: vec![point(0.9, 1.0), point(0.5, 0.4), point(0.25, 0.3)],
    };
    let diagram = QuantileDiagram::new(curve, 200, 0.95).unwrap();
    assert_relative_eq!(diagram.half_width(), (40f64.ln() / 400.0).sqrt()); // 0.096
    assert_relative_eq!(diagram.band(0.05).lower, 0.0);
    assert_relative_eq!(diagram.band(0.95).upper, 1.0);
    let inside = diagram.curve.points.iter().map(|p| diagram.is_inside(p));
    assert!(inside.eq([true, false, false])); // by increasing level
    assert_eq!(diagram.outside(), 2);
}

/// On calibrated data a bar is inside its band, and a whole curve inside its own, with the probability
/// that is asked for or a little more.
#[test]
fn bands_cover_calibrated_data() {
    let mut rng = rng(2);
    let (sets, mut bars, mut curves) = (600, 0, 0);
    for _ in 0..sets {
        let (predictions, targets) = standard(200, 1, 1.0, &mut rng);
        let (pit, quantiles) = drawn(&predictions, &targets);
        bars += 10 - pit.outside();
        curves += usize::from(quantiles.outside() == 0);
    }
    let share = |inside: usize, all: usize| inside as f64 / all as f64;
    // P(12 ≤ X ≤ 29) = 0.9669 for 200 values and 1/10; three standard errors of 6000 bars are 0.7 %
    let bars = share(bars, 10 * sets);
    assert!((0.960..=0.974).contains(&bars), "{bars}");
    // at least 95 %, above since only 19 levels are looked at; three standard errors are 2.7 %
    let curves = share(curves, sets);
    assert!(curves >= 0.93, "{curves}");
}

/// Errors of the coordinates of a sample may depend on each other: bars end outside a band of 95 % in at most 5 % of
/// calibrated sets, and so do curves, which a band of `n·d` independent values leaves much more often.
#[test]
fn bands_cover_dependent_coordinates() {
    let (n, d, sets, bins) = (60, 5, 300, 10);
    for (correlation, is_weighted) in [(0.9, false), (0.999, false), (0.0, false), (0.9, true)] {
        let mut rng = rng(31);
        let (mut bars, mut curves) = (0, 0);
        for _ in 0..sets {
            let (predictions, _) = standard(n, d, 1.0, &mut rng);
            let all = standard(n, 1, 1.0, &mut rng).0.sample(&mut rng);
            let own = standard(n, d, 1.0, &mut rng).0.sample(&mut rng);
            let errors = all * f64::sqrt(correlation) + own * f64::sqrt(1.0 - correlation);
            let predictions = Normal::new(
                errors.zeros_like(),
                predictions.standard_deviation().ones_like(),
            );
            let (predictions, errors) = if is_weighted {
                let weights = standard(n, 1, 1.0, &mut rng).0.sample(&mut rng).exp();
                predictions
                    .weighted(&weights.squeeze_dim(1), &errors)
                    .unwrap()
            } else {
                (predictions, errors)
            };
            let pit = Pit::new(&predictions, &errors).unwrap();
            bars += PitDiagram::new(&pit, bins, 0.95).unwrap().outside();
            let curve = QuantileCalibration::default()
                .curve(&predictions, &errors)
                .unwrap();
            let diagram = QuantileDiagram::weighted(curve, pit.weights(), [n, d], 0.95).unwrap();
            curves += usize::from(diagram.outside() > 0);
        }
        // 5 %, and three binomial errors of sets: bars of one set depend on each other
        let most = 0.05 * sets as f64 + 3.0 * (0.05 * 0.95 * sets as f64).sqrt();
        let what = format!("{correlation}, weights: {is_weighted}: {bars} bars, {curves} curves");
        assert!(
            bars as f64 / bins as f64 <= most && curves as f64 <= most,
            "{what}"
        );
    }
}

#[test]
fn pictures_are_well_formed_and_say_what_they_show() {
    let (predictions, targets) = standard(500, 1, 2.0, &mut rng(3));
    let (pit, quantiles) = drawn(&predictions, &targets);
    let check = |svg: &str, axes: [&str; 2], numbers: &[String]| {
        let document = parsed(svg);
        has_texts(&document, &axes);
        let words = all(&document, "desc").next().unwrap().text().unwrap();
        for number in numbers {
            assert!(words.contains(number), "{number} in {words}");
        }
    };
    let counts = pit.counts.iter().map(|count| format!(": {count} values, "));
    let axes = ["probability integral transform", "density"];
    check(&pit.to_svg(), axes, &counts.collect::<Vec<_>>());
    let points = quantiles.curve.points.iter();
    let shares = points.map(|p| format!("frequency {:.4}.", p.frequency));
    let axes = ["level of the predicted quantile", "share of targets below"];
    check(&quantiles.to_svg(), axes, &shares.collect::<Vec<_>>());
    let folder = crate::support::folder("real");
    pit.save(folder.join("pit.svg")).unwrap();
    quantiles.save(folder.join("quantiles.svg")).unwrap();
    let saved = std::fs::read_to_string(folder.join("quantiles.svg")).unwrap();
    assert_eq!(saved, quantiles.to_svg());
    let wrong = pit.save(folder.join("pit.gif")).unwrap_err().to_string();
    assert!(wrong.ends_with("the extension is \"gif\", expected svg"));
}

/// Calibrated counts and few draws have a curve within its band: 5 % of 100 sets and three binomial errors.
#[test]
fn calibrated_draws_are_within_the_band() {
    let (n, sets) = (200, 100);
    for (each, of_counts) in [(1, false), (5, false), (5, true), (50, true)] {
        let mut rng = rng(737);
        let outside = (0..sets).filter(|_| {
            let (truth, _) = standard(n, 1, 1.0, &mut rng);
            let mut targets = truth.sample(&mut rng);
            let mut draws = Samples::drawn_from(&truth, each, &mut rng);
            if of_counts {
                (draws, targets) = (draws.map(&|x| x.round()), targets.round());
            }
            let curve = QuantileCalibration::default().curve(&draws, &targets);
            let diagram = QuantileDiagram::new(curve.unwrap(), n, 0.95).unwrap();
            diagram.outside() > 0
        });
        let outside = outside.count();
        let what = format!("{each} draws, counts: {of_counts}: {outside}");
        assert!(outside <= 11, "{what}");
    }
}
