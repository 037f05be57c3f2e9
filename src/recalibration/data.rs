//! Checked logits and labels on the host, and as tensors of the fit.

use burn::tensor::{Device, Int, Tensor, TensorData};

use super::warning::all_right;
use crate::{
    distribution::Weights,
    error::{Result, SCALES, check_parameter, check_values},
    host::{checked_labels, checked_rows, finest, int_tensor, to_vec},
};

/// Logits and labels of a fit of a map of logits, which were checked, on the host.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FitData {
    /// The logits, row after row.
    pub logits: Vec<f64>,
    /// The label of each row.
    pub labels: Vec<usize>,
    /// The number of classes.
    pub classes: usize,
    /// The weights of the rows.
    pub weights: Weights,
    /// Classes of which one sample is spread evenly over the rows.
    pub(super) smoothed: Vec<usize>,
    /// The device of the map, without autodiff.
    pub device: Device,
}

impl FitData {
    pub(super) fn new(logits: &Tensor<2>, labels: &Tensor<1, Int>) -> Result<Self> {
        let [rows, classes] = logits.dims();
        let values = checked_rows(logits, "the logit")?;
        check_differences(&values, classes)?;
        Ok(Self {
            logits: values.into_vec(),
            labels: checked_labels(labels, rows, classes)?,
            classes,
            weights: Weights::default(),
            smoothed: vec![],
            device: logits.device().without_autodiff(),
        })
    }

    /// The same rows with weights.
    pub(super) fn weighted(self, weights: Weights) -> Self {
        Self { weights, ..self }
    }

    /// Returns the number of samples, with weights the effective one. Priors and pseudo-observations are relative to it.
    pub fn mass(&self) -> f64 {
        self.weights.effective(self.samples())
    }

    /// Returns the number of rows.
    pub fn samples(&self) -> usize {
        self.labels.len()
    }

    /// Returns the logits of each row.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.logits.chunks(self.classes)
    }

    /// Returns the probabilities of the rows, one after the other.
    pub fn probabilities(&self) -> Vec<f64> {
        self.rows().map(<[f64]>::to_vec).flat_map(softmax).collect()
    }

    /// The given rows alone.
    pub(super) fn select(&self, rows: &[usize]) -> Self {
        let m = self.classes;
        Self {
            logits: rows
                .iter()
                .flat_map(|row| &self.logits[row * m..(row + 1) * m])
                .copied()
                .collect(),
            labels: rows.iter().map(|&row| self.labels[row]).collect(),
            classes: m,
            weights: self.weights.select(rows),
            smoothed: self.smoothed.clone(),
            device: self.device.clone(),
        }
    }

    /// Adds pseudo-observations, as Laplace's rule of succession does. Without them parameters would move without end, to
    /// probabilities that one more sample would refute. They are one sample of each class that has none, spread evenly over the rows; and
    /// where every prediction is right a wrong one, the row of the median margin with its second class.
    pub(super) fn add_pseudo_observations(&mut self) {
        let m = self.classes;
        if all_right(self) {
            let margin = |(row, &y): (&[f64], &usize)| {
                let others = row.iter().enumerate().filter(|(class, _)| *class != y);
                let second = others.max_by(|a, b| a.1.total_cmp(b.1));
                let (second, z) = second.expect("two classes");
                (row[y] - z, second)
            };
            let margins: Vec<_> = self.rows().zip(&self.labels).map(margin).collect();
            let mut order: Vec<usize> = (0..margins.len()).collect();
            order.sort_by(|&i, &j| margins[i].0.total_cmp(&margins[j].0));
            let row = order[order.len() / 2];
            if self.weights.are_given() {
                // one of as many samples as the rows are worth
                let n = self.samples();
                let one = self.weights.total(n) / self.mass();
                let weights: Vec<f64> = self.weights.all(n).chain([one]).collect();
                self.weights = Weights::new(&weights);
            }
            self.logits.extend_from_within(row * m..(row + 1) * m);
            self.labels.push(margins[row].1);
        }
        let mut absent = vec![true; m];
        self.labels.iter().for_each(|&label| absent[label] = false);
        self.smoothed = (0..m).filter(|&class| absent[class]).collect();
    }

    /// Returns rows on a device that records gradients: `[n, m]`.
    pub fn tensor(&self, values: Vec<f64>) -> Tensor<2> {
        self.parameters(values)
            .reshape([self.samples(), self.classes])
    }

    /// The logits that a map gives for those of the data, on the host.
    pub(super) fn mapped(&self, map: impl FnOnce(Tensor<2>) -> Tensor<2>) -> Vec<f64> {
        to_vec(map(self.tensor(self.logits.clone()).inner()))
    }

    /// Numbers beside [`tensor`](Self::tensor): `[k]`.
    pub(super) fn parameters(&self, values: Vec<f64>) -> Tensor<1> {
        let shape = [values.len()];
        let device = self.device.clone().autodiff();
        let data = TensorData::new(values, shape);
        Tensor::from_data(data, (&device, finest(&self.device)))
    }

    /// Returns the labels beside [`tensor`](Self::tensor): `[n]`.
    pub fn labels_tensor(&self) -> Tensor<1, Int> {
        let device = self.device.clone().autodiff();
        int_tensor(self.labels.iter().copied(), &device)
    }

    /// Returns the root mean square of the logits about the mean of their row; 1 where that is 0.
    pub fn spread(&self) -> f64 {
        let of_row = |row: &[f64]| {
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            row.iter().map(|z| (z - mean).powi(2)).sum::<f64>()
        };
        let square = self.rows().map(of_row).sum::<f64>() / self.logits.len() as f64;
        match square.sqrt() {
            0.0 => 1.0,
            spread => spread,
        }
    }
}

/// The softmax of numbers.
pub fn softmax(mut numbers: Vec<f64>) -> Vec<f64> {
    let largest = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    numbers.iter_mut().for_each(|z| *z = (*z - largest).exp());
    let sum: f64 = numbers.iter().sum();
    numbers.iter_mut().for_each(|p| *p /= sum);
    numbers
}

/// The logarithm of the sum of exponentials, without overflow.
pub fn log_sum_exp(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    largest + terms.map(|term| (term - largest).exp()).sum::<f64>().ln()
}

/// The weighted mean and standard deviation of numbers.
#[derive(Debug, Clone, Copy)]
pub struct Moments {
    pub mean: f64,
    pub deviation: f64,
}

impl Moments {
    pub fn of(numbers: &[f64], weights: &Weights) -> Self {
        let mean = weights.mean(numbers);
        let squares: Vec<f64> = numbers.iter().map(|x| (x - mean).powi(2)).collect();
        let deviation = weights.mean(&squares).sqrt();
        Self { mean, deviation }
    }
}

/// Checks that squares of logits and of their differences are of f64, unless all of a row are equal.
fn check_differences(logits: &[f64], classes: usize) -> Result<()> {
    let expected = "a number of at most 1e100 in absolute value; -1e9 masks a class";
    check_values(
        logits,
        (classes, "class"),
        "the logit",
        (|z| z.abs() <= *SCALES.end(), expected),
    )?;
    let range = |row: &[f64]| {
        let least = row.iter().copied().fold(f64::INFINITY, f64::min);
        row.iter().map(|z| z - least).fold(0.0, f64::max)
    };
    let range = logits.chunks(classes).map(range).fold(0.0, f64::max);
    check_parameter(
        range == 0.0 || range >= *SCALES.start(),
        "the largest difference between two logits of a row",
        range,
        "0, or at least 1e-100",
    )
}
