use burn::tensor::Tensor;
use maud::{Markup, html};
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;

use super::{
    Change, Report, Section,
    drawn::{Draw, Drawn},
    number::{decimals, fixed, percent, significant},
    page::{self, figure},
    quantile_picture,
    section::Parts,
    table::{Cell, Quantity},
};
use burn_calibration::{
    diagram::QuantileDiagram,
    distribution::{Predictive, QuantileForecasts},
    error::{Result, serialize_or_reason},
    estimator::regression::QuantileCoverage,
    hypothesis::{OmnibusOutcome, OmnibusTest},
    names::{self, Name},
    score::{
        Improvement, Interval, IntervalScoreParts, MeanEstimate, Score, WeightedIntervalScore,
    },
};

/// The numbers and the diagram of one set of forecasts by quantiles.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ForecastSection {
    /// The omnibus test of all samples, or why there is none.
    #[serde(serialize_with = "serialize_or_reason")]
    pub omnibus: Result<OmnibusOutcome>,
    /// The weighted interval score, or why it is not finite.
    #[serde(serialize_with = "serialize_or_reason")]
    pub wis: Result<MeanEstimate>,
    /// Its parts, of levels in pairs.
    #[serde(serialize_with = "serialize_or_reason")]
    pub wis_parts: Result<IntervalScoreParts>,
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

impl Report<ForecastSection> {
    /// Computes the report of forecasts by quantiles, before and perhaps after a recalibration, with the level of
    /// intervals and bands and the seed of the redraws.
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_calibration::distribution::QuantileForecasts;
    /// use burn_calibration_report::Report;
    ///
    /// # fn main() -> burn_calibration::error::Result<()> {
    /// let device = Device::default();
    /// let quantiles = Tensor::<2>::from_floats([[1.0, 3.0, 8.0], [2.0, 5.0, 9.0]], &device);
    /// let forecasts = QuantileForecasts::new(vec![0.1, 0.5, 0.9], quantiles)?;
    /// let targets = Tensor::<2>::from_floats([[4.0], [4.0]], &device);
    /// let report = Report::of_forecasts("Sales", (&forecasts, None), &targets, (0.95, 0))?;
    /// assert!(report.to_html().contains("Are the quantiles right?"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Forecasts or targets that are not valid, with the row; forecasts after at other levels; a level that is not
    /// between 0 and 1.
    pub fn of_forecasts(
        title: &str,
        (before, after): (&QuantileForecasts, Option<&QuantileForecasts>),
        targets: &Tensor<2>,
        (level, seed): (f64, u64),
    ) -> Result<Self> {
        let section = |forecasts: &QuantileForecasts| {
            before.check_like(forecasts)?;
            ForecastSection::new(forecasts, targets, (level, seed))
        };
        let score = WeightedIntervalScore;
        let change = |after| Improvement::of(&score, before, after, targets);
        let changes = after.map(|after| Change::of(names::WIS, change(after)));
        Ok(Self {
            before: section(before)?,
            after: after.map(section).transpose()?,
            changes: changes.into_iter().collect(),
            title: title.into(),
            samples: before.len(),
            subject: ForecastLevels {
                levels: before.levels().to_vec(),
            },
            level,
            kernel: (),
            skce_samples: before.len(),
            seed,
        })
    }

    fn quantiles(&self) -> Markup {
        let level = decimals(100.0 * self.level, 2);
        let band = format!("where the whole curve of a calibrated model lies, with {level} %");
        let [inside, outside] =
            ["inside", "outside"].map(|side| format!("a level whose share is {side} the band"));
        html! {
            h2 { "Are the quantiles right?" }
            p {
                "Each mark is a level, and the share of targets at most at the quantile that is forecast for it. On \
                 the dashed diagonal both are equal. A curve that is flatter than the diagonal tells of forecasts \
                 that are too certain, a steeper one of ones that are not certain enough; one that is all below or \
                 all above tells of a bias."
            }
            (page::key(&band, &inside, &outside))
            (self.figures(("all", "All targets"), "", |section, heading, what| {
                let diagram = &section.quantiles;
                let title = format!("Calibration of quantiles: {what}");
                let drawn = quantile_picture::drawn_under(diagram, heading, title);
                let (outside, all) = (diagram.outside(), diagram.curve.points.len());
                let caption = format!("{what}: {outside} of {all} levels outside the band.");
                figure(&drawn, &caption, &quantile_picture::numbers(diagram, what))
            }))
        }
    }
}

impl ForecastSection {
    fn new(
        forecasts: &QuantileForecasts,
        targets: &Tensor<2>,
        (level, seed): (f64, u64),
    ) -> Result<Self> {
        let levels = QuantileCoverage::of_levels(forecasts, targets)?;
        let curve = QuantileCoverage::curve(&levels);
        let mut rng = StdRng::seed_from_u64(seed);
        Ok(Self {
            omnibus: OmnibusTest::new().outcome(forecasts, targets, &mut rng),
            wis: WeightedIntervalScore.mean(forecasts, targets),
            wis_parts: WeightedIntervalScore.parts(forecasts, targets),
            central_intervals: QuantileCoverage::of_intervals(forecasts, targets)?,
            quantiles: QuantileDiagram::new(curve, forecasts.len(), level)?,
            levels,
        })
    }
}

impl Section for ForecastSection {
    type Subject = ForecastLevels;
    type Kernel = ();

    fn omnibus(&self) -> &Result<OmnibusOutcome> {
        &self.omnibus
    }

    fn skce(&self) -> Option<&Result<Interval>> {
        None
    }

    fn drawings(&self, _levels: &ForecastLevels) -> Vec<(String, Drawn)> {
        vec![("quantiles".into(), self.quantiles.drawn())]
    }

    fn page(report: &Report<Self>) -> Parts {
        let sentence = |(_, section): &(&str, &Self)| match section.central_intervals.first() {
            Some(widest) => format!(
                "the central intervals that should hold {}\u{a0}% of the targets hold {}",
                decimals(100.0 * widest.expected, 4),
                percent(widest.estimate)
            ),
            None => format!(
                "the quantiles at level {} are at or above {} of the targets",
                section.levels[0].expected,
                percent(section.levels[0].estimate)
            ),
        };
        Parts {
            of: format!("by quantiles at {} levels", report.subject.levels.len()),
            sentences: report.named().iter().map(sentence).collect(),
            diagrams: vec![report.quantiles()],
            method: format!(
                "of independent samples. A target that equals a quantile, as of counts, is covered or not, whichever \
                 brings the share nearer to the level. Band of the diagram: ± {} (Dvoretzky, Kiefer, Wolfowitz; \
                 Massart 1990), for all levels at once. The weighted interval score is twice the mean pinball score \
                 of the levels (Bracher et al. 2021).",
                decimals(report.before.quantiles.half_width(), 4)
            ),
            kernel: String::new(),
        }
    }

    fn quantities(&self) -> Vec<Quantity> {
        const PARTS: [(Name, &str); 3] = [
            (
                names::WIS_DISPERSION,
                "The part of the score that is the weighted width of the central intervals: sharpness.",
            ),
            (
                names::WIS_OVERPREDICTION,
                "The part of targets that are below intervals and medians: forecasts that are too high.",
            ),
            (
                names::WIS_UNDERPREDICTION,
                "The part of targets that are above them: forecasts that are too low.",
            ),
        ];
        let wis = Quantity::new(
            names::WIS,
            "Twice the pinball score, averaged over the levels, in units of the targets; it rewards calibration and \
             knowledge together, and is the CRPS of forecasts that are known at all levels.",
            Cell::mean_or(&self.wis, "–", significant),
        );
        let parts = match &self.wis_parts {
            Ok(parts) => [
                parts.dispersion,
                parts.overprediction,
                parts.underprediction,
            ]
            .map(|part| Cell::mean(&part, significant)),
            Err(reason) => [(); 3].map(|()| Cell::missing("–", reason)),
        };
        let parts = PARTS.into_iter().zip(parts);
        let parts = parts.map(|((name, meaning), cell)| Quantity::new(name, meaning, cell));
        let error = Quantity::new(
            names::QUANTILE_CALIBRATION,
            "Mean distance of the marks in the diagram of quantiles from the diagonal; it averages over all \
             forecasts, and is above 0 for a calibrated model too.",
            Cell::of(fixed(self.quantiles.curve.mean_absolute_error())),
        );
        [wis.with_change(significant)]
            .into_iter()
            .chain(parts)
            .chain([error])
            .collect()
    }
}
