use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::{
    Section, answer,
    number::{decimals, whole},
    page::{self, ANSWER, capital, drawn_at_random, fitted_elsewhere},
    table,
};
use burn_calibration::{error::Result, file};

/// A report on a model, before and after recalibration, built by
/// [`ReportBuilder`](super::ReportBuilder).
#[derive(Debug, Clone, Serialize)]
#[serde(bound = "")]
#[non_exhaustive]
pub struct Report<S: Section> {
    /// The title of the page.
    pub title: String,
    /// The number `n` of samples.
    pub samples: usize,
    /// The description of the targets and of the diagrams.
    pub subject: S::Subject,
    /// The probability of the bands of the diagrams and of the confidence intervals.
    pub level: f64,
    /// The kernel of the SKCE. Medians are those of the predictions before, and used for those after as
    /// well, so that the two estimates are of one scale.
    pub kernel: S::Kernel,
    /// The number of samples of the SKCE: drawn at random where these are not all.
    pub skce_samples: usize,
    /// The seed of all that is drawn.
    pub seed: u64,
    /// The numbers and diagrams of the model.
    pub before: S,
    /// The numbers and diagrams of the recalibrated model, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<S>,
}

impl<S: Section> Report<S> {
    /// Saves the page of [`to_html`](Self::to_html), written aside and renamed.
    ///
    /// # Errors
    ///
    /// [`Error::File`](burn_calibration::error::Error::File) if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        file::write(path.as_ref(), self.to_html().as_bytes())
    }

    /// Saves each diagram of the page as `svg` under a name of its own into a folder, which is made if need
    /// be. Returns the names of the files.
    ///
    /// # Errors
    ///
    /// [`Error::File`](burn_calibration::error::Error::File) if a file cannot be written.
    pub fn save_diagrams(&self, folder: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
        let folder = folder.as_ref();
        fs::create_dir_all(folder).map_err(|reason| file::error(folder, reason))?;
        let mut paths = Vec::new();
        for (when, section) in self.named() {
            let prefix = match self.after {
                Some(_) => format!("{when}-"),
                None => String::new(),
            };
            for (name, drawn) in section.drawings(&self.subject) {
                let path = folder.join(format!("{prefix}{name}.svg"));
                drawn.save(&path)?;
                paths.push(path);
            }
        }
        Ok(paths)
    }

    /// The page: one file without scripts, links or anything to load, that is well-formed as XML
    /// too. It scales down to the width of a phone, follows a dark colour scheme on screens, prints
    /// in black and white, and has the numbers of each picture in words.
    pub fn to_html(&self) -> String {
        let parts = S::page(self);
        let named = self.named();
        let answers: Vec<_> = named.iter().map(|(name, s)| (*name, s.omnibus())).collect();
        let paired = self.after.is_some();
        let mut overview = answer::verdicts(&answers);
        overview += &format!(
            "<p>{} prediction{} {}{}.</p>\n<ul>\n",
            whole(self.samples),
            if self.samples == 1 { "" } else { "s" },
            parts.of,
            if paired {
                ", before and after recalibration"
            } else {
                ""
            }
        );
        for ((name, _), sentence) in named.iter().zip(&parts.sentences) {
            overview += &if paired {
                format!("<li>{}: {sentence}.</li>\n", capital(name))
            } else {
                format!("<li>{}.</li>\n", capital(sentence))
            };
        }
        let mut sections = vec![
            overview + "</ul>\n",
            table::numbers(&named, &self.before.quantities(), self.level),
        ];
        sections.extend(parts.diagrams);
        sections.push(format!(
            "<h2>How it was computed</h2>\n<p class=\"method\">{}{ANSWER}Intervals, of {} %: of a \
             predicted less an observed frequency at least of that level given the predictions \
             (Clopper and Pearson 1934), \
             {} {}{}{}; the omnibus test takes a quarter and four times this bandwidth too. Seed {}. \
             burn-calibration {}.</p>\n",
            fitted_elsewhere(paired),
            decimals(100.0 * self.level, 2),
            parts.method,
            parts.kernel,
            if paired { ", the same before and after" } else { "" },
            drawn_at_random(self.skce_samples, self.samples),
            self.seed,
            env!("CARGO_PKG_VERSION")
        ));
        page::page(&self.title, &sections)
    }

    /// The sets of predictions with their names.
    pub(super) fn named(&self) -> Vec<(&'static str, &S)> {
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
        of: impl Fn(&S, &str, &str) -> page::Figure,
    ) -> String {
        let named = self.named();
        let figure = |(name, section): &(&'static str, &S)| {
            let (heading, what) = match named.len() {
                1 => (alone.0, alone.1.to_owned()),
                _ => (*name, capital(name) + pooled),
            };
            of(section, heading, &what).to_html()
        };
        let figures: String = named.iter().map(figure).collect();
        let two = if named.len() > 1 { " two" } else { "" };
        format!("<div class=\"large{two}\">\n{figures}</div>\n")
    }
}
