use burn::tensor::{Tensor, TensorData};

use super::{
    FitRecord, FittedMap, Guarantees, LogitMap, MapKind, NamedParameter, Recalibration, SavedMap,
    fitted::expect_classes,
};
use crate::error::{Error, Result};

/// Correction for the base rates of classes: `p'_c ∝ p_c · π_c/t_c`, from the rates `t` of the data that a model or
/// its map was fitted to, to the rates `π` where it is used (Elkan 2001; Saerens, Latinne, Decaestecker 2002).
///
/// Undersampling, oversampling and class weights change `P(Y)`, but not `P(X | Y)`. Then the correction is
/// Bayes' rule: predictions that are calibrated for the rates `t` become calibrated for the rates `π`,
/// without a fit. In logits it is `z_c + log(π_c/t_c)`. A weight `w` of the positives in training acts as a
/// rate `t = wπ/(wπ + 1 − π)`.
///
/// [`of`](Self::of) corrects what another map gives: fit that map to held-out data of the rates `t`, which are the
/// frequencies of their labels, and use it where the rates are `π`.
///
/// Where `P(X | Y)` differs too, predictions are not calibrated after it: test them on data of the rates `π`.
///
/// May change the most likely class. Injective, or as the other map is.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_calibration::recalibration::{PriorCorrection, Recalibration};
///
/// # fn main() -> burn_calibration::error::Result<()> {
/// // trained on as many events as others, used where two in a thousand are events
/// let map = PriorCorrection::new(vec![0.5, 0.5], vec![0.998, 0.002])?;
/// let logits = Tensor::<2>::from_floats([[0.0, 0.0]], &Device::default());
/// let odds = map.forward(logits.clone()).exp().into_data().try_into_vec_as::<f64>().unwrap();
/// assert!((odds[1] / odds[0] - 0.002 / 0.998).abs() < 1e-6); // ½ becomes 0.002
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct PriorCorrection {
    trained_at: Vec<f64>,
    prior: Vec<f64>,
    map: Option<LogitMap>,
    /// The report is that of the other map.
    record: FitRecord,
}

/// The names of the parameters; those of the other map have its name before theirs.
const TRAINED_AT: &str = "trained_at";
const PRIOR: &str = "prior";

impl PriorCorrection {
    /// The kind, as in a saved file.
    pub const KIND: &'static str = "prior correction";

    /// Makes the correction of a model.
    ///
    /// - trained_at: the rates `t` of the classes in training, one for each class, of sum 1
    /// - prior: the rates `π` where the model is used
    ///
    /// # Errors
    ///
    /// Fewer than two classes, another number of rates, rates that are not above 0 and below 1, or do not sum to 1.
    pub fn new(trained_at: Vec<f64>, prior: Vec<f64>) -> Result<Self> {
        Self::checked(trained_at, prior, None)
    }

    /// Makes the correction of a fitted map, if the rates of the data of its fit were `trained_at`.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), a map of another number of classes, and a map that is a correction itself.
    pub fn of(map: LogitMap, trained_at: Vec<f64>, prior: Vec<f64>) -> Result<Self> {
        Self::checked(trained_at, prior, Some(map))
    }

    fn checked(trained_at: Vec<f64>, prior: Vec<f64>, map: Option<LogitMap>) -> Result<Self> {
        let correction = Self {
            trained_at,
            prior,
            record: FitRecord {
                report: map.as_ref().and_then(|map| map.report().cloned()),
                ..FitRecord::default()
            },
            map,
        };
        correction
            .check_rates()
            .map_err(|what| Error::Unsupported {
                what: format!("the {}: {what}", Self::KIND),
                expected: "rates of at least two classes, above 0, below 1 and of sum 1",
            })?;
        Ok(correction)
    }

    fn check_rates(&self) -> Result<(), String> {
        let (from, to) = (self.trained_at.len(), self.prior.len());
        if from != to || from < 2 {
            return Err(format!("{from} rates of training and {to} of the prior"));
        }
        for (name, rates) in [(TRAINED_AT, &self.trained_at), (PRIOR, &self.prior)] {
            let mut classes = rates.iter().enumerate();
            if let Some((class, rate)) = classes.find(|(_, rate)| !(**rate > 0.0 && **rate < 1.0)) {
                return Err(format!("the rate of class {class} in \"{name}\" is {rate}"));
            }
            let sum: f64 = rates.iter().sum();
            if (sum - 1.0).abs() > 1e-6 {
                return Err(format!("the rates of \"{name}\" sum to {sum}"));
            }
        }
        match &self.map {
            Some(LogitMap::Prior(_)) => Err("the map corrects for a prior already".into()),
            Some(map) => match map.width() {
                Some(classes) if classes != from => {
                    Err(format!("{from} rates, and a map of {classes} classes"))
                }
                _ => Ok(()),
            },
            None => Ok(()),
        }
    }

    /// The map of saved parameters, or what is wrong with them.
    pub(super) fn restore(mut saved: SavedMap) -> Result<Self, String> {
        let mut rates = |name: &str| {
            let rates = saved.take(name).map(|rates| rates.values);
            rates.ok_or_else(|| format!("\"{name}\" is missing"))
        };
        let (trained_at, prior) = (rates(TRAINED_AT)?, rates(PRIOR)?);
        let name = saved.parameters.first().map(|first| first.name.clone());
        let name = name.as_deref().and_then(|name| name.split('.').next());
        let map = name
            .map(|name| restore_part(&mut saved, name))
            .transpose()?;
        let correction = Self {
            trained_at,
            prior,
            map,
            record: saved.into_record()?,
        };
        correction.check_rates()?;
        Ok(correction)
    }

    /// Returns the rates `t` that predictions, or the other map, are calibrated for.
    pub fn trained_at(&self) -> &[f64] {
        &self.trained_at
    }

    /// Returns the rates `π` that predictions are corrected to.
    pub fn prior(&self) -> &[f64] {
        &self.prior
    }

    /// Returns the map whose predictions are corrected; none if they are those of the model.
    pub fn map(&self) -> Option<&LogitMap> {
        self.map.as_ref()
    }
}

/// The parameters of the other map, after the name of its kind.
fn parameters_of_part(map: &LogitMap) -> Vec<NamedParameter> {
    let kind = map.method().expect("no correction");
    let mut parameters = map.named_parameters();
    for parameter in &mut parameters {
        parameter.name = format!("{kind}.{}", parameter.name);
    }
    parameters
}

/// The map that [`parameters_of_part`] were saved of, by the name of its kind; or what is wrong with them.
fn restore_part(saved: &mut SavedMap, name: &str) -> Result<LogitMap, String> {
    let kind = name.parse::<MapKind>().map_err(|e| e.to_string())?.kind();
    let own = saved.split_off(&format!("{name}."));
    LogitMap::restore(kind, own).expect("a map of each kind")
}

impl FittedMap for PriorCorrection {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn width(&self) -> Option<usize> {
        Some(self.prior.len())
    }

    fn guarantees(&self) -> Guarantees {
        let own = Guarantees::decision(false, true);
        let Some(map) = &self.map else {
            return own;
        };
        let Guarantees {
            injective,
            injective_on_log_probabilities,
            ..
        } = map.guarantees();
        Guarantees {
            injective,
            injective_on_log_probabilities,
            ..own
        }
    }

    /// The report says how the fit of the other map went.
    fn fit_record(&self) -> &FitRecord {
        &self.record
    }

    fn fit_record_mut(&mut self) -> &mut FitRecord {
        &mut self.record
    }

    fn check(&self) -> Result<(), String> {
        self.check_rates()
    }

    /// The rates, then the parameters of the other map after its name.
    fn named_parameters(&self) -> Vec<NamedParameter> {
        let of_map = self.map.iter().flat_map(parameters_of_part);
        let rates = [(TRAINED_AT, &self.trained_at), (PRIOR, &self.prior)];
        let rates =
            rates.map(|(name, rates)| NamedParameter::new(name, vec![rates.len()], rates.clone()));
        rates.into_iter().chain(of_map).collect()
    }
}

impl Recalibration for PriorCorrection {
    fn forward(&self, logits: Tensor<2>) -> Tensor<2> {
        expect_classes(&logits, self);
        let m = self.prior.len();
        let rates = self.prior.iter().zip(&self.trained_at);
        let shift: Vec<f64> = rates.map(|(to, from)| (to / from).ln()).collect();
        let shift = TensorData::new(shift, [1, m]);
        let shift = Tensor::from_data(shift, (&logits.device(), logits.dtype()));
        match &self.map {
            Some(map) => map.forward(logits) + shift,
            None => logits + shift,
        }
    }
}
