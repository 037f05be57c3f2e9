use maud::Markup;

use super::{
    drawn::{Draw, Drawn},
    frame::{Frame, end_of_axis, plot_under},
    number::{counted, decimals, edge, fixed, share, whole},
    svg::{Paint, area},
    table,
};
use burn_calibration::{
    diagram::{CorpBand, CorpDiagram, CorpStep},
    estimator::Event,
};

/// The picture as a file of SVG that scales: the band in grey, the dashed diagonal, and over them the
/// isotonic regression as a line, thick and red where it leaves the band.
impl Draw for CorpDiagram {
    fn drawn(&self) -> Drawn {
        let (heading, of) = match self.event {
            Event::TopLabel => ("top label", "the top label".into()),
            Event::Class(class) => ("one class", format!("class {class} (counted from 0)")),
        };
        drawn_under(
            self,
            heading,
            format!("Isotonic reliability diagram of {of}"),
        )
    }
}

/// Draws the diagram under a heading of at most some 15 letters.
pub(super) fn drawn_under(diagram: &CorpDiagram, heading: &str, title: String) -> Drawn {
    let miscalibration = fixed(diagram.decomposition.miscalibration);
    let n = whole(diagram.samples);
    let below = match diagram.event {
        Event::TopLabel => "confidence",
        Event::Class(_) => "predicted probability",
    };
    Drawn {
        picture: plot_under(
            Frame::LARGE.height,
            &format!("{heading}, n = {n}, MCB {miscalibration}"),
            (below, "frequency, isotonic"),
            |frame| {
                let end = end(diagram);
                let frame = Frame {
                    ends: (end, end),
                    ..*frame
                };
                let mut shapes = plot(diagram, &frame);
                shapes.extend(frame.names_below());
                shapes
            },
        ),
        title,
        description: description(diagram),
    }
}

/// The end of both axes: of an event the largest number that is shown, and 1 of a confidence.
fn end(diagram: &CorpDiagram) -> f64 {
    let steps = diagram
        .steps
        .iter()
        .map(|step| step.upper.max(step.frequency));
    let bands = diagram.band.iter().map(|point| point.band.upper);
    match diagram.event {
        Event::TopLabel => 1.0,
        Event::Class(_) => end_of_axis(steps.chain(bands).fold(0.0, f64::max)),
    }
}

/// Describes the picture in words.
fn description(diagram: &CorpDiagram) -> String {
    let parts = &diagram.decomposition;
    let mut text = format!(
        "{}, isotonic regression in {}, of which {} leave the {} % band. The Brier score, \
         summed over both outcomes, {} is miscalibration {} minus discrimination {} plus uncertainty {}.",
        counted(diagram.samples, "sample"),
        counted(diagram.steps.len(), "step"),
        whole(diagram.outside()),
        decimals(100.0 * diagram.level, 2),
        fixed(parts.score),
        fixed(parts.miscalibration),
        fixed(parts.discrimination),
        fixed(parts.uncertainty),
    );
    for step in &diagram.steps {
        text += &format!(
            " From {} to {}: {}, frequency {}.",
            edge(step.lower),
            edge(step.upper),
            counted(step.count, "sample"),
            fixed(step.frequency),
        );
    }
    text
}

/// The numbers of the picture as a table.
pub(super) fn numbers(diagram: &CorpDiagram, what: &str) -> Markup {
    let row = |step: &CorpStep| {
        vec![
            format!("{}–{}", edge(step.lower), edge(step.upper)),
            whole(step.count),
            share(step.frequency),
            if step.is_inside { "inside" } else { "outside" }.into(),
        ]
    };
    table::picture_table(
        &format!("{what}: samples and frequency of each step, and whether it lies in the band"),
        &["probability", "samples", "frequency", "band"],
        diagram.steps.iter().map(row),
    )
}

fn plot(diagram: &CorpDiagram, frame: &Frame) -> Vec<Markup> {
    let mut shapes = frame.grid();
    match diagram.band.as_slice() {
        [only] => shapes.push(band([only, only], frame)),
        points => {
            let pairs = points.windows(2);
            shapes.extend(pairs.map(|pair| band([&pair[0], &pair[1]], frame)));
        }
    }
    shapes.push(frame.dashed((0.0, 0.0), frame.ends));
    shapes.push(frame.border());
    shapes.extend(frame.names_left());
    for pair in diagram.steps.windows(2) {
        let ends = [
            (pair[0].upper, pair[0].frequency),
            (pair[1].lower, pair[1].frequency),
        ];
        let is_inside = pair[0].is_inside && pair[1].is_inside;
        shapes.push(line(ends, is_inside, frame));
    }
    shapes.extend(diagram.steps.iter().map(|step| flat(step, frame)));
    shapes
}

/// The band between two probabilities, never too narrow to be seen.
fn band([a, b]: [&CorpBand; 2], frame: &Frame) -> Markup {
    let place = |point: &CorpBand, height: f64| frame.at(point.probability, height);
    let mut corners = [
        place(a, a.band.lower),
        place(a, a.band.upper),
        place(b, b.band.upper),
        place(b, b.band.lower),
    ];
    if corners[3].0 - corners[0].0 < 1.0 {
        corners[..2].iter_mut().for_each(|corner| corner.0 -= 1.0);
        corners[2..].iter_mut().for_each(|corner| corner.0 += 1.0);
    }
    area(&corners, Paint::BAND, None)
}

/// A step, never too short to be seen.
fn flat(step: &CorpStep, frame: &Frame) -> Markup {
    let least = 1.5 / frame.width * frame.ends.0;
    let middle = 0.5 * (step.lower + step.upper);
    let ends = [
        step.lower.min(middle - least),
        step.upper.max(middle + least),
    ];
    line(ends.map(|x| (x, step.frequency)), step.is_inside, frame)
}

fn line(ends: [(f64, f64); 2], is_inside: bool, frame: &Frame) -> Markup {
    if is_inside {
        frame.line(&ends, Paint::INK, 0.12)
    } else {
        frame.line(&ends, Paint::ALARM, 0.22)
    }
}
