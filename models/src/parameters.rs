use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::Tensor,
};

/// Number of trainable parameters: weights, biases, scales and shifts of normalisations.
///
/// Running means and variances are not trained and not counted
/// ([`num_params`](Module::num_params) counts them). Nothing is initialised for it.
pub fn parameter_count<M: Module>(module: &M) -> usize {
    let mut counter = Counter::default();
    module.visit(&mut counter);
    counter.count
}

#[derive(Default)]
struct Counter {
    path: Vec<String>,
    count: usize,
}

impl ModuleVisitor for Counter {
    fn enter_module(&mut self, name: &str, _container_type: &str) {
        self.path.push(name.to_string());
    }

    fn exit_module(&mut self, _name: &str, _container_type: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let running = |name: &String| name == "running_mean" || name == "running_var";
        if !self.path.last().is_some_and(running) {
            self.count += param.lazy_shape().num_elements();
        }
    }
}
