use std::ops::{Add, Mul};

use num_bigint::{BigInt, Sign};

use super::{DIGITS, UNIT};

/// `digits · 2^exponent`, a number of which sums, products and quotients are computed without rounding.
#[derive(Debug, Clone)]
pub(crate) struct Exact {
    digits: BigInt,
    exponent: i64,
}

impl Exact {
    /// Takes a whole number.
    pub fn of(count: impl Into<BigInt>) -> Self {
        Self::new(count.into(), 0)
    }

    pub(super) fn new(digits: BigInt, exponent: i64) -> Self {
        Self { digits, exponent }
    }

    pub(super) fn digits(&self) -> &BigInt {
        &self.digits
    }

    pub fn sign(&self) -> Sign {
        self.digits.sign()
    }

    /// The nearest f64, ties to even; infinite if there is none.
    pub fn value(&self) -> f64 {
        self.over(&Self::of(1))
    }

    /// The nearest f64 to the quotient, ties to even; infinite if there is none. The divisor is not 0.
    pub fn over(&self, divisor: &Self) -> f64 {
        if self.sign() == Sign::NoSign {
            return 0.0;
        }
        // the quotient is between 2^(order − 1) and 2^(order + 1)
        let order = self.order() - divisor.order();
        // units of which it has 2⁶⁴ to 2⁶⁶, or that are a quarter of the least number
        let unit = (order - 65).max(-UNIT - 2);
        let shift = self.exponent - divisor.exponent - unit;
        let [mut a, mut b] = [self, divisor].map(|number| number.digits.magnitude().clone());
        if shift > 0 {
            a <<= shift;
        } else {
            b <<= -shift;
        }
        let quotient = &a / &b;
        let is_exact = &quotient * &b == a;
        let units = u128::try_from(quotient).expect("at most 66 bits");
        let units = units | u128::from(!is_exact); // what is below a unit decides ties
        let bits = i64::from(u128::BITS - units.leading_zeros());
        let dropped = (bits - i64::from(DIGITS)).max(-UNIT - unit);
        let (significand, rest) = ((units >> dropped) as u64, units & ((1 << dropped) - 1));
        let half = 1 << (dropped - 1);
        let up = rest > half || rest == half && significand & 1 == 1;
        let magnitude = match unit + dropped + UNIT {
            shift if shift > 2045 => f64::INFINITY.to_bits(),
            // the leading 1 and a carry count up the exponent
            shift => ((shift as u64) << (DIGITS - 1)) + significand + u64::from(up),
        };
        let value = f64::from_bits(magnitude);
        if self.sign() == divisor.sign() {
            value
        } else {
            -value
        }
    }

    /// Its digits where the exponent is a smaller one.
    fn digits_at(self, exponent: i64) -> BigInt {
        self.digits << (self.exponent - exponent)
    }

    /// `log₂` of the magnitude, rounded down, plus 1.
    fn order(&self) -> i64 {
        self.digits.bits() as i64 + self.exponent
    }
}

impl Mul for &Exact {
    type Output = Exact;

    fn mul(self, other: Self) -> Exact {
        Exact::new(&self.digits * &other.digits, self.exponent + other.exponent)
    }
}

impl Add for Exact {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let exponent = self.exponent.min(other.exponent);
        let [a, b] = [self, other].map(|number| number.digits_at(exponent));
        Self::new(a + b, exponent)
    }
}
