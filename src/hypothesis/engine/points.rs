use std::sync::Arc;

use super::{Detail, Evaluator};
use crate::{
    distribution::{Categorical, ClassRows, Given, LabelSets},
    error::Result,
    host::to_vec,
};

/// Class predictions on the host, and the points that a kernel compares: the probabilities, or a variable
/// that they are given.
pub struct ClassPoints {
    pub rows: Arc<ClassRows>,
    given: Option<Vec<f64>>,
    /// Coordinates of a point.
    pub d: usize,
}

impl ClassPoints {
    /// The points, row by row.
    pub fn values(&self) -> &[f64] {
        self.given.as_deref().unwrap_or(&*self.rows.values)
    }

    /// The point of a sample.
    pub fn point(&self, sample: usize) -> &[f64] {
        &self.values()[sample * self.d..][..self.d]
    }
}

impl From<&Categorical> for ClassPoints {
    fn from(predictions: &Categorical) -> Self {
        Self {
            rows: predictions.rows(),
            given: None,
            d: predictions.classes(),
        }
    }
}

impl From<&Given<Categorical>> for ClassPoints {
    fn from(given: &Given<Categorical>) -> Self {
        let points = given.conditioning().detach();
        Self {
            rows: given.predictions().rows(),
            d: points.dims()[1],
            given: Some(to_vec(points)),
        }
    }
}

/// An evaluator of classes, of those that are given a variable.
pub struct OfGiven<'a>(pub Box<dyn Evaluator<Categorical> + 'a>);

impl Evaluator<Given<Categorical>> for OfGiven<'_> {
    fn width(&self) -> usize {
        self.0.width()
    }

    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        self.0.values(sets)
    }

    fn details(&self, data: &LabelSets) -> Result<Vec<Detail>> {
        self.0.details(data)
    }
}
