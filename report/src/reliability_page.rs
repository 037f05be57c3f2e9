use maud::{Markup, html};

use super::{
    ReliabilitySection, Report, corp_picture,
    number::{counted, decimals, fixed, percent, whole},
    page::{self, capital, figure},
    reliability_picture::{self, drawn, full, small},
};
use burn_calibration::{distribution::Subject, estimator::Event};

impl Report<ReliabilitySection> {
    /// The number `m` of classes.
    pub fn classes(&self) -> usize {
        self.subject.names.len()
    }

    pub(super) fn top_label(&self) -> Markup {
        let subject = self.before.page.subject;
        let (of, heading, paragraph) = match subject {
            Subject::Classes => (
                "top label",
                "Is the model right as often as it says?",
                "the mean confidence in the most likely class, and how often this class was right. \
                 Below the dashed diagonal the model is overconfident, above it underconfident.",
            ),
            Subject::Correctness => (
                "confidence",
                "Is the model right as often as it says?",
                "the mean confidence, and how often the model was right. Below the dashed diagonal the model \
                 is overconfident, above it underconfident.",
            ),
            Subject::Event => (
                "event",
                "Does the event occur as often as predicted?",
                "the mean predicted probability of the event, and how often it occurred. Below the dashed \
                 diagonal probabilities are too high, above it too low.",
            ),
        };
        let level = decimals(100.0 * self.level, 2);
        let band = format!(
            "band that contains the mark of a calibrated model with {level} % probability, for each bin"
        );
        let inside = "a bin inside its band; larger marks have more samples";
        let (alone, pooled) = ((of, capital(of)), format!(", {of}"));
        html! {
            h2 { (heading) }
            p { "Each mark is a bin of samples. It shows " (paragraph) " The bars count samples." }
            (page::key(&band, inside, "a bin outside its band"))
            (self.figures((alone.0, &alone.1), &pooled, |section, heading, what| {
                let diagram = &section.top_label;
                let (outside, bins) = (diagram.outside(), counted(diagram.bins.len(), "bin"));
                figure(
                    &drawn(diagram, full(diagram, heading), what),
                    &format!("{what}: of {bins} {outside} are outside their band."),
                    &reliability_picture::numbers(diagram, subject, what),
                )
            }))
        }
    }

    pub(super) fn isotonic(&self) -> Markup {
        let event = match (self.before.page.subject, self.before.page.isotonic.event) {
            (Subject::Event, _) => "event".to_owned(),
            (Subject::Correctness, _) => "confidence".into(),
            (_, Event::TopLabel) => "top label".into(),
            (_, Event::Class(class)) => format!("class {}", self.subject.names[class]),
        };
        let (alone, pooled) = ((event.as_str(), capital(&event)), format!(", {event}"));
        html! {
            h2 { "The same without bins" }
            p {
                "The line is the isotonic regression of the outcomes on the predicted probability. It never \
                 falls, and needs no choice of bins. The grey band contains the line of a calibrated model, at \
                 one probability at a time. Outside the band the line is red and thick. The miscalibration is \
                 the part of the Brier score that the regression removes."
            }
            (self.figures((alone.0, &alone.1), &pooled, |section, heading, what| {
                let diagram = &section.isotonic;
                let title = format!("Isotonic reliability diagram: {what}");
                let parts = &diagram.decomposition;
                let caption = format!(
                    "{what}: Brier score, summed over both outcomes, {} = miscalibration {} − discrimination {} \
                     + uncertainty {}; {} of {} steps leave the band.",
                    fixed(parts.score),
                    fixed(parts.miscalibration),
                    fixed(parts.discrimination),
                    fixed(parts.uncertainty),
                    whole(diagram.outside()),
                    whole(diagram.steps.len()),
                );
                figure(
                    &corp_picture::drawn_under(diagram, heading, title),
                    &caption,
                    &corp_picture::numbers(diagram, what),
                )
            }))
        }
    }

    /// The diagrams of the classes, if there are some to show.
    pub(super) fn class_wise(&self) -> Option<Markup> {
        let (names, classes) = (&self.subject.names, &self.subject.shown);
        if classes.is_empty() || self.before.page.subject != Subject::Classes {
            return None;
        }
        let which = if classes.len() < names.len() {
            let [shown, all] = [classes.len(), names.len()].map(whole);
            format!("The {shown} of {all} classes with the largest calibration errors")
        } else {
            "All classes".into()
        };
        let is_alone = self.after.is_none();
        Some(html! {
            h2 { "Class by class" }
            p {
                (which) ". Each mark is a bin of all samples by the probability of the class, even if it \
                    is not the most \
                 likely one. Marks, bands and bins are as above."
            }
            div.classes.single[is_alone] {
                @for (k, &class) in classes.iter().enumerate() {
                    (self.class(k, &names[class]))
                }
            }
        })
    }

    /// The diagrams of the class with one of these numbers among those that are shown.
    fn class(&self, k: usize, name: &str) -> Markup {
        let named = self.named();
        let pictures = html! {
            @for (when, set) in &named {
                @let diagram = &set.page.class_wise[k];
                @if named.len() > 1 {
                    (drawn(diagram, small(diagram, when), &format!("Class {name}, {when}")).element())
                } @else {
                    (drawn(diagram, small(diagram, ""), &format!("Class {name}")).element())
                }
            }
        };
        let frequency = percent(self.before.page.class_wise[k].frequency());
        let errors = named
            .iter()
            .map(|(_, set)| fixed(set.page.class_wise[k].ece()));
        html! {
            figure {
                @if named.len() > 1 { div.pair { (pictures) } } @else { (pictures) }
                figcaption {
                    "Class " (name) ", " (frequency) " of the labels: ECE "
                    (errors.collect::<Vec<_>>().join(" before, "))
                    @if named.len() > 1 { " after" } "."
                }
            }
        }
    }
}
