//! What the two figures share: a grid of small charts in one SVG file.

use std::ops::Range;

use plotters::{
    coord::{Shift, types::RangedCoordf64},
    element::DashedPathElement,
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use crate::Result;

pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

const FONT: &str = "sans-serif";

/// An SVG file of this size, white, with what `f` draws.
pub fn svg(size: (u32, u32), f: impl FnOnce(&Area) -> Result<()>) -> Result<String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        area.fill(&WHITE)?;
        f(&area)?;
        area.present()?;
    }
    Ok(text)
}

/// The grid, row by row, with the names of the axes left of it and below.
pub fn grid<'a>(
    area: &Area<'a>,
    [rows, columns]: [usize; 2],
    x: &str,
    y: &str,
) -> Result<Vec<Area<'a>>> {
    let (width, height) = area.dim_in_pixel();
    let (across, down) = (width as i32 / 2, height as i32 / 2);
    let centre = Pos::new(HPos::Center, VPos::Center);
    let font = (FONT, 14).into_font();
    let upright = font.transform(FontTransform::Rotate270);
    area.draw_text(
        x,
        &font.color(&BLACK).pos(centre),
        (across, height as i32 - 12),
    )?;
    area.draw_text(y, &upright.color(&BLACK).pos(centre), (12, down))?;
    Ok(area.margin(0, 24, 24, 0).split_evenly((rows, columns)))
}

/// The axes of one chart under its title.
pub fn chart<'a>(area: &Area<'a>, title: &str, x: Range<f64>, y: Range<f64>) -> Result<Chart<'a>> {
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 13))
        .margin_right(14)
        .x_label_area_size(20)
        .y_label_area_size(38)
        .build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_labels(5)
        .y_labels(4)
        .label_style((FONT, 11))
        .x_label_formatter(&tick)
        .y_label_formatter(&tick)
        .draw()?;
    Ok(chart)
}

/// A number at an axis without the digits of rounding.
fn tick(value: &f64) -> String {
    let rounded = (value * 1e4).round() / 1e4;
    format!("{}", rounded + 0.0) // −0 + 0 = 0
}

/// Text of a key, its left end here.
pub fn label(area: &Area, text: &str, at: (i32, i32)) -> Result<()> {
    let left = Pos::new(HPos::Left, VPos::Center);
    let style = (FONT, 13).into_font().color(&BLACK).pos(left);
    Ok(area.draw_text(text, &style, at)?)
}

/// A dashed line through points.
pub fn dashed<C: Clone>(
    points: impl IntoIterator<Item = C>,
    style: ShapeStyle,
) -> DashedPathElement<std::vec::IntoIter<C>, i32> {
    let points: Vec<C> = points.into_iter().collect();
    DashedPathElement::new(points, 8, 5, style)
}
