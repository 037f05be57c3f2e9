//! Sums of a piece of a set of predictions, with what tells the piece from others.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use burn_calibration::error;
use burn_calibration_accumulator::{Accumulator, Evaluation, Means, Saved};
use serde::{Deserialize, Serialize};

use crate::{
    align::{Names, columns, in_order, say_by_name},
    error::{Context, Result, bail, wrong},
};

/// Sums that merge.
pub trait Sums: Saved {
    /// Takes what another took.
    fn take(&mut self, other: &Self) -> error::Result<()>;

    /// The same with the classes in another order, of what has classes.
    fn reordered(self, order: &[usize]) -> error::Result<Self>;
}

impl Sums for Evaluation {
    fn take(&mut self, other: &Self) -> error::Result<()> {
        self.merge(other)
    }

    fn reordered(self, order: &[usize]) -> error::Result<Self> {
        self.with_class_order(order)
    }
}

impl Sums for Means {
    fn take(&mut self, other: &Self) -> error::Result<()> {
        self.merge(other)
    }

    fn reordered(self, _order: &[usize]) -> error::Result<Self> {
        Ok(self)
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
    /// The names of the columns in the order of the classes; none in older files, and where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    class_names: Vec<String>,
}

impl<S: Sums> Saved for Piece<S> {
    const KIND: &'static str = S::KIND;
}

impl<S: Sums> Piece<S> {
    /// Adds the digest of the predictions, and the names of their columns.
    pub fn new(sums: S, digest: String, columns: Vec<String>) -> Self {
        Self {
            sums,
            pieces: [digest].into(),
            class_names: columns,
        }
    }

    /// Loads a piece. One that does not know its predictions is known by its sums.
    fn load(path: &Path) -> Result<Self> {
        let mut piece = <Self as Saved>::load(path)?;
        if piece.pieces.is_empty() {
            piece.pieces.insert(piece.sums.digest());
        }
        Ok(piece)
    }

    /// Loads pieces and merges them, with the classes in the order of the first: none of the predictions twice,
    /// unless duplicates are allowed.
    pub fn load_all(paths: &[PathBuf], allow_duplicates: bool) -> Result<Self> {
        let (first, others) = paths.split_first().expect("at least one is required");
        let mut piece = Self::load(first)?;
        for path in others {
            let other = Self::load(path)?.in_order_of(&piece, (first, path))?;
            let merged = piece.merge(other, allow_duplicates);
            merged.map_err(|e| wrong!("{} and {}: {e}", first.display(), path.display()))?;
        }
        Ok(piece)
    }

    /// The same with the classes in the order of another piece, by their names.
    fn in_order_of(mut self, piece: &Self, (first, path): (&Path, &Path)) -> Result<Self> {
        let names = Names {
            names: &piece.class_names,
            of: &first.display().to_string(),
        };
        if let Some(order) = columns(names, &self.class_names).of(path)? {
            self.class_names = in_order(&self.class_names, &order);
            self.sums = self.sums.reordered(&order).of(path)?;
            say_by_name(path, "classes", &self.class_names);
        }
        Ok(self)
    }

    fn merge(&mut self, mut other: Self, allow_duplicates: bool) -> Result<()> {
        self.sums.take(&other.sums)?;
        if !allow_duplicates && !self.pieces.is_disjoint(&other.pieces) {
            bail!(
                "the same predictions are in both, expected each once; --allow-duplicates counts them twice"
            );
        }
        self.pieces.append(&mut other.pieces);
        if self.class_names.is_empty() {
            self.class_names = other.class_names;
        }
        Ok(())
    }
}
