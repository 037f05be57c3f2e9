//! The parameters of fitted maps.

use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{Device, Tensor, TensorData},
};

use crate::host::{finest, to_vec};

/// A parameter of a fitted map.
///
/// It is frozen until [`Module::unfreeze`]: an optimiser does not change it, even after `train`.
pub type Parameter<const D: usize> = Param<Tensor<D>>;

/// A parameter of these numbers, in f64 where the device computes in it.
pub fn parameter<const D: usize>(
    values: Vec<f64>,
    shape: [usize; D],
    device: &Device,
) -> Parameter<D> {
    let device = device.clone().without_autodiff();
    let data = TensorData::new(values, shape);
    frozen(Tensor::from_data(data, (&device, finest(&device))))
}

/// A parameter of numbers in a row.
pub fn parameter_row(values: Vec<f64>, device: &Device) -> Parameter<1> {
    let shape = [values.len()];
    parameter(values, shape, device)
}

/// A parameter of a tensor.
pub fn frozen<const D: usize>(values: Tensor<D>) -> Parameter<D> {
    Param::from_tensor(values).set_require_grad(false)
}

/// Returns what is wrong with the shape of a parameter that was loaded.
pub fn check_shape<const D: usize>(
    parameter: &Parameter<D>,
    name: &str,
    expected: [usize; D],
) -> Result<(), String> {
    let dims = parameter.dims();
    if dims == expected {
        Ok(())
    } else {
        Err(format!(
            "{name} has the shape {dims:?}, expected {expected:?}"
        ))
    }
}

/// A parameter of a fitted map by its name.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct NamedParameter {
    /// The name, as "temperature" or "weight".
    pub name: String,
    /// The shape.
    pub shape: Vec<usize>,
    /// The numbers, in row-major order.
    pub values: Vec<f64>,
    /// The names of the rows in the documentation of the map, as "a" and "b"; empty where they have none.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub rows: &'static [&'static str],
}

impl NamedParameter {
    /// Makes a parameter without names of its rows.
    pub fn new(name: impl Into<String>, shape: Vec<usize>, values: Vec<f64>) -> Self {
        Self {
            name: name.into(),
            shape,
            values,
            rows: &[],
        }
    }

    /// Returns the parameters of a module by their names, such as "weight", and "network.w1" within a module of it.
    pub fn all(module: &impl Module) -> Vec<Self> {
        let mut collected = Collected::default();
        module.visit(&mut collected);
        collected.parameters
    }

    /// The numbers as text, after the names of their rows where these have some; at most a number of them.
    pub fn text(&self, most: usize, number: impl Fn(f64) -> String) -> Vec<String> {
        let row = (self.values.len() / self.rows.len().max(1)).max(1);
        let named = |(at, value): (usize, &f64)| match self.rows.get(at / row) {
            Some(name) if at % row == 0 => format!("{name} {}", number(*value)),
            _ => number(*value),
        };
        let values = self.values.iter().enumerate();
        values.take(most).map(named).collect()
    }
}

#[derive(Default)]
struct Collected {
    path: Vec<String>,
    parameters: Vec<NamedParameter>,
}

impl ModuleVisitor for Collected {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.into());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let (shape, values) = (param.dims().to_vec(), to_vec(param.val()));
        let parameter = NamedParameter::new(self.path.join("."), shape, values);
        self.parameters.push(parameter);
    }
}
