//! Curves to be drawn.

use burn_calibration::{
    diagram::{CorpReliability, PitDiagram, Reliability},
    distribution::Marginals,
    error::Result,
    estimator::regression::Pit,
};
use pyo3::prelude::*;
use rand::{SeedableRng, rngs::StdRng};

use super::{Bins, unsupported};
use crate::samples::{ClassArrays, RealArrays, Reals, Sample};

/// Frequencies of the event against probabilities, bin by bin.
#[derive(IntoPyObject)]
pub struct ReliabilityCurve {
    prob_true: Vec<f64>,
    prob_pred: Vec<f64>,
    count: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

/// A reliability diagram of the event.
#[pyfunction]
pub fn reliability_curve(
    py: Python<'_>,
    data: ClassArrays<'_>,
    bins: Bins,
    level: f64,
) -> PyResult<ReliabilityCurve> {
    let binning = bins.into();
    data.compute(py, move |data| {
        let reliability = Reliability::new(data.event()).with_binning(binning);
        let reliability = reliability.with_level(level);
        let bins = reliability
            .diagram(&data.predictions, &data.targets)?
            .bins
            .into_iter();
        Ok(ReliabilityCurve {
            prob_true: bins.clone().map(|bin| bin.frequency).collect(),
            prob_pred: bins.clone().map(|bin| bin.confidence).collect(),
            count: (bins.clone())
                .map(|bin| bin.weight.unwrap_or(bin.count as f64))
                .collect(),
            lower: bins.clone().map(|bin| bin.band.lower).collect(),
            upper: bins.map(|bin| bin.band.upper).collect(),
        })
    })
}

/// The isotonic regression of an event on its probability, step by step, its band, and the parts of the Brier score of
/// the event.
#[derive(IntoPyObject)]
pub struct CorpCurve {
    prob_true: Vec<f64>,
    first: Vec<f64>,
    last: Vec<f64>,
    count: Vec<usize>,
    band_prob: Vec<f64>,
    band_lower: Vec<f64>,
    band_upper: Vec<f64>,
    miscalibration: f64,
    discrimination: f64,
    uncertainty: f64,
}

/// A CORP reliability diagram of the event.
#[pyfunction]
pub fn corp_curve(
    py: Python<'_>,
    data: ClassArrays<'_>,
    level: f64,
    redraws: usize,
    seed: u64,
) -> PyResult<CorpCurve> {
    data.compute(py, move |data| {
        let corp = CorpReliability::new(data.event()).with_level(level);
        let corp = corp.with_redraws(redraws).with_seed(seed);
        let diagram = corp.diagram(&data.predictions, &data.targets)?;
        let (steps, band) = (diagram.steps.iter(), diagram.band.iter());
        let parts = diagram.decomposition; // of both outcomes
        Ok(CorpCurve {
            prob_true: steps.clone().map(|step| step.frequency).collect(),
            first: steps.clone().map(|step| step.lower).collect(),
            last: steps.clone().map(|step| step.upper).collect(),
            count: steps.map(|step| step.count).collect(),
            band_prob: band.clone().map(|at| at.probability).collect(),
            band_lower: band.clone().map(|at| at.band.lower).collect(),
            band_upper: band.map(|at| at.band.upper).collect(),
            miscalibration: 0.5 * parts.miscalibration,
            discrimination: 0.5 * parts.discrimination,
            uncertainty: 0.5 * parts.uncertainty,
        })
    })
}

/// The bars of a histogram, and the band of each.
#[derive(IntoPyObject)]
pub struct PitHistogram {
    count: Vec<f64>,
    lower: f64,
    upper: f64,
}

/// The histogram of probability integral transforms, of all coordinates together.
#[pyfunction]
pub fn pit_histogram(
    py: Python<'_>,
    data: RealArrays<'_>,
    bins: usize,
    level: f64,
    seed: u64,
) -> PyResult<PitHistogram> {
    data.compute(py, move |data| {
        let pit = match data {
            Reals::Normal(data) => transforms(data, seed),
            Reals::Laplace(data) => transforms(data, seed),
            Reals::NormalMixture(data) => transforms(data, seed),
            Reals::LaplaceMixture(data) => transforms(data, seed),
            Reals::Samples(data) => transforms(data, seed),
            Reals::Quantiles(_) => Err(unsupported(
                "quantiles have no distribution function",
                "distributions or samples",
            )),
        };
        let diagram = PitDiagram::new(&pit?, bins, level)?;
        Ok(PitHistogram {
            count: (0..bins).map(|bin| diagram.bar(bin)).collect(),
            lower: diagram.band.lower,
            upper: diagram.band.upper,
        })
    })
}

fn transforms<P: Marginals>(data: &Sample<P>, seed: u64) -> Result<Pit> {
    let mut rng = StdRng::seed_from_u64(seed);
    Pit::randomised(&data.predictions, &data.targets, &mut rng)
}
