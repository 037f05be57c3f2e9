//! Formulas of the maps of predictive distributions and of quantile forecasts.

use burn_calibration::{
    distribution::{Laplace, Normal},
    recalibration::{
        ConformalShift, DistributionMap, FittedMap as _, ScaleFamily, TemperatureScaling,
    },
};

use crate::{Formula, Operation, Symbol, Term, events::interpolation, parameters::Parameters};

/// The recalibrated scale.
const SCALE: Symbol = Symbol::new("s'", "recalibrated_scale");

impl Formula {
    /// Makes the formula of a map of normal or Laplace predictions, of their location and scale.
    ///
    /// Quantile recalibration takes levels `F(y)` and gives levels. None for local recalibration, whose result depends
    /// on all errors of its fit with weights that differ for each prediction, and for a temperature unless it says
    /// that it was fitted to normal or Laplace predictions.
    pub fn for_distributions(map: &DistributionMap) -> Option<Self> {
        let parameters = Parameters::new(map);
        match map {
            DistributionMap::Temperature(map) => tempered(map),
            DistributionMap::Variance(_) => {
                let factors = parameters.term("f", "factors");
                Some(Self::new([(SCALE, factors * Term::scale())]))
            }
            DistributionMap::LocationScale(_) => Some(location_scale(&parameters)),
            DistributionMap::Quantile(map) => {
                let levels = interpolation(&map.knots(), Term::input("u", "levels"));
                let symbol = Symbol::new("u'", "recalibrated_levels");
                Some(Self::new([(symbol, levels)]))
            }
            _ => None,
        }
    }

    /// Makes the formula of shifts of quantile forecasts, from quantiles to quantiles.
    pub fn for_quantiles(map: &ConformalShift) -> Self {
        let (levels, shifts) = (map.levels(), map.shifts());
        let k = levels.len();
        let shifted = Term::input("q", "quantiles") + Term::numbers("c", shifts);
        let shifted = shifted.named("v");
        let mut columns: Vec<Term> = (0..k).map(|at| shifted.clone().slice(at..at + 1)).collect();
        // in order, from the middle to the outside
        let upper = levels.partition_point(|level| *level < 0.5);
        for at in upper + 1..k {
            let inner = columns[at - 1].clone();
            columns[at] = columns[at].clone().with(Operation::Max, inner);
        }
        for at in (0..upper.min(k - 1)).rev() {
            let inner = columns[at + 1].clone();
            columns[at] = columns[at].clone().with(Operation::Min, inner);
        }
        let quantiles = Term::new(Operation::Concat, columns);
        Self::new([(Symbol::new("q'", "recalibrated_quantiles"), quantiles)])
    }
}

/// The scale of a prediction to the power of `1/T`, normalised, of the family that the map was fitted to.
fn tempered(map: &TemperatureScaling) -> Option<Formula> {
    let power = match map.fitted_to().family.as_deref()? {
        "normal" => Normal::POWER,
        "laplace" => Laplace::POWER,
        _ => return None,
    };
    let factor = map.temperature().powf(power.recip());
    Some(Formula::new([(SCALE, Term::from(factor) * Term::scale())]))
}

/// `μ + b s` and `exp(γ log s + k)`.
fn location_scale(parameters: &Parameters) -> Formula {
    let (location, scale) = (Term::input("μ", "location"), Term::scale());
    let location = location + parameters.term("b", "shifts") * scale.clone();
    let logarithm = parameters.term("γ", "powers") * scale.then(Operation::Log);
    let scale = (logarithm + parameters.term("k", "logarithms")).then(Operation::Exp);
    Formula::new([
        (Symbol::new("μ'", "recalibrated_location"), location),
        (SCALE, scale),
    ])
}
