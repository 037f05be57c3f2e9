//! The backends that operations run on, in one list.

use std::future::Future;

use burn::{
    backend::read_sync,
    tensor::{DType, Tensor},
};

use crate::host::is_host;

/// Makes a trait an extension of every backend.
macro_rules! on_every_backend {
    ($($extension:tt)*) => {
        #[burn::backend::backend_extension(
            Autodiff,
            Flex: cfg(feature = "flex"),
            NdArray: cfg(feature = "ndarray"),
            Cube: cfg(feature = "cube"),
            Remote: cfg(feature = "remote")
        )]
        $($extension)*
    };
}

/// Implements an extension for the backends whose tensors are in the memory of the host.
macro_rules! on_host {
    ($extension:ident { $($items:tt)* }) => {
        #[cfg(feature = "flex")]
        impl $extension for burn::backend::Flex {
            $($items)*
        }
        #[cfg(feature = "ndarray")]
        impl $extension for burn::backend::NdArray {
            $($items)*
        }
    };
}

/// Implements an extension by its composition elsewhere: for wgpu, CUDA and CubeCL's own processor, and
/// over the network, where the server knows no operation of this crate.
macro_rules! composed_elsewhere {
    ($extension:ident) => {
        #[cfg(feature = "cube")]
        impl $extension for burn::backend::Cube {}
        #[cfg(feature = "remote")]
        impl $extension for burn::backend::Remote {}
    };
}

pub(super) use {composed_elsewhere, on_every_backend, on_host};

/// Whether the tensor is in the memory of the host, in f32 or f64: then there is a fused pass, and
/// operations that exist only there.
pub(crate) fn is_on_host<const D: usize>(points: &Tensor<D>) -> bool {
    is_host(&points.device()) && matches!(points.dtype(), DType::F32 | DType::F64)
}

/// The result of a read from a backend.
pub(super) fn ready<T, E: std::fmt::Debug>(read: impl Future<Output = Result<T, E>>) -> T {
    read_sync(read).expect("a tensor can be read")
}
