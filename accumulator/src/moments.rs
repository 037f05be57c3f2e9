use serde::{Deserialize, Serialize};

use super::{check_counts, exact_sum::ExactSum};
use burn_calibration::{
    error::Result,
    hypothesis::{AsymptoticBlockSkceTest, TestOutcome},
    score::MeanEstimate,
};

/// The number of values, `Σ x` and `Σ x²`, exactly: mean and variance that do not depend on the order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Moments {
    pub count: u64,
    sum: ExactSum,
    squares: ExactSum,
}

impl Moments {
    /// Adds a value of magnitude at most [`GREATEST`].
    pub fn add(&mut self, x: f64) {
        debug_assert!(x.abs() <= GREATEST);
        self.count += 1;
        self.sum.add(x);
        self.squares.add_product(x, x);
    }

    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum.merge(&other.sum);
        self.squares.merge(&other.squares);
    }

    /// `x̄`, of at least one value.
    pub fn mean(&self) -> f64 {
        self.sum.value() / self.count as f64
    }

    /// The mean with its standard error, of at least one value.
    pub fn estimate(&self) -> MeanEstimate {
        MeanEstimate::of_moments(self.count as usize, self.mean(), self.squared_deviations())
    }

    /// The asymptotic test of these values as block estimates of the SKCE, of blocks of `size` among so many
    /// samples.
    pub fn block_test(&self, size: usize, samples: usize) -> Result<TestOutcome> {
        let blocks = self.count as usize;
        let deviation = (self.squared_deviations() / (blocks as f64 - 1.0)).sqrt();
        AsymptoticBlockSkceTest::new((), size).of_moments(self.mean(), deviation, blocks, samples)
    }

    /// Bytes apart from its own size.
    pub fn held(&self) -> usize {
        self.sum.held() + self.squares.held()
    }

    /// Checks that there are numbers with these sums.
    pub fn check(&self) -> Result<(), String> {
        check_counts([self.count])?;
        let possible = match self.count {
            0 => *self == Self::default(),
            _ => self.squared_deviations() >= 0.0,
        };
        if possible {
            Ok(())
        } else {
            Err("no numbers have its sums".into())
        }
    }

    /// `Σ (x − x̄)² = (n Σ x² − (Σ x)²) / n`, of at least one value; the difference is taken without
    /// rounding, so that this is 0 if and only if all values are equal.
    pub fn squared_deviations(&self) -> f64 {
        let n = self.count as f64;
        let mut scaled = ExactSum::default();
        for square in self.squares.parts() {
            scaled.add_product(n, square);
        }
        let parts = self.sum.parts();
        for a in &parts {
            for b in &parts {
                scaled.add_product(-a, *b);
            }
        }
        scaled.value() / n
    }
}

/// Values up to here have sums of squares that are finite, and far from the end.
pub(super) const GREATEST: f64 = 1e100;

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use rand::{RngExt, SeedableRng, rngs::StdRng};
    use statrs::statistics::Statistics;

    use super::*;

    fn moments(values: &[f64]) -> Moments {
        let mut moments = Moments::default();
        values.iter().for_each(|&x| moments.add(x));
        moments
    }

    #[test]
    fn against_two_passes() {
        let mut rng = StdRng::seed_from_u64(1);
        for (offset, scale) in [
            (0.0, 1.0),
            (5.0, 1e-3),
            (-1e9, 1e-3),
            (0.0, 1e-60),
            (0.0, 1e99),
        ] {
            let values: Vec<f64> = (0..1000)
                .map(|_| offset + scale * rng.random_range(-1.0..1.0f64))
                .collect();
            let moments = moments(&values);
            let centred: Vec<f64> = values.iter().map(|x| x - offset).collect(); // exact or nearly so
            assert_relative_eq!(
                moments.mean() - offset,
                centred.as_slice().mean(),
                max_relative = 1e-10,
                epsilon = 1e-15 * (offset.abs() + scale)
            );
            let expected = centred.as_slice().population_variance() * 1000.0;
            assert_relative_eq!(moments.squared_deviations(), expected, max_relative = 1e-10);
        }
    }

    /// `n Σ x²` and `(Σ x)²` agree to the last of their 220 bits.
    #[test]
    fn equal_values_do_not_deviate() {
        for x in [0.1, -1.0 / 3.0, 745.13, 1e-50] {
            assert_eq!(moments(&[x; 12_345]).squared_deviations(), 0.0);
        }
        let next = f64::from_bits(0.1f64.to_bits() + 1);
        let mut values = [0.1; 999];
        values[500] = next;
        // one value that is off by d: d² (n − 1)/n
        let expected = (next - 0.1).powi(2) * 998.0 / 999.0;
        assert_relative_eq!(
            moments(&values).squared_deviations(),
            expected,
            max_relative = 1e-14
        );
    }
}
