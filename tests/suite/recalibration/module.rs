//! Fitted maps as parts of a model: they are not trained unless asked, and a record restores them.

use std::path::Path;

use burn::{
    module::{Module, ModuleDisplay, ModuleMapper, Param},
    nn::{Linear, LinearConfig},
    optim::{AdamConfig, GradientsParams},
    store::ModuleRecord,
};
use burn_calibration::error::Result;

use super::{distributions::matrix, files::Temporary, logits::overconfident};
use crate::prelude::*;

/// A model that contains its map.
#[derive(Module, Debug)]
struct Model<M: Module + ModuleDisplay> {
    linear: Linear,
    map: M,
}

impl<M: Module + ModuleDisplay> Model<M> {
    fn new(map: M, device: &Device) -> Self {
        let linear = LinearConfig::new(4, 4).init(device);
        Self { linear, map }
    }
}

impl<M: Module + ModuleDisplay + Recalibration> Model<M> {
    /// After one step of Adam on a batch.
    fn stepped(self, rows: &Tensor<2>, labels: &Tensor<1, Int>) -> Self {
        let device = self.linear.weight.device();
        let rows = Tensor::from_data(rows.to_data(), &device);
        let labels = Tensor::from_data(labels.to_data(), &device);
        let logits = self.map.forward(self.linear.forward(rows));
        let loss = ScoreLoss::new(LogScore).forward(logits, labels);
        let gradients = GradientsParams::from_grads(loss.backward(), &self);
        AdamConfig::new().init().step(0.1, self, gradients)
    }
}

fn numbers(linear: &Linear) -> Vec<f64> {
    vector(linear.weight.val())
}

/// On a device that records gradients from the start, after `train`, after a fork, and restored from a
/// record; another is trained when it is asked to be.
#[test]
fn a_map_in_a_model_is_frozen_until_it_is_unfrozen() {
    let (rows, classes) = overconfident(60, 301);
    let (rows, labels) = (tensor(&rows), labels(&classes));
    let recording = device().autodiff();
    let map = || temperature_map(1.5);
    let plain = Model::new(map(), &device());
    let record = || plain.clone().into_record();
    let again = plain.clone().unfreeze().train().freeze().train();
    let models = [
        Model::new(map(), &recording),
        plain.clone().train(),
        plain.clone().train().fork(&recording),
        Model::new(map(), &device()).load_record(record()).train(),
        plain.clone().train().load_record(record()),
        plain.clone().train().valid().train(),
        again.no_grad_of_map(),
    ];
    for (at, model) in models.into_iter().enumerate() {
        let before = (numbers(&model.linear), model.map.temperature());
        let after = model.stepped(&rows, &labels);
        assert_eq!(after.map.temperature(), before.1, "{at}");
        assert_ne!(numbers(&after.linear), before.0, "{at}");
    }
    let thawed = || Model::new(map().unfreeze(), &device());
    for model in [thawed().train(), thawed().load_record(record()).train()] {
        let after = model.stepped(&rows, &labels);
        assert!((after.map.temperature() - 1.5).abs() > 1e-3);
    }
}

impl<M: Module + ModuleDisplay> Model<M> {
    /// The linear layer is trained again, the map is not.
    fn no_grad_of_map(self) -> Self {
        Self {
            linear: self.linear.unfreeze(),
            map: self.map,
        }
    }
}

/// Puts zeros in the place of all parameters.
struct Zeros;

impl ModuleMapper for Zeros {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|tensor| tensor.zeros_like())
    }
}

/// Every kind in a model. Trained by Adam, its output for given logits does not move. A record in memory, as
/// bytes and in a file restores it into a model of the same shapes.
#[test]
fn every_map_stays_as_it_was_fitted_and_restored() {
    fn check<C: Fit<Map = M>, M: Module + ModuleDisplay + Recalibration>(
        name: &str,
        config: C,
        _: impl Fn(&Path) -> Result<M>,
    ) {
        let (rows, classes) = overconfident(120, 303);
        let (rows, labels) = (tensor(&rows), labels(&classes));
        let map = config.fit_to(&rows, &labels);
        let expected = vector(map.forward(rows.clone()));
        let model = Model::new(map, &device());
        if name != "Venn-Abers" {
            // whose table passes no gradient on
            let trained = model.clone().train().stepped(&rows, &labels).valid();
            let output = vector(trained.map.forward(rows.clone()));
            assert_eq!(output, expected, "{name}");
        }

        let template = model.clone().map(&mut Zeros);
        let record = || model.clone().into_record();
        let bytes = record().into_bytes().unwrap();
        let file = Temporary::new("model.bpk");
        model.clone().save_file(&file.0).unwrap();
        for loaded in [
            template.clone().load_record(record()),
            template
                .clone()
                .load_record(ModuleRecord::from_bytes(bytes).unwrap()),
            template.try_load_file(&file.0).unwrap(),
        ] {
            assert_eq!(vector(loaded.map.forward(rows.clone())), expected, "{name}");
            assert_eq!(numbers(&loaded.linear), numbers(&model.linear));
        }
    }
    each_map!(check);
}

/// A template of as many classes has the shapes of each map whose shapes do not depend on the data.
#[test]
fn a_record_fits_a_template_of_as_many_classes() {
    let (rows, classes) = overconfident(60, 305);
    let (rows, labels) = (tensor(&rows), labels(&classes));
    let width = rows.dims()[1];
    macro_rules! check {
        ($($kind:ident: $map:ident;)*) => {$(
            let fitted = MapKind::$kind.config(0).fit(rows.clone(), labels.clone());
            let LogitMap::$kind(map) = fitted.unwrap() else { unreachable!() };
            let expected = vector(map.forward(rows.clone()));
            let loaded = $map::template(width, &device()).load_record(map.into_record());
            assert_eq!(vector(loaded.forward(rows.clone())), expected, stringify!($map));
        )*};
    }
    check! {
        Temperature: TemperatureScaling;
        Shift: LogitShift;
        Ensemble: EnsembleTemperatureScaling;
        OrderPreserving: OrderPreserving;
        OrderInvariant: OrderInvariant;
        Vector: VectorScaling;
        Matrix: MatrixScaling;
        Dirichlet: DirichletCalibration;
        StructuredVector: StructuredVectorScaling;
        StructuredMatrix: StructuredMatrixScaling;
        Platt: PlattScaling;
        Beta: BetaCalibration;
        Quadratic: QuadraticScaling;
    }
}

/// The maps of distributions as well.
#[test]
fn a_record_restores_a_map_of_distributions() {
    let p = Normal::new(matrix(&[0.0; 6], 2), matrix(&[1.0; 6], 2));
    let y = matrix(&[1.0, -2.0, 0.5, 0.1, -0.3, 3.0], 2);
    let map = QuantileRecalibrationConfig::new().fit_to(&p, &y);
    let model = Model::new(map, &device());
    let template = model.clone().map(&mut Zeros);
    let loaded = template.load_record(model.clone().into_record());
    assert_eq!(loaded.map.knots(), model.map.knots());
    let levels = |map: &QuantileRecalibration| vector(map.forward(p.clone()).cdf(&y));
    assert_eq!(levels(&loaded.map), levels(&model.map));
    let map = VarianceScalingConfig::new().fit(p, y).unwrap();
    let model = Model::new(map, &device());
    let count = model.map.factors().len();
    let template = Model::new(VarianceScaling::template(count, &device()), &device());
    let loaded = template.train().load_record(model.clone().into_record());
    assert_eq!(loaded.map.factors(), model.map.factors());
    // a template that changes nothing
    let p = Normal::new(column([0.5]), column([2.0]));
    let same = VarianceScaling::template(1, &device()).forward(p.clone());
    assert_eq!(vector(same.standard_deviation()), [2.0]);
    let same = QuantileRecalibration::template(1, &device()).forward(p.clone());
    let at = column([1.0]);
    assert_eq!(vector(same.cdf(&at)), vector(p.cdf(&at)));
}

/// Templates of maps of logits give the predictions as they came, where a map can.
#[test]
fn templates_change_nothing_where_they_can() {
    let rows = tensor(&[[1.0, -0.5], [0.2, 0.9]]);
    let same = |map: &dyn Recalibration| {
        let output = vector(map.forward(rows.clone()));
        for (row, expected) in output.chunks(2).zip([[1.0, -0.5], [0.2, 0.9]]) {
            let (row, expected) = (softmax(row), softmax(&expected));
            assert!((row[0] - expected[0]).abs() < 1e-12, "{map:?}");
        }
    };
    let d = &device();
    same(&TemperatureScaling::template(2, d));
    same(&DiagonalScaling::template(2, d));
    same(&OrderPreserving::template(2, d));
    same(&OrderInvariant::template(2, d));
    same(&VectorScaling::template(2, d));
    same(&MatrixScaling::template(2, d));
    same(&DirichletCalibration::template(2, d));
    same(&PlattScaling::template(2, d));
    same(&BetaCalibration::template(2, d));
}

/// Several threads write one file: at each moment it is one of their maps.
#[test]
fn threads_that_save_the_same_file() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("saved by threads.map");
    let map = |t: f64| temperature_map(t);
    map(1.0).save(&path).unwrap();
    std::thread::scope(|scope| {
        for t in 1..=4 {
            let (path, map) = (&path, map(f64::from(t)));
            scope.spawn(move || (0..50).for_each(|_| map.save(path).unwrap()));
        }
        for _ in 0..100 {
            let loaded = TemperatureScaling::load(&path, &device()).unwrap();
            let t = loaded.temperature();
            assert!([1.0, 2.0, 3.0, 4.0].contains(&t), "{t}");
        }
    });
    std::fs::remove_file(&path).unwrap();
    let folder = path.parent().unwrap();
    let left = std::fs::read_dir(folder).unwrap().flatten();
    let is_left =
        |file: &std::fs::DirEntry| file.path().to_string_lossy().contains("saved by threads");
    assert_eq!(left.filter(is_left).count(), 0);
}
