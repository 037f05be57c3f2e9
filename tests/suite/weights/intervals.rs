use super::*;

/// Equal weights give the interval without weights, and the estimate is inside.
#[test]
fn intervals_of_weights_that_are_nearly_equal() {
    let (p, y) = plain();
    let mut weights = vec![1.0; N];
    weights[0] = 1.0 + 1e-12;
    let (q, z) = weighted(&weights);
    let kernel = exponential(0.5);
    let quantities: [(&dyn Quantify, f64); 3] = [
        (&Overconfidence::default(), 1e-3),
        (
            &Tce::default().with_binning(Binning::Uniform { bins: 5 }),
            1e-9,
        ),
        (&Skce::unbiased(kernel), 1e-9),
    ];
    for (quantity, tolerance) in quantities {
        let [found, expected] = [(&q, &z), (&p, &y)].map(|(p, y)| {
            let size = quantity.size(p, y).unwrap();
            size.interval(0.9).unwrap()
        });
        assert_relative(found.estimate, expected.estimate, 1e-9);
        assert_near(found.lower, expected.lower, tolerance);
        assert_near(found.upper, expected.upper, tolerance);
    }
    let event = Event::Class(1);
    let [found, expected] =
        [(&q, &z), (&p, &y)].map(|(p, y)| ObservedExpected::interval(event, p, y, 0.9).unwrap());
    assert!(
        (found.lower - expected.lower).abs() < 1e-2 && (found.upper - expected.upper).abs() < 1e-2
    );
    let [found, expected] = [(&q, &z), (&p, &y)].map(|(p, y)| {
        let half = Categorical::from_logits(p.logits().unwrap() * 0.5).unwrap();
        let after = half.with_sample_weights(p.sample_weights()).unwrap();
        let gain = Improvement::of(&LogScore, p, &after, y).unwrap();
        (gain.difference, gain.interval(0.9).unwrap())
    });
    assert_relative(found.0.standard_error, expected.0.standard_error, 1e-9);
    assert_relative(found.1.lower, expected.1.lower, 1e-6);
}

/// One sample has nearly all of the weight: nothing is known of the mean.
#[test]
fn one_sample_of_all_weight() {
    let mut weights = vec![1.0; N];
    weights[9] = 1e18;
    let (p, y) = weighted(&weights);
    let mean = LogScore.mean(&p, &y).unwrap();
    assert!(mean.effective < 2.0);
    let interval = mean.interval(0.9).unwrap();
    let infinite = (f64::NEG_INFINITY, f64::INFINITY);
    assert_eq!((interval.lower, interval.upper), infinite);
    assert_eq!(mean.p_value(), 1.0);
    let size = Overconfidence::default().size(&p, &y).unwrap();
    let interval = size.interval(0.95).unwrap();
    // of one trial: at least as wide as that of Clopper and Pearson
    assert!(interval.upper - interval.lower > 0.94, "{interval:?}");
    for error in [0.0, 0.5] {
        assert!(size.p_value_above(error).unwrap() > 0.05);
    }
}

/// Samples of a model that is overconfident, with weights of a heavy tail that depend on the prediction.
fn sample(n: usize, rng: &mut StdRng) -> (Categorical, Tensor<1, Int>, f64) {
    let (mut rows, mut classes, mut weights) = (vec![], vec![], vec![]);
    for _ in 0..n {
        let r: f64 = rng.random();
        rows.push(vec![1.0 - r, r]);
        classes.push(usize::from(rng.random::<f64>() < 0.8 * r));
        weights.push((0.2 + r) / (0.05 + rng.random::<f64>()).sqrt());
    }
    let p = categorical(&rows);
    let (p, y) = p
        .weighted(&weight_tensor(&weights), &labels(&classes))
        .unwrap();
    // E[w · 0.2 r]/E[w] of w ∝ 0.2 + r: 0.2 (0.1 + 1/3)/0.7
    (p, y, 0.2 * (0.1 + 1.0 / 3.0) / 0.7)
}

/// Intervals of weighted errors hold as often as they say, or more; of many weights the t interval is a little short.
#[test]
fn intervals_cover() {
    let mut rng = rng(931);
    let [mut excess, mut brier, mut ratio] = [0.9; 3].map(Intervals::new);
    let event = Event::Class(1);
    for _ in 0..400 {
        let (p, y, truth) = sample(60, &mut rng);
        let size = Overconfidence { event }.size(&p, &y).unwrap();
        excess.push(size.interval(0.9), truth);
        // E over w of (1 − 2q) r² + q of q = 0.8 r, twice: moments of r under (0.2 + r)/0.7
        let moment = |k: f64| (0.2 / (k + 1.0) + 1.0 / (k + 2.0)) / 0.7;
        let mean = 2.0 * (moment(2.0) - 1.6 * moment(2.0) + 0.8 * moment(1.0));
        brier.push(Brier.mean(&p, &y).unwrap().interval(0.9), mean);
        ratio.push(ObservedExpected::interval(event, &p, &y, 0.9), 0.8);
    }
    excess.assert(0.9, 0, 1.2, "overconfidence");
    brier.assert(0.885, 0, 1.2, "Brier score");
    ratio.assert(0.9, 0, 1.2, "observed over expected");
}

/// The intervals of weighted squared errors hold as often as they say.
#[test]
fn intervals_of_squares_cover() {
    let mut rng = rng(932);
    let [mut of_bins, mut of_pairs] = [0.9; 2].map(Intervals::new);
    let kernel = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(0.5));
    // E over pairs of w w' k(r, r') 2 · 0.04 r r', by the midpoint rule
    let points: Vec<f64> = (0..200).map(|k| (k as f64 + 0.5) / 200.0).collect();
    let (mut sum, mut total) = (0.0, 0.0);
    for r in &points {
        for s in &points {
            let w = (0.2 + r) * (0.2 + s);
            let distance = (r - s).abs(); // total variation
            sum += w * (-(distance / 0.5).powi(2) / 2.0).exp() * 2.0 * 0.04 * r * s;
            total += w;
        }
    }
    let skce = sum / total;
    let moment = |k: f64| (0.2 / (k + 1.0) + 1.0 / (k + 2.0)) / 0.7;
    let tce = (0.04 * moment(2.0)).sqrt();
    for _ in 0..200 {
        let (p, y, _) = sample(80, &mut rng);
        let event = Tce::default().with_event(Event::Class(1));
        of_bins.push(event.size(&p, &y).unwrap().interval(0.9), tce);
        let size = Skce::unbiased(kernel).size(&p, &y).unwrap();
        of_pairs.push(size.interval(0.9), skce);
    }
    of_bins.assert(0.9, 0, 1.2, "bins");
    of_pairs.assert(0.9, 30, 1.2, "pairs"); // few wrong labels, in one set of ten
}
