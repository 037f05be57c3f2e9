//! One binary, a folder for each room of the library.

mod bad_input;
mod cifar10;
mod file;
mod json;
#[cfg(feature = "train")]
mod metric;
mod monitor;
mod numbers;
mod properties;
mod quantile_forecasts;
mod recalibration;
mod score;
mod weights;

mod distribution {
    mod dirichlet;
    mod labels;
    mod lens;
    mod standard_normal;
    mod transport;
}

mod estimator {
    mod block;
    mod ece;
    mod given;
    mod given_groups;
    mod mmce;
    mod null_moments;
    mod skce;
    mod ucme;
    mod vectors;
}

mod hypothesis {
    mod asymptotic;
    mod cme;
    mod events;
    mod exact;
    mod given;
    mod multiple;
    mod nulls;
    mod omnibus;
    mod outcomes;
    mod regression;
    mod relation;
}

mod kernel {
    mod expectation;
    mod matrix_kernel;
    mod names;
    mod on_predictions;
    mod profile;

    pub use on_predictions::{all_kernels, brute_force, kappa, kernel_value, kernels};
}

mod loss {
    mod criteria;
    mod data_parallel;
    mod lens;
    mod one_road;
    mod penalised;
    mod rivals;
    mod scale;
}

mod ops {
    mod backends;
    mod fused;
    mod normal;
}

use burn_calibration_testing::data;

/// What most tests use, and data and references of single rooms.
mod prelude {
    pub(crate) use crate::cifar10;
    pub use crate::kernel::{all_kernels, brute_force, kappa, kernel_value, kernels};
    pub use burn_calibration_testing::{
        bootstrap::Bootstrap,
        data::*,
        dirichlet_model::DirichletModel,
        models::{Model, draw},
    };
}
