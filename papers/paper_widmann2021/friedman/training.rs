use burn::{
    module::Module,
    optim::{AdamConfig, GradientsParams},
    tensor::{Device, Tensor},
};
use burn_calibration::distribution::Normal;
use rand::{SeedableRng, rngs::StdRng};

use super::{data::Data, network::Network};

/// The default of Flux, as are the other settings of Adam.
const LEARNING_RATE: f64 = 1e-3;

/// Trains a network by full-batch gradient descent and calls `log` at certain iterations. It gets the
/// network without gradients.
pub fn train(
    outputs: usize,
    iterations: &[usize],
    seed: u64,
    loss: impl Fn(&Network) -> Tensor<1>,
    mut log: impl FnMut(usize, Network),
) {
    let device = Device::default().autodiff();
    let mut network = Network::new(outputs, &device, &mut StdRng::seed_from_u64(seed));
    let mut optimiser = AdamConfig::new().with_epsilon(1e-8).init();
    let last = iterations.iter().max().copied().unwrap_or(0);
    for iteration in 1..=last {
        let gradients = GradientsParams::from_grads(loss(&network).backward(), &network);
        network = optimiser.step(LEARNING_RATE, network, gradients);
        if iterations.contains(&iteration) {
            log(iteration, network.valid());
        }
    }
}

/// A network's predictions after some iterations: of the training data and of the test data.
pub struct Snapshot {
    pub iteration: usize,
    pub predictions: [Normal; 2],
}

/// The training of the paper: the mean squared error, and as the variance at each iteration what it is on
/// the training data, the maximiser of the likelihood.
pub fn of_paper(data: &[Data; 2], iterations: &[usize], seed: u64) -> Vec<Snapshot> {
    let training = data[0].to_device(&Device::default().autodiff());
    let squared_error =
        |means: Tensor<2>, data: &Data| (means - data.targets.clone()).square().mean();
    let mut snapshots = Vec::new();
    train(
        1,
        iterations,
        seed,
        |network| squared_error(network.forward(training.inputs.clone()), &training),
        |iteration, network| {
            let [means, of_test] = [0, 1].map(|part| network.forward(data[part].inputs.clone()));
            let deviation = squared_error(means.clone(), &data[0])
                .sqrt()
                .reshape([1, 1]);
            let predictions = [means, of_test].map(|means| {
                let deviations = deviation.clone().expand(means.dims());
                Normal::new(means, deviations)
            });
            snapshots.push(Snapshot {
                iteration,
                predictions,
            });
        },
    );
    snapshots
}
