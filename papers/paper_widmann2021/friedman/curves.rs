//! Figures 3 and 12: networks and their ensemble during training.

use burn_calibration::distribution::{Mixture, Normal};
use plotters::prelude::*;
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{
    PARTS,
    data::Data,
    scores::{SCORES, scores},
    training::{self, Snapshot},
};
use crate::{
    Result,
    arguments::Arguments,
    output::csv,
    panels::{self, Area},
    parallel,
    plot::{self, Axis, COLOURS},
};

/// The scores of one kind of predictions of the training and the test data at one iteration.
pub struct Point {
    iteration: usize,
    part: usize,
    /// For each network.
    members: Vec<[f64; 6]>,
    ensemble: [f64; 6],
}

impl Point {
    fn mean(&self, score: usize) -> f64 {
        let sum: f64 = self.members.iter().map(|of| of[score]).sum();
        sum / self.members.len() as f64
    }

    fn extremes(&self, score: usize) -> (f64, f64) {
        let values = self.members.iter().map(|of| of[score]);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        })
    }
}

pub fn run(data: &[Data; 2], arguments: &Arguments) -> Result<Vec<Point>> {
    let iterations = iterations(arguments.iterations as usize);
    let mut rng = StdRng::seed_from_u64(arguments.seed);
    let seeds: Vec<u64> = (0..arguments.networks).map(|_| rng.next_u64()).collect();
    let members = parallel::map("training", seeds.len(), |member| {
        Ok(training::of_paper(data, &iterations, seeds[member]))
    })?;
    parallel::map("evaluation", 2 * iterations.len(), |index| {
        let (at, part) = (index / 2, index % 2);
        let snapshots: Vec<&Snapshot> = members.iter().map(|of| &of[at]).collect();
        let predictions: Vec<Normal> = snapshots
            .iter()
            .map(|snapshot| snapshot.predictions[part].clone())
            .collect();
        let targets = &data[part].targets;
        let of_member = |predictions| scores(predictions, targets, arguments.seed);
        Ok(Point {
            iteration: snapshots[0].iteration,
            part,
            members: predictions.iter().map(of_member).collect::<Result<_>>()?,
            ensemble: scores(&Mixture::ensemble(&predictions), targets, arguments.seed)?,
        })
    })
}

/// Iterations that are looked at: on a logarithmic scale, and the last.
fn iterations(last: usize) -> Vec<usize> {
    let all = (0..).map(|i| 10f64.powf(f64::from(i) / PER_DECADE).round() as usize);
    let mut iterations: Vec<usize> = all.take_while(|&i| i < last).collect();
    iterations.push(last);
    iterations.dedup();
    iterations
}

const PER_DECADE: f64 = 12.0;

/// Everything, for each network (from 1 on) and the ensemble.
pub fn table(points: &[Point]) -> Result<Vec<u8>> {
    let mut rows = Vec::new();
    for point in points {
        let members = point.members.iter().enumerate();
        let members = members.map(|(i, of)| ((i + 1).to_string(), of));
        for (name, of) in members.chain([("ensemble".to_owned(), &point.ensemble)]) {
            for (score, value) in SCORES.iter().zip(of) {
                let part = PARTS[point.part];
                rows.push((point.iteration, part, name.clone(), *score, *value));
            }
        }
    }
    csv(&["iteration", "data", "model", "score", "value"], rows)
}

/// Some iterations: means over the networks, and the ensemble.
pub fn markdown(points: &[Point]) -> String {
    let mut text =
        String::from("Friedman 1: mean of the networks / ensemble.\n\n| data | iteration |");
    for score in SCORES {
        text += &format!(" {score} |");
    }
    text += &format!("\n| --- | ---: |{}\n", " ---: |".repeat(SCORES.len()));
    let last = points
        .iter()
        .map(|point| point.iteration)
        .max()
        .unwrap_or(0);
    let earlier = [100, 300, 1000, 1500].into_iter().filter(|&i| i < last);
    let wanted: Vec<usize> = earlier.chain([last]).collect();
    for (part, name) in PARTS.iter().enumerate() {
        let of_part: Vec<&Point> = points.iter().filter(|point| point.part == part).collect();
        for &wanted in &wanted {
            // the nearest that was looked at
            let nearest = of_part
                .iter()
                .min_by_key(|point| point.iteration.abs_diff(wanted));
            let Some(point) = nearest else { continue };
            text += &format!("| {name} | {} |", point.iteration);
            for score in 0..SCORES.len() {
                let (mean, ensemble) = (point.mean(score), point.ensemble[score]);
                text += &format!(" {} / {} |", short(mean), short(ensemble));
            }
            text += "\n";
        }
    }
    text
}

fn short(value: f64) -> String {
    match value.abs() {
        small if small < 1e-3 => format!("{value:.1e}"),
        small if small < 0.1 => format!("{value:.4}"),
        large if large >= 100.0 => format!("{value:.0}"),
        _ => format!("{value:.3}"),
    }
}

/// How a score is drawn, as there: logarithmically, by the inverse hyperbolic sine, or as it is.
struct Scale {
    of: fn(f64) -> f64,
    label: fn(&f64) -> String,
}

fn scale(score: &str) -> Scale {
    match score {
        "MSE" | "pinball" | "SKCE, biased" => Scale {
            of: f64::log10,
            label: plot::power,
        },
        "NLL" => Scale {
            of: f64::asinh,
            label: |y| short_tick(y.sinh()),
        },
        "SKCE, unbiased" => Scale {
            of: |y| (1000.0 * y).asinh(),
            label: |y| short_tick(y.sinh() / 1000.0),
        },
        _ => Scale {
            of: |y| y,
            label: |y| format!("{y:.1}"),
        },
    }
}

/// Two digits.
fn short_tick(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        middle if (0.1..1e4).contains(&middle) => format!("{value:.1}"),
        _ => format!("{value:.0e}"),
    }
}

pub fn draw(points: &[Point]) -> Result<String> {
    panels::svg((1000, 620), |area| {
        let (plots, keys) = area.split_vertically(590);
        let cells = panels::grid(&plots, [2, 3], "iteration", "")?;
        for (score, cell) in cells.iter().enumerate() {
            curves(cell, points, score)?;
        }
        let names = [
            "networks, training",
            "networks, test",
            "ensemble, training",
            "ensemble, test",
        ];
        for (which, name) in names.iter().enumerate() {
            let x = 130 + 210 * which as i32;
            let style = COLOURS[which].stroke_width(2);
            if which < 2 {
                let band = [(x, 8), (x + 32, 20)];
                keys.draw(&Rectangle::new(band, COLOURS[which].mix(0.2).filled()))?;
            }
            keys.draw(&PathElement::new([(x, 14), (x + 32, 14)], style))?;
            panels::label(&keys, name, (x + 40, 14))?;
        }
        Ok(())
    })
}

/// The range and the mean of the networks, and the ensemble, of both parts of the data.
fn curves(area: &Area, points: &[Point], score: usize) -> Result<()> {
    let Scale { of, label } = scale(SCORES[score]);
    let x = |point: &Point| (point.iteration as f64).log10();
    let ends = points.iter().flat_map(|point| {
        let (low, high) = point.extremes(score);
        [low, high, point.ensemble[score]]
    });
    let y = Axis::around(ends.map(of), 6, label);
    let last = points.iter().map(x).fold(0.0, f64::max);
    let axis = Axis::new(0.0..last, 5, |x| format!("{:.0}", 10f64.powf(*x)));
    let mut chart = plot::chart(area, SCORES[score], axis, y)?;
    for part in 0..PARTS.len() {
        let of_part: Vec<&Point> = points.iter().filter(|point| point.part == part).collect();
        let low = of_part.iter().map(|p| (x(p), of(p.extremes(score).0)));
        let high = of_part.iter().map(|p| (x(p), of(p.extremes(score).1)));
        let band: Vec<(f64, f64)> = low.chain(high.rev()).collect();
        chart.draw_series([Polygon::new(band, COLOURS[part].mix(0.2))])?;
        let mean = of_part.iter().map(|p| (x(p), of(p.mean(score))));
        chart.draw_series(LineSeries::new(mean, COLOURS[part].stroke_width(2)))?;
        let ensemble = of_part.iter().map(|p| (x(p), of(p.ensemble[score])));
        let style = COLOURS[part + 2].stroke_width(2);
        chart.draw_series(LineSeries::new(ensemble, style))?;
    }
    Ok(())
}
