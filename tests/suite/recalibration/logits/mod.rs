//! The maps of `recalibration` that act on all logits: fits against independent solvers, and what each
//! map promises.

mod auto;
mod auto_events;
mod auto_promises;
mod degenerate;
mod descent;
mod fits;
mod optima;
mod promises;
mod structured;
mod warnings;

use burn_calibration::error::Result;

use crate::prelude::*;

/// A configuration whatever its type.
pub type Fitter = Box<
    dyn Fn(Option<&dyn Criterion>, Tensor<2>, Tensor<1, Int>) -> Result<Box<dyn Recalibration>>,
>;

pub fn fitter<C>(config: C) -> Fitter
where
    C: Fit<Scored = Categorical> + 'static,
    C::Map: Recalibration + 'static,
{
    Box::new(move |criterion, logits, labels| {
        let map = config.fit_with(logits, labels, FitOptions::new(criterion, &mut |_| {}))?;
        Ok(Box::new(map))
    })
}

/// Every map under a name, with a fixed regularisation, so that a test fits it once.
pub fn fitters() -> Vec<(&'static str, Fitter)> {
    let fixed = Regularisation::Fixed(1e-3);
    let ensemble = EnsembleTemperatureScalingConfig::new().with_prior(None);
    let diagonal = DiagonalScalingConfig::new().with_regularisation(fixed);
    let preserving = OrderPreservingConfig::new().with_regularisation(fixed);
    let invariant = OrderInvariantConfig::new().with_regularisation(fixed);
    let matrix = MatrixScalingConfig::new().with_regularisation(fixed);
    let structured_vector = fitter(StructuredVectorScalingConfig::new());
    let structured_matrix = fitter(StructuredMatrixScalingConfig::new());
    let dirichlet = DirichletCalibrationConfig::new().with_regularisation(fixed);
    vec![
        ("temperature", fitter(without_prior())),
        ("ensemble", fitter(ensemble)),
        ("diagonal", fitter(diagonal)),
        (
            "order-preserving",
            fitter(preserving.with_max_iterations(60)),
        ),
        ("order-invariant", fitter(invariant.with_max_iterations(60))),
        ("vector", fitter(VectorScalingConfig::new())),
        ("matrix", fitter(matrix)),
        ("structured-vector", structured_vector),
        ("structured-matrix", structured_matrix),
        ("dirichlet", fitter(dirichlet)),
    ]
}

/// Rows of four logits that are 2.5 times too large, with labels.
pub fn overconfident(n: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<usize>) {
    overconfident_rows(n, 4, 3.0, seed)
}

/// Every map fitted to the same overconfident logits.
pub fn fitted() -> Vec<(&'static str, Box<dyn Recalibration>)> {
    let (logits, classes) = overconfident(300, 71);
    (fitters().into_iter())
        .map(|(name, fit)| (name, fit(None, tensor(&logits), labels(&classes)).unwrap()))
        .collect()
}
