//! One training on two devices, and the same on one: the penalty of the shards is that of the block
//! estimator on the whole batch.
//!
//! ```sh
//! cargo run --release --features train,remote-server --example distributed
//! ```
//!
//! Two servers are started on this machine, each a process of its own with a device, as they could be
//! on two others. Burn's trainer sends each a shard of every batch and adds their gradients
//! (`ExecutionStrategy::multi`). The unbiased SKCE of the shards, averaged, is the block estimator of
//! the whole batch with blocks as large as a shard: one device with that estimator takes the same
//! steps, to rounding. That needs a fixed bandwidth; the median would be another for each shard.

mod data;
mod network;
mod quiet;
mod servers;

use std::error::Error;

use burn::{
    optim::{SgdConfig, lr_scheduler::constant::ConstantLr, momentum::MomentumConfig},
    tensor::Device,
    train::{
        ExecutionStrategy, Learner, MultiDeviceOptim, SupervisedTraining,
        checkpoint::KeepLastNCheckpoints,
    },
};
use burn_calibration::{estimator::SkceForm, metric::EpochMetric, prelude::*};
use data::{Digit, digits, loader};
use network::Network;
use quiet::Quiet;
use servers::Servers;

/// Digits of a shard: two make a batch.
const SHARD: usize = 50;
const STEPS_OF_EPOCH: usize = 10;
const EPOCHS: usize = 5;
const LEARNING_RATE: f64 = 0.1;

fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some("--serve") {
        return servers::serve();
    }
    let servers = Servers::start(2)?;
    let devices = servers.devices()?;
    println!("Two devices, served at {}.\n", servers.urls().join(" and "));

    let here = Device::flex().autodiff();
    let fixed = Kernel::exponential().with_bandwidth(Bandwidth::Fixed(0.3));
    let (one, two) = (on_one(fixed, &here)?, on_two(fixed, &here, &devices)?);
    println!("step   two devices    one device    difference");
    let last = one.losses.len() - 1;
    for step in (0..last).step_by(STEPS_OF_EPOCH).chain([last]) {
        let (two, one) = (two.losses[step], one.losses[step]);
        let difference = (two - one).abs();
        println!("{step:>4}    {two:>10.6}    {one:>10.6}    {difference:>10.1e}");
    }
    println!("\nFixed bandwidth: {}", one.differences(&two));

    let median = Kernel::exponential();
    let (one, two) = (on_one(median, &here)?, on_two(median, &here, &devices)?);
    println!("Median of each:  {}", one.differences(&two));
    Ok(())
}

/// What is compared: the losses of the steps, and the weights in the end.
struct Run {
    losses: Vec<f64>,
    weights: Vec<f64>,
}

impl Run {
    fn differences(&self, other: &Self) -> String {
        let largest = |a: &[f64], b: &[f64]| {
            let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
            differences.fold(0.0, f64::max)
        };
        format!(
            "largest difference of {} losses {:.1e}, of {} weights {:.1e}",
            self.losses.len(),
            largest(&self.losses, &other.losses),
            self.weights.len(),
            largest(&self.weights, &other.weights),
        )
    }
}

/// On one device: batches of two shards, by blocks of a shard.
fn on_one(kernel: Kernel, device: &Device) -> Result<Run, Box<dyn Error>> {
    let (training, validation) = data()?;
    let (first, second) = training.split_at(training.len() / 2);
    let shards = first.chunks(SHARD).zip(second.chunks(SHARD));
    let in_order: Vec<Digit> = shards.flat_map(|(a, b)| [a, b].concat()).collect();
    let penalty = SkceLossConfig::new()
        .with_kernel(kernel)
        .with_form(SkceForm::Block(SHARD));
    let network = Network::new(penalty, 1, device);
    let strategy = ExecutionStrategy::single(device.clone());
    train(network, strategy, &in_order, 2 * SHARD, &validation)
}

/// On two devices: Burn gives the first half of the data to the first, the second to the second.
fn on_two(kernel: Kernel, here: &Device, devices: &[Device]) -> Result<Run, Box<dyn Error>> {
    let (training, validation) = data()?;
    let penalty = SkceLossConfig::new().with_kernel(kernel); // unbiased, of the shard
    let network = Network::new(penalty, devices.len(), here);
    let strategy = ExecutionStrategy::multi(devices.to_vec(), MultiDeviceOptim::OptimMainDevice);
    train(network, strategy, &training, SHARD, &validation)
}

fn data() -> Result<(Vec<Digit>, Vec<Digit>), Box<dyn Error>> {
    let mut digits = digits()?;
    let training = 2 * SHARD * STEPS_OF_EPOCH;
    let validation = digits.split_off(training);
    Ok((digits, validation))
}

fn train(
    network: Network,
    strategy: ExecutionStrategy,
    training: &[Digit],
    batch: usize,
    validation: &[Digit],
) -> Result<Run, Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let trace = network.trace.clone();
    let optimiser = SgdConfig::new().with_momentum(Some(MomentumConfig::new()));
    let result = SupervisedTraining::new(
        directory.path(),
        loader(training, batch),
        loader(validation, 200),
    )
    .with_training_strategy(strategy.into())
    .with_checkpointing_strategy(KeepLastNCheckpoints::new(1))
    .with_application_logger(None)
    .renderer(Box::new(Quiet::default()))
    .metric_valid_numeric(EpochMetric::from_logits(LogScore))
    .num_epochs(EPOCHS)
    .launch(Learner::new(
        network,
        optimiser.init(),
        ConstantLr::new(LEARNING_RATE),
    ));
    if let Some(error) = result.error {
        return Err(error.to_string().into());
    }
    Ok(Run {
        losses: network::losses(&trace),
        weights: result.model.weights(),
    })
}
