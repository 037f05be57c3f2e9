//! An accumulator of the library as one of the engine.

use std::fmt::{self, Debug};

use burn_calibration::error::{self, Error};
use burn_calibration_accumulator::Accumulator;
use datafusion::{
    arrow::array::{ArrayRef, AsArray},
    common::{DataFusionError, Result, ScalarValue},
    logical_expr::Accumulator as EngineAccumulator,
};

use crate::arguments::{external, rows};

/// A group within a partition, or what partitions sent of it.
pub struct Running<A> {
    /// For predictions over so many classes.
    empty: Box<dyn Fn(usize) -> error::Result<A> + Send + Sync>,
    value: fn(&A) -> error::Result<f64>,
    /// The argument that is the weight of a row.
    weight: Option<usize>,
    /// None until there is a row, which says how many classes there are.
    taken: Option<A>,
}

impl<A: Accumulator + Send + Sync + 'static> Running<A> {
    pub fn boxed(
        empty: impl Fn(usize) -> error::Result<A> + Send + Sync + 'static,
        value: fn(&A) -> error::Result<f64>,
        weight: Option<usize>,
    ) -> Box<dyn EngineAccumulator> {
        Box::new(Self {
            empty: Box::new(empty),
            value,
            weight,
            taken: None,
        })
    }
}

impl<A: Debug> Debug for Running<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running")
            .field("taken", &self.taken)
            .finish_non_exhaustive()
    }
}

impl<A: Accumulator + Send + Sync + 'static> EngineAccumulator for Running<A> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let Some(rows) = rows(values, self.weight)? else {
            return Ok(());
        };
        let taken = match &mut self.taken {
            Some(taken) => taken,
            none => none.insert((self.empty)(rows.classes()).map_err(external)?),
        };
        taken.update_rows(&rows).map_err(external)
    }

    /// NULL where there are too few rows.
    fn evaluate(&mut self) -> Result<ScalarValue> {
        let value = self.taken.as_ref().map(self.value).transpose();
        match value {
            Ok(value) => Ok(ScalarValue::Float64(value)),
            Err(Error::TooFewSamples { .. } | Error::ZeroVariance { .. }) => {
                Ok(ScalarValue::Float64(None))
            }
            Err(error) => Err(external(error)),
        }
    }

    fn size(&self) -> usize {
        size_of::<Self>() + self.taken.as_ref().map_or(0, Accumulator::bytes)
    }

    /// The accumulator as bytes, NULL without rows.
    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let bytes = |taken: &A| {
            let mut bytes = Vec::new();
            let written = ciborium::into_writer(taken, &mut bytes);
            written.map_err(|e| DataFusionError::External(e.into()))?;
            Ok::<_, DataFusionError>(bytes)
        };
        let bytes = self.taken.as_ref().map(bytes).transpose()?;
        Ok(vec![ScalarValue::Binary(bytes)])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for bytes in states[0].as_binary::<i32>().iter().flatten() {
            let other: A =
                ciborium::from_reader(bytes).map_err(|e| DataFusionError::External(e.into()))?;
            match &mut self.taken {
                Some(taken) => taken.merge(&other).map_err(external)?,
                none => *none = Some(other),
            }
        }
        Ok(())
    }
}
