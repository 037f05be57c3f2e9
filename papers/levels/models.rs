//! Calibrated and miscalibrated models.

use std::{fs::File, io::Read, path::Path};

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_calibration::{
    distribution::{Categorical, Mixture, Normal, Predictive, Samples},
    error::Result,
};
use flate2::read::GzDecoder;
use rand::{RngExt, rngs::StdRng};
use rand_distr::{Distribution, Gamma, StandardNormal};

/// Draws data sets of a kind.
pub trait Model<P, T>: Sync {
    fn draw(&self, set: usize, rng: &mut StdRng) -> Result<(P, T)>;
}

/// Where class predictions come from.
#[derive(Clone)]
pub enum Source {
    /// A symmetric Dirichlet distribution: classes and concentration.
    Dirichlet(usize, f64),
    /// Rows of real predictions to some power: the networks take turns.
    Networks(Vec<Vec<Vec<f64>>>, f64),
}

impl Source {
    /// The mean number of wrong top labels in a row of a calibrated model, `1 − max_c p_c`, of networks.
    pub fn expected_errors(&self) -> f64 {
        let Self::Networks(networks, power) = self else {
            panic!("the predictions of networks");
        };
        let of_row = |row: &Vec<f64>| {
            let row = normalised(row.iter().map(|p| p.powf(*power)).collect());
            1.0 - row.iter().copied().fold(0.0, f64::max)
        };
        let rows = networks.iter().flatten();
        rows.map(of_row).sum::<f64>() / networks.iter().map(Vec::len).sum::<usize>() as f64
    }
}

/// How labels come from predictions.
#[derive(Clone, Copy, PartialEq)]
pub enum Labels {
    Calibrated,
    /// From the prediction at this temperature: a model that is too sure for T > 1.
    Temperature(f64),
    /// With this probability uniform.
    Uniform(f64),
    /// The first class is right so many times less often than predicted.
    FirstTooLikely(f64),
    /// The top label is right as often as predicted, and all others are equally likely.
    RestWrong,
    /// With this probability a wrong label is replaced by the class after the most likely one.
    NextClass(f64),
}

impl<P, T> Model<P, T> for Box<dyn Model<P, T>> {
    fn draw(&self, set: usize, rng: &mut StdRng) -> Result<(P, T)> {
        (**self).draw(set, rng)
    }
}

#[derive(Clone)]
pub struct Classes {
    pub source: Source,
    pub labels: Labels,
    pub samples: usize,
}

impl Model<Categorical, Tensor<1, Int>> for Classes {
    fn draw(&self, set: usize, rng: &mut StdRng) -> Result<(Categorical, Tensor<1, Int>)> {
        let (mut rows, mut labels) = (Vec::new(), Vec::new());
        for _ in 0..self.samples {
            let row = self.row(set, rng);
            labels.push(self.label(&row, rng) as i64);
            rows.extend(row);
        }
        let n = self.samples;
        let classes = rows.len() / n;
        let device = Device::default();
        let rows = TensorData::new(rows, [n, classes]);
        let rows = Tensor::from_data(rows, (&device, DType::F64));
        let labels = Tensor::from_data(TensorData::new(labels, [n]), &device);
        Ok((Categorical::from_probabilities(rows)?, labels))
    }
}

impl Classes {
    fn row(&self, set: usize, rng: &mut StdRng) -> Vec<f64> {
        match &self.source {
            Source::Dirichlet(classes, concentration) => {
                let gamma = Gamma::new(*concentration, 1.0).expect("a positive concentration");
                normalised((0..*classes).map(|_| gamma.sample(rng)).collect())
            }
            Source::Networks(networks, power) => {
                let network = &networks[set % networks.len()];
                let row = &network[rng.random_range(0..network.len())];
                normalised(row.iter().map(|p| p.powf(*power)).collect())
            }
        }
    }

    fn label(&self, row: &[f64], rng: &mut StdRng) -> usize {
        let classes = row.len();
        match self.labels {
            Labels::Uniform(share) if rng.random_bool(share) => rng.random_range(0..classes),
            Labels::Calibrated | Labels::Uniform(_) => categorical(row, rng),
            Labels::Temperature(t) => {
                let powers = row.iter().map(|p| p.powf(t.recip())).collect();
                categorical(&normalised(powers), rng)
            }
            Labels::FirstTooLikely(factor) => {
                let first = row[0] / factor;
                let others = (1.0 - first) / (1.0 - row[0]).max(f64::MIN_POSITIVE);
                let scaled = row.iter().enumerate().map(|(c, p)| match c {
                    0 => first,
                    _ => p * others,
                });
                categorical(&scaled.collect::<Vec<_>>(), rng)
            }
            Labels::NextClass(share) => {
                let (top, label) = (most_likely(row), categorical(row, rng));
                if label != top && rng.random_bool(share) {
                    return (top + 1) % classes;
                }
                label
            }
            Labels::RestWrong => {
                let top = most_likely(row);
                match rng.random::<f64>() < row[top] {
                    true => top,
                    false => (top + rng.random_range(1..classes)) % classes,
                }
            }
        }
    }
}

fn most_likely(row: &[f64]) -> usize {
    (1..row.len()).fold(0, |top, c| if row[c] > row[top] { c } else { top })
}

fn normalised(weights: Vec<f64>) -> Vec<f64> {
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

fn categorical(row: &[f64], rng: &mut StdRng) -> usize {
    let mut u: f64 = rng.random();
    let drawn = row.iter().position(|p| {
        u -= p;
        u < 0.0
    });
    drawn.unwrap_or(row.len() - 1)
}

/// The predictions of four networks on CIFAR-10, in `cifar10-predictions` of the data folder.
pub fn networks(folder: &Path) -> std::io::Result<Vec<Vec<Vec<f64>>>> {
    let read = |name: &&str| {
        let path = folder.join(format!("cifar10-predictions/{name}.csv.gz"));
        let mut text = String::new();
        GzDecoder::new(File::open(path)?).read_to_string(&mut text)?;
        let number = |field: &str| field.trim().parse().expect("a probability");
        Ok(text
            .lines()
            .map(|line| line.split(',').map(number).collect())
            .collect())
    };
    ["densenet121", "googlenet", "mobilenet_v2", "resnet18"]
        .iter()
        .map(read)
        .collect()
}

/// Predictions of real numbers: means and standard deviations vary, and targets may be off.
#[derive(Clone, Copy)]
pub struct Real {
    pub samples: usize,
    /// In standard deviations.
    pub shift: f64,
    /// True over predicted standard deviation.
    pub spread: f64,
}

impl Real {
    /// Means, standard deviations and targets, of `of_each` components.
    fn numbers(&self, of_each: usize, rng: &mut StdRng) -> [Vec<f64>; 3] {
        let mut normal = || -> f64 { StandardNormal.sample(rng) };
        let (mut means, mut deviations, mut targets) = (vec![], vec![], vec![]);
        for _ in 0..self.samples {
            let first = means.len();
            for _ in 0..of_each {
                means.push(2.0 * normal());
                deviations.push((0.5 * normal()).exp());
            }
            let component = first + (normal().abs() * 1e6) as usize % of_each;
            let (mean, deviation) = (means[component], deviations[component]);
            targets.push(mean + deviation * (self.shift + self.spread * normal()));
        }
        [means, deviations, targets]
    }
}

fn column(numbers: Vec<f64>) -> Tensor<2> {
    let data = TensorData::new(numbers.clone(), [numbers.len(), 1]);
    Tensor::from_data(data, (&Device::default(), DType::F64))
}

impl Model<Normal, Tensor<2>> for Real {
    fn draw(&self, _: usize, rng: &mut StdRng) -> Result<(Normal, Tensor<2>)> {
        let [means, deviations, targets] = self.numbers(1, rng).map(column);
        Ok((Normal::new(means, deviations), targets))
    }
}

/// What is wrong with the errors of normal predictions that are right on average.
#[derive(Clone, Copy)]
pub enum Trend {
    /// The variance of the normal scores is 1.5 where the deviation is above its median, and 0.5 elsewhere.
    VarianceByDeviation,
    /// The target is 0.83 times the mean and an error. All deviations are 1.
    Slope,
    /// The errors of two coordinates have a correlation of 0.3.
    Correlation,
}

/// Normal predictions with a trend: deviations are uniform between 0.5 and 2, means have deviation 2.
#[derive(Clone, Copy)]
pub struct Trending {
    pub trend: Trend,
    pub samples: usize,
}

impl Model<Normal, Tensor<2>> for Trending {
    fn draw(&self, _: usize, rng: &mut StdRng) -> Result<(Normal, Tensor<2>)> {
        let coordinates = match self.trend {
            Trend::Correlation => 2,
            _ => 1,
        };
        let (mut means, mut deviations, mut targets) = (vec![], vec![], vec![]);
        for _ in 0..self.samples {
            let mut common = None;
            for _ in 0..coordinates {
                let mean: f64 = 2.0 * Distribution::<f64>::sample(&StandardNormal, rng);
                let error: f64 = StandardNormal.sample(rng);
                let deviation = match self.trend {
                    Trend::Slope => 1.0,
                    _ => rng.random_range(0.5..2.0),
                };
                let score = match self.trend {
                    Trend::VarianceByDeviation if deviation > 1.25 => 1.5f64.sqrt() * error,
                    Trend::VarianceByDeviation => 0.5f64.sqrt() * error,
                    Trend::Slope => error - 0.17 * mean,
                    Trend::Correlation => match common {
                        Some(first) => 0.3 * first + 0.91f64.sqrt() * error,
                        None => *common.insert(error),
                    },
                };
                means.push(mean);
                deviations.push(deviation);
                targets.push(mean + deviation * score);
            }
        }
        let rows = |numbers: Vec<f64>| column(numbers).reshape([self.samples, coordinates]);
        let predictions = Normal::new(rows(means), rows(deviations));
        Ok((predictions, rows(targets)))
    }
}

/// Ensembles of five.
impl Model<Mixture<Normal>, Tensor<2>> for Real {
    fn draw(&self, _: usize, rng: &mut StdRng) -> Result<(Mixture<Normal>, Tensor<2>)> {
        let [means, deviations, targets] = self.numbers(5, rng).map(column);
        let weights = means.zeros_like().reshape([self.samples, 5]) + 0.2;
        Ok((
            Mixture::new(weights, Normal::new(means, deviations)),
            targets,
        ))
    }
}

/// Draws from a normal distribution, of which the target is another.
#[derive(Clone, Copy)]
pub struct Draws {
    pub samples: usize,
    /// The draws of each prediction.
    pub each: usize,
    /// Whether draws and targets are rounded to whole numbers.
    pub counts: bool,
}

impl Model<Samples, Tensor<2>> for Draws {
    fn draw(&self, _: usize, rng: &mut StdRng) -> Result<(Samples, Tensor<2>)> {
        let of = Real {
            samples: self.samples,
            shift: 0.0,
            spread: 1.0,
        };
        let (predictions, targets): (Normal, Tensor<2>) = of.draw(0, rng)?;
        let draws = Samples::drawn_from(&predictions, self.each, rng);
        Ok(match self.counts {
            true => (draws.map(&|x| x.round()), targets.round()),
            false => (draws, targets),
        })
    }
}
