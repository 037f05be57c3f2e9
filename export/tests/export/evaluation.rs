//! Formulas in f64 on the host, by the definitions of their operations.

use std::collections::HashMap;

use burn_calibration_export::{Constant, Formula, Operation, Term};

/// The results of one prediction, of inputs by their names.
pub fn evaluate(formula: &Formula, inputs: &[(&str, &[f64])]) -> Vec<Vec<f64>> {
    let mut rows: HashMap<usize, Vec<f64>> = HashMap::new();
    for term in formula.terms() {
        let row = value(term, &|input: &Term| &rows[&input.id()], inputs);
        rows.insert(term.id(), row);
    }
    let results = formula.results().iter();
    results.map(|(_, term)| rows[&term.id()].clone()).collect()
}

fn value<'a>(term: &Term, of: &dyn Fn(&Term) -> &'a [f64], inputs: &[(&str, &[f64])]) -> Vec<f64> {
    let at = |k: usize| of(&term.inputs()[k]);
    let each = |f: fn(f64) -> f64| at(0).iter().map(|x| f(*x)).collect();
    let both = |f: fn(f64, f64) -> f64| {
        let (a, b) = (at(0), at(1));
        let entries = 0..a.len().max(b.len());
        entries.map(|c| f(a[c % a.len()], b[c % b.len()])).collect()
    };
    let with_table = |f: &dyn Fn(f64, &[f64]) -> f64| {
        let entries = at(0).iter().enumerate();
        entries
            .map(|(c, x)| f(*x, table_row(&term.inputs()[1], c)))
            .collect()
    };
    match term.operation() {
        Operation::Input(symbol) => {
            let found = inputs.iter().find(|(name, _)| *name == symbol.name);
            found.unwrap().1.to_vec()
        }
        Operation::Constant(constant) => constant.values.clone(),
        Operation::Length => vec![at(0).len() as f64],
        Operation::Add => both(|a, b| a + b),
        Operation::Sub => both(|a, b| a - b),
        Operation::Mul => both(|a, b| a * b),
        Operation::Div => both(|a, b| a / b),
        Operation::Min => both(f64::min),
        Operation::Max => both(f64::max),
        Operation::Exp => each(f64::exp),
        Operation::Log => each(f64::ln),
        Operation::Tanh => each(f64::tanh),
        Operation::Sigmoid => each(|x| 1.0 / (1.0 + (-x).exp())),
        Operation::Softmax => {
            let largest = at(0).iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let powers: Vec<f64> = at(0).iter().map(|z| (z - largest).exp()).collect();
            let sum: f64 = powers.iter().sum();
            powers.into_iter().map(|power| power / sum).collect()
        }
        Operation::LogSoftmax => {
            let largest = at(0).iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = at(0).iter().map(|z| (z - largest).exp()).sum();
            at(0).iter().map(|z| z - largest - sum.ln()).collect()
        }
        Operation::Sum => vec![at(0).iter().sum()],
        Operation::Others => {
            let but = |c| [&at(0)[..c], &at(0)[c + 1..]].concat().iter().sum();
            (0..at(0).len()).map(but).collect()
        }
        Operation::CumSum => (1..=at(0).len())
            .map(|to| at(0)[..to].iter().sum())
            .collect(),
        Operation::MatMul => {
            let product = |row: &[f64]| row.iter().zip(at(1)).map(|(w, x)| w * x).sum();
            at(0).chunks(at(1).len()).map(product).collect()
        }
        Operation::Sort => order(at(0)).into_iter().map(|c| at(0)[c]).collect(),
        Operation::Unsort => {
            let mut sorted = vec![0.0; at(0).len()];
            for (c, x) in order(at(1)).into_iter().zip(at(0)) {
                sorted[c] = *x;
            }
            sorted
        }
        Operation::Slice(entries) => at(0)[entries.clone()].to_vec(),
        Operation::PrependZero => [&[0.0], at(0)].concat(),
        Operation::Concat => term.inputs().iter().flat_map(of).copied().collect(),
        Operation::CountBelow => {
            with_table(&|x, knots| knots.iter().filter(|knot| **knot < x).count() as f64)
        }
        Operation::CountUpTo => {
            with_table(&|x, knots| knots.iter().filter(|knot| **knot <= x).count() as f64)
        }
        Operation::Lookup => with_table(&|x, table| table[x as usize]),
        other => panic!("{other:?} is new"),
    }
}

/// The row of a table that an entry takes.
fn table_row(table: &Term, entry: usize) -> &[f64] {
    let Operation::Constant(Constant { shape, values }) = table.operation() else {
        panic!("a table is a constant")
    };
    let rows: Vec<&[f64]> = values.chunks(shape[shape.len() - 1]).collect();
    rows[entry % rows.len()]
}

/// The entries from the largest to the smallest, of ties the first.
fn order(row: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..row.len()).collect();
    order.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
    order
}
