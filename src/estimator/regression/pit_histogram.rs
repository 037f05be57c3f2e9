use super::Uniformity;

/// A histogram of probability integral transforms, with bins of equal width, right-closed,
/// `((b−1)/B, b/B]`, with 0 in the first.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct PitHistogram {
    /// The number of samples in each bin.
    pub counts: Vec<usize>,
}

impl PitHistogram {
    /// Counts numbers in `[0, 1]`.
    pub(super) fn of(values: &[f64], bins: usize) -> Self {
        let mut counts = vec![0; bins];
        for &value in values {
            let bin = (value * bins as f64).ceil() as usize;
            counts[bin.clamp(1, bins) - 1] += 1;
        }
        Self { counts }
    }

    /// The density in each bin, 1 on average: `B n_b/n`.
    pub fn densities(&self) -> Vec<f64> {
        let total: usize = self.counts.iter().sum();
        let width = total as f64 / self.counts.len() as f64;
        let density = |&count: &usize| count as f64 / width;
        self.counts.iter().map(density).collect()
    }

    /// Pearson's `χ²` test of equal counts, with `B − 1` degrees of freedom: of independent samples, 5 or
    /// more a bin. Of probabilistic calibration only, see [`Uniformity`].
    pub fn chi_squared(&self) -> Uniformity {
        Uniformity::chi_squared(&self.counts)
    }
}
