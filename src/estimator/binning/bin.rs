use crate::distribution::Weights;

/// The contents of a bin.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[must_use]
pub struct Bin {
    /// The number of samples.
    pub size: usize,
    /// The sum of the weights of its samples: their number where there are none.
    #[serde(skip)]
    pub weight: f64,
    /// Their mean prediction.
    pub prediction: Vec<f64>,
    /// The frequency of each class among their labels.
    pub frequency: Vec<f64>,
}

impl Bin {
    /// Sums up the given rows of predictions in row-major order, and their labels.
    pub(crate) fn of(
        rows: &[usize],
        predictions: &[f64],
        labels: &[usize],
        classes: usize,
        weights: &Weights,
    ) -> Self {
        let mut prediction = vec![0.0; classes];
        let mut frequency = vec![0.0; classes];
        let weight = weights.sum(rows);
        let share = 1.0 / weight;
        for &row in rows {
            let p = &predictions[row * classes..(row + 1) * classes];
            let w = weights.at(row);
            let sums = prediction.iter_mut().zip(p);
            sums.for_each(|(sum, p)| *sum += w * p);
            frequency[labels[row]] += w;
        }
        for value in prediction.iter_mut().chain(&mut frequency) {
            *value *= share;
        }
        Self {
            size: rows.len(),
            weight,
            prediction,
            frequency,
        }
    }
}
