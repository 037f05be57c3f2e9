//! Formulas: steps from the inputs of a map to its results.

use std::{
    ops::{Add, Div, Mul, Range, Sub},
    sync::Arc,
};

/// The formula of a fitted map for one prediction, with the numbers of its parameters.
///
/// It is written as mathematics, [`Display`](std::fmt::Display), from which a few lines in any language repeat the
/// map. Numbers have the digits that give them back. [`terms`](Self::terms) are for programs that make something else
/// of it.
#[derive(Debug, Clone)]
pub struct Formula {
    pub(crate) results: Vec<(Symbol, Term)>,
}

impl Formula {
    /// Makes the formula of these results.
    pub fn new(results: impl IntoIterator<Item = (Symbol, Term)>) -> Self {
        let results = results.into_iter().collect();
        Self { results }
    }

    /// Makes the formula of the softmax of recalibrated logits.
    pub(crate) fn from_logits(logits: Term) -> Self {
        Self::from_probabilities(logits.then(Operation::Softmax))
    }

    /// Makes the formula of recalibrated probabilities.
    pub(crate) fn from_probabilities(probabilities: Term) -> Self {
        Self::new([(Symbol::new("p", "probabilities"), probabilities)])
    }

    /// Returns the results of the map, in order: for classes the probabilities alone.
    pub fn results(&self) -> &[(Symbol, Term)] {
        &self.results
    }

    /// Returns each term once, after the terms that it is computed from.
    pub fn terms(&self) -> Vec<&Term> {
        fn walk<'a>(term: &'a Term, found: &mut Vec<&'a Term>) {
            if !found.iter().any(|other| other.id() == term.id()) {
                term.inputs().iter().for_each(|input| walk(input, found));
                found.push(term);
            }
        }
        let mut found = Vec::new();
        let results = self.results.iter();
        results.for_each(|(_, term)| walk(term, &mut found));
        found
    }

    /// Returns the inputs of the map, in the order of the formula.
    pub fn inputs(&self) -> Vec<Symbol> {
        let mut found = Vec::new();
        for term in self.terms() {
            if let Operation::Input(symbol) = term.operation()
                && !found.contains(symbol)
            {
                found.push(*symbol);
            }
        }
        found
    }
}

/// An input or an output of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol {
    /// As in a formula: "z".
    pub letter: &'static str,
    /// In words: "logits".
    pub name: &'static str,
}

impl Symbol {
    pub(crate) const fn new(letter: &'static str, name: &'static str) -> Self {
        Self { letter, name }
    }
}

/// The numbers of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    /// `[]` of a single number, `[k]`, or `[rows, columns]`.
    pub shape: Vec<usize>,
    /// The numbers, row after row.
    pub values: Vec<f64>,
}

/// A step of a formula. It takes rows, the numbers of one prediction, and gives a row. Of two rows one may be a single
/// number, which is taken for each entry of the other.
///
/// The constants of [`CountBelow`](Self::CountBelow), [`CountUpTo`](Self::CountUpTo) and [`Lookup`](Self::Lookup) are
/// tables: entry `c` takes row `c`, or the only row.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Operation {
    /// An input of the map.
    Input(Symbol),
    /// Numbers of the map.
    Constant(Constant),
    /// The number of entries of a row.
    Length,
    /// `a + b`.
    Add,
    /// `a − b`.
    Sub,
    /// `a b`.
    Mul,
    /// `a / b`.
    Div,
    /// The lesser of `a` and `b`.
    Min,
    /// The greater of `a` and `b`.
    Max,
    /// `exp(a)`.
    Exp,
    /// The natural logarithm.
    Log,
    /// `tanh(a)`.
    Tanh,
    /// `1 / (1 + exp(−a))`.
    Sigmoid,
    /// `exp(a_c) / Σ_d exp(a_d)`.
    Softmax,
    /// `a_c − log Σ_d exp(a_d)`, finite for finite entries however far they lie apart.
    LogSoftmax,
    /// The sum of a row.
    Sum,
    /// The sums of all entries but the first, but the second, and so on.
    Others,
    /// The sums of the first entry, the first two, and so on.
    CumSum,
    /// The product of a constant matrix and a row.
    MatMul,
    /// The entries of a row from the largest to the smallest.
    Sort,
    /// The entries of the first row in the order of the second: what is first goes where the second is largest. Of ties
    /// the first is taken for the larger.
    Unsort,
    /// Some entries of a row.
    Slice(Range<usize>),
    /// A zero, then the entries of a row.
    PrependZero,
    /// The entries of rows, one row after the other.
    Concat,
    /// The number of knots below each entry: of a row and a table, whose rows increase.
    CountBelow,
    /// The number of knots at each entry or below it.
    CountUpTo,
    /// The numbers of a table at these places: of a row of counts, or sums of them, and a table.
    Lookup,
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

    /// Returns what is computed.
    pub fn operation(&self) -> &Operation {
        &self.0.operation
    }

    /// Returns what it is computed of.
    pub fn inputs(&self) -> &[Term] {
        &self.0.inputs
    }

    /// Returns the name in the formula.
    pub fn name(&self) -> Option<&'static str> {
        self.0.name
    }

    /// Returns a number that no other term of a formula has.
    pub fn id(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// The same with a name, and a line of its own in the formula.
    pub(crate) fn named(self, name: &'static str) -> Self {
        Self(Arc::new(Node {
            operation: self.operation().clone(),
            inputs: self.inputs().to_vec(),
            name: Some(name),
        }))
    }

    pub(crate) fn input(letter: &'static str, name: &'static str) -> Self {
        Self::new(Operation::Input(Symbol::new(letter, name)), [])
    }

    pub(crate) fn logits() -> Self {
        Self::input("z", "logits")
    }

    pub(crate) fn scale() -> Self {
        Self::input("s", "scale")
    }

    /// Numbers in a row, of which a single one has no name.
    pub(crate) fn numbers(name: &'static str, values: Vec<f64>) -> Self {
        match values[..] {
            [number] => number.into(),
            _ => Self::table(name, vec![values.len()], values),
        }
    }

    pub(crate) fn table(name: &'static str, shape: Vec<usize>, values: Vec<f64>) -> Self {
        Self::new(Operation::Constant(Constant { shape, values }), []).named(name)
    }

    /// Rows of equal length.
    pub(crate) fn rows(name: &'static str, rows: Vec<Vec<f64>>) -> Self {
        let shape = vec![rows.len(), rows[0].len()];
        Self::table(name, shape, rows.into_iter().flatten().collect())
    }

    /// Applies an operation to this term alone.
    pub(crate) fn then(self, operation: Operation) -> Self {
        Self::new(operation, [self])
    }

    /// Applies an operation to this term and another.
    pub(crate) fn with(self, operation: Operation, other: impl Into<Self>) -> Self {
        Self::new(operation, [self, other.into()])
    }

    /// `v + d (s + b d)` for each entry, `d` from the knot at its left: a polynomial between two knots, by the row of
    /// the entry. It has the value `v` at a knot, of two that are equal the first, and beyond the last knots the slopes
    /// that are given.
    ///
    /// - knots, values: one row per row of entries, or a single row
    /// - slopes, bends: those of the intervals, the first of which is left of all knots
    pub(crate) fn piecewise(
        self,
        knots: Vec<Vec<f64>>,
        values: Vec<Vec<f64>>,
        slopes: Vec<Vec<f64>>,
        bends: Option<Vec<Vec<f64>>>,
    ) -> Self {
        let left = |rows: &[Vec<f64>]| rows.iter().map(|row| [&row[..1], row].concat()).collect();
        let (starts, values) = (left(&knots), left(&values));
        let i = self
            .clone()
            .with(Operation::CountBelow, Self::rows("knots", knots));
        let i = i.named("i");
        let of = |name, rows| i.clone().with(Operation::Lookup, Self::rows(name, rows));
        let d = (self - of("left", starts)).named("d");
        let slope = of("slope", slopes);
        let slope = match bends {
            Some(bends) => slope + of("bend", bends) * d.clone(),
            None => slope,
        };
        of("value", values) + slope * d
    }

    /// Some entries of a row.
    pub(crate) fn slice(self, entries: Range<usize>) -> Self {
        self.then(Operation::Slice(entries))
    }
}

impl From<f64> for Term {
    fn from(number: f64) -> Self {
        let (shape, values) = (vec![], vec![number]);
        Self::new(Operation::Constant(Constant { shape, values }), [])
    }
}

/// Makes the operators of Rust of terms the operations of the same names.
macro_rules! operators {
    ($($operation:ident: $method:ident;)*) => {$(
        impl<T: Into<Term>> $operation<T> for Term {
            type Output = Self;

            fn $method(self, other: T) -> Self {
                self.with(Operation::$operation, other)
            }
        }
    )*};
}

operators! {
    Add: add;
    Sub: sub;
    Mul: mul;
    Div: div;
}
