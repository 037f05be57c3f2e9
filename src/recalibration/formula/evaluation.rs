//! Formulas in f64 on the host.

use std::collections::HashMap;

use super::{Constant, Formula, Operation, Term};
use crate::recalibration::scalar::event::{log_odds, log_sigmoid, sigmoid};

impl Formula {
    /// Computes the results of one prediction, in f64.
    ///
    /// - inputs: the name of each input with its numbers
    ///
    /// # Panics
    ///
    /// If an input is missing, or has not as many numbers as the map takes.
    pub fn evaluate(&self, inputs: &[(&str, &[f64])]) -> Vec<Vec<f64>> {
        let mut rows: HashMap<usize, Vec<f64>> = HashMap::new();
        self.visit(&mut |term: &Term| {
            let of = |input: &Term| -> &[f64] { &rows[&input.id()] };
            let value = value(term, &of, inputs);
            rows.insert(term.id(), value);
        });
        let results = self.results.iter();
        results.map(|(_, term)| rows[&term.id()].clone()).collect()
    }
}

fn value<'a>(
    term: &'a Term,
    of: &dyn Fn(&'a Term) -> &'a [f64],
    inputs: &[(&str, &[f64])],
) -> Vec<f64> {
    let at = |k: usize| of(&term.inputs()[k]);
    let each = |f: fn(f64) -> f64| at(0).iter().map(|x| f(*x)).collect();
    let both = |f: fn(f64, f64) -> f64| {
        let (a, b) = (at(0), at(1));
        let entries = 0..a.len().max(b.len());
        entries.map(|c| f(a[c % a.len()], b[c % b.len()])).collect()
    };
    let with_rows = |f: &dyn Fn(f64, usize) -> f64| {
        let entries = at(0).iter().enumerate();
        entries.map(|(c, x)| f(*x, c)).collect()
    };
    let row = |k: usize, c: usize| row(&term.inputs()[k], c);
    match term.operation() {
        Operation::Input(symbol) => {
            let found = inputs.iter().find(|(name, _)| *name == symbol.name);
            let missing = || panic!("the input {} is missing", symbol.name);
            found.unwrap_or_else(missing).1.to_vec()
        }
        Operation::Constant(constant) => constant.values.clone(),
        Operation::Length => vec![at(0).len() as f64],
        Operation::Add => both(|a, b| a + b),
        Operation::Subtract => both(|a, b| a - b),
        Operation::Multiply => both(|a, b| a * b),
        Operation::Divide => both(|a, b| a / b),
        Operation::Minimum => both(f64::min),
        Operation::Maximum => both(f64::max),
        Operation::Exp => each(f64::exp),
        Operation::Log => each(f64::ln),
        Operation::Tanh => each(f64::tanh),
        Operation::Sigmoid => each(sigmoid),
        Operation::LogSigmoid => each(log_sigmoid),
        Operation::Softmax => log_softmax(at(0)).into_iter().map(f64::exp).collect(),
        Operation::LogSoftmax => log_softmax(at(0)),
        Operation::LogOdds => log_odds(at(0)),
        Operation::Sum => vec![at(0).iter().sum()],
        Operation::CumulativeSum => {
            let mut sum = 0.0;
            let add = |x: &f64| {
                sum += x;
                sum
            };
            at(0).iter().map(add).collect()
        }
        Operation::MatrixProduct => {
            let x = at(1);
            let product = |row: &[f64]| row.iter().zip(x).map(|(w, x)| w * x).sum();
            at(0).chunks(x.len()).map(product).collect()
        }
        Operation::SortDescending => order(at(0)).into_iter().map(|c| at(0)[c]).collect(),
        Operation::Unsort => {
            let mut sorted = vec![0.0; at(0).len()];
            for (c, x) in order(at(1)).into_iter().zip(at(0)) {
                sorted[c] = *x;
            }
            sorted
        }
        Operation::Slice(entries) => at(0)[entries.clone()].to_vec(),
        Operation::PrependZero => [&[0.0], at(0)].concat(),
        Operation::Concatenate => term.inputs().iter().flat_map(of).copied().collect(),
        Operation::CountBelow => {
            with_rows(&|x, c| row(1, c).partition_point(|knot| *knot < x) as f64)
        }
        Operation::CountUpTo => {
            with_rows(&|x, c| row(1, c).partition_point(|knot| *knot <= x) as f64)
        }
        Operation::Lookup => with_rows(&|x, c| row(1, c)[x as usize]),
        Operation::Interpolate => with_rows(&|x, c| interpolate(x, row(1, c), row(2, c))),
    }
}

/// The row of a table that an entry takes.
fn row(table: &Term, entry: usize) -> &[f64] {
    let Operation::Constant(Constant { shape, values }) = table.operation() else {
        panic!("a table is a constant")
    };
    let length = shape[shape.len() - 1];
    let rows = values.len() / length;
    &values[entry % rows * length..][..length]
}

fn log_softmax(row: &[f64]) -> Vec<f64> {
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = row.iter().map(|z| (z - largest).exp()).sum();
    row.iter().map(|z| z - largest - sum.ln()).collect()
}

/// The entries from the largest to the smallest.
fn order(row: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..row.len()).collect();
    order.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
    order
}

fn interpolate(x: f64, knots: &[f64], values: &[f64]) -> f64 {
    let right = knots.partition_point(|knot| *knot < x);
    if right == 0 || right == knots.len() {
        return values[right.min(knots.len() - 1)];
    }
    let way = (x - knots[right - 1]) / (knots[right] - knots[right - 1]);
    values[right - 1] * (1.0 - way) + values[right] * way
}
