use burn_calibration_testing::dirichlet_model::DirichletModel;

/// Classes of every model.
const CLASSES: usize = 10;

/// A model whose predictions are simulated, and labels with them.
pub struct Model {
    pub name: &'static str,
    pub calibrated: bool,
    pub generator: DirichletModel,
}

/// Section 7 of the paper: predictions from `Dir(0.1, …, 0.1)`, most of them sure of a class or two.
pub fn all() -> [Model; 3] {
    let uniform = vec![1.0 / CLASSES as f64; CLASSES];
    let mut first = vec![0.0; CLASSES];
    first[0] = 1.0;
    // Labels ignore the prediction with probability π, and then come from β.
    let model = |name, pi, beta| -> Model {
        Model {
            name,
            calibrated: pi == 0.0,
            generator: DirichletModel::new(vec![0.1; CLASSES], pi, beta),
        }
    };
    [
        model("M1", 0.0, uniform.clone()),
        model("M2", 0.5, first),
        model("M3", 1.0, uniform),
    ]
}
