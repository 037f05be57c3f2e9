use burn::tensor::Tensor;

use super::{OnClasses, TargetKernel};
use crate::{
    distribution::{Geometry, Given},
    error::Result,
};

/// The kernel on the targets of the predictions. The kernel on predictions compares the conditioning
/// variable in the place of these, so that nothing is known here of passes over their own coordinates.
impl<P: Geometry, T: TargetKernel<P>> TargetKernel<Given<P>> for T {
    fn between(
        &self,
        y: &P::Targets,
        other: &P::Targets,
        like: &Given<P>,
        batches: usize,
    ) -> Tensor<3> {
        TargetKernel::<P>::between(self, y, other, like.predictions(), batches)
    }

    fn expectation(&self, given: &Given<P>, y: &P::Targets, batches: usize) -> Tensor<3> {
        TargetKernel::<P>::expectation(self, given.predictions(), y, batches)
    }

    fn double_expectation(&self, p: &Given<P>, q: &Given<P>, batches: usize) -> Tensor<3> {
        let (p, q) = (p.predictions(), q.predictions());
        TargetKernel::<P>::double_expectation(self, p, q, batches)
    }

    fn half_bound(&self) -> f64 {
        TargetKernel::<P>::half_bound(self)
    }

    fn validate_for(&self, given: &Given<P>) -> Result<()> {
        TargetKernel::<P>::validate_for(self, given.predictions())
    }

    fn residual_features(&self, given: &Given<P>, sets: &[P::Targets]) -> Option<Vec<Tensor<2>>> {
        TargetKernel::<P>::residual_features(self, given.predictions(), sets)
    }

    fn on_classes(&self, given: &Given<P>) -> Option<OnClasses<'_>> {
        TargetKernel::<P>::on_classes(self, given.predictions())
    }
}
