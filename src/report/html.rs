use super::{
    ReliabilityDiagram, Report, Summary, answer,
    number::{decimals, fixed, percent, whole},
    page::{
        self, ANSWER, BAND, DIAMOND, DISC, bandwidth, capital, drawn_at_random, fitted_elsewhere,
        profile,
    },
    picture::Picture,
    quantity::QUANTITIES,
    svg::{self, escaped},
    table,
};
use crate::{estimator::Binning, kernel::Distance};

impl Report {
    /// The page: one file without scripts, links or anything to load, that is well-formed as XML
    /// too. It scales down to the width of a phone, follows a dark colour scheme on screens, prints
    /// in black and white, and has the numbers of each picture in words.
    pub fn to_html(&self) -> String {
        page::page(
            &self.title,
            &[
                self.overview(),
                table::numbers(&self.named(), &QUANTITIES, self.reliability.level),
                self.top_label(),
                self.class_wise(),
                self.method(),
            ],
        )
    }

    /// The sets of predictions with their names.
    fn named(&self) -> Vec<(&'static str, &Summary)> {
        table::named(&self.before, self.after.as_ref())
    }

    fn overview(&self) -> String {
        let answers = self.named();
        let answers: Vec<_> = answers
            .iter()
            .map(|(name, s)| (*name, &s.omnibus))
            .collect();
        let mut html = answer::verdicts(&answers, &self.class_names);
        html += &format!(
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
            let lead = match self.after {
                Some(_) => format!("{}: on", capital(name)),
                None => "On".into(),
            };
            html += &format!(
                "<li>{lead} average the model is {} sure of its most likely class, and right {} of \
                 the time{}.</li>\n",
                percent(said),
                percent(was),
                direction(said - was)
            );
        }
        html + "</ul>\n"
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
        let distance = match self.kernel.distance {
            Distance::TotalVariation => "total variation distance",
            Distance::L1 => "L1 distance",
            Distance::Euclidean => "Euclidean distance",
        };
        let (profile, bandwidth) = (profile(&self.kernel), bandwidth(&self.kernel));
        let drawn = drawn_at_random(self.skce_samples, self.samples);
        let level = decimals(100.0 * self.reliability.level, 2);
        let same = match self.after {
            Some(_) => ", the same before and after",
            None => "",
        };
        let fitted = fitted_elsewhere(self.after.is_some());
        format!(
            "<h2>How it was computed</h2>\n<p class=\"method\">{fitted}{ANSWER}Intervals, of \
             {level} %: of the overconfidence at least of that level given the predictions (Clopper and \
             Pearson 1934), of the debiased ECE (Kumar et al. 2019) and of the SKCE approximate. \
             Diagrams and ECE: {bins}. \
             Bands: exact {level} % intervals of the frequency in each bin, given the predictions \
             (Poisson binomial; the idea is that of Bröcker and Smith 2007). They hold bin by bin: some of many \
             bins of a calibrated model lie outside theirs. SKCE (Widmann et al. 2019): {profile} \
             kernel over {distance} with bandwidth {bandwidth}{same}{drawn}; the omnibus \
             test takes a quarter and four times this bandwidth too. Seed {}. burn-calibration \
             {}.</p>\n",
            self.seed,
            env!("CARGO_PKG_VERSION")
        )
    }
}

fn direction(excess: f64) -> String {
    let points = decimals(100.0 * excess.abs(), 2);
    match excess {
        _ if points == "0" => String::new(),
        e if e > 0.0 => format!(": overconfident by {points} percentage points"),
        _ => format!(": underconfident by {points} percentage points"),
    }
}

/// What the marks mean.
fn key(level: f64) -> String {
    let level = decimals(100.0 * level, 2);
    let band = format!("where {level} % of the marks of a calibrated model would lie, bin by bin");
    page::key(&[
        (BAND, &band),
        (
            DISC,
            "a bin inside its band; larger marks hold more samples",
        ),
        (DIAMOND, "a bin outside its band"),
    ])
}

/// The numbers of a picture.
fn bins(diagram: &ReliabilityDiagram, what: &str) -> String {
    let row = |bin: &super::ReliabilityBin| {
        vec![
            format!("{}–{}", decimals(bin.lower, 3), decimals(bin.upper, 3)),
            whole(bin.count),
            decimals_fixed(bin.confidence),
            decimals_fixed(bin.frequency),
            format!(
                "{}–{}",
                decimals_fixed(bin.band.0),
                decimals_fixed(bin.band.1)
            ),
        ]
    };
    table::of_picture(
        &format!("{what}: samples, mean confidence, how often right, and band of each bin"),
        &["bin", "samples", "mean", "right", "band"],
        diagram.bins.iter().map(row),
    )
}

fn decimals_fixed(x: f64) -> String {
    format!("{x:.3}")
}
