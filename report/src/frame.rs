use super::{
    number::decimals,
    picture::{Anchor, Paint, Pen, Picture, Point, Shape},
};

/// Part of a picture with axes from 0 to 1.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    pub font: f64,
    /// The axes are named at multiples of `1/steps`.
    pub steps: u32,
}

impl Frame {
    /// The plot of a picture that is read at its own size.
    pub const LARGE: Self = Self {
        left: 72.0,
        top: 38.0,
        width: 394.0,
        height: 394.0,
        font: 18.0,
        steps: 5,
    };

    /// The dashed line of a calibrated model.
    pub fn dashed(&self, from: Point, to: Point) -> Shape {
        Shape::Line {
            from: self.at(from.0, from.1),
            to: self.at(to.0, to.1),
            pen: Pen {
                dash: Some((9.0, 6.0)),
                ..Pen::solid(Paint::Ink, 0.1 * self.font)
            },
        }
    }

    pub fn at(&self, x: f64, y: f64) -> Point {
        (
            self.left + x * self.width,
            self.top + (1.0 - y) * self.height,
        )
    }

    pub fn middle(&self) -> Point {
        self.at(0.5, 0.5)
    }

    pub fn ticks(&self) -> impl Iterator<Item = f64> {
        let steps = f64::from(self.steps);
        (0..=self.steps).map(move |k| f64::from(k) / steps)
    }

    pub fn paper(&self) -> Shape {
        Shape::rectangle(self.at(0.0, 0.0), self.at(1.0, 1.0), Paint::Paper, None)
    }

    pub fn border(&self) -> [Shape; 4] {
        let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(x, y)| self.at(x, y));
        [0, 1, 2, 3].map(|k| Shape::Line {
            from: corners[k],
            to: corners[(k + 1) % 4],
            pen: Pen::solid(Paint::Ink, 0.08 * self.font),
        })
    }

    pub fn grid(&self) -> Vec<Shape> {
        let pen = Pen::solid(Paint::Grid, 0.05 * self.font);
        let line = |from, to| Shape::Line { from, to, pen };
        self.ticks()
            .flat_map(|t| {
                [
                    line(self.at(t, 0.0), self.at(t, 1.0)),
                    line(self.at(0.0, t), self.at(1.0, t)),
                ]
            })
            .collect()
    }

    pub fn names_left(&self) -> Vec<Shape> {
        self.ticks()
            .map(|t| self.name_left(t, decimals(t, 1)))
            .collect()
    }

    /// A name of a height of the vertical axis.
    pub fn name_left(&self, height: f64, name: String) -> Shape {
        let (x, y) = self.at(0.0, height);
        let at = (x - 0.6 * self.font, y);
        text(at, name, self.font, Anchor::End, false)
    }

    pub fn names_below(&self) -> Vec<Shape> {
        let name = |t: f64| {
            let (x, y) = self.at(t, 0.0);
            let at = (x, y + self.font);
            text(at, decimals(t, 1), self.font, Anchor::Middle, false)
        };
        self.ticks().map(name).collect()
    }
}

/// A picture of one plot, `height` high, under a heading, with the names of its axes.
pub(super) fn single_plot(
    height: f64,
    heading: String,
    (below, left): (&str, &str),
    plot: impl FnOnce(&Frame) -> Vec<Shape>,
) -> Picture {
    let frame = Frame {
        height,
        ..Frame::LARGE
    };
    let (x, y) = frame.middle();
    let foot = frame.top + height;
    let mut shapes = vec![text((72.0, 18.0), heading, 18.0, Anchor::Start, false)];
    shapes.extend(plot(&frame));
    shapes.extend(frame.names_below());
    shapes.push(upright(left, (14.0, y), 20.0));
    shapes.push(text((x, foot + 52.0), below, 20.0, Anchor::Middle, false));
    Picture {
        width: 480.0,
        height: foot + 70.0,
        shapes,
    }
}

/// A line of text at a point.
pub(super) fn text(
    at: Point,
    text: impl Into<String>,
    size: f64,
    anchor: Anchor,
    upright: bool,
) -> Shape {
    Shape::Text {
        at,
        text: text.into(),
        size,
        anchor,
        upright,
    }
}

/// The name of a vertical axis.
pub(super) fn upright(name: &str, at: Point, size: f64) -> Shape {
    text(at, name, size, Anchor::Middle, true)
}

/// A mark: a disc for what is inside its band, a diamond for what is outside.
pub(super) fn mark(centre: Point, radius: f64, is_inside: bool, font: f64) -> Shape {
    let paper = Pen::solid(Paint::Paper, 0.08 * font);
    let (x, y, r) = (centre.0, centre.1, 1.25 * radius);
    if is_inside {
        Shape::Disc {
            centre,
            radius,
            fill: Paint::Ink,
            outline: paper,
        }
    } else {
        Shape::Area {
            corners: vec![(x, y - r), (x + r, y), (x, y + r), (x - r, y)],
            fill: Paint::Alarm,
            outline: Some(paper),
        }
    }
}
