use serde::{Deserialize, Serialize};

use super::{
    Accumulator, BlockWeights, Observations, Rows, Saved, check_equal, format::saved,
    moments::Moments,
};
use burn_calibration::{
    error::{
        Error, Result,
        checks::{check_classes, check_parameter},
    },
    estimator::block_values,
    hypothesis::TestOutcome,
    kernel::Kernel,
    score::MeanEstimate,
};

/// The block estimator of the SKCE and its test, from the number `N` of blocks, `Σ u_b` and `Σ u_b²` of
/// their U-statistics `u_b = 2/(B(B−1)) Σ_{i<j} h_ij`.
///
/// A block is `B` consecutive samples of what one accumulator takes, whatever the sizes of its updates:
/// the samples of a block that is not complete wait in the accumulator. They are dropped, and counted in
/// [`left_out`](Self::left_out), when it is saved or merged with another that has samples, on both sides:
/// so merging is associative and commutative, with an accumulator without samples for a unit. They count
/// as left out in estimates, in `==` and on file from the start.
///
/// For pieces that are whole blocks it is, merged in whatever order,
/// [`Skce::block`](burn_calibration::estimator::Skce::block) and
/// [`AsymptoticBlockSkceTest`](burn_calibration::hypothesis::AsymptoticBlockSkceTest) of all predictions
/// together. Other pieces leave out at most `B − 1` samples each; the estimate is unbiased all the same.
/// The order of samples decides which of them share a block: the value depends on it, but if samples are
/// exchangeable not its distribution.
///
/// With weights `u_b` and the estimate are means over pairs of samples `i ≠ j` of a block, weighted by `w_i w_j`. The
/// estimate and its standard error are then those of values `u_b` with the weights `Σ_{i<j} w_i w_j`, as in
/// [`ScoreAccumulator`](super::ScoreAccumulator); the test takes no weights.
///
/// The bandwidth must be fixed, at the same number in all pieces: the median is not known from pieces.
/// [`Kernel::with_bandwidth_of`] some thousand of the predictions is close to it.
///
/// Memory: 300 bytes, and `B − 1` rows of `8(m + 1)` that wait. Cost: `(B − 1)/2` pairs of `m`
/// operations and an exponential a sample, on all threads.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct BlockSkceAccumulator {
    #[serde(with = "in_words")]
    kernel: Kernel,
    size: usize,
    observations: Observations,
    blocks: Moments,
    #[serde(skip)]
    waiting: Waiting,
}

/// The samples of a block that is not complete.
#[derive(Debug, Clone, Default)]
struct Waiting {
    /// `[samples, m]`
    points: Vec<f64>,
    labels: Vec<u32>,
    /// Empty where there are none.
    weights: Vec<f64>,
}

impl BlockSkceAccumulator {
    /// Creates the accumulator with a kernel of fixed bandwidth and blocks of `size` samples, of
    /// predictions over so many classes.
    ///
    /// # Errors
    ///
    /// A bandwidth that is the median ([`Error::Unsupported`]) or not positive, a profile that is
    /// not valid, fewer than two samples a block or than two classes.
    pub fn new(kernel: Kernel, size: usize, classes: usize) -> Result<Self> {
        kernel.validate()?;
        if kernel.bandwidth.is_median() {
            return Err(Error::Unsupported {
                what: "the median bandwidth is not known from pieces of the predictions".into(),
                expected: "a fixed one, such as the median of some thousand predictions",
            });
        }
        let name = "the number of samples of a block";
        check_parameter(size >= 2, name, size as f64, "at least 2")?;
        check_classes(classes)?;
        Ok(Self {
            kernel,
            size,
            observations: Observations::none(classes),
            blocks: Moments::default(),
            waiting: Waiting::default(),
        })
    }

    /// The linear estimator: blocks of two samples.
    /// The errors are those of [`new`](Self::new).
    pub fn linear(kernel: Kernel, classes: usize) -> Result<Self> {
        Self::new(kernel, 2, classes)
    }

    /// The kernel.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// The number `B` of samples in a block.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The number `N` of blocks.
    pub fn blocks(&self) -> u64 {
        self.blocks.count
    }

    /// The number of samples in no block, those that wait among them.
    pub fn left_out(&self) -> u64 {
        self.samples() - self.blocks.count * self.size as u64
    }

    /// The estimate and its standard error over blocks.
    ///
    /// # Errors
    ///
    /// No block.
    pub fn mean(&self) -> Result<MeanEstimate> {
        self.observations.check_any()?;
        match self.blocks.count {
            0 => Err(Error::TooFewSamples {
                what: "a block of the SKCE",
                needed: self.size,
                got: self.samples() as usize,
            }),
            _ => Ok(self.blocks.estimate()),
        }
    }

    /// The asymptotic test, whose standard error has the divisor `N` and not `N − 1`:
    /// [`AsymptoticBlockSkceTest`](burn_calibration::hypothesis::AsymptoticBlockSkceTest).
    ///
    /// # Errors
    ///
    /// Fewer than two blocks, [`Error::ZeroVariance`], or samples with weights.
    pub fn outcome(&self) -> Result<TestOutcome> {
        let Observations {
            samples, weighted, ..
        } = self.observations;
        self.blocks
            .block_test(self.size, samples as usize, weighted)
    }

    /// Adds the blocks that are complete.
    fn take_blocks(&mut self) {
        let classes = self.observations.classes;
        let Waiting {
            points,
            labels,
            weights,
        } = &mut self.waiting;
        let blocks = BlockWeights::new(weights, self.size);
        let blocks = blocks.expect("rows checked their weights");
        let (kernel, relative) = (&self.kernel, blocks.relative());
        let values = block_values(kernel, self.size, classes, points, labels, relative);
        for (block, value) in values.into_iter().enumerate() {
            let weight = blocks.pairs().get(block).copied();
            self.blocks.add(value, weight.unwrap_or(1.0));
        }
        let taken = labels.len() / self.size * self.size;
        labels.drain(..taken);
        points.drain(..taken * classes);
        weights.drain(..taken.min(weights.len()));
        labels.shrink_to(self.size);
        points.shrink_to(self.size * classes);
        weights.shrink_to(self.size);
    }

    fn check(&self) -> Result<(), String> {
        let Observations {
            classes, samples, ..
        } = self.observations;
        Self::new(self.kernel, self.size, classes).map_err(|e| e.to_string())?;
        self.observations.check()?;
        let in_blocks = self.blocks.count.checked_mul(self.size as u64);
        if in_blocks.is_none_or(|in_blocks| in_blocks > samples) {
            return Err("its blocks have more than its samples".into());
        }
        self.blocks.check()
    }
}

impl Accumulator for BlockSkceAccumulator {
    fn update_rows(&mut self, rows: &Rows) -> Result<()> {
        self.observations = self.observations.with_rows(rows)?;
        let Waiting {
            points,
            labels,
            weights,
        } = &mut self.waiting;
        points.extend(&rows.probabilities);
        labels.extend(rows.labels.iter().map(|&label| label as u32));
        weights.extend(rows.weights.iter().flatten());
        self.take_blocks();
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        check_equal("the kernel", self.kernel, other.kernel)?;
        check_equal("the block size", self.size, other.size)?;
        let observations = self.observations.with(other.observations)?;
        if self.samples() == 0 {
            *self = other.clone();
        } else if other.samples() > 0 {
            self.observations = observations;
            self.waiting = Waiting::default();
            self.blocks.merge(&other.blocks);
        }
        Ok(())
    }

    fn observations(&self) -> Observations {
        self.observations
    }

    fn bytes(&self) -> usize {
        let Waiting {
            points,
            labels,
            weights,
        } = &self.waiting;
        let numbers = points.capacity() + weights.capacity();
        let waiting = numbers * size_of::<f64>() + labels.capacity() * size_of::<u32>();
        size_of::<Self>() + waiting
    }
}

impl PartialEq for BlockSkceAccumulator {
    fn eq(&self, other: &Self) -> bool {
        let saved = |a: &Self| (a.kernel, a.size, a.observations, a.blocks);
        saved(self) == saved(other)
    }
}

saved!(BlockSkceAccumulator, "accumulator of the block SKCE");

/// A kernel of fixed bandwidth, to the last digit in every format: `serde_json` reads numbers of many digits
/// with an error of one unit in the last place.
mod in_words {
    use burn_calibration::kernel::{Bandwidth, Distance, Kernel};
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[derive(Serialize, Deserialize)]
    struct Words {
        profile: String,
        distance: Distance,
        bandwidth: String,
    }

    pub fn serialize<S: Serializer>(kernel: &Kernel, serializer: S) -> Result<S::Ok, S::Error> {
        let Bandwidth::Fixed(bandwidth) = kernel.bandwidth else {
            unreachable!("checked by new");
        };
        let words = Words {
            profile: kernel.profile.to_string(),
            distance: kernel.distance,
            bandwidth: format!("{bandwidth:?}"),
        };
        words.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Kernel, D::Error> {
        let words = Words::deserialize(deserializer)?;
        Ok(Kernel {
            profile: words.profile.parse().map_err(D::Error::custom)?,
            distance: words.distance,
            bandwidth: Bandwidth::Fixed(words.bandwidth.parse().map_err(D::Error::custom)?),
        })
    }
}
