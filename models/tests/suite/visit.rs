//! Parameters by name.

use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{Gradients, Tensor},
};

/// A parameter: its path, its shape, its numbers.
pub struct Parameter {
    pub name: String,
    pub shape: Vec<usize>,
    pub values: Vec<f64>,
}

/// Numbers of a tensor.
pub fn numbers<const D: usize>(x: Tensor<D>) -> Vec<f64> {
    x.into_data().iter::<f64>().collect()
}

/// Largest absolute value; NaN if there is one.
pub fn largest(values: &[f64]) -> f64 {
    let larger = |a: f64, x: &f64| if x.abs() <= a { a } else { x.abs() };
    values.iter().fold(0.0, larger)
}

#[track_caller]
pub fn assert_close(actual: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(actual.len(), expected.len());
    for (k, (a, e)) in actual.iter().zip(expected).enumerate() {
        assert!(
            (a - e).abs() <= tolerance * (1.0 + e.abs()),
            "number {k}: {a}, expected {e}"
        );
    }
}

/// All parameters and running statistics.
pub fn parameters<M: Module>(module: &M) -> Vec<Parameter> {
    let mut visitor = Visitor::default();
    module.visit(&mut visitor);
    visitor.found
}

/// Name of every trainable parameter and its gradient, where it has one.
pub fn gradients<M: Module>(module: &M, gradients: &Gradients) -> Vec<(String, Option<Vec<f64>>)> {
    let mut visitor = Visitor {
        gradients: Some(gradients),
        ..Visitor::default()
    };
    module.visit(&mut visitor);
    visitor.of_gradients
}

#[derive(Default)]
struct Visitor<'a> {
    path: Vec<String>,
    found: Vec<Parameter>,
    gradients: Option<&'a Gradients>,
    of_gradients: Vec<(String, Option<Vec<f64>>)>,
}

impl ModuleVisitor for Visitor<'_> {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_string());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let name = self.path.join(".");
        let value = param.val();
        match self.gradients {
            Some(gradients) if !name.contains("running_") => {
                let gradient = value.grad(gradients).map(numbers);
                self.of_gradients.push((name, gradient));
            }
            Some(_) => {}
            None => self.found.push(Parameter {
                name,
                shape: value.dims().to_vec(),
                values: numbers(value),
            }),
        }
    }
}
