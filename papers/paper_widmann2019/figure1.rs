//! Figure 1: how the estimates of the calibration error are distributed.

use plotters::prelude::*;
use statrs::statistics::Statistics;

use crate::{
    Result,
    output::csv,
    panels::{self, Area},
    simulation::Results,
    tests::{self, Estimates, Quantity, TESTS},
};

/// Bars of a histogram.
const BINS: usize = 30;

/// The estimates of one estimator on the data sets of one model.
struct Distribution {
    estimator: &'static Estimates,
    model: &'static str,
    mean: f64,
    standard_error: f64,
    /// The error of the model: exactly for the ECE, and for the SKCE of a calibrated model; else the
    /// mean of the unbiased estimates, as in the paper.
    truth: f64,
    published: f64,
    /// The left edge of the first bar, and the width of each.
    start: f64,
    width: f64,
    counts: [usize; BINS],
}

impl Distribution {
    fn new(place: usize, estimator: &'static Estimates, column: usize, results: &Results) -> Self {
        let estimates = results.estimates(place);
        let start = estimates.as_slice().min();
        let width = (estimates.as_slice().max() - start) / BINS as f64;
        let mut counts = [0; BINS];
        for estimate in &estimates {
            // the largest estimate ends the last bar
            counts[(((estimate - start) / width) as usize).min(BINS - 1)] += 1;
        }
        Self {
            estimator,
            model: results.model.name,
            mean: estimates.as_slice().mean(),
            standard_error: estimates.as_slice().std_dev() / (estimates.len() as f64).sqrt(),
            truth: match estimator.of {
                Quantity::Ece => results.model.generator.expected_calibration_error(),
                Quantity::Skce if results.model.calibrated => 0.0,
                Quantity::Skce => results.estimates(unbiased()).mean(),
            },
            published: estimator.published[column],
            start,
            width,
            counts,
        }
    }

    fn edge(&self, bar: usize) -> f64 {
        self.start + bar as f64 * self.width
    }
}

/// The place of the test with the unbiased estimates.
fn unbiased() -> usize {
    let found = TESTS
        .iter()
        .position(|test| test.name == "D, unbiased SKCE");
    found.expect("one of the tests")
}

/// Estimator by estimator, of all models each.
fn distributions(results: &[Results]) -> Vec<Distribution> {
    let row = |(place, estimator)| {
        let models = results.iter().enumerate();
        models.map(move |(column, results)| Distribution::new(place, estimator, column, results))
    };
    tests::estimates().flat_map(row).collect()
}

/// The histograms.
pub fn table(results: &[Results]) -> Result<Vec<u8>> {
    let mut rows = Vec::new();
    for d in distributions(results) {
        for (bar, &count) in d.counts.iter().enumerate() {
            let (from, to) = (d.edge(bar), d.edge(bar + 1));
            rows.push((d.estimator.name, d.model, d.mean, d.truth, from, to, count));
        }
    }
    let header = [
        "estimator",
        "model",
        "mean",
        "true error",
        "from",
        "to",
        "data sets",
    ];
    csv(&header, rows)
}

/// The means beside those of the paper.
pub fn markdown(results: &[Results]) -> String {
    let mut text = String::from("| mean of the estimates |");
    for results in results {
        text += &format!(" {} | published | true |", results.model.name);
    }
    text += &format!("\n| --- |{}", " ---: | ---: | ---: |".repeat(results.len()));
    for row in distributions(results).chunks(results.len()) {
        text += &format!("\n| {} |", row[0].estimator.name);
        for d in row {
            let digits = match d.estimator.of {
                Quantity::Ece => 4,
                Quantity::Skce => 6,
            };
            let mean = format!("{:.digits$} ± {:.digits$}", d.mean, d.standard_error);
            text += &format!(
                " {mean} | {:.digits$} | {:.digits$} |",
                d.published, d.truth
            );
        }
    }
    text + "\n"
}

pub fn draw(results: &[Results]) -> Result<String> {
    let distributions = distributions(results);
    let shape = [distributions.len() / results.len(), results.len()];
    panels::svg((900, 760), |area| {
        let (plots, key) = area.split_vertically(730);
        let cells = panels::grid(
            &plots,
            shape,
            "estimate of the calibration error",
            "data sets",
        )?;
        for (cell, distribution) in cells.iter().zip(&distributions) {
            histogram(cell, distribution)?;
        }
        key.draw(&PathElement::new([(250, 10), (290, 10)], mean()))?;
        panels::label(&key, "mean of the estimates", (298, 10))?;
        key.draw(&panels::dashed([(500, 10), (540, 10)], truth()))?;
        panels::label(&key, "error of the model", (548, 10))
    })
}

/// Bars, a solid line at the mean of the estimates and a dashed one at the error of the model.
fn histogram(area: &Area, d: &Distribution) -> Result<()> {
    let top = 1.1 * *d.counts.iter().max().expect("bars") as f64;
    let (left, right) = (d.start.min(d.truth), d.edge(BINS).max(d.truth));
    let margin = 0.04 * (right - left);
    let title = format!("{}: {}", d.model, d.estimator.name);
    let mut chart = panels::chart(area, &title, left - margin..right + margin, 0.0..top)?;

    let mut outline = vec![(d.start, 0.0)];
    for (bar, &count) in d.counts.iter().enumerate() {
        outline.extend([(d.edge(bar), count as f64), (d.edge(bar + 1), count as f64)]);
    }
    outline.push((d.edge(BINS), 0.0));
    chart.draw_series([Polygon::new(outline, RGBColor(170, 190, 215))])?;

    let vertical = |x| [(x, 0.0), (x, top)];
    chart.draw_series([PathElement::new(vertical(d.mean), mean())])?;
    chart.draw_series([panels::dashed(vertical(d.truth), truth())])?;
    Ok(())
}

fn mean() -> ShapeStyle {
    RGBColor(0, 90, 160).stroke_width(2)
}

fn truth() -> ShapeStyle {
    BLACK.stroke_width(2)
}
