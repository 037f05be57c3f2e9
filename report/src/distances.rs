use burn_calibration::{
    distribution::{Categorical, Geometry, QuantileForecasts},
    error::Result,
    estimator::{JointKernel, Skce},
    kernel::Kernel,
    names::{self, Name},
    score::{ErrorSize, Quantify as _},
};

use super::{
    estimate::{Estimate, NamedEstimates},
    section::{Reportable, Scored},
    view::View,
};

/// The largest number of samples whose pairs are all taken, by the SKCE and by a median.
pub const ALL_PAIRS: usize = 20_000;

/// The number of samples in a block of the SKCE where all pairs are too many.
pub const BLOCK: usize = 25;

/// The kernel of a kind of prediction, and what it says of a view; `()` of predictions without distances says nothing.
pub trait Distances<P: Reportable>: Copy {
    /// Returns the kernel on predictions.
    fn on_predictions(&self) -> Option<Kernel> {
        None
    }

    /// Returns the size of the SKCE with its name: of all pairs, or of blocks of [`BLOCK`] above [`ALL_PAIRS`] samples.
    fn skce(self, _view: &View<P>) -> Option<(Name, Result<ErrorSize>)> {
        None
    }

    /// Returns the SKCE of pairs of successive samples, an estimate of linear cost.
    fn linear_skce(self, _view: &View<P>) -> NamedEstimates {
        Vec::new()
    }
}

/// Predictions with distances.
pub trait WithDistances: Geometry {}

impl WithDistances for Categorical {}

impl<P: Scored + Geometry> WithDistances for P {}

impl Distances<QuantileForecasts> for () {}

impl<P, K> Distances<P> for K
where
    P: Reportable<Kernel = K> + WithDistances,
    K: JointKernel<P> + Copy,
{
    fn on_predictions(&self) -> Option<Kernel> {
        Some(JointKernel::on_predictions(self))
    }

    fn skce(self, view: &View<P>) -> Option<(Name, Result<ErrorSize>)> {
        let (name, skce) = if view.predictions.len() <= ALL_PAIRS {
            (names::SKCE, Skce::unbiased(self))
        } else {
            let (key, title) = (names::SKCE.key, names::SKCE_BLOCK.title);
            let name = Name { key, title }.with(format_args!("{BLOCK} samples each"));
            (name, Skce::block(self, BLOCK))
        };
        let size = skce.size(&view.predictions, &view.targets);
        Some((name.of(&view.of.whole), size))
    }

    fn linear_skce(self, view: &View<P>) -> NamedEstimates {
        let skce = Skce::linear(self).size(&view.predictions, &view.targets);
        let estimate = Estimate::new(&view.of.whole, skce.map(|size| size.estimate));
        vec![(names::SKCE_LINEAR, estimate)]
    }
}
