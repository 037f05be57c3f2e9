//! The answer of `calibration compare` in words.

use std::{collections::BTreeSet, fmt};

use burn_calibration::{
    hypothesis::OmnibusOutcome,
    names::{self, Name},
    numbers::{fixed, significant},
};

use super::{Biased, Comparison, End, LevelChange, Outcome, Paired};
use crate::{
    answer::table_of_sizes,
    table::TextTable,
    words::{BeforeAfter, Computed, probability, verdict},
};

/// The table of paired changes, to which rows may be added.
pub fn table_of_changes(changes: &[(String, &Computed<Paired>)], level: f64) -> TextTable {
    let interval = format!("{} % interval", 100.0 * level);
    let mut adjusted =
        (changes.iter()).filter_map(|(_, change)| change.0.as_ref().ok()?.adjusted_p_value);
    let mut titles = vec!["before", "after", "difference", &interval, "p-value"];
    titles.extend(adjusted.next().map(|_| "adjusted"));
    let mut table = TextTable::new(&titles);
    for (title, change) in changes {
        let note = change
            .0
            .as_ref()
            .map_or_else(|_| String::new(), Paired::note);
        table.known(title, change, Paired::cells, &note);
    }
    table
}

/// Writes why ends of intervals are infinite, each reason once.
pub fn write_unbounded<'a>(
    f: &mut fmt::Formatter<'_>,
    changes: impl Iterator<Item = &'a Computed<Paired>>,
) -> fmt::Result {
    let reasons = changes.filter_map(|change| change.0.as_ref().ok()?.unbounded.as_ref());
    let reasons: BTreeSet<&String> = reasons.collect();
    let mut reasons = reasons.into_iter();
    reasons.try_for_each(|reason| writeln!(f, "An end of an interval is infinite: {reason}."))
}

/// Writes whether predictions are calibrated.
pub fn write_verdict(
    f: &mut fmt::Formatter<'_>,
    who: &str,
    Computed(outcome): &Computed<OmnibusOutcome>,
) -> fmt::Result {
    let words = match outcome {
        Ok(outcome) => verdict(&outcome.verdict(), !outcome.is_rejected()),
        Err(reason) => format!("There is no test of calibration: {reason}"),
    };
    writeln!(f, "\n{who}: {words}")
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Two(comparison) => comparison.fmt(f),
            Self::Several(models) => models.fmt(f),
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}, before and after", self.data)?;
        if let Some(kernel) = &self.kernel {
            writeln!(f, "{kernel}{}", self.median)?;
        }
        writeln!(f)?;
        let changes =
            (self.changes.0.iter()).map(|(name, change)| (name.title.to_string(), change));
        let levels = (self.others.levels.iter()).map(|LevelChange { level, pinball }| {
            (format!("pinball score, level {level}"), pinball)
        });
        let lines: Vec<_> = changes.chain(levels).collect();
        let mut table = table_of_changes(&lines, self.level);
        if let Some(BeforeAfter { before, after }) = &self.others.accuracy {
            let cells = [before, after].map(|share| fixed(*share, 6));
            table.row(&names::ACCURACY.title, &cells, "");
        }
        for (Name { title, .. }, Biased { values, .. }) in &self.others.ece.0 {
            let cells = [values.before, values.after].map(|ece| significant(ece, 4));
            table.row(title, &cells, "");
        }
        write!(f, "{table}")?;
        write_unbounded(f, lines.iter().map(|(_, change)| *change))?;
        let (omnibus, intervals) = (&self.omnibus, &self.intervals);
        for (when, outcome, sizes) in [
            ("before", &omnibus.before, &intervals.before),
            ("after", &omnibus.after, &intervals.after),
        ] {
            write_verdict(f, when, outcome)?;
            write!(f, "{}", table_of_sizes(sizes))?;
        }
        let mut names = self.changes.0.iter().map(|(name, _)| name.key);
        let of_skce = if names.any(|key| key.starts_with("skce")) {
            " The difference of the\nSKCE is the change of a calibration error for every map."
        } else {
            ""
        };
        writeln!(
            f,
            "\nThe difference is after - before; a negative one is a gain. The difference of a score is the change of its\n\
             calibration error only if the map is injective, such as a temperature.{of_skce}"
        )
    }
}

impl Paired {
    /// The estimates before and after.
    pub fn ends(&self) -> [f64; 2] {
        [self.before, self.after]
    }

    fn cells(&self) -> Vec<String> {
        let values = [self.before, self.after, self.difference];
        let mut cells = values.map(|value| significant(value, 4)).to_vec();
        if let Ok((End(low), End(high))) = &self.interval.0 {
            let p_value = self.p_value.0.as_ref();
            let p_value = p_value.map_or_else(|_| "-".into(), |p| probability(*p, self.is_bound));
            cells.extend([
                format!("[{}, {}]", significant(*low, 3), significant(*high, 3)),
                p_value,
            ]);
            let adjusted = self.adjusted_p_value;
            cells.extend(adjusted.map(|p| probability(p, self.is_bound)));
        }
        cells
    }

    /// Returns the reason why there is no interval; empty if there is one.
    fn note(&self) -> String {
        let reason = self.interval.0.as_ref().err();
        reason.map_or_else(String::new, |reason| format!("no interval: {reason}"))
    }
}
