use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{DrawnBy, Predictive, Redrawer, Redrawn, RedrawnBy, Targets as _};

/// Predictions by draws in two halves, which are independent given the target.
#[derive(Debug, Clone)]
pub struct Halves<P> {
    /// The half that a kernel compares.
    pub compared: P,
    /// The half whose expectations are taken.
    pub expected: P,
}

/// Targets that predictions would have if they were calibrated: what tests redraw, and what a calibrated
/// model expects.
///
/// Each default draws by the sampler: `impl Redraws for Mine {}` is all that a kind of your own needs.
pub trait Redraws: Sized {
    /// Draws many sets of targets at once, each with one from every prediction.
    fn redrawer(&self) -> Redrawer<RedrawnBy<Self>>
    where
        Self: Predictive,
    {
        let rows: Vec<usize> = (0..self.len()).collect();
        let sampler = self.sampler();
        Redrawer {
            batch: (NUMBERS / rows.len().max(1)).clamp(1, 1024),
            draw: Box::new(move |sets, rng| {
                Redrawn::from_sets((0..sets).map(|_| sampler(&rows, rng)).collect())
            }),
        }
    }

    /// Takes observed targets as a set among [redrawn](Self::redrawer) ones.
    fn as_redrawn(&self, drawn: &DrawnBy<Self>) -> RedrawnBy<Self>
    where
        Self: Predictive,
    {
        Redrawn::from_sets(vec![drawn.clone()])
    }

    /// Takes drawn targets to the device of the predictions.
    fn observed(&self, drawn: &DrawnBy<Self>) -> Self::Targets
    where
        Self: Predictive,
    {
        Self::Targets::observed(drawn, self.dimensions(), (&self.device(), self.dtype()))
    }

    /// Targets at which the calibration of the given rows is tested by a mean embedding: a draw from
    /// each prediction, independent of what was observed.
    fn locations(&self, rows: &[usize], rng: &mut dyn Rng) -> Self::Targets
    where
        Self: Predictive,
    {
        self.observed(&self.sampler()(rows, rng))
    }

    /// Splits each prediction into two that are independent given the target: of
    /// [`Samples`](super::Samples), the first half of the draws and the second, which depend on the order of the draws.
    /// None where a prediction is a distribution that is known.
    fn halves(&self) -> Option<Halves<Self>>
    where
        Self: Predictive,
    {
        None
    }

    /// Puts the observed targets among the draws by which predictions are known, those of
    /// [`Samples`](super::Samples), and gives the weight of a target there. The target of a calibrated model is
    /// one more draw from the same distribution, so that among all of them it is any one: tests redraw it
    /// from there. Weights of the samples stay. None where a prediction is a distribution that is known.
    fn pooled(&self, targets: &Self::Targets) -> Option<(Self, f64)>
    where
        Self: Predictive,
    {
        let _ = targets;
        None
    }

    /// Possible targets of a calibrated model, one for each prediction, with their probabilities. They
    /// stand for targets that the data may lack. For classes the most likely one, and the second with the
    /// probability that it is not that. For quantile forecasts each of the quantiles, and a target beyond the outer
    /// ones. For others draws, so many that there are 100 in all, each set with the same share of a probability of 1.
    fn expected_targets(&self) -> Vec<(Self::Targets, Vec<f64>)>
    where
        Self: Predictive,
    {
        let mut rng = StdRng::seed_from_u64(0);
        let sets = EXPECTED_DRAWS.div_ceil(self.len().max(1));
        let probabilities = vec![(sets as f64).recip(); self.len()];
        let draws = (0..sets).map(|_| (self.sample(&mut rng), probabilities.clone()));
        draws.collect()
    }

    /// The number of wrong top labels that calibrated predictions expect, `Σ_i (1 − max_c p_ic)`, of
    /// classes. None for other kinds.
    fn expected_errors(&self) -> Option<f64>
    where
        Self: Predictive,
    {
        None
    }

    /// The number of targets that are not the most likely one: for classes the wrong labels. None if there
    /// is no most likely one. The targets are taken as valid.
    fn errors(&self, _targets: &Self::Targets) -> Option<usize>
    where
        Self: Predictive,
    {
        None
    }

    /// The target of a row in the words of an error.
    fn target_text(&self, targets: &Self::Targets, row: usize) -> String
    where
        Self: Predictive,
    {
        targets.text(row)
    }
}

/// Targets that are drawn at a time.
const NUMBERS: usize = 1 << 22;

/// Draws that stand for the targets of calibrated predictions, over all samples.
const EXPECTED_DRAWS: usize = 100;
