use std::fmt;

use statrs::statistics::Statistics;

/// A sample mean with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanEstimate {
    /// The mean over the samples: unbiased, of minimum variance.
    pub estimate: f64,
    /// `s/√n` with the unbiased sample variance `s²`; infinite for one sample.
    pub standard_error: f64,
    /// The number `n` of samples.
    pub samples: usize,
}

impl MeanEstimate {
    /// The mean of at least one value.
    pub(crate) fn of(values: &[f64]) -> Self {
        let samples = values.len();
        let standard_error = match samples {
            1 => f64::INFINITY,
            _ => (values.variance() / samples as f64).sqrt(),
        };
        Self {
            estimate: values.mean(),
            standard_error,
            samples,
        }
    }
}

impl fmt::Display for MeanEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:.6} ± {:.6} (n = {})",
            self.estimate, self.standard_error, self.samples
        )
    }
}
