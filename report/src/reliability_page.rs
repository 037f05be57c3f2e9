use super::{
    Classes, ReliabilitySection, Report, corp_picture,
    drawn::Drawn,
    number::{decimals, edge, fixed, percent, share, whole},
    page::{self, Figure, capital},
    picture::Picture,
    reliability_picture,
    svg::escaped,
    table,
};
use burn_calibration::{
    diagram::{CorpDiagram, CorpStep, ReliabilityBin, ReliabilityDiagram},
    distribution::Subject,
    estimator::Event,
};

impl Report<ReliabilitySection> {
    /// The number `m` of classes.
    pub fn classes(&self) -> usize {
        self.subject.names.len()
    }

    pub(super) fn top_label(&self) -> String {
        let subject = self.before.subject;
        let (of, heading, paragraph) = match subject {
            Subject::Classes => (
                "top label",
                "Is the model right as often as it says?",
                "their mean confidence in the most likely class, and how often that class was the right one. \
                 Below the dashed diagonal the model is overconfident, above it underconfident.",
            ),
            Subject::Correctness => (
                "confidence",
                "Is the model right as often as it says?",
                "their mean confidence, and how often the model was right. Below the dashed diagonal the model \
                 is overconfident, above it underconfident.",
            ),
            Subject::Event => (
                "event",
                "Does the event occur as often as predicted?",
                "their mean predicted probability of the event, and how often it occurred. Below the dashed \
                 diagonal probabilities are too high, above it too low.",
            ),
        };
        let figures = self.figures(
            (of, &capital(of)),
            &format!(", {of}"),
            |section, heading, what| {
                let diagram = &section.top_label;
                Figure {
                    drawn: drawn(diagram, reliability_picture::full(diagram, heading), what),
                    caption: format!(
                        "{what}: {} of {} bins outside their band.",
                        diagram.outside(),
                        diagram.bins.len()
                    ),
                    numbers: bins(diagram, what),
                }
            },
        );
        format!(
            "<h2>{heading}</h2>\n<p>Each mark is a bin of samples: {paragraph} The bars count \
             samples.</p>\n{}{figures}",
            key(self.level)
        )
    }

    pub(super) fn isotonic(&self) -> String {
        let event = match (self.before.subject, self.before.isotonic.event) {
            (Subject::Event, _) => "event".to_owned(),
            (Subject::Correctness, _) => "confidence".into(),
            (_, Event::TopLabel) => "top label".into(),
            (_, Event::Class(class)) => format!("class {}", self.subject.names[class]),
        };
        let alone = (event.as_str(), capital(&event));
        let figures = self.figures(
            (alone.0, &alone.1),
            &format!(", {event}"),
            |section, heading, what| {
                let diagram = &section.isotonic;
                let parts = &diagram.decomposition;
                Figure {
                    drawn: Drawn {
                        picture: corp_picture::picture(diagram, heading),
                        title: format!("Isotonic reliability diagram: {what}"),
                        description: corp_picture::description(diagram),
                    },
                    caption: format!(
                        "{}: Brier score, summed over both outcomes, {} = miscalibration {} − discrimination {} + uncertainty {}; \
                         {} of {} steps leave the band.",
                        escaped(what),
                        fixed(parts.score),
                        fixed(parts.miscalibration),
                        fixed(parts.discrimination),
                        fixed(parts.uncertainty),
                        whole(diagram.outside()),
                        whole(diagram.steps.len()),
                    ),
                    numbers: steps(diagram, &escaped(what)),
                }
            },
        );
        format!(
            "<h2>And without bins?</h2>\n<p>The line is the isotonic regression of what happened on the \
             predicted probability: it can only rise, and has no bins to choose. The grey band is where it \
             would lie for a calibrated model, at one probability at a time; where it leaves the band it is \
             red and thick. The miscalibration is the part of the Brier score that the regression \
             removes.</p>\n{figures}"
        )
    }

    pub(super) fn class_wise(&self) -> String {
        let Classes {
            names,
            shown: classes,
            ..
        } = &self.subject;
        if classes.is_empty() || self.before.subject != Subject::Classes {
            return String::new();
        }
        let (shown, all) = (classes.len(), self.classes());
        let which = if shown < all {
            format!(
                "{} of the {} classes: those with most labels",
                whole(shown),
                whole(all)
            )
        } else {
            "All classes".into()
        };
        let named = self.named();
        let mut html = format!(
            "<h2>Class by class</h2>\n<p>{which}. Each mark is a bin of all samples by the \
             probability of the class, whether or not it is the most likely one; with marks, bands \
             and bins as above.</p>\n<div class=\"classes{}\">\n",
            if named.len() > 1 { "" } else { " single" }
        );
        for (k, &class) in classes.iter().enumerate() {
            let class_name = escaped(&names[class]);
            let share = percent(self.before.class_wise[k].frequency());
            let (mut pictures, mut errors) = (String::new(), Vec::new());
            for (name, summary) in &named {
                let diagram = &summary.class_wise[k];
                let (heading, title) = match named.len() {
                    1 => ("", format!("Class {}", names[class])),
                    _ => (*name, format!("Class {}, {name}", names[class])),
                };
                pictures += &drawn(
                    diagram,
                    reliability_picture::small(diagram, heading),
                    &title,
                )
                .element();
                errors.push(fixed(diagram.ece()));
            }
            let pictures = match named.len() {
                1 => pictures,
                _ => format!("<div class=\"pair\">\n{pictures}</div>\n"),
            };
            html += &format!(
                "<figure>\n{pictures}<figcaption>Class {class_name}, {share} of the labels: ECE \
                 {}.</figcaption>\n</figure>\n",
                errors.join(" before, ") + if named.len() > 1 { " after" } else { "" }
            );
        }
        html + "</div>\n"
    }
}

/// The picture of a diagram with its title.
fn drawn(diagram: &ReliabilityDiagram, picture: Picture, what: &str) -> Drawn {
    Drawn {
        picture,
        title: format!("Reliability diagram: {what}"),
        description: reliability_picture::description(diagram),
    }
}

/// The meanings of the marks.
fn key(level: f64) -> String {
    let level = decimals(100.0 * level, 2);
    let band = format!("where {level} % of the marks of a calibrated model would lie, bin by bin");
    let inside = "a bin inside its band; larger marks hold more samples";
    page::key(&band, inside, "a bin outside its band")
}

/// The numbers of an isotonic diagram.
fn steps(diagram: &CorpDiagram, what: &str) -> String {
    let row = |step: &CorpStep| {
        vec![
            format!("{}–{}", edge(step.lower), edge(step.upper)),
            whole(step.count),
            share(step.frequency),
            if step.is_inside { "inside" } else { "outside" }.into(),
        ]
    };
    table::of_picture(
        &format!("{what}: samples and frequency of each step, and whether it lies in the band"),
        &["probability", "samples", "frequency", "band"],
        diagram.steps.iter().map(row),
    )
}

/// The numbers of a picture.
fn bins(diagram: &ReliabilityDiagram, what: &str) -> String {
    let row = |bin: &ReliabilityBin| {
        vec![
            format!("{}–{}", edge(bin.lower), edge(bin.upper)),
            whole(bin.count),
            share(bin.confidence),
            share(bin.frequency),
            format!("{}–{}", share(bin.band.0), share(bin.band.1)),
        ]
    };
    table::of_picture(
        &format!("{what}: samples, mean confidence, how often right, and band of each bin"),
        &["bin", "samples", "mean", "right", "band"],
        diagram.bins.iter().map(row),
    )
}
