use std::{
    fs,
    path::{Path, PathBuf},
};

use maud::{Markup, html};
use serde::Serialize;

use super::{
    Assessed, Change, Section,
    drawn::Drawn,
    number::{counted, decimals, significant},
    page::{self, capital},
    table, verdict,
};
use burn_calibration::{error::Result, file, score::Improvement};

/// A report on a model, before and after recalibration, built by
/// [`ReportBuilder`](super::ReportBuilder).
#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
#[non_exhaustive]
pub struct Report<S: Section> {
    /// The title of the page.
    pub title: String,
    /// Remarks about the data, a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The number `n` of samples.
    pub samples: usize,
    /// The effective number of samples with their weights, `(Σw)²/Σw²`.
    #[serde(skip)]
    pub effective_samples: f64,
    /// The description of the targets and of the diagrams.
    pub subject: S::Subject,
    /// The probability of the bands of the diagrams and of the confidence intervals.
    pub level: f64,
    /// The kernel of the SKCE. A median bandwidth is that of the predictions before recalibration. It is
    /// also used after recalibration, so that the two estimates have the same scale.
    pub kernel: S::Kernel,
    /// The seed of all random draws.
    pub seed: u64,
    /// The numbers and diagrams of the model.
    pub before: Assessed<S>,
    /// The numbers and diagrams of the recalibrated model, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Assessed<S>>,
    /// The changes of scores from before to after, of the same samples.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

/// Saves each picture under its name in a folder, and returns the names of the files.
pub(super) fn save_all(folder: &Path, drawings: &[(String, Drawn)]) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(folder).map_err(|reason| file::error(folder, reason))?;
    let save = |(name, drawn): &(String, Drawn)| {
        let path = folder.join(format!("{name}.svg"));
        drawn.save(&path).map(|()| path)
    };
    drawings.iter().map(save).collect()
}

impl<S: Section> Report<S> {
    /// Saves the page of [`to_html`](Self::to_html), by a temporary file that is renamed.
    ///
    /// # Errors
    ///
    /// [`Error::File`](burn_calibration::error::Error::File) if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        file::write(path.as_ref(), self.to_html().as_bytes())
    }

    /// Saves each diagram of the page as an SVG file in a folder, which is created if it does not exist.
    /// Returns the names of the files.
    ///
    /// # Errors
    ///
    /// [`Error::File`](burn_calibration::error::Error::File) if a file cannot be written.
    pub fn save_diagrams(&self, folder: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
        let mut all = Vec::new();
        for (when, set) in self.named() {
            let prefix = match self.after {
                Some(_) => format!("{when}-"),
                None => String::new(),
            };
            let drawings = set.page.drawings(&self.subject).into_iter();
            all.extend(drawings.map(|(name, drawn)| (format!("{prefix}{name}"), drawn)));
        }
        save_all(folder.as_ref(), &all)
    }

    /// The page: one file without scripts, links or resources to load, and well-formed XML. It fits the
    /// width of a phone, follows a dark colour scheme on screens, prints in black and white, and has the
    /// numbers of each picture as text.
    pub fn to_html(&self) -> String {
        let mut parts = S::page(self);
        let others = parts.diagrams.split_off(1);
        let mut sections = vec![self.overview(&parts.of)];
        sections.append(&mut parts.diagrams);
        sections.push(table::numbers(self));
        sections.extend(others);
        let paired = self.after.is_some();
        sections.push(html! {
            h2 { "How it was computed" }
            p.method {
                @if paired {
                    "The numbers after recalibration are valid for new data only if the map was fitted to \
                     other \
                     samples. "
                }
                "Verdict: the omnibus test of all samples, which are taken as independent. Its p-value is \
                 exact: the rank of the data among data drawn from the predictions. The p-values of findings are adjusted for the number of \
                 aspects \
                 (Westfall and Young 1993), and those of means allow for a model that is wrong elsewhere. \
                 Intervals at the level " (decimals(100.0 * self.level, 2))
                " %: for a predicted minus an observed frequency, and for their ratio, they are of new samples; "
                (parts.method) " "
                @if !parts.kernel.is_empty() {
                    (parts.kernel)
                    @if paired { ", the same before and after" }
                    ". The omnibus test also uses a quarter of this bandwidth, and four times this bandwidth. "
                }
                @if paired {
                    "Intervals of the changes of scores allow for errors that were not observed in these \
                     samples. \
                     The change of a score is the change of its calibration error only if the map is \
                     injective, \
                     such as a temperature. "
                }
                "Seed " (self.seed) ". burn-calibration " (env!("CARGO_PKG_VERSION")) "."
            }
        });
        page::page(&self.title, &sections)
    }

    /// The verdicts, what the predictions are, and a sentence about each set of them.
    fn overview(&self, of: &str) -> Markup {
        let named = self.named();
        let answers: Vec<_> = (named.iter())
            .map(|(name, set)| (*name, &set.answer))
            .collect();
        let paired = self.after.is_some();
        let are_weighted = self.effective_samples != self.samples as f64;
        html! {
            (verdict::verdicts(&answers))
            p {
                (counted(self.samples, "prediction")) " " (of)
                @if are_weighted {
                    ", with weights: an effective number of " (significant(self.effective_samples))
                }
                @if paired { ", before and after recalibration" } "."
            }
            ul {
                @for (name, set) in &named {
                    @let sentence = S::sentence(set);
                    li { @if paired { (capital(name)) ": " (sentence) } @else { (capital(&sentence)) } "." }
                }
                @for note in &self.notes { li { "Note: " (note) } }
            }
        }
    }

    /// The change of a quantity.
    pub(super) fn change(&self, key: &str) -> Option<&Improvement> {
        let change = self.changes.iter().find(|change| change.key == key);
        change?.improvement.as_ref().ok()
    }

    /// The sets of predictions, with their names.
    pub(super) fn named(&self) -> Vec<(&'static str, &Assessed<S>)> {
        let after = self.after.as_ref().map(|after| ("after", after));
        [("before", &self.before)]
            .into_iter()
            .chain(after)
            .collect()
    }

    /// A figure for each set of predictions, from the heading of its picture and what it is of; `alone`
    /// are these of a single set, and `pooled` is added to the name of one of two.
    pub(super) fn figures(
        &self,
        alone: (&str, &str),
        pooled: &str,
        figure: impl Fn(&S, &str, &str) -> Markup,
    ) -> Markup {
        let is_alone = self.after.is_none();
        html! {
            div.large.two[!is_alone] {
                @for (name, set) in self.named() {
                    @if is_alone {
                        (figure(&set.page, alone.0, alone.1))
                    } @else {
                        (figure(&set.page, name, &(capital(name) + pooled)))
                    }
                }
            }
        }
    }
}
