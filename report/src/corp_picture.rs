use super::{
    drawn::{Draw, Drawn},
    frame::{Frame, single_plot},
    number::{decimals, edge, fixed, whole},
    picture::{Paint, Pen, Picture, Shape},
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
        Drawn {
            picture: picture(self, heading),
            title: format!("Isotonic reliability diagram of {of}"),
            description: description(self),
        }
    }
}

/// Describes the picture in words.
pub(super) fn description(diagram: &CorpDiagram) -> String {
    let parts = &diagram.decomposition;
    let mut text = format!(
        "{} samples, isotonic regression in {} steps, of which {} leave the {} % band. The Brier score, \
         summed over both outcomes, {} is miscalibration {} less discrimination {} and uncertainty {}.",
        whole(diagram.samples),
        whole(diagram.steps.len()),
        whole(diagram.outside()),
        decimals(100.0 * diagram.level, 2),
        fixed(parts.score),
        fixed(parts.miscalibration),
        fixed(parts.discrimination),
        fixed(parts.uncertainty),
    );
    for step in &diagram.steps {
        text += &format!(
            " From {} to {}: {} samples, frequency {}.",
            edge(step.lower),
            edge(step.upper),
            whole(step.count),
            fixed(step.frequency),
        );
    }
    text
}

/// The picture under a heading of at most some 15 letters.
pub(super) fn picture(diagram: &CorpDiagram, heading: &str) -> Picture {
    let miscalibration = fixed(diagram.decomposition.miscalibration);
    let heading = format!(
        "{heading}, n = {}, MCB {miscalibration}",
        whole(diagram.samples)
    );
    let below = match diagram.event {
        Event::TopLabel => "confidence",
        Event::Class(_) => "predicted probability",
    };
    let axes = (below, "frequency, isotonic");
    single_plot(Frame::LARGE.height, heading, axes, |frame| {
        plot(diagram, frame)
    })
}

fn plot(diagram: &CorpDiagram, frame: &Frame) -> Vec<Shape> {
    let mut shapes = vec![frame.paper()];
    shapes.extend(frame.grid());
    match diagram.band.as_slice() {
        [only] => shapes.push(band([only, only], frame)),
        points => shapes.extend(
            points
                .windows(2)
                .map(|pair| band([&pair[0], &pair[1]], frame)),
        ),
    }
    shapes.push(frame.dashed((0.0, 0.0), (1.0, 1.0)));
    shapes.extend(frame.border());
    shapes.extend(frame.names_left());
    for pair in diagram.steps.windows(2) {
        let (from, to) = (
            (pair[0].upper, pair[0].frequency),
            (pair[1].lower, pair[1].frequency),
        );
        shapes.push(line(
            [from, to],
            pair[0].is_inside && pair[1].is_inside,
            frame,
        ));
    }
    shapes.extend(diagram.steps.iter().map(|step| flat(step, frame)));
    shapes
}

/// The band between two probabilities, never too narrow to be seen.
fn band([a, b]: [&CorpBand; 2], frame: &Frame) -> Shape {
    let place = |point: &CorpBand, height: f64| frame.at(point.probability, height);
    let mut corners = vec![
        place(a, a.band.0),
        place(a, a.band.1),
        place(b, b.band.1),
        place(b, b.band.0),
    ];
    if corners[3].0 - corners[0].0 < 1.0 {
        corners[..2].iter_mut().for_each(|corner| corner.0 -= 1.0);
        corners[2..].iter_mut().for_each(|corner| corner.0 += 1.0);
    }
    Shape::Area {
        corners,
        fill: Paint::Band,
        outline: None,
    }
}

/// A step, never too short to be seen.
fn flat(step: &CorpStep, frame: &Frame) -> Shape {
    let least = 1.5 / frame.width;
    let middle = 0.5 * (step.lower + step.upper);
    let (from, to) = (
        step.lower.min(middle - least),
        step.upper.max(middle + least),
    );
    line(
        [(from, step.frequency), (to, step.frequency)],
        step.is_inside,
        frame,
    )
}

fn line([from, to]: [(f64, f64); 2], is_inside: bool, frame: &Frame) -> Shape {
    let (paint, width) = if is_inside {
        (Paint::Ink, 0.12)
    } else {
        (Paint::Alarm, 0.22)
    };
    Shape::Line {
        from: frame.at(from.0, from.1),
        to: frame.at(to.0, to.1),
        pen: Pen::solid(paint, width * frame.font),
    }
}
