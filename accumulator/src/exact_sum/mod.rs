//! Sums of f64 without rounding, whose value depends on what was added and not on the order.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

/// `Σ x` of finite numbers, exactly: a whole number of units of `2⁻¹⁰⁷⁴`, the least positive f64.
///
/// It is `Σ_k limb_k 2^{32k}` units with signed limbs of 64 bits, whose upper halves take the carries
/// of half a thousand million additions before they are propagated (a superaccumulator: Neal, *Fast
/// exact summation using small and large superaccumulators*, 2015). Only limbs from the lowest to the
/// highest that were touched are held: of probabilities four to six, 100 bytes in all; at most 68.
///
/// Two sums are equal if and only if the numbers are, and are saved in the same bytes: sign and
/// magnitude without leading and trailing zeros.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "Magnitude", into = "Magnitude")]
pub(crate) struct ExactSum {
    /// The position `k` of the first limb that is held.
    first: usize,
    limbs: Vec<i64>,
    /// Since carries were propagated; no limb exceeds `2³² (additions + 1)`.
    additions: u32,
}

const BITS: usize = 32;
const MASK: i64 = (1 << BITS) - 1;
/// The exponent of the unit.
const UNIT: usize = 1074;
/// Two sums with so many additions can be added to each other without overflow.
const ADDITIONS: u32 = 1 << 29;
/// Limbs of the sum of `2⁶⁴` of the greatest numbers.
const LIMBS: usize = (UNIT + 1024 + 64).div_ceil(BITS);

impl ExactSum {
    /// Adds a finite number.
    pub fn add(&mut self, x: f64) {
        debug_assert!(x.is_finite(), "{x} in an exact sum");
        let bits = x.to_bits();
        let fraction = bits & ((1 << 52) - 1);
        // |x| = significand · 2^shift units
        let (significand, shift) = match (bits >> 52 & 0x7ff) as usize {
            0 => (fraction, 0),
            exponent => (fraction | 1 << 52, exponent - 1),
        };
        if significand == 0 {
            return;
        }
        let position = shift / BITS;
        let shifted = u128::from(significand) << (shift % BITS); // below 2^85: three limbs
        let limbs = self.limbs_mut(position, 3);
        for (k, limb) in limbs.iter_mut().enumerate() {
            let part = i64::from((shifted >> (BITS * k)) as u32);
            *limb += if x < 0.0 { -part } else { part };
        }
        self.count(1);
    }

    /// Adds the product of two numbers, exactly where it is 0 or at least `2⁻⁹⁶⁹` in magnitude and
    /// finite; of a smaller one what is below the unit is rounded.
    pub fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        self.add(product);
        self.add(a.mul_add(b, -product));
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

    /// The nearest f64, ties to even; infinite if there is none.
    pub fn value(&self) -> f64 {
        Magnitude::from(self).value()
    }

    /// Numbers whose sum this is, each the nearest f64 to what the ones before it leave.
    pub fn parts(&self) -> Vec<f64> {
        let mut rest = self.clone();
        let mut parts = Vec::new();
        loop {
            match rest.value() {
                0.0 => return parts,
                part if part.is_infinite() => return vec![part],
                part => {
                    parts.push(part);
                    rest.add(-part);
                }
            }
        }
    }

    /// Bytes apart from its own size.
    pub fn held(&self) -> usize {
        self.limbs.capacity() * size_of::<i64>()
    }

    /// The limbs from a position on, so many, made if they are not there.
    fn limbs_mut(&mut self, position: usize, len: usize) -> &mut [i64] {
        if self.limbs.is_empty() {
            self.first = position;
        }
        let before = self.first.saturating_sub(position);
        self.limbs.splice(0..0, std::iter::repeat_n(0, before));
        self.first -= before;
        let start = position - self.first;
        let held = self.limbs.len().max(start + len);
        self.limbs.resize(held, 0);
        &mut self.limbs[start..start + len]
    }

    fn count(&mut self, additions: u32) {
        self.additions += additions;
        if self.additions >= ADDITIONS {
            let carry = propagate(&mut self.limbs);
            // the last limb keeps the sign
            match self.limbs.last_mut() {
                Some(last) if carry == -1 => *last -= 1 << BITS,
                _ if carry != 0 => self.limbs.push(carry),
                _ => {}
            }
            self.additions = 1;
        }
    }
}

impl PartialEq for ExactSum {
    fn eq(&self, other: &Self) -> bool {
        Magnitude::from(self) == Magnitude::from(other)
    }
}

/// Brings every limb into `0..2³²`; what is carried out of the last.
fn propagate(limbs: &mut [i64]) -> i64 {
    limbs.iter_mut().fold(0, |carry, limb| {
        let value = *limb + carry;
        *limb = value & MASK;
        value >> BITS
    })
}

/// The one form of a number: `±Σ_k limbs[k] 2^{32(first + k)}` units, the first and the last limb not
/// 0; of 0 no limbs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Magnitude {
    negative: bool,
    first: usize,
    limbs: Vec<u32>,
}

impl From<&ExactSum> for Magnitude {
    fn from(sum: &ExactSum) -> Self {
        let mut limbs = sum.limbs.clone();
        let mut carry = propagate(&mut limbs);
        let negative = carry < 0;
        if negative {
            limbs = sum.limbs.iter().map(|limb| -limb).collect();
            carry = propagate(&mut limbs);
        }
        limbs.push(carry); // below 2³²: at least 0, and the limbs have 64 bits
        let zeros = limbs.iter().take_while(|&&limb| limb == 0).count();
        let held = limbs.iter().rposition(|&limb| limb != 0);
        match held {
            Some(last) => Self {
                negative,
                first: sum.first + zeros,
                limbs: limbs[zeros..=last].iter().map(|&l| l as u32).collect(),
            },
            None => Self {
                negative: false,
                first: 0,
                limbs: Vec::new(),
            },
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
        let fits = first < LIMBS && limbs.len() <= LIMBS - first;
        let no_zeros = limbs.first() != Some(&0) && limbs.last() != Some(&0);
        if !fits || !no_zeros {
            return Err(format!(
                "a sum of {} limbs from {first} on, expected at most {LIMBS} in all, the first and \
                 the last not 0",
                limbs.len()
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

impl Magnitude {
    fn value(&self) -> f64 {
        let Some(last) = self.limbs.last() else {
            return 0.0;
        };
        let len = self.limbs.len();
        // the position of the highest bit, in units
        let highest = BITS * (self.first + len) - 1 - last.leading_zeros() as usize;
        // the highest 128 bits, of which the first is 1, and whether there are any below
        let (below, top) = self.limbs.split_at(len.saturating_sub(4));
        let bits = top.iter().rev().enumerate();
        let bits = bits.fold(0, |sum: u128, (k, &limb)| {
            sum | u128::from(limb) << (96 - BITS * k)
        });
        let bits = bits << last.leading_zeros();
        let more = below.iter().any(|&limb| limb != 0);
        let magnitude = match highest.checked_sub(52) {
            None | Some(0) => (bits >> (127 - highest)) as u64, // exact
            Some(shift) if shift > 2045 => f64::INFINITY.to_bits(),
            Some(shift) => {
                let (significand, rest) = ((bits >> 75) as u64, bits << 53);
                let half = 1 << 127;
                let up = rest > half || rest == half && (more || significand & 1 == 1);
                // the leading 1 and a carry count up the exponent
                ((shift as u64) << 52) + significand + u64::from(up)
            }
        };
        let value = f64::from_bits(magnitude);
        if self.negative { -value } else { value }
    }
}
