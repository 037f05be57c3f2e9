use std::collections::BTreeMap;

use burn::tensor::{TensorData, activation::log_softmax};

use super::{common::*, ensemble::log_sum, file, *};

/// A map as a part of a mixture.
trait Part {
    fn apply(&self, logits: Tensor<2>) -> Tensor<2>;
    fn check(&self) -> Result<(), String>;
    fn width(&self) -> Option<usize>;
}

impl<F: Apply<Tensor<2>>> Part for F {
    fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        Apply::apply(self, logits)
    }

    fn check(&self) -> Result<(), String> {
        Form::check(self)
    }

    fn width(&self) -> Option<usize> {
        Form::width(self)
    }
}

macro_rules! mixed {
    ($($name:ident: $config:ty),* $(,)?) => {
        /// The parameters of a [`MapMixture`]: those of each map, any of a map that is no part, and the
        /// weights.
        #[derive(Module, Debug)]
        pub struct Mixed {
            /// One for each map, 0 if it is no part.
            weights: Parameter<1>,
            $($name: <$config as LogitFit>::Form,)*
        }

        /// The short names of the maps.
        const NAMES: &[&str] = &[$(<$config as LogitFit>::NAME),*];

        impl Mixed {
            fn fields() -> Vec<&'static str> {
                vec![$(stringify!($name)),*]
            }

            fn parts(&self) -> Vec<&dyn Part> {
                vec![$(&self.$name),*]
            }

            fn identity(device: &Device) -> Self {
                Self {
                    weights: Parameter::new(vec![0.0; NAMES.len()], [NAMES.len()], device),
                    $($name: Form::template(device),)*
                }
            }
        }
    };
}

mixed! {
    temperature: TemperatureScalingConfig,
    ensemble_temperature: EnsembleTemperatureScalingConfig,
    platt: PlattScalingConfig,
    beta: BetaCalibrationConfig,
    quadratic: QuadraticScalingConfig,
    structured_vector: StructuredVectorScalingConfig,
    diagonal: DiagonalScalingConfig,
    structured_matrix: StructuredMatrixScalingConfig,
    matrix: MatrixScalingConfig,
    order_invariant: OrderInvariantConfig,
    venn_abers: VennAbersConfig,
}

/// A mixture of maps: `p' = Σ_k w_k p_k` with the probabilities `p_k` after each map and weights on the simplex;
/// the new logits are `log p'` (a linear opinion pool; of weights that a cross-validation chose, stacking:
/// Wolpert 1992, Breiman 1996).
///
/// Its log loss is at most that of any part plus `−log w_k`, on each prediction: where one map goes far
/// wrong, beyond the data that it was fitted to, the others bound the loss.
///
/// Promises to keep nothing: the most likely class is that of all parts only if they agree.
/// [`AutoRecalibrationConfig`] makes it.
pub type MapMixture = Fitted<Mixed>;

impl MapMixture {
    /// Gives the weights of the maps that are parts, by their short names.
    pub fn weights(&self) -> Vec<(&'static str, f64)> {
        let weights = self.form.weights.to_vec();
        let named = NAMES.iter().copied().zip(weights);
        named.filter(|(_, weight)| *weight > 0.0).collect()
    }

    /// Tells whether a map of this short name can be a part.
    #[cfg(test)]
    pub(super) fn has(name: &str) -> bool {
        NAMES.contains(&name)
    }

    /// Mixes maps of the given short names, with weights that sum to 1.
    pub(super) fn of(parts: &[(&str, f64, &dyn Recalibration)], device: &Device) -> Result<Self> {
        let mut weights = vec![0.0; NAMES.len()];
        let mut tensors = BTreeMap::new();
        let mut put = |name: String, parameter: NamedParameter| {
            let data = TensorData::new(parameter.values, parameter.shape);
            tensors.insert(format!("form.{name}"), data);
        };
        for parameter in Self::template(device).named_parameters() {
            put(parameter.name.clone(), parameter);
        }
        for (name, weight, map) in parts {
            let at = NAMES.iter().position(|known| known == name);
            let at = at.expect("a candidate is a possible part");
            weights[at] = *weight;
            for parameter in map.named_parameters() {
                put(
                    format!("{}.{}", Mixed::fields()[at], parameter.name),
                    parameter,
                );
            }
        }
        let (name, shape) = ("weights".to_owned(), vec![NAMES.len()]);
        put(
            name.clone(),
            NamedParameter {
                name,
                shape,
                values: weights,
            },
        );
        let failed = |reason| Error::Unsupported {
            what: format!("the {} failed: {reason}", Mixed::KIND),
            expected: "maps with finite parameters",
        };
        file::restore(file::Parts::new(tensors, device)).map_err(failed)
    }
}

impl Mixed {
    /// The parts with their weights.
    fn weighted(&self) -> impl Iterator<Item = (f64, &dyn Part)> {
        let weights = self.weights.to_vec().into_iter();
        weights
            .zip(self.parts())
            .filter(|(weight, _)| *weight > 0.0)
    }
}

impl Form for Mixed {
    const KIND: &'static str = "mixture of maps";

    fn template(device: &Device) -> Self {
        let mut weights = vec![0.0; NAMES.len()];
        weights[0] = 1.0;
        Self {
            weights: Parameter::new(weights, [NAMES.len()], device),
            ..Self::identity(device)
        }
    }

    fn check(&self) -> Result<(), String> {
        self.weights.check_shape("weights", [NAMES.len()])?;
        let weights = self.weights.to_vec();
        let sum: f64 = weights.iter().sum();
        let are_weights = weights.iter().all(|weight| *weight >= 0.0);
        if !(are_weights && (1.0 - 1e-5..=1.0 + 1e-5).contains(&sum)) {
            return Err(format!(
                "the weights are {weights:?}, expected numbers of at least 0 with the sum 1"
            ));
        }
        let mut widths = Vec::new();
        for (_, part) in self.weighted() {
            part.check()?;
            widths.extend(part.width());
        }
        widths.dedup();
        match widths.len() {
            0 | 1 => Ok(()),
            _ => Err(format!(
                "the maps are of {widths:?} classes, expected one number"
            )),
        }
    }

    fn width(&self) -> Option<usize> {
        self.weighted().find_map(|(_, part)| part.width())
    }

    fn keeps(&self) -> Guarantees {
        Guarantees::NONE
    }
}

impl Apply<Tensor<2>> for Mixed {
    fn apply(&self, logits: Tensor<2>) -> Tensor<2> {
        expect_classes(&logits, self);
        let term = |(weight, part): (f64, &dyn Part)| {
            log_softmax(part.apply(logits.clone()), 1) + weight.ln()
        };
        log_sum(self.weighted().map(term).collect())
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use burn::tensor::{DType, activation::softmax};

    use super::*;

    fn matrix(device: &Device) -> MatrixScaling {
        let weight = vec![1.0, 0.5, 0.0, -0.2, 0.8, 0.0, 0.0, 0.1, 1.2];
        MatrixScaling::from_parameters(weight, vec![0.3, 0.0, -0.1], device).unwrap()
    }

    fn mixture(device: &Device) -> MapMixture {
        let cool = TemperatureScaling::from_temperature(2.0, device).unwrap();
        let parts: [(_, _, &dyn Recalibration); 2] = [
            ("matrix", 0.75, &matrix(device)),
            ("temperature", 0.25, &cool),
        ];
        MapMixture::of(&parts, device).unwrap()
    }

    /// The mean of the probabilities, also where one of them is 0 but for the other, in f64 and f32.
    #[test]
    fn by_the_definition() {
        let device = Device::flex();
        let map = mixture(&device);
        assert_eq!(map.weights(), [("temperature", 0.25), ("matrix", 0.75)]);
        assert_eq!((map.width(), map.guarantees()), (Some(3), Guarantees::NONE));
        for (dtype, tolerance) in [(DType::F64, 1e-14), (DType::F32, 1e-6)] {
            for scale in [1e-6, 1.0, 1e3, 1e6] {
                let rows = [[1.0, -2.0, 0.5], [0.0, 0.0, 0.0], [-3.0, 1.0, 1.0]];
                let z = Tensor::<2>::from_data(rows, (&device, dtype)) * scale;
                let out = map.forward(z.clone());
                assert_eq!(out.dtype(), dtype);
                assert!(to_vec(out.clone()).iter().all(|z| z.is_finite()));
                let expected = softmax(matrix(&device).forward(z.clone()), 1) * 0.75
                    + softmax(z / 2.0, 1) * 0.25;
                let pairs = to_vec(out.exp()).into_iter().zip(to_vec(expected));
                pairs.for_each(|(p, q)| assert_relative_eq!(p, q, epsilon = tolerance));
            }
        }
    }

    /// A record and a file restore it, whatever the map before.
    #[test]
    fn saved_and_loaded() {
        let device = Device::flex();
        let map = mixture(&device);
        let path = std::env::temp_dir().join(format!("mixture-{}.map", std::process::id()));
        map.save(&path).unwrap();
        let [loaded, any] = [
            Box::new(MapMixture::load(&path, &device).unwrap()) as Box<dyn Recalibration>,
            load_map(&path, &device).unwrap(),
        ];
        std::fs::remove_file(path).unwrap();
        let restored = MapMixture::template(&device).load_record(map.clone().into_record());
        let z = Tensor::<2>::from_data([[1.0, -2.0, 0.5]], (&device, DType::F64));
        let out = to_vec(map.forward(z.clone()));
        for other in [loaded.as_ref(), any.as_ref(), &restored] {
            assert_eq!(other.kind(), "mixture of maps");
            assert_eq!(to_vec(other.forward(z.clone())), out);
        }
        let same = MapMixture::template(&device).forward(z.clone());
        let pairs = to_vec(softmax(same, 1))
            .into_iter()
            .zip(to_vec(softmax(z, 1)));
        pairs.for_each(|(p, q)| assert_relative_eq!(p, q, epsilon = 1e-15));
    }

    #[test]
    fn maps_that_do_not_fit_together() {
        let device = Device::flex();
        let config = DiagonalScalingConfig::new();
        let z = Tensor::<2>::from_data([[1.0, 0.0], [0.0, 3.0], [2.0, 0.0]], (&device, DType::F64));
        let labels = Tensor::<1, Int>::from_data([0, 1, 1], &device);
        let of_two = StructuredVectorScalingConfig::new()
            .fit(z.clone(), labels.clone())
            .unwrap();
        let diagonal = config.fit(z, labels).unwrap(); // of any number of classes
        let with = |map: &dyn Recalibration, name, weight| {
            let parts: [(_, _, &dyn Recalibration); 2] =
                [("matrix", 0.5, &matrix(&device)), (name, weight, map)];
            MapMixture::of(&parts, &device).map_err(|e| e.to_string())
        };
        assert!(with(&diagonal, "diagonal", 0.5).is_ok());
        let error = with(&of_two, "structured-vector", 0.5).unwrap_err();
        assert!(error.contains("[2, 3] classes"), "{error}");
        let error = with(&diagonal, "diagonal", 0.4).unwrap_err();
        assert!(error.contains("the sum 1"), "{error}");
    }
}
