use std::ops::{Add, Div, Mul, Neg, Sub};

use serde::{Deserialize, Serialize};

/// A number `hi + lo` of two f64, of which `hi` is the nearest f64: 106 bits and more.
///
/// A result differs from that of exact arithmetic on its operands by a relative error of at most, with
/// `u = 2⁻⁵³`:
///
/// | operation | error |
/// | --- | --- |
/// | `-x`, [`product`](Self::product) of two f64 | 0 |
/// | `x + y`, `x - y` | `3u² + 13u³`, 3.8e-32 |
/// | `x * y` | `5u²`, 6.2e-32 |
/// | `x / y` | `15u² + 56u³`, 1.9e-31 |
///
/// So a sum `s` of terms `x` differs from the exact one by at most `3.8e-32 d Σ|x|`, where `d` is the number of
/// additions that a term goes through. A sum is exact, and then independent of the order, if all terms are multiples
/// of some `2^k` and `Σ|x| < 2^(k+100)`. For example, `10⁸` numbers between `10⁻⁶` and 1 have an exact sum.
///
/// The bounds hold as long as no product is below `10⁻²⁹⁰`, and no result above `10³⁰⁰`. A result that is not finite is
/// that of f64 arithmetic on the leading parts: infinities overflow and cancel to NaN as there, and NaN stays NaN.
///
/// Algorithms: Dekker, *A floating-point technique for extending the available precision*, 1971; the error of a sum by
/// Knuth, *The Art of Computer Programming 2*, section 4.2.2; Hida, Li and Bailey, *Algorithms for quad-double precision
/// floating point arithmetic*, 2001. Bounds: Joldes, Muller and Popescu, *Tight and rigorous error bounds for basic
/// building blocks of double-word arithmetic*, 2017, algorithms 6, 12 and 17.
///
/// It is serialised as the shortest decimals of both parts, `"0.1 -2.5e-18"`, which are read back to the last bit in
/// every format. A part `lo` of 0 is left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct DoubleDouble {
    pub(crate) hi: f64,
    pub(crate) lo: f64,
}

impl DoubleDouble {
    /// The exact product of two f64.
    pub fn product(a: f64, b: f64) -> Self {
        let product = a * b;
        Self::new(product, a.mul_add(b, -product))
    }

    /// The nearest f64.
    pub fn value(self) -> f64 {
        self.hi
    }

    /// `a + b`, of which `a` is the larger in magnitude (Dekker's sum).
    fn new(a: f64, b: f64) -> Self {
        let hi = a + b;
        if hi.is_finite() {
            Self {
                hi,
                lo: b - (hi - a),
            }
        } else {
            Self::from(a)
        }
    }
}

/// The rounded sum and its rounding error (Knuth's sum).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

impl From<f64> for DoubleDouble {
    fn from(hi: f64) -> Self {
        Self { hi, lo: 0.0 }
    }
}

impl Add for DoubleDouble {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (hi, error) = two_sum(self.hi, other.hi);
        let (lo, rest) = two_sum(self.lo, other.lo);
        let sum = Self::new(hi, error + lo);
        Self::new(sum.hi, rest + sum.lo)
    }
}

impl Neg for DoubleDouble {
    type Output = Self;

    fn neg(self) -> Self {
        Self {
            hi: -self.hi,
            lo: -self.lo,
        }
    }
}

impl Sub for DoubleDouble {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let Self { hi, lo } = Self::product(self.hi, other.hi);
        let mixed = self.hi.mul_add(other.lo, self.lo * other.lo);
        Self::new(hi, lo + self.lo.mul_add(other.hi, mixed))
    }
}

impl Div for DoubleDouble {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let quotient = self.hi / other.hi;
        // the product with an f64 is as good as exact, and its leading part near that of the dividend
        let product = Self::from(quotient) * other;
        let rest = (self.hi - product.hi) + (self.lo - product.lo);
        Self::new(quotient, rest / other.hi)
    }
}

impl From<DoubleDouble> for String {
    fn from(DoubleDouble { hi, lo }: DoubleDouble) -> Self {
        if lo == 0.0 {
            format!("{hi:?}")
        } else {
            format!("{hi:?} {lo:?}")
        }
    }
}

impl TryFrom<String> for DoubleDouble {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (hi, lo) = text.split_once(' ').unwrap_or((&text, "0"));
        match (hi.parse::<f64>(), lo.parse::<f64>()) {
            (Ok(hi), Ok(lo)) if hi.is_finite() && hi + lo == hi => Ok(Self { hi, lo }),
            _ => Err(format!(
                "a sum is {text:?}, expected a finite number and what it rounded off"
            )),
        }
    }
}
