//! Formulas as mathematics.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
};

use super::{Constant, Formula, Operation, Term};

impl fmt::Display for Formula {
    /// A line for each step that has a name, the results, the tables, and in lines after `#` what the words mean.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = Writer::default();
        let mut count = |term: &Term| {
            for input in term.inputs() {
                *writer.uses.entry(input.id()).or_default() += 1;
            }
        };
        self.visit(&mut count);
        let inputs = self.inputs();
        let results = self.results.iter().map(|(symbol, _)| symbol);
        let symbols: Vec<_> = inputs.iter().chain(results).collect();
        for symbol in symbols {
            writer.taken.insert(symbol.letter.into(), 1);
            writer.notes.insert(symbol.letter, symbol.name);
        }
        for (symbol, term) in &self.results {
            let result = writer.operation(term);
            writer.lines.push(format!("{} = {result}", symbol.letter));
        }
        for line in writer.lines.iter().chain(&writer.tables) {
            writeln!(f, "{line}")?;
        }
        let mut notes = writer.notes.iter();
        notes.try_for_each(|(what, meaning)| writeln!(f, "# {what}: {meaning}"))
    }
}

#[derive(Default)]
struct Writer {
    /// How often each term is taken.
    uses: HashMap<usize, usize>,
    names: HashMap<usize, String>,
    /// How often each name was given.
    taken: HashMap<String, usize>,
    lines: Vec<String>,
    tables: Vec<String>,
    notes: BTreeMap<&'static str, &'static str>,
}

/// How strongly what is written holds together.
const SUM: u8 = 1;
const PRODUCT: u8 = 2;
const WHOLE: u8 = 3;

impl Writer {
    /// A term as a part of another: its name, or in brackets where it holds together less than it has to.
    fn part(&mut self, term: &Term, least: u8) -> String {
        if let Some(name) = self.names.get(&term.id()) {
            return name.clone();
        }
        let is_given = matches!(term.operation(), Operation::Input(_) | Operation::Length);
        let is_number = matches!(term.operation(), Operation::Constant(_)) && term.name().is_none();
        let is_shared = self.uses.get(&term.id()).is_some_and(|uses| *uses > 1);
        if is_given || is_number || (term.name().is_none() && !is_shared) {
            let text = self.operation(term);
            return match binding(term.operation()) {
                binding if binding < least => format!("({text})"),
                _ => text,
            };
        }
        let text = self.operation(term);
        let name = self.unique(term.name().unwrap_or("t"));
        let line = format!("{name} = {text}");
        match term.operation() {
            Operation::Constant(_) => self.tables.push(line),
            _ => self.lines.push(line),
        }
        self.names.insert(term.id(), name.clone());
        name
    }

    fn unique(&mut self, name: &str) -> String {
        let given = self.taken.entry(name.into()).or_default();
        *given += 1;
        match *given {
            1 => name.into(),
            given => format!("{name}{given}"),
        }
    }

    fn operation(&mut self, term: &Term) -> String {
        let inputs = term.inputs();
        let mut infix = |sign: &str, [first, second]: [u8; 2]| {
            let first = self.part(&inputs[0], first);
            format!("{first} {sign} {}", self.part(&inputs[1], second))
        };
        match term.operation() {
            Operation::Input(symbol) => symbol.letter.into(),
            Operation::Constant(constant) => numbers(constant),
            Operation::Length => {
                self.notes.insert("m", "the number of classes");
                "m".into()
            }
            Operation::Add => match single(&inputs[1]) {
                Some(number) if number < 0.0 => {
                    format!("{} − {}", self.part(&inputs[0], SUM), digits(-number))
                }
                _ => infix("+", [SUM, SUM]),
            },
            Operation::Subtract => infix("−", [SUM, PRODUCT]),
            Operation::Multiply | Operation::MatrixProduct => infix("·", [PRODUCT, PRODUCT]),
            Operation::Divide => infix("/", [PRODUCT, WHOLE]),
            Operation::Slice(entries) => {
                self.notes.insert(
                    "x[c]",
                    "entry c of x, the first of which is 0; x[a:b] are a to b−1",
                );
                let of = self.part(&inputs[0], WHOLE);
                match entries.len() {
                    1 => format!("{of}[{}]", entries.start),
                    _ => format!("{of}[{}:{}]", entries.start, entries.end),
                }
            }
            Operation::PrependZero => format!("[0, {}]", self.part(&inputs[0], SUM)),
            Operation::Concatenate => {
                let parts: Vec<String> = inputs.iter().map(|part| self.part(part, SUM)).collect();
                format!("[{}]", parts.join(", "))
            }
            Operation::CountBelow | Operation::CountUpTo => {
                self.notes.insert("count(knots < x)", COUNT);
                let sign = if *term.operation() == Operation::CountBelow {
                    "<"
                } else {
                    "≤"
                };
                let x = self.part(&inputs[0], SUM);
                format!("count({} {sign} {x})", self.part(&inputs[1], SUM))
            }
            Operation::Lookup => {
                self.notes.insert("table[i]", LOOKUP);
                let index = self.part(&inputs[0], SUM);
                format!("{}[{index}]", self.part(&inputs[1], WHOLE))
            }
            other => {
                let (name, meaning) = function(other);
                if !meaning.is_empty() {
                    self.notes.insert(name, meaning);
                }
                let parts: Vec<String> = inputs.iter().map(|part| self.part(part, SUM)).collect();
                format!("{name}({})", parts.join(", "))
            }
        }
    }
}

const COUNT: &str =
    "for each entry of x, how many knots of its row are below it, or of the only row";
const LOOKUP: &str =
    "for each entry of i, that number of its row of the table, or of the only row, from 0";

/// The name of a function, and what it means where not every language has it.
fn function(operation: &Operation) -> (&'static str, &'static str) {
    match operation {
        Operation::Minimum => ("min", ""),
        Operation::Maximum => ("max", ""),
        Operation::Exp => ("exp", ""),
        Operation::Log => ("log", ""),
        Operation::Tanh => ("tanh", ""),
        Operation::Sigmoid => ("sigmoid", "sigmoid(x) = 1 / (1 + exp(−x))"),
        Operation::LogSigmoid => ("log_sigmoid", "log_sigmoid(x) = −log(1 + exp(−x))"),
        Operation::Softmax => ("softmax", ""),
        Operation::LogSoftmax => ("log_softmax", "the logarithm of the softmax"),
        Operation::LogOdds => ("log_odds", "x[c] − log Σ exp(x[d]) over d ≠ c, for each c"),
        Operation::Sum => ("sum", ""),
        Operation::CumulativeSum => (
            "cumsum",
            "the sums of the first entry, the first two, and so on",
        ),
        Operation::SortDescending => ("sort_descending", "from the largest to the smallest"),
        Operation::Unsort => (
            "unsort",
            "unsort(y, x) puts the first entry of y where x is largest, and so on; of ties the first is the larger",
        ),
        Operation::Interpolate => (
            "interpolate",
            "interpolate(x, knots, values), linear between knots and constant beyond, by the row of each entry of x; \
             at two equal knots the first value",
        ),
        other => unreachable!("{other:?} is no function"),
    }
}

fn binding(operation: &Operation) -> u8 {
    match operation {
        Operation::Add | Operation::Subtract => SUM,
        Operation::Multiply | Operation::MatrixProduct | Operation::Divide => PRODUCT,
        _ => WHOLE,
    }
}

fn single(term: &Term) -> Option<f64> {
    match term.operation() {
        Operation::Constant(Constant { shape, values }) if shape.is_empty() => Some(values[0]),
        _ => None,
    }
}

fn numbers(Constant { shape, values }: &Constant) -> String {
    let row = |row: &[f64]| {
        let numbers: Vec<String> = row.iter().map(|number| digits(*number)).collect();
        format!("[{}]", numbers.join(", "))
    };
    match shape[..] {
        [] => digits(values[0]),
        [_, columns] => {
            let rows: Vec<String> = values.chunks(columns).map(row).collect();
            format!("[{}]", rows.join(", "))
        }
        _ => row(values),
    }
}

/// The fewest digits that give a number back.
fn digits(number: f64) -> String {
    let text = format!("{number:?}");
    text.strip_suffix(".0").unwrap_or(&text).into()
}
