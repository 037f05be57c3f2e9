use burn::{
    module::Module,
    nn::loss::CrossEntropyLossConfig,
    optim::{AdamWConfig, GradientsParams},
    tensor::{Device, Int, Tensor},
};
use burn_calibration::{estimator::MmceForm, prelude::*};
use indicatif::ProgressBar;
use rand::{SeedableRng, rngs::StdRng};

use crate::{
    arguments::Arguments,
    data::{Split, TRAINING},
    network::Network,
};

/// A penalty compares the samples of a batch with each other: the larger, the more it sees.
const BATCH: usize = 100;
const LEARNING_RATE: f64 = 5e-3;

/// What training minimises.
pub struct Objective {
    pub name: String,
    /// Of the logits `[n, 10]`, labels `[n]` and images of a batch, at a training step: `[1]`.
    loss: Box<dyn Fn(Tensor<2>, Tensor<1, Int>, Tensor<2>, usize) -> Tensor<1> + Sync>,
}

/// Cross-entropy alone, and with each of three penalties.
pub fn objectives(arguments: &Arguments, device: &Device) -> [Objective; 4] {
    let Arguments {
        lambda,
        lambda_given,
        lambda_mmce,
        ..
    } = *arguments;
    let cross_entropy = CrossEntropyLossConfig::new().init(device);

    // The weight grows from 0 over the first quarter of the steps: a penalty at full weight can hold a
    // network at predictions that say nothing, which are calibrated as well.
    let steps = arguments.epochs as usize * TRAINING.div_ceil(BATCH) / 4;
    let warm_up = |weight| WeightSchedule::WarmUp { weight, steps };

    // A z-score: the unbiased SKCE of the batch over its standard deviation if the network were calibrated.
    let skce = PenalisedLoss::new(
        cross_entropy.clone(),
        SkceLossConfig::standardised().init(),
        warm_up(lambda),
    );
    // The SKCE given the images: the kernel compares these in the place of the predictions, and finds
    // images of a kind for which the network is wrong on average.
    let given = PenalisedLoss::new(
        cross_entropy.clone(),
        SkceLoss::new(Skce::unbiased(Kernel::gaussian())),
        warm_up(lambda_given),
    );
    // The weighted form, which Kumar et al. (2018) train with: the few digits that are still wrong
    // count as much as the many that are right.
    let mmce = PenalisedLoss::new(
        cross_entropy.clone(),
        MmceLossConfig::new().with_form(MmceForm::Weighted).init(),
        warm_up(lambda_mmce),
    );

    [
        Objective {
            name: "cross-entropy".into(),
            loss: Box::new(move |logits, labels, _, _| cross_entropy.forward(logits, labels)),
        },
        Objective {
            name: format!("+ {lambda} SKCE/σ"),
            loss: Box::new(move |logits, labels, _, step| skce.forward(logits, labels, step)),
        },
        Objective {
            name: format!("+ {lambda_given} given x"),
            loss: Box::new(move |logits, labels, images, step| {
                given.forward(&Given::logits(logits, images), &labels, step)
            }),
        },
        Objective {
            name: format!("+ {lambda_mmce} MMCE"),
            loss: Box::new(move |logits, labels, _, step| mmce.forward(logits, labels, step)),
        },
    ]
}

/// Trains a network from its seed. What comes back computes without gradients.
pub fn train(
    objective: &Objective,
    split: &Split,
    seed: u64,
    arguments: &Arguments,
    device: &Device,
    progress: &ProgressBar,
) -> Network {
    let device = device.clone().autodiff();
    let mut network = Network::from_seed(seed, &device);
    let mut rng = StdRng::seed_from_u64(seed); // the batches
    let mut optimiser = AdamWConfig::new().with_weight_decay(0.0).init();
    let mut digits = split.training.clone();
    let mut step = 0;
    for _ in 0..arguments.epochs {
        digits.shuffle(&mut rng);
        for batch in digits.batches(BATCH, &device) {
            let logits = network.forward(batch.images.clone());
            let loss = (objective.loss)(logits, batch.labels, batch.images, step);
            let gradients = GradientsParams::from_grads(loss.backward(), &network);
            network = optimiser.step(LEARNING_RATE, network, gradients);
            step += 1;
        }
        progress.inc(1);
    }
    network.valid()
}
