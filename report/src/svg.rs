//! Shapes of SVG, and what holds for all text of XML.

use maud::{Markup, html};

use super::number::decimals;

/// A place in pixels, from the upper left corner.
pub(super) type Point = (f64, f64);

/// Shapes on white paper, the later ones over the earlier.
pub(super) struct Picture {
    pub width: f64,
    pub height: f64,
    pub shapes: Vec<Markup>,
}

impl Picture {
    /// The element `svg` with a text alternative, of its own size as a file, otherwise as wide as its
    /// surroundings.
    pub fn element(&self, title: &str, description: &str, is_file: bool) -> Markup {
        let (width, height) = (number(self.width), number(self.height));
        let size = |size: &String| is_file.then(|| size.clone());
        let paper = html! {
            path d={ "M0 0H" (width) "V" (height) "H0Z" } class="fill-paper" fill=(Paint::PAPER.colour) {}
        };
        html! {
            svg xmlns=[is_file.then_some("http://www.w3.org/2000/svg")] width=[size(&width)] height=[size(&height)]
                viewBox={ "0 0 " (width) " " (height) } role="img"
                font-family="DejaVu Sans, Verdana, Arial, sans-serif" stroke-linejoin="round" {
                title { (title) }
                "\n" desc { (description) } "\n"
                (paper) "\n"
                @for shape in &self.shapes { (shape) "\n" }
            }
            "\n"
        }
    }
}

/// Text as it stands in a file of XML: characters that may not be there are replaced.
pub(super) fn written(markup: Markup) -> String {
    let is_forbidden = |c: char| match c {
        '\t' | '\n' | '\r' => false,
        '\u{fffe}' | '\u{ffff}' => true,
        c => c.is_control(),
    };
    markup.into_string().replace(is_forbidden, "\u{fffd}")
}

/// A colour by what it is for, with the name under which a style sheet finds it. All differ in lightness;
/// none is the only sign of anything.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    name: &'static str,
    pub colour: &'static str,
}

impl Paint {
    pub const PAPER: Self = Self::new("paper", "#ffffff");
    pub const GRID: Self = Self::new("grid", "#e4e4e4");
    pub const BAND: Self = Self::new("band", "#d6d6d6");
    pub const EDGE: Self = Self::new("edge", "#6e6e6e");
    pub const BAR: Self = Self::new("bar", "#969696");
    pub const ALARM: Self = Self::new("alarm", "#b02018");
    pub const INK: Self = Self::new("ink", "#141414");

    const fn new(name: &'static str, colour: &'static str) -> Self {
        Self { name, colour }
    }
}

/// A line of a certain width.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pen {
    pub paint: Paint,
    pub width: f64,
    /// Lengths of the dashes and of the gaps between them.
    pub dash: Option<(f64, f64)>,
}

impl Pen {
    pub fn solid(paint: Paint, width: f64) -> Self {
        Self {
            paint,
            width,
            dash: None,
        }
    }
}

/// A convex polygon.
pub(super) fn area(corners: &[Point], fill: Paint, outline: Option<Pen>) -> Markup {
    path(steps(corners) + "Z", Some(fill), outline)
}

/// The rectangle between two opposite corners.
pub(super) fn rectangle(a: Point, b: Point, fill: Paint, outline: Option<Pen>) -> Markup {
    area(&[a, (b.0, a.1), b, (a.0, b.1)], fill, outline)
}

/// A line through points.
pub(super) fn line(points: &[Point], pen: Pen) -> Markup {
    path(steps(points), None, Some(pen))
}

/// The outline of a polygon.
pub(super) fn outline(corners: &[Point], pen: Pen) -> Markup {
    path(steps(corners) + "Z", None, Some(pen))
}

/// A path that is filled, drawn with a pen, or both. Colours are attributes, which a style sheet overrides by
/// the classes `fill-…` and `line-…`.
fn path(steps: String, fill: Option<Paint>, pen: Option<Pen>) -> Markup {
    let classes = [
        fill.map(|paint| format!("fill-{}", paint.name)),
        pen.map(|pen| format!("line-{}", pen.paint.name)),
    ];
    let dash = pen.and_then(|pen| pen.dash);
    html! {
        path d=(steps) class=(classes.into_iter().flatten().collect::<Vec<_>>().join(" "))
            fill=(fill.map_or("none", |paint| paint.colour))
            stroke=[pen.map(|pen| pen.paint.colour)]
            stroke-width=[pen.map(|pen| number(pen.width))]
            stroke-dasharray=[dash.map(|(on, off)| format!("{} {}", number(on), number(off)))] {}
    }
}

/// A mark: a disc for what is inside its band, a diamond for what is outside.
pub(super) fn mark((x, y): Point, radius: f64, is_inside: bool, font: f64) -> Markup {
    let edge = Pen::solid(Paint::PAPER, 0.08 * font);
    if is_inside {
        html! {
            circle cx=(number(x)) cy=(number(y)) r=(number(radius)) class="fill-ink line-paper"
                fill=(Paint::INK.colour) stroke=(edge.paint.colour) stroke-width=(number(edge.width)) {}
        }
    } else {
        let r = 1.25 * radius;
        let corners = [(x, y - r), (x + r, y), (x, y + r), (x - r, y)];
        area(&corners, Paint::ALARM, Some(edge))
    }
}

/// A line of text, anchored at its start, middle or end. Vertically the point is at half the height of a digit.
pub(super) fn text((x, y): Point, text: &str, size: f64, anchor: &str) -> Markup {
    html! {
        text x=(number(x)) y=(number(y + FOOT * size)) font-size=(number(size)) text-anchor=(anchor)
            class="fill-ink" fill=(Paint::INK.colour) { (text) }
    }
}

/// Text around its middle that is read from the right, as the name of a vertical axis.
pub(super) fn upright(text: &str, (x, y): Point, size: f64) -> Markup {
    html! {
        text transform={ "translate(" (number(x)) " " (number(y)) ") rotate(-90)" } y=(number(FOOT * size))
            font-size=(number(size)) text-anchor="middle" class="fill-ink" fill=(Paint::INK.colour) { (text) }
    }
}

/// The distance of the foot of a line of text from its point, in sizes of the font: half the height of a
/// digit.
const FOOT: f64 = 0.36;

fn steps(points: &[Point]) -> String {
    let step = |(k, (x, y)): (usize, &Point)| {
        let letter = if k == 0 { 'M' } else { 'L' };
        format!("{letter}{} {}", number(*x), number(*y))
    };
    points.iter().enumerate().map(step).collect()
}

/// Rounds to a hundredth of a pixel.
fn number(x: f64) -> String {
    decimals(x, 2).replace('−', "-")
}
