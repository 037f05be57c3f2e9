use burn::tensor::{Int, Tensor};
use burn_calibration::{
    error::Result, estimator::Estimator, hypothesis::OmnibusOutcome, prelude::*,
};
use rand::{SeedableRng, rngs::StdRng};

/// What the table says of a network on held-out digits.
pub struct Evaluation {
    pub accuracy: f64,
    pub log_loss: f64,
    pub brier: f64,
    pub ece: f64,
    /// The unbiased estimate.
    pub skce: f64,
    /// Is the network calibrated, and if not, where does it fail?
    pub test: OmnibusOutcome,
}

impl Evaluation {
    /// From logits `[n, 10]` and labels `[n]`.
    pub fn of(logits: Tensor<2>, labels: &Tensor<1, Int>, seed: u64) -> Result<Self> {
        let predictions = Categorical::from_logits(logits)?; // checked, through a softmax
        let score = |score: &dyn Score<Categorical>| score.upper_bound(&predictions, labels);
        let (_, correct) = predictions.top_label(labels)?; // is the likeliest class right?

        // Could a calibrated network be as far off as this one? The labels are drawn from the predictions
        // again, 999 times and more often where the p-value is near 5 %; the seed is that of these draws.
        let mut rng = StdRng::seed_from_u64(seed);
        let test = OmnibusTest::new().outcome(&predictions, labels, &mut rng)?;
        Ok(Self {
            accuracy: correct.float().mean().into_scalar::<f64>(),
            log_loss: score(&LogScore)?.estimate,
            brier: score(&Brier)?.estimate,
            ece: Ece::default().estimate(&predictions, labels)?,
            skce: Skce::unbiased(Kernel::exponential()).estimate(&predictions, labels)?,
            test,
        })
    }
}
