//! Predictions, and how they are off.

use rand::{RngExt, rngs::StdRng};
use rand_distr::{Distribution, StandardNormal, StudentT};

/// Predicted probabilities of an event, and how they are off.
#[derive(Clone, Copy)]
pub struct Setting {
    pub name: &'static str,
    pub predicted: fn(&mut StdRng) -> f64,
    pub truth: fn(f64) -> f64,
    /// The predictions that are compared with these.
    pub other: fn(f64) -> f64,
}

const fn setting(
    name: &'static str,
    predicted: fn(&mut StdRng) -> f64,
    truth: fn(f64) -> f64,
    other: fn(f64) -> f64,
) -> Setting {
    Setting {
        name,
        predicted,
        truth,
        other,
    }
}

pub fn odds(p: f64, factor: f64) -> f64 {
    let odds = factor * p / (1.0 - p);
    odds / (1.0 + odds)
}

/// The odds to a power.
fn power(p: f64, exponent: f64) -> f64 {
    let odds = (p / (1.0 - p)).powf(exponent);
    if odds.is_finite() {
        odds / (1.0 + odds)
    } else {
        1.0
    }
}

fn rare(rng: &mut StdRng) -> f64 {
    (1e-4 - 0.01 * rng.random::<f64>().ln()).min(0.3)
}

fn moderate(rng: &mut StdRng) -> f64 {
    0.001 + 0.998 * rng.random::<f64>()
}

/// Log-odds of a standard deviation of 6.
fn confident(rng: &mut StdRng) -> f64 {
    let normal: f64 = StandardNormal.sample(rng);
    1.0 / (1.0 + (-6.0 * normal).clamp(-27.0, 27.0).exp())
}

fn alike(rng: &mut StdRng) -> f64 {
    0.88 + 0.04 * rng.random::<f64>()
}

fn tied(rng: &mut StdRng) -> f64 {
    if rng.random() { 0.7 } else { 0.9 }
}

pub const SETTINGS: [Setting; 13] = [
    setting("rare events, calibrated", rare, |p| p, |p| odds(p, 1.5)),
    setting(
        "rare events, odds × 1.5",
        rare,
        |p| odds(p, 1.5),
        |p| odds(p, 1.5),
    ),
    setting(
        "rare events, odds × 4",
        rare,
        |p| odds(p, 4.0),
        |p| odds(p, 1.5),
    ),
    setting(
        "rare events, odds / 4",
        rare,
        |p| odds(p, 0.25),
        |p| odds(p, 1.5),
    ),
    setting("confident, calibrated", confident, |p| p, |p| power(p, 0.7)),
    setting(
        "confident, T = 1.3",
        confident,
        |p| power(p, 1.0 / 1.3),
        |p| power(p, 1.0 / 1.3),
    ),
    setting(
        "confident, T = 2.5",
        confident,
        |p| power(p, 0.4),
        |p| power(p, 0.7),
    ),
    setting("uniform, calibrated", moderate, |p| p, |p| power(p, 1.5)),
    setting(
        "uniform, T = 4",
        moderate,
        |p| power(p, 0.25),
        |p| power(p, 0.5),
    ),
    setting("88 to 92 %, 10 points off", alike, |p| p - 0.1, |p| p - 0.1),
    setting("88 to 92 %, 70 points off", alike, |p| p - 0.7, |p| p - 0.2),
    setting("70 or 90 %, calibrated", tied, |p| p, |p| odds(p, 1.5)),
    setting(
        "70 or 90 %, 5 points off",
        tied,
        |p| p - 0.05,
        |p| odds(p, 1.5),
    ),
];

/// Targets, in predicted standard deviations from the predicted mean, and the mean of their squares.
pub struct RealSetting {
    pub name: &'static str,
    pub target: fn(&mut StdRng) -> f64,
    pub square: f64,
}

fn standard(rng: &mut StdRng) -> f64 {
    StandardNormal.sample(rng)
}

pub const REAL: [RealSetting; 8] = [
    RealSetting {
        name: "calibrated",
        target: standard,
        square: 1.0,
    },
    RealSetting {
        name: "targets 1.1 times as wide",
        target: |rng| 1.1 * standard(rng),
        square: 1.21,
    },
    RealSetting {
        name: "2 times as wide",
        target: |rng| 2.0 * standard(rng),
        square: 4.0,
    },
    RealSetting {
        name: "4 times as wide",
        target: |rng| 4.0 * standard(rng),
        square: 16.0,
    },
    RealSetting {
        name: "half as wide",
        target: |rng| 0.5 * standard(rng),
        square: 0.25,
    },
    RealSetting {
        name: "too high by a deviation",
        target: |rng| 1.0 + standard(rng),
        square: 2.0,
    },
    RealSetting {
        name: "Student's, 5 degrees of freedom",
        target: |rng| StudentT::new(5.0).expect("a number above 0").sample(rng),
        square: 5.0 / 3.0,
    },
    RealSetting {
        name: "1 % at 9 deviations",
        target: |rng| {
            if rng.random::<f64>() < 0.01 {
                9.0
            } else {
                standard(rng)
            }
        },
        square: 0.99 + 0.81,
    },
];
