//! Sums of f64 without rounding, whose value depends on what was added and not on the order.

mod exact;
#[cfg(test)]
mod tests;

use num_bigint::{BigInt, Sign};
use serde::{Deserialize, Serialize};

pub(crate) use exact::Exact;

/// `Σ x` of finite numbers, or of products of them, exactly: a multiple of a power of two, in units of
/// `2⁻¹⁰⁷⁴`, the smallest positive f64.
///
/// It is `Σ_k limb_k 2^{32k}` units with signed limbs of 64 bits, whose upper halves take the carries
/// of half a thousand million additions before they are propagated (a superaccumulator: Neal, *Fast
/// exact summation using small and large superaccumulators*, 2015). Only limbs from the lowest to the
/// highest that were touched are held: of probabilities four to six, 100 bytes in all. Products of tiny numbers
/// have limbs at negative `k`.
///
/// Two sums are equal if and only if the numbers are, and are saved in the same bytes: sign and
/// magnitude without leading and trailing zeros.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "Magnitude", into = "Magnitude")]
pub(crate) struct ExactSum {
    /// The position `k` of the first limb that is held.
    first: i64,
    limbs: Vec<i64>,
    /// Since carries were propagated; no limb exceeds `2³² (additions + 1)`.
    additions: u32,
}

const BITS: i64 = 32;
const MASK: i64 = (1 << BITS) - 1;
/// The exponent of the unit.
const UNIT: i64 = 1074;
/// The bits of the significand of a number.
const DIGITS: u32 = 53;
/// Two sums with so many additions can be added to each other without overflow.
const ADDITIONS: u32 = 1 << 29;
/// The positions of the limbs of `2⁶⁴` products of six numbers are among these.
const POSITIONS: std::ops::Range<i64> = -256..256;

impl ExactSum {
    /// Adds a finite number.
    pub fn add(&mut self, x: f64) {
        self.add_product(&[x]);
    }

    /// Adds the product of finite numbers.
    pub fn add_product(&mut self, factors: &[f64]) {
        debug_assert!(factors.iter().all(|x| x.is_finite()), "{factors:?}");
        let negative = factors.iter().filter(|x| **x < 0.0).count() % 2 == 1;
        self.add_multiple((1, 0), negative, factors);
    }

    /// Adds `±digits · 2^exponent` times a product of magnitudes; the digits are less than `2⁵³`.
    fn add_multiple(&mut self, (digits, exponent): (u64, i64), negative: bool, factors: &[f64]) {
        let Some((&factor, others)) = factors.split_first() else {
            return self.add_digits((digits, exponent), negative);
        };
        let (significand, shift) = parts(factor);
        let product = u128::from(digits) * u128::from(significand);
        let (low, high) = (product & ((1 << DIGITS) - 1), product >> DIGITS);
        let exponent = exponent + shift;
        for (digits, exponent) in [(low, exponent), (high, exponent + i64::from(DIGITS))] {
            if digits > 0 {
                self.add_multiple((digits as u64, exponent), negative, others);
            }
        }
    }

    /// Adds `±digits · 2^exponent`, of digits that are less than `2⁵³`.
    fn add_digits(&mut self, (digits, exponent): (u64, i64), negative: bool) {
        let shift = exponent + UNIT;
        let shifted = u128::from(digits) << shift.rem_euclid(BITS); // below 2^85: three limbs
        let limbs = self.limbs_mut(shift.div_euclid(BITS), 3);
        for (k, limb) in limbs.iter_mut().enumerate() {
            let part = i64::from((shifted >> (BITS as usize * k)) as u32);
            *limb += if negative { -part } else { part };
        }
        self.count(1);
    }

    /// Adds another sum.
    pub fn merge(&mut self, other: &Self) {
        if other.limbs.is_empty() {
            return;
        }
        let limbs = self.limbs_mut(other.first, other.limbs.len());
        limbs
            .iter_mut()
            .zip(&other.limbs)
            .for_each(|(a, b)| *a += b);
        self.count(other.additions + 1);
    }

    /// The number.
    pub fn exact(&self) -> Exact {
        let limbs = self.limbs.iter().rev();
        let units = limbs.fold(BigInt::ZERO, |units, &limb| (units << BITS) + limb);
        Exact::new(units, self.first * BITS - UNIT)
    }

    /// The nearest f64, ties to even; infinite if there is none.
    pub fn value(&self) -> f64 {
        self.exact().value()
    }

    /// Bytes apart from its own size.
    pub fn held(&self) -> usize {
        self.limbs.capacity() * size_of::<i64>()
    }

    /// The limbs from a position on, so many, made if they are not there.
    fn limbs_mut(&mut self, position: i64, len: usize) -> &mut [i64] {
        if self.limbs.is_empty() {
            self.first = position;
        }
        let before = (self.first - position).max(0);
        self.limbs
            .splice(0..0, std::iter::repeat_n(0, before as usize));
        self.first -= before;
        let start = (position - self.first) as usize;
        let held = self.limbs.len().max(start + len);
        self.limbs.resize(held, 0);
        &mut self.limbs[start..start + len]
    }

    /// Counts additions, and propagates the carries after many: every limb into `0..2³²` except for the
    /// last, which keeps the sign.
    fn count(&mut self, additions: u32) {
        self.additions += additions;
        if self.additions >= ADDITIONS {
            let carry = self.limbs.iter_mut().fold(0, |carry, limb| {
                let value = *limb + carry;
                *limb = value & MASK;
                value >> BITS
            });
            match self.limbs.last_mut() {
                Some(last) if carry == -1 => *last -= 1 << BITS,
                _ if carry != 0 => self.limbs.push(carry),
                _ => {}
            }
            self.additions = 1;
        }
    }
}

/// A magnitude as `significand · 2^exponent`, the significand odd or 0.
fn parts(x: f64) -> (u64, i64) {
    let bits = x.to_bits();
    let fraction = bits & ((1 << (DIGITS - 1)) - 1);
    let (significand, exponent) = match (bits >> (DIGITS - 1) & 0x7ff) as i64 {
        0 if fraction == 0 => return (0, 0),
        0 => (fraction, -UNIT),
        exponent => (fraction | 1 << (DIGITS - 1), exponent - 1 - UNIT),
    };
    let zeros = significand.trailing_zeros();
    (significand >> zeros, exponent + i64::from(zeros))
}

impl PartialEq for ExactSum {
    fn eq(&self, other: &Self) -> bool {
        Magnitude::from(self) == Magnitude::from(other)
    }
}

/// The one form of a number: `±Σ_k limbs[k] 2^{32(first + k)}` units, the first and the last limb not
/// 0; of 0 no limbs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Magnitude {
    negative: bool,
    first: i64,
    limbs: Vec<u32>,
}

impl From<&ExactSum> for Magnitude {
    fn from(sum: &ExactSum) -> Self {
        let (sign, mut limbs) = sum.exact().digits().to_u32_digits();
        let zeros = limbs.iter().take_while(|&&limb| limb == 0).count();
        limbs.drain(..zeros);
        Self {
            negative: sign == Sign::Minus,
            first: if limbs.is_empty() {
                0
            } else {
                sum.first + zeros as i64
            },
            limbs,
        }
    }
}

impl From<ExactSum> for Magnitude {
    fn from(sum: ExactSum) -> Self {
        Self::from(&sum)
    }
}

impl TryFrom<Magnitude> for ExactSum {
    type Error = String;

    fn try_from(magnitude: Magnitude) -> Result<Self, String> {
        let Magnitude {
            negative,
            first,
            limbs,
        } = magnitude;
        let fits = POSITIONS.contains(&first) && limbs.len() as i64 <= POSITIONS.end - first;
        let no_zeros = limbs.first() != Some(&0) && limbs.last() != Some(&0);
        if !fits || !no_zeros {
            return Err(format!(
                "a sum of {} limbs from {first} on, expected them between {} and {}, the first and the last not 0",
                limbs.len(),
                POSITIONS.start,
                POSITIONS.end
            ));
        }
        let sign = if negative { -1 } else { 1 };
        Ok(Self {
            first,
            limbs: limbs.iter().map(|&limb| sign * i64::from(limb)).collect(),
            additions: 1,
        })
    }
}
