use super::{
    drawn::{Draw, Drawn},
    frame::{Frame, mark, single_plot},
    number::{decimals, fixed, whole},
    picture::{Paint, Pen, Picture, Shape},
};
use burn_calibration::diagram::QuantileDiagram;

/// The picture as a file of SVG that scales: the curve with a mark at each level, over the band
/// around the dashed diagonal. A mark inside the band is a disc, one outside a red diamond.
impl Draw for QuantileDiagram {
    fn drawn(&self) -> Drawn {
        drawn_under(self, "quantiles", TITLE.into())
    }
}

/// Describes the picture in words.
fn description(diagram: &QuantileDiagram) -> String {
    let mut text = format!(
        "{} values, mean distance {} from the diagonal. Of the {} levels, {} are outside the {} % band, \
         which is the diagonal ± {}.",
        whole(diagram.values),
        fixed(diagram.curve.mean_absolute_error()),
        diagram.curve.points.len(),
        diagram.outside(),
        decimals(100.0 * diagram.level, 2),
        fixed(diagram.half_width())
    );
    for point in &diagram.curve.points {
        text += &format!(
            " Level {}: frequency {}.",
            decimals(point.level, 4),
            fixed(point.frequency)
        );
    }
    text
}

/// Under a heading of at most some 10 letters.
pub(super) fn drawn_under(diagram: &QuantileDiagram, heading: &str, title: String) -> Drawn {
    Drawn {
        picture: picture(diagram, heading),
        title,
        description: description(diagram),
    }
}

fn picture(diagram: &QuantileDiagram, heading: &str) -> Picture {
    let heading = format!(
        "{heading}, n = {}, {} of {} outside",
        whole(diagram.values),
        diagram.outside(),
        diagram.curve.points.len()
    );
    let axes = ("level of the predicted quantile", "share of targets below");
    single_plot(394.0, heading, axes, |frame| {
        let mut shapes = plot(diagram, frame);
        shapes.extend(frame.names_left());
        shapes
    })
}

fn plot(diagram: &QuantileDiagram, frame: &Frame) -> Vec<Shape> {
    let half = diagram.half_width().min(1.0);
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
    let points = diagram.curve.points.iter();
    let points: Vec<(f64, f64)> = points.map(|p| (p.level, p.frequency)).collect();
    for pair in points.windows(2) {
        let [from, to] = [pair[0], pair[1]].map(|(x, y)| frame.at(x, y));
        let pen = Pen::solid(Paint::Ink, 1.8);
        shapes.push(Shape::Line { from, to, pen });
    }
    for point in &diagram.curve.points {
        let centre = frame.at(point.level, point.frequency);
        shapes.push(mark(centre, 5.0, diagram.is_inside(point), frame.font));
    }
    shapes
}

const TITLE: &str = "Calibration of the predicted quantiles";
