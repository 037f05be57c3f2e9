//! A gate for scripts: `--fail-if-rejected` and `--fail-above` make an answer an exit code.

use burn_calibration::{
    hypothesis::{OmnibusOutcome, Probability, holm},
    numbers::decimals,
};

use super::{AspectAnswer, EvaluationAnswer};
use crate::{
    answer::verdict_level,
    args::EvaluateArgs,
    error::{Result, ensure, wrong},
    words::Computed,
};

/// Returns the reasons why the gate stays closed, a line for each option that closes it.
///
/// # Errors
///
/// A test that was not computed, or that could not reject with so few redraws: such a gate would always be open.
pub fn reasons(args: &EvaluateArgs, answer: &EvaluationAnswer) -> Result<Vec<String>> {
    let aspects = answer.aspects();
    let level = verdict_level(&args.sizes);
    let mut reasons = Vec::new();
    if args.gate.fail_if_rejected {
        reasons.extend(rejection(aspects, level)?);
    }
    if let Some(most) = args.gate.fail_above {
        let mut tests = Vec::new();
        for aspect in aspects {
            for (name, size) in &aspect.answer.intervals.0 {
                let Some(tolerance) = &size.tolerance else {
                    continue;
                };
                let tolerance = tolerance.0.as_ref();
                let tolerance = tolerance.map_err(|reason| {
                    wrong!("--fail-above: {} was not tested: {reason}", name.title)
                })?;
                let is_known =
                    size.interval.0.as_ref().is_ok_and(|interval| {
                        interval.lower.is_finite() && interval.upper.is_finite()
                    });
                ensure!(
                    is_known,
                    "--fail-above: {} has no finite interval, expected more rows",
                    name.title
                );
                tests.push((&name.title, tolerance));
            }
        }
        ensure!(
            !tests.is_empty(),
            "--fail-above: these predictions have no error that is compared with a tolerance"
        );
        let p_values: Vec<f64> = tests.iter().map(|(_, test)| test.p_value).collect();
        for ((title, test), p_value) in tests.iter().zip(holm(&p_values)?) {
            if p_value <= level {
                let p = if test.is_bound {
                    Probability::AtMost(p_value)
                } else {
                    Probability::Equal(p_value)
                };
                reasons.push(format!(
                    "--fail-above {most}: {title}: the error is above {most}, adjusted {p} is at most {}",
                    level_in_words(level)
                ));
            }
        }
    }
    Ok(reasons)
}

/// Returns the rejection with the smallest p-value in words, if a verdict of the answer is one: the gate is closed where the
/// verdict says so.
fn rejection(aspects: &[AspectAnswer], level: f64) -> Result<Option<String>> {
    let mut verdicts: Vec<(String, &OmnibusOutcome)> = Vec::new();
    for aspect in aspects {
        let omnibus = computed(&aspect.answer.omnibus, "the omnibus test")?;
        ensure!(
            omnibus.samples > 1,
            "--fail-if-rejected: one row cannot show that a model is calibrated, expected more"
        );
        verdicts.push((String::new(), omnibus));
        if let Some(given) = &aspect.given {
            let given = computed(given, "the test given the variables")?;
            let words = format!(" given {}", given.columns_in_words());
            verdicts.extend(given.outcomes().map(|outcome| (words.clone(), outcome)));
        }
    }
    let p_value = |outcome: &OmnibusOutcome| outcome.adjusted_p_value.unwrap_or(outcome.p_value);
    let rejected = (verdicts.iter())
        .filter(|(_, outcome)| outcome.is_rejected())
        .min_by(|(_, a), (_, b)| p_value(a).total_cmp(&p_value(b)));
    let too_few = |(_, outcome): &(String, &OmnibusOutcome)| outcome.least_p_value().is_some();
    ensure!(
        rejected.is_some() || !verdicts.iter().any(too_few),
        "--fail-if-rejected: with so few redraws no p-value is at most {}, expected a larger --redraws",
        level_in_words(level)
    );
    Ok(rejected.map(|(given, outcome)| {
        let p = outcome.probability();
        let level = level_in_words(level);
        format!("--fail-if-rejected: the model is not calibrated{given}, {p} is at most {level}")
    }))
}

/// A level, never as 0.
fn level_in_words(level: f64) -> String {
    decimals(level, 3, 1)
}

/// A test that was computed.
fn computed<'a, T>(Computed(found): &'a Computed<T>, test: &str) -> Result<&'a T> {
    let found = found.as_ref();
    found.map_err(|reason| wrong!("--fail-if-rejected: {test} was not computed: {reason}"))
}
