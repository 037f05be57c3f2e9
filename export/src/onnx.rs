//! Formulas as ONNX models, for other programs.

use std::{collections::HashMap, ops::Range};

use onnx_rs::ast::{
    Attribute, AttributeType, DataType, Dimension, Graph, Model, Node, OpType, OperatorSetId,
    TensorProto, TensorShape, TensorShapeDimension, TensorTypeProto, TypeProto, TypeValue,
    ValueInfo,
};

use crate::{Constant, Formula, Operation, Symbol, Term};

/// The versions of the operators and of the format, which ONNX Runtime has had since 1.12.
const OPERATORS: i64 = 17;
const FORMAT: i64 = 8;

/// Makes the ONNX model of a formula, as the bytes of a file.
///
/// Inputs and results have the names of the formula, which are `logits` and `probabilities` for classes.
/// They are f32, `[N, columns]`. The model computes in f64, because a map with jumps or steep lines, such
/// as isotonic regression, would differ in f32. Of logits with more digits than f32 it takes the rounded ones: where such a
/// map is steep, probabilities then differ from those of `apply` by more than the rounding, up to some 1e-5.
///
/// - columns: the number of classes or coordinates; None if the map takes any number
pub fn to_onnx(formula: &Formula, columns: Option<usize>) -> Vec<u8> {
    let mut plan = ModelGraph::default();
    let mut names = HashMap::new();
    for term in formula.terms() {
        let inputs: Vec<&String> = term.inputs().iter().map(|of| &names[&of.id()]).collect();
        let name = plan.term(term, &inputs, columns.unwrap_or(0) as i64);
        names.insert(term.id(), name);
    }
    for (symbol, term) in formula.results() {
        let to_f32 = ("to", DataType::Float as i64);
        plan.push("Cast", &[&names[&term.id()]], to_f32);
        plan.last().output = symbol.name.into();
    }
    let results = formula.results().iter();
    let results: Vec<Symbol> = results.map(|(symbol, _)| *symbol).collect();
    plan.model(&formula.inputs(), &results, columns)
}

/// Steps of a model, and the numbers that they take. Tensors are known by their names.
#[derive(Default)]
struct ModelGraph {
    steps: Vec<GraphNode>,
    constants: Vec<(String, Initialiser)>,
}

enum Initialiser {
    Real(Vec<usize>, Vec<f64>),
    Whole(Vec<i64>),
}

struct GraphNode {
    operator: String,
    inputs: Vec<String>,
    output: String,
    attribute: Option<(&'static str, i64)>,
}

const ALONG_ROWS: (&str, i64) = ("axis", 1);
/// What follows the name of sorted numbers, for where they were.
const PLACES: &str = "_places";

impl ModelGraph {
    fn push(&mut self, operator: &str, inputs: &[&str], attribute: (&'static str, i64)) -> String {
        let output = self.step(operator, inputs);
        self.last().attribute = Some(attribute);
        output
    }

    fn step(&mut self, operator: &str, inputs: &[&str]) -> String {
        let output = format!("t{}", self.steps.len());
        self.steps.push(GraphNode {
            operator: operator.into(),
            inputs: inputs.iter().map(|input| (*input).to_owned()).collect(),
            output: output.clone(),
            attribute: None,
        });
        output
    }

    fn last(&mut self) -> &mut GraphNode {
        self.steps.last_mut().expect("a step")
    }

    fn constant(&mut self, numbers: Initialiser) -> String {
        let name = format!("c{}", self.constants.len());
        self.constants.push((name.clone(), numbers));
        name
    }

    fn whole(&mut self, numbers: impl Into<Vec<i64>>) -> String {
        self.constant(Initialiser::Whole(numbers.into()))
    }

    /// Sorts rows of so many entries: the name of the sorted numbers, to which that of the places adds [`PLACES`].
    fn sort(&mut self, of: &str, entries: i64) -> String {
        let entries = self.whole([entries]);
        self.push("TopK", &[of, &entries], ALONG_ROWS)
    }

    fn term(&mut self, term: &Term, inputs: &[&String], columns: i64) -> String {
        let inputs: Vec<&str> = inputs.iter().map(|input| input.as_str()).collect();
        let real = ("to", DataType::Double as i64);
        let table = || match term.inputs()[1].operation() {
            Operation::Constant(Constant { shape, values }) => {
                let rows = values.chunks(shape[shape.len() - 1]);
                rows.map(<[f64]>::to_vec).collect::<Vec<_>>()
            }
            other => unreachable!("{other:?} is no table"),
        };
        match term.operation() {
            Operation::Input(symbol) => self.push("Cast", &[symbol.name], real),
            Operation::Constant(Constant { shape, values }) => {
                self.constant(Initialiser::Real(shape.clone(), values.clone()))
            }
            Operation::Length => {
                let (shape, at) = (self.step("Shape", &inputs), self.whole([1]));
                let length = self.step("Gather", &[&shape, &at]);
                self.push("Cast", &[&length], real)
            }
            // Sigmoid of ONNX Runtime has no digits left far below 0
            Operation::Sigmoid => {
                let one = self.constant(Initialiser::Real(vec![], vec![1.0]));
                let opposite = self.step("Neg", &inputs);
                let power = self.step("Exp", &[&opposite]);
                let sum = self.step("Add", &[&one, &power]);
                self.step("Div", &[&one, &sum])
            }
            Operation::Sum => {
                let axis = self.whole([1]);
                self.step("ReduceSum", &[inputs[0], &axis])
            }
            Operation::CumSum => {
                let axis = self.whole([1]);
                self.step("CumSum", &[inputs[0], &axis])
            }
            Operation::Others => self.others(inputs[0], columns),
            Operation::MatMul => self.push("Gemm", &[inputs[1], inputs[0]], ("transB", 1)),
            Operation::Sort => self.sort(inputs[0], columns),
            Operation::Unsort => {
                let places = self.sort(inputs[1], columns) + PLACES;
                self.push(
                    "ScatterElements",
                    &[inputs[0], &places, inputs[0]],
                    ALONG_ROWS,
                )
            }
            Operation::Slice(Range { start, end }) => {
                self.slice(inputs[0], *start as i64, *end as i64)
            }
            Operation::PrependZero => {
                let pads = self.whole([0, 1, 0, 0]);
                self.step("Pad", &[inputs[0], &pads])
            }
            Operation::Concat => self.push("Concat", &inputs, ALONG_ROWS),
            Operation::CountBelow => self.count(inputs[0], table(), "Less"),
            Operation::CountUpTo => self.count(inputs[0], table(), "LessOrEqual"),
            Operation::Lookup => self.lookup(inputs[0], &table()),
            // of the same name as its operator
            other => self.step(&format!("{other:?}"), &inputs),
        }
    }

    fn slice(&mut self, of: &str, start: i64, end: i64) -> String {
        let [start, end, axis] = [start, end, 1].map(|number| self.whole([number]));
        self.step("Slice", &[of, &start, &end, &axis])
    }

    /// The sums of the entries before each and after it: taking an entry from the sum of all would leave no digits.
    fn others(&mut self, of: &str, columns: i64) -> String {
        let (axis, pads) = (self.whole([1]), self.whole([0, 1, 0, 1]));
        let padded = self.step("Pad", &[of, &pads]);
        let before = self.step("CumSum", &[&padded, &axis]);
        let after = self.push("CumSum", &[&padded, &axis], ("reverse", 1));
        let [before, after] = [
            self.slice(&before, 0, columns),
            self.slice(&after, 2, columns + 2),
        ];
        self.step("Add", &[&before, &after])
    }

    /// The numbers of a table at whole numbers, by the row of each entry.
    fn lookup(&mut self, index: &str, rows: &[Vec<f64>]) -> String {
        let (length, values) = (rows[0].len() as i64, rows.concat());
        let table = self.constant(Initialiser::Real(vec![values.len()], values));
        let starts = (0..rows.len() as i64).map(|row| row * length);
        let starts = self.whole(starts.collect::<Vec<_>>());
        let at = self.step("Add", &[index, &starts]);
        self.step("Gather", &[&table, &at])
    }

    /// How many knots of its row come before each entry, as whole numbers: a binary search, a few operators for each
    /// step. Beyond the knots are numbers that nothing comes before.
    fn count(&mut self, x: &str, mut knots: Vec<Vec<f64>>, before: &str) -> String {
        let length = (knots[0].len() + 1).next_power_of_two();
        for row in &mut knots {
            row.resize(length, f64::NAN);
        }
        let (mut count, mut size) = (self.whole([0]), length as i64 / 2);
        while size > 0 {
            let (last, step) = (self.whole([size - 1]), self.whole([size]));
            let at = self.step("Add", &[&count, &last]);
            let knot = self.lookup(&at, &knots);
            let comes = self.step(before, &[&knot, x]);
            let comes = self.push("Cast", &[&comes], ("to", DataType::Int64 as i64));
            let further = self.step("Mul", &[&comes, &step]);
            count = self.step("Add", &[&count, &further]);
            size /= 2;
        }
        count
    }

    fn model(&self, inputs: &[Symbol], results: &[Symbol], columns: Option<usize>) -> Vec<u8> {
        let outputs = self.steps.iter().map(|step| &step.output);
        let places: Vec<String> = outputs.map(|output| format!("{output}{PLACES}")).collect();
        let nodes = self.steps.iter().zip(&places).map(|(step, places)| {
            let mut output = vec![step.output.as_str()];
            output.extend((step.operator == "TopK").then_some(places.as_str()));
            let attribute = step.attribute.map(|(name, i)| Attribute {
                name,
                r#type: AttributeType::Int,
                i,
                ..Default::default()
            });
            Node {
                op_type: OpType::from(step.operator.as_str()),
                input: step.inputs.iter().map(String::as_str).collect(),
                output,
                attribute: attribute.into_iter().collect(),
                ..Default::default()
            }
        });
        let is_used = |name: &String| self.steps.iter().any(|step| step.inputs.contains(name));
        let constants = self.constants.iter().filter(|(name, _)| is_used(name));
        let constants = constants.map(|(name, numbers)| match numbers {
            Initialiser::Real(shape, values) => {
                let shape = shape.iter().map(|length| *length as i64).collect();
                TensorProto::from_f64(name, shape, values.clone())
            }
            Initialiser::Whole(values) => {
                TensorProto::from_i64(name, vec![values.len() as i64], values.clone())
            }
        });
        let columns = columns.map_or(Dimension::Param("columns"), |m| Dimension::Value(m as i64));
        let values = |of: &[Symbol]| {
            of.iter()
                .map(|symbol| value(symbol.name, &columns))
                .collect()
        };
        let graph = Graph {
            name: "recalibration",
            node: nodes.collect(),
            initializer: constants.collect(),
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

/// An input or a result, `[N, columns]`.
fn value(name: &'static str, columns: &Dimension<'static>) -> ValueInfo<'static> {
    let dimension = |value| TensorShapeDimension {
        value,
        ..Default::default()
    };
    let shape = [Dimension::Param("N"), columns.clone()].map(dimension);
    let tensor = TensorTypeProto {
        elem_type: DataType::Float,
        shape: Some(TensorShape { dim: shape.into() }),
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
