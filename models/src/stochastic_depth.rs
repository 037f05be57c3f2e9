//! Stochastic depth: in training every batch passes through a random part of the residual blocks.
//!
//! G. Huang, Y. Sun, Z. Liu, D. Sedra, K. Weinberger, *Deep networks with stochastic depth*,
//! ECCV 2016.
//!
//! Block `l` of `L` computes
//!
//! ```text
//! x_l = relu(b_l · f_l(x_{l−1}) + id(x_{l−1}))
//! ```
//!
//! where in training `b_l` is 1 with probability `p_l` and 0 otherwise, drawn once a batch, and at
//! inference is `p_l`, its expectation. The probability of survival falls linearly from 1 at the
//! image to `p_L` at the last block: `p_l = 1 − (l / L)(1 − p_L)`.
//!
//! A dropped block is not computed: with the published `p_L = 0.5` three quarters of the blocks
//! survive on average, and so does three quarters of the cost of a step.
//!
//! ```
//! use burn::tensor::Device;
//! use burn_calibration_models::ResNetConfig;
//!
//! let config = ResNetConfig::new(110).with_survival(0.5).with_seed(1);
//! let network = config.init(&Device::flex().autodiff());
//! ```
//!
//! The parameters of a dropped block have no gradient in that step, so devices that average their
//! gradients must drop the same blocks. The draws follow from the seed, and every thread has the
//! same ones for its steps. They start anew in a new thread (burn-train's strategies of several
//! devices without `ddp` have new ones each epoch) and when a training is resumed.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, ThreadId},
};

use burn::module::{Flag, Module, Param};
use rand::{RngExt, SeedableRng, rngs::StdRng};

/// The random part of the blocks of a network: draws the `b_l` of the [module](self).
///
/// It is training, like [`Dropout`](burn::nn::Dropout), where the images are on a device with
/// gradients and the module is not frozen.
#[derive(Module, Debug)]
pub(crate) struct StochasticDepth {
    /// `p_1, …, p_L`.
    #[module(skip)]
    survival: Vec<f64>,
    training: Param<Flag>,
    #[module(skip)]
    streams: Streams,
}

impl StochasticDepth {
    /// For so many blocks, of which the last survives with the given probability.
    ///
    /// # Panics
    ///
    /// If the probability is not in (0, 1].
    pub(crate) fn new(blocks: usize, last: f64, seed: u64) -> Self {
        assert!(
            last > 0.0 && last <= 1.0,
            "the last block survives with probability {last}, expected one in (0, 1]"
        );
        let decay = (1.0 - last) / blocks as f64;
        Self {
            survival: (1..=blocks).map(|l| 1.0 - l as f64 * decay).collect(),
            training: Param::from_bool(true),
            streams: Streams::new(seed),
        }
    }

    /// The weights `b_1, …, b_L` of the residual branches in one pass.
    pub(crate) fn weights(&self, gradients: bool) -> Vec<f64> {
        if gradients && self.training.is_enabled() {
            self.streams.draw(&self.survival)
        } else {
            self.survival.clone()
        }
    }
}

/// Random numbers from a seed: every thread has the same stream of its own, so that devices that
/// train together drop the same blocks. Clones continue the streams.
#[derive(Clone, Debug)]
struct Streams {
    seed: u64,
    streams: Arc<Mutex<HashMap<ThreadId, StdRng>>>,
}

impl Streams {
    fn new(seed: u64) -> Self {
        Self {
            seed,
            streams: Arc::default(),
        }
    }

    /// 1 with the given probabilities, 0 otherwise.
    fn draw(&self, probabilities: &[f64]) -> Vec<f64> {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = streams
            .entry(thread::current().id())
            .or_insert_with(|| StdRng::seed_from_u64(self.seed));
        let draw = |&p: &f64| f64::from(stream.random_bool(p));
        probabilities.iter().map(draw).collect()
    }
}
