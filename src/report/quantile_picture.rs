use super::{
    QuantileDiagram,
    drawn::{Drawn, pictured},
    frame::{Frame, mark, single_plot},
    number::{decimals, fixed, whole},
    picture::{Paint, Pen, Picture, Shape},
};

pictured!(
    QuantileDiagram,
    drawn_alone,
    /// The picture as a file of SVG that scales: the curve with a mark at each level, over the band
    /// around the dashed diagonal. A mark inside the band is a disc, one outside a red diamond.
);

impl QuantileDiagram {
    pub(super) fn drawn_alone(&self) -> Drawn {
        self.drawn("quantiles", TITLE.into())
    }

    /// Describes the picture in words.
    fn description(&self) -> String {
        let mut text = format!(
            "{} values, mean distance {} from the diagonal. Of the {} levels, {} are outside the {} % band, \
             which is the diagonal ± {}.",
            whole(self.values),
            fixed(self.curve.mean_absolute_error()),
            self.curve.points.len(),
            self.outside(),
            decimals(100.0 * self.level, 2),
            fixed(self.half_width())
        );
        for point in &self.curve.points {
            text += &format!(
                " Level {}: frequency {}.",
                decimals(point.level, 4),
                fixed(point.frequency)
            );
        }
        text
    }

    /// Under a heading of at most some 10 letters.
    pub(super) fn drawn(&self, heading: &str, title: String) -> Drawn {
        Drawn {
            picture: self.picture(heading),
            title,
            description: self.description(),
        }
    }

    fn picture(&self, heading: &str) -> Picture {
        let heading = format!(
            "{heading}, n = {}, {} of {} outside",
            whole(self.values),
            self.outside(),
            self.curve.points.len()
        );
        let axes = ("level of the predicted quantile", "share of targets below");
        single_plot(394.0, heading, axes, |frame| {
            let mut shapes = self.plot(frame);
            shapes.extend(frame.names_left());
            shapes
        })
    }

    fn plot(&self, frame: &Frame) -> Vec<Shape> {
        let half = self.half_width().min(1.0);
        let band = [
            (0.0, 0.0),
            (0.0, half),
            (1.0 - half, 1.0),
            (1.0, 1.0),
            (1.0, 1.0 - half),
            (half, 0.0),
        ];
        let mut shapes = vec![frame.paper()];
        shapes.extend(frame.grid());
        shapes.push(Shape::Area {
            corners: band.map(|(x, y)| frame.at(x, y)).to_vec(),
            fill: Paint::Band,
            outline: Some(Pen::solid(Paint::Edge, 0.9)),
        });
        shapes.push(frame.dashed((0.0, 0.0), (1.0, 1.0)));
        shapes.extend(frame.border());
        let points = self.curve.points.iter();
        let points: Vec<(f64, f64)> = points.map(|p| (p.level, p.frequency)).collect();
        for pair in points.windows(2) {
            let [from, to] = [pair[0], pair[1]].map(|(x, y)| frame.at(x, y));
            let pen = Pen::solid(Paint::Ink, 1.8);
            shapes.push(Shape::Line { from, to, pen });
        }
        for point in &self.curve.points {
            let centre = frame.at(point.level, point.frequency);
            shapes.push(mark(centre, 5.0, self.is_inside(point), frame.font));
        }
        shapes
    }
}

const TITLE: &str = "Calibration of the predicted quantiles";
