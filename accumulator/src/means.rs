use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Saved, check_equal,
    format::saved,
    moments::{GREATEST, Moments},
    observations::{common_weighted, total},
    weights::positive,
};
use burn_calibration::{
    error::{Error, Result, checks::check_samples},
    file::Digest,
    hypothesis::TestOutcome,
    score::MeanEstimate,
};

/// Means of numbers of samples or blocks, each under a name, with their standard errors: scores, coverages
/// and block estimates of predictions of any kind.
///
/// Merging the means of pieces, in any order, gives those of all numbers. What pieces have to share, such as the kind of prediction and the kernel, is in the
/// [`settings`](Self::setting).
///
/// ```
/// use burn_calibration_accumulator::Means;
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let empty = Means::new([("family", "normal")]);
/// let (mut one, mut other) = (empty.clone(), empty);
/// one.add("crps", &[0.5, 0.25])?;
/// other.add("crps", &[0.75])?;
/// one.merge(&other)?;
/// assert_eq!(one.mean("crps")?.estimate, 0.5);
/// # Ok(())
/// # }
/// ```
///
/// Memory: some 200 bytes a name. Cost: some 500 operations a number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Means {
    settings: BTreeMap<String, String>,
    /// None without numbers.
    weighted: Option<bool>,
    columns: BTreeMap<String, Moments>,
}

impl Means {
    /// Starts without numbers, with settings that pieces have to share.
    pub fn new<N: Into<String>, V: Into<String>>(
        settings: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let settings = settings.into_iter();
        Self {
            settings: settings
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            weighted: None,
            columns: BTreeMap::new(),
        }
    }

    /// The setting of a name.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str)
    }

    /// Adds numbers to those of a name.
    ///
    /// # Errors
    ///
    /// A number that is not finite, or above `10¹⁰⁰` in absolute value, or numbers with weights before; then none is
    /// added.
    pub fn add(&mut self, name: &str, numbers: &[f64]) -> Result<()> {
        self.add_each(name, numbers, None)
    }

    /// Adds numbers with weights; those of weight 0 do not count. The mean is `Σ w x/Σ w`, and its standard error that
    /// of [`ScoreAccumulator`](super::ScoreAccumulator).
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add); another number of weights, one that is negative or not finite, or numbers without
    /// weights before.
    pub fn add_weighted(&mut self, name: &str, numbers: &[f64], weights: &[f64]) -> Result<()> {
        self.add_each(name, numbers, Some(weights))
    }

    fn add_each(&mut self, name: &str, numbers: &[f64], weights: Option<&[f64]>) -> Result<()> {
        let kept = match weights {
            Some(weights) => positive(weights, numbers.len())?,
            None => (0..numbers.len()).collect(),
        };
        let is_too_large = |&at: &usize| !(-GREATEST..=GREATEST).contains(&numbers[at]);
        if let Some(at) = kept.iter().copied().find(is_too_large) {
            return Err(Error::Unsupported {
                what: format!("number {at} of {name} is {:e}", numbers[at]),
                expected: "one from -1e100 to 1e100",
            });
        }
        let weighted = (!kept.is_empty()).then_some(weights.is_some());
        self.weighted = common_weighted(self.weighted, weighted)?;
        let column = self.columns.entry(name.to_owned()).or_default();
        for at in kept {
            column.add(numbers[at], weights.map_or(1.0, |weights| weights[at]));
        }
        Ok(())
    }

    /// Takes what another took.
    ///
    /// # Errors
    ///
    /// [`Error::Merge`](burn_calibration::error::Error::Merge) if their settings or names differ; then nothing is taken.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        check_equal("the list of settings", &self.settings, &other.settings)?;
        let names = |means: &Self| means.columns.keys().cloned().collect::<Vec<_>>();
        if !self.columns.is_empty() && !other.columns.is_empty() {
            check_equal("the list of names", names(self), names(other))?;
        }
        let weighted = common_weighted(self.weighted, other.weighted)?;
        for (name, column) in &other.columns {
            total(self.count(name), column.count)?;
        }
        self.weighted = weighted;
        for (name, column) in &other.columns {
            self.columns.entry(name.clone()).or_default().merge(column);
        }
        Ok(())
    }

    /// The names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.keys().map(String::as_str)
    }

    /// Returns whether numbers have weights; None without numbers.
    pub fn weighted(&self) -> Option<bool> {
        self.weighted
    }

    /// The sum of the weights of a name: the number of numbers where there are no weights.
    pub fn weight(&self, name: &str) -> f64 {
        self.columns.get(name).map_or(0.0, Moments::weight)
    }

    /// The number of numbers of a name.
    pub fn count(&self, name: &str) -> u64 {
        self.columns.get(name).map_or(0, |column| column.count)
    }

    /// The mean of the numbers of a name with its standard error.
    ///
    /// # Errors
    ///
    /// No numbers.
    pub fn mean(&self, name: &str) -> Result<MeanEstimate> {
        check_samples("a mean", 1, self.count(name) as usize)?;
        Ok(self.columns[name].estimate())
    }

    /// The asymptotic test of estimates of the SKCE in blocks of `size`, the numbers of a name, among so many
    /// samples: [`AsymptoticBlockSkceTest`](burn_calibration::hypothesis::AsymptoticBlockSkceTest).
    ///
    /// # Errors
    ///
    /// Fewer than two blocks, [`Error::ZeroVariance`](burn_calibration::error::Error::ZeroVariance), or numbers with
    /// weights.
    pub fn block_test(&self, name: &str, size: usize, samples: usize) -> Result<TestOutcome> {
        let blocks = self.columns.get(name).copied().unwrap_or_default();
        blocks.block_test(size, samples, self.weighted)
    }

    /// A digest of numbers in their order, as 32 hexadecimal digits: other numbers have another.
    pub fn digest_of(numbers: impl IntoIterator<Item = f64>) -> String {
        let bits = numbers.into_iter().map(f64::to_bits);
        Digest::new().with(bits).to_string()
    }

    fn check(&self) -> Result<(), String> {
        self.columns.values().try_for_each(Moments::check)?;
        let mut counts = self.columns.values().map(|column| column.count);
        if self.weighted.is_some() == counts.any(|count| count > 0) {
            Ok(())
        } else {
            Err("it does not say whether its numbers have weights".into())
        }
    }
}

saved!(Means, "list of means");
