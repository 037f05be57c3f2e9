//! Formulas of the maps of logits.

use burn_calibration::recalibration::{DiagonalScaling, LogitMap, PriorCorrection};

use crate::{Formula, Operation, Term, events, parameters::Parameters};

impl Formula {
    /// Makes the formula of a map of logits, from the logits to the recalibrated probabilities.
    ///
    /// None for a kind that this version of the crate does not know. An order-preserving map makes the smallest
    /// difference that the dtype has between logits that differ; the formula does not have this difference.
    pub fn for_classes(map: &LogitMap) -> Option<Self> {
        let parameters = &Parameters::new(map);
        let z = Term::logits();
        let logits = match map {
            LogitMap::Temperature(map) => z / map.temperature(),
            LogitMap::Shift(_) => z + parameters.term("b", "bias"),
            LogitMap::Ensemble(_) => return Some(Self::from_probabilities(ensemble(parameters))),
            LogitMap::Diagonal(map) => diagonal(map),
            LogitMap::OrderPreserving(_) => order_preserving(parameters, false),
            LogitMap::OrderInvariant(_) => order_preserving(parameters, true),
            LogitMap::Vector(_) => vector(parameters, z),
            LogitMap::Matrix(_) => matrix(parameters, z),
            LogitMap::Dirichlet(_) => matrix(parameters, z.then(Operation::LogSoftmax)),
            LogitMap::StructuredVector(_) => vector(parameters, smoothed(parameters)),
            LogitMap::StructuredMatrix(_) => matrix(parameters, smoothed(parameters)),
            LogitMap::Prior(map) => return corrected(map),
            _ => return events::formula(map, parameters),
        };
        Some(Self::from_logits(logits))
    }
}

/// `w₁ softmax(z/T) + w₂ softmax(z) + w₃/m`.
fn ensemble(parameters: &Parameters) -> Term {
    let (z, temperature) = (Term::logits(), parameters.values("temperature")[0]);
    let weight = |k: usize| Term::from(parameters.values("log_weights")[k].exp());
    let scaled = weight(0) * (z.clone() / temperature).then(Operation::Softmax);
    let own = weight(1) * z.clone().then(Operation::Softmax);
    scaled + own + weight(2) / z.then(Operation::Length)
}

/// An increasing function of each logit, whose slope is linear between knots.
fn diagonal(map: &DiagonalScaling) -> Term {
    let (mut knots, mut values, mut slopes) = (vec![], vec![], vec![]);
    for knot in map.knots() {
        knots.push(knot.place);
        values.push(knot.value);
        slopes.push(knot.slope);
    }
    let mut bends = vec![0.0; knots.len() + 1];
    for (i, bend) in (1..knots.len()).zip(&mut bends[1..]) {
        *bend = 0.5 * (slopes[i] - slopes[i - 1]) / (knots[i] - knots[i - 1]);
    }
    slopes.insert(0, slopes[0]);
    let [knots, values, slopes, bends] = [knots, values, slopes, bends].map(|row| vec![row]);
    Term::logits().piecewise(knots, values, slopes, Some(bends))
}

/// `a · x + b`.
fn vector(parameters: &Parameters, features: Term) -> Term {
    parameters.term("a", "weight") * features + parameters.term("b", "bias")
}

/// `W x + b`.
fn matrix(parameters: &Parameters, features: Term) -> Term {
    let weight = parameters.term("W", "weight");
    weight.with(Operation::MatMul, features) + parameters.term("b", "bias")
}

/// `log((1−ε) softmax(z/T) + ε/m)`, of the parameters `1/T` and `ε`.
fn smoothed(parameters: &Parameters) -> Term {
    let (base, m) = (parameters.values("base"), parameters.values("bias").len());
    let (beta, part) = (base[0], base[1]);
    let tempered = (Term::logits() * beta).then(Operation::Softmax);
    let smoothed = Term::from(1.0 - part) * tempered + part / m as f64;
    smoothed.then(Operation::Log).named("x")
}

/// The largest size of the features of the network of an order-preserving map.
const LARGEST_FEATURE: f64 = 1e20;
/// The largest step of such a map between two logits.
const LARGEST_STEP: f64 = 1e30;
/// The largest logarithm of a factor of its network.
const LARGEST_EXPONENT: f64 = 10.0;

/// Sums of the gaps between sorted logits times the factors of a network, of the logits or of the sorted logits.
fn order_preserving(parameters: &Parameters, is_sorted: bool) -> Term {
    let scales = parameters.values("scales");
    let (beta, mean, spread) = (scales[0], scales[1], scales[2]);
    let m = parameters.values("network.b2").len() + 1;
    let z = Term::logits();
    let sorted = z.clone().then(Operation::Sort).named("s");
    let seen = if is_sorted { sorted.clone() } else { z.clone() };
    let seen = ((seen - mean) / spread)
        .with(Operation::Max, -LARGEST_FEATURE)
        .with(Operation::Min, LARGEST_FEATURE);
    let gaps = sorted.clone().slice(0..m - 1) - sorted.slice(1..m);
    let steps = gaps * (factors(parameters, seen) * beta);
    let descending = Term::from(-1.0)
        * steps
            .with(Operation::Min, LARGEST_STEP)
            .then(Operation::PrependZero)
            .then(Operation::CumSum);
    descending.with(Operation::Unsort, z)
}

/// The factors `exp(10 tanh((W₂ᵀ tanh(W₁ᵀu + b₁) + b₂)/10))` of a row `u`, with the weights as matrices that take a row
/// as a column.
fn factors(parameters: &Parameters, row: Term) -> Term {
    let transposed = |letter, name| {
        let weight = parameters.named(name);
        let (inputs, outputs) = (weight.shape[0], weight.shape[1]);
        let column = |j: usize| weight.values.iter().skip(j).step_by(outputs).copied();
        Term::table(
            letter,
            vec![outputs, inputs],
            (0..outputs).flat_map(column).collect(),
        )
    };
    let bias = |letter, name| {
        let values = parameters.values(name).to_vec();
        Term::table(letter, vec![values.len()], values)
    };
    let hidden = transposed("W1", "network.w1").with(Operation::MatMul, row);
    let hidden = (hidden + bias("b1", "network.b1"))
        .then(Operation::Tanh)
        .named("h");
    let exponent = transposed("W2", "network.w2").with(Operation::MatMul, hidden);
    let exponent = exponent + bias("b2", "network.b2");
    (Term::from(LARGEST_EXPONENT) * (exponent / LARGEST_EXPONENT).then(Operation::Tanh))
        .then(Operation::Exp)
        .named("g")
}

/// The probabilities of the model, or of another map, times the ratios of the rates, normalised.
fn corrected(map: &PriorCorrection) -> Option<Formula> {
    let probabilities = match map.map() {
        None => Term::logits().then(Operation::Softmax),
        Some(map) => Formula::for_classes(map)?.results()[0].1.clone(),
    };
    let rates = map.prior().iter().zip(map.trained_at());
    let ratios = rates.map(|(to, from)| to / from).collect();
    let corrected = (probabilities.named("q") * Term::numbers("r", ratios)).named("w");
    let normalised = corrected.clone() / corrected.then(Operation::Sum);
    Some(Formula::from_probabilities(normalised))
}
