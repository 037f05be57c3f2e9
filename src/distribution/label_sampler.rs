use rand::{Rng, RngExt};

use super::Categorical;
use crate::host::to_vec;

/// Draws labels from predictions.
pub(super) struct LabelSampler {
    /// `Σ_{d ≤ c} p_id`, row by row.
    cumulative: Vec<f64>,
    classes: usize,
}

impl LabelSampler {
    pub fn new(predictions: &Categorical) -> Self {
        let classes = predictions.classes();
        let mut cumulative = to_vec(predictions.probabilities());
        for row in cumulative.chunks_mut(classes) {
            for class in 1..classes {
                row[class] += row[class - 1];
            }
        }
        Self {
            cumulative,
            classes,
        }
    }

    /// A label from the prediction of a row, never one of probability 0.
    pub fn draw(&self, row: usize, rng: &mut dyn Rng) -> usize {
        let cumulative = &self.cumulative[row * self.classes..][..self.classes];
        let total = cumulative[self.classes - 1]; // 1 up to rounding
        let u = (1.0 - rng.random::<f64>()) * total; // in (0, total]
        cumulative.partition_point(|&sum| sum < u)
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, Tensor};
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    #[test]
    fn frequencies_are_the_probabilities() {
        let rows = Tensor::from_floats([[0.0, 0.2, 0.0, 0.8, 0.0]], &Device::default());
        let sampler = LabelSampler::new(&Categorical::from_probabilities(rows).unwrap());
        let mut rng = StdRng::seed_from_u64(1);
        let mut counts = [0; 5];
        for _ in 0..10_000 {
            counts[sampler.draw(0, &mut rng)] += 1;
        }
        assert_eq!([counts[0], counts[2], counts[4]], [0; 3]);
        // 4 standard deviations: √(10⁴ · .2 · .8) = 40
        assert!((1840..=2160).contains(&counts[1]), "{counts:?}");
    }
}
