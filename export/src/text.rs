//! Formulas as mathematics.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
};

use crate::{Constant, Formula, Operation, Term};

impl fmt::Display for Formula {
    /// A line for each step that has a name, the results, the tables, and in lines after `#` what the words mean.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = Writer::default();
        for input in self.terms().into_iter().flat_map(Term::inputs) {
            *writer.uses.entry(input.id()).or_default() += 1;
        }
        let inputs = self.inputs();
        let results = self.results.iter().map(|(symbol, _)| symbol);
        for symbol in inputs.iter().chain(results) {
            writer.taken.insert(symbol.letter.into(), 1);
            let note = format!("{}: {}", symbol.letter, symbol.name);
            writer.notes.insert(note);
        }
        for (symbol, term) in &self.results {
            let result = writer.operation(term);
            writer.lines.push(format!("{} = {result}", symbol.letter));
        }
        for line in writer.lines.iter().chain(&writer.tables) {
            writeln!(f, "{line}")?;
        }
        let mut notes = writer.notes.iter();
        notes.try_for_each(|note| writeln!(f, "# {note}"))
    }
}

#[derive(Default)]
struct Writer {
    /// The number of uses of each term.
    uses: HashMap<usize, usize>,
    names: HashMap<usize, String>,
    /// The number of times that each name was given.
    taken: HashMap<String, usize>,
    lines: Vec<String>,
    tables: Vec<String>,
    notes: BTreeSet<String>,
}

/// The precedence of written operations, the weakest first.
const SUM: u8 = 1;
const PRODUCT: u8 = 2;
const WHOLE: u8 = 3;

impl Writer {
    /// A term as a part of another: its name, or what it is, in brackets where that holds together less than it has to.
    fn part(&mut self, term: &Term, least: u8) -> String {
        if let Some(name) = self.names.get(&term.id()) {
            return name.clone();
        }
        let text = self.operation(term);
        let (binding, is_short) = match term.operation() {
            Operation::Add | Operation::Sub => (SUM, false),
            Operation::Mul | Operation::MatMul | Operation::Div => (PRODUCT, false),
            Operation::Input(_) | Operation::Length => (WHOLE, true),
            Operation::Constant(_) => (WHOLE, term.name().is_none()),
            _ => (WHOLE, false),
        };
        let is_shared = self.uses.get(&term.id()).is_some_and(|uses| *uses > 1);
        if is_short || (term.name().is_none() && !is_shared) {
            return if binding < least {
                format!("({text})")
            } else {
                text
            };
        }
        let name = term.name().unwrap_or("t");
        let given = self.taken.entry(name.into()).or_default();
        *given += 1;
        let name = match *given {
            1 => name.to_owned(),
            given => format!("{name}{given}"),
        };
        let lines = match term.operation() {
            Operation::Constant(_) => &mut self.tables,
            _ => &mut self.lines,
        };
        lines.push(format!("{name} = {text}"));
        self.names.insert(term.id(), name.clone());
        name
    }

    fn operation(&mut self, term: &Term) -> String {
        let inputs = term.inputs();
        let (sign, least) = match term.operation() {
            Operation::Input(symbol) => return symbol.letter.into(),
            Operation::Constant(constant) => return numbers(constant),
            Operation::Add => ("+", [SUM, SUM]),
            Operation::Sub => ("−", [SUM, PRODUCT]),
            Operation::Mul | Operation::MatMul => ("·", [PRODUCT, PRODUCT]),
            Operation::Div => ("/", [PRODUCT, WHOLE]),
            other => return self.function(other, inputs),
        };
        let first = self.part(&inputs[0], least[0]);
        let second = self.part(&inputs[1], least[1]);
        match (sign, second.strip_prefix('-')) {
            ("+", Some(positive)) => format!("{first} − {positive}"),
            ("−", Some(positive)) => format!("{first} + {positive}"),
            _ => format!("{first} {sign} {second}"),
        }
    }

    fn function(&mut self, operation: &Operation, inputs: &[Term]) -> String {
        let parts: Vec<String> = inputs.iter().map(|part| self.part(part, SUM)).collect();
        let (first, all) = (&parts[0], parts.join(", "));
        let (text, note) = match operation {
            Operation::Length => ("m".into(), "m: the number of classes"),
            Operation::Slice(entries) if entries.len() == 1 => {
                (format!("{first}[{}]", entries.start), SLICE)
            }
            Operation::Slice(entries) => {
                (format!("{first}[{}:{}]", entries.start, entries.end), SLICE)
            }
            Operation::PrependZero => (format!("[0, {all}]"), ""),
            Operation::Concat => (format!("[{all}]"), ""),
            Operation::CountBelow => (format!("count({} < {first})", parts[1]), COUNT),
            Operation::CountUpTo => (format!("count({} ≤ {first})", parts[1]), COUNT),
            Operation::Lookup => (format!("{}[{first}]", parts[1]), LOOKUP),
            Operation::LogSoftmax => (format!("log_softmax({all})"), LOG_SOFTMAX),
            // the others have their own names
            other => {
                let note = match other {
                    Operation::Sigmoid => "sigmoid(x): 1 / (1 + exp(−x))",
                    Operation::Others => "others(x): for each entry the sum of the others",
                    Operation::CumSum => "cumsum(x): the sums of the first entry, the first two, …",
                    Operation::Sort => "sort(x): from the largest entry to the smallest",
                    Operation::Unsort => UNSORT,
                    _ => "", // exp, log, tanh, softmax, sum, min and max, which every language has
                };
                (
                    format!("{}({all})", format!("{other:?}").to_lowercase()),
                    note,
                )
            }
        };
        if !note.is_empty() {
            self.notes.insert(note.into());
        }
        text
    }
}

const LOG_SOFTMAX: &str =
    "log_softmax(x): x − max(x) − log(sum(exp(x − max(x)))), max of all entries";
const UNSORT: &str =
    "unsort(y, x): the first entry of y where x is largest, and so on; of ties the first is larger";
const SLICE: &str = "x[c]: entry c of x, from 0; x[a:b]: those from a to b − 1";
const COUNT: &str =
    "count(knots < x): how many knots are below each entry of x, of its row or the only row";
const LOOKUP: &str =
    "table[i]: for each entry of i this number of its row of the table or the only row, from 0";

fn numbers(Constant { shape, values }: &Constant) -> String {
    // the fewest digits that give a number back
    let digits = |number: &f64| {
        let text = format!("{number:?}");
        text.strip_suffix(".0").unwrap_or(&text).to_owned()
    };
    let row = |row: &[f64]| {
        let numbers: Vec<String> = row.iter().map(digits).collect();
        format!("[{}]", numbers.join(", "))
    };
    match shape[..] {
        [] => digits(&values[0]),
        [_, columns] => {
            let rows: Vec<String> = values.chunks(columns).map(row).collect();
            format!("[{}]", rows.join(", "))
        }
        _ => row(values),
    }
}
