use std::{fmt, path::Path};

use burn::tensor::Tensor;

use super::{FitRecord, FitReport, FitWarning, FittedTo, NamedParameter, file};

/// The properties of predictions that a fitted map keeps.
///
/// ```
/// use burn::tensor::Device;
/// use burn_calibration::recalibration::{FittedMap, PlattScaling, TemperatureScaling};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// let device = Device::default();
/// let kept = TemperatureScaling::from_temperature(2.0, &device)?.guarantees();
/// assert_eq!(kept.to_string(), "keeps the accuracy, the order of the classes, the means, all information");
/// let kept = PlattScaling::from_parameters(&[[1.2, -0.3]], &device)?.guarantees();
/// assert_eq!(kept.to_string(), "keeps all information");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
#[must_use]
pub struct Guarantees {
    /// Whether the order of the classes of a row never changes: a class above another stays above
    /// it, up to rounding, and ties stay ties. It implies the same accuracy, top-k accuracy included.
    pub keeps_order: bool,
    /// Whether the most likely class of a row never changes, hence the accuracy.
    pub keeps_accuracy: bool,
    /// Whether different predictions stay different, whatever their logits: no information is lost,
    /// so that a difference of proper scores is the difference of the calibration errors (Gruber and
    /// Buettner 2022, Proposition 4.4). False where it is not proved.
    ///
    /// A prediction has many logits: adding a number to a row does not change it. A map that acts on
    /// each logit can therefore take different predictions to the same one, though it is injective as a
    /// map of logits.
    pub injective: bool,
    /// Whether it is injective where the logits are log-probabilities, `log softmax(z)`, of which each
    /// prediction has one row: in the fit, and wherever the map is used.
    pub injective_on_log_probabilities: bool,
    /// Whether the means of predictive distributions over real vectors never change; false for maps of
    /// logits alone.
    pub keeps_mean: bool,
}

impl Guarantees {
    /// Keeps the order, the accuracy and all information.
    pub(super) const ALL: Self = Self {
        keeps_order: true,
        keeps_accuracy: true,
        injective: true,
        injective_on_log_probabilities: true,
        keeps_mean: false,
    };

    /// Keeps nothing for certain. The guarantees of a map of your own start from here, field by field.
    pub const NONE: Self = Self::decision(false, false);

    /// Keeps the decision of two classes, hence their order, and is injective.
    pub(super) const fn decision(keeps: bool, injective: bool) -> Self {
        Self {
            keeps_order: keeps,
            keeps_accuracy: keeps,
            injective,
            injective_on_log_probabilities: injective,
            keeps_mean: false,
        }
    }
}

/// A property of predictions that a map is asked to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Keep {
    /// The most likely class of each row, hence the accuracy.
    Accuracy,
    /// The order of the classes of each row.
    Order,
    /// All information, whatever the logits: different predictions stay different.
    Information,
    /// All information, where the logits are log-probabilities in the fit and wherever the map is used.
    InformationOfLogProbabilities,
    /// The means of predictive distributions.
    Mean,
}

impl Guarantees {
    /// Returns whether a property is kept.
    pub fn keeps(&self, what: Keep) -> bool {
        match what {
            Keep::Accuracy => self.keeps_accuracy,
            Keep::Order => self.keeps_order,
            Keep::Information => self.injective,
            Keep::InformationOfLogProbabilities => self.injective_on_log_probabilities,
            Keep::Mean => self.keeps_mean,
        }
    }
}

/// "keeps the accuracy, the order of the classes, all information", or "keeps nothing for certain".
impl fmt::Display for Guarantees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let information = if self.injective {
            Keep::Information
        } else {
            Keep::InformationOfLogProbabilities
        };
        let kept: Vec<String> = [Keep::Accuracy, Keep::Order, Keep::Mean, information]
            .into_iter()
            .filter(|&what| self.keeps(what))
            .map(|what| what.to_string())
            .collect();
        match kept.as_slice() {
            [] => f.write_str("keeps nothing for certain"),
            kept => write!(f, "keeps {}", kept.join(", ")),
        }
    }
}

impl fmt::Display for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Accuracy => "the accuracy",
            Self::Order => "the order of the classes",
            Self::Information => "all information",
            Self::InformationOfLogProbabilities => "all information of log-probabilities",
            Self::Mean => "the means",
        })
    }
}

/// A fitted map for any predictions: its kind, its parameters, its guarantees and the record of its fit.
pub trait FittedMap: fmt::Debug + Send {
    /// Names the kind of the map, as in a saved file: "temperature scaling".
    fn kind(&self) -> &'static str;

    /// Returns the number of classes or coordinates that the map was fitted to; none if it takes any.
    fn width(&self) -> Option<usize>;

    /// Returns what the map keeps.
    fn guarantees(&self) -> Guarantees;

    /// Returns the parameters by their names; [`NamedParameter::all`] gives those of a module.
    fn named_parameters(&self) -> Vec<NamedParameter>;

    /// Returns the record of the fit.
    fn fit_record(&self) -> &FitRecord;

    /// Returns the record of the fit, to be changed.
    fn fit_record_mut(&mut self) -> &mut FitRecord;

    /// Checks parameters, all of which are finite.
    ///
    /// # Errors
    ///
    /// The fault, in words.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// Returns the report of the fit; None for a map that was built from its parameters, or restored from
    /// the record of a model.
    fn report(&self) -> Option<&FitReport> {
        self.fit_record().report.as_ref()
    }

    /// Returns the kind of data that the map was fitted to; empty unless
    /// [`set_fitted_to`](Self::set_fitted_to) was called.
    fn fitted_to(&self) -> &FittedTo {
        &self.fit_record().fitted_to
    }

    /// Sets the kind of data that the map was fitted to, which a saved file keeps.
    fn set_fitted_to(&mut self, to: FittedTo) {
        self.fit_record_mut().fitted_to = to;
    }

    /// Names the rows of the data in the warnings of the fit, where its samples are some of them, as
    /// [`FitWarning::at_rows`] does.
    fn name_rows(&mut self, rows: &[usize]) {
        if let Some(report) = &mut self.fit_record_mut().report {
            FitWarning::name_rows(&mut report.warnings, rows);
        }
    }

    /// Saves the map as a file of safetensors, which other programs read: the parameters in f64 under their names,
    /// and in the metadata the kind, the version of the format, the report, what the map was fitted to, and a checksum.
    /// It is written aside and renamed. The same map gives the same bytes. [`load_map`](super::load_map) reads it.
    ///
    /// # Errors
    ///
    /// [`Error::File`](crate::error::Error::File) if the file cannot be written.
    fn save(&self, path: &Path) -> crate::error::Result<()> {
        file::save(self, path)
    }

    /// Returns the bytes of the file that [`save`](Self::save) writes.
    ///
    /// # Errors
    ///
    /// [`Error::File`](crate::error::Error::File) if a number has no text in JSON.
    fn to_bytes(&self) -> crate::error::Result<Vec<u8>> {
        file::bytes(self)
    }
}

/// Implements [`FittedMap`] by an inner map: two expressions borrow it, the second to change it. The guarantees are those
/// of the inner map, or of a third expression.
macro_rules! by_inner_map {
    ($self:ident, $inner:expr, $inner_mut:expr) => {
        by_inner_map!($self, $inner, $inner_mut, $inner.guarantees());
    };
    ($self:ident, $inner:expr, $inner_mut:expr, $guarantees:expr) => {
        fn kind(&$self) -> &'static str {
            $inner.kind()
        }

        fn width(&$self) -> Option<usize> {
            $inner.width()
        }

        fn guarantees(&$self) -> $crate::recalibration::Guarantees {
            $guarantees
        }

        fn named_parameters(&$self) -> Vec<$crate::recalibration::NamedParameter> {
            $inner.named_parameters()
        }

        fn fit_record(&$self) -> &$crate::recalibration::FitRecord {
            $inner.fit_record()
        }

        fn fit_record_mut(&mut $self) -> &mut $crate::recalibration::FitRecord {
            $inner_mut.fit_record_mut()
        }

        fn check(&$self) -> Result<(), String> {
            $inner.check()
        }
    };
}

pub(super) use by_inner_map;

/// Returns what is wrong with the parameters of a map, each of which has to be finite.
pub(super) fn check_parameters(map: &dyn FittedMap) -> Result<(), String> {
    let parameters = map.named_parameters();
    let mut values = parameters.iter().flat_map(|parameter| &parameter.values);
    match values.find(|value| !value.is_finite()) {
        Some(value) => Err(format!("a parameter is {value}")),
        None => map.check(),
    }
}

/// A fitted map from predictions `P` to recalibrated predictions `Q`: from logits to logits, or from
/// predictive distributions to predictive distributions.
///
/// If the kind is chosen at run time, the map is a [`LogitMap`](super::LogitMap) or a
/// [`DistributionMap`](super::DistributionMap).
pub trait Recalibration<P = Tensor<2>, Q = P>: FittedMap {
    /// Recalibrates predictions.
    ///
    /// # Shapes
    ///
    /// - logits: `[n, m]`
    /// - output: `[n, m]`, in the dtype of the logits
    ///
    /// # Panics
    ///
    /// If the map was fitted to another number of classes or coordinates.
    fn forward(&self, predictions: P) -> Q;
}
