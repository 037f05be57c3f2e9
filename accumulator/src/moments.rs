use serde::{Deserialize, Serialize};

use super::{
    check_counts,
    exact_sum::{Exact, ExactSum},
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
    /// None where each weight is 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights: Option<Box<WeightMoments>>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct WeightMoments {
    /// `Σ w`, `Σ w²` and `Σ w³`
    powers: [ExactSum; 3],
    /// `Σ w² x`
    values: ExactSum,
}

/// The sums of [`Moments`], of weights that may each be 1.
struct Terms {
    /// `Σ w`, `Σ w²` and `Σ w³`
    powers: [Exact; 3],
    /// `Σ w x`
    sum: Exact,
    /// `Σ w² x`
    values: Exact,
    /// `Σ w² x²`
    squares: Exact,
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
        let weights = self.weights.get_or_insert_default();
        weights.values.add_product(&[w, w, &[x]].concat());
        for (k, sum) in weights.powers.iter_mut().enumerate() {
            sum.add_product(&w.repeat(k + 1));
        }
    }

    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum.merge(&other.sum);
        self.squares.merge(&other.squares);
        if let Some(other) = &other.weights {
            let weights = self.weights.get_or_insert_default();
            weights.values.merge(&other.values);
            let powers = weights.powers.iter_mut().zip(&other.powers);
            powers.for_each(|(sum, other)| sum.merge(other));
        }
    }

    /// Tells whether there are weights; None without values.
    pub fn weighted(&self) -> Option<bool> {
        (self.count > 0).then_some(self.weights.is_some())
    }

    /// `Σ w`: the number of values where there are no weights.
    pub fn weight(&self) -> f64 {
        self.terms().powers[0].value()
    }

    /// The weighted mean with its standard error, of at least one value.
    pub fn estimate(&self) -> MeanEstimate {
        let Terms { powers, sum, .. } = self.terms();
        let [total, squares, _] = &powers;
        let (count, deviations) = (self.count as usize, self.squared_deviations());
        let mut estimate = MeanEstimate::of_moments(count, sum.over(total), deviations);
        estimate.effective = (total * total).over(squares);
        estimate
    }

    /// The asymptotic test of these values as block estimates of the SKCE, of blocks of `size` among so many
    /// samples.
    pub fn block_test(&self, size: usize, samples: usize) -> Result<TestOutcome> {
        if self.weights.is_some() {
            return Err(Error::Unsupported {
                what: "the asymptotic test takes no sample weights".into(),
                expected: "the estimate with its standard error, or pieces without weights",
            });
        }
        let blocks = self.count as usize;
        let mean = self.sum.exact().over(&Exact::from(self.count.max(1)));
        let deviation = (self.squared_deviations() / (blocks as f64 - 1.0)).sqrt();
        AsymptoticBlockSkceTest::new((), size).of_moments(mean, deviation, blocks, samples)
    }

    /// Bytes apart from its own size.
    pub fn held(&self) -> usize {
        let weights = |weights: &WeightMoments| {
            let sums = weights.powers.iter().chain([&weights.values]);
            size_of::<WeightMoments>() + sums.map(ExactSum::held).sum::<usize>()
        };
        let weights = self.weights.as_deref().map_or(0, weights);
        self.sum.held() + self.squares.held() + weights
    }

    /// Checks that there are numbers with these sums.
    pub fn check(&self) -> Result<(), String> {
        check_counts([self.count])?;
        let possible = if self.count == 0 {
            *self == Self::default()
        } else {
            let terms = self.terms();
            let powers = terms.powers.iter().all(Exact::is_positive);
            let spread = terms.spread();
            powers && !terms.deviations().is_negative() && spread.is_positive() == (self.count > 1)
        };
        if possible {
            Ok(())
        } else {
            Err("no numbers have its sums".into())
        }
    }

    /// `Σ (x − x̄)²`, of at least one value; 0 if and only if all values are equal. With weights it is what has the
    /// standard error of the weighted mean `m`:
    ///
    /// ```text
    /// s² = Σ w²(x − m)² / (W² − 2 W Σw³/Σw² + Σw²),   W = Σ w
    /// ```
    ///
    /// which is unbiased if weights do not depend on values, and `Σ (x − x̄)²/n(n − 1)` if they are equal.
    pub fn squared_deviations(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let terms = self.terms();
        let [total, squares, _] = &terms.powers;
        let scale = &(squares * &self.count.into()) * &(self.count - 1).into();
        let scaled = &terms.deviations() * &scale;
        scaled.over(&(&(total * total) * &terms.spread()))
    }

    fn terms(&self) -> Terms {
        let (powers, values) = match &self.weights {
            Some(weights) => (
                weights.powers.each_ref().map(ExactSum::exact),
                weights.values.exact(),
            ),
            None => ([(); 3].map(|()| self.count.into()), self.sum.exact()),
        };
        Terms {
            powers,
            values,
            sum: self.sum.exact(),
            squares: self.squares.exact(),
        }
    }
}

impl Terms {
    /// `W² Σ w² (x − m)² = W² Σ w²x² − 2 W (Σ wx) Σ w²x + (Σ wx)² Σ w²`
    fn deviations(&self) -> Exact {
        let [total, squares, _] = &self.powers;
        let product = &(total * &self.sum) * &self.values;
        &(total * total) * &self.squares
            + -(&product * &2.into())
            + &(&self.sum * &self.sum) * squares
    }

    /// `W² Σw² − 2 W Σw³ + (Σw²)²`: 0 of one value.
    fn spread(&self) -> Exact {
        let [total, squares, cubes] = &self.powers;
        &(total * total) * squares + -(&(total * cubes) * &2.into()) + squares * squares
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
