//! The maps of this library as types: a module of parameters beside the record of the fit.

use burn::{
    module::{Module, ModuleDisplay},
    tensor::Tensor,
};

use super::{FitWarning, FittedMap, Guarantees, map::check_parameters};
use crate::{
    error::{Error, Result},
    numbers::counted,
};

/// The parameters of a map: all that tells one map of a kind from another.
pub trait Form: Module + ModuleDisplay {
    /// Returns what is wrong with parameters that were loaded, all of which are finite.
    fn check(&self) -> Result<(), String>;

    /// The number of classes or coordinates; none if any.
    fn width(&self) -> Option<usize> {
        None
    }

    /// The guarantees of the map; none by default.
    fn keeps(&self) -> Guarantees {
        Guarantees::NONE
    }

    /// The names of the rows of a parameter in the documentation; none by default.
    fn row_names(&self, _parameter: &str) -> &'static [&'static str] {
        &[]
    }
}

/// Declares a fitted map by its name, its parameters, its kind in words, and a function that makes the parameters of a
/// template; `logits` after it implements [`Recalibration`](super::Recalibration) by `apply` of the parameters.
macro_rules! fitted_map {
    (
        $(#[$doc:meta])*
        $Map:ident: $Form:ident$(<$rank:literal>)?, $kind:literal, $template:expr $(, $logits:ident)?
    ) => {
        $(#[$doc])*
        ///
        /// It is a Burn module and can be a part of a model. Its parameters are frozen: they are saved and loaded with
        /// the model, but not trained until [`Module::unfreeze`](burn::module::Module::unfreeze). A record restores
        /// parameters of the same shapes, such as those of a [`template`](Self::template) of as many classes.
        #[derive(burn::module::Module, Debug)]
        pub struct $Map {
            pub(in crate::recalibration) form: $Form$(<$rank>)?,
            #[module(skip)]
            pub(in crate::recalibration) fit: $crate::recalibration::FitRecord,
        }

        impl $Map {
            /// The kind of the map, as a saved file names it.
            pub const KIND: &'static str = $kind;

            /// Makes an unfitted map of a number of classes, coordinates or levels, to be replaced by a record or a fit.
            /// It is the identity if the kind of map allows it. A number of hidden units is that of the default
            /// configuration.
            pub fn template(width: usize, device: &burn::tensor::Device) -> Self {
                let template: fn(usize, &burn::tensor::Device) -> $Form$(<$rank>)? = $template;
                Self::new(template(width, device), None)
            }

            /// Makes a map of the parameters that
            /// [`named_parameters`](crate::recalibration::FittedMap::named_parameters) returns, of any shapes that the
            /// kind has.
            ///
            /// # Errors
            ///
            /// A parameter that is missing, one that the kind does not have, or values that no such map has.
            pub fn from_named_parameters(
                parameters: Vec<$crate::recalibration::NamedParameter>,
                device: &burn::tensor::Device,
            ) -> $crate::error::Result<Self> {
                let saved = $crate::recalibration::SavedMap::new(parameters, device);
                $crate::recalibration::fitted::accepted(Self::restore(saved), Self::KIND)
            }

            /// Loads a map that [`save`](crate::recalibration::FittedMap::save) wrote; see
            /// [`load_map`](crate::recalibration::load_map) for files of any kind.
            ///
            /// # Errors
            ///
            /// [`Error::File`](crate::error::Error::File) if the file cannot be read, is not a saved map, was changed or
            /// truncated, holds another kind of map, or parameters that no such map has.
            pub fn load(
                path: impl AsRef<std::path::Path>,
                device: &burn::tensor::Device,
            ) -> $crate::error::Result<Self> {
                $crate::recalibration::SavedMap::load(path.as_ref(), Self::KIND, device, Self::restore)
            }

            /// Loads a map from the bytes of a file, see
            /// [`to_bytes`](crate::recalibration::FittedMap::to_bytes).
            ///
            /// # Errors
            ///
            /// As [`load`](Self::load).
            pub fn from_bytes(
                bytes: Vec<u8>,
                device: &burn::tensor::Device,
            ) -> $crate::error::Result<Self> {
                $crate::recalibration::SavedMap::from_bytes(bytes, Self::KIND, device, Self::restore)
            }

            pub(in crate::recalibration) fn new(
                form: $Form$(<$rank>)?,
                report: impl Into<Option<$crate::recalibration::FitReport>>,
            ) -> Self {
                let fit = report.into().map($crate::recalibration::FitRecord::from);
                Self {
                    form,
                    fit: fit.unwrap_or_default(),
                }
            }

            /// A map of saved parameters, or what is wrong with them.
            pub(in crate::recalibration) fn restore(
                saved: $crate::recalibration::SavedMap,
            ) -> std::result::Result<Self, String> {
                let mut map = Self::template(2, saved.device());
                (map.form, map.fit) = saved.fill(map.form)?;
                $crate::recalibration::map::check_parameters(&map).map(|()| map)
            }
        }

        impl $crate::recalibration::FittedMap for $Map {
            fn kind(&self) -> &'static str {
                Self::KIND
            }

            fn width(&self) -> Option<usize> {
                $crate::recalibration::fitted::Form::width(&self.form)
            }

            fn guarantees(&self) -> $crate::recalibration::Guarantees {
                $crate::recalibration::fitted::Form::keeps(&self.form)
            }

            fn named_parameters(&self) -> Vec<$crate::recalibration::NamedParameter> {
                let mut parameters = $crate::recalibration::NamedParameter::all(&self.form);
                for parameter in &mut parameters {
                    let form = &self.form;
                    parameter.rows =
                        $crate::recalibration::fitted::Form::row_names(form, &parameter.name);
                }
                parameters
            }

            fn fit_record(&self) -> &$crate::recalibration::FitRecord {
                &self.fit
            }

            fn fit_record_mut(&mut self) -> &mut $crate::recalibration::FitRecord {
                &mut self.fit
            }

            fn check(&self) -> std::result::Result<(), String> {
                $crate::recalibration::fitted::Form::check(&self.form)
            }
        }

        $(impl $crate::recalibration::Recalibration for $Map {
            fn forward(&self, $logits: burn::tensor::Tensor<2>) -> burn::tensor::Tensor<2> {
                $crate::recalibration::fitted::expect_classes(&$logits, self);
                self.form.apply($logits)
            }
        })?
    };
}

/// Makes a configuration with fields of its own, a regularisation, the limits of a descent and a seed; and the
/// [`LogitFit`] by a function `fit` of the parameters, whose first arguments are given.
macro_rules! regularised_map {
    (
        $(#[$doc:meta])*
        $config:ident for $map:ident by $form:ident($($fixed:expr),*);
        { $($(#[$own_doc:meta])* $own:ident: $type:ty = $value:tt,)* }
        $(#[$strength:meta])* regularisation = $strength_value:tt,
        tolerance = $tolerance:tt, max_iterations = $iterations:tt
    ) => {
        $(#[$doc])*
        #[derive(burn::config::Config, Debug)]
        #[must_use]
        pub struct $config {
            $($(#[$own_doc])* #[config(default = $value)] pub $own: $type,)*
            $(#[$strength])*
            #[config(default = $strength_value)]
            pub regularisation: $crate::recalibration::Regularisation,
            #[doc = concat!("The largest derivative at which the fit has converged. Default: ", $tolerance, ".")]
            #[config(default = $tolerance)]
            pub tolerance: f64,
            #[doc = concat!("The most iterations. Default: ", $iterations, ".")]
            #[config(default = $iterations)]
            pub max_iterations: usize,
            /// The seed of the folds of a cross-validation, and of the hidden units of a network (ChaCha12). Default: 0.
            #[config(default = 0)]
            pub seed: u64,
        }

        impl $crate::recalibration::LogitFit for $config {
            type Map = $map;

            fn find(
                &self,
                task: &mut $crate::recalibration::FitTask,
            ) -> $crate::error::Result<$map> {
                let settings = $crate::recalibration::family::Settings {
                    regularisation: self.regularisation,
                    limits: $crate::recalibration::descent::Limits::new(self.tolerance, self.max_iterations),
                    seed: self.seed,
                };
                let (form, report) = $form::fit($($fixed,)* $(self.$own,)* settings, task)?;
                Ok($map::new(form, report))
            }
        }
    };
}

pub(super) use {fitted_map, regularised_map};

/// A map of parameters that were given, or an error that says why its kind has no such map.
pub(super) fn accepted<M>(map: Result<M, String>, kind: &str) -> Result<M> {
    map.map_err(|reason| Error::Unsupported {
        what: format!("no {kind} has such parameters: {reason}"),
        expected: "those that its documentation names",
    })
}

/// A map of parameters that were given, if there is one.
pub(super) fn valid_map<M: FittedMap>(map: M) -> Result<M> {
    let checked = check_parameters(&map);
    let kind = map.kind();
    accepted(checked.map(|()| map), kind)
}

/// A map that was fitted, if its parameters and its criterion are numbers.
pub(super) fn checked<M: FittedMap>(map: M) -> Result<M> {
    let objective = map.report().map_or(0.0, |report| report.objective);
    let checked = if objective.is_finite() {
        check_parameters(&map)
    } else {
        Err(format!("the criterion is {objective}"))
    };
    checked.map_err(|reason| Error::Unsupported {
        what: format!("the fit of the {} failed: {reason}", map.kind()),
        expected: "predictions of a moderate size",
    })?;
    Ok(map)
}

/// Adds what there is to know about the data of the fit to its report.
pub(super) fn with_warnings<M: FittedMap>(mut map: M, warnings: Vec<FitWarning>) -> M {
    if let Some(report) = &mut map.fit_record_mut().report {
        report.warnings.extend(warnings);
    }
    map
}

/// Panics unless logits have as many columns as the map has classes.
pub(super) fn expect_classes(logits: &Tensor<2>, map: &dyn FittedMap) {
    let [_, m] = logits.dims();
    let expected = map.width().unwrap_or(m);
    assert!(
        m == expected,
        "the logits have {}, expected {expected}, those of the {}",
        counted(m, "class"),
        map.kind()
    );
}
