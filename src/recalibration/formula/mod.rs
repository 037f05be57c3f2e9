//! Formulas of fitted maps: what a map computes, as mathematics with its numbers, or as steps for another program.

mod evaluation;
mod text;

use std::{
    ops::{Add, Div, Mul, Range, Sub},
    sync::Arc,
};

use super::Parameter;

/// What a fitted map computes of one prediction, with all its numbers;
/// [`FittedMap::formula`](super::FittedMap::formula) gives it.
///
/// It is written as mathematics, [`Display`](std::fmt::Display), from which a few lines in any language repeat the
/// map. Numbers have the digits that give them back. [`evaluate`](Self::evaluate) computes it in f64;
/// [`results`](Self::results) has its [`Term`]s for programs that make something else of it.
///
/// ```
/// use burn::tensor::Device;
/// use burn_calibration::recalibration::{FittedMap, TemperatureScaling};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let map = TemperatureScaling::from_temperature(1.25, &Device::default())?;
/// let formula = map.formula().unwrap();
/// assert_eq!(formula.to_string().lines().next(), Some("p = softmax(z / 1.25)"));
/// let probabilities = formula.evaluate(&[("logits", &[2.5, 0.0])]).remove(0);
/// assert!((probabilities[0] - 1.0 / (1.0 + (-2f64).exp())).abs() < 1e-15);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Formula {
    results: Vec<(Symbol, Term)>,
}

impl Formula {
    /// Makes the formula of these results.
    pub fn new(results: impl IntoIterator<Item = (Symbol, Term)>) -> Self {
        let results = results.into_iter().collect();
        Self { results }
    }

    /// Makes the formula of the softmax of recalibrated logits.
    pub(super) fn of_logits(logits: Term) -> Self {
        Self::of_probabilities(logits.then(Operation::Softmax))
    }

    /// Makes the formula of recalibrated probabilities.
    pub(super) fn of_probabilities(probabilities: Term) -> Self {
        let name = "probabilities";
        Self::new([(Symbol { letter: "p", name }, probabilities)])
    }

    /// Makes the formula of recalibrated scales of predictive distributions.
    pub(super) fn of_scale(scale: Term) -> Self {
        let name = "recalibrated_scale";
        Self::new([(Symbol { letter: "s'", name }, scale)])
    }

    /// Gives what the map computes, in order: of classes the probabilities alone.
    pub fn results(&self) -> &[(Symbol, Term)] {
        &self.results
    }

    /// Gives what the map takes, in the order in which the formula names it.
    pub fn inputs(&self) -> Vec<Symbol> {
        let mut found = Vec::new();
        let mut look = |term: &Term| match term.operation() {
            Operation::Input(symbol) if !found.contains(symbol) => found.push(*symbol),
            _ => {}
        };
        self.visit(&mut look);
        found
    }

    /// Visits each term once, after those that it is computed of.
    pub fn visit(&self, visitor: &mut dyn FnMut(&Term)) {
        fn walk(term: &Term, seen: &mut Vec<usize>, visitor: &mut dyn FnMut(&Term)) {
            if seen.contains(&term.id()) {
                return;
            }
            for input in term.inputs() {
                walk(input, seen, visitor);
            }
            seen.push(term.id());
            visitor(term);
        }
        let mut seen = Vec::new();
        for (_, term) in &self.results {
            walk(term, &mut seen, visitor);
        }
    }
}

/// What a map takes or gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol {
    /// As in a formula: "z".
    pub letter: &'static str,
    /// In words: "logits".
    pub name: &'static str,
}

/// The numbers of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    /// `[]` of a single number, `[k]`, or `[rows, columns]`.
    pub shape: Vec<usize>,
    /// The numbers, row after row.
    pub values: Vec<f64>,
}

/// A step of a formula. It takes the numbers of one prediction, a row, and gives a row. Of two rows one may be a single
/// number, which is taken for each entry of the other.
///
/// Constants of [`CountBelow`](Self::CountBelow), [`CountUpTo`](Self::CountUpTo), [`Lookup`](Self::Lookup) and
/// [`Interpolate`](Self::Interpolate) are tables: entry `c` takes row `c` of the table, or its only row.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Operation {
    /// What the map takes.
    Input(Symbol),
    /// Numbers of the map.
    Constant(Constant),
    /// The number of entries of a row.
    Length,
    /// `a + b`.
    Add,
    /// `a − b`.
    Subtract,
    /// `a b`.
    Multiply,
    /// `a / b`.
    Divide,
    /// The lesser of `a` and `b`.
    Minimum,
    /// The greater of `a` and `b`.
    Maximum,
    /// `exp(a)`.
    Exp,
    /// The natural logarithm.
    Log,
    /// `tanh(a)`.
    Tanh,
    /// `1 / (1 + exp(−a))`.
    Sigmoid,
    /// `log(1 / (1 + exp(−a)))`.
    LogSigmoid,
    /// `exp(a_c) / Σ_d exp(a_d)`.
    Softmax,
    /// `a_c − log Σ_d exp(a_d)`.
    LogSoftmax,
    /// `a_c − log Σ_{d≠c} exp(a_d)`, of three entries or more.
    LogOdds,
    /// The sum of a row.
    Sum,
    /// The sums of the first entry, the first two, and so on.
    CumulativeSum,
    /// The product of a constant matrix and a row.
    MatrixProduct,
    /// The entries of a row from the largest to the smallest.
    SortDescending,
    /// The entries of the first row in the order of the second: what is first goes where the second is largest. Of ties
    /// the first is taken for the larger.
    Unsort,
    /// Some entries of a row.
    Slice(Range<usize>),
    /// A zero, then the entries of a row.
    PrependZero,
    /// The entries of rows, one row after the other.
    Concatenate,
    /// How many knots are below each entry: of a row and a table, whose rows increase.
    CountBelow,
    /// How many knots are each entry or below it.
    CountUpTo,
    /// The numbers of a table at these places: of a row of whole numbers and a table.
    Lookup,
    /// Values at knots, linear between them and constant beyond: of a row, a table of knots and one of values. At two
    /// equal knots it is the value of the first.
    Interpolate,
}

/// A row of numbers that a formula computes: an [`Operation`] on others.
#[derive(Debug, Clone)]
pub struct Term(Arc<Node>);

#[derive(Debug)]
struct Node {
    operation: Operation,
    inputs: Vec<Term>,
    name: Option<&'static str>,
}

impl Term {
    /// Makes a term of others.
    pub fn new(operation: Operation, inputs: impl Into<Vec<Term>>) -> Self {
        Self(Arc::new(Node {
            operation,
            inputs: inputs.into(),
            name: None,
        }))
    }

    /// Gives what is computed.
    pub fn operation(&self) -> &Operation {
        &self.0.operation
    }

    /// Gives what it is computed of.
    pub fn inputs(&self) -> &[Term] {
        &self.0.inputs
    }

    /// Gives the name in the formula.
    pub fn name(&self) -> Option<&'static str> {
        self.0.name
    }

    /// Tells this term from others of a formula.
    pub fn id(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// The same with a name, and a line of its own in the formula.
    pub(super) fn named(self, name: &'static str) -> Self {
        Self(Arc::new(Node {
            operation: self.operation().clone(),
            inputs: self.inputs().to_vec(),
            name: Some(name),
        }))
    }

    pub(super) fn input(letter: &'static str, name: &'static str) -> Self {
        Self::new(Operation::Input(Symbol { letter, name }), [])
    }

    pub(super) fn logits() -> Self {
        Self::input("z", "logits")
    }

    pub(super) fn scale() -> Self {
        Self::input("s", "scale")
    }

    /// Numbers in a row, of which a single one has no name.
    pub(super) fn numbers(name: &'static str, values: Vec<f64>) -> Self {
        match values[..] {
            [number] => number.into(),
            _ => Self::table(name, vec![values.len()], values),
        }
    }

    pub(super) fn table(name: &'static str, shape: Vec<usize>, values: Vec<f64>) -> Self {
        Self::new(Operation::Constant(Constant { shape, values }), []).named(name)
    }

    /// Rows of equal length.
    pub(super) fn rows(name: &'static str, rows: Vec<Vec<f64>>) -> Self {
        let shape = vec![rows.len(), rows[0].len()];
        Self::table(name, shape, rows.into_iter().flatten().collect())
    }

    pub(super) fn parameter<const D: usize>(name: &'static str, of: &Parameter<D>) -> Self {
        Self::table(name, of.dims().to_vec(), of.to_vec())
    }

    /// What an operation makes of this term alone.
    pub(super) fn then(self, operation: Operation) -> Self {
        Self::new(operation, [self])
    }

    /// What an operation makes of this term and another.
    pub(super) fn with(self, operation: Operation, other: impl Into<Self>) -> Self {
        Self::new(operation, [self, other.into()])
    }

    /// Some entries of a row.
    pub(super) fn slice(self, entries: Range<usize>) -> Self {
        self.then(Operation::Slice(entries))
    }
}

impl From<f64> for Term {
    fn from(number: f64) -> Self {
        let (shape, values) = (vec![], vec![number]);
        Self::new(Operation::Constant(Constant { shape, values }), [])
    }
}

impl<T: Into<Term>> Add<T> for Term {
    type Output = Self;

    fn add(self, other: T) -> Self {
        self.with(Operation::Add, other)
    }
}

impl<T: Into<Term>> Sub<T> for Term {
    type Output = Self;

    fn sub(self, other: T) -> Self {
        self.with(Operation::Subtract, other)
    }
}

impl<T: Into<Term>> Mul<T> for Term {
    type Output = Self;

    fn mul(self, other: T) -> Self {
        self.with(Operation::Multiply, other)
    }
}

impl<T: Into<Term>> Div<T> for Term {
    type Output = Self;

    fn div(self, other: T) -> Self {
        self.with(Operation::Divide, other)
    }
}
