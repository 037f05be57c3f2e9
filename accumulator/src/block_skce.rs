use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{
    Accumulator, Rows, Saved, check_counts, check_equal, check_samples, check_total,
    format::{Format, exact},
    moments::Moments,
};
use burn_calibration::{
    error::{
        Error, Result,
        checks::{check_classes, check_parameter},
    },
    estimator::block_values,
    hypothesis::TestOutcome,
    kernel::{Bandwidth, Distance, Kernel, Profile},
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
/// Of pieces that are whole blocks it is, merged in whatever order,
/// [`Skce::block`](burn_calibration::estimator::Skce::block) and
/// [`AsymptoticBlockSkceTest`](burn_calibration::hypothesis::AsymptoticBlockSkceTest) of all predictions together.
/// Other pieces leave out at most `B − 1` samples each; the estimate is unbiased all the same. The order
/// of samples decides which of them share a block: the value depends on it, but if samples are
/// exchangeable not its distribution.
///
/// The bandwidth must be fixed, at the same number in all pieces: the median is not known from pieces.
/// [`Kernel::with_bandwidth_of`] some thousand of the predictions is close to it.
///
/// Memory: 300 to 500 bytes, and `B − 1` rows of `8(m + 1)` that wait. Cost: `(B − 1)/2` pairs of `m`
/// operations and an exponential a sample, on all threads.
#[derive(Debug, Clone)]
pub struct BlockSkceAccumulator {
    kernel: Kernel,
    size: usize,
    classes: usize,
    blocks: Moments,
    left_out: u64,
    waiting: Waiting,
}

/// The samples of a block that is not complete.
#[derive(Debug, Clone, Default)]
struct Waiting {
    /// `[samples, m]`
    points: Vec<f64>,
    labels: Vec<u32>,
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
            classes,
            blocks: Moments::default(),
            left_out: 0,
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

    /// The number of samples in no block.
    pub fn left_out(&self) -> u64 {
        self.left_out + self.waiting.labels.len() as u64
    }

    /// The estimate and its standard error over blocks.
    ///
    /// # Errors
    ///
    /// No block.
    pub fn estimate(&self) -> Result<MeanEstimate> {
        check_samples(self)?;
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
    /// Fewer than two blocks, or [`Error::ZeroVariance`].
    pub fn outcome(&self) -> Result<TestOutcome> {
        self.blocks.block_test(self.size, self.samples() as usize)
    }

    /// Adds the blocks that are complete.
    fn take_blocks(&mut self) {
        let Waiting { points, labels } = &mut self.waiting;
        let values = block_values(&self.kernel, self.size, self.classes, points, labels);
        let values = values.expect("the kernel and the size were checked by new");
        values.into_iter().for_each(|value| self.blocks.add(value));
        let taken = labels.len() / self.size * self.size;
        labels.drain(..taken);
        points.drain(..taken * self.classes);
        labels.shrink_to(self.size);
        points.shrink_to(self.size * self.classes);
    }

    /// Drops the samples that wait.
    fn closed(&self) -> Self {
        Self {
            left_out: self.left_out(),
            waiting: Waiting::default(),
            ..self.clone()
        }
    }
}

impl Accumulator for BlockSkceAccumulator {
    fn update_rows(&mut self, rows: &Rows) -> Result<()> {
        rows.check_classes(self.classes)?;
        let labels = rows.labels().iter().map(|&label| label as u32);
        self.waiting.labels.extend(labels);
        self.waiting.points.extend(rows.probabilities());
        self.take_blocks();
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        check_equal("the kernel", self.kernel, other.kernel)?;
        check_equal("the block size", self.size, other.size)?;
        check_equal("the number of classes", self.classes, other.classes)?;
        check_total(self.samples(), other.samples())?;
        if other.samples() == 0 {
            return Ok(());
        }
        if self.samples() == 0 {
            *self = other.clone();
            return Ok(());
        }
        *self = self.closed();
        self.left_out += other.left_out();
        self.blocks.merge(&other.blocks);
        Ok(())
    }

    fn samples(&self) -> u64 {
        self.blocks.count * self.size as u64 + self.left_out()
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn bytes(&self) -> usize {
        let Waiting { points, labels } = &self.waiting;
        let waiting = points.capacity() * size_of::<f64>() + labels.capacity() * size_of::<u32>();
        size_of::<Self>() + self.blocks.held() + waiting
    }
}

impl PartialEq for BlockSkceAccumulator {
    fn eq(&self, other: &Self) -> bool {
        let sizes = |a: &Self| (a.size, a.classes, a.left_out());
        self.kernel == other.kernel && sizes(self) == sizes(other) && self.blocks == other.blocks
    }
}

/// The saved state.
#[derive(Serialize, Deserialize)]
struct State {
    format: Format<BlockSkceAccumulator>,
    profile: Profile,
    distance: Distance,
    #[serde(with = "exact")]
    bandwidth: f64,
    size: usize,
    classes: usize,
    blocks: Moments,
    left_out: u64,
}

impl Saved for BlockSkceAccumulator {
    const KIND: &'static str = "accumulator of the block SKCE";
}

impl Serialize for BlockSkceAccumulator {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Bandwidth::Fixed(bandwidth) = self.kernel.bandwidth else {
            unreachable!("checked by new");
        };
        let state = State {
            format: Format::default(),
            profile: self.kernel.profile,
            distance: self.kernel.distance,
            bandwidth,
            size: self.size,
            classes: self.classes,
            blocks: self.blocks.clone(),
            left_out: self.left_out(),
        };
        state.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for BlockSkceAccumulator {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let state = State::deserialize(deserializer)?;
        let kernel = Kernel {
            profile: state.profile,
            distance: state.distance,
            bandwidth: Bandwidth::Fixed(state.bandwidth),
        };
        let empty = Self::new(kernel, state.size, state.classes).map_err(D::Error::custom)?;
        let of_blocks = state.blocks.count.checked_mul(state.size as u64);
        let counts = [of_blocks.unwrap_or(u64::MAX), state.left_out];
        check_counts(counts).map_err(D::Error::custom)?;
        state.blocks.check().map_err(D::Error::custom)?;
        Ok(Self {
            blocks: state.blocks,
            left_out: state.left_out,
            ..empty
        })
    }
}
