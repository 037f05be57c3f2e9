//! The native module of the Python package `burn_calibration`: arrays in, the library, values out.
//!
//! What Python users see is in `python/burn_calibration/`. Whatever this module takes is a NumPy array in row-major
//! order, a number or text, and what is wrong with it is a `ValueError`.

mod arrays;
mod commands;
mod maps;
mod penalties;
mod work;

use pyo3::prelude::*;

/// The native module.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<maps::FittedMap>()?;
    module.add_function(wrap_pyfunction!(maps::map_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(maps::fit, module)?)?;
    module.add_function(wrap_pyfunction!(maps::load, module)?)?;
    module.add_function(wrap_pyfunction!(penalties::skce, module)?)?;
    module.add_function(wrap_pyfunction!(penalties::mmce, module)?)?;
    module.add_function(wrap_pyfunction!(commands::answer, module)?)?;
    module.add_function(wrap_pyfunction!(commands::monitor, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
