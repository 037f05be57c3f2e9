use super::{
    number::decimals,
    picture::{Anchor, Paint, Pen, Point, Shape},
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
    match is_inside {
        true => Shape::Disc {
            centre,
            radius,
            fill: Paint::Ink,
            outline: paper,
        },
        false => Shape::Area {
            corners: vec![(x, y - r), (x + r, y), (x, y + r), (x - r, y)],
            fill: Paint::Alarm,
            outline: Some(paper),
        },
    }
}
