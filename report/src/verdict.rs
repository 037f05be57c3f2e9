//! The answer that a page begins with: is the model calibrated, and if not, where does it fail?

use maud::{Markup, html};

use super::{
    Answer,
    number::{p_value, whole},
    page::capital,
};
use burn_calibration::hypothesis::{AspectOutcome, OmnibusOutcome};

/// Findings that are read without a click: the most significant ones.
const SHOWN: usize = 3;

/// The verdicts on one or two sets of predictions with their names, and the aspects that fail.
pub(super) fn verdicts(named: &[(&str, &Answer)]) -> Markup {
    html! {
        div.answer.two[named.len() > 1] {
            @for (name, answer) in named {
                div {
                    p.verdict {
                        @if named.len() > 1 { (capital(name)) " recalibration: " }
                        @match &answer.omnibus.0 {
                            Ok(outcome) => (verdict(outcome, answer.findings().is_empty())),
                            Err(reason) => { "There is no test of calibration on these data: " (reason) "." },
                        }
                    }
                    @if let Ok(outcome) = &answer.omnibus.0 { (findings(outcome, &answer.findings())) }
                }
            }
        }
    }
}

/// The verdict, and how much it says.
fn verdict(outcome: &OmnibusOutcome, is_without_findings: bool) -> Markup {
    let sentences = outcome.sentences();
    let (first, others) = sentences.split_first().expect("the answer");
    html! {
        strong { (unbroken(first)) }
        @for sentence in others { " " (unbroken(sentence)) }
        " Omnibus test with " (whole(outcome.redraws)) " redraws."
        @if !outcome.is_rejected() {
            " This does not prove that the model is calibrated."
        } @else if is_without_findings {
            " No single aspect is significant by itself."
        } @else {
            " Findings:"
        }
    }
}

/// The aspects that fail, where the model is not calibrated: the first ones, and the others on demand.
fn findings(outcome: &OmnibusOutcome, failing: &[&AspectOutcome]) -> Markup {
    let (first, others) = failing.split_at(failing.len().min(SHOWN));
    let list = |aspects: &[&AspectOutcome]| {
        html! {
            ul {
                @for aspect in aspects {
                    li { (unbroken(&aspect.finding)) " (adjusted " (p_value(outcome.adjusted(aspect))) ")" }
                }
            }
        }
    };
    html! {
        @if !first.is_empty() { (list(first)) }
        @if !others.is_empty() {
            details {
                summary { "and " (whole(others.len())) " more" }
                (list(others))
            }
        }
    }
}

/// A sentence without line breaks inside numbers: `χ² = 70.9` and `6.96e-5` stay in one piece.
fn unbroken(sentence: &str) -> String {
    let spaced = sentence
        .replace(" = ", "\u{a0}=\u{a0}")
        .replace(" ≤ ", "\u{a0}≤\u{a0}");
    ('0'..='9').fold(spaced, |text, digit| {
        text.replace(&format!("{digit}e-"), &format!("{digit}e\u{2011}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_in_one_piece() {
        let found = unbroken("of class e-mail: χ² = 70.9, SKCE 6.96e-5");
        let expected = "of class e-mail: χ²\u{a0}=\u{a0}70.9, SKCE 6.96e\u{2011}5";
        assert_eq!(found, expected);
    }
}
