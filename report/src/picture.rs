//! A picture as a list of shapes, which [`svg`](super::svg) writes.

/// A place in pixels, from the upper left corner.
pub(super) type Point = (f64, f64);

/// Shapes on white paper, the later ones over the earlier.
pub(super) struct Picture {
    pub width: f64,
    pub height: f64,
    pub shapes: Vec<Shape>,
}

/// A colour by what it is for. All differ in lightness; none is the only sign of anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paint {
    Paper,
    Grid,
    Band,
    Edge,
    Bar,
    Alarm,
    Ink,
}

impl Paint {
    pub fn rgb(self) -> [u8; 3] {
        match self {
            Self::Paper => [255, 255, 255],
            Self::Grid => [228, 228, 228],
            Self::Band => [214, 214, 214],
            Self::Edge => [110, 110, 110],
            Self::Bar => [150, 150, 150],
            Self::Alarm => [176, 32, 24],
            Self::Ink => [20, 20, 20],
        }
    }

    /// The name under which a style sheet finds it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Grid => "grid",
            Self::Band => "band",
            Self::Edge => "edge",
            Self::Bar => "bar",
            Self::Alarm => "alarm",
            Self::Ink => "ink",
        }
    }
}

/// A line of a certain width.
#[derive(Debug, Clone, Copy, PartialEq)]
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

/// The place of text relative to its point; vertically the point is at half the height of a digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Shape {
    /// A convex polygon.
    Area {
        corners: Vec<Point>,
        fill: Paint,
        outline: Option<Pen>,
    },
    Line {
        from: Point,
        to: Point,
        pen: Pen,
    },
    Disc {
        centre: Point,
        radius: f64,
        fill: Paint,
        outline: Pen,
    },
    Text {
        at: Point,
        text: String,
        /// Size of the font.
        size: f64,
        anchor: Anchor,
        /// Turned to be read from the right.
        upright: bool,
    },
}

impl Shape {
    /// The rectangle between two opposite corners.
    pub fn rectangle(a: Point, b: Point, fill: Paint, outline: Option<Pen>) -> Self {
        Self::Area {
            corners: vec![a, (b.0, a.1), b, (a.0, b.1)],
            fill,
            outline,
        }
    }
}

/// The distance of the foot of a line of text from its point, in sizes of the font: half the height of a
/// digit.
pub(super) const FOOT: f64 = 0.36;
