//! Real targets whose scales are right, or wrong by a factor: how often a map is chosen, and how often it is worse than
//! none.

use burn::tensor::{DType, Device, Tensor, TensorData};
use burn_calibration::{
    distribution::{Component, Density, Laplace, Marginals, Normal},
    recalibration::{AutoRecalibrationConfig, Fit, Recalibrated, Recalibration, ScaleFamily},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use rand_distr::{Exp1, StandardNormal, StudentT};
use rayon::prelude::*;

use super::{Options, percent};

/// Errors in predicted deviations.
type Errors = fn(&mut StdRng) -> f64;

fn normal(rng: &mut StdRng) -> f64 {
    rng.sample(StandardNormal)
}

fn student(rng: &mut StdRng) -> f64 {
    rng.sample(StudentT::new(3.0).expect("degrees of freedom")) / 3f64.sqrt()
}

fn exponential(rng: &mut StdRng) -> f64 {
    rng.sample::<f64, _>(Exp1) - 1.0
}

/// Of variance 1, one error in 20 with five times the deviation of the others.
fn wide_outliers(rng: &mut StdRng) -> f64 {
    let factor = if rng.random_bool(0.05) { 5.0 } else { 1.0 };
    factor * normal(rng) / (0.95f64 + 0.05 * 25.0).sqrt()
}

/// Of variance 1, one error in 20 at five times the deviation of the others.
fn far_outliers(rng: &mut StdRng) -> f64 {
    let error = match rng.random_range(0..40) {
        0 => 5.0,
        1 => -5.0,
        _ => normal(rng),
    };
    error / (0.95f64 + 0.05 * 25.0).sqrt()
}

/// Of mean distance 1, which is the scale of a Laplace prediction.
fn heavy(rng: &mut StdRng) -> f64 {
    const MEAN_DISTANCE: f64 = 2.044_409_887_7; // 2 √ν Γ((ν + 1)/2) / (√π Γ(ν/2) (ν − 1)) of ν = 1.5
    rng.sample(StudentT::new(1.5).expect("degrees of freedom")) / MEAN_DISTANCE
}

fn too_small(rng: &mut StdRng) -> f64 {
    normal(rng) / 1.5
}

fn too_large(rng: &mut StdRng) -> f64 {
    normal(rng) * 1.5
}

fn column(numbers: Vec<f64>) -> Tensor<2> {
    let data = TensorData::new(numbers.clone(), [numbers.len(), 1]);
    Tensor::from_data(data, (&Device::flex(), DType::F64))
}

/// Whether a map is chosen, and whether it is worse than none on 10,000 new rows.
fn outcome<P>(error: Errors, predictions: fn(&Tensor<2>) -> P, n: usize, seed: u64) -> [bool; 2]
where
    P: ScaleFamily + Component + Marginals,
{
    let mut rng = StdRng::seed_from_u64(seed);
    let mut data = |n: usize| {
        let targets = column((0..n).map(|_| error(&mut rng)).collect());
        (predictions(&targets), targets)
    };
    let map = AutoRecalibrationConfig::new();
    let (p, y) = data(n);
    let map = map.fit(p, y).expect("the data are valid");
    if map.choice().chosen == "none" {
        return [false; 2];
    }
    let (p, y) = data(10_000);
    let after = match map.forward(p.clone()) {
        Recalibrated::Family(p) => p.log_density(&y),
        Recalibrated::Mixture(p) => p.log_density(&y),
        _ => unreachable!("no candidate has levels alone"),
    };
    let loss = (p.log_density(&y) - after).mean().into_scalar::<f64>();
    [true, loss > 0.0]
}

/// Prints the table of real targets.
pub fn run(options: &Options) {
    let normals = |y: &Tensor<2>| Normal::new(y.zeros_like(), y.ones_like());
    let laplaces = |y: &Tensor<2>| Laplace::new(y.zeros_like(), y.ones_like());
    let settings: [(&str, Errors); 7] = [
        ("t with 3 degrees of freedom", student),
        ("exponential", exponential),
        ("outliers from N(0, 25)", wide_outliers),
        ("outliers at ±5", far_outliers),
        ("normal, scales 1.5 times too large", too_small),
        ("normal, scales 1.5 times too small", too_large),
        ("Laplace predictions, t with 1.5 degrees of freedom", heavy),
    ];
    println!("\n| errors | samples | a map is chosen | and is worse than none |");
    println!("| --- | ---: | ---: | ---: |");
    for (name, error) in settings {
        let samples = match &options.samples[..] {
            [] => &[100],
            samples => samples,
        };
        for &n in samples {
            let seeds = options.seed..options.seed + options.datasets;
            let of_set = |seed| {
                if name.starts_with("Laplace") {
                    outcome(error, laplaces, n, seed)
                } else {
                    outcome(error, normals, n, seed)
                }
            };
            let outcomes: Vec<[bool; 2]> = seeds.into_par_iter().map(of_set).collect();
            let count = |k: usize| outcomes.iter().filter(|outcome| outcome[k]).count();
            let all = outcomes.len();
            println!(
                "| {name} | {n} | {} | {} |",
                percent(count(0), all),
                percent(count(1), all)
            );
        }
    }
}
