//! What the files of most maps import.

pub(super) use burn::{
    config::Config,
    module::Module,
    tensor::{Device, Int, Tensor},
};

pub(super) use super::{
    FitReport, FitStatus, FittedMap, Guarantees, Objective, Regularisation, at_least,
    configuration::regularised_map,
    data::FitData,
    descent::{Evaluated, Limits, Metric, minimise},
    family::{ParametricMaps, Settings, fit_family},
    fit::{Fit, Progress, observer},
    fitted::{Apply, Fitted, Form, expect_classes},
    parameter::{Parameter, check_shape, parameter, parameter_row},
    task::{
        DistributionFit, DistributionTask, FitOutcome, LogitFit, Task, no_criterion, of_logits,
    },
    temperature::TemperatureScalingConfig,
};
pub(super) use crate::{
    error::{Error, Result, check_parameter, check_positive},
    host::{to_scalar, to_vec},
};
