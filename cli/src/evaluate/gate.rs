//! A gate for scripts: `--fail-if-rejected` and `--fail-above` make an answer an exit code.

use burn_calibration::hypothesis::{OmnibusOutcome, holm};

use super::{AspectAnswer, Aspects, EvaluationAnswer};
use crate::{
    args::EvaluateArgs,
    error::{Result, ensure, wrong},
};

/// Returns the reasons why the gate stays closed, a line for each option that closes it.
///
/// # Errors
///
/// A test that was not computed, or that could not reject with so few redraws: such a gate would always be open.
pub fn reasons(args: &EvaluateArgs, answer: &EvaluationAnswer) -> Result<Vec<String>> {
    let aspects = match &answer.found {
        Aspects::Whole(whole) => std::slice::from_ref(&**whole),
        Aspects::Classes { classes, .. } => classes,
    };
    let level = 1.0 - args.sizes.level;
    let mut reasons = Vec::new();
    if args.gate.fail_if_rejected {
        let one = (aspects.iter()).filter_map(|aspect| aspect.answer.omnibus.0.as_ref().ok());
        ensure!(
            !one.into_iter().any(|outcome| outcome.samples < 2),
            "--fail-if-rejected: one row cannot show that a model is calibrated, expected more"
        );
        let p_values = aspects.iter().map(omnibus).collect::<Result<Vec<_>>>()?;
        let least = least(&p_values)?;
        let outcomes = aspects
            .iter()
            .filter_map(|aspect| aspect.answer.omnibus.0.as_ref().ok());
        let is_least = |outcome: &OmnibusOutcome| {
            outcome.p_value <= 1.5 / (outcome.redraws + 1) as f64 // as small as it can be
        };
        ensure!(
            least <= level || !outcomes.into_iter().any(is_least),
            "--fail-if-rejected: with so few redraws no p-value is at most {level:.3}, expected a larger --redraws"
        );
        if least <= level {
            reasons.push(format!(
                "--fail-if-rejected: the model is not calibrated, p = {least:.3} is at most {level:.3}"
            ));
        }
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
                tests.push((&name.title, tolerance.p_value));
            }
        }
        ensure!(
            !tests.is_empty(),
            "--fail-above: these predictions have no error that is compared with a tolerance"
        );
        let p_values: Vec<f64> = tests.iter().map(|(_, p_value)| *p_value).collect();
        for ((title, _), p_value) in tests.iter().zip(holm(&p_values)?) {
            if p_value <= level {
                reasons.push(format!(
                    "--fail-above {most}: {title}: the error is above {most}, adjusted p = {p_value:.3} is at most \
                     {level:.3}"
                ));
            }
        }
    }
    Ok(reasons)
}

/// The p-value of the omnibus test of an aspect.
fn omnibus(aspect: &AspectAnswer) -> Result<f64> {
    let outcome = aspect.answer.omnibus.0.as_ref();
    let outcome = outcome.map_err(|reason| {
        wrong!("--fail-if-rejected: the omnibus test was not computed: {reason}")
    })?;
    Ok(outcome.p_value)
}

/// The smallest p-value, adjusted for their number.
fn least(p_values: &[f64]) -> Result<f64> {
    Ok(holm(p_values)?.into_iter().fold(1.0, f64::min))
}
