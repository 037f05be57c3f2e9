//! Fitted maps as ONNX models, which other programs run.

use burn_calibration::recalibration::formula::{Constant, Formula, Operation, Symbol, Term};
use onnx_rs::ast::{
    Attribute, AttributeType, DataType, Dimension, Graph, Model, Node, OpType, OperatorSetId,
    TensorProto, TensorShape, TensorShapeDimension, TensorTypeProto, TypeProto, TypeValue,
    ValueInfo,
};

/// The version of the operators, which ONNX Runtime has had since 1.12.
const OPERATORS: i64 = 17;
/// The version of the format that came with them.
const FORMAT: i64 = 8;

/// Makes the ONNX model of a formula, as bytes of a file.
///
/// The inputs and results have the names of the formula, `logits` and `probabilities` of classes: f32, `[N, columns]`.
/// Between them the model computes in f64: a map with jumps or steep lines, as isotonic regression, is else another in
/// f32.
///
/// - columns: the number of classes or coordinates; none if the map takes any
pub fn to_onnx(formula: &Formula, columns: Option<usize>) -> Vec<u8> {
    let mut plan = Plan {
        columns: columns.unwrap_or(0) as i64,
        ..Plan::default()
    };
    let mut made: Vec<(usize, String)> = Vec::new();
    formula.visit(&mut |term| {
        let of = |term: &Term| {
            let found = made.iter().find(|(id, _)| *id == term.id());
            found.expect("visited before").1.clone()
        };
        let inputs: Vec<String> = term.inputs().iter().map(of).collect();
        let output = plan.term(term, &inputs);
        made.push((term.id(), output));
    });
    for (symbol, term) in formula.results() {
        let found = made.iter().find(|(id, _)| *id == term.id());
        let to = [("to", DataType::Float as i64)];
        let of = [found.expect("visited").1.clone()];
        plan.push("Cast", of, &to, &[symbol.name.into()]);
    }
    let results: Vec<Symbol> = formula
        .results()
        .iter()
        .map(|(symbol, _)| *symbol)
        .collect();
    plan.model(&formula.inputs(), &results, columns)
}

/// Steps of a model, and the numbers that they take. A tensor is known by its name.
#[derive(Default)]
struct Plan {
    columns: i64,
    steps: Vec<Step>,
    numbers: Vec<(String, Vec<i64>, Vec<f64>)>,
    integers: Vec<(String, Vec<i64>, Vec<i64>)>,
}

struct Step {
    operator: &'static str,
    inputs: Vec<String>,
    outputs: Vec<String>,
    attributes: Vec<(&'static str, i64)>,
}

const ROWWISE: &[(&str, i64)] = &[("axis", 1)];

impl Plan {
    fn name(&self) -> String {
        let made: usize = self.steps.iter().map(|step| step.outputs.len()).sum();
        format!("t{}", made + self.numbers.len() + self.integers.len())
    }

    fn push<const N: usize>(
        &mut self,
        operator: &'static str,
        inputs: [String; N],
        attributes: &[(&'static str, i64)],
        outputs: &[String],
    ) {
        self.steps.push(Step {
            operator,
            inputs: inputs.into(),
            outputs: outputs.to_vec(),
            attributes: attributes.to_vec(),
        });
    }

    fn with<const N: usize>(
        &mut self,
        operator: &'static str,
        inputs: [&str; N],
        attributes: &[(&'static str, i64)],
    ) -> String {
        let output = self.name();
        let inputs = inputs.map(str::to_owned);
        self.push(operator, inputs, attributes, std::slice::from_ref(&output));
        output
    }

    fn step<const N: usize>(&mut self, operator: &'static str, inputs: [&str; N]) -> String {
        self.with(operator, inputs, &[])
    }

    fn numbers(&mut self, shape: &[usize], values: Vec<f64>) -> String {
        let name = self.name();
        let shape = shape.iter().map(|length| *length as i64).collect();
        self.numbers.push((name.clone(), shape, values));
        name
    }

    fn number(&mut self, number: f64) -> String {
        self.numbers(&[], vec![number])
    }

    fn integers(&mut self, values: Vec<i64>) -> String {
        let name = self.name();
        let shape = vec![values.len() as i64];
        self.integers.push((name.clone(), shape, values));
        name
    }

    fn slice(&mut self, of: &str, from: i64, to: i64) -> String {
        let [from, to, axis] = [from, to, 1].map(|number| self.integers(vec![number]));
        self.step("Slice", [of, &from, &to, &axis])
    }

    fn sum(&mut self, of: &str) -> String {
        let axis = self.integers(vec![1]);
        self.step("ReduceSum", [of, &axis])
    }

    /// The largest entries in order, and where they are.
    fn largest(&mut self, of: &str, count: i64) -> [String; 2] {
        let (count, first) = (self.integers(vec![count]), self.name());
        let outputs = [first.clone(), format!("{first}_at")];
        self.push("TopK", [of.into(), count], ROWWISE, &outputs);
        outputs
    }

    fn term(&mut self, term: &Term, inputs: &[String]) -> String {
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        let first = inputs.first().copied().unwrap_or_default();
        let both = |plan: &mut Self, operator| plan.step(operator, [first, inputs[1]]);
        let table = |at: usize| match term.inputs()[at].operation() {
            Operation::Constant(constant) => constant,
            other => unreachable!("{other:?} is no table"),
        };
        match term.operation() {
            Operation::Input(symbol) => {
                self.with("Cast", [symbol.name], &[("to", DataType::Double as i64)])
            }
            Operation::Constant(Constant { shape, values }) => self.numbers(shape, values.clone()),
            Operation::Length => {
                let (shape, at) = (self.step("Shape", [first]), self.integers(vec![1]));
                let length = self.step("Gather", [&shape, &at]);
                self.with("Cast", [&length], &[("to", DataType::Double as i64)])
            }
            Operation::Add => both(self, "Add"),
            Operation::Subtract => both(self, "Sub"),
            Operation::Multiply => both(self, "Mul"),
            Operation::Divide => both(self, "Div"),
            Operation::Minimum => both(self, "Min"),
            Operation::Maximum => both(self, "Max"),
            Operation::Exp => self.step("Exp", [first]),
            Operation::Log => self.step("Log", [first]),
            Operation::Tanh => self.step("Tanh", [first]),
            Operation::Sigmoid => self.step("Sigmoid", [first]),
            Operation::LogSigmoid => self.log_sigmoid(first),
            Operation::Softmax => self.with("Softmax", [first], ROWWISE),
            Operation::LogSoftmax => self.with("LogSoftmax", [first], ROWWISE),
            Operation::LogOdds => self.log_odds(first),
            Operation::Sum => self.sum(first),
            Operation::CumulativeSum => {
                let axis = self.integers(vec![1]);
                self.step("CumSum", [first, &axis])
            }
            Operation::MatrixProduct => self.with("Gemm", [inputs[1], first], &[("transB", 1)]),
            Operation::SortDescending => {
                let [sorted, _] = self.largest(first, self.columns);
                sorted
            }
            Operation::Unsort => {
                let [_, at] = self.largest(inputs[1], self.columns);
                self.with("ScatterElements", [first, &at, first], ROWWISE)
            }
            Operation::Slice(entries) => {
                self.slice(first, entries.start as i64, entries.end as i64)
            }
            Operation::PrependZero => {
                let pads = self.integers(vec![0, 1, 0, 0]);
                self.step("Pad", [first, &pads])
            }
            Operation::Concatenate => {
                let (name, inputs) = (self.name(), inputs.into_iter().map(str::to_owned));
                self.steps.push(Step {
                    operator: "Concat",
                    inputs: inputs.collect(),
                    outputs: vec![name.clone()],
                    attributes: ROWWISE.to_vec(),
                });
                name
            }
            Operation::CountBelow => self.count(first, table(1), "Less"),
            Operation::CountUpTo => self.count(first, table(1), "LessOrEqual"),
            Operation::Lookup => self.lookup(first, &rows(table(1))),
            Operation::Interpolate => self.interpolate(first, &rows(table(1)), &rows(table(2))),
            other => unreachable!("{other:?} has no operators yet"),
        }
    }

    fn log_sigmoid(&mut self, x: &str) -> String {
        let (zero, one) = (self.number(0.0), self.number(1.0));
        let size = self.step("Abs", [x]);
        let opposite = self.step("Neg", [&size]);
        let power = self.step("Exp", [&opposite]);
        let sum = self.step("Add", [&power, &one]);
        let [logarithm, least] = [self.step("Log", [&sum]), self.step("Min", [x, &zero])];
        self.step("Sub", [&least, &logarithm])
    }

    /// With logits less the largest, the sum over the others is that of all less the one; of the largest it is taken
    /// over the others alone, less the second.
    fn log_odds(&mut self, z: &str) -> String {
        let [two, at] = self.largest(z, 2);
        let [largest, second] = [0, 1].map(|k| self.slice(&two, k, k + 1));
        let top = self.slice(&at, 0, 1);
        let classes = self.integers((0..self.columns).collect());
        let is_top = self.step("Equal", [&classes, &top]);
        let (zero, one) = (self.number(0.0), self.number(1.0));
        let below = self.step("Sub", [z, &largest]);
        let weights = self.step("Exp", [&below]);
        let all = self.sum(&weights);
        let others = self.step("Sub", [&all, &weights]);
        let others = self.step("Where", [&is_top, &one, &others]);
        let others = self.step("Log", [&others]);
        let odds = self.step("Sub", [&below, &others]);
        let below = self.step("Sub", [z, &second]);
        let weights = self.step("Exp", [&below]);
        let weights = self.step("Where", [&is_top, &zero, &weights]);
        let others = self.sum(&weights);
        let others = self.step("Log", [&others]);
        let of_top = self.step("Sub", [&below, &others]);
        self.step("Where", [&is_top, &of_top, &odds])
    }

    /// The numbers of a table at whole numbers, by the row of each entry.
    fn lookup(&mut self, index: &str, rows: &[Vec<f64>]) -> String {
        let length = rows[0].len() as i64;
        let table = self.numbers(&[rows.concat().len()], rows.concat());
        let starts = (0..rows.len() as i64).map(|row| row * length).collect();
        let starts = self.integers(starts);
        let at = self.step("Add", [index, &starts]);
        self.step("Gather", [&table, &at])
    }

    /// How many knots of its row come before each entry, as whole numbers: a binary search, a few operators for each
    /// step. Beyond the knots are numbers that nothing comes before.
    fn count(&mut self, x: &str, knots: &Constant, before: &'static str) -> String {
        let mut rows = rows(knots);
        let length = (rows[0].len() + 1).next_power_of_two();
        rows.iter_mut().for_each(|row| row.resize(length, f64::NAN));
        let mut count = self.integers(vec![0]);
        let mut step = length as i64 / 2;
        while step > 0 {
            let (last, size) = (self.integers(vec![step - 1]), self.integers(vec![step]));
            let at = self.step("Add", [&count, &last]);
            let knot = self.lookup(&at, &rows);
            let comes = self.step(before, [&knot, x]);
            let comes = self.with("Cast", [&comes], &[("to", DataType::Int64 as i64)]);
            let further = self.step("Mul", [&comes, &size]);
            count = self.step("Add", [&count, &further]);
            step /= 2;
        }
        count
    }

    fn interpolate(&mut self, x: &str, knots: &[Vec<f64>], values: &[Vec<f64>]) -> String {
        let end = |of: fn(&Vec<f64>) -> f64| knots.iter().map(of).collect::<Vec<f64>>();
        let [low, high] = [end(|row| row[0]), end(|row| row[row.len() - 1])];
        let [low, high] = [low, high].map(|ends| self.numbers(&[knots.len()], ends));
        let x = self.step("Max", [x, &low]);
        let x = self.step("Min", [&x, &high]);
        // of the intervals, of which the first is left of all knots
        let left = |row: &Vec<f64>| [&row[..1], row].concat();
        let slopes = |(knots, values): (&Vec<f64>, &Vec<f64>)| {
            let steps = knots.windows(2).zip(values.windows(2));
            let slope = |(x, y): (&[f64], &[f64])| (y[1] - y[0]) / (x[1] - x[0]);
            let slopes = steps
                .map(slope)
                .map(|slope| if slope.is_finite() { slope } else { 0.0 });
            let mut all = vec![0.0];
            all.extend(slopes);
            all.push(0.0);
            all
        };
        let tables = [
            knots.iter().map(left).collect(),
            values.iter().map(left).collect(),
            knots.iter().zip(values).map(slopes).collect::<Vec<_>>(),
        ];
        let all = Constant {
            shape: vec![knots.len(), knots[0].len()],
            values: knots.concat(),
        };
        let interval = self.count(&x, &all, "Less");
        let [knot, value, slope] = tables.map(|table| self.lookup(&interval, &table));
        let distance = self.step("Sub", [&x, &knot]);
        let rise = self.step("Mul", [&slope, &distance]);
        self.step("Add", [&value, &rise])
    }

    fn model(&self, inputs: &[Symbol], results: &[Symbol], columns: Option<usize>) -> Vec<u8> {
        let nodes = self.steps.iter().map(|step| Node {
            op_type: OpType::from(step.operator),
            input: step.inputs.iter().map(String::as_str).collect(),
            output: step.outputs.iter().map(String::as_str).collect(),
            attribute: step.attributes.iter().map(attribute).collect(),
            ..Default::default()
        });
        let numbers = self.numbers.iter();
        let numbers = numbers.map(|(name, shape, values)| {
            TensorProto::from_f64(name, shape.clone(), values.clone())
        });
        let integers = self.integers.iter();
        let integers = integers.map(|(name, shape, values)| {
            TensorProto::from_i64(name, shape.clone(), values.clone())
        });
        let values = |of: &[Symbol]| {
            of.iter()
                .map(|symbol| value(symbol.name, columns))
                .collect()
        };
        let graph = Graph {
            name: "recalibration",
            node: nodes.collect(),
            initializer: numbers.chain(integers).collect(),
            input: values(inputs),
            output: values(results),
            ..Default::default()
        };
        onnx_rs::encode(&Model {
            ir_version: FORMAT,
            opset_import: vec![OperatorSetId {
                domain: "",
                version: OPERATORS,
            }],
            producer_name: "burn-calibration",
            producer_version: env!("CARGO_PKG_VERSION"),
            graph: Some(graph),
            ..Default::default()
        })
    }
}

/// The rows of a table.
fn rows(Constant { shape, values }: &Constant) -> Vec<Vec<f64>> {
    let columns = shape[shape.len() - 1];
    values.chunks(columns).map(<[f64]>::to_vec).collect()
}

fn attribute((name, number): &(&'static str, i64)) -> Attribute<'static> {
    Attribute {
        name,
        r#type: AttributeType::Int,
        i: *number,
        ..Default::default()
    }
}

/// An input or a result, `[N, columns]`.
fn value(name: &'static str, columns: Option<usize>) -> ValueInfo<'static> {
    let columns = match columns {
        Some(columns) => Dimension::Value(columns as i64),
        None => Dimension::Param("columns"),
    };
    let dimension = |value| TensorShapeDimension {
        value,
        ..Default::default()
    };
    let shape = TensorShape {
        dim: [Dimension::Param("N"), columns].map(dimension).into(),
    };
    let tensor = TensorTypeProto {
        elem_type: DataType::Float,
        shape: Some(shape),
    };
    ValueInfo {
        name,
        r#type: Some(TypeProto {
            value: Some(TypeValue::Tensor(tensor)),
            ..Default::default()
        }),
        ..Default::default()
    }
}
