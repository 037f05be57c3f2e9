use std::path::Path;

use burn::{
    module::{Module, ModuleDisplay},
    tensor::{Device, Tensor},
};

use super::{
    FitReport, FitWarning, FittedMap, FittedTo, Guarantees, NamedParameter, Recalibration,
    file::{self, SavedMap},
    parameter,
};
use crate::error::{Error, Result};

/// The parameters of a map, which are all that tells one map of a kind from another.
pub trait Form: Module + ModuleDisplay {
    /// The kind, in words.
    const KIND: &'static str;

    /// The names of the rows of parameters in the documentation, by the names of these.
    const ROWS: &'static [(&'static str, &'static [&'static str])] = &[];

    /// Parameters for a number of classes, coordinates or levels: the identity, or near it.
    fn template(width: usize, device: &Device) -> Self;

    /// Returns what is wrong with parameters that were loaded.
    fn check(&self) -> Result<(), String>;

    /// The number of classes or coordinates; none if any.
    fn width(&self) -> Option<usize> {
        None
    }

    /// What the map keeps.
    fn keeps(&self) -> Guarantees;

    /// Returns what is wrong with parameters, each of which has to be finite.
    fn checked(&self) -> Result<(), String> {
        let parameters = parameter::named(self);
        let mut values = parameters.iter().flat_map(|parameter| &parameter.values);
        match values.find(|value| !value.is_finite()) {
            Some(value) => Err(format!("a parameter is {value}")),
            None => self.check(),
        }
    }
}

/// Predictions that a map takes.
pub trait Apply<P, Q = P>: Form {
    /// Recalibrates predictions.
    fn apply(&self, predictions: P) -> Q;
}

/// A fitted map of any kind: its parameters, and the report of its fit.
///
/// It is a Burn module and can be a part of a model. Its parameters are frozen: they are saved and loaded
/// with the model, but not trained until [`Module::unfreeze`]. A record restores parameters of the same shapes, such as
/// those of a [`template`](Self::template) of as many classes. A map whose shapes depend on the data of its fit, with
/// knots or a table, comes from a file of its own, [`load`](Self::load), before the record of the model is loaded.
///
/// ```
/// use burn::{module::Module, nn::{Linear, LinearConfig}, tensor::{Device, Int, Tensor}};
/// use burn_calibration::recalibration::{Fit, Recalibration, VectorScaling, VectorScalingConfig};
///
/// #[derive(Module, Debug)]
/// struct Model {
///     linear: Linear,
///     map: VectorScaling,
/// }
///
/// impl Model {
///     fn new(device: &Device) -> Self {
///         Self {
///             linear: LinearConfig::new(2, 3).init(device),
///             map: VectorScaling::template(3, device),
///         }
///     }
///
///     fn forward(&self, inputs: Tensor<2>) -> Tensor<2> {
///         self.map.forward(self.linear.forward(inputs))
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::default();
/// let mut model = Model::new(&device);
/// let inputs = Tensor::<2>::from_floats([[5.0, 0.0], [0.0, 2.0], [1.0, 1.0]], &device);
/// let labels = Tensor::<1, Int>::from_ints([0, 2, 1], &device);
/// model.map = VectorScalingConfig::new().fit(model.linear.forward(inputs.clone()), labels)?;
/// let record = model.clone().into_record();
///
/// let loaded = Model::new(&device).load_record(record);
/// assert_eq!(loaded.map.weight(), model.map.weight());
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct Fitted<F: Module> {
    pub(super) form: F,
    #[module(skip)]
    pub(super) report: Option<FitReport>,
    #[module(skip)]
    pub(super) fitted_to: FittedTo,
}

impl<F: Form> Fitted<F> {
    /// The kind of the map, in words.
    pub(super) const KIND: &'static str = F::KIND;

    pub(super) fn new(form: F, report: impl Into<Option<FitReport>>) -> Self {
        let report = report.into();
        Self {
            form,
            report,
            fitted_to: FittedTo::default(),
        }
    }

    /// A map that was fitted, if its parameters and its criterion are numbers.
    pub(super) fn checked(form: F, report: FitReport) -> Result<Self> {
        let objective = report.objective;
        let checked = if objective.is_finite() {
            form.checked()
        } else {
            Err(format!("the criterion is {objective}"))
        };
        checked.map_err(|reason| Error::Unsupported {
            what: format!("the fit of the {} failed: {reason}", F::KIND),
            expected: "predictions of a moderate size",
        })?;
        Ok(Self::new(form, report))
    }

    /// A map of given parameters, if there is one.
    pub(super) fn of_parameters(form: F) -> Result<Self> {
        Self::accepted(form.checked().map(|()| form))
    }

    fn accepted(form: Result<F, String>) -> Result<Self> {
        let form = form.map_err(|reason| Error::Unsupported {
            what: format!("no {} has such parameters: {reason}", F::KIND),
            expected: "those that its documentation names",
        })?;
        Ok(Self::new(form, None))
    }

    /// Adds what there is to know about the data of the fit.
    pub(super) fn with_warnings(mut self, warnings: Vec<FitWarning>) -> Self {
        if let Some(report) = &mut self.report {
            report.warnings.extend(warnings);
        }
        self
    }

    /// Makes an unfitted map of a number of classes, coordinates or levels, to be replaced by a record or a fit. It is
    /// the identity if the kind of map allows it. A number of hidden units is that of the default configuration.
    pub fn template(width: usize, device: &Device) -> Self {
        Self::new(F::template(width, device), None)
    }

    /// Makes a map of the parameters that [`named_parameters`](FittedMap::named_parameters) returns, of any shapes that
    /// the kind has.
    ///
    /// # Errors
    ///
    /// A parameter that is missing, one that the kind does not have, or values that no such map has.
    pub fn from_named_parameters(parameters: Vec<NamedParameter>, device: &Device) -> Result<Self> {
        let form = SavedMap::new(parameters, device).into_form();
        Self::accepted(form.map(|(form, ..)| form))
    }

    /// Loads a map that [`save`](FittedMap::save) wrote; see [`load_map`](super::load_map) for files of any
    /// kind.
    ///
    /// # Errors
    ///
    /// [`Error::File`](crate::error::Error::File) if the file cannot be read, is not a saved map, was changed or
    /// truncated, holds another kind of map, or parameters that no such map has.
    pub fn load(path: impl AsRef<Path>, device: &Device) -> Result<Self> {
        let path = path.as_ref();
        Self::restored(path, file::read(path, device))
    }

    /// Loads a map from the bytes of a file, see [`FittedMap::to_bytes`].
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub fn from_bytes(bytes: Vec<u8>, device: &Device) -> Result<Self> {
        Self::restored(Path::new("bytes"), file::parse(bytes, device))
    }

    fn restored(path: &Path, saved: Result<SavedMap, String>) -> Result<Self> {
        let reject = |reason| file::failure(path, format!("not a saved {}: {reason}", F::KIND));
        let saved = saved.map_err(reject)?;
        let kind = saved.own_kind().map_err(reject)?;
        if kind == F::KIND {
            Self::restore(saved).map_err(reject)
        } else {
            Err(reject(format!("the file holds a {kind}")))
        }
    }

    /// The map of saved parameters, or what is wrong with them.
    pub(super) fn restore(saved: SavedMap) -> Result<Self, String> {
        let (form, report, fitted_to) = saved.into_form()?;
        Ok(Self {
            form,
            report,
            fitted_to,
        })
    }
}

impl<F: Form> FittedMap for Fitted<F> {
    fn kind(&self) -> &'static str {
        F::KIND
    }

    fn width(&self) -> Option<usize> {
        self.form.width()
    }

    fn guarantees(&self) -> Guarantees {
        self.form.keeps()
    }

    fn report(&self) -> Option<&FitReport> {
        self.report.as_ref()
    }

    fn fitted_to(&self) -> &FittedTo {
        &self.fitted_to
    }

    fn set_fitted_to(&mut self, to: FittedTo) {
        self.fitted_to = to;
    }

    fn named_parameters(&self) -> Vec<NamedParameter> {
        let mut parameters = parameter::named(&self.form);
        for parameter in &mut parameters {
            let named = F::ROWS.iter().find(|(name, _)| *name == parameter.name);
            parameter.rows = named.map_or(&[], |(_, rows)| rows);
        }
        parameters
    }
}

impl<F: Apply<P, Q>, P, Q> Recalibration<P, Q> for Fitted<F> {
    fn forward(&self, predictions: P) -> Q {
        self.form.apply(predictions)
    }
}

/// Panics unless logits have as many columns as the map has classes.
pub(super) fn expect_classes<F: Form>(logits: &Tensor<2>, form: &F) {
    let ([_, m], expected) = (logits.dims(), form.width());
    let expected = expected.unwrap_or(m);
    assert!(
        m == expected,
        "the logits have {m} classes, expected {expected}, those of the {}",
        F::KIND
    );
}
