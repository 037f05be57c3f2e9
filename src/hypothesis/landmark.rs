use rand::{Rng, seq::index};

use super::{
    CalibrationTest, Redraws, TestOutcome,
    engine::{Engine, Evaluator},
    omnibus::Embeddings,
    p_value::Ties,
};
use crate::{
    distribution::{Geometry, Marginals},
    error::{Error, Result},
    kernel::{RealKernel, TargetKernel, TensorKernel},
};

/// The exact test of the SKCE of a kernel of low rank, at linear cost: for predictions of vectors that
/// are too many for all pairs.
///
/// Both kernels are approximated by `J` landmarks (Williams and Seeger 2001, the Nyström method): with
/// `φ(P) = K_TT^{−½} k_P(T, P)` for `T` among the predictions, and `ψ(y) = K_ττ^{−½} k_Y(τ, y)` for `τ`
/// drawn from them, the statistic is the unbiased SKCE of `φ(P)ᵀφ(P') · ψ(y)ᵀψ(y')`. It sees no
/// miscalibration that these `J²` features do not show. Targets are redrawn from the predictions, so
/// the level holds exactly, whatever the landmarks are. The estimate is that of the approximate kernel: it
/// is **not** that of [`Skce`](crate::estimator::Skce).
///
/// A median bandwidth is that of at most 256 of the predictions, drawn. Of
/// [`Samples`](crate::distribution::Samples) the target is put among the draws of its prediction, and redrawn from
/// all of them, as by [`ExactTest`](super::ExactTest): the landmarks and the bandwidth are of all of them too.
///
/// Cost: `n·J²` operations a redraw, and `n·J` distances of predictions; memory `O(n·J)`.
///
/// ```
/// use burn::tensor::{Device, Int, Tensor};
/// use burn_calibration::{
///     distribution::{Normal, Predictive}, hypothesis::{CalibrationTest, LandmarkSkceTest},
///     kernel::{RealKernel, TensorKernel},
/// };
/// use rand::{SeedableRng, rngs::StdRng};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let (device, mut rng) = (Device::default(), StdRng::seed_from_u64(0));
/// let mean = Tensor::<1, Int>::arange(0..500, &device).float().reshape([500, 1]) / 250.0 - 1.0;
/// let predictions = Normal::new(mean.clone(), mean.ones_like());
/// let targets = predictions.sample(&mut rng) + 0.5; // too high
/// let test = LandmarkSkceTest::new(TensorKernel::wasserstein(RealKernel::gaussian(1.0)));
/// let outcome = test.evaluate(&predictions, &targets, &mut rng)?;
/// assert_eq!(outcome.p_value(), 0.001);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LandmarkSkceTest {
    /// The kernel.
    pub kernel: TensorKernel<RealKernel>,
    /// The number `J` of landmarks, 16 by default; all predictions where there are fewer.
    pub landmarks: usize,
    /// How many sets of targets are drawn, 999 by default.
    pub redraws: Redraws,
}

/// Predictions whose median distance is taken.
const MEDIAN_OF: usize = 256;

impl LandmarkSkceTest {
    /// Creates the test with 16 landmarks and 999 redraws.
    pub fn new(kernel: TensorKernel<RealKernel>) -> Self {
        Self {
            kernel,
            landmarks: 16,
            redraws: Redraws::default(),
        }
    }

    /// Returns the same with another number of landmarks.
    pub fn with_landmarks(self, landmarks: usize) -> Self {
        Self { landmarks, ..self }
    }

    /// Returns the same with other redraws.
    pub fn with_redraws(self, redraws: Redraws) -> Self {
        Self { redraws, ..self }
    }
}

impl<P: Marginals + Geometry> CalibrationTest<P> for LandmarkSkceTest
where
    RealKernel: TargetKernel<P>,
{
    /// The outcome; the statistic is the estimate.
    ///
    /// # Errors
    ///
    /// As [`CalibrationTest::evaluate`]; fewer than two samples, no landmarks, no redraws.
    fn evaluate(
        &self,
        predictions: &P,
        targets: &P::Targets,
        rng: &mut dyn Rng,
    ) -> Result<TestOutcome> {
        self.redraws.validate()?;
        predictions.check()?;
        let observed = predictions.checked_targets(targets)?;
        let n = predictions.len();
        if n < 2 {
            return Err(Error::TooFewSamples {
                what: "an unbiased estimate of the SKCE",
                needed: 2,
                got: n,
            });
        }
        if self.landmarks == 0 {
            return Err(Error::Parameter {
                name: "the number of landmarks",
                value: 0.0,
                expected: "at least 1",
            });
        }
        let pooled = predictions.pooled(targets);
        let (predictions, weight) = pooled.as_ref().map_or((predictions, 0.0), |(p, w)| (p, *w));
        let some = index::sample(rng, n, n.min(MEDIAN_OF)).into_vec();
        let kernel = self.kernel.fixed(&predictions.select_rows(&some))?;
        let embeddings = Embeddings::new(
            (predictions, weight),
            kernel.predictions,
            &[1.0],
            Some(kernel.targets),
            self.landmarks,
            rng,
        )?;
        let evaluators: [Box<dyn Evaluator<P>>; 1] = [Box::new(embeddings)];
        let mut engine = Engine::new(predictions, &observed, &evaluators)?;
        let mut ties = None;
        let found = self.redraws.run(rng, |count, rng| {
            engine.extend(count, rng)?;
            let (data, drawn) = (engine.data[0], &engine.drawn[0]);
            let ties = ties.get_or_insert_with(|| Ties::of(data, drawn, predictions.dtype()));
            Ok(drawn.iter().map(|&drawn| ties.reaches(drawn)).collect())
        })?;
        let (estimate, drawn) = (engine.data[0], &engine.drawn[0][..found.redraws]);
        let name = "test of the SKCE at landmarks";
        Ok(TestOutcome::resampled(
            name,
            n,
            estimate,
            estimate,
            found.p_value,
            drawn,
        ))
    }
}
