//! What is printed of an evaluation.

use std::fmt;

use burn_calibration::{
    distribution::Subject,
    hypothesis::{OmnibusOutcome, TestOutcome},
    names::{self, Name},
    numbers::{percent, significant},
};
use burn_calibration_report::{Estimate, Size, Tested, Value};

use super::{Adjusted, AspectAnswer, Aspects, Class, EvaluationAnswer};
use crate::{
    answer,
    args::{FamilyName, LensName},
    given::GivenAnswer,
    table::TextTable,
    words::{Computed, Named, counted, key, p_value, probability, shown},
};

impl fmt::Display for EvaluationAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.found {
            Aspects::Whole(whole) if whole.coverage.is_some() => {
                let levels = whole.coverage.iter().map(|coverage| coverage.levels.len());
                let n = counted(self.data.n, "forecast");
                let levels = counted(levels.sum(), "level");
                let weights = self.data.weights_in_words();
                writeln!(f, "{n} by quantiles at {levels}{weights}")?;
            }
            _ => writeln!(f, "{}", self.data.in_words_of(&key(self.family)))?,
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
        let share = |(name, share): &(Name, Estimate)| {
            let share = share.value.0.as_ref().ok()?.number();
            Some(format!("{} {}", name.title, percent(share, 1)))
        };
        let shares: Vec<String> = self.summary.0.iter().filter_map(share).collect();
        if !shares.is_empty() {
            writeln!(f, "{}", shares.join(", "))?;
        }
        let (verdict, classes, adjusted, mean) = match &self.found {
            Aspects::Whole(whole) => {
                whole.write(f, self.is_verbose)?;
                return self.write_hint(f);
            }
            Aspects::Classes {
                verdict,
                classes,
                adjusted,
                mean,
            } => (verdict, classes, adjusted, mean),
        };
        writeln!(f, "\n{verdict}")?;
        if !self.is_verbose {
            let order = worst_first(classes);
            let first = &order[..order.len().min(CLASSES)];
            write!(f, "{}", table_of_classes(first))?;
            if let more @ 1.. = order.len() - first.len() {
                writeln!(f, "  and {more} more: --verbose")?;
            }
            for class in first {
                class.write_asked(f)?;
            }
            write_adjusted(f, adjusted, false)?;
            for class in classes {
                class.write_given(f)?;
            }
            return self.write_hint(f);
        }
        for class in classes {
            class.write(f, true)?;
        }
        let mut table = TextTable::new(&[""]);
        for (Name { title, .. }, mean) in &mean.0 {
            table.row(title, &[significant(*mean, 4)], "");
        }
        write!(f, "\nmean of the estimates over the classes\n{table}")?;
        write_adjusted(f, adjusted, true)
    }
}

/// Writes the p-values of tests across classes: of those that options name, and of the omnibus test too or without it.
fn write_adjusted(
    f: &mut fmt::Formatter<'_>,
    Named(adjusted): &Named<Adjusted>,
    with_omnibus: bool,
) -> fmt::Result {
    let is_shown = |(name, _): &&(Name, Adjusted)| with_omnibus || *name != names::OMNIBUS;
    let shown: Vec<_> = adjusted.iter().filter(is_shown).collect();
    if shown.is_empty() {
        return Ok(());
    }
    let across = "p-values across classes, adjusted (smallest of the classes)";
    let mut table = TextTable::new(&["Holm", "Benjamini-Hochberg"]);
    let least = |p: &[f64]| p_value(p.iter().copied().fold(1.0, f64::min));
    for (Name { title, .. }, adjusted) in shown {
        let cells = [&adjusted.holm, &adjusted.benjamini_hochberg].map(|p| least(p));
        table.row(title, &cells, "");
    }
    write!(f, "\n{across}\n{table}")
}

impl EvaluationAnswer {
    /// Says where the rest is.
    fn write_hint(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_verbose {
            return Ok(());
        }
        writeln!(
            f,
            "more: --verbose prints scores and other estimates, and all aspects of the test"
        )
    }
}

/// The ECE of published results with 10 bins per class, which is in JSON alone: people know the class-wise ECE.
const UNUSUAL: &str = "ece_uniform";

/// Classes that the first screen shows.
const CLASSES: usize = 20;

/// The classes, those with the smallest p-values first.
fn worst_first(classes: &[AspectAnswer]) -> Vec<&AspectAnswer> {
    // of equal adjusted ones by their own
    let p_values = |class: &AspectAnswer| match &class.answer.omnibus.0 {
        Ok(outcome) => [
            outcome.adjusted_p_value.unwrap_or(outcome.p_value),
            outcome.p_value,
        ],
        Err(_) => [f64::INFINITY; 2],
    };
    let mut order: Vec<&AspectAnswer> = classes.iter().collect();
    order.sort_by(|a, b| {
        let [a, b] = [p_values(a), p_values(b)];
        (a[0].total_cmp(&b[0])).then(a[1].total_cmp(&b[1])) // stable
    });
    order
}

/// The first error of each class and the p-value of its test.
fn table_of_classes(classes: &[&AspectAnswer]) -> TextTable {
    let mut table = TextTable::new(&["O/E", "interval", "adjusted p"]);
    for class in classes {
        let Named(sizes) = &class.answer.intervals;
        let mut cells: Vec<String> = sizes
            .first()
            .map_or(Vec::new(), |(_, size)| size.cells().into());
        let outcome = class.answer.omnibus.0.as_ref();
        cells.push(outcome.map_or("-".into(), |outcome| shown(outcome.probability())));
        let name = class.class.as_ref().map_or("", |class| &class.name);
        table.row(name, &cells, "");
    }
    table
}

/// The classes or columns that fail the omnibus test, and those that fail given columns. All p-values are adjusted
/// together. What fails comes first.
pub fn headline(family: FamilyName, classes: &[AspectAnswer]) -> String {
    let of = match family {
        FamilyName::Multilabel => "columns",
        _ => "classes",
    };
    let name = |class: &AspectAnswer| class.class.as_ref().map(|class| class.name.clone());
    let tested: Vec<(String, &OmnibusOutcome)> = (classes.iter())
        .filter_map(|class| Some((name(class)?, class.answer.omnibus.0.as_ref().ok()?)))
        .collect();
    let whole = statement((of, classes.len()), "", &tested);
    let given = classes.iter().find_map(AspectAnswer::known_given);
    let Some(columns) = given.map(GivenAnswer::columns_in_words) else {
        return whole;
    };
    let tested_given: Vec<(String, &OmnibusOutcome)> = (classes.iter())
        .filter_map(|class| Some((name(class)?, class.known_given()?.most_significant())))
        .collect();
    let fails = |(_, outcome): &(String, &OmnibusOutcome)| outcome.is_rejected();
    let given = statement(
        (of, classes.len()),
        &format!(" given {columns}"),
        &tested_given,
    );
    if tested_given.iter().any(fails) && !tested.iter().any(fails) {
        format!("{given} {whole}")
    } else {
        format!("{whole} {given}")
    }
}

/// Says which of so many classes or columns fail a test, of calibration or of that given something.
fn statement(
    (of, all): (&str, usize),
    given: &str,
    tested: &[(String, &OmnibusOutcome)],
) -> String {
    let failing: Vec<String> = (tested.iter())
        .filter(|(_, outcome)| outcome.is_rejected())
        .map(|(name, outcome)| format!("{name} (adjusted {})", outcome.probability()))
        .collect();
    let Some((_, least)) = (tested.iter()).min_by(|(_, a), (_, b)| {
        a.adjusted_p_value
            .partial_cmp(&b.adjusted_p_value)
            .expect("a number")
    }) else {
        return format!("There is no test of calibration{given} of any of {all} {of}.");
    };
    let (count, fail, level) = (tested.len(), failing.len(), least.level_in_words());
    if fail > 0 {
        let names = failing.join(", ");
        let are = if fail == 1 { "is" } else { "are" };
        return format!("{fail} of {count} {of} {are} not calibrated{given}: {names}{level}.");
    }
    let conclusion = least.conclusion();
    let p = least.probability();
    format!("{conclusion}{given} of any of {count} {of}: the smallest adjusted {p}{level}.")
}

impl AspectAnswer {
    /// Writes what is found given columns, with the name of the class.
    fn write_given(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Computed(given)) = &self.given else {
            return Ok(());
        };
        if let Some(Class { name, .. }) = &self.class {
            writeln!(f, "\nclass {name}")?;
        }
        match given {
            Ok(given) => writeln!(f, "{given}"),
            Err(reason) => writeln!(f, "There is no test given the variables: {reason}\n"),
        }
    }

    /// Writes what options ask for of a class: tests of a tolerance, bounds of Lp errors, and tests by their names.
    fn write_asked(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bounds = [names::LP_ERROR, names::LP_OVER, names::LP_UNDER].map(|name| name.key);
        let is_asked =
            |(name, size): &&(Name, Size)| size.tolerance.is_some() || bounds.contains(&name.key);
        let sizes = self.answer.intervals.0.iter().filter(is_asked).cloned();
        let sizes = Named(sizes.collect());
        let has_tests = self.answer.tests.as_ref().is_some_and(|t| !t.is_empty());
        if sizes.is_empty() && !has_tests {
            return Ok(());
        }
        if let Some(Class { name, .. }) = &self.class {
            writeln!(f, "\nclass {name}")?;
        }
        write!(f, "{}", answer::table_of_sizes(&sizes))?;
        self.write_tests(f)
    }

    /// Writes the answer, and all numbers besides if they are asked for.
    fn write(&self, f: &mut fmt::Formatter<'_>, is_verbose: bool) -> fmt::Result {
        writeln!(f)?;
        match &self.class {
            Some(Class { name, .. }) if self.given.is_none() => writeln!(f, "class {name}")?,
            _ => self.write_given(f)?,
        }
        answer::write(f, &self.answer, &self.class_names, is_verbose)?;
        if is_verbose {
            if let Some(words) = &self.kernel {
                writeln!(f, "\n{words}")?;
            }
            if let Some(words) = &self.on_targets {
                writeln!(f, "{words}")?;
            }
            self.write_estimates(f)?;
        }
        if let Some(coverage) = &self.coverage {
            write!(f, "{coverage}")?;
        }
        self.write_tests(f)
    }

    /// Writes the tests that options name.
    fn write_tests(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Named(tests)) = self.answer.tests.as_ref().filter(|tests| !tests.is_empty())
        else {
            return Ok(());
        };
        let mut table = TextTable::new(&["estimate", "statistic", "p-value"]);
        let cells = |o: &TestOutcome| {
            let p_value = probability(o.p_value, o.is_bound);
            let (estimate, statistic) = (o.estimate, o.statistic);
            vec![significant(estimate, 4), significant(statistic, 4), p_value]
        };
        for (Name { title, .. }, Tested { of, value }) in tests {
            table.known(title, value, cells, of);
        }
        write!(f, "\ntests of calibration\n{table}")?;
        for (Name { title, .. }, Tested { value, .. }) in tests {
            if let Some(caveat) = value.0.as_ref().ok().and_then(|o| o.caveat.as_ref()) {
                writeln!(f, "    {title}: {caveat}")?;
            }
        }
        Ok(())
    }

    fn write_estimates(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = match &self.coverage {
            Some(_) => TextTable::new(&["estimate", "standard error"]),
            None => TextTable::new(&[]),
        };
        let shown = self.answer.estimates.0.0.iter();
        for (Name { title, .. }, estimate) in shown.filter(|(name, _)| name.key != UNUSUAL) {
            let mut note = estimate.of.clone();
            if let Some(mean) = estimate.if_calibrated {
                note.push_str(&format!("; a calibrated model has {mean}"));
            }
            let note = note.trim_start_matches("; ");
            table.known(title, &estimate.value, Value::cells, note);
        }
        write!(f, "\nestimates\n{table}")
    }
}
