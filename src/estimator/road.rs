use std::any::Any;

use burn::tensor::{Int, Tensor};

use crate::{
    distribution::{Normal, Predictive},
    kernel::{Kernel, KnownKernel, TargetKernel},
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
        let known = on_targets.known(predictions);
        let (are_classes, is_white) = match &known {
            Some(KnownKernel::Classes(classes)) => (true, classes.matrix.is_none()),
            _ => (false, false),
        };
        let labels = (targets as &dyn Any).downcast_ref::<Tensor<1, Int>>();
        if let Some(labels) = labels.filter(|_| own_distances && is_white) {
            return Self::Labels(labels.clone());
        }
        if computation == Computation::Composed && !are_classes {
            return Self::Dense(None);
        }
        let normal = match known {
            Some(KnownKernel::Gaussian { length_scale }) if own_distances => {
                normal_samples(predictions, targets).map(|samples| (samples, length_scale))
            }
            _ => None,
        };
        if let Some((samples, length_scale)) = normal {
            let on_pairs = NormalKernel {
                profile: kernel.profile,
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

/// Normal predictions and their targets as the [fused pass](crate::ops::normal_statistic) takes them. None of other
/// predictions.
pub(crate) fn normal_samples<P: Predictive>(
    predictions: &P,
    targets: &P::Targets,
) -> Option<NormalSamples> {
    let predictions: &Normal = (predictions as &dyn Any).downcast_ref()?;
    let targets: &Tensor<2> = (targets as &dyn Any).downcast_ref()?;
    Some(NormalSamples {
        locations: predictions.mean(),
        scales: predictions.standard_deviation(),
        targets: targets.clone(),
    })
}
