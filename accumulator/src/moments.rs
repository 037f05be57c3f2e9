use serde::{Deserialize, Serialize};

use super::{double_double::DoubleDouble, weights::common_unit};
use burn_calibration::{
    error::{Error, Result},
    hypothesis::{AsymptoticBlockSkceTest, TestOutcome},
    score::MeanEstimate,
};

/// Sums over values `x` with weights `w` that merge: the weighted mean `m = Σ w x/Σ w` and its standard error.
///
/// Deviations are taken from the mean of the values so far, and moved with it (Chan, Golub and LeVeque, *Updating
/// formulae and a pairwise algorithm for computing sample variances*, 1979): their error is that of the mean, and does
/// not grow where the mean is far from 0. Equal values without weights deviate by exactly 0.
///
/// Weights are in units of [`common_unit`], 1 where there are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Moments {
    pub count: u64,
    unit: DoubleDouble,
    /// `W = Σ w`
    weight: DoubleDouble,
    /// `Σ w²`
    squares: DoubleDouble,
    /// `Σ_{i≠j} w_i w_j² = W Σw² − Σw³`
    mixed: DoubleDouble,
    /// `W² Σw² − 2 W Σw³ + (Σw²)²`, as a sum of positive terms
    spread: DoubleDouble,
    /// `Σ w x`
    sum: DoubleDouble,
    /// `Σ w² (x − m)`
    residuals: DoubleDouble,
    /// `Σ w² (x − m)²`
    deviations: DoubleDouble,
}

impl Moments {
    /// Adds a value of magnitude at most [`GREATEST`] with a positive weight.
    pub fn add(&mut self, x: f64, weight: f64) {
        debug_assert!(x.abs() <= GREATEST && weight > 0.0);
        let one = DoubleDouble::from(1.0);
        self.merge(&Self {
            count: 1,
            unit: weight.into(),
            weight: one,
            squares: one,
            sum: x.into(),
            ..Self::default()
        });
    }

    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = *other;
            return;
        }
        let unit = common_unit(self.unit.value(), other.unit.value());
        let (a, b) = (self.in_unit(unit), other.in_unit(unit));
        let weight = a.weight + b.weight;
        // in their own units, in which no weights are too small
        let step = (other.mean() - self.mean()) / weight;
        let (a, b) = (a.centred(step * b.weight), b.centred(-step * a.weight));
        let cross = a.weight * b.mixed + b.weight * a.mixed + a.squares * b.squares;
        let spread =
            cross + cross + a.weight * a.weight * b.squares + b.weight * b.weight * a.squares;
        *self = Self {
            count: a.count + b.count,
            unit: unit.into(),
            weight,
            squares: a.squares + b.squares,
            mixed: a.mixed + b.mixed + a.weight * b.squares + b.weight * a.squares,
            spread: a.spread + b.spread + spread,
            sum: a.sum + b.sum,
            residuals: a.residuals + b.residuals,
            deviations: a.deviations + b.deviations,
        };
    }

    /// `Σ w`: the number of values where there are no weights.
    pub fn weight(&self) -> f64 {
        (self.weight * self.unit).value()
    }

    /// The weighted mean with its standard error, of at least one value.
    pub fn estimate(&self) -> MeanEstimate {
        let (mean, deviations) = (self.mean().value(), self.squared_deviations());
        let mut estimate = MeanEstimate::from_moments(self.count as usize, mean, deviations);
        estimate.effective = (self.weight * self.weight / self.squares).value();
        estimate
    }

    /// The asymptotic test of these values as block estimates of the SKCE, of blocks of `size` among so many
    /// samples, which have no weights.
    pub fn block_test(
        &self,
        size: usize,
        samples: usize,
        weighted: Option<bool>,
    ) -> Result<TestOutcome> {
        if weighted == Some(true) {
            return Err(Error::Unsupported {
                what: "the asymptotic test takes no sample weights".into(),
                expected: "the estimate with its standard error, or pieces without weights",
            });
        }
        let blocks = self.count as usize;
        let deviation = (self.squared_deviations() / (blocks as f64 - 1.0)).sqrt();
        let test = AsymptoticBlockSkceTest::new((), size);
        test.from_moments(self.mean().value(), deviation, blocks, samples)
    }

    /// Checks that there are numbers with these sums.
    pub fn check(&self) -> Result<(), String> {
        let is_positive = |sum: DoubleDouble| sum.value() > 0.0;
        let spreads = [self.mixed, self.spread, self.deviations].map(DoubleDouble::value);
        let possible = match self.count {
            0 => *self == Self::default(),
            1 => spreads == [0.0; 3],
            _ => spreads.iter().all(|&sum| sum >= 0.0),
        };
        let weights = [self.unit, self.weight, self.squares];
        if possible && (self.count == 0 || weights.into_iter().all(is_positive)) {
            Ok(())
        } else {
            Err("no numbers have its sums".into())
        }
    }

    /// `Σ (x − x̄)²`, 0 if all values are equal. With weights it is what has the standard error `s` of the weighted
    /// mean `m`, `s² n(n − 1)`:
    ///
    /// ```text
    /// s² = Σ w²(x − m)² / (W² − 2 W Σw³/Σw² + Σw²),   W = Σ w
    /// ```
    ///
    /// It is unbiased if weights do not depend on values, and that without weights if they are equal. It is infinite of
    /// one value, or if a weight is more than `10⁹⁹` times all others together.
    fn squared_deviations(&self) -> f64 {
        const LEAST: f64 = 1e-199;
        if self.spread.value() < LEAST {
            return f64::INFINITY;
        }
        let count = DoubleDouble::from(self.count as f64);
        let pairs = count * (count - DoubleDouble::from(1.0));
        (self.deviations / self.spread * self.squares * pairs).value()
    }

    fn mean(&self) -> DoubleDouble {
        self.sum / self.weight
    }

    /// The same sums in another unit of the weights.
    fn in_unit(&self, unit: f64) -> Self {
        if self.unit.value() == unit {
            return *self;
        }
        let factor = DoubleDouble::from(self.unit.value() / unit);
        let square = factor * factor;
        Self {
            count: self.count,
            unit: unit.into(),
            weight: self.weight * factor,
            squares: self.squares * square,
            mixed: self.mixed * square * factor,
            spread: self.spread * square * square,
            sum: self.sum * factor,
            residuals: self.residuals * square,
            deviations: self.deviations * square,
        }
    }

    /// The same with deviations from `m + shift`.
    fn centred(&self, shift: DoubleDouble) -> Self {
        let moved = shift * self.squares;
        let change = shift * (moved - self.residuals - self.residuals);
        let deviations = self.deviations + change;
        Self {
            residuals: self.residuals - moved,
            // rounding may leave less than nothing
            deviations: if deviations.value() < 0.0 {
                DoubleDouble::default()
            } else {
                deviations
            },
            ..*self
        }
    }
}

/// Values up to here have sums of squares that are finite, and far from the end.
pub(super) const GREATEST: f64 = 1e100;
