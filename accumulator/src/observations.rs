use burn::tensor::{Int, Tensor};
use serde::{Deserialize, Serialize};

use super::{Rows, check_equal};
use burn_calibration::{
    distribution::Targets as _,
    error::{Error, Result, checks},
};

/// The numbers of classes and of samples of an accumulator, or of rows to add, and whether the samples have weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observations {
    /// The number `m` of classes.
    pub classes: usize,
    /// The number of samples, without those of weight 0.
    pub samples: u64,
    /// Whether samples have weights; None without samples.
    pub weighted: Option<bool>,
}

impl Observations {
    pub(super) fn none(classes: usize) -> Self {
        Self {
            classes,
            samples: 0,
            weighted: None,
        }
    }

    /// Both together, of as many classes, with weights everywhere or nowhere.
    pub(super) fn with(self, other: Self) -> Result<Self> {
        check_equal("the number of classes", self.classes, other.classes)?;
        Ok(Self {
            classes: self.classes,
            samples: total(self.samples, other.samples)?,
            weighted: common_weighted(self.weighted, other.weighted)?,
        })
    }

    /// With rows, of as many classes.
    pub(super) fn with_rows(self, rows: &Rows) -> Result<Self> {
        if rows.classes() == self.classes {
            self.with(rows.observations())
        } else {
            Err(Tensor::<1, Int>::mismatch(rows.classes(), self.classes))
        }
    }

    /// Checks that there is a sample.
    pub(super) fn check_any(self) -> Result<()> {
        checks::check_samples("an estimate", 1, self.samples as usize)
    }

    /// Checks what was loaded.
    pub(super) fn check(self) -> Result<(), String> {
        if self.weighted.is_some() == (self.samples > 0) && self.samples <= MOST {
            Ok(())
        } else {
            Err(format!("no accumulator takes {self:?}"))
        }
    }
}

/// The most samples: up to there counts are exact as f64.
const MOST: u64 = 1 << 53;

/// The number of samples of two accumulators together, if they are not too many to count.
pub(super) fn total(own: u64, other: u64) -> Result<u64> {
    let total = own.saturating_add(other);
    if total <= MOST {
        return Ok(total);
    }
    Err(Error::Unsupported {
        what: format!("cannot merge: the pieces have {own} and {other} samples"),
        expected: "at most 2^53 together; is one of them merged with itself again and again?",
    })
}

/// Whether there are weights, of samples which all have them, or none has.
pub(super) fn common_weighted(own: Option<bool>, other: Option<bool>) -> Result<Option<bool>> {
    match (own, other) {
        (Some(own), Some(other)) if own != other => Err(Error::Unsupported {
            what: "cannot merge samples with weights and samples without".into(),
            expected: "weights in every piece, on one scale, or in none",
        }),
        _ => Ok(own.or(other)),
    }
}
