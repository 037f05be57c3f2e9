use super::{
    drawn::{Draw, Drawn},
    frame::{Frame, mark, text, upright},
    number::{decimals, edge, fixed, short, whole},
    picture::{Anchor, Paint, Pen, Picture, Shape},
};
use burn_calibration::{
    diagram::{ReliabilityBin, ReliabilityDiagram},
    estimator::Event,
};

/// The picture as a file of SVG that scales: the bands as grey boxes, over them a mark for each
/// bin, larger for more samples, with a line to the dashed diagonal; below, how many samples
/// have which probability. A mark inside its band is a disc, one outside a red diamond. It is drawn on
/// a width of 480, with text that remains readable on a phone.
impl Draw for ReliabilityDiagram {
    fn drawn(&self) -> Drawn {
        Drawn {
            picture: full(self, heading(self)),
            title: title(self),
            description: description(self),
        }
    }
}

/// The heading in the picture, which does not know how its reader counts classes.
fn heading(diagram: &ReliabilityDiagram) -> &'static str {
    match diagram.event {
        Event::TopLabel => "top label",
        Event::Class(_) => "one class",
    }
}

fn title(diagram: &ReliabilityDiagram) -> String {
    match diagram.event {
        Event::TopLabel => "Reliability diagram of the top label".into(),
        Event::Class(class) => {
            format!("Reliability diagram of class {class} (counted from 0)")
        }
    }
}

/// Describes the picture in words.
pub(super) fn description(diagram: &ReliabilityDiagram) -> String {
    let level = decimals(100.0 * diagram.level, 2);
    let mut text = format!(
        "{} samples in {} bins, expected calibration error {}, mean probability {}, the event \
         occurred with frequency {}. Of the {level} % bands, {} do not hold the frequency.",
        whole(diagram.samples),
        diagram.bins.len(),
        fixed(diagram.ece()),
        fixed(diagram.confidence()),
        fixed(diagram.frequency()),
        diagram.outside()
    );
    for bin in &diagram.bins {
        text += &format!(
            " From {} to {}: {} samples, mean probability {}, frequency {}, band {} to {}.",
            edge(bin.lower),
            edge(bin.upper),
            whole(bin.count),
            fixed(bin.confidence),
            fixed(bin.frequency),
            fixed(bin.band.0),
            fixed(bin.band.1)
        );
    }
    text
}

/// The picture with its histogram, under a heading of at most some 15 letters.
pub(super) fn full(diagram: &ReliabilityDiagram, heading: &str) -> Picture {
    let plot = Frame::LARGE;
    let below = Frame {
        top: 452.0,
        height: 92.0,
        ..plot
    };
    let n = whole(diagram.samples);
    let heading = format!("{heading}, n = {n}, ECE {}", fixed(diagram.ece()));
    let mut shapes = vec![text((72.0, 18.0), heading, 18.0, Anchor::Start, false)];
    shapes.extend(plotted(diagram, &plot));
    shapes.extend(plot.names_left());
    shapes.push(upright("observed frequency", (14.0, plot.middle().1), 20.0));
    shapes.extend(bars(diagram, &below));
    shapes.extend(below.names_below());
    shapes.push(upright("samples", (14.0, below.middle().1 + 10.0), 18.0));
    let at = (plot.middle().0, 592.0);
    shapes.push(text(at, axis(diagram), 20.0, Anchor::Middle, false));
    Picture {
        width: 480.0,
        height: 610.0,
        shapes,
    }
}

/// The picture alone, for rows of many: it is read at a third of its size.
pub(super) fn small(diagram: &ReliabilityDiagram, heading: &str) -> Picture {
    let plot = Frame {
        left: 124.0,
        top: 62.0,
        width: 336.0,
        height: 336.0,
        font: 34.0,
        steps: 2,
    };
    let heading_at = (plot.middle().0, 28.0);
    let mut shapes = vec![text(heading_at, heading, 38.0, Anchor::Middle, false)];
    shapes.extend(plotted(diagram, &plot));
    shapes.extend(plot.names_left());
    shapes.extend(plot.names_below());
    shapes.push(upright("frequency", (24.0, plot.middle().1), 38.0));
    let at = (plot.middle().0, 478.0);
    shapes.push(text(at, "probability", 38.0, Anchor::Middle, false));
    Picture {
        width: 480.0,
        height: 510.0,
        shapes,
    }
}

/// The name of the horizontal axis.
fn axis(diagram: &ReliabilityDiagram) -> &'static str {
    match diagram.event {
        Event::TopLabel => "confidence",
        Event::Class(_) => "predicted probability",
    }
}

fn plotted(diagram: &ReliabilityDiagram, frame: &Frame) -> Vec<Shape> {
    let mut shapes = vec![frame.paper()];
    shapes.extend(frame.grid());
    let largest = diagram.bins.iter().map(|bin| bin.count).max().unwrap_or(1);
    shapes.extend(diagram.bins.iter().map(|bin| band(bin, frame)));
    shapes.push(frame.dashed((0.0, 0.0), (1.0, 1.0)));
    shapes.extend(frame.border());
    for bin in &diagram.bins {
        let share = bin.count as f64 / largest as f64;
        shapes.extend(bin_mark(bin, share, frame));
    }
    shapes
}

fn bars(diagram: &ReliabilityDiagram, frame: &Frame) -> Vec<Shape> {
    let tallest = diagram.histogram.iter().copied().max().unwrap_or(0).max(1);
    let width = 1.0 / diagram.histogram.len() as f64;
    let mut shapes = vec![frame.paper()];
    for (k, &count) in diagram.histogram.iter().enumerate() {
        if count > 0 {
            let height = count as f64 / tallest as f64;
            let outline = Pen::solid(Paint::Ink, 1.0);
            shapes.push(Shape::rectangle(
                frame.at(k as f64 * width, 0.0),
                frame.at((k + 1) as f64 * width, height),
                Paint::Bar,
                Some(outline),
            ));
        }
    }
    shapes.extend(frame.border());
    for (height, count) in [(0.0, 0), (1.0, tallest)] {
        shapes.push(frame.name_left(height, short(count)));
    }
    shapes
}

/// The box of a band, over the range of its bin, but never too narrow to be seen.
fn band(bin: &ReliabilityBin, frame: &Frame) -> Shape {
    let (left, bottom) = frame.at(bin.lower, bin.band.0);
    let (right, top) = frame.at(bin.upper, bin.band.1);
    let widened = 0.5 * (4.0 - (right - left)).max(0.0);
    Shape::rectangle(
        (left - widened, bottom),
        (right + widened, top),
        Paint::Band,
        Some(Pen::solid(Paint::Edge, 0.05 * frame.font)),
    )
}

/// The mark of a bin with its line to the diagonal; its area grows with the share of samples.
fn bin_mark(bin: &ReliabilityBin, share: f64, frame: &Frame) -> [Shape; 2] {
    let centre = frame.at(bin.confidence, bin.frequency);
    let radius = frame.font * (0.24 + 0.2 * share.sqrt());
    let paint = if bin.is_inside() {
        Paint::Ink
    } else {
        Paint::Alarm
    };
    let gap = Shape::Line {
        from: centre,
        to: frame.at(bin.confidence, bin.confidence),
        pen: Pen::solid(paint, 0.1 * frame.font),
    };
    [gap, mark(centre, radius, bin.is_inside(), frame.font)]
}
