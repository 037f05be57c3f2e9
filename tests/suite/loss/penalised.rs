use burn::nn::loss::{CrossEntropyLoss, CrossEntropyLossConfig};

use crate::prelude::*;

const ONE: WeightSchedule = WeightSchedule::Constant(1.0);

fn cross_entropy(pad_tokens: Option<Vec<usize>>) -> CrossEntropyLoss {
    let config = CrossEntropyLossConfig::new().with_pad_tokens(pad_tokens);
    config.init(&device())
}

fn penalty() -> SkceLoss {
    let kernel = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(1.0));
    SkceLoss::new(Skce::unbiased(kernel))
}

fn batch(n: usize) -> (Tensor<2>, Tensor<2>, Tensor<1, Int>) {
    let mut rng = rng(n as u64);
    let mut rows = || random_rows(n, 3, 1.0, &mut rng);
    let (logits, inputs) = (tensor(&rows()), tensor(&rows()));
    (logits, inputs, labels(&random_labels(n, 3, &mut rng)))
}

/// Logits and a variable are the predictions given the variable.
#[test]
fn logits_given_a_variable() {
    let (logits, inputs, y) = batch(9);
    let loss = PenalisedLoss::new(cross_entropy(None), penalty(), ONE);
    let found = scalar(loss.forward(&Given::logits(logits.clone(), inputs.clone()), &y, 0));
    let predictions = Categorical::from_logits_unchecked(logits.clone());
    let penalty = penalty().forward(&Given::new(predictions, inputs), &y);
    let expected = scalar(loss.base.forward(logits, y)) + scalar(penalty);
    assert_eq!(found, expected);
}

/// A function is a criterion as base loss and as penalty, of predictions and of those given a variable, and behind
/// a lens.
#[test]
fn functions_are_criteria() {
    let (logits, inputs, y) = batch(9);
    let brier = |predictions: &Categorical, labels: &Tensor<1, Int>| -> Tensor<1> {
        let p = predictions.probabilities();
        let residuals = burn_calibration::distribution::residuals(p, labels.clone());
        residuals.square().sum_dim(1).mean()
    };
    let skce = |given: &Given<Categorical>, labels: &Tensor<1, Int>| -> Tensor<1> {
        penalty().forward(given, labels)
    };
    let given = Given::logits(logits.clone(), inputs);
    let of_functions = PenalisedLoss::new(brier, skce, ONE).forward(&given, &y, 0);
    let score = ScoreLoss::new(burn_calibration::score::Brier);
    let of_modules = PenalisedLoss::new(score.clone(), penalty(), ONE).forward(&given, &y, 0);
    assert!((scalar(of_functions) - scalar(of_modules)).abs() < 1e-14);

    let [function, module] = [
        LensLoss::new(Lens::TopLabel, brier).forward(logits.clone(), y.clone()),
        LensLoss::new(Lens::TopLabel, score).forward(logits, y),
    ]
    .map(scalar);
    assert!((function - module).abs() < 1e-14);
}

/// The order of padding does not matter, and what does not tell is not asked.
#[test]
fn the_same_padding() {
    let (logits, _, y) = batch(9);
    let base = cross_entropy(Some(vec![0, 1]));
    let loss = PenalisedLoss::new(base.clone(), penalty().with_pad_tokens(vec![1, 0]), ONE);
    assert!(scalar(loss.forward(logits.clone(), y.clone(), 0)).is_finite());
    let of_ones_own = |predictions: &Categorical, _: &Tensor<1, Int>| -> Tensor<1> {
        predictions.probabilities().square().mean()
    };
    let loss = PenalisedLoss::new(base, of_ones_own, ONE);
    assert!(scalar(loss.forward(logits, y, 0)).is_finite());
}

/// Of the base loss alone, of the penalty alone, and behind a lens, which hides the labels.
#[test]
fn other_padding_panics() {
    let (logits, _, y) = batch(9);
    let of_base = |padding| PenalisedLoss::new(cross_entropy(Some(padding)), penalty(), ONE);
    panics(|| of_base(vec![0]).forward(logits.clone(), y.clone(), 0));
    let config = SkceLossConfig::new().with_pad_tokens(Some(vec![2]));
    let of_penalty = PenalisedLoss::new(ScoreLoss::new(LogScore), config.init(), ONE);
    let samples = (logits.clone(), y.clone());
    panics(|| of_penalty.forward_held_out(samples.clone(), samples, 0));
    let hidden = LensLoss::new(Lens::TopLabel, penalty().with_pad_tokens(vec![1]));
    let of_both = PenalisedLoss::new(cross_entropy(Some(vec![1])), hidden, ONE);
    panics(|| of_both.forward(logits, y, 0));
}

/// Burn's cross-entropy does not see a label that is no class before it is named.
#[test]
fn samples_that_do_not_fit_panic() {
    let (logits, inputs, _) = batch(5);
    let loss = PenalisedLoss::new(cross_entropy(None), penalty(), ONE);
    panics(|| loss.forward(logits.clone(), labels(&[0, 1, 2, 3, 0]), 0));
    let given = Given::logits(logits.clone(), inputs);
    let loss = PenalisedLoss::new(cross_entropy(None), penalty(), ONE);
    panics(|| loss.forward(&given, &labels(&[0, 1, 2, 0]), 0));
    panics(|| Given::logits(logits.clone(), batch(4).1));
    let single = tensor_on(&[[0.0]; 5], &device(), DType::F32);
    panics(|| Given::logits(logits, single));
    let logits = Tensor::<2>::zeros([0, 3], (&device(), DType::F64));
    let loss = PenalisedLoss::new(cross_entropy(None), penalty(), ONE);
    panics(|| loss.forward(logits, labels(&[]), 0));
}

#[test]
fn a_penalised_loss_of_two_batches() {
    let mut rng = rng(41);
    let logits = tensor(&random_rows(9, 3, 2.0, &mut rng));
    let labels = labels(&random_labels(9, 3, &mut rng));
    let base = CrossEntropyLossConfig::new().init(&device());
    let penalty = SkceLossConfig::new().init();
    let (weight, steps) = (4.0, 2);
    let weight = WeightSchedule::WarmUp { weight, steps };
    let loss = PenalisedLoss::new(base.clone(), penalty.clone(), weight);
    let part = |rows: std::ops::Range<usize>| {
        let logits = logits.clone().slice(rows.clone());
        (logits, labels.clone().slice(rows))
    };
    let (first, second) = (part(0..5), part(5..9));
    let expected = scalar(base.forward(first.0.clone(), first.1.clone()))
        + 2.0 * scalar(penalty.forward(second.0.clone(), second.1.clone()));
    let found = scalar(loss.forward_held_out(first, second, 1));
    assert_relative(found, expected, 1e-14);
}
