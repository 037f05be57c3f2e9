//! The parameters of fitted maps, as parts of a Burn module.

use burn::{
    module::{
        Content, Devices, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor,
        Param, ParamId,
    },
    tensor::{DType, Device, Int, Tensor, TensorData},
};

use crate::host::{finest, to_vec};

/// A parameter of a fitted map.
///
/// It is frozen until [`Module::unfreeze`]: an optimiser does not change it, even after `train`. A record
/// restores it in the shape that was saved, whatever its shape here: the shape is saved beside the numbers
/// and read first.
#[derive(Debug, Clone)]
pub struct Parameter<const D: usize> {
    values: Param<Tensor<D>>,
    shape: ParamId,
}

impl<const D: usize> Parameter<D> {
    /// A parameter in f64 where the device computes in it.
    pub fn new(values: Vec<f64>, shape: [usize; D], device: &Device) -> Self {
        let device = device.clone().without_autodiff();
        let data = TensorData::new(values, shape);
        Self::from(Tensor::from_data(data, (&device, finest(&device))))
    }

    pub fn val(&self) -> Tensor<D> {
        self.values.val()
    }

    /// The values in the dtype of logits or parameters.
    pub fn cast(&self, dtype: DType) -> Tensor<D> {
        self.values.val().cast(dtype)
    }

    pub fn dims(&self) -> [usize; D] {
        self.values.dims()
    }

    pub fn to_vec(&self) -> Vec<f64> {
        to_vec(self.values.val())
    }

    /// Returns what is wrong with the shape of a parameter that was loaded.
    pub fn check_shape(&self, name: &str, expected: [usize; D]) -> Result<(), String> {
        let dims = self.dims();
        if dims == expected {
            Ok(())
        } else {
            Err(format!(
                "{name} has the shape {dims:?}, expected {expected:?}"
            ))
        }
    }

    /// The shape as a parameter that is made when a record looks at it.
    fn shape(&self) -> Param<Tensor<1, Int>> {
        let dims = self.dims().map(|length| length as i32);
        let tensor = move |device: &Device, _| Tensor::from_data(dims, (device, DType::I32));
        let device = self.values.lazy_device().without_autodiff();
        Param::uninitialized(self.shape, tensor, device, false, [D].into())
    }

    /// Numbers of another shape, which a record is about to replace.
    fn reshaped(self, shape: [usize; D]) -> Param<Tensor<D>> {
        self.values.map(|tensor| {
            let options = (&tensor.device(), tensor.dtype());
            Tensor::<D>::zeros([1; D], options).expand(shape) // takes no memory
        })
    }
}

impl<const D: usize> From<Tensor<D>> for Parameter<D> {
    fn from(values: Tensor<D>) -> Self {
        Self {
            values: Param::from_tensor(values).set_require_grad(false),
            shape: ParamId::new(),
        }
    }
}

impl<const D: usize> Module for Parameter<D> {
    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        visitor.enter_module("shape", "Parameter");
        visitor.visit_int(&self.shape());
        visitor.exit_module("shape", "Parameter");
        self.values.visit(visitor);
    }

    fn map<M: ModuleMapper>(mut self, mapper: &mut M) -> Self {
        mapper.enter_module("shape", "Parameter");
        let shape = mapper.map_int(self.shape());
        mapper.exit_module("shape", "Parameter");
        self.shape = shape.id;
        // an optimiser passes the shape by, a record puts its own in place
        if shape.is_initialized() {
            let saved = shape.val().try_into_vec_as::<i64>().unwrap_or_default();
            let saved: Vec<usize> = saved.iter().flat_map(|&length| length.try_into()).collect();
            if let Ok(saved) = <[usize; D]>::try_from(saved)
                && saved != self.dims()
            {
                self.values = self.clone().reshaped(saved);
            }
        }
        self.values = Module::map(self.values, mapper);
        self
    }

    fn collect_devices(&self, devices: Devices) -> Devices {
        self.values.collect_devices(devices)
    }

    fn fork(mut self, device: &Device) -> Self {
        self.values = self.values.fork(device);
        self
    }

    fn to_device(mut self, device: &Device) -> Self {
        self.values = Module::to_device(self.values, device);
        self
    }

    fn valid(&self) -> Self {
        Self {
            values: self.values.valid(),
            shape: self.shape,
        }
    }

    fn train(mut self) -> Self {
        self.values = self.values.train();
        self
    }

    fn materialize(self) -> Self {
        self
    }
}

impl Parameter<1> {
    /// Numbers in a row.
    pub fn row(values: Vec<f64>, device: &Device) -> Self {
        let shape = [values.len()];
        Self::new(values, shape, device)
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
    /// Numbers in a row.
    pub(super) fn row(name: String, values: &[f64]) -> Self {
        Self {
            name,
            shape: vec![values.len()],
            values: values.to_vec(),
            rows: &[],
        }
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

/// The parameters of a module by their names.
pub(super) fn named(module: &impl Module) -> Vec<NamedParameter> {
    let mut collected = Collected::default();
    module.visit(&mut collected);
    collected.parameters
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
        self.parameters.push(NamedParameter {
            name: self.path.join("."),
            shape: param.dims().to_vec(),
            values: to_vec(param.val()),
            rows: &[],
        });
    }
}

impl<const D: usize> std::fmt::Display for Parameter<D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.values.fmt(f)
    }
}

impl<const D: usize> ModuleDisplayDefault for Parameter<D> {
    fn content(&self, content: Content) -> Option<Content> {
        self.values.content(content)
    }
}

impl<const D: usize> ModuleDisplay for Parameter<D> {}
