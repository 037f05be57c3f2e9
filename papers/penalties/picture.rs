//! Log loss and SKCE on validation rows against the weight, before and after recalibration.

use std::ops::Range;

use plotters::{coord::Shift, element::DashedPathElement, prelude::*};

use crate::{
    Result,
    data::Table,
    losses::BASE,
    setting::Numbers,
    study::{Outcome, Point, Rule},
};

const PANEL: (u32, u32) = (210, 190);
const BEFORE: RGBColor = RGBColor(200, 80, 0);
const AFTER: RGBColor = RGBColor(0, 90, 160);
/// No axis shows more than so many times the base loss.
const MOST: f64 = 1.5;

/// Panels side by side.
const COLUMNS: usize = 4;

/// A number of a network, and a network at a weight.
type Of = fn(&Numbers) -> f64;
type State = fn(&Point) -> Numbers;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Two panels for each penalty of plain training, as SVG; nothing without networks of the base loss.
pub fn svg(table: &Table, outcomes: &[Outcome]) -> Result<Option<String>> {
    let plain = |outcome: &&Outcome| {
        !outcome.tuned && outcome.rule == Rule::Recalibrated && !outcome.curve.is_empty()
    };
    let (base, penalties): (Vec<_>, Vec<_>) = outcomes
        .iter()
        .filter(plain)
        .partition(|outcome| outcome.loss == BASE);
    let Some(base) = base.first().map(|base| base.curve[0]) else {
        return Ok(None);
    };
    let blocks = penalties.len().div_ceil(COLUMNS).max(1);
    let size = (PANEL.0 * COLUMNS as u32, 2 * PANEL.1 * blocks as u32 + 24);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        area.fill(&WHITE)?;
        let title = format!(
            "{}: validation rows, orange as trained, blue recalibrated; dashed: without a penalty",
            table.name
        );
        area.draw(&Text::new(title, (8, 6), ("sans-serif", 13)))?;
        let (_, charts) = area.split_vertically(24);
        let charts = charts.split_evenly((2 * blocks, COLUMNS));
        let rows: [(&str, Of); 2] = [
            ("log loss", |n| n.log_loss),
            ("SKCE × 10³", |n| 1e3 * n.skce),
        ];
        for (i, outcome) in penalties.iter().enumerate() {
            let (block, column) = (i / COLUMNS, i % COLUMNS);
            for (row, (title, of)) in rows.into_iter().enumerate() {
                let area = &charts[(2 * block + row) * COLUMNS + column];
                let caption = format!("{}: {title}", outcome.loss);
                panel(area, &caption, &outcome.curve, base, of)?;
            }
        }
        area.present()?;
    }
    Ok(Some(text))
}

fn panel(area: &Area, caption: &str, curve: &[Point], base: Point, of: Of) -> Result<()> {
    let lines: [(RGBColor, State); 2] =
        [(BEFORE, |point| point.before), (AFTER, |point| point.after)];
    let x = |point: &Point| point.weight.log10();
    let xs = range(curve.iter().map(x), f64::INFINITY);
    let values = curve.iter().chain([&base]);
    let values = values.flat_map(|point| lines.map(|(_, numbers)| of(&numbers(point))));
    let top = MOST * of(&base.before).max(of(&base.after));
    let ys = range(values, top.max(1e-9));
    let mut chart = ChartBuilder::on(area)
        .caption(caption, ("sans-serif", 12))
        .margin_right(8)
        .x_label_area_size(20)
        .y_label_area_size(40)
        .build_cartesian_2d(xs.clone(), ys.clone())?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_labels(4)
        .y_labels(4)
        .x_label_formatter(&|exponent| {
            format!("{:.3}", 10f64.powf(*exponent))
                .trim_end_matches('0')
                .trim_end_matches('.')
                .into()
        })
        .label_style(("sans-serif", 10))
        .draw()?;
    for (colour, numbers) in lines {
        let level = of(&numbers(&base));
        let ends = [(xs.start, level), (xs.end, level)];
        chart.draw_series([DashedPathElement::new(ends, 4, 4, colour.stroke_width(1))])?;
        let points = curve
            .iter()
            .map(|point| (x(point), of(&numbers(point)).min(ys.end)));
        let points: Vec<_> = points.collect();
        chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(2)))?;
        chart.draw_series(
            points
                .into_iter()
                .map(|at| Circle::new(at, 3, colour.filled())),
        )?;
    }
    Ok(())
}

/// From the least to the greatest value, but no further than a top.
fn range(values: impl Iterator<Item = f64>, top: f64) -> Range<f64> {
    let finite = values.filter(|value| value.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let high = high.min(top);
    let margin = 0.06 * (high - low).max(1e-6);
    low - margin..high + margin
}
