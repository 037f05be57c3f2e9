use std::{fmt::Debug, ops::Range};

use burn::tensor::{Bool, DType, Device, Int, Tensor, TensorData};

use super::{
    location_scale::check_real,
    redrawn::{LabelSets, Redrawn},
};
use crate::{
    error::{Error, Result, check_length, shown},
    host::{checked_labels, int_tensor, is_host, to_vec},
};

/// The observations of `n` samples: classes, `Tensor<1, Int>` of shape `[n]`, or vectors of `ℝ^d`,
/// `Tensor<2>` of shape `[n, d]`.
pub trait Targets: Clone + Debug + 'static {
    /// Targets on the host, row by row.
    type Drawn: Clone + Debug + 'static;

    /// Targets of many data sets on the host.
    type Redrawn: Redrawn<Drawn = Self::Drawn>;

    /// The number `n` of samples.
    fn len(&self) -> usize;

    /// Returns whether there are no samples.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads the targets back. Panics on a negative class.
    fn drawn(&self) -> Self::Drawn;

    /// Selects the targets of consecutive samples.
    fn slice_rows(&self, rows: Range<usize>) -> Self;

    /// Selects the targets of the given samples, in their order; one may come several times.
    fn select_rows(&self, rows: &[usize]) -> Self;

    /// Checks that they are valid targets for this number of predictions and of classes or dimensions.
    ///
    /// # Errors
    ///
    /// The row, its value, and the condition that was expected.
    fn check(&self, samples: usize, dimensions: usize, dtype: DType) -> Result<()>;

    /// Checks that shape and dtype fit, and that labels on the host are classes. Reads nothing back from a
    /// device.
    /// The errors are those of [`check`](Self::check).
    fn check_shape(&self, samples: usize, dimensions: usize, dtype: DType) -> Result<()>;

    /// The error of predictions over another number of classes or dimensions.
    fn mismatch(got: usize, expected: usize) -> Error;

    /// A target in the words of an error.
    fn text(&self, row: usize) -> String;

    /// Takes targets from the host to a device.
    fn observed(drawn: &Self::Drawn, dimensions: usize, options: (&Device, DType)) -> Self;

    /// Tells which samples count, `[n]`: those whose label does not stand for padding. None if all do.
    fn kept(&self, pad_tokens: &[usize]) -> Option<Tensor<1, Bool>>;
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

    fn len(&self) -> usize {
        self.dims()[0]
    }

    fn slice_rows(&self, rows: Range<usize>) -> Self {
        self.clone().slice(rows)
    }

    fn select_rows(&self, rows: &[usize]) -> Self {
        let rows = int_tensor(rows.iter().copied(), &self.device()).cast(self.dtype());
        self.clone().select(0, rows)
    }

    fn check(&self, samples: usize, dimensions: usize, _dtype: DType) -> Result<()> {
        checked_labels(self, samples, dimensions).map(|_| ())
    }

    fn check_shape(&self, samples: usize, dimensions: usize, dtype: DType) -> Result<()> {
        check_length(samples, self.len(), "label")?;
        if is_host(&self.device()) {
            self.check(samples, dimensions, dtype)
        } else {
            Ok(())
        }
    }

    fn mismatch(got: usize, expected: usize) -> Error {
        Error::Width {
            what: "the predictions",
            columns: "class",
            got,
            expected,
        }
    }

    fn text(&self, row: usize) -> String {
        format!("class {}", self.slice_rows(row..row + 1).drawn()[0])
    }

    fn observed(drawn: &Vec<usize>, _dimensions: usize, (device, _): (&Device, DType)) -> Self {
        int_tensor(drawn.iter().copied(), device)
    }

    fn kept(&self, pad_tokens: &[usize]) -> Option<Tensor<1, Bool>> {
        let kept = |&token: &usize| self.clone().not_equal_elem(token as i64);
        pad_tokens.iter().map(kept).reduce(Tensor::bool_and)
    }
}

impl Targets for Tensor<2> {
    type Drawn = Vec<f64>;
    type Redrawn = Vec<Vec<f64>>;

    fn drawn(&self) -> Vec<f64> {
        to_vec(self.clone())
    }

    fn len(&self) -> usize {
        self.dims()[0]
    }

    fn slice_rows(&self, rows: Range<usize>) -> Self {
        self.clone().slice(rows)
    }

    fn select_rows(&self, rows: &[usize]) -> Self {
        let rows = int_tensor(rows.iter().copied(), &self.device());
        self.clone().select(0, rows)
    }

    fn check(&self, samples: usize, dimensions: usize, dtype: DType) -> Result<()> {
        self.check_shape(samples, dimensions, dtype)?;
        check_real(self, "the target").map(|_| ())
    }

    fn check_shape(&self, samples: usize, dimensions: usize, dtype: DType) -> Result<()> {
        check_length(samples, self.len(), "target")?;
        match self.dims() {
            [_, got] if got != dimensions => Err(Self::mismatch(got, dimensions)),
            _ if self.dtype() != dtype => Err(Error::DTypeMismatch {
                got: self.dtype(),
                expected: dtype,
            }),
            _ => Ok(()),
        }
    }

    fn mismatch(got: usize, expected: usize) -> Error {
        Error::Width {
            what: "the targets",
            columns: "dimension",
            got,
            expected,
        }
    }

    fn text(&self, row: usize) -> String {
        match self.slice_rows(row..row + 1).drawn()[..] {
            [number] => format!("the target {}", shown(number)),
            ref vector => format!("the target {vector:?}"),
        }
    }

    fn observed(drawn: &Vec<f64>, dimensions: usize, options: (&Device, DType)) -> Self {
        let shape = [drawn.len() / dimensions, dimensions];
        Tensor::from_data(TensorData::new(drawn.to_vec(), shape), options)
    }

    /// None: targets of `ℝ^d` have no padding.
    fn kept(&self, _pad_tokens: &[usize]) -> Option<Tensor<1, Bool>> {
        None
    }
}
