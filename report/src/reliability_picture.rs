use maud::Markup;

use super::{
    drawn::{Draw, Drawn},
    frame::{Frame, end_of_axis},
    number::{counted, decimals, edge, fixed, share, short, whole},
    svg::{Paint, Pen, Picture, mark, rectangle, text, upright},
    table,
};
use burn_calibration::{
    diagram::{ReliabilityBin, ReliabilityDiagram},
    distribution::Subject,
    estimator::Event,
};

/// The picture as a file of SVG that scales: the bands as grey boxes, over them a mark for each
/// bin, larger for more samples, with a line to the dashed diagonal; below, how many samples
/// have which probability. A mark inside its band is a disc, one outside a red diamond. It is drawn on
/// a width of 480, with text that remains readable on a phone.
impl Draw for ReliabilityDiagram {
    fn drawn(&self) -> Drawn {
        // the heading in the picture does not know how its reader counts classes
        let (heading, of) = match self.event {
            Event::TopLabel => ("top label", "the top label".into()),
            Event::Class(class) => ("one class", format!("class {class} (counted from 0)")),
        };
        Drawn {
            picture: full(self, heading),
            title: format!("Reliability diagram of {of}"),
            description: description(self),
        }
    }
}

/// Draws a picture of the diagram with the title of a page.
pub(super) fn drawn(diagram: &ReliabilityDiagram, picture: Picture, what: &str) -> Drawn {
    Drawn {
        picture,
        title: format!("Reliability diagram: {what}"),
        description: description(diagram),
    }
}

/// Describes the picture in words.
fn description(diagram: &ReliabilityDiagram) -> String {
    let level = decimals(100.0 * diagram.level, 2);
    let mut text = format!(
        "{} in {}, expected calibration error {}, mean probability {}, the event \
         occurred with frequency {}. Of the {level} % bands, {} do not hold the frequency.",
        counted(diagram.samples, "sample"),
        counted(diagram.bins.len(), "bin"),
        fixed(diagram.ece()),
        fixed(diagram.confidence()),
        fixed(diagram.frequency()),
        diagram.outside()
    );
    for bin in &diagram.bins {
        text += &format!(
            " From {} to {}: {}, mean probability {}, frequency {}, band {} to {}.",
            edge(bin.lower),
            edge(bin.upper),
            counted(bin.count, "sample"),
            fixed(bin.confidence),
            fixed(bin.frequency),
            fixed(bin.band.lower),
            fixed(bin.band.upper)
        );
    }
    text
}

/// The numbers of the picture as a table.
pub(super) fn numbers(diagram: &ReliabilityDiagram, subject: Subject, what: &str) -> Markup {
    let (columns, frequency) = match subject {
        Subject::Event => ("mean probability, frequency of the event", "frequency"),
        _ => ("mean confidence, how often right", "right"),
    };
    let row = |bin: &ReliabilityBin| {
        vec![
            format!("{}–{}", edge(bin.lower), edge(bin.upper)),
            whole(bin.count),
            share(bin.confidence),
            share(bin.frequency),
            format!("{}–{}", share(bin.band.lower), share(bin.band.upper)),
        ]
    };
    table::picture_table(
        &format!("{what}: samples, {columns}, and band of each bin"),
        &["bin", "samples", "mean", frequency, "band"],
        diagram.bins.iter().map(row),
    )
}

/// The picture with its histogram, under a heading of at most some 15 letters.
pub(super) fn full(diagram: &ReliabilityDiagram, heading: &str) -> Picture {
    let end = end(diagram);
    let plot = Frame {
        ends: (end, end),
        ..Frame::LARGE
    };
    let below = Frame {
        top: 452.0,
        height: 92.0,
        ends: (end, 1.0),
        ..plot
    };
    let axis = match diagram.event {
        Event::TopLabel => "confidence",
        Event::Class(_) => "predicted probability",
    };
    let n = whole(diagram.samples);
    let heading = format!("{heading}, n = {n}, ECE {}", fixed(diagram.ece()));
    let mut shapes = vec![text((72.0, 18.0), &heading, 18.0, "start")];
    shapes.extend(plotted(diagram, &plot));
    shapes.push(upright("observed frequency", (14.0, plot.middle().1), 20.0));
    shapes.extend(bars(diagram, &below));
    shapes.extend(below.names_below());
    shapes.push(upright("samples", (14.0, below.middle().1 + 10.0), 18.0));
    shapes.push(text((plot.middle().0, 592.0), axis, 20.0, "middle"));
    Picture {
        width: 480.0,
        height: 610.0,
        shapes,
    }
}

/// The end of both axes: of an event the largest number that is shown, and 1 of a confidence.
fn end(diagram: &ReliabilityDiagram) -> f64 {
    let largest = |bin: &ReliabilityBin| bin.upper.max(bin.frequency).max(bin.band.upper);
    match diagram.event {
        Event::TopLabel => 1.0,
        Event::Class(_) => end_of_axis(diagram.bins.iter().map(largest).fold(0.0, f64::max)),
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
        ..Frame::LARGE
    };
    let (x, y) = plot.middle();
    let mut shapes = vec![text((x, 28.0), heading, 38.0, "middle")];
    shapes.extend(plotted(diagram, &plot));
    shapes.extend(plot.names_below());
    shapes.push(upright("frequency", (24.0, y), 38.0));
    shapes.push(text((x, 478.0), "probability", 38.0, "middle"));
    Picture {
        width: 480.0,
        height: 510.0,
        shapes,
    }
}

fn plotted(diagram: &ReliabilityDiagram, frame: &Frame) -> Vec<Markup> {
    let mut shapes = frame.grid();
    let largest = diagram.bins.iter().map(|bin| bin.count).max().unwrap_or(1);
    shapes.extend(diagram.bins.iter().map(|bin| band(bin, frame)));
    shapes.push(frame.dashed((0.0, 0.0), frame.ends));
    shapes.push(frame.border());
    for bin in &diagram.bins {
        let share = bin.count as f64 / largest as f64;
        shapes.extend(bin_mark(bin, share, frame));
    }
    shapes.extend(frame.names_left());
    shapes
}

fn bars(diagram: &ReliabilityDiagram, frame: &Frame) -> Vec<Markup> {
    let width = 1.0 / diagram.histogram.len() as f64;
    let bars: Vec<(f64, f64, usize)> = if frame.ends.0 < 1.0 {
        let bins = diagram.bins.iter();
        bins.map(|bin| (bin.lower, bin.upper, bin.count)).collect()
    } else {
        let bars = diagram.histogram.iter().enumerate();
        bars.map(|(k, &count)| (k as f64 * width, (k + 1) as f64 * width, count))
            .collect()
    };
    let tallest = bars.iter().map(|(.., count)| *count).max();
    let tallest = tallest.unwrap_or(0).max(1);
    let mut shapes = vec![frame.paper()];
    for (lower, upper, count) in bars {
        if count > 0 {
            let height = count as f64 / tallest as f64;
            shapes.push(rectangle(
                frame.at(lower, 0.0),
                frame.at(upper, height),
                Paint::BAR,
                Some(Pen::solid(Paint::INK, 1.0)),
            ));
        }
    }
    shapes.push(frame.border());
    for (height, count) in [(0.0, 0), (1.0, tallest)] {
        shapes.push(frame.name_left(height, &short(count)));
    }
    shapes
}

/// The box of a band, over the range of its bin, but never too narrow to be seen.
fn band(bin: &ReliabilityBin, frame: &Frame) -> Markup {
    let (left, bottom) = frame.at(bin.lower, bin.band.lower);
    let (right, top) = frame.at(bin.upper, bin.band.upper);
    let widened = 0.5 * (4.0 - (right - left)).max(0.0);
    rectangle(
        (left - widened, bottom),
        (right + widened, top),
        Paint::BAND,
        Some(Pen::solid(Paint::EDGE, 0.05 * frame.font)),
    )
}

/// The mark of a bin with its line to the diagonal; its area grows with the share of samples.
fn bin_mark(bin: &ReliabilityBin, share: f64, frame: &Frame) -> [Markup; 2] {
    let (x, y) = (bin.confidence, bin.frequency);
    let radius = frame.font * (0.24 + 0.2 * share.sqrt());
    let paint = if bin.is_inside() {
        Paint::INK
    } else {
        Paint::ALARM
    };
    [
        frame.line(&[(x, y), (x, x)], paint, 0.1),
        mark(frame.at(x, y), radius, bin.is_inside(), frame.font),
    ]
}
