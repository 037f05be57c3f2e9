use serde::{Deserialize, Serialize};

use super::exact_sum::{Exact, ExactSum};

/// Sums of products with weights; there are none where each weight is 1.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct WeightSums(Vec<ExactSum>);

impl WeightSums {
    /// Adds a product to each of the sums.
    pub fn add<const N: usize>(&mut self, products: [&[f64]; N]) {
        self.0.resize_with(N, ExactSum::default);
        let sums = self.0.iter_mut().zip(products);
        sums.for_each(|(sum, product)| sum.add_product(product));
    }

    /// Adds other sums.
    pub fn merge(&mut self, other: &Self) {
        let len = self.len().max(other.len());
        self.0.resize_with(len, ExactSum::default);
        let sums = self.0.iter_mut().zip(&other.0);
        sums.for_each(|(sum, other)| sum.merge(other));
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A sum, or what it is of weights that are 1.
    pub fn exact(&self, k: usize, without: Exact) -> Exact {
        self.0.get(k).map_or(without, ExactSum::exact)
    }

    /// Bytes apart from its own size.
    pub fn held(&self) -> usize {
        let sums = self.0.iter().map(ExactSum::held).sum::<usize>();
        self.0.capacity() * size_of::<ExactSum>() + sums
    }
}
