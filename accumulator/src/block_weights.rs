use burn_calibration::estimator::pair_weight;

/// The weights of samples in blocks of consecutive ones, and of the pairs within each block; or no weights.
///
/// A block has a unit of its own. So estimates within blocks are of numbers of moderate size, whatever the weights
/// are, and the weights of blocks are products that are summed without rounding.
#[derive(Debug, Clone, Default)]
pub struct BlockWeights {
    /// The weights over the unit of their block: 1 where those of a block are equal.
    relative: Vec<f64>,
    /// The weight `Σ_{i<j} w_i w_j` of the pairs of each whole block, as a product: in units of the block, and its unit
    /// twice.
    pairs: Vec<[f64; 3]>,
}

impl BlockWeights {
    /// Takes positive weights, in blocks of `size`; without any there are none.
    pub fn new(weights: &[f64], size: usize) -> Self {
        let mut blocks = Self::default();
        for block in weights.chunks(size) {
            let unit = unit(block);
            let relative: Vec<f64> = block.iter().map(|w| (w / unit).min(LARGEST)).collect();
            if block.len() == size {
                blocks.pairs.push([pair_weight(&relative), unit, unit]);
            }
            blocks.relative.extend(relative);
        }
        blocks
    }

    /// The weights of all samples, each in units of its block; None without weights.
    pub fn relative(&self) -> Option<&[f64]> {
        (!self.relative.is_empty()).then_some(&self.relative)
    }

    /// The weight of the pairs of each whole block, as a product; none without weights.
    pub fn pairs(&self) -> &[[f64; 3]] {
        &self.pairs
    }
}

/// More is beyond what a second weight of a block can level out.
const LARGEST: f64 = 1e300;

/// The weight of equal ones; for others a power of two near the geometric mean of the largest two, whose
/// product is of moderate size then.
fn unit(block: &[f64]) -> f64 {
    let mut sorted = block.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    if sorted.first() == sorted.last() {
        return sorted[0];
    }
    let exponent = 0.5 * (sorted[0].log2() + sorted[1].log2());
    exponent.floor().min(1023.0).exp2() // log₂ of the largest number rounds to 1024
}
