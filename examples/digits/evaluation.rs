use burn::tensor::{Int, Tensor};
use burn_calibration::{error::Result, prelude::*};
use rand::{SeedableRng, rngs::StdRng};

/// What the table says of a network on the test digits.
pub struct Evaluation {
    pub accuracy: f64,
    pub log_loss: f64,
    pub brier: f64,
    pub ece: f64,
    /// The unbiased SKCE with its p-value.
    pub test: TestOutcome,
}

impl Evaluation {
    pub fn of(logits: Tensor<2>, labels: &Tensor<1, Int>, seed: u64) -> Result<Self> {
        let predictions = Categorical::from_logits(logits)?;
        let (_, correct) = predictions.top_label(labels)?;
        let test = AsymptoticSkceTest::new(Kernel::exponential());
        Ok(Self {
            accuracy: correct.float().mean().into_scalar::<f32>().into(),
            log_loss: ProperScore::Log.upper_bound(&predictions, labels)?.estimate,
            brier: ProperScore::Brier
                .upper_bound(&predictions, labels)?
                .estimate,
            ece: Ece::default().estimate(&predictions, labels)?,
            test: test.evaluate(&predictions, labels, &mut StdRng::seed_from_u64(seed))?,
        })
    }
}
