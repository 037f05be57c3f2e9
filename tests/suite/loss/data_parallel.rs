//! Shards of a batch on several devices: the mean of their gradients is that of the block estimator.

use burn::module::Param;

use crate::prelude::*;

const SHARD: usize = 7;
const SHARDS: usize = 3;
const FEATURES: usize = 5;
const CLASSES: usize = 4;

fn loss(kernel: Kernel, form: SkceForm) -> PenalisedLoss<ScoreLoss<LogScore>, SkceLoss> {
    let config = SkceLossConfig::new().with_kernel(kernel);
    let skce = config.with_form(form).init();
    let weight = WeightSchedule::Constant(3.0);
    PenalisedLoss::new(ScoreLoss::new(LogScore), skce, weight)
}

/// A linear model in f64 and a batch of `SHARDS` shards.
struct Step {
    weight: Tensor<2>,
    inputs: Tensor<2>,
    labels: Tensor<1, Int>,
}

impl Step {
    fn new() -> Self {
        let (mut rng, device) = (rng(5), device().autodiff());
        let n = SHARD * SHARDS;
        let mut rows = |n, m| tensor_on(&random_rows(n, m, 1.0, &mut rng), &device, DType::F64);
        let (weight, inputs) = (rows(FEATURES, CLASSES), rows(n, FEATURES));
        let labels = random_labels(n, CLASSES, &mut crate::data::rng(6));
        Self {
            weight: Param::from_tensor(weight).val(),
            inputs,
            labels: crate::data::labels_on(&labels, &device),
        }
    }

    /// The loss of some rows and its gradient.
    fn of(
        &self,
        rows: std::ops::Range<usize>,
        loss: &PenalisedLoss<ScoreLoss<LogScore>, SkceLoss>,
    ) -> (f64, Vec<f64>) {
        let inputs = self.inputs.clone().slice(rows.clone());
        let logits = inputs.matmul(self.weight.clone());
        let value = loss.forward(logits, self.labels.clone().slice(rows), 0);
        let gradient = self.weight.grad(&value.backward()).unwrap();
        (scalar(value), vector(gradient))
    }

    /// The largest difference between the mean over shards and the whole batch by blocks, of losses
    /// and gradients.
    fn difference(&self, kernel: Kernel) -> f64 {
        let of_shard = loss(kernel, SkceForm::Unbiased);
        let shards =
            (0..SHARDS).map(|shard| self.of(shard * SHARD..(shard + 1) * SHARD, &of_shard));
        let (values, gradients): (Vec<f64>, Vec<Vec<f64>>) = shards.unzip();
        let whole = loss(kernel, SkceForm::Block(SHARD));
        let (value, gradient) = self.of(0..SHARD * SHARDS, &whole);
        let of_loss = (mean(&values) - value).abs();
        let of_gradient = gradient.iter().enumerate().map(|(i, entry)| {
            let shards: Vec<f64> = gradients.iter().map(|gradient| gradient[i]).collect();
            (mean(&shards) - entry).abs()
        });
        of_gradient.fold(of_loss, f64::max)
    }
}

#[test]
fn the_mean_over_shards_is_the_block_estimator() {
    let step = Step::new();
    for kernel in [Kernel::exponential(), Kernel::gaussian()] {
        let fixed = kernel.with_bandwidth(Bandwidth::Fixed(0.3));
        let difference = step.difference(fixed);
        assert!(difference < 1e-12, "{fixed:?}: {difference}");
    }
}

/// Why the bandwidth has to be fixed: the median is that of each shard.
#[test]
fn medians_of_shards_are_not_that_of_the_batch() {
    let difference = Step::new().difference(Kernel::exponential());
    assert!((1e-6..1e-1).contains(&difference), "{difference}");
}

/// The top-k lens as a training loss, of tensor operations; `loss::Lens` has the same.
#[test]
fn a_differentiable_top_k_lens() {
    use burn::tensor::activation::softmax;

    let (step, k) = (Step::new(), 2);
    let logits = step.inputs.matmul(step.weight.clone());
    let (p, y) = (softmax(logits, 1), step.labels);
    let kernel = exponential(0.3);

    let (top, classes) = p.clone().topk_with_indices(k, 1); // [n, k] each, descending
    let rest = p.clone().sum_dim(1) - top.clone().sum_dim(1); // [n, 1]
    let lens = Tensor::cat(vec![top, rest], 1); // [n, k + 1]
    let hit = classes.equal(y.clone().unsqueeze_dim(1)).int(); // [n, k], at most one 1 in a row
    let ranks = Tensor::<1, Int>::arange(0..k as i64, &hit.device()) - k as i64;
    let rank = (hit * ranks.unsqueeze()).sum_dim(1).squeeze_dim::<1>(1) + k as i64; // [n]
    let penalty =
        Skce::unbiased(kernel).value(&Categorical::from_probabilities_unchecked(lens), &rank);

    let gradient = vector(step.weight.grad(&penalty.backward()).unwrap());
    assert!(gradient.iter().all(|g| g.is_finite()) && gradient.iter().any(|g| *g != 0.0));
    let predictions = Categorical::from_probabilities(p.detach().without_autodiff()).unwrap();
    let (lens, rank) = predictions.top_k(k, &y.without_autodiff()).unwrap();
    let expected = Skce::unbiased(kernel).on(&lens, &rank);
    assert!((scalar(penalty) - expected).abs() < 1e-12);
}
