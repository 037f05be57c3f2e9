use maud::Markup;

use super::{
    number::decimals,
    svg::{Paint, Pen, Picture, Point, line, outline, rectangle, text, upright},
};

/// Part of a picture with axes from 0.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    pub font: f64,
    /// The axes are named at multiples of `1/steps` of their length.
    pub steps: u32,
    /// The end of the horizontal axis, and that of the vertical one.
    pub ends: (f64, f64),
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
        ends: (1.0, 1.0),
    };

    /// The place of a point of the axes.
    pub fn at(&self, x: f64, y: f64) -> Point {
        self.part(x / self.ends.0, y / self.ends.1)
    }

    /// The place at these parts of the axes.
    fn part(&self, x: f64, y: f64) -> Point {
        (
            self.left + x * self.width,
            self.top + (1.0 - y) * self.height,
        )
    }

    pub fn middle(&self) -> Point {
        self.part(0.5, 0.5)
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

    /// The points of an axis with a name.
    fn ticks(&self, end: f64) -> impl Iterator<Item = f64> {
        let steps = f64::from(self.steps);
        (0..=self.steps).map(move |k| end * f64::from(k) / steps)
    }

    pub fn paper(&self) -> Markup {
        rectangle(self.part(0.0, 0.0), self.part(1.0, 1.0), Paint::PAPER, None)
    }

    pub fn border(&self) -> Markup {
        let corners =
            [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(x, y)| self.part(x, y));
        outline(&corners, Pen::solid(Paint::INK, 0.08 * self.font))
    }

    /// The paper, and on it the lines of the grid.
    pub fn grid(&self) -> Vec<Markup> {
        let (right, top) = self.ends;
        let upright = self.ticks(right).map(|x| [(x, 0.0), (x, top)]);
        let flat = self.ticks(top).map(|y| [(0.0, y), (right, y)]);
        let lines = upright
            .chain(flat)
            .map(|ends| self.line(&ends, Paint::GRID, 0.05));
        [self.paper()].into_iter().chain(lines).collect()
    }

    pub fn names_left(&self) -> impl Iterator<Item = Markup> {
        self.ticks(self.ends.1)
            .map(|t| self.name_left(t, &decimals(t, DECIMALS)))
    }

    /// A name of a height of the vertical axis.
    pub fn name_left(&self, height: f64, name: &str) -> Markup {
        let (x, y) = self.at(0.0, height);
        text((x - 0.6 * self.font, y), name, self.font, "end")
    }

    pub fn names_below(&self) -> impl Iterator<Item = Markup> {
        self.ticks(self.ends.0).map(|t| {
            let (x, y) = self.at(t, 0.0);
            text(
                (x, y + self.font),
                &decimals(t, DECIMALS),
                self.font,
                "middle",
            )
        })
    }
}

/// The most decimals of a name of an axis.
const DECIMALS: usize = 8;

/// The end of an axis that holds numbers from 0 to 1: the next of 1, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15, 0.1, 0.08, …
pub(super) fn end_of_axis(largest: f64) -> f64 {
    let unit = 10f64.powf(largest.max(1e-6).log10().floor());
    let ends = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0].map(|step| step * unit);
    let end = ends.into_iter().find(|end| *end >= largest);
    end.unwrap_or(10.0 * unit).min(1.0)
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
