//! Figure 2: how often the tests err, at every significance level.

use plotters::prelude::*;

use crate::{
    Result,
    arguments::Arguments,
    output::csv,
    panels::{self, Area},
    simulation::Results,
    tests::{TESTS, Test},
};

/// 0, 0.01, …, 1.
fn levels() -> impl Iterator<Item = f64> {
    (0..=100).map(|per_cent| f64::from(per_cent) / 100.0)
}

/// The curves.
pub fn table(results: &[Results]) -> Result<Vec<u8>> {
    let mut rows = Vec::new();
    for (place, test) in TESTS.iter().enumerate() {
        for results in results {
            let error = |level| {
                (
                    test.name,
                    results.model.name,
                    level,
                    results.error(place, level),
                )
            };
            rows.extend(levels().map(error));
        }
    }
    csv(&["test", "model", "level", "test error"], rows)
}

/// The errors at the usual levels in per cent, beside those of the paper.
pub fn markdown(results: &[Results], arguments: &Arguments) -> String {
    let mut text = format!(
        "Errors in per cent of {} data sets, {} replicates, seed {}: rejections of the calibrated M1, \
         acceptances of the miscalibrated M2 and M3.\n",
        arguments.datasets, arguments.replicates, arguments.seed
    );
    for (which, level) in [0.01, 0.05].into_iter().enumerate() {
        text += &format!("\n| level {} % |", 100.0 * level);
        for results in results {
            text += &format!(" {} | published |", results.model.name);
        }
        text += &format!("\n| --- |{}\n", " ---: | ---: |".repeat(results.len()));
        for (place, test) in TESTS.iter().enumerate() {
            text += &format!("| {} |", test.name);
            for (column, results) in results.iter().enumerate() {
                let ours = results.error(place, level);
                let deviation = (ours * (1.0 - ours) / results.datasets() as f64).sqrt();
                text += &format!(" {:.2} ± {:.2} |", 100.0 * ours, 100.0 * deviation);
                text += &match test.published {
                    Some(errors) => format!(" {:.2} |", 100.0 * errors[which][column]),
                    None => " |".into(),
                };
            }
            text += "\n";
        }
    }
    text
}

pub fn draw(results: &[Results]) -> Result<String> {
    let rows: Vec<&[Test]> = TESTS.chunk_by(|a, b| a.row == b.row).collect();
    panels::svg((940, 640), |area| {
        let (plots, keys) = area.split_horizontally(740);
        let shape = [rows.len(), results.len()];
        let cells = panels::grid(&plots, shape, "significance level", "test error")?;
        let keys = keys.margin(0, 24, 0, 0).split_evenly((rows.len(), 1));
        keys[0].draw(&panels::dashed(
            [(4, 111), (36, 111)],
            BLACK.stroke_width(1),
        ))?;
        panels::label(&keys[0], "the significance level", (44, 111))?;
        let mut first = 0; // the place of the first test of a row
        for ((tests, cells), key) in rows.iter().zip(cells.chunks(results.len())).zip(&keys) {
            for (cell, results) in cells.iter().zip(results) {
                curves(cell, first, tests, results)?;
            }
            for (line, test) in tests.iter().enumerate() {
                let y = 45 + 22 * line as i32;
                key.draw(&PathElement::new([(4, y), (36, y)], COLOURS[line]))?;
                key.draw(&marker((20, y), line))?;
                panels::label(key, test.name, (44, y))?;
            }
            first += tests.len();
        }
        Ok(())
    })
}

/// Colours that most people tell apart; markers tell them apart in black and white.
const COLOURS: [RGBColor; 3] = [
    RGBColor(0, 90, 160),
    RGBColor(200, 80, 0),
    RGBColor(0, 120, 80),
];

/// The errors of some tests on the data sets of one model.
fn curves(area: &Area, first: usize, tests: &[Test], results: &Results) -> Result<()> {
    let title = format!("{}: {}", results.model.name, tests[0].row);
    let mut chart = panels::chart(area, &title, 0.0..1.0, -0.05..1.05)?;
    if results.model.calibrated {
        // a test that keeps its level is not above the diagonal
        let diagonal = [(0.0, 0.0), (1.0, 1.0)];
        chart.draw_series([panels::dashed(diagonal, BLACK.stroke_width(1))])?;
    }
    for (line, &colour) in COLOURS[..tests.len()].iter().enumerate() {
        let at = |level| (level, results.error(first + line, level));
        let points: Vec<_> = levels().map(at).collect();
        chart.draw_series(LineSeries::new(thinned(&points), colour))?;
        // markers of different tests at different levels, so that curves that coincide show
        let marked = (0..5).map(|i| at(0.05 + 0.2 * i as f64 + 0.06 * line as f64));
        chart.draw_series(marked.map(|point| marker(point, line)))?;
    }
    Ok(())
}

/// A curve without the inner points of its level stretches, for a small file.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let inner = |i: usize| {
        let around = points.get(i.wrapping_sub(1)).zip(points.get(i + 1));
        around.is_some_and(|(before, after)| before.1 == points[i].1 && after.1 == points[i].1)
    };
    let kept = (0..points.len()).filter(|&i| !inner(i));
    kept.map(|i| points[i]).collect()
}

fn marker<B: DrawingBackend, C: Clone + 'static>(at: C, line: usize) -> DynElement<'static, B, C> {
    let (colour, size) = (COLOURS[line], 4);
    match line {
        0 => Circle::new(at, size, colour.filled()).into_dyn(),
        1 => TriangleMarker::new(at, size + 1, colour.filled()).into_dyn(),
        _ => Cross::new(at, size, colour.stroke_width(2)).into_dyn(),
    }
}
