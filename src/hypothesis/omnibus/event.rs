//! The aspects of predictions that are about one event.

use super::aspects::{AspectKind, OmnibusPlan, TestedAspect};
use crate::{
    distribution::{Categorical, LabelSets, Predictive, Subject},
    error::Result,
    estimator::Event,
    hypothesis::engine::{CumulativeGap, Detail, Evaluator},
};

/// The aspects of predictions as what they are about: of an event, the number of events that are expected in
/// the place of both classes, and the gap summed up along its probability in the place of that along the
/// confidence.
pub(super) fn about<'a>(
    plan: OmnibusPlan<'a, Categorical>,
    predictions: &Categorical,
) -> Result<OmnibusPlan<'a, Categorical>> {
    let subject = predictions.subject();
    if subject == Subject::Classes {
        return Ok(plan);
    }
    let n = predictions.len();
    let expected = {
        let rows = predictions.rows();
        (0..n).map(|i| rows.row(i)[1]).sum()
    };
    let of_event = |aspect: TestedAspect| match (aspect.kind, subject) {
        (AspectKind::Confidence | AspectKind::Class(0), _) => None,
        (AspectKind::Class(_), Subject::Correctness) => Some(TestedAspect {
            kind: AspectKind::Confidence,
            name: "confidence".into(),
            ..aspect
        }),
        (AspectKind::Class(_), _) => Some(TestedAspect {
            kind: AspectKind::InTheLarge(expected, n),
            name: "in_the_large".into(),
            ..aspect
        }),
        (AspectKind::Cumulative, Subject::Event) => Some(TestedAspect {
            kind: AspectKind::CumulativeRisk,
            name: "cumulative_risk".into(),
            ..aspect
        }),
        (AspectKind::Binned { bins, .. }, Subject::Event) => Some(TestedAspect {
            kind: AspectKind::BinnedRisk { bins },
            ..aspect
        }),
        (AspectKind::Binned { bins, .. }, _) => Some(TestedAspect {
            kind: AspectKind::Binned { bins, two: false },
            ..aspect
        }),
        _ => Some(aspect),
    };
    let mut found = OmnibusPlan {
        evaluators: Vec::new(),
        aspects: Vec::new(),
    };
    let mut aspects = plan.aspects.into_iter();
    for evaluator in plan.evaluators {
        let own: Vec<TestedAspect> = aspects.by_ref().take(evaluator.width()).collect();
        let is_cumulative = own
            .iter()
            .any(|aspect| aspect.kind == AspectKind::Cumulative);
        let own = own.into_iter().enumerate();
        let mut own: Vec<(usize, TestedAspect)> = own
            .filter_map(|(k, aspect)| Some((k, of_event(aspect)?)))
            .collect();
        // what is asked comes first: stable
        own.sort_by_key(|(_, aspect)| {
            !matches!(
                aspect.kind,
                AspectKind::InTheLarge(..) | AspectKind::Confidence
            )
        });
        let (kept, own): (Vec<usize>, Vec<TestedAspect>) = own.into_iter().unzip();
        found.aspects.extend(own);
        found.evaluators.push(if is_cumulative {
            Box::new(CumulativeGap::new(
                predictions,
                Event::Class(1),
                usize::MAX,
            )?)
        } else {
            Box::new(Selected { evaluator, kept })
        });
    }
    Ok(found)
}

/// Some of the numbers of an evaluator.
struct Selected<'a> {
    evaluator: Box<dyn Evaluator<Categorical> + 'a>,
    kept: Vec<usize>,
}

impl Evaluator<Categorical> for Selected<'_> {
    fn width(&self) -> usize {
        self.kept.len()
    }

    fn values(&self, sets: &LabelSets) -> Result<Vec<f64>> {
        let values = self.evaluator.values(sets)?;
        let sets = values.chunks(self.evaluator.width());
        Ok(sets
            .flat_map(|set| self.kept.iter().map(|&k| set[k]))
            .collect())
    }

    fn details(&self, data: &LabelSets) -> Result<Vec<Detail>> {
        let details = self.evaluator.details(data)?;
        Ok(self.kept.iter().map(|&k| details[k]).collect())
    }
}
