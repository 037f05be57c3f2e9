use burn::{
    nn::loss::CrossEntropyLoss,
    tensor::{Int, Tensor},
};

/// A scalar criterion of categorical predictions, which is what recalibration maps are fitted by
/// and what a penalised loss is made of.
pub trait Criterion {
    /// The criterion of logits `[n, m]` and labels `[n]`: `[1]`.
    fn forward(&self, logits: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1>;

    /// The criterion of probabilities `[n, m]` and labels `[n]`: `[1]`.
    fn forward_from_probabilities(
        &self,
        probabilities: Tensor<2>,
        labels: Tensor<1, Int>,
    ) -> Tensor<1>;
}

/// Burn's cross-entropy, whichever input it was configured for.
impl Criterion for CrossEntropyLoss {
    fn forward(&self, logits: Tensor<2>, labels: Tensor<1, Int>) -> Tensor<1> {
        Self {
            logits: true,
            ..self.clone()
        }
        .forward(logits, labels)
    }

    fn forward_from_probabilities(
        &self,
        probabilities: Tensor<2>,
        labels: Tensor<1, Int>,
    ) -> Tensor<1> {
        Self {
            logits: false,
            ..self.clone()
        }
        .forward(probabilities, labels)
    }
}

/// Implements [`Criterion`] by the methods of the same names.
macro_rules! impl_criterion {
    ($loss:ty) => {
        impl $crate::loss::Criterion for $loss {
            fn forward(
                &self,
                logits: ::burn::tensor::Tensor<2>,
                labels: ::burn::tensor::Tensor<1, ::burn::tensor::Int>,
            ) -> ::burn::tensor::Tensor<1> {
                <$loss>::forward(self, logits, labels)
            }

            fn forward_from_probabilities(
                &self,
                probabilities: ::burn::tensor::Tensor<2>,
                labels: ::burn::tensor::Tensor<1, ::burn::tensor::Int>,
            ) -> ::burn::tensor::Tensor<1> {
                <$loss>::forward_from_probabilities(self, probabilities, labels)
            }
        }
    };
}
pub(super) use impl_criterion;
