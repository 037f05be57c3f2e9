use burn::{
    module::{
        Content, Devices, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor,
        Param, ParamId,
    },
    tensor::{DType, Device, Int, Tensor},
};

/// The number of optimiser steps so far, as a part of the model. So the
/// [`WeightSchedule`](super::WeightSchedule) continues when training is resumed from a checkpoint.
///
/// Burn's `TrainStep::step` does not say which step it is, and its checkpoints hold the parameters of
/// the model, the optimiser and the learning rate. So the count is saved as a parameter that is not
/// trained: a field of the model, read in `step` and advanced in `optimize`, which Burn calls once
/// for each step of the optimiser, whatever the strategy. Nothing is read back from a device while
/// training. Forks for other devices have the count of the model, and batches of one accumulated
/// gradient have the same.
///
/// ```
/// use burn::module::Module;
/// use burn::nn::{Linear, LinearConfig, loss::{CrossEntropyLoss, CrossEntropyLossConfig}};
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::loss::{PenalisedLoss, SkceLoss, SkceLossConfig, StepCounter, WeightSchedule};
///
/// #[derive(Module, Debug)]
/// struct Model {
///     linear: Linear,
///     loss: PenalisedLoss<CrossEntropyLoss, SkceLoss>,
///     steps: StepCounter,
/// }
///
/// let device = Device::default();
/// let model = || Model {
///     linear: LinearConfig::new(2, 2).init(&device),
///     loss: PenalisedLoss::new(
///         CrossEntropyLossConfig::new().init(&device),
///         SkceLossConfig::new().init(),
///         WeightSchedule::WarmUp { weight: 40.0, steps: 100 },
///     ),
///     steps: StepCounter::new(),
/// };
/// // in `TrainStep::step`:      self.loss.forward(logits, labels, self.steps.get())
/// // in `TrainStep::optimize`:  self.steps.advance(); optim.step(lr, self, grads)
/// let mut trained = model();
/// for _ in 0..25 {
///     trained.steps.advance();
/// }
/// let resumed = model().load_record(trained.into_record());
/// assert_eq!(resumed.steps.get(), 25);
/// assert_eq!(resumed.loss.weight.at(resumed.steps.get()), 10.0);
/// ```
///
/// With the trainer, overriding one method:
///
#[cfg_attr(feature = "train", doc = "```")]
#[cfg_attr(not(feature = "train"), doc = "```ignore")]
/// # use burn::module::Module;
/// # use burn::nn::{Linear, loss::CrossEntropyLoss};
/// # use burn::optim::{GradientsParams, ModuleOptimizer, lr_scheduler::module_lr_scheduler::ModuleLearningRate};
/// # use burn::tensor::{Int, Tensor};
/// # use burn::train::{ClassificationOutput, TrainOutput, TrainStep};
/// # use burn_calibration::loss::{PenalisedLoss, SkceLoss, StepCounter};
/// # #[derive(Module, Debug)]
/// # struct Model { linear: Linear, loss: PenalisedLoss<CrossEntropyLoss, SkceLoss>, steps: StepCounter }
/// # struct Batch { images: Tensor<2>, labels: Tensor<1, Int> }
/// impl TrainStep for Model {
///     type Input = Batch;
///     type Output = ClassificationOutput;
///
///     fn step(&self, batch: Batch) -> TrainOutput<ClassificationOutput> {
///         let logits = self.linear.forward(batch.images);
///         let loss = self.loss.forward(logits.clone(), batch.labels.clone(), self.steps.get());
///         let gradients = loss.backward();
///         TrainOutput::new(self, gradients, ClassificationOutput::new(loss, logits, batch.labels))
///     }
///
///     fn optimize(mut self, optim: &mut ModuleOptimizer, lr: ModuleLearningRate, grads: GradientsParams) -> Self {
///         self.steps.advance();
///         optim.step(lr, self, grads)
///     }
/// }
/// ```
///
/// (and `optimize_multi` alike for `MultiDeviceOptim::OptimSharded`). The order of the data is not
/// saved by Burn: a shuffled loader starts again with its first order.
#[derive(Debug, Clone)]
#[must_use]
pub struct StepCounter {
    id: ParamId,
    steps: usize,
}

impl StepCounter {
    /// Creates a counter of no steps.
    pub fn new() -> Self {
        Self {
            id: ParamId::new(),
            steps: 0,
        }
    }

    /// The number of steps so far, which is the 0-based number of the next.
    pub fn get(&self) -> usize {
        self.steps
    }

    /// Counts one more step.
    pub fn advance(&mut self) {
        self.steps += 1;
    }

    /// The count as a parameter `[1]`, made when it is looked at: when it is saved. Saved in 32 bits,
    /// which every device has.
    fn param(&self) -> Param<Tensor<1, Int>> {
        let steps = i32::try_from(self.steps).unwrap_or(i32::MAX);
        let tensor = move |device: &Device, _| Tensor::from_data([steps], (device, DType::I32));
        Param::uninitialized(self.id, tensor, Device::default(), false, [1].into())
    }
}

fn int(count: Tensor<1, Int>) -> usize {
    let count = count.try_into_vec_as::<i64>();
    let count = count.expect("an int tensor that can be read back")[0];
    usize::try_from(count).unwrap_or(0)
}

impl Default for StepCounter {
    fn default() -> Self {
        Self::new()
    }
}

impl Module for StepCounter {
    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        visitor.visit_int(&self.param());
    }

    fn map<M: ModuleMapper>(self, mapper: &mut M) -> Self {
        let param = mapper.map_int(self.param());
        // an optimiser passes it by, a record puts its own in place
        let steps = if param.is_initialized() {
            int(param.val())
        } else {
            self.steps
        };
        Self {
            id: param.id,
            steps,
        }
    }

    fn collect_devices(&self, devices: Devices) -> Devices {
        devices
    }

    fn fork(self, _device: &Device) -> Self {
        self
    }

    fn to_device(self, _device: &Device) -> Self {
        self
    }

    fn valid(&self) -> Self {
        self.clone()
    }

    fn train(self) -> Self {
        self
    }

    fn materialize(self) -> Self {
        self
    }
}

impl std::fmt::Display for StepCounter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StepCounter({})", self.steps)
    }
}

impl ModuleDisplayDefault for StepCounter {
    fn content(&self, content: Content) -> Option<Content> {
        content.add("steps", &self.steps).optional()
    }
}

impl ModuleDisplay for StepCounter {}
