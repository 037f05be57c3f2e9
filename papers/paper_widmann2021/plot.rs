//! Charts with axes of any scale, and lines that are told apart.

use std::ops::Range;

use plotters::prelude::*;

use crate::{
    Result,
    panels::{Area, Chart},
};

/// An axis: what it shows, and how its numbers are written.
pub struct Axis {
    pub range: Range<f64>,
    pub labels: usize,
    pub format: fn(&f64) -> String,
}

impl Axis {
    pub fn new(range: Range<f64>, labels: usize, format: fn(&f64) -> String) -> Self {
        Self {
            range,
            labels,
            format,
        }
    }

    /// Around values, with a margin.
    pub fn around(
        values: impl IntoIterator<Item = f64>,
        labels: usize,
        format: fn(&f64) -> String,
    ) -> Self {
        let (low, high) = values
            .into_iter()
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            });
        let margin = 0.05 * (high - low).max(1e-9);
        Self::new(low - margin..high + margin, labels, format)
    }
}

/// A number at a logarithmic axis.
pub fn power(exponent: &f64) -> String {
    format!("{:.0e}", 10f64.powf(*exponent))
}

/// The axes of one chart under its title.
pub fn chart<'a>(area: &Area<'a>, title: &str, x: Axis, y: Axis) -> Result<Chart<'a>> {
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 13))
        .margin_right(14)
        .x_label_area_size(20)
        .y_label_area_size(48)
        .build_cartesian_2d(x.range, y.range)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_labels(x.labels)
        .y_labels(y.labels)
        .label_style(("sans-serif", 11))
        .x_label_formatter(&x.format)
        .y_label_formatter(&y.format)
        .draw()?;
    Ok(chart)
}

/// Colours that most people tell apart; markers tell them apart in black and white.
pub const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 90, 160),
    RGBColor(200, 80, 0),
    RGBColor(0, 120, 80),
    RGBColor(150, 60, 150),
    RGBColor(110, 110, 110),
    RGBColor(190, 30, 60),
    RGBColor(120, 170, 220),
    RGBColor(180, 150, 0),
];

/// A line with markers.
pub fn line(chart: &mut Chart, points: &[(f64, f64)], which: usize) -> Result<()> {
    let style = COLOURS[which].stroke_width(2);
    chart.draw_series(LineSeries::new(points.iter().copied(), style))?;
    chart.draw_series(points.iter().map(|&at| marker(at, which)))?;
    Ok(())
}

pub fn marker<B: DrawingBackend, C: Clone + 'static>(
    at: C,
    which: usize,
) -> DynElement<'static, B, C> {
    let colour = COLOURS[which];
    match which % 4 {
        0 => Circle::new(at, 4, colour.filled()).into_dyn(),
        1 => TriangleMarker::new(at, 5, colour.filled()).into_dyn(),
        2 => Cross::new(at, 4, colour.stroke_width(2)).into_dyn(),
        _ => Circle::new(at, 4, colour.stroke_width(2)).into_dyn(),
    }
}

/// A line of a key.
pub fn key(area: &Area, name: &str, (x, y): (i32, i32), which: usize) -> Result<()> {
    let style = COLOURS[which].stroke_width(2);
    area.draw(&PathElement::new([(x, y), (x + 32, y)], style))?;
    area.draw(&marker((x + 16, y), which))?;
    crate::panels::label(area, name, (x + 40, y))
}
