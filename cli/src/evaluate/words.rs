//! What is printed of an evaluation.

use std::fmt;

use burn_calibration::{
    distribution::Subject,
    hypothesis::{OmnibusOutcome, TestOutcome},
    names::Name,
    numbers::{percent, significant},
};

use super::{AspectAnswer, Class, EvaluationAnswer, Found};
use crate::{
    args::{FamilyName, LensName},
    table::{TextTable, title_width},
    words::{Estimate, Known, Told, key, p_value, probability},
};

impl fmt::Display for EvaluationAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.found {
            Found::Whole(whole) if whole.coverage.is_some() => {
                let levels = whole.coverage.iter().map(|coverage| coverage.levels.len());
                let (n, levels) = (self.data.n, levels.sum::<usize>());
                let weights = self.data.of_weights();
                writeln!(f, "{n} forecasts by quantiles at {levels} levels{weights}")?;
            }
            _ => writeln!(f, "{}", self.data.of_family(&key(self.family)))?,
        }
        let lens = match (self.lens, self.data.subject) {
            (_, Subject::Correctness) => "the confidence",
            (LensName::ClassWise, _) if self.family == FamilyName::Multilabel => {
                "each column as an event of its own (multilabel)"
            }
            (LensName::Canonical, Subject::Event) => "the probability of the event",
            (LensName::Canonical, _) => "the whole vector of probabilities (canonical)",
            (LensName::TopLabel, _) => "the confidence in the most likely class (top-label)",
            (LensName::ClassWise, _) => "each class against the rest (class-wise)",
        };
        if matches!(
            self.family,
            FamilyName::Categorical | FamilyName::Multilabel
        ) {
            writeln!(f, "tested: {lens}")?;
        }
        let share = |(name, share): &(Name, f64)| format!("{} {}", name.title, percent(*share, 1));
        let shares: Vec<String> = self.summary.0.iter().map(share).collect();
        if !shares.is_empty() {
            writeln!(f, "{}", shares.join(", "))?;
        }
        if let Some(zeros) = &self.data.rounded_zeros {
            writeln!(f, "{zeros}")?;
        }
        let (verdict, classes, adjusted, mean) = match &self.found {
            Found::Whole(whole) => return write!(f, "{whole}"),
            Found::Classes {
                verdict,
                classes,
                adjusted,
                mean,
            } => (verdict, classes, adjusted, mean),
        };
        writeln!(f, "\n{verdict}")?;
        for class in classes {
            write!(f, "{class}")?;
        }
        writeln!(f, "\nmean of the estimates over the classes")?;
        let table = TextTable::new(2, title_width(mean.0.iter().map(|(name, _)| name)), [16]);
        for (Name { title, .. }, mean) in &mean.0 {
            table.line(f, title, &[significant(*mean, 4)], "")?;
        }
        if adjusted.0.is_empty() {
            return Ok(());
        }
        let across = "p-values across classes, adjusted (smallest of the classes)";
        writeln!(f, "\n{across}")?;
        let table = TextTable::new(2, 38, [12, 20]);
        table.head(f, ["Holm", "Benjamini-Hochberg"])?;
        let least = |p: &[f64]| p_value(p.iter().copied().fold(1.0, f64::min));
        for (Name { title, .. }, adjusted) in &adjusted.0 {
            let cells = [&adjusted.holm, &adjusted.benjamini_hochberg].map(|p| least(p));
            table.line(f, title, &cells, "")?;
        }
        Ok(())
    }
}

/// The classes or columns that fail the omnibus test, whose p-values are adjusted for all of them.
pub fn headline(family: FamilyName, classes: &[AspectAnswer]) -> String {
    let of = match family {
        FamilyName::Multilabel => "columns",
        _ => "classes",
    };
    let name = |class: &AspectAnswer| class.class.as_ref().map(|class| class.name.clone());
    let tested: Vec<(String, &OmnibusOutcome)> = (classes.iter())
        .filter_map(|class| Some((name(class)?, class.answer.omnibus.0.as_ref().ok()?)))
        .collect();
    let failing: Vec<String> = (tested.iter())
        .filter(|(_, outcome)| outcome.is_rejected())
        .map(|(name, outcome)| format!("{name} (adjusted {})", outcome.probability()))
        .collect();
    let (count, fail) = (tested.len(), failing.len());
    if fail > 0 {
        let names = failing.join(", ");
        return format!("Not calibrated are {fail} of {count} {of}: {names}.");
    }
    let Some((_, least)) = (tested.iter()).min_by(|(_, a), (_, b)| {
        a.adjusted_p_value
            .partial_cmp(&b.adjusted_p_value)
            .expect("a number")
    }) else {
        return format!(
            "There is no test of calibration of any of {} {of}.",
            classes.len()
        );
    };
    let conclusion = least.conclusion();
    let p = least.probability();
    format!("{conclusion} of any of {count} {of}: the smallest adjusted {p}.")
}

impl fmt::Display for AspectAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f)?;
        if let Some(Class { name, .. }) = &self.class {
            writeln!(f, "class {name}")?;
        }
        match &self.given {
            Some(Known(Ok(given))) => writeln!(f, "{given}")?,
            Some(Known(Err(reason))) => {
                writeln!(f, "There is no test given the variables: {reason}\n")?
            }
            None => (),
        }
        write!(f, "{}", self.answer)?;
        if let Some(words) = &self.kernel {
            writeln!(f, "\n{words}")?;
        }
        if let Some(words) = &self.on_targets {
            writeln!(f, "{words}")?;
        }
        self.write_estimates(f)?;
        if let Some(coverage) = &self.coverage {
            write!(f, "{coverage}")?;
        }
        if self.tests.0.is_empty() {
            return Ok(());
        }
        writeln!(f, "\ntests of calibration")?;
        let table = TextTable::new(2, 38, [16, 14, 12]);
        table.head(f, ["estimate", "statistic", "p-value"])?;
        let cells = |o: &TestOutcome| {
            let p_value = probability(o.p_value, o.is_bound);
            let (estimate, statistic) = (o.estimate, o.statistic);
            vec![significant(estimate, 4), significant(statistic, 4), p_value]
        };
        for (Name { title, .. }, Told { of, value, .. }) in &self.tests.0 {
            table.known(f, title, value, cells, of)?;
            if let Some(caveat) = value.0.as_ref().ok().and_then(|o| o.caveat.as_ref()) {
                writeln!(f, "    {caveat}")?;
            }
        }
        Ok(())
    }
}

impl AspectAnswer {
    fn write_estimates(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let estimates = &self.estimates.0;
        let width = title_width(estimates.iter().map(|(name, _)| name));
        let have_errors = self.coverage.is_some();
        let table = TextTable::new(2, width, if have_errors { [14, 14] } else { [16, 14] });
        writeln!(f, "\nestimates")?;
        if have_errors {
            table.head(f, ["estimate", "standard error"])?;
        }
        let cells = |estimate: &Estimate| match estimate {
            Estimate::Number(value) => vec![significant(*value, 4)],
            Estimate::Mean(mean) => vec![
                significant(mean.estimate, 4),
                significant(mean.standard_error, 2),
            ],
        };
        for (Name { title, .. }, told) in estimates {
            let mut note = told.of.clone();
            if let Some(mean) = told.if_calibrated {
                let mean = significant(mean, 3);
                note.push_str(&format!("; a calibrated model has {mean}"));
            }
            table.known(f, title, &told.value, cells, note.trim_start_matches("; "))?;
        }
        Ok(())
    }
}
