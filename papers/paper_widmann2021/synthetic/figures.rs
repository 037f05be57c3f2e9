//! Figures 6 to 9, the estimators, and 10 and 11, the tests.

use plotters::prelude::*;

use super::{
    models::Model,
    study::{LEVEL, Results, Summary, settings},
    tests::TESTS,
};
use crate::{
    Result,
    panels::{self, Area},
    plot::{self, Axis},
};

/// Mean absolute error and variance of the estimators against the size of the data sets.
pub fn estimators(results: &[Results]) -> Result<String> {
    let shown: Vec<(usize, &str)> = TESTS
        .iter()
        .enumerate()
        .filter_map(|(place, test)| Some((place, test.estimator?)))
        .collect();
    let settings = settings(results);
    panels::svg((1000, 520), |area| {
        let (plots, keys) = area.split_vertically(490);
        let cells = panels::grid(&plots, [2, settings.len()], "samples", "")?;
        let quantities: [(&str, Summary); 2] = [
            ("mean absolute error", Results::mean_error),
            ("variance", Results::variance),
        ];
        for (cells, (quantity, value)) in cells.chunks(settings.len()).zip(quantities) {
            for (cell, &(model, d)) in cells.iter().zip(&settings) {
                let of = |r: &&Results| r.model == model && r.d == d;
                let curve = |&(test, _): &(usize, &str)| -> Vec<(f64, f64)> {
                    let of = results.iter().filter(of);
                    of.map(|r| ((r.n as f64).log2(), value(r, test).log10()))
                        .collect()
                };
                let curves: Vec<_> = shown.iter().map(curve).collect();
                let title = format!("{quantity}, {}, d = {d}", model.name());
                let values = curves.iter().flatten().map(|point| point.1);
                let y = Axis::around(values, 5, plot::power);
                let mut chart = plot::chart(cell, &title, sizes(results), y)?;
                for (which, curve) in curves.iter().enumerate() {
                    plot::line(&mut chart, curve, which)?;
                }
            }
        }
        for (which, (_, name)) in shown.iter().enumerate() {
            plot::key(&keys, name, (180 + 190 * which as i32, 14), which)?;
        }
        Ok(())
    })
}

/// Test errors against the size of the data sets.
pub fn tests(results: &[Results]) -> Result<String> {
    let settings = settings(results);
    panels::svg((1000, 520), |area| {
        let (plots, keys) = area.split_horizontally(840);
        let cells = panels::grid(&plots, [settings.len() / 2, 2], "samples", "test error")?;
        for (cell, &(model, d)) in cells.iter().zip(&settings) {
            errors(cell, results, model, d)?;
        }
        for (which, test) in TESTS.iter().enumerate() {
            plot::key(&keys, test.name, (8, 60 + 26 * which as i32), which)?;
        }
        let y = 60 + 26 * TESTS.len() as i32;
        keys.draw(&panels::dashed([(8, y), (40, y)], BLACK.stroke_width(1)))?;
        panels::label(&keys, "level", (48, y))
    })
}

fn errors(cell: &Area, results: &[Results], model: Model, d: usize) -> Result<()> {
    let title = format!("{} model, d = {d}", model.name());
    let y = Axis::new(-0.03..1.0, 5, |y| format!("{y:.1}"));
    let mut chart = plot::chart(cell, &title, sizes(results), y)?;
    if model == Model::Calibrated {
        let level = [(1.5, LEVEL), (10.5, LEVEL)];
        chart.draw_series([panels::dashed(level, BLACK.stroke_width(1))])?;
    }
    let of = |r: &&Results| r.model == model && r.d == d;
    for which in 0..TESTS.len() {
        let error = |r: &Results| Some(((r.n as f64).log2(), r.test_error(which)?));
        let curve: Vec<_> = results.iter().filter(of).filter_map(error).collect();
        plot::line(&mut chart, &curve, which)?;
    }
    Ok(())
}

/// The sizes, on a logarithmic scale.
fn sizes(results: &[Results]) -> Axis {
    let largest = results.iter().map(|r| r.n).max().unwrap_or(4);
    let range = 1.5..(largest as f64).log2() + 0.5;
    Axis::new(range, 5, |x| format!("{:.0}", x.exp2()))
}
