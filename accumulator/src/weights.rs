use burn_calibration::{
    error::{
        Result,
        checks::{check_length, check_values},
    },
    estimator::pair_weight,
};

/// The unit in which the weights of two sets of samples are summed: their weight if it is the same everywhere, else
/// the largest power of two up to the largest weight.
///
/// Weights over their unit are below 2, so that no sum overflows. They are 1 if all are equal, which gives the sums
/// without weights. Otherwise the division by the unit is exact.
pub(super) fn common_unit(own: f64, other: f64) -> f64 {
    const EXPONENT: u64 = 0x7ff << 52;
    if own == other {
        return own;
    }
    let power = f64::from_bits(own.max(other).to_bits() & EXPONENT);
    power.max(f64::MIN_POSITIVE)
}

/// The rows with a positive weight, of so many.
///
/// # Errors
///
/// Another number of weights, or a weight that is negative or not finite.
pub(super) fn positive(weights: &[f64], rows: usize) -> Result<Vec<usize>> {
    check_length(rows, weights.len(), "sample weight")?;
    let is_valid = |weight: f64| weight.is_finite() && weight >= 0.0;
    check_each(weights, is_valid, "a finite number of at least 0")?;
    Ok((0..rows).filter(|&row| weights[row] > 0.0).collect())
}

/// Checks that the product of any two positive weights is an f64 in full precision.
pub(super) fn check_products(weights: &[f64]) -> Result<()> {
    let is_valid = |weight: f64| weight == 0.0 || (1e-100..=1e100).contains(&weight);
    check_each(weights, is_valid, "0, or a number from 1e-100 to 1e100")
}

fn check_each(
    weights: &[f64],
    is_valid: impl Fn(f64) -> bool,
    expected: &'static str,
) -> Result<()> {
    check_values(
        weights,
        (1, "column"),
        "the sample weight",
        (is_valid, expected),
    )
}

/// The weights of samples in blocks of consecutive ones, and of the pairs within each block; or no weights.
#[derive(Debug, Clone, Default)]
pub struct BlockWeights {
    relative: Vec<f64>,
    pairs: Vec<f64>,
}

impl BlockWeights {
    /// Takes positive weights, in blocks of `size`; without any there are none.
    ///
    /// # Errors
    ///
    /// A weight that is not between `10⁻¹⁰⁰` and `10¹⁰⁰`.
    pub fn new(weights: &[f64], size: usize) -> Result<Self> {
        check_products(weights)?;
        let mut blocks = Self::default();
        for block in weights.chunks(size) {
            let unit = block.iter().copied().reduce(common_unit).unwrap_or(1.0);
            let relative: Vec<f64> = block.iter().map(|weight| weight / unit).collect();
            if block.len() == size {
                blocks.pairs.push(pair_weight(&relative) * unit * unit);
            }
            blocks.relative.extend(relative);
        }
        Ok(blocks)
    }

    /// The weights of all samples, each in a unit of its block: 1 where those of a block are equal. None without
    /// weights.
    pub fn relative(&self) -> Option<&[f64]> {
        (!self.relative.is_empty()).then_some(&self.relative)
    }

    /// The weight `Σ_{i<j} w_i w_j` of the pairs of each whole block; none without weights.
    pub fn pairs(&self) -> &[f64] {
        &self.pairs
    }
}
