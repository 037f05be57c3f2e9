//! The parts that all pages share.

use super::number::{decimals, significant, whole};
use super::{drawn::Drawn, svg::escaped};
use burn_calibration::kernel::{Bandwidth, Kernel};

/// The page: one file without scripts, links or anything to load, that is well-formed as XML too.
pub(super) fn page(title: &str, sections: &[String]) -> String {
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>{title}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n{}</main>\n</body>\n</html>\n",
        include_str!("style.css"),
        sections.concat()
    )
}

/// The meanings of the marks of pictures: small drawings on 24 × 16 pixels of a band, of a mark inside it,
/// and of one outside, with words.
pub(super) fn key(band: &str, inside: &str, outside: &str) -> String {
    let entry = |drawing: &str, meaning: &str| {
        format!(
            "<li><svg viewBox=\"0 0 24 16\" aria-hidden=\"true\">{drawing}</svg>{meaning}</li>\n"
        )
    };
    format!(
        "<ul class=\"key\">\n{}{}{}</ul>\n",
        entry(BAND, band),
        entry(DISC, inside),
        entry(DIAMOND, outside)
    )
}

const BAND: &str =
    "<path class=\"fill-band line-edge\" fill=\"#d6d6d6\" stroke=\"#6e6e6e\" d=\"M4 1H20V15H4Z\"/>";
const DISC: &str = "<circle class=\"fill-ink\" cx=\"12\" cy=\"8\" r=\"6\"/>";
const DIAMOND: &str = "<path class=\"fill-alarm\" fill=\"#b02018\" d=\"M12 0L20 8L12 16L4 8Z\"/>";

/// The caveat of numbers after recalibration.
pub(super) fn fitted_elsewhere(is_recalibrated: bool) -> &'static str {
    if is_recalibrated {
        "The numbers after recalibration hold for new data only if the map was fitted on other \
             samples than these. "
    } else {
        ""
    }
}

/// The profile of a kernel, with its article.
pub(super) fn profile(kernel: &Kernel) -> String {
    let name = kernel.profile.to_string();
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {name}")
}

pub(super) fn bandwidth(kernel: &Kernel) -> String {
    match kernel.bandwidth {
        Bandwidth::Fixed(value) if (1e-3..1e6).contains(&value) => decimals(value, 6),
        Bandwidth::Fixed(value) => significant(value),
        _ => "the median".into(),
    }
}

/// The method of the answer.
pub(super) const ANSWER: &str = "Verdict: the omnibus test, of all samples. Its p-value is exact: the rank of the data among data \
     redrawn from the predictions. The p-values of its aspects are adjusted for their number (Westfall \
     and Young 1993), and those of means allow for a model that is wrong elsewhere. ";

/// The number of samples of the SKCE, where it is not of all.
pub(super) fn drawn_at_random(skce_samples: usize, samples: usize) -> String {
    if skce_samples < samples {
        format!(", on {} samples drawn at random", whole(skce_samples))
    } else {
        String::new()
    }
}

/// Makes the first letter capital.
pub(super) fn capital(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next().map(|first| first.to_uppercase());
    first.into_iter().flatten().chain(characters).collect()
}

/// A picture with its caption, and its numbers as a table.
pub(super) struct Figure {
    pub drawn: Drawn,
    pub caption: String,
    pub numbers: String,
}

impl Figure {
    pub fn to_html(&self) -> String {
        format!(
            "<figure>\n{}<figcaption>{}</figcaption>\n{}</figure>\n",
            self.drawn.element(),
            self.caption,
            self.numbers
        )
    }
}
