//! The operation as a backend extension, and with automatic differentiation.

use burn::backend::{
    Autodiff, AutodiffBackend, Backend,
    autodiff::{
        NodeId,
        checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
        grads::Gradients,
        ops::{Backward, Ops, OpsKind},
    },
    tensor::FloatTensor,
};

use super::OnTargets;
use crate::ops::backends::{composed_elsewhere, on_every_backend, on_host};

/// `R_ij`, `[batches, n, n]`, and the residual products of components with whole mixtures, over which the
/// weights are summed, `[batches, n·K, n]`.
pub(super) type Products<B> = (FloatTensor<B>, FloatTensor<B>);

/// Gradients with respect to locations, scales and weights.
pub(super) type OfAll<B> = (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>);

on_every_backend! {
    /// The operation, on the backends of the host.
    pub(crate) trait MixtureResiduals: Backend {
        fn mixture_residuals(
            _locations: FloatTensor<Self>,
            _scales: FloatTensor<Self>,
            _weights: FloatTensor<Self>,
            _targets: FloatTensor<Self>,
            _on_targets: OnTargets,
            _batches: usize,
        ) -> (FloatTensor<Self>, FloatTensor<Self>) {
            unreachable!("an operation of the host, which is checked before")
        }

        fn mixture_residuals_gradient(
            _locations: FloatTensor<Self>,
            _scales: FloatTensor<Self>,
            _weights: FloatTensor<Self>,
            _targets: FloatTensor<Self>,
            _of_components: FloatTensor<Self>,
            _upstream: FloatTensor<Self>,
            _on_targets: OnTargets,
        ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
            unreachable!("an operation of the host, which is checked before")
        }
    }
}

composed_elsewhere!(MixtureResiduals);

on_host!(MixtureResiduals {
    fn mixture_residuals(
        locations: FloatTensor<Self>,
        scales: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        targets: FloatTensor<Self>,
        on_targets: OnTargets,
        batches: usize,
    ) -> Products<Self> {
        let mixtures = [locations, scales, weights, targets];
        super::host::products::<Self>(mixtures, on_targets, batches)
    }

    fn mixture_residuals_gradient(
        locations: FloatTensor<Self>,
        scales: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        targets: FloatTensor<Self>,
        of_components: FloatTensor<Self>,
        upstream: FloatTensor<Self>,
        on_targets: OnTargets,
    ) -> OfAll<Self> {
        let mixtures = [locations, scales, weights, targets];
        super::host::gradient::<Self>(mixtures, of_components, upstream, on_targets)
    }
});

#[derive(Debug)]
struct MixtureResidualsBackward;

impl<B: MixtureResiduals> Backward<B, 3> for MixtureResidualsBackward {
    /// Locations, scales and weights; targets and the products of components.
    type State = ([NodeId; 3], [FloatTensor<B>; 2], OnTargets);

    fn backward(
        self,
        ops: Ops<Self::State, 3>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let (nodes, [targets, of_components], on_targets) = ops.state;
        let [locations, scales, weights] =
            nodes.map(|node| checkpointer.retrieve_node_output(node));
        let upstream = grads.consume::<B>(&ops.node);
        let (locations, scales, weights) = B::mixture_residuals_gradient(
            locations,
            scales,
            weights,
            targets,
            of_components,
            upstream,
            on_targets,
        );
        let gradients = [locations, scales, weights];
        for (parent, gradient) in ops.parents.into_iter().zip(gradients) {
            if let Some(node) = parent {
                grads.register::<B>(node.id, gradient);
            }
        }
    }
}

impl<B: MixtureResiduals, C: CheckpointStrategy> MixtureResiduals for Autodiff<B, C> {
    fn mixture_residuals(
        locations: FloatTensor<Self>,
        scales: FloatTensor<Self>,
        weights: FloatTensor<Self>,
        targets: FloatTensor<Self>,
        on_targets: OnTargets,
        batches: usize,
    ) -> Products<Self> {
        let all = [locations, scales, weights];
        let prepared = MixtureResidualsBackward
            .prepare::<C>(all.each_ref().map(|x| x.node()))
            .compute_bound()
            .stateful();
        let targets = targets.into_primitive();
        let run = |all: [FloatTensor<Self>; 3], targets| {
            let [locations, scales, weights] = all.map(|x| x.into_primitive());
            B::mixture_residuals(locations, scales, weights, targets, on_targets, batches)
        };
        let (residuals, of_components) = match prepared {
            OpsKind::Tracked(mut prep) => {
                let nodes = all.each_ref().map(|x| prep.checkpoint(x));
                let (residuals, of_components) = run(all, targets.clone());
                let state = (nodes, [targets, of_components.clone()], on_targets);
                (prep.finish(state, residuals), of_components)
            }
            OpsKind::UnTracked(prep) => {
                let (residuals, of_components) = run(all, targets);
                (prep.finish(residuals), of_components)
            }
        };
        (residuals, Self::from_inner(of_components))
    }
}
