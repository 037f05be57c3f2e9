use std::{fmt::Debug, ops::Range};

use burn::tensor::{Int, Tensor};

use super::redrawn::{LabelSets, Redrawn};
use crate::host::{int_tensor, to_vec};

/// What was observed, for `n` samples: classes, `Tensor<1, Int>` of shape `[n]`, or vectors of `ℝ^d`,
/// `Tensor<2>` of shape `[n, d]`.
pub trait Targets: Clone + Debug {
    /// Targets on the host, row by row.
    type Drawn: Clone + Debug + 'static;

    /// Targets of many data sets on the host.
    type Redrawn: Redrawn<Drawn = Self::Drawn>;

    /// The number `n` of samples.
    fn samples(&self) -> usize;

    /// The same on the host. A class that is negative is a panic.
    fn drawn(&self) -> Self::Drawn;

    /// Those of consecutive samples.
    fn slice_rows(&self, rows: Range<usize>) -> Self;

    /// Those of the given samples, in their order; one may come several times.
    fn select_rows(&self, rows: &[usize]) -> Self;
}

impl Targets for Tensor<1, Int> {
    type Drawn = Vec<usize>;
    type Redrawn = LabelSets;

    fn drawn(&self) -> Vec<usize> {
        let classes = self.clone().try_into_vec_as::<i64>();
        let classes = classes.expect("an int tensor that can be read back");
        let class = |class: i64| usize::try_from(class).expect("a class");
        classes.into_iter().map(class).collect()
    }

    fn samples(&self) -> usize {
        self.dims()[0]
    }

    fn slice_rows(&self, rows: Range<usize>) -> Self {
        self.clone().slice(rows)
    }

    fn select_rows(&self, rows: &[usize]) -> Self {
        let rows = int_tensor(rows.iter().copied(), &self.device()).cast(self.dtype());
        self.clone().select(0, rows)
    }
}

impl Targets for Tensor<2> {
    type Drawn = Vec<f64>;
    type Redrawn = Vec<Vec<f64>>;

    fn drawn(&self) -> Vec<f64> {
        to_vec(self.clone())
    }

    fn samples(&self) -> usize {
        self.dims()[0]
    }

    fn slice_rows(&self, rows: Range<usize>) -> Self {
        self.clone().slice(rows)
    }

    fn select_rows(&self, rows: &[usize]) -> Self {
        let rows = int_tensor(rows.iter().copied(), &self.device());
        self.clone().select(0, rows)
    }
}
