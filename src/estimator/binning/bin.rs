/// The contents of a bin.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Bin {
    /// The number of samples.
    pub size: usize,
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
    ) -> Self {
        let mut prediction = vec![0.0; classes];
        let mut frequency = vec![0.0; classes];
        let weight = 1.0 / rows.len() as f64;
        for &row in rows {
            let p = &predictions[row * classes..(row + 1) * classes];
            prediction.iter_mut().zip(p).for_each(|(sum, p)| *sum += p);
            frequency[labels[row]] += 1.0;
        }
        for value in prediction.iter_mut().chain(&mut frequency) {
            *value *= weight;
        }
        Self {
            size: rows.len(),
            prediction,
            frequency,
        }
    }
}
