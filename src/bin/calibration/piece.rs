//! Sums of a piece of a set of predictions, with what tells the piece from others.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use burn_calibration::{
    accumulator::{Accumulator, Evaluation, Means, Saved},
    error,
};
use serde::{Deserialize, Serialize};

use crate::input::Result;

/// Sums that merge.
pub trait Sums: Saved + Clone {
    /// Takes what another took.
    fn take(&mut self, other: &Self) -> error::Result<()>;
}

impl Sums for Evaluation {
    fn take(&mut self, other: &Self) -> error::Result<()> {
        self.merge(other)
    }
}

impl Sums for Means {
    fn take(&mut self, other: &Self) -> error::Result<()> {
        self.merge(other)
    }
}

/// Sums that know the predictions that they took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(bound = "S: Sums")]
pub struct Piece<S> {
    #[serde(flatten)]
    pub sums: S,
    /// Digests of the predictions with their labels; none in a file where they are not known.
    #[serde(default)]
    pieces: BTreeSet<String>,
}

impl<S: Sums> Saved for Piece<S> {
    const KIND: &'static str = S::KIND;
}

impl<S: Sums> Piece<S> {
    /// Adds the digest of the predictions.
    pub fn new(sums: S, digest: String) -> Self {
        Self {
            sums,
            pieces: [digest].into(),
        }
    }

    /// Loads a piece. One that does not know its predictions is known by its sums.
    fn load(path: &Path) -> Result<Self> {
        let mut piece = <Self as Saved>::load(path).map_err(|e| e.to_string())?;
        if piece.pieces.is_empty() {
            piece.pieces.insert(piece.sums.digest());
        }
        Ok(piece)
    }

    /// Loads pieces and merges them.
    pub fn load_all(paths: &[PathBuf], allow_duplicates: bool) -> Result<Self> {
        let (first, others) = paths.split_first().expect("at least one is required");
        let mut piece = Self::load(first)?;
        for path in others {
            let merged = piece.merge(Self::load(path)?, allow_duplicates);
            merged.map_err(|e| format!("{} and {}: {e}", first.display(), path.display()))?;
        }
        Ok(piece)
    }

    /// Takes what another took: none of it twice, unless duplicates are allowed.
    fn merge(&mut self, other: Self, allow_duplicates: bool) -> Result<()> {
        let mut merged = self.sums.clone();
        merged.take(&other.sums).map_err(|e| e.to_string())?;
        if !allow_duplicates && !self.pieces.is_disjoint(&other.pieces) {
            return Err(
                "the same predictions are in both, expected each once; --allow-duplicates counts them twice"
                    .into(),
            );
        }
        self.sums = merged;
        self.pieces.extend(other.pieces);
        Ok(())
    }
}
