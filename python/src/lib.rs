//! The native module of the Python package `burn_calibration`: arrays in, the library, values out.
//!
//! What Python users see is in `python/burn_calibration/`. Whatever this module takes is a NumPy array in row-major
//! order, a number or text, and what is wrong with it is a `ValueError`.

mod arrays;
mod commands;
mod maps;
mod metrics;
mod penalties;
mod real_maps;
mod samples;
mod work;

use pyo3::prelude::*;

use metrics::{curves, errors, scores, significance};

/// The native module.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<maps::FittedMap>()?;
    module.add_function(wrap_pyfunction!(maps::map_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(maps::fit, module)?)?;
    module.add_function(wrap_pyfunction!(maps::load, module)?)?;
    module.add_class::<real_maps::FittedRealMap>()?;
    module.add_function(wrap_pyfunction!(real_maps::fit_real, module)?)?;
    module.add_function(wrap_pyfunction!(real_maps::load_real, module)?)?;
    module.add_function(wrap_pyfunction!(penalties::skce, module)?)?;
    module.add_function(wrap_pyfunction!(penalties::mmce, module)?)?;
    module.add_class::<commands::Lens>()?;
    module.add_class::<commands::Answer>()?;
    module.add_function(wrap_pyfunction!(commands::evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(commands::compare, module)?)?;
    module.add_function(wrap_pyfunction!(commands::report, module)?)?;
    module.add_function(wrap_pyfunction!(commands::monitor, module)?)?;
    module.add_function(wrap_pyfunction!(commands::monitor_report, module)?)?;
    module.add_class::<samples::Family>()?;
    module.add_function(wrap_pyfunction!(errors::ece, module)?)?;
    module.add_function(wrap_pyfunction!(errors::class_wise_ece, module)?)?;
    module.add_function(wrap_pyfunction!(errors::debiased_ece, module)?)?;
    module.add_function(wrap_pyfunction!(errors::smooth_ece, module)?)?;
    module.add_function(wrap_pyfunction!(errors::squared_mmce, module)?)?;
    module.add_function(wrap_pyfunction!(errors::squared_kernel_error, module)?)?;
    module.add_function(wrap_pyfunction!(errors::overconfidence, module)?)?;
    module.add_function(wrap_pyfunction!(errors::observed_over_expected, module)?)?;
    module.add_function(wrap_pyfunction!(scores::brier_score, module)?)?;
    module.add_function(wrap_pyfunction!(scores::spherical_score, module)?)?;
    module.add_function(wrap_pyfunction!(scores::log_loss, module)?)?;
    module.add_function(wrap_pyfunction!(scores::log_loss_of_reals, module)?)?;
    module.add_function(wrap_pyfunction!(scores::crps, module)?)?;
    module.add_function(wrap_pyfunction!(scores::interval_score, module)?)?;
    module.add_function(wrap_pyfunction!(scores::pinball_loss, module)?)?;
    module.add_function(wrap_pyfunction!(significance::omnibus_test, module)?)?;
    module.add_function(wrap_pyfunction!(
        significance::omnibus_test_of_reals,
        module
    )?)?;
    module.add_function(wrap_pyfunction!(significance::spiegelhalter_test, module)?)?;
    module.add_function(wrap_pyfunction!(
        significance::hosmer_lemeshow_test,
        module
    )?)?;
    module.add_function(wrap_pyfunction!(significance::skce_test, module)?)?;
    module.add_function(wrap_pyfunction!(curves::reliability_curve, module)?)?;
    module.add_function(wrap_pyfunction!(curves::corp_curve, module)?)?;
    module.add_function(wrap_pyfunction!(curves::pit_histogram, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
