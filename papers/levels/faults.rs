//! Models that are wrong in one way.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_calibration::{
    distribution::{Categorical, Normal},
    error::Result,
};
use rand::{RngExt, rngs::StdRng};
use rand_distr::{Distribution, Exp1, StandardNormal, StudentT};

use crate::models::Model;

/// What is wrong with predictions of classes.
#[derive(Clone, Copy)]
pub enum Wrong {
    /// Says this confidence for a class at random, and is right so often; all other classes are equally likely.
    Confidence(f64, f64),
    /// Half of the labels of class 0 are called class 1.
    Confusion,
    /// Says 80 % for one of two classes, and is right in 65 % for class 0 and in 95 % for class 1.
    Sides,
    /// The first quarter of the samples is right in 70 % where it says 90 %; the others are right.
    Quarter,
    /// Two classes: the frequency at probability `q` is `q + 0.12 sin 6πq`.
    Wave,
    /// Two classes: of `q > 0.9` the frequency is `q − 0.05`.
    Tail,
    /// Two classes: 30 % of the samples at temperature 2, the others at 0.8.
    Subgroup,
    /// Two classes: one label that had a probability of 1e-9.
    Excluded,
}

/// Predictions of classes that are wrong in one way, with their labels.
#[derive(Clone, Copy)]
pub struct Partial {
    pub wrong: Wrong,
    pub classes: usize,
    pub samples: usize,
}

impl Partial {
    /// The probabilities of a sample, and its label.
    fn sample(&self, number: usize, rng: &mut StdRng) -> (Vec<f64>, usize) {
        let m = self.classes;
        let says = |top: usize, (confidence, accuracy): (f64, f64), rng: &mut StdRng| {
            let mut row = vec![(1.0 - confidence) / (m - 1) as f64; m];
            row[top] = confidence;
            let label = if rng.random_bool(accuracy) {
                top
            } else {
                (top + rng.random_range(1..m)) % m
            };
            (row, label)
        };
        let event = |q: f64, frequency: f64, rng: &mut StdRng| {
            let label = rng.random_bool(frequency.clamp(0.0, 1.0));
            (vec![1.0 - q, q], usize::from(label))
        };
        match self.wrong {
            Wrong::Confidence(confidence, accuracy) => {
                let top = rng.random_range(0..m);
                says(top, (confidence, accuracy), rng)
            }
            Wrong::Sides => {
                let top = rng.random_range(0..2);
                says(top, (0.8, [0.65, 0.95][top]), rng)
            }
            Wrong::Quarter => {
                let top = rng.random_range(0..m);
                let accuracy = if 4 * number < self.samples { 0.7 } else { 0.9 };
                says(top, (0.9, accuracy), rng)
            }
            Wrong::Confusion => {
                let weights: Vec<f64> = (0..m)
                    .map(|_| Exp1.sample(rng))
                    .map(|x: f64| x.powi(2))
                    .collect();
                let sum: f64 = weights.iter().sum();
                let row: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
                let mut u: f64 = rng.random();
                let drawn = row.iter().position(|p| {
                    u -= p;
                    u < 0.0
                });
                let label = match drawn.unwrap_or(m - 1) {
                    0 if rng.random() => 1,
                    label => label,
                };
                (row, label)
            }
            Wrong::Wave => {
                let q: f64 = rng.random();
                let wave = 0.12 * (6.0 * std::f64::consts::PI * q).sin();
                event(q, q + wave, rng)
            }
            Wrong::Tail => {
                let q: f64 = rng.random();
                event(q, if q > 0.9 { q - 0.05 } else { q }, rng)
            }
            Wrong::Subgroup => {
                let logit: f64 = 1.5 * {
                    let z: f64 = StandardNormal.sample(rng);
                    z
                };
                let sigmoid = |x: f64| (1.0 + (-x).exp()).recip();
                let temperature = if rng.random_bool(0.3) { 2.0 } else { 0.8 };
                event(sigmoid(logit), sigmoid(logit / temperature), rng)
            }
            Wrong::Excluded if number == 0 => (vec![1.0 - 1e-9, 1e-9], 1),
            Wrong::Excluded => {
                let q = rng.random_range(0.6..0.95);
                event(q, q, rng)
            }
        }
    }
}

impl Model<Categorical, Tensor<1, Int>> for Partial {
    fn draw(&self, _: usize, rng: &mut StdRng) -> Result<(Categorical, Tensor<1, Int>)> {
        let n = self.samples;
        let samples: Vec<(Vec<f64>, usize)> = (0..n).map(|i| self.sample(i, rng)).collect();
        let rows: Vec<f64> = samples.iter().flat_map(|(row, _)| row).copied().collect();
        let labels: Vec<i64> = samples.iter().map(|(_, label)| *label as i64).collect();
        let device = Device::default();
        let rows = TensorData::new(rows, [n, self.classes]);
        let rows = Tensor::from_data(rows, (&device, DType::F64));
        let labels = Tensor::from_data(TensorData::new(labels, [n]), &device);
        Ok((Categorical::from_probabilities(rows)?, labels))
    }
}

/// Errors of another law than the normal one, with the predicted mean and variance.
#[derive(Clone, Copy)]
pub struct OtherErrors {
    pub law: fn(&mut StdRng) -> f64,
    pub samples: usize,
}

pub fn exponential(rng: &mut StdRng) -> f64 {
    let x: f64 = Exp1.sample(rng);
    x - 1.0
}

/// Student's with 3 degrees of freedom.
pub fn heavy(rng: &mut StdRng) -> f64 {
    let law = StudentT::new(3.0).expect("degrees of freedom");
    law.sample(rng) / 3f64.sqrt()
}

/// One in a hundred at ±9.5 deviations of the others.
pub fn outliers(rng: &mut StdRng) -> f64 {
    let error = match rng.random_range(0..200) {
        0 => 9.5,
        1 => -9.5,
        _ => StandardNormal.sample(rng),
    };
    error / (0.99f64 + 0.01 * 9.5 * 9.5).sqrt()
}

impl Model<Normal, Tensor<2>> for OtherErrors {
    fn draw(&self, _: usize, rng: &mut StdRng) -> Result<(Normal, Tensor<2>)> {
        let errors: Vec<f64> = (0..self.samples).map(|_| (self.law)(rng)).collect();
        let data = TensorData::new(errors, [self.samples, 1]);
        let targets = Tensor::<2>::from_data(data, (&Device::default(), DType::F64));
        let means = targets.zeros_like();
        Ok((Normal::new(means.clone(), means.ones_like()), targets))
    }
}

/// Targets that are 1 too high, with independent errors of the predicted deviations, 0.2 or 2.
#[derive(Clone, Copy)]
pub struct Biased {
    pub samples: usize,
}

impl Model<Normal, Tensor<2>> for Biased {
    fn draw(&self, _: usize, rng: &mut StdRng) -> Result<(Normal, Tensor<2>)> {
        let (mut deviations, mut targets) = (vec![], vec![]);
        for _ in 0..self.samples {
            let deviation = if rng.random() { 0.2 } else { 2.0 };
            let error: f64 = StandardNormal.sample(rng);
            deviations.push(deviation);
            targets.push(1.0 + deviation * error);
        }
        let [deviations, targets] = [deviations, targets].map(|numbers| {
            let data = TensorData::new(numbers, [self.samples, 1]);
            Tensor::<2>::from_data(data, (&Device::default(), DType::F64))
        });
        Ok((Normal::new(deviations.zeros_like(), deviations), targets))
    }
}
