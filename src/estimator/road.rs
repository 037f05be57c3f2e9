use burn::tensor::{Int, Tensor};

use crate::{
    distribution::Predictive,
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
        let labels = on_targets.labels(targets);
        if let Some(labels) = labels.filter(|_| own_distances) {
            return Self::Labels(labels);
        }
        let are_classes = on_targets.on_classes(predictions).is_some();
        if computation == Computation::Composed && !are_classes {
            return Self::Dense(None);
        }
        let normal = on_targets.as_normal(predictions, targets);
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
