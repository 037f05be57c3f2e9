use burn::tensor::Tensor;
use serde::Serialize;

use super::{
    Assessed, Plan, Report, Reportable, Section,
    drawn::{Draw, Drawn},
    estimate::{Estimate, NamedEstimates},
    number::{counted, decimals, percent},
    quantile_picture,
    section::{NamedScore, Parts},
    size::Unit,
    view::View,
};
use burn_calibration::{
    diagram::QuantileDiagram,
    distribution::{QuantileForecasts, Weighted as _},
    error::Result,
    estimator::regression::QuantileCoverage,
    names,
    score::{IntervalScoreParts, MeanEstimate, Score, WeightedIntervalScore},
};

/// The coverage and the diagram of one set of forecasts by quantiles.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ForecastSection {
    /// The coverage of the quantiles at each level.
    pub levels: Vec<QuantileCoverage>,
    /// The coverage of the central intervals, the widest first.
    pub central_intervals: Vec<QuantileCoverage>,
    /// The frequencies of the levels with their band.
    pub quantiles: QuantileDiagram,
}

/// The levels that a page is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ForecastLevels {
    /// The levels of the quantiles.
    pub levels: Vec<f64>,
}

impl Reportable for QuantileForecasts {
    type Section = ForecastSection;
    type Subject = ForecastLevels;
    type Kernel = ();
    type Options = ();

    fn fixed_kernel(&self, _targets: &Tensor<2>, _kernel: Option<()>) -> Result<()> {
        Ok(())
    }

    fn subject(&self, _targets: &Tensor<2>, (): ()) -> Result<ForecastLevels> {
        let levels = self.levels().to_vec();
        Ok(ForecastLevels { levels })
    }

    /// The weighted interval score and its parts, with their standard errors, and the quantile calibration error.
    fn estimates(view: &View<Self>, _seed: u64) -> NamedEstimates {
        let (forecasts, targets, score) = (&view.predictions, &view.targets, WeightedIntervalScore);
        let parts = score.parts(forecasts, targets);
        let part = |part: fn(&IntervalScoreParts) -> MeanEstimate| {
            parts.as_ref().map(part).map_err(Clone::clone)
        };
        let all = [
            (
                names::WIS,
                score.mean(forecasts, targets),
                "Twice the pinball score, averaged over the levels, in units of the targets. It measures calibration \
                 and accuracy together. With more and more levels it becomes the CRPS.",
            ),
            (
                names::WIS_DISPERSION,
                part(|parts| parts.dispersion),
                "The weighted width of the central intervals (sharpness).",
            ),
            (
                names::WIS_OVERPREDICTION,
                part(|parts| parts.overprediction),
                "The part for targets below intervals and medians: forecasts that are too high.",
            ),
            (
                names::WIS_UNDERPREDICTION,
                part(|parts| parts.underprediction),
                "The part for targets above intervals and medians: forecasts that are too low.",
            ),
        ];
        let curve = QuantileCoverage::by_level(forecasts, targets);
        let error = curve.map(|levels| QuantileCoverage::curve(&levels).mean_absolute_error());
        let error = Estimate::new("", error).on_page(
            Unit::Decimals,
            "Mean distance of the marks in the quantile diagram from the diagonal. It averages over all forecasts, and \
             is above 0 for a calibrated model too.",
        );
        let all = all.map(|(name, mean, meaning)| {
            (
                name,
                Estimate::new("", mean).on_page(Unit::Quantity, meaning),
            )
        });
        let error = (names::QUANTILE_CALIBRATION, error);
        all.into_iter().chain([error]).collect()
    }

    fn section(&self, plan: &Plan<Self>) -> Result<ForecastSection> {
        let targets = plan.targets;
        let levels = QuantileCoverage::by_level(self, targets)?;
        let curve = QuantileCoverage::curve(&levels);
        Ok(ForecastSection {
            central_intervals: QuantileCoverage::by_interval(self, targets)?,
            quantiles: QuantileDiagram::weighted(
                curve,
                &self.parted().1,
                targets.dims(),
                plan.level,
            )?,
            levels,
        })
    }

    fn scores() -> Vec<NamedScore<Self>> {
        vec![(names::WIS, &WeightedIntervalScore)]
    }
}

impl Section for ForecastSection {
    type Subject = ForecastLevels;
    type Kernel = ();

    fn drawings(&self, _levels: &ForecastLevels) -> Vec<(String, Drawn)> {
        vec![("quantiles".into(), self.quantiles.drawn())]
    }

    fn sentence(set: &Assessed<Self>) -> String {
        let section = &set.page;
        match section.central_intervals.first() {
            Some(widest) => format!(
                "the central {}\u{a0}% intervals contain {} of the targets",
                decimals(100.0 * widest.expected, 4),
                percent(widest.estimate)
            ),
            None => format!(
                "the quantiles at level {} are at or above {} of the targets",
                section.levels[0].expected,
                percent(section.levels[0].estimate)
            ),
        }
    }

    fn page(report: &Report<Self>) -> Parts {
        let levels = counted(report.subject.levels.len(), "level");
        Parts {
            of: format!("by quantiles at {levels}"),
            diagrams: vec![quantile_picture::on_page(
                report,
                "Each mark shows a level, and the share of targets that are at most the forecast quantile \
                 at this level. On the dashed diagonal both are equal. If the curve is flatter than the \
                 diagonal, forecasts are too certain; if it is steeper, they are not certain enough. If \
                 the curve is entirely below or above the diagonal, forecasts are biased.",
                |section| &section.quantiles,
            )],
            method: format!(
                "for independent samples. A target that equals a quantile, as for counts, counts as covered \
                 or not, whichever brings the share nearer to the level. Band of the diagram: ± {} \
                 ({}), for all levels at once. The weighted interval score is twice the mean pinball score \
                 of the levels (Bracher et al. 2021).",
                decimals(report.before.page.quantiles.half_width(), 4),
                quantile_picture::source_of_band(&report.before.page.quantiles)
            ),
            kernel: String::new(),
        }
    }
}
