//! A.1: a straight line with one variance, fitted to data that are neither straight nor of one
//! variance.

use std::f64::consts::PI;

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_calibration::{
    distribution::{Marginals, Normal},
    estimator::Skce,
    hypothesis::{AsymptoticSkceTest, CalibrationTest, ExactTest},
};
use burn_calibration_testing::bootstrap::Bootstrap;
use plotters::prelude::*;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use rand_distr::{Distribution, StandardNormal};

use crate::{
    Result,
    arguments::Arguments,
    kernel::kernel,
    output::{Folder, csv},
    panels::{self, Area},
    parallel,
    plot::{self, Axis, COLOURS},
};

const TRAINING: usize = 100;
const VALIDATION: usize = 50;
/// Of the bootstrap, as in the paper.
const REPLICATES: usize = 100_000;
/// Of the exact test, each of which costs an estimate.
const REDRAWN: usize = 1000;
const LEVEL: f64 = 0.05;

/// Of the authors' run: intercept, slope and standard deviation of the fit, and the p-value, on
/// <https://devmotion.github.io/Calibration_ICLR2021/dev/generated/ols/>.
const PUBLISHED: ([f64; 3], f64) = ([0.0321, 1.0060, 0.4472], 0.04625);

pub fn run(arguments: &Arguments, folder: &Folder) -> Result<()> {
    let mut rng = StdRng::seed_from_u64(arguments.seed);
    let training = sample(TRAINING, &mut rng);
    let validation = sample(VALIDATION, &mut rng);
    let model = Line::fit(&training);
    let (predictions, targets) = model.predict(&validation);

    // Quantile calibration: P(Y ≤ y) should be uniform.
    let levels = predictions.cdf(&targets);
    let mut levels = levels.try_into_vec_as::<f64>().expect("numbers");
    levels.sort_by(f64::total_cmp);
    folder.write(
        "ols.csv",
        csv(&["quantile level"], levels.iter().map(|&x| [x]))?,
    )?;
    folder.write("ols.svg", draw(&training, &model, &levels)?)?;

    // Is it calibrated? The bootstrap as in the paper, and two more.
    let bootstrap = Bootstrap {
        kernel: kernel(),
        replicates: REPLICATES,
    };
    let gamma = AsymptoticSkceTest::new(kernel());
    let exact = ExactTest::new(Skce::biased(kernel())).with_replicates(REDRAWN);
    let tests: [(&str, &dyn CalibrationTest<Normal>); 3] = [
        ("bootstrap", &bootstrap),
        ("gamma", &gamma),
        ("exact", &exact),
    ];
    let (line, p_value) = PUBLISHED;
    println!("Ordinary least squares, published numbers (of other draws) in brackets.\n");
    println!("| intercept | slope | standard deviation | p-value of | |");
    println!("| ---: | ---: | ---: | --- | ---: |");
    print!("| {:.4} ({:.4}) ", model.intercept, line[0]);
    print!("| {:.4} ({:.4}) ", model.slope, line[1]);
    print!("| {:.4} ({:.4}) ", model.deviation, line[2]);
    for (place, (name, test)) in tests.iter().enumerate() {
        let outcome = test.outcome(&predictions, &targets, &mut rng)?;
        match place {
            0 => println!("| {name} | {:.5} ({p_value}) |", outcome.p_value),
            _ => println!("| | | | {name} | {:.5} |", outcome.p_value),
        }
    }

    // One draw says little: how often is the model found out?
    let draws = arguments.datasets as usize;
    let rejected = parallel::map("least squares", draws, |draw| {
        let mut rng = StdRng::seed_from_u64(arguments.seed + 1 + draw as u64);
        let model = Line::fit(&sample(TRAINING, &mut rng));
        let (predictions, targets) = model.predict(&sample(VALIDATION, &mut rng));
        let p_value = |test: &dyn CalibrationTest<Normal>, rng: &mut StdRng| -> Result<f64> {
            Ok(test.outcome(&predictions, &targets, rng)?.p_value)
        };
        Ok([p_value(&bootstrap, &mut rng)?, p_value(&gamma, &mut rng)?].map(|p| p <= LEVEL))
    })?;
    let share = |test: usize| {
        let rejected = rejected.iter().filter(|rejected| rejected[test]).count();
        100.0 * rejected as f64 / draws as f64
    };
    println!(
        "\nOf {draws} other draws of all data, {:.1} % are rejected at level {LEVEL} by the bootstrap with \
         {} replicates, {:.1} % by gamma.\n",
        share(0),
        bootstrap.replicates,
        share(1)
    );
    Ok(())
}

/// `Y = sin(πX) + |1 + X| ε`, `ε ∼ N(0, 0.15²)`, `X` uniform in `[−1, 1]`.
fn sample(n: usize, rng: &mut StdRng) -> Vec<(f64, f64)> {
    let mut pair = || {
        let x: f64 = rng.random_range(-1.0..1.0);
        let epsilon: f64 = StandardNormal.sample(rng);
        (x, (PI * x).sin() + (1.0 + x).abs() * 0.15 * epsilon)
    };
    (0..n).map(|_| pair()).collect()
}

/// `N(intercept + slope·x, deviation²)`.
struct Line {
    intercept: f64,
    slope: f64,
    deviation: f64,
}

impl Line {
    /// Least squares; the variance is that of the residuals.
    fn fit(data: &[(f64, f64)]) -> Self {
        let n = data.len() as f64;
        let mean =
            |f: &dyn Fn(f64, f64) -> f64| data.iter().map(|&(x, y)| f(x, y)).sum::<f64>() / n;
        let (centre, middle) = (mean(&|x, _| x), mean(&|_, y| y));
        let slope = mean(&|x, y| (x - centre) * (y - middle)) / mean(&|x, _| (x - centre).powi(2));
        let intercept = middle - slope * centre;
        let squares = mean(&|x, y| (y - intercept - slope * x).powi(2));
        Self {
            intercept,
            slope,
            deviation: (squares * n / (n - 1.0)).sqrt(),
        }
    }

    fn mean(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }

    /// Predictions and targets.
    fn predict(&self, data: &[(f64, f64)]) -> (Normal, Tensor<2>) {
        let column = |values: Vec<f64>| {
            let data = TensorData::new(values, [data.len(), 1]);
            Tensor::<2>::from_data(data, (&Device::default(), DType::F64))
        };
        let means = column(data.iter().map(|&(x, _)| self.mean(x)).collect());
        let deviations = means.full_like(self.deviation);
        let targets = column(data.iter().map(|&(_, y)| y).collect());
        (Normal::new(means, deviations), targets)
    }
}

/// Figures 4 and 5: the data with the model, and its quantiles.
fn draw(training: &[(f64, f64)], model: &Line, levels: &[f64]) -> Result<String> {
    panels::svg((900, 400), |area| {
        let (left, right) = area.split_horizontally(450);
        data(&left, training, model)?;
        quantiles(&right, levels)
    })
}

/// Mean and standard deviation at a feature.
type Law<'a> = &'a dyn Fn(f64) -> (f64, f64);

/// Bands of two standard deviations around the means.
fn data(area: &Area, training: &[(f64, f64)], model: &Line) -> Result<()> {
    let mut chart = panels::chart(area, "data, their law, and the model", -1.0..1.0, -2.0..2.0)?;
    let xs = || (0..=100).map(|i| -1.0 + 0.02 * f64::from(i));
    let of_data = |x: f64| ((PI * x).sin(), 0.15 * (1.0 + x).abs());
    let of_model = |x: f64| (model.mean(x), model.deviation);
    let laws: [(usize, Law); 2] = [(0, &of_data), (1, &of_model)];
    for (which, law) in laws {
        let at = |x: f64, z: f64| (x, law(x).0 + z * law(x).1);
        let band: Vec<_> = xs()
            .map(|x| at(x, 2.0))
            .chain(xs().rev().map(|x| at(x, -2.0)))
            .collect();
        chart.draw_series([Polygon::new(band, COLOURS[which].mix(0.2))])?;
        chart.draw_series(LineSeries::new(
            xs().map(|x| at(x, 0.0)),
            COLOURS[which].stroke_width(2),
        ))?;
    }
    let points = training
        .iter()
        .map(|&at| Circle::new(at, 2, BLACK.filled()));
    chart.draw_series(points)?;
    Ok(())
}

/// The empirical distribution function of `P(Y ≤ y)`, a step at each.
fn quantiles(area: &Area, levels: &[f64]) -> Result<()> {
    let axis = || Axis::new(0.0..1.0, 5, |x| format!("{x:.2}"));
    let title = "quantile level against cumulative probability";
    let mut chart = plot::chart(area, title, axis(), axis())?;
    let diagonal = [(0.0, 0.0), (1.0, 1.0)];
    chart.draw_series([panels::dashed(diagonal, BLACK.stroke_width(1))])?;
    let n = levels.len() as f64;
    let step = |(i, &x): (usize, &f64)| [(x, i as f64 / n), (x, (i + 1) as f64 / n)];
    let steps = levels.iter().enumerate().flat_map(step);
    let ends = std::iter::once((0.0, 0.0)).chain(steps).chain([(1.0, 1.0)]);
    chart.draw_series(LineSeries::new(ends, COLOURS[1].stroke_width(2)))?;
    Ok(())
}
