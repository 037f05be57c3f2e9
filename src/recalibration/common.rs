//! What the files of most maps import.

pub(super) use burn::{
    config::Config,
    module::Module,
    tensor::{Device, Int, Tensor},
};

pub(super) use super::{
    Fit, FitOptions, FitReport, FitStatus, FitTask, FittedMap, Guarantees, LogitFit, Progress,
    Recalibration, Regularisation, at_least,
    configuration::regularised_map,
    data::FitData,
    descent::{Evaluated, Limits, Metric, minimise},
    family::{ParametricMaps, Settings, fit_family},
    fit::observer,
    fitted::{Form, checked, fitted_map, valid_map},
    parameter::{Parameter, check_shape, parameter, parameter_row},
    task::{DistributionTask, logit_criterion, no_criterion},
    temperature::TemperatureScalingConfig,
};
pub(super) use crate::{
    error::{Error, Result, check_parameter, check_positive},
    host::{to_scalar, to_vec},
};
