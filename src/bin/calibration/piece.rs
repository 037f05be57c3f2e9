//! Sums of a piece of a set of predictions, with what tells the piece from others.

use std::{collections::BTreeSet, path::Path};

use burn_calibration::accumulator::{Accumulator, Evaluation, Rows, Saved};
use serde::{Deserialize, Serialize};

use crate::input::Result;

/// An evaluation that knows the predictions that it took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Piece {
    #[serde(flatten)]
    pub evaluation: Evaluation,
    /// Digests of the predictions with their labels; none in a file where they are not known.
    #[serde(default)]
    pieces: BTreeSet<String>,
}

impl Saved for Piece {
    const KIND: &'static str = Evaluation::KIND;
}

impl Piece {
    /// Takes predictions.
    pub fn new(mut evaluation: Evaluation, rows: &Rows) -> Result<Self> {
        evaluation.update_rows(rows).map_err(|e| e.to_string())?;
        Ok(Self {
            evaluation,
            pieces: [rows.digest()].into(),
        })
    }

    /// Loads a piece. One that does not know its predictions is known by its sums.
    pub fn load(path: &Path) -> Result<Self> {
        let mut piece = <Self as Saved>::load(path).map_err(|e| e.to_string())?;
        if piece.pieces.is_empty() {
            piece.pieces.insert(piece.evaluation.digest());
        }
        Ok(piece)
    }

    /// Takes what another took: none of it twice, unless duplicates are allowed.
    pub fn merge(&mut self, other: Self, allow_duplicates: bool) -> Result<()> {
        let mut merged = self.evaluation.clone();
        merged.merge(&other.evaluation).map_err(|e| e.to_string())?;
        if !allow_duplicates && !self.pieces.is_disjoint(&other.pieces) {
            return Err(
                "the same predictions are in both, expected each once; --allow-duplicates counts them twice"
                    .into(),
            );
        }
        self.evaluation = merged;
        self.pieces.extend(other.pieces);
        Ok(())
    }
}
