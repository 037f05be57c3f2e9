use maud::Markup;

use super::{
    number::decimals,
    svg::{Paint, Pen, Picture, Point, line, outline, rectangle, text, upright},
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

    pub fn at(&self, x: f64, y: f64) -> Point {
        (
            self.left + x * self.width,
            self.top + (1.0 - y) * self.height,
        )
    }

    pub fn middle(&self) -> Point {
        self.at(0.5, 0.5)
    }

    /// A line through points of the axes; its width is in sizes of the font.
    pub fn line(&self, points: &[(f64, f64)], paint: Paint, width: f64) -> Markup {
        let points: Vec<Point> = points.iter().map(|&(x, y)| self.at(x, y)).collect();
        line(&points, Pen::solid(paint, width * self.font))
    }

    /// The dashed line of a calibrated model.
    pub fn dashed(&self, from: (f64, f64), to: (f64, f64)) -> Markup {
        let pen = Pen {
            dash: Some((9.0, 6.0)),
            ..Pen::solid(Paint::INK, 0.1 * self.font)
        };
        line(&[self.at(from.0, from.1), self.at(to.0, to.1)], pen)
    }

    pub fn ticks(&self) -> impl Iterator<Item = f64> {
        let steps = f64::from(self.steps);
        (0..=self.steps).map(move |k| f64::from(k) / steps)
    }

    pub fn paper(&self) -> Markup {
        rectangle(self.at(0.0, 0.0), self.at(1.0, 1.0), Paint::PAPER, None)
    }

    pub fn border(&self) -> Markup {
        let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(x, y)| self.at(x, y));
        outline(&corners, Pen::solid(Paint::INK, 0.08 * self.font))
    }

    /// The paper, and on it the lines of the grid.
    pub fn grid(&self) -> Vec<Markup> {
        let lines = self.ticks().flat_map(|t| {
            [[(t, 0.0), (t, 1.0)], [(0.0, t), (1.0, t)]]
                .map(|ends| self.line(&ends, Paint::GRID, 0.05))
        });
        [self.paper()].into_iter().chain(lines).collect()
    }

    pub fn names_left(&self) -> impl Iterator<Item = Markup> {
        self.ticks().map(|t| self.name_left(t, &decimals(t, 1)))
    }

    /// A name of a height of the vertical axis.
    pub fn name_left(&self, height: f64, name: &str) -> Markup {
        let (x, y) = self.at(0.0, height);
        text((x - 0.6 * self.font, y), name, self.font, "end")
    }

    pub fn names_below(&self) -> impl Iterator<Item = Markup> {
        self.ticks().map(|t| {
            let (x, y) = self.at(t, 0.0);
            text((x, y + self.font), &decimals(t, 1), self.font, "middle")
        })
    }
}

/// A picture of one plot with axes from 0 to 1, as [`plot_under`].
pub(super) fn single_plot(
    height: f64,
    heading: &str,
    axes: (&str, &str),
    plot: impl FnOnce(&Frame) -> Vec<Markup>,
) -> Picture {
    plot_under(height, heading, axes, |frame| {
        let mut shapes = plot(frame);
        shapes.extend(frame.names_below());
        shapes
    })
}

/// A picture of one plot, `height` high, under a heading, with the names of its axes.
pub(super) fn plot_under(
    height: f64,
    heading: &str,
    (below, left): (&str, &str),
    plot: impl FnOnce(&Frame) -> Vec<Markup>,
) -> Picture {
    let frame = Frame {
        height,
        ..Frame::LARGE
    };
    let (x, y) = frame.middle();
    let foot = frame.top + height;
    let mut shapes = vec![text((72.0, 18.0), heading, 18.0, "start")];
    shapes.extend(plot(&frame));
    shapes.push(upright(left, (14.0, y), 20.0));
    shapes.push(text((x, foot + 52.0), below, 20.0, "middle"));
    Picture {
        width: 480.0,
        height: foot + 70.0,
        shapes,
    }
}
