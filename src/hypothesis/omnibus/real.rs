use rand::{Rng, seq::index};

use super::{
    aspects::{BANDWIDTHS, Omnibus, OmnibusPlan, of_kernel},
    real_kind::RealKind,
    transforms::Transforms,
};
use crate::{
    distribution::{Geometry, Marginals},
    error::Result,
    hypothesis::engine::{Evaluator, LowRankVectorSkce},
    kernel::{Kernel, RealKernel, TargetKernel},
};

/// Landmarks among predictions, and among targets.
const LANDMARKS: usize = 16;
/// Predictions whose median distance is taken.
const MEDIAN_OF: usize = 256;

impl<P: Marginals + Geometry> Omnibus for P
where
    RealKernel: TargetKernel<P>,
{
    fn default_kernel() -> Kernel {
        Kernel::wasserstein()
    }

    fn aspects<'a>(
        &'a self,
        weight: f64,
        kernel: Kernel,
        rng: &mut dyn Rng,
    ) -> Result<OmnibusPlan<'a, Self>> {
        let transforms = Transforms::new(self, rng);
        let mut aspects = RealKind::aspects(self.dimensions());
        let mut evaluators: Vec<Box<dyn Evaluator<Self> + 'a>> = vec![Box::new(transforms)];
        let n = self.len();
        if n > 1 {
            let some = index::sample(rng, n, n.min(MEDIAN_OF)).into_vec();
            let kernel = kernel.with_bandwidth_of_predictions(&self.select_rows(&some))?;
            let embeddings =
                LowRankVectorSkce::new((self, weight), kernel, &BANDWIDTHS, LANDMARKS, rng)?;
            evaluators.push(Box::new(embeddings));
            aspects.extend(of_kernel(kernel, self.compared()));
        } else {
            kernel.validate()?; // there are no pairs
        }
        Ok(OmnibusPlan {
            evaluators,
            aspects,
        })
    }
}
