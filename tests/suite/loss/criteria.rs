use burn::tensor::activation;

use SkceForm::{Biased, Block, Unbiased};

use crate::prelude::*;

/// Every loss under a name, with fixed bandwidths (a median is detached, and moves).
fn losses() -> Vec<(String, Box<dyn Criterion>)> {
    let mut losses: Vec<(String, Box<dyn Criterion>)> = vec![
        ("brier".into(), Box::new(ScoreLoss::new(Brier))),
        ("log".into(), Box::new(ScoreLoss::new(LogScore))),
        ("spherical".into(), Box::new(ScoreLoss::new(Spherical))),
    ];
    for gamma in [0.0, 0.5, 2.0] {
        let config = FocalLossConfig::new().with_gamma(gamma);
        losses.push((format!("{config:?}"), Box::new(config.init())));
    }
    for kernel in kernels() {
        for form in [Biased, Unbiased, Block(2), Block(3)] {
            let config = SkceLossConfig::new().with_kernel(kernel).with_form(form);
            losses.push((format!("{config:?}"), Box::new(config.init())));
        }
    }
    for form in [MmceForm::Unweighted, MmceForm::Weighted, MmceForm::Unbiased] {
        for squared in [false, true] {
            if squared || form != MmceForm::Unbiased {
                let config = MmceLossConfig::new().with_form(form).with_squared(squared);
                losses.push((format!("{config:?}"), Box::new(config.init())));
            }
        }
    }
    losses
}

#[test]
fn gradients_on_random_input() {
    let mut rng = rng(11);
    let logits = random_rows(7, 4, 2.0, &mut rng);
    let labels = labels(&random_labels(7, 4, &mut rng));
    for (name, loss) in losses() {
        println!("{name}");
        check_gradient(&logits, 1e-5, |z| loss.value(&of_logits(z), &labels));
        let rows = softmax_rows(&logits);
        check_gradient(&rows, 1e-5, |p| loss.value(&of_probabilities(p), &labels));
    }
}

/// What it is, logits, labels.
type Input = (&'static str, Vec<Vec<f64>>, Vec<usize>);

/// Coincident rows, one-hot probabilities, all right, all wrong, two samples, a class missing.
fn degenerate_inputs() -> Vec<Input> {
    let mut rng = rng(12);
    let logits = random_rows(6, 3, 2.0, &mut rng);
    let top = argmaxes(&logits);
    let wrong: Vec<usize> = top.iter().map(|class| (class + 1) % 3).collect();
    let coincident = vec![vec![0.3, 1.2, -0.4]; 4];
    let one_hot = table(4, 3, |i, c| if c == i % 3 { 60.0 } else { 0.0 });
    vec![
        ("coincident rows", coincident, vec![0, 1, 2, 1]),
        ("one-hot, all right", one_hot.clone(), vec![0, 1, 2, 0]),
        ("one-hot, all wrong", one_hot.clone(), vec![1, 2, 0, 1]),
        ("one-hot, mixed", one_hot, vec![0, 2, 2, 1]),
        ("all right", logits.clone(), top),
        ("all wrong", logits.clone(), wrong),
        ("two samples", logits[..2].to_vec(), vec![0, 2]),
        ("a class missing", logits, vec![0, 1, 0, 0, 1, 1]),
    ]
}

/// Differences take a small step here: kernels of an absolute value have a kink at coincident rows,
/// which a central difference straddles with an error of the order of its step.
#[test]
fn gradients_on_degenerate_input() {
    for (input, logits, classes) in degenerate_inputs() {
        let labels = labels(&classes);
        for (name, loss) in losses() {
            println!("{input}: {name}");
            check_gradient(&logits, 1e-7, |z| loss.value(&of_logits(z), &labels));
        }
    }
}

/// Exactly one-hot probabilities, where a logarithm or a root could break.
#[test]
fn gradients_at_exact_vertices_are_finite() {
    let rows = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]];
    for (_, loss) in losses() {
        for classes in [[0, 1, 0], [1, 2, 2], [0, 2, 1]] {
            let f = |p: Tensor<2>| loss.value(&of_probabilities(p), &labels(&classes));
            let (value, gradient) = with_gradient(&rows, DType::F64, f);
            assert!(value.is_finite());
            all_finite(&gradient);
        }
    }
}

/// A median bandwidth, and batches of one sample, as the last batch of an epoch can be.
#[test]
fn gradients_of_tiny_batches_are_finite() {
    for n in 1..4 {
        let logits = random_rows(n, 3, 1.0, &mut rng(13));
        for kernel in [Kernel::exponential(), Kernel::gaussian()] {
            for form in [Biased, Unbiased, Block(2), Block(64)] {
                let config = SkceLossConfig::new().with_kernel(kernel);
                let loss = config.with_form(form).init();
                let f = |z: Tensor<2>| loss.forward(z, labels(&vec![1; n]));
                all_finite(gradient(&logits, f));
                if n == 1 && form != Biased {
                    assert_eq!(scalar(f(tensor(&logits))), 0.0);
                }
            }
        }
        for (_, loss) in losses() {
            let f = |z: Tensor<2>| loss.value(&of_logits(z), &labels(&vec![1; n]));
            all_finite(gradient(&logits, f));
        }
    }
}

#[test]
fn logits_and_probabilities_agree() {
    let mut rng = rng(14);
    let logits = tensor(&random_rows(8, 5, 2.0, &mut rng));
    let labels = labels(&random_labels(8, 5, &mut rng));
    for (_, loss) in losses() {
        let probabilities = activation::softmax(logits.clone(), 1);
        let a = scalar(loss.value(&of_logits(logits.clone()), &labels));
        let b = scalar(loss.value(&of_probabilities(probabilities), &labels));
        assert_relative_eq!(a, b, max_relative = 1e-12, epsilon = 1e-14);
    }
}

#[test]
fn the_log_loss_is_cross_entropy_and_survives_large_logits() {
    let (logits, y) = (tensor(&[[1e4, 0.0], [0.0, 1e4]]), labels(&[1, 1]));
    let loss = ScoreLoss::new(LogScore);
    let cross_entropy = burn::nn::loss::CrossEntropyLossConfig::new().init(&device());
    assert_eq!(scalar(loss.forward(logits.clone(), y.clone())), 5e3);
    assert_eq!(scalar(cross_entropy.forward(logits, y)), 5e3);
}

/// Probabilities 0.9 and 0.2 of the labels, by hand; and no focus is the log loss.
#[test]
fn focal_loss_by_hand() {
    let rows = [[0.9, 0.1], [0.2, 0.8]].map(|row| row.map(f64::ln).to_vec());
    let (logits, labels) = (tensor(&rows), labels(&[0, 0]));
    for gamma in [0.5, 1.0, 2.0, 5.0] {
        let loss = FocalLossConfig::new().with_gamma(gamma).init();
        let probabilities = [(0.1f64, 0.9f64), (0.8, 0.2)];
        let expected = probabilities.map(|(q, p)| -q.powf(gamma) * p.ln());
        let found = vector(loss.forward_no_reduction(logits.clone(), labels.clone()));
        all_relative(&found, expected, 1e-14);
    }
    let loss = FocalLossConfig::new().with_gamma(0.0).init();
    let log_loss = ScoreLoss::new(LogScore);
    assert_eq!(
        scalar(loss.forward(logits.clone(), labels.clone())),
        scalar(log_loss.forward(logits, labels))
    );
}

/// The confidence of the prediction that minimises the expected focal loss where the likeliest of `m`
/// classes has probability `p` and the others share the rest equally, as the minimiser does by symmetry.
fn focal_minimiser(p: f64, m: usize, gamma: f64) -> f64 {
    let loss = FocalLossConfig::new().with_gamma(gamma).init();
    let (mut low, mut high, steps) = (1e-6, 1.0 - 1e-6, 200);
    for _ in 0..4 {
        let at = |k: usize| low + (high - low) * k as f64 / steps as f64;
        let row = |q: f64| {
            let mut row = vec![((1.0 - q) / (m - 1) as f64).ln(); m];
            row[0] = q.ln();
            row
        };
        let rows: Vec<_> = (0..=steps).map(|k| row(at(k))).collect();
        let of = |class: usize| {
            vector(loss.forward_no_reduction(tensor(&rows), labels(&vec![class; steps + 1])))
        };
        let [first, other] = [of(0), of(1)];
        let expected = |k: &usize| p * first[*k] + (1.0 - p) * other[*k];
        let least = (0..=steps).min_by(|i, j| expected(i).total_cmp(&expected(j)));
        let least = least.unwrap();
        (low, high) = (at(least.saturating_sub(1)), at((least + 1).min(steps)));
    }
    0.5 * (low + high)
}

/// Less confident than the truth for two classes, and more for many that are nearly alike.
#[test]
fn focal_loss_can_make_a_prediction_more_confident() {
    for (p, m, gamma, expected) in [
        (0.0486, 30, 2.0, 0.0500), // more
        (0.1, 30, 2.0, 0.1060),
        (0.5, 30, 2.0, 0.4109), // less
        (0.9, 2, 2.0, 0.6942),
        (0.55, 2, 0.5, 0.5369),
        (0.0486, 30, 0.0, 0.0486), // the log loss is proper
        (0.9, 2, 0.0, 0.9),
    ] {
        let found = focal_minimiser(p, m, gamma);
        assert_near_in((p, m, gamma), found, expected, 6e-5);
    }
    for gamma in [0.1, 0.5, 1.0, 2.0, 5.0] {
        for p in [0.51, 0.6, 0.8, 0.95, 0.99] {
            let found = focal_minimiser(p, 2, gamma);
            assert!(0.5 < found && found < p, "{p}, γ = {gamma}: {found}");
        }
    }
}

#[test]
fn penalised_loss_adds_the_scheduled_penalty() {
    let mut rng = rng(15);
    let logits = tensor(&random_rows(8, 3, 2.0, &mut rng));
    let labels: Tensor<1, Int> = labels(&random_labels(8, 3, &mut rng));
    let base = burn::nn::loss::CrossEntropyLossConfig::new().init(&device());
    let penalty = SkceLossConfig::new().init();
    let (from, to, steps) = (1.0, 3.0, 10);
    let schedule = WeightSchedule::Linear { from, to, steps };
    let loss = PenalisedLoss::new(base.clone(), penalty.clone(), schedule);
    let a = scalar(base.forward(logits.clone(), labels.clone()));
    let b = scalar(penalty.forward(logits.clone(), labels.clone()));
    for (step, weight) in [(0, 1.0), (5, 2.0), (10, 3.0), (1000, 3.0)] {
        let value = scalar(loss.forward(logits.clone(), labels.clone(), step));
        assert_relative(value, a + weight * b, 1e-12);
        let probabilities = activation::softmax(logits.clone(), 1);
        let value = scalar(loss.forward(Probabilities(probabilities), labels.clone(), step));
        assert_relative(value, a + weight * b, 1e-12);
    }
}

#[test]
fn schedules() {
    let (weight, steps) = (2.0, 4);
    let warm_up = WeightSchedule::WarmUp { weight, steps };
    assert_eq!([0, 1, 4, 9].map(|t| warm_up.at(t)), [0.0, 0.5, 2.0, 2.0]);
    let (from, to) = (1.0, 0.0);
    let cosine = WeightSchedule::Cosine { from, to, steps };
    let found = [0, 1, 2, 4, 5].map(|t| cosine.at(t));
    all_near(found, [1.0, 0.5 + 0.125f64.sqrt(), 0.5, 0.0, 0.0], 1e-15);
    assert_eq!(WeightSchedule::Constant(0.7).at(123), 0.7);
    let steps = 0;
    assert_eq!(WeightSchedule::WarmUp { weight, steps }.at(0), 2.0);
}

/// The losses' own softmax beside Burn's: extreme, masked (−∞) and invalid logits, any dtype.
#[test]
fn losses_take_any_logits() {
    let infinity = f64::INFINITY;
    let rows = vec![
        vec![300.0, -300.0, 0.0],
        vec![-infinity, 1.0, 2.0],
        vec![80.0, -20.0, -7.5],
        vec![0.1, 0.2, 0.3],
    ];
    for dtype in [DType::F64, DType::F32, DType::F16] {
        let logits = tensor_on(&rows, &device(), dtype);
        let labels = labels(&[0, 2, 1, 1]);
        let probabilities = burn::tensor::activation::softmax(logits.clone(), 1);
        let expected = ScoreLoss::new(Brier).forward(Probabilities(probabilities), labels.clone());
        let found = ScoreLoss::new(Brier).forward(logits, labels);
        let (found, expected) = (scalar(found), scalar(expected));
        let tolerance = if dtype == DType::F16 { 1e-3 } else { 1e-6 };
        assert_near_in(dtype, found, expected, tolerance);
    }
    for invalid in [f64::NAN, infinity] {
        let mut rows = rows.clone();
        rows[3][1] = invalid;
        let skce = SkceLossConfig::new().init();
        let loss = skce.forward(single(&rows), labels(&[0, 2, 1, 1]));
        assert!(scalar(loss).is_nan());
    }
}
