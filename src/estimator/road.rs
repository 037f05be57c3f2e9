use std::any::Any;

use burn::tensor::{Int, Tensor};

use crate::{
    distribution::{Normal, Predictive},
    kernel::{Kernel, TargetKernel},
    ops::{Computation, NormalKernel, NormalSamples},
    radial::CoordinateSum,
};

/// The way in which the inner products of residuals are computed.
#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each set of pairs"
)]
pub(super) enum Road {
    /// The residuals are `e_y − p` with the probabilities `p` that the kernel compares: passes over pairs take
    /// labels, and no residual is stored.
    Labels(Tensor<1, Int>),
    /// The residuals are rows of numbers, `[n, r]`.
    Rows(Tensor<2>),
    /// A kernel on targets and its expectations for each pair. The sums over pairs of normal predictions, compared
    /// by their own distances, and of a Gaussian kernel on targets have a pass, which takes these.
    Dense(Option<(NormalSamples, NormalKernel)>),
}

impl Road {
    /// Chooses the road of predictions and targets.
    ///
    /// - own_distances: whether the kernel compares the predictions, and not a variable that they are given
    pub fn new<P: Predictive>(
        (kernel, on_targets): (Kernel, &dyn TargetKernel<P>),
        own_distances: bool,
        (predictions, targets): (&P, &P::Targets),
        computation: Computation,
    ) -> Self {
        let classes = on_targets.on_classes(predictions);
        let is_white = classes
            .as_ref()
            .is_some_and(|classes| classes.matrix.is_none());
        let labels = (targets as &dyn Any).downcast_ref::<Tensor<1, Int>>();
        if let Some(labels) = labels.filter(|_| own_distances && is_white) {
            return Self::Labels(labels.clone());
        }
        if computation == Computation::Composed && classes.is_none() {
            return Self::Dense(None);
        }
        let normal = normal_samples(on_targets, predictions, targets);
        if let Some((samples, length_scale)) = normal.filter(|_| own_distances) {
            let profile = kernel.profile;
            let on_pairs = NormalKernel {
                profile,
                length_scale,
            };
            let has_pass = kernel.distance.sum() == CoordinateSum::Squares
                && samples.have_fused_pass()
                && kernel.validate().is_ok();
            return Self::Dense(has_pass.then_some((samples, on_pairs)));
        }
        let sets = std::slice::from_ref(targets);
        let rows = on_targets.residual_features(predictions, sets);
        let rows = rows.and_then(|rows| rows.into_iter().next());
        rows.map_or(Self::Dense(None), Self::Rows)
    }
}

/// Normal predictions and their targets as the [fused pass](crate::ops::normal_statistic) takes them, with the length
/// scale of a Gaussian kernel on targets. None of other predictions and kernels.
pub(crate) fn normal_samples<P: Predictive>(
    on_targets: &dyn TargetKernel<P>,
    predictions: &P,
    targets: &P::Targets,
) -> Option<(NormalSamples, f64)> {
    let length_scale = on_targets.gaussian_length_scale()?;
    let predictions: &Normal = (predictions as &dyn Any).downcast_ref()?;
    let targets: &Tensor<2> = (targets as &dyn Any).downcast_ref()?;
    let samples = NormalSamples {
        locations: predictions.mean(),
        scales: predictions.standard_deviation(),
        targets: targets.clone(),
    };
    Some((samples, length_scale))
}
