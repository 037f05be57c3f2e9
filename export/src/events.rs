//! Formulas of the maps of one event: of class 1 of two classes, otherwise of each class against the others.

use burn_calibration::recalibration::{FittedMap as _, Knot, LogitMap};

use crate::{Formula, Operation, Term, parameters::Parameters};

/// Makes the formula of a map of events; none for a kind that is not known.
pub fn formula(map: &LogitMap, parameters: &Parameters) -> Option<Formula> {
    let is_one_event = map.width() == Some(2);
    let scores = if is_one_event {
        let z = Term::logits();
        (z.clone().slice(1..2) - z.slice(0..1)).named("s")
    } else {
        log_odds(Term::logits())
    };
    let g = match map {
        LogitMap::Platt(_) => curve(parameters, std::slice::from_ref(&scores)),
        LogitMap::Quadratic(_) => curve(parameters, &[scores.clone(), scores.clone() * scores]),
        LogitMap::Beta(_) => beta(parameters, scores),
        LogitMap::Isotonic(map) => interpolation(&map.knots(), scores),
        LogitMap::Histogram(map) => interpolation(&map.knots(), scores),
        LogitMap::Spline(map) => interpolation(&map.knots(), scores),
        LogitMap::VennAbers(_) => venn_abers(parameters, scores),
        _ => return None,
    };
    let g = g.named("g");
    Some(Formula::from_probabilities(if is_one_event {
        let both = [Term::from(1.0) - g.clone(), g];
        Term::new(Operation::Concat, both)
    } else {
        g.clone() / g.then(Operation::Sum)
    }))
}

/// The log-odds of each of more than two classes, with numbers for logits of −∞ as well.
///
/// The logarithm of the sum over the others is taken twice, with powers relative to the largest logit and to the
/// second. Of the largest, the first loses what lies far below it; of each other one, the second is too small,
/// because the largest is cut. So the greater of the two is right.
fn log_odds(logits: Term) -> Term {
    let z = logits.with(Operation::Max, -1e300).named("x");
    let sorted = z.clone().then(Operation::Sort).named("r");
    let others = |at: usize| {
        let reference = sorted.clone().slice(at..at + 1);
        let powers = (z.clone() - reference.clone()).with(Operation::Min, 0.0);
        let sum = powers.then(Operation::Exp).then(Operation::Others);
        reference + sum.then(Operation::Log)
    };
    (z.clone() - others(0).with(Operation::Max, others(1))).named("s")
}

/// `σ(Σ_j a_j φ_j + b)` of features `φ`, with one row of parameters per feature, and the intercepts.
fn curve(parameters: &Parameters, features: &[Term]) -> Term {
    const NAMES: [&str; 3] = ["a", "b", "c"];
    let parameters = parameters.named("parameters");
    let rows = parameters.values.chunks(parameters.shape[1]).zip(NAMES);
    let mut rows = rows.map(|(row, name)| Term::numbers(name, row.to_vec()));
    let terms = features.iter().zip(rows.by_ref());
    let terms = terms.map(|(feature, slope)| slope * feature.clone());
    let sum = terms.reduce(|sum, term| sum + term).expect("a feature");
    let intercept = rows.next().expect("an intercept");
    (sum + intercept).then(Operation::Sigmoid)
}

/// `σ(a log p − b log(1−p) + c)`, with `u = log(1 + exp(−|s|))`.
fn beta(parameters: &Parameters, scores: Term) -> Term {
    let farther = scores
        .clone()
        .with(Operation::Min, Term::from(-1.0) * scores.clone());
    let u = (Term::from(1.0) + farther.then(Operation::Exp))
        .then(Operation::Log)
        .named("u");
    let log_p = scores.clone().with(Operation::Min, 0.0) - u.clone();
    let minus_log_rest = scores.with(Operation::Max, 0.0) + u;
    curve(parameters, &[log_p, minus_log_rest])
}

/// Values at the knots of each event, linear between them, and constant beyond them.
pub fn interpolation(events: &[Vec<Knot>], scores: Term) -> Term {
    let longest = events.iter().map(Vec::len).max().unwrap_or(0);
    let (mut all_knots, mut all_values, mut all_slopes) = (vec![], vec![], vec![]);
    for event in events {
        // the last knot is repeated up to the longest
        let full = (0..longest).map(|k| event[k.min(event.len() - 1)]);
        let (knots, values): (Vec<f64>, Vec<f64>) =
            full.map(|knot| (knot.place, knot.value)).unzip();
        let mut slopes = vec![0.0; longest + 1];
        for k in 1..longest {
            let slope = (values[k] - values[k - 1]) / (knots[k] - knots[k - 1]);
            slopes[k] = if slope.is_finite() { slope } else { 0.0 }; // of a jump
        }
        all_knots.push(knots);
        all_values.push(values);
        all_slopes.push(slopes);
    }
    // finite, so that a slope of 0 times the distance is 0
    let scores = scores
        .with(Operation::Max, -1e300)
        .with(Operation::Min, 1e300);
    let scores = scores.named("x");
    scores.piecewise(all_knots, all_values, all_slopes, None)
}

/// The least of the knots of a Venn–Abers predictor that only fill its table.
const BEYOND: f64 = 3e38;

/// `p₁/(1 − p₀ + p₁)` of the two probabilities of each event, which are constant between knots.
fn venn_abers(parameters: &Parameters, scores: Term) -> Term {
    let length = parameters.named("knots").shape[1];
    let knots: Vec<&[f64]> = parameters.values("knots").chunks(length).collect();
    let used = |row: &&[f64]| row.iter().filter(|knot| **knot < BEYOND).count();
    let longest = knots.iter().map(used).max().unwrap_or(0).max(1);
    let (lower, upper) = (parameters.values("lower"), parameters.values("upper"));
    let mut values = Vec::new();
    for event in 0..knots.len() {
        let entries = (0..=2 * longest).map(|at| {
            // above the last knot is the last entry
            let at = event * 2 * length + at.min(2 * length - 1);
            upper[at] / (1.0 - lower[at] + upper[at])
        });
        values.push(entries.collect());
    }
    let knots = knots.iter().map(|row| row[..longest].to_vec()).collect();
    let (knots, values) = (Term::rows("knots", knots), Term::rows("values", values));
    let below = scores.clone().with(Operation::CountBelow, knots.clone());
    (below + scores.with(Operation::CountUpTo, knots))
        .named("i")
        .with(Operation::Lookup, values)
}
