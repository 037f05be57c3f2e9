use super::{
    ReliabilityDiagram, Report, Summary,
    number::{decimals, fixed, percent, whole},
    picture::Picture,
    quantity::{Cell, QUANTITIES},
    svg::{self, escaped},
};
use crate::{
    estimator::Binning,
    kernel::{Bandwidth, Distance, Profile},
};

impl Report {
    /// The page: one file without scripts, links or anything to load, that is well-formed as XML
    /// too. It scales down to the width of a phone, follows a dark colour scheme on screens, prints
    /// in black and white, and has the numbers of each picture in words.
    pub fn to_html(&self) -> String {
        let title = escaped(&self.title);
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <title>{title}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n\
             <h1>{title}</h1>\n{}{}{}{}{}</main>\n</body>\n</html>\n",
            include_str!("style.css"),
            self.overview(),
            self.numbers(),
            self.top_label(),
            self.class_wise(),
            self.method()
        )
    }

    /// The sets of predictions with their names.
    fn named(&self) -> Vec<(&'static str, &Summary)> {
        let after = self.after.as_ref().map(|after| ("after", after));
        [("before", &self.before)]
            .into_iter()
            .chain(after)
            .collect()
    }

    fn overview(&self) -> String {
        let mut html = format!(
            "<p>{} prediction{} over {} classes{}.</p>\n<ul>\n",
            whole(self.samples),
            if self.samples == 1 { "" } else { "s" },
            whole(self.classes()),
            match self.after {
                Some(_) => ", before and after recalibration",
                None => "",
            }
        );
        for (name, summary) in self.named() {
            let (said, was) = (summary.confidence.estimate, summary.accuracy.estimate);
            let verdict = match &summary.skce {
                Ok(outcome) if outcome.p_value() < 0.05 => {
                    "The test of the SKCE rejects calibration at the 5 % level."
                }
                Ok(_) => {
                    "The test of the SKCE does not reject calibration at the 5 % level, which does \
                     not show that the model is calibrated."
                }
                Err(_) => "There is no test of calibration on these data.",
            };
            let lead = match self.after {
                Some(_) => format!("{}: on", capital(name)),
                None => "On".into(),
            };
            html += &format!(
                "<li>{lead} average the model is {} sure of its most likely class, and right {} of \
                 the time{}. {verdict}</li>\n",
                percent(said),
                percent(was),
                direction(said - was)
            );
        }
        html + "</ul>\n"
    }

    fn numbers(&self) -> String {
        let named = self.named();
        let heads: String = match named.len() {
            1 => "<th scope=\"col\">value</th>".into(),
            _ => named
                .iter()
                .map(|(name, _)| format!("<th scope=\"col\">{name}</th>"))
                .collect(),
        };
        let paired = match named.len() {
            1 => "",
            _ => {
                " Before and after are of the same samples: a difference is known better than the \
                 errors of both say."
            }
        };
        let mut html = format!(
            "<h2>Numbers</h2>\n<table class=\"numbers\">\n<caption>With ± one standard error where \
             it is known. Lower is better for scores and errors.{paired}</caption>\n\
             <thead><tr><th scope=\"col\">quantity</th>{heads}</tr></thead>\n"
        );
        for quantity in &QUANTITIES {
            let cells: Vec<Cell> = named.iter().map(|(_, s)| (quantity.cell)(s)).collect();
            let columns: String = cells.iter().map(cell).collect();
            let missing: String = named
                .iter()
                .zip(&cells)
                .filter_map(|((name, _), cell)| {
                    let reason = cell.missing.as_ref()?;
                    let place = match named.len() {
                        1 => "Here".into(),
                        _ => capital(name),
                    };
                    Some(format!(" {place}: {}.", escaped(reason)))
                })
                .collect();
            html += &format!(
                "<tbody>\n<tr class=\"value\"><th scope=\"row\">{}</th>{columns}</tr>\n\
                 <tr class=\"meaning\"><td colspan=\"{}\">{}{missing}</td></tr>\n</tbody>\n",
                quantity.name,
                1 + named.len(),
                quantity.meaning
            );
        }
        html + "</table>\n"
    }

    fn top_label(&self) -> String {
        let named = self.named();
        let mut html = format!(
            "<h2>Is the model right as often as it says?</h2>\n\
             <p>Each mark is a bin of samples: their mean confidence in the most likely class, and \
             how often that class was the right one. Below the dashed diagonal the model is \
             overconfident, above it underconfident. The bars count samples.</p>\n{}\
             <div class=\"large{}\">\n",
            key(self.reliability.level),
            if named.len() > 1 { " two" } else { "" }
        );
        for (name, summary) in &named {
            let diagram = &summary.top_label;
            let heading = match named.len() {
                1 => "top label",
                _ => name,
            };
            let what = match named.len() {
                1 => "Top label".into(),
                _ => format!("{}, top label", capital(name)),
            };
            html += &format!(
                "<figure>\n{}<figcaption>{what}: {} of {} bins outside their band.</figcaption>\n{}\
                 </figure>\n",
                self.drawn(diagram, diagram.full(heading), &what),
                diagram.outside(),
                diagram.bins.len(),
                bins(diagram, &what)
            );
        }
        html + "</div>\n"
    }

    fn class_wise(&self) -> String {
        if self.shown_classes.is_empty() {
            return String::new();
        }
        let (shown, all) = (self.shown_classes.len(), self.classes());
        let which = match shown < all {
            true => format!(
                "{} of the {} classes: those with most labels",
                whole(shown),
                whole(all)
            ),
            false => "All classes".into(),
        };
        let named = self.named();
        let mut html = format!(
            "<h2>Class by class</h2>\n<p>{which}. Each mark is a bin of all samples by the \
             probability of the class, whether or not it is the most likely one; with marks, bands \
             and bins as above.</p>\n<div class=\"classes{}\">\n",
            if named.len() > 1 { "" } else { " single" }
        );
        for (k, &class) in self.shown_classes.iter().enumerate() {
            let class_name = escaped(&self.class_names[class]);
            let share = percent(self.before.class_wise[k].frequency());
            let (mut pictures, mut errors) = (String::new(), Vec::new());
            for (name, summary) in &named {
                let diagram = &summary.class_wise[k];
                let (heading, title) = match named.len() {
                    1 => ("", format!("Class {}", self.class_names[class])),
                    _ => (*name, format!("Class {}, {name}", self.class_names[class])),
                };
                pictures += &self.drawn(diagram, diagram.small(heading), &title);
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

    fn drawn(&self, diagram: &ReliabilityDiagram, picture: Picture, what: &str) -> String {
        let title = format!("Reliability diagram: {what}");
        svg::element(&picture, &title, &diagram.description())
    }

    fn method(&self) -> String {
        let bins = match self.reliability.binning {
            Binning::Uniform { bins } => format!("{} bins of equal width", whole(bins)),
            Binning::EqualMass { bins } => format!("{} bins of equal mass", whole(bins)),
            Binning::MedianVariance { minimum } => {
                format!(
                    "median-variance bins of at least {} samples",
                    whole(minimum)
                )
            }
        };
        let profile = match self.kernel.profile {
            Profile::Exponential => "an exponential",
            Profile::Gaussian => "a Gaussian",
            Profile::GeneralisedExponential { .. } => "a generalised exponential",
            Profile::Matern32 => "a Matérn 3/2",
            Profile::Matern52 => "a Matérn 5/2",
            Profile::RationalQuadratic { .. } => "a rational quadratic",
        };
        let distance = match self.kernel.distance {
            Distance::TotalVariation => "total variation distance",
            Distance::L1 => "L1 distance",
            Distance::Euclidean => "Euclidean distance",
        };
        let bandwidth = match self.kernel.bandwidth {
            Bandwidth::Fixed(value) => decimals(value, 6),
            Bandwidth::Median => "the median".into(),
        };
        let tested = match &self.before.skce {
            Ok(outcome) if outcome.samples() < self.samples => {
                format!(", on {} samples drawn at random", whole(outcome.samples()))
            }
            _ => String::new(),
        };
        let same = match self.after {
            Some(_) => ", the same before and after",
            None => "",
        };
        let fitted = match self.after {
            Some(_) => {
                "The numbers after recalibration hold for new data only if the map was fitted on \
                 other samples than these. "
            }
            None => "",
        };
        format!(
            "<h2>How it was computed</h2>\n<p class=\"method\">{fitted}Diagrams and ECE: {bins}. \
             Bands: exact {} % intervals of the frequency in each bin, given the predictions \
             (Poisson binomial; the idea is that of Bröcker and Smith 2007). They hold bin by bin: some of many \
             bins of a calibrated model lie outside theirs. SKCE (Widmann et al. 2019): {profile} \
             kernel over {distance} with bandwidth {bandwidth}{same}{tested}; \
             its p-value by a gamma distribution with three moments. Seed {}. burn-calibration \
             {}.</p>\n",
            decimals(100.0 * self.reliability.level, 2),
            self.seed,
            env!("CARGO_PKG_VERSION")
        )
    }
}

fn capital(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next().map(|first| first.to_uppercase());
    first.into_iter().flatten().chain(characters).collect()
}

fn direction(excess: f64) -> String {
    let points = decimals(100.0 * excess.abs(), 2);
    match excess {
        _ if points == "0" => String::new(),
        e if e > 0.0 => format!(": overconfident by {points} percentage points"),
        _ => format!(": underconfident by {points} percentage points"),
    }
}

fn cell(cell: &Cell) -> String {
    let error = cell.error.as_ref().map_or(String::new(), |error| {
        format!("<span class=\"error\">± {error}</span>")
    });
    format!("<td>{}{error}</td>", cell.value)
}

/// What the marks mean.
fn key(level: f64) -> String {
    let level = decimals(100.0 * level, 2);
    let entry = |drawing: &str, meaning: &str| {
        format!(
            "<li><svg viewBox=\"0 0 24 16\" aria-hidden=\"true\">{drawing}</svg>{meaning}</li>\n"
        )
    };
    format!(
        "<ul class=\"key\">\n{}{}{}</ul>\n",
        entry(
            "<path class=\"fill-band line-edge\" fill=\"#d6d6d6\" stroke=\"#6e6e6e\" d=\"M4 1H20V15H4Z\"/>",
            &format!("where {level} % of the marks of a calibrated model would lie, bin by bin")
        ),
        entry(
            "<circle class=\"fill-ink\" cx=\"12\" cy=\"8\" r=\"6\"/>",
            "a bin inside its band; larger marks hold more samples"
        ),
        entry(
            "<path class=\"fill-alarm\" fill=\"#b02018\" d=\"M12 0L20 8L12 16L4 8Z\"/>",
            "a bin outside its band"
        )
    )
}

/// The numbers of a picture as a table that opens on demand.
fn bins(diagram: &ReliabilityDiagram, what: &str) -> String {
    let row = |bin: &super::ReliabilityBin| {
        format!(
            "<tr><th scope=\"row\">{}–{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}–{}</td></tr>\n",
            decimals(bin.lower, 3),
            decimals(bin.upper, 3),
            whole(bin.count),
            decimals_fixed(bin.confidence),
            decimals_fixed(bin.frequency),
            decimals_fixed(bin.band.0),
            decimals_fixed(bin.band.1)
        )
    };
    let rows: String = diagram.bins.iter().map(row).collect();
    format!(
        "<details>\n<summary>Numbers of this picture</summary>\n<table class=\"bins\">\n\
         <caption>{what}: samples, mean confidence, how often right, and band of each bin</caption>\n<thead><tr><th scope=\"col\">bin</th>\
         <th scope=\"col\">samples</th><th scope=\"col\">mean</th><th scope=\"col\">right</th>\
         <th scope=\"col\">band</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</details>\n"
    )
}

fn decimals_fixed(x: f64) -> String {
    format!("{x:.3}")
}
