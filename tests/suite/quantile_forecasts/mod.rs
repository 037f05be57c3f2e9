//! Forecasts by quantiles.

mod calibration;
mod conformal;
mod coverage;
mod scores;

use crate::prelude::*;

const LEVELS: [f64; 5] = [0.025, 0.25, 0.5, 0.75, 0.975];

const QUANTILES: [[f64; 5]; 6] = [
    [0.0, 2.0, 3.0, 5.0, 9.0],
    [10.0, 20.0, 30.0, 45.0, 90.0],
    [-4.5, -1.25, 0.5, 2.0, 6.0],
    [7.0; 5],
    [100.0, 140.0, 150.0, 155.0, 160.0],
    [0.0, 0.0, 1.0, 1.0, 4.0],
];

const TARGETS: [f64; 6] = [3.0, 8.0, 6.5, 7.0, 171.0, 0.0];

const USUAL: [f64; 7] = [0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975];

fn forecasts(levels: &[f64], rows: &[impl AsRef<[f64]>]) -> QuantileForecasts {
    QuantileForecasts::new(levels.to_vec(), tensor(rows)).unwrap()
}

fn example() -> (QuantileForecasts, Tensor<2>) {
    (forecasts(&LEVELS, &QUANTILES), column(TARGETS))
}

/// Standard normal quantiles at the usual levels.
fn normal_quantiles(mean: f64, deviation: f64) -> Vec<f64> {
    const Z: [f64; 4] = [
        0.0,
        0.6744897501960817,
        1.2815515655446004,
        1.959963984540054,
    ];
    let z = [-Z[3], -Z[2], -Z[1], Z[0], Z[1], Z[2], Z[3]];
    z.iter().map(|z| mean + deviation * z).collect()
}
