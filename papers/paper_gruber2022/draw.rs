//! A network's part of the figure: estimates above, changes below.

use plotters::prelude::*;

use crate::{
    Result,
    estimators::ESTIMATORS,
    study::{Point, STAGES},
};

const FONT: &str = "sans-serif";
/// Distinct in grey as well, together with the markers.
const COLOURS: [RGBColor; 8] = [
    RGBColor(200, 0, 0),
    RGBColor(0, 0, 0),
    RGBColor(90, 90, 90),
    RGBColor(0, 80, 160),
    RGBColor(0, 130, 90),
    RGBColor(140, 80, 160),
    RGBColor(210, 120, 0),
    RGBColor(120, 160, 200),
];

/// An SVG file.
pub fn figure(network: &str, points: &[Point]) -> Result<String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (1040, 620)).into_drawing_area();
        area.fill(&WHITE)?;
        let area = area.titled(
            &format!("{network}: estimates against the size of the test set"),
            (FONT, 18),
        )?;
        let (charts, key) = area.split_horizontally(800);
        let panels = charts.split_evenly((2, 2));
        for (panel, stage) in panels.iter().zip(STAGES) {
            let of_stage: Vec<&Point> = (points.iter())
                .filter(|p| p.network == network && p.stage == stage)
                .collect();
            let title = match stage {
                "before" => "calibration error before recalibration".to_owned(),
                map => format!("change by {map}"),
            };
            chart(panel, &title, &of_stage)?;
        }
        for (k, estimator) in ESTIMATORS.iter().enumerate() {
            let y = 60 + 26 * k as i32;
            key.draw(&PathElement::new([(10, y), (46, y)], style(k)))?;
            key.draw(&marker(k, (28, y)))?;
            key.draw_text(estimator.name, &(FONT, 13).into_font().into(), (54, y - 7))?;
        }
        area.present()?;
    }
    Ok(text)
}

fn style(k: usize) -> ShapeStyle {
    COLOURS[k].stroke_width(if k == 0 { 3 } else { 1 })
}

fn marker(k: usize, at: (i32, i32)) -> Circle<(i32, i32), i32> {
    let filled = k.is_multiple_of(2);
    let style = ShapeStyle {
        color: COLOURS[k].to_rgba(),
        filled,
        stroke_width: 1,
    };
    Circle::new(at, 2 + k as i32 % 4, style)
}

fn chart(
    area: &DrawingArea<SVGBackend, plotters::coord::Shift>,
    title: &str,
    points: &[&Point],
) -> Result<()> {
    let range = |low: f64, high: f64| {
        let margin = 0.05 * (high - low).max(1e-6);
        low - margin..high + margin
    };
    let means = points.iter().map(|p| p.mean);
    let (low, high) = means.fold((0.0, 0.0), |(low, high): (f64, f64), x| {
        (low.min(x), high.max(x))
    });
    let doublings = |size: usize| (size as f64 / 100.0).log2();
    let last = points.iter().map(|p| doublings(p.size)).fold(0.0, f64::max);
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 14))
        .margin(8)
        .x_label_area_size(34)
        .y_label_area_size(52)
        .build_cartesian_2d(-0.2..last + 0.2, range(low, high))?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("test set size")
        .label_style((FONT, 12))
        .x_labels(6)
        .x_label_formatter(&|x| format!("{:.0}", 100.0 * x.exp2()))
        .y_label_formatter(&|y| format!("{y:.3}"))
        .draw()?;
    for (k, estimator) in ESTIMATORS.iter().enumerate() {
        let line: Vec<(f64, f64)> = (points.iter())
            .filter(|p| p.estimator == estimator.name)
            .map(|p| (doublings(p.size), p.mean))
            .collect();
        chart.draw_series(LineSeries::new(line.clone(), style(k)))?;
        let filled = k.is_multiple_of(2);
        let style = ShapeStyle {
            color: COLOURS[k].to_rgba(),
            filled,
            stroke_width: 1,
        };
        let circles = line
            .into_iter()
            .map(|at| Circle::new(at, 2 + k as i32 % 4, style));
        chart.draw_series(circles)?;
    }
    Ok(())
}
