use burn_calibration::{
    diagram::{Band, PitDiagram, QuantileDiagram},
    estimator::regression::{Pit, QuantileCalibration},
};

use statrs::distribution::ContinuousCDF;

use super::*;

/// Standard normal predictions of numbers that are drawn from them.
fn calibrated(n: usize, rng: &mut StdRng) -> (Normal, Tensor<2>) {
    let mut draw = || rng.sample::<f64, _>(rand_distr::StandardNormal);
    let targets = tensor(&(0..n).map(|_| vec![draw()]).collect::<Vec<_>>());
    (
        Normal::new(targets.zeros_like(), targets.ones_like()),
        targets,
    )
}

/// Half of all weight is that of one sample.
fn one_heavy() -> Vec<f64> {
    (0..N).map(|i| if i == 7 { 59.0 } else { 1.0 }).collect()
}

/// Transforms of 0.579, 0.773, 0.078 and 0.358, of the weights 1 to 4.
#[test]
fn bars_by_hand() {
    let column = |values: [f64; 4]| tensor(&values.map(|value| vec![value]));
    let predictions = Normal::new(column([0.1, 0.4, -0.3, 0.9]), column([1.0, 0.8, 1.2, 1.1]));
    let weights = weight_tensor(&[1.0, 2.0, 3.0, 4.0]);
    let targets = column([0.3, 1.0, -2.0, 0.5]);
    let (p, y) = predictions.weighted(&weights, &targets).unwrap();
    let diagram = PitDiagram::new(&Pit::new(&p, &y).unwrap(), 10, 0.95).unwrap();
    assert_eq!(diagram.counts, [1, 0, 0, 1, 0, 1, 0, 1, 0, 0]);
    for (bin, bar) in [1.2, 0.0, 0.0, 1.6, 0.0, 0.4, 0.0, 0.8, 0.0, 0.0]
        .into_iter()
        .enumerate()
    {
        assert_relative(diagram.bar(bin), bar, 1e-12);
        assert_relative(diagram.density(diagram.bar(bin)), 2.5 * bar, 1e-12);
    }
}

/// A million redraws by NumPy. The band of the effective number of samples, Dvoretzky's inequality, is 0.346.
#[test]
fn bands_of_numpy() {
    let weighted = |values: &[f64], weights: &[f64]| {
        let quantile = |u: &f64| vec![statrs::distribution::Normal::standard().inverse_cdf(*u)];
        let targets = tensor(&values.iter().map(quantile).collect::<Vec<_>>());
        let predictions = Normal::new(targets.zeros_like(), targets.ones_like());
        let (p, y) = predictions
            .weighted(&weight_tensor(weights), &targets)
            .unwrap();
        (
            Pit::new(&p, &y).unwrap(),
            QuantileCalibration::default().curve(&p, &y).unwrap(),
        )
    };
    let (pit, _) = weighted(&[0.2, 0.9], &[3.0, 1.0]);
    let test = pit.kolmogorov_smirnov(0);
    assert_relative(test.statistic, 0.55, 1e-6);
    assert!((test.p_value - 0.625).abs() < 0.05, "{}", test.p_value);
    let weights: Vec<f64> = (1..=20).map(f64::from).collect();
    let values: Vec<f64> = weights.iter().map(|w| w / 21.0).collect();
    let (pit, curve) = weighted(&values, &weights);
    let Band {
        lower: low,
        upper: high,
    } = PitDiagram::new(&pit, 5, 0.95).unwrap().band;
    assert!(
        (0.38..0.67).contains(&low) && (8.1..8.7).contains(&high),
        "{low}, {high}"
    );
    let diagram = QuantileDiagram::weighted(curve, pit.weights(), [20, 1], 0.95).unwrap();
    let half = diagram.half_width();
    assert!((half - 0.3317).abs() < 0.025, "{half}");
}

/// Whole weights have the bars, the curve and the statistic of repeated rows, and rows of weight 0 are none.
#[test]
fn whole_weights_are_repeated_rows() {
    let (p, y) = calibrated(N, &mut rng(71));
    let weights = whole_weights();
    let rows: Vec<usize> = (0..N).flat_map(|i| vec![i; weights[i] as usize]).collect();
    let repeated = Pit::new(&p.select_rows(&rows), &y.select_rows(&rows)).unwrap();
    let (p, y) = p.weighted(&weight_tensor(&weights), &y).unwrap();
    let pit = Pit::new(&p, &y).unwrap();
    let [found, expected] = [&pit, &repeated].map(|pit| PitDiagram::new(pit, 8, 0.9).unwrap());
    assert_eq!(found.values(), p.len());
    for bin in 0..8 {
        let [found, expected] = [&found, &expected].map(|one| one.density(one.bar(bin)));
        assert_relative(found, expected, 1e-12);
    }
    let [found, expected] = [&pit, &repeated].map(|pit| pit.kolmogorov_smirnov(0));
    assert_relative(found.statistic, expected.statistic, 1e-12);
    assert!(found.p_value > expected.p_value, "repeated rows are more");
}

/// To the last digit.
#[test]
fn equal_weights_have_the_band_without_weights() {
    let (p, y) = calibrated(N, &mut rng(72));
    let (weighted, _) = p.weighted(&weight_tensor(&[2.5; N]), &y).unwrap();
    let [plain, weighted] = [p, weighted].map(|p| Pit::new(&p, &y).unwrap());
    let of = |pit: &Pit| PitDiagram::new(pit, 10, 0.95).unwrap();
    assert_eq!(of(&weighted), of(&plain));
    assert_eq!(weighted.kolmogorov_smirnov(0), plain.kolmogorov_smirnov(0));
    let curve = QuantileCalibration::default().curve(&Normal::new(y.clone(), y.ones_like()), &y);
    let curve = curve.unwrap();
    let of = QuantileDiagram::weighted(curve.clone(), weighted.weights(), [N, 1], 0.95);
    assert_eq!(of.unwrap(), QuantileDiagram::new(curve, N, 0.95).unwrap());
}

/// Of calibrated data a bar lies in its band, and a whole curve in its own, with the probability that is asked for: by
/// 95 % and three standard errors of the sets and of the redraws. Of one heavy sample the effective number is 3.9, whose
/// bands are far off.
#[test]
fn bands_cover_calibrated_data() {
    let (sets, mut rng) = (1000, rng(73));
    for weights in [sample_weights(), one_heavy()] {
        let (p, y) = calibrated(N, &mut rng);
        let (p, y) = p.weighted(&weight_tensor(&weights), &y).unwrap();
        let pit = Pit::new(&p, &y).unwrap();
        let Band {
            lower: low,
            upper: high,
        } = PitDiagram::new(&pit, 10, 0.95).unwrap().band;
        let quantiles = QuantileCalibration::default();
        let curve = quantiles.curve(&p, &y).unwrap();
        let diagram = QuantileDiagram::weighted(curve, pit.weights(), [N, 1], 0.95).unwrap();
        let (mut bars, mut curves) = (0, 0);
        for _ in 0..sets {
            let (p, y) = calibrated(N, &mut rng);
            let (p, y) = p.weighted(&weight_tensor(&weights), &y).unwrap();
            let histogram = Pit::new(&p, &y).unwrap().histogram(0, 10).unwrap();
            let sums = histogram.weights.unwrap();
            let ends = low * (1.0 - 1e-12)..=high * (1.0 + 1e-12);
            bars += sums.iter().filter(|sum| ends.contains(*sum)).count();
            let curve = quantiles.curve(&p, &y).unwrap();
            let mut points = curve.points.iter();
            curves += usize::from(points.all(|point| diagram.is_inside(point)));
        }
        let share = |inside: usize, all: usize| inside as f64 / all as f64;
        let (bars, curves) = (share(bars, 10 * sets), share(curves, sets));
        assert!((0.935..=0.985).contains(&bars), "{bars}");
        // more than that, since only 19 levels are looked at
        assert!(curves >= 0.92, "{curves}");
    }
}

/// The test of uniformity rejects a calibrated model as often as it says, whatever the weights.
#[test]
fn uniformity_keeps_its_level() {
    let (sets, mut rng) = (300, rng(74));
    let rejects = |_: &usize| {
        let (p, y) = calibrated(N, &mut rng);
        let (p, y) = p.weighted(&weight_tensor(&one_heavy()), &y).unwrap();
        Pit::new(&p, &y).unwrap().kolmogorov_smirnov(0).p_value <= 0.1
    };
    let rejections = (0..sets).filter(rejects).count();
    // 30 and three standard errors of 5.2
    assert!((14..=46).contains(&rejections), "{rejections}");
}
