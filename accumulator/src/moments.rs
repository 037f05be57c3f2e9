use num_bigint::Sign;
use serde::{Deserialize, Serialize};

use super::{
    check_counts,
    exact_sum::{Exact, ExactSum},
    weight_sums::WeightSums,
};
use burn_calibration::{
    error::{Error, Result},
    hypothesis::{AsymptoticBlockSkceTest, TestOutcome},
    score::MeanEstimate,
};

/// The number of values, `Σ w x` and `Σ w² x²`, exactly: weighted mean and variance that do not depend on the order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Moments {
    pub count: u64,
    sum: ExactSum,
    squares: ExactSum,
    /// `Σ w`, `Σ w²`, `Σ w³` and `Σ w² x`
    #[serde(default, skip_serializing_if = "WeightSums::is_empty")]
    weights: WeightSums,
}

impl Moments {
    /// Adds a value of magnitude at most [`GREATEST`]. Its positive weight is a product of numbers; it has none where
    /// there are none of these.
    pub fn add(&mut self, x: f64, w: &[f64]) {
        debug_assert!(x.abs() <= GREATEST);
        self.count += 1;
        if w.is_empty() {
            self.sum.add(x);
            self.squares.add_product(&[x, x]);
            return;
        }
        self.sum.add_product(&[w, &[x]].concat());
        self.squares.add_product(&[w, w, &[x, x]].concat());
        let values = [w, w, &[x]].concat();
        self.weights.add([w, &w.repeat(2), &w.repeat(3), &values]);
    }

    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum.merge(&other.sum);
        self.squares.merge(&other.squares);
        self.weights.merge(&other.weights);
    }

    /// Returns whether there are weights; None without values.
    pub fn weighted(&self) -> Option<bool> {
        (self.count > 0).then_some(!self.weights.is_empty())
    }

    /// `Σ w`: the number of values where there are no weights.
    pub fn weight(&self) -> f64 {
        self.powers()[0].value()
    }

    /// The weighted mean with its standard error, of at least one value.
    pub fn estimate(&self) -> MeanEstimate {
        let [total, squares, _] = &self.powers();
        let mean = self.sum.exact().over(total);
        let deviations = self.squared_deviations();
        let mut estimate = MeanEstimate::of_moments(self.count as usize, mean, deviations);
        estimate.effective = (total * total).over(squares);
        estimate
    }

    /// The asymptotic test of these values as block estimates of the SKCE, of blocks of `size` among so many
    /// samples.
    pub fn block_test(&self, size: usize, samples: usize) -> Result<TestOutcome> {
        if !self.weights.is_empty() {
            return Err(Error::Unsupported {
                what: "the asymptotic test takes no sample weights".into(),
                expected: "the estimate with its standard error, or pieces without weights",
            });
        }
        let blocks = self.count as usize;
        let mean = self.sum.exact().over(&Exact::of(self.count.max(1)));
        let deviation = (self.squared_deviations() / (blocks as f64 - 1.0)).sqrt();
        AsymptoticBlockSkceTest::new((), size).of_moments(mean, deviation, blocks, samples)
    }

    /// Bytes apart from its own size.
    pub fn held(&self) -> usize {
        self.sum.held() + self.squares.held() + self.weights.held()
    }

    /// Checks that there are numbers with these sums.
    pub fn check(&self) -> Result<(), String> {
        check_counts([self.count])?;
        let possible = if self.count == 0 {
            *self == Self::default()
        } else {
            let powers = self.powers().iter().all(|sum| sum.sign() == Sign::Plus);
            let spread = (self.spread().sign() == Sign::Plus) == (self.count > 1);
            let deviations = self.deviations().sign() != Sign::Minus;
            [0, 4].contains(&self.weights.len()) && powers && spread && deviations
        };
        if possible {
            Ok(())
        } else {
            Err("no numbers have its sums".into())
        }
    }

    /// `Σ (x − x̄)²`, 0 if and only if all values are equal. With weights it is what has the standard error `s` of the
    /// weighted mean `m`, `s² n(n − 1)`:
    ///
    /// ```text
    /// s² = Σ w²(x − m)² / (W² − 2 W Σw³/Σw² + Σw²),   W = Σ w
    /// ```
    ///
    /// It is unbiased if weights do not depend on values, and that without weights if they are equal.
    pub fn squared_deviations(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let [total, squares, _] = &self.powers();
        let pairs = &Exact::of(self.count) * &Exact::of(self.count - 1);
        let scaled = &(&self.deviations() * squares) * &pairs;
        scaled.over(&(&(total * total) * &self.spread()))
    }

    /// `Σ w`, `Σ w²` and `Σ w³`
    fn powers(&self) -> [Exact; 3] {
        [0, 1, 2].map(|k| self.weights.exact(k, Exact::of(self.count)))
    }

    /// `W² Σ w² (x − m)² = W² Σ w²x² − 2 W (Σ wx) Σ w²x + (Σ wx)² Σ w²`
    fn deviations(&self) -> Exact {
        let [total, weights, _] = &self.powers();
        let [sum, squares] = [&self.sum, &self.squares].map(ExactSum::exact);
        let mixed = &(total * &sum) * &self.weights.exact(3, sum.clone());
        &(total * total) * &squares + &mixed * &Exact::of(-2) + &(&sum * &sum) * weights
    }

    /// `W² Σw² − 2 W Σw³ + (Σw²)²`: 0 of one value.
    fn spread(&self) -> Exact {
        let [total, squares, cubes] = &self.powers();
        &(total * total) * squares + &(total * cubes) * &Exact::of(-2) + squares * squares
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
        values.iter().for_each(|&x| moments.add(x, &[]));
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
                moments.estimate().estimate - offset,
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
