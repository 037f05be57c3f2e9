//! The parts that all pages share.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{
    drawn::Drawn,
    number::{decimals, significant},
    svg::{Paint, written},
};
use burn_calibration::kernel::{Bandwidth, Kernel};

/// The page: one file without scripts, links or anything to load, that is well-formed as XML too.
pub(super) fn page(title: &str, sections: &[Markup]) -> String {
    // what has no content ends with a slash in XML
    const HEAD: &str = "\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n";
    written(html! {
        (DOCTYPE) "\n"
        html lang="en" {
            head {
                (PreEscaped(HEAD))
                title { (title) } "\n"
                style { "\n" (PreEscaped(include_str!("style.css"))) } "\n"
            }
            body {
                main {
                    "\n" h1 { (title) }
                    @for section in sections { "\n" (section) }
                }
            }
        }
        "\n"
    })
}

/// The meanings of the marks of pictures: small drawings of a band, of a mark inside it, and of one
/// outside, with words.
pub(super) fn key(band: &str, inside: &str, outside: &str) -> Markup {
    let entry = |drawing: Markup, meaning: &str| {
        html! {
            li {
                svg viewBox="0 0 24 16" aria-hidden="true" { (drawing) }
                (meaning)
            }
        }
    };
    let [edge, fill] = [Paint::EDGE, Paint::BAND].map(|paint| paint.colour);
    html! {
        ul.key {
            (entry(html! { path.fill-band.line-edge fill=(fill) stroke=(edge) d="M4 1H20V15H4Z" {} }, band))
            (entry(html! { circle.fill-ink cx="12" cy="8" r="6" {} }, inside))
            (entry(html! { path.fill-alarm fill=(Paint::ALARM.colour) d="M12 0L20 8L12 16L4 8Z" {} }, outside))
        }
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

/// Makes the first letter capital.
pub(super) fn capital(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next().map(|first| first.to_uppercase());
    first.into_iter().flatten().chain(characters).collect()
}

/// A picture with its caption, and its numbers as a table.
pub(super) fn figure(drawn: &Drawn, caption: &str, numbers: &Markup) -> Markup {
    html! {
        figure {
            (drawn.element())
            figcaption { (caption) }
            (numbers)
        }
        "\n"
    }
}
