//! What is printed of a fit.

use std::fmt;

use burn_calibration::{
    distribution::Subject,
    numbers::fixed,
    recalibration::{Choice, FitReport, FitWarning, PriorCorrection},
};

use super::{CORRECTNESS, FitSummary, NONE};
use crate::{
    show::guarantee_lines,
    words::{BeforeAfter, Computed, OutcomeSpace},
};

/// The warnings of a fit in words, with names of classes where there are some.
pub fn warnings(
    report: Option<&FitReport>,
    choice: Option<&Choice>,
    (names, is_event): (&[String], bool),
) -> Vec<String> {
    let of_choice = choice.map_or(&[][..], |choice| &choice.warnings);
    let of_fit = report.map_or(&[][..], |report| &report.warnings);
    let of_fit = (of_fit.iter()).filter(|warning| !of_choice.contains(warning));
    let name = |class: usize| match names.get(class) {
        Some(name) => format!("class {name}"),
        None if is_event && class == 1 => "class 1 (the event)".into(),
        None => format!("class {class}"),
    };
    let words = |warning: &FitWarning| match warning {
        // "right" would be of the more likely outcome
        FitWarning::AllRight { samples } if is_event => format!(
            "all {samples} probabilities are on the right side of 1/2, so these data do not limit how \
             sharp they may be"
        ),
        warning => warning.words(name),
    };
    of_fit.chain(of_choice).map(words).collect()
}

impl fmt::Display for FitSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (data, kind) = (&self.data, self.kind);
        if let Some(changed @ 1..) = data.changed_classes {
            let n = data.of.n;
            writeln!(
                f,
                "the most likely class of {changed} of {n} predictions changes"
            )?;
        }
        let is_corrected = *kind == *PriorCorrection::KIND;
        let what = match self.method {
            NONE if !is_corrected => "no map, the predictions stay unchanged:",
            name if is_corrected => &format!("{name}, then {kind}, of"),
            _ => &format!("{kind} of"),
        };
        writeln!(f, "{what} {}, saved as {}", data.of, self.map)?;
        if let Computed(Ok(report)) = &self.fit {
            writeln!(f, "fit:        {report}")?;
        }
        if let Computed(Ok(choice)) = &self.choice {
            write!(f, "{choice}")?;
        }
        if let Computed(Ok(BeforeAfter { before, after })) = &data.log_loss {
            writeln!(
                f,
                "log loss:   {} before, {} after, on the data of the fit{}",
                fixed(*before, 6),
                fixed(*after, 6),
                if is_corrected {
                    ", without the correction"
                } else {
                    ""
                }
            )?;
        }
        if let Some(BeforeAfter { before, after }) = &data.interval_score {
            writeln!(
                f,
                "WIS:        {} before, {} after, on the data of the fit",
                fixed(*before, 6),
                fixed(*after, 6)
            )?;
        }
        for parameter in &self.parameters {
            let values = parameter.text(usize::MAX, |value| fixed(value, 6));
            let name = format!("{}:", parameter.name);
            writeln!(f, "{name:11} {}", values.join(", "))?;
        }
        let of = match (data.of.subject, data.of.outcomes) {
            (Subject::Correctness, _) => CORRECTNESS,
            (Subject::Event, _) => "outcomes",
            (_, OutcomeSpace::Classes(_)) => "classes",
            (_, OutcomeSpace::Dimensions(_)) => "dimensions",
        };
        f.write_str(&guarantee_lines(self.guarantees, of))?;
        let mut warnings = self.warnings.iter();
        warnings.try_for_each(|warning| writeln!(f, "warning:    {warning}"))
    }
}
