use burn::tensor::{Int, Tensor};
use burn_calibration::{error::Result, prelude::*};
use rand::{SeedableRng, rngs::StdRng};

/// What the table says of a network on held-out digits.
pub struct Evaluation {
    pub accuracy: f64,
    pub log_loss: f64,
    pub brier: f64,
    pub ece: f64,
    /// The unbiased SKCE with its p-value.
    pub test: TestOutcome,
}

impl Evaluation {
    /// From logits `[n, 10]` and labels `[n]`.
    pub fn of(logits: Tensor<2>, labels: &Tensor<1, Int>, seed: u64) -> Result<Self> {
        let predictions = Categorical::from_logits(logits)?; // checked, through a softmax
        let score = |score: ProperScore| score.upper_bound(&predictions, labels);
        let (_, correct) = predictions.top_label(labels)?; // is the likeliest class right?

        // Could a calibrated network have an SKCE as large as this one? The null distribution is a gamma
        // distribution by moments: no replicates are drawn. The seed chooses the 512 predictions that its
        // skewness is estimated from.
        let test = AsymptoticSkceTest::new(Kernel::exponential());
        let mut rng = StdRng::seed_from_u64(seed);
        Ok(Self {
            accuracy: correct.float().mean().into_scalar::<f64>(),
            log_loss: score(ProperScore::Log)?.estimate,
            brier: score(ProperScore::Brier)?.estimate,
            ece: Ece::default().estimate(&predictions, labels)?,
            test: test.evaluate(&predictions, labels, &mut rng)?,
        })
    }
}
