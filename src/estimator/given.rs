//! The pair statistic of classes given a variable, `h_ij = k(z_i, z_j) · δ_iᵀ M δ_j`. That of other
//! predictions is in [`kernel`](crate::kernel): a [`TensorKernel`](crate::kernel::TensorKernel) of their
//! [`Given`] is one of a kind of prediction with a geometry of its own.

use burn::tensor::{Bool, Int, Tensor};
use rand::Rng;

use super::{
    ClassPairs, JointKernel, SkceForm,
    fused_pass::{FusedPass, Residuals, residuals},
    null_skewness, null_variance, pair,
};
use crate::{
    distribution::{Categorical, Given, in_batches},
    error::Result,
    kernel::ClassKernel,
    ops::Computation,
};

/// The residuals, folded by the factor of `M`.
fn folded<K: ClassKernel>(
    kernel: &K,
    given: &Given<Categorical>,
    labels: &Tensor<1, Int>,
) -> Tensor<2> {
    residuals(kernel, given.predictions().probabilities(), labels.clone())
}

impl<K: ClassKernel> JointKernel<Given<Categorical>> for K {
    type Pairs = ClassPairs;

    fn pairs(&self, given: &Given<Categorical>, labels: &Tensor<1, Int>) -> Result<ClassPairs> {
        let kernel = JointKernel::<Given<Categorical>>::fixed(self, given)?;
        given.predictions().check_labels(labels)?;
        let residuals = folded(self, given, labels).detach();
        Ok(ClassPairs::of_residuals(
            &kernel,
            given.conditioning().detach(),
            residuals,
            labels,
        ))
    }

    fn h(&self, given: &Given<Categorical>, labels: &Tensor<1, Int>, batches: usize) -> Tensor<3> {
        pair::within(
            &self.scalar(),
            in_batches(given.conditioning(), batches),
            in_batches(folded(self, given, labels), batches),
        )
    }

    /// Computes the value by [`residual_statistic`](crate::ops::residual_statistic), on the host.
    fn fused_value(
        &self,
        given: &Given<Categorical>,
        labels: &Tensor<1, Int>,
        form: SkceForm,
        computation: Computation,
    ) -> Option<Tensor<1>> {
        let fused = match self.fused() {
            None if computation == Computation::Fused => panic!("{self:?} has no fused path"),
            fused => fused?,
        };
        let pass = FusedPass {
            kernel: self.scalar(),
            fused,
            form,
            computation,
        };
        let residuals = Residuals::Rows(folded(self, given, labels));
        pass.value(&given.conditioning(), residuals)
    }

    fn embeddings(
        &self,
        (locations, at): (&Given<Categorical>, &Tensor<1, Int>),
        (given, labels): (&Given<Categorical>, &Tensor<1, Int>),
    ) -> Tensor<2> {
        let zeros = locations.predictions().probabilities().zeros_like();
        let targets = self.fold(crate::distribution::residuals(zeros, at.clone())); // e_τ, [J, rank]
        let gram = self.scalar().at_locations_of(locations, given);
        gram.squeeze_dim::<2>(0) * targets.matmul(folded(self, given, labels).transpose())
    }

    fn fixed(&self, given: &Given<Categorical>) -> Result<Self> {
        self.validate_for(given.predictions().classes())?;
        Ok(self.with_scalar(self.scalar().with_bandwidth_of_predictions(given)?))
    }

    fn null_deviation(
        &self,
        given: &Given<Categorical>,
        _labels: &Tensor<1, Int>,
        kept: Option<Tensor<1, Bool>>,
    ) -> Tensor<1> {
        null_variance::deviation_of_classes(self, given.predictions(), given.conditioning(), kept)
    }

    fn half_bound(&self) -> f64 {
        ClassKernel::half_bound(self)
    }

    /// Exactly, as that of the predictions alone.
    fn null_variance(&self, given: &Given<Categorical>, _rng: &mut dyn Rng) -> Result<f64> {
        let points = given.conditioning();
        Ok(null_variance::of_classes(self, given.predictions(), points))
    }

    /// As that of the predictions alone: exactly for `M = I`, where there are not too many samples.
    fn null_skewness(&self, given: &Given<Categorical>, rng: &mut dyn Rng) -> Result<f64> {
        let predictions = given.predictions();
        match self.matrix() {
            None => {
                let (kernel, points) = (self.scalar(), given.conditioning());
                Ok(null_skewness::of_classes(&kernel, predictions, points, rng))
            }
            Some(_) => {
                let sample = null_skewness::Sample::of_classes(predictions, 512, rng);
                null_skewness::by_redrawing(self, given, &sample, rng)
            }
        }
    }

    fn is_positive_definite_on(&self, given: &Given<Categorical>) -> bool {
        self.scalar().is_positive_definite_on(given)
    }
}
