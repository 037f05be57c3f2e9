//! Weights from PyTorch: state dicts (`.pt`, `.pth`) and safetensors files in the layout of a known
//! implementation.
//!
//! ```no_run
//! use burn::tensor::Device;
//! use burn_calibration_models::{ResNetConfig, store::PyTorchWeights};
//!
//! let network = ResNetConfig::new(20).init(&Device::flex());
//! let network = network.load_pytorch("resnet20-12fca82f.th")?;
//! # Ok::<(), burn_calibration_models::store::LoadError>(())
//! ```
//!
//! | network | names and shapes as in |
//! | --- | --- |
//! | LeNet-5 | the [tutorial of PyTorch](https://pytorch.org/tutorials/beginner/blitz/cifar10_tutorial.html): `conv1`, `conv2`, `fc1`, `fc2`, `fc3` |
//! | ResNet | [akamaster/pytorch_resnet_cifar10](https://github.com/akamaster/pytorch_resnet_cifar10): `conv1`, `layer1.0.conv1`, …, `linear`; option B: `layer2.0.shortcut.0` |
//! | Wide ResNet | [xternalz/WideResNet-pytorch](https://github.com/xternalz/WideResNet-pytorch): `conv1`, `block1.layer.0.conv1`, `block1.layer.0.convShortcut`, …, `bn1`, `fc` |
//! | DenseNet | [andreasveit/densenet-pytorch](https://github.com/andreasveit/densenet-pytorch): `conv1`, `block1.layer.0.conv1`, `trans1.conv1`, …, `bn1`, `fc`; its networks without bottlenecks start with twice the growth as channels ([`stem`](crate::DenseNetConfig::stem)) |
//!
//! A checkpoint may hold the weights under `state_dict`, and their names may start with `module.`
//! (`DataParallel`). All weights of the network must be there with their shapes, and no others but
//! `num_batches_tracked`: otherwise nothing is loaded. Numbers of another precision are converted.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use burn::{module::Module, tensor::DType};
use burn_store::{
    ApplyResult, BurnToPyTorchAdapter, FloatCastAdapter, ModuleAdapter, ModuleSnapshot,
    ModuleStore, PyTorchToBurnAdapter, PytorchStore, SafetensorsStore, burn_pack,
};

use crate::{DenseNet, LeNet5, Network, ResNet, WideResNet};

/// What a file of weights can get wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read, or is not of its format.
    #[error("cannot read weights from {}: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What its reader says.
        reason: String,
    },
    /// Weights of the network are not in the file.
    #[error("no weights {} in {}", listed(keys), path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The names of the weights.
        keys: Vec<String>,
    },
    /// The file has weights that the network has not.
    #[error("unexpected weights {} in {}", listed(keys), path.display())]
    Unexpected {
        /// The file.
        path: PathBuf,
        /// The names of the weights.
        keys: Vec<String>,
    },
    /// Weights have another shape than in the network.
    #[error("weights {key} of shape {found:?} in {}, expected {expected:?}", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// The name of the weights.
        key: String,
        /// Their shape in the network, in the layout of PyTorch.
        expected: Vec<usize>,
        /// Their shape in the file.
        found: Vec<usize>,
    },
    /// Weights are not floating-point numbers.
    #[error("weights {key} of type {found:?} in {}, expected floating-point numbers", path.display())]
    Type {
        /// The file.
        path: PathBuf,
        /// The name of the weights.
        key: String,
        /// Their type in the file.
        found: DType,
    },
}

/// The first names, and how many more there are.
fn listed(keys: &[String]) -> String {
    const SHOWN: usize = 5;
    let first = keys[..keys.len().min(SHOWN)].join(", ");
    match keys.len().saturating_sub(SHOWN) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// A network whose weights can be loaded from PyTorch: see the [module](self).
///
/// Load into a network that was just created. Clones share their running statistics (Burn's
/// `RunningState`), and a network that was trained keeps statistics which are still to be merged.
pub trait PyTorchWeights: Module {
    /// The name of some weights in a file, from their path in the module.
    fn key(&self, path: &str) -> String {
        path.to_string()
    }

    /// The network with the weights of a PyTorch checkpoint.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or its weights are not exactly those of the network.
    fn load_pytorch(self, path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        let mut store = PytorchStore::from_file(path).map_indices_contiguous(false);
        load(self, &mut store, path)
    }

    /// The network with the weights of a safetensors file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or its weights are not exactly those of the network.
    fn load_safetensors(self, path: impl AsRef<Path>) -> Result<Self, LoadError> {
        let path = path.as_ref();
        load(self, &mut SafetensorsStore::from_file(path), path)
    }
}

impl PyTorchWeights for LeNet5 {}

impl PyTorchWeights for ResNet {}

impl PyTorchWeights for WideResNet {
    fn key(&self, path: &str) -> String {
        path.replace(".shortcut.", ".convShortcut.")
    }
}

impl PyTorchWeights for DenseNet {}

impl PyTorchWeights for Network {
    fn key(&self, path: &str) -> String {
        match self {
            Self::LeNet5(network) => network.key(path),
            Self::ResNet(network) => network.key(path),
            Self::WideResNet(network) => network.key(path),
            Self::DenseNet(network) => network.key(path),
        }
    }
}

/// Everything is compared before anything is changed.
fn load<M: PyTorchWeights, S: ModuleStore>(
    mut network: M,
    store: &mut S,
    path: &Path,
) -> Result<M, LoadError> {
    let unreadable = |reason: String| LoadError::Read {
        path: path.to_path_buf(),
        reason,
    };
    let tensors = store.get_all_tensors();
    let mut found = named(tensors.map_err(|error| unreadable(error.to_string()))?);

    // of the network, in the layout of PyTorch
    let expected = network.collect(None, Some(Box::new(BurnToPyTorchAdapter)), true);
    let mut weights = Vec::with_capacity(expected.len());
    let mut missing = Vec::new();
    for own in &expected {
        let key = network.key(&own.name);
        match found.remove(&key) {
            None => missing.push(key),
            Some(mut tensor) => {
                compare(own, &tensor, key, path)?;
                tensor.name = own.name.clone();
                weights.push(tensor);
            }
        }
    }
    if !missing.is_empty() {
        return Err(LoadError::Missing {
            path: path.to_path_buf(),
            keys: missing,
        });
    }
    if !found.is_empty() {
        return Err(LoadError::Unexpected {
            path: path.to_path_buf(),
            keys: found.into_keys().collect(),
        });
    }

    let dtype = expected.first().map_or(DType::F32, |own| own.dtype);
    let adapter = PyTorchToBurnAdapter.chain(FloatCastAdapter::to(dtype));
    let result = network.apply(weights, None, Some(Box::new(adapter)), true);
    match complaint(&result) {
        None => Ok(network),
        Some(reason) => Err(unreadable(reason)),
    }
}

/// The weights by name, without what checkpoints put in front of it, and without counts of batches.
fn named(tensors: &BTreeMap<String, burn_pack::Tensor>) -> BTreeMap<String, burn_pack::Tensor> {
    const NESTED: &str = "state_dict.";
    let nested = tensors.keys().any(|key| key.starts_with(NESTED));
    tensors
        .iter()
        .filter_map(|(key, tensor)| {
            let key = if nested {
                key.strip_prefix(NESTED)?
            } else {
                key
            };
            let key = key.strip_prefix("module.").unwrap_or(key);
            let counted = key.ends_with(".num_batches_tracked");
            (!counted).then(|| (key.to_string(), tensor.clone()))
        })
        .collect()
}

fn compare(
    own: &burn_pack::Tensor,
    tensor: &burn_pack::Tensor,
    key: String,
    path: &Path,
) -> Result<(), LoadError> {
    let path = path.to_path_buf();
    let (expected, found) = (own.shape.to_vec(), tensor.shape.to_vec());
    if expected != found {
        return Err(LoadError::Shape {
            path,
            key,
            expected,
            found,
        });
    }
    if !tensor.dtype.is_float() {
        return Err(LoadError::Type {
            path,
            key,
            found: tensor.dtype,
        });
    }
    Ok(())
}

/// What went wrong in reading the numbers themselves.
fn complaint(result: &ApplyResult) -> Option<String> {
    if let Some(error) = result.errors.first() {
        return Some(error.to_string());
    }
    let (name, _) = result.missing.first()?;
    Some(format!("weights {name} were not loaded"))
}
