use maud::{Markup, html};

use super::{
    Report, Section,
    drawn::{Draw, Drawn},
    frame::{Frame, single_plot},
    number::{counted, decimals, fixed, whole},
    page::{self, figure},
    svg::{Paint, Pen, area, mark},
    table,
};
use burn_calibration::{diagram::QuantileDiagram, estimator::regression::QuantilePoint};

/// The picture as a file of SVG that scales: the curve with a mark at each level, over the band
/// around the dashed diagonal. A mark inside the band is a disc, one outside a red diamond.
impl Draw for QuantileDiagram {
    fn drawn(&self) -> Drawn {
        let title = "Calibration of the predicted quantiles";
        drawn_under(self, "quantiles", title.into())
    }
}

/// Draws the diagram under a heading of at most some 10 letters.
pub(super) fn drawn_under(diagram: &QuantileDiagram, heading: &str, title: String) -> Drawn {
    let heading = format!(
        "{heading}, n = {}, {} of {} outside",
        whole(diagram.values),
        diagram.outside(),
        diagram.curve.points.len()
    );
    let axes = ("level of the predicted quantile", "share of targets below");
    Drawn {
        picture: single_plot(Frame::LARGE.height, &heading, axes, |frame| {
            plot(diagram, frame)
        }),
        title,
        description: description(diagram),
    }
}

/// The diagrams of a page, under a paragraph on what they show.
pub(super) fn on_page<S: Section>(
    report: &Report<S>,
    paragraph: &str,
    diagram: impl Fn(&S) -> &QuantileDiagram,
) -> Markup {
    let level = decimals(100.0 * report.level, 2);
    let band = format!(
        "band that contains the whole curve of a calibrated model with {level} % probability"
    );
    let [inside, outside] =
        ["inside", "outside"].map(|side| format!("a level whose share is {side} the band"));
    html! {
        h2 { "Are the quantiles right?" }
        p { (paragraph) }
        (page::key(&band, &inside, &outside))
        (report.figures(("all", "All targets"), "", |section, heading, what| {
            let diagram = diagram(section);
            let title = format!("Calibration of quantiles: {what}");
            let all = counted(diagram.curve.points.len(), "level");
            let caption = format!("{what}: {} of {all} are outside the band.", diagram.outside());
            figure(&drawn_under(diagram, heading, title), &caption, &numbers(diagram, what))
        }))
    }
}

/// Where the width of the band is from.
pub(super) fn source_of_band(diagram: &QuantileDiagram) -> &'static str {
    if diagram.weighted_half_width.is_some() {
        "999 redraws of uniform numbers with these weights"
    } else {
        "Dvoretzky, Kiefer, Wolfowitz; Massart 1990"
    }
}

/// Describes the picture in words.
fn description(diagram: &QuantileDiagram) -> String {
    let mut text = format!(
        "{}, mean distance {} from the diagonal. Of the {}, {} are outside the {} % band, \
         which is the diagonal ± {}.",
        counted(diagram.values, "value"),
        fixed(diagram.curve.mean_absolute_error()),
        counted(diagram.curve.points.len(), "level"),
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

/// The numbers of the picture as a table.
pub(super) fn numbers(diagram: &QuantileDiagram, what: &str) -> Markup {
    let row = |point: &QuantilePoint| {
        let band = diagram.band(point.level);
        vec![
            decimals(point.level, 3),
            format!("{:.3}", point.frequency),
            format!("{:.3}–{:.3}", band.lower, band.upper),
        ]
    };
    table::picture_table(
        &format!(
            "{what}: share of targets at most at the predicted quantile, and band of each level"
        ),
        &["level", "share", "band"],
        diagram.curve.points.iter().map(row),
    )
}

fn plot(diagram: &QuantileDiagram, frame: &Frame) -> Vec<Markup> {
    let half = diagram.half_width().min(1.0);
    let band = [
        (0.0, 0.0),
        (0.0, half),
        (1.0 - half, 1.0),
        (1.0, 1.0),
        (1.0, 1.0 - half),
        (half, 0.0),
    ];
    let edge = Pen::solid(Paint::EDGE, 0.9);
    let band = band.map(|(x, y)| frame.at(x, y));
    let points = diagram.curve.points.iter();
    let curve: Vec<(f64, f64)> = points.map(|p| (p.level, p.frequency)).collect();
    let mut shapes = frame.grid();
    shapes.push(area(&band, Paint::BAND, Some(edge)));
    shapes.push(frame.dashed((0.0, 0.0), (1.0, 1.0)));
    shapes.push(frame.border());
    shapes.push(frame.line(&curve, Paint::INK, 0.1));
    for point in &diagram.curve.points {
        let centre = frame.at(point.level, point.frequency);
        shapes.push(mark(centre, 5.0, diagram.is_inside(point), frame.font));
    }
    shapes.extend(frame.names_left());
    shapes
}
