use burn::tensor::Tensor;
use maud::{Markup, html};
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;

use super::{
    Assessed, InTheLarge, Plan, Report, Reportable, Scored, Section, Size, Sizing,
    drawn::{Draw, Drawn},
    estimate::{Estimate, NamedEstimates},
    number::{decimals, percent, significant, whole},
    page::{self, bandwidth, figure, profile},
    pit_picture, quantile_picture,
    section::{NamedScore, Parts},
    size::Unit,
    view::View,
};
use burn_calibration::{
    diagram::{PitDiagram, QuantileDiagram},
    distribution::{Batch as _, Geometry, Weights},
    error::Result,
    estimator::{
        Estimator as _, JointKernel,
        regression::{Ence, IntervalCoverage, Pinball, Pit, QuantileCalibration, Sharpness},
    },
    kernel::{RealKernel, RealProfile, TargetKernel, TensorKernel},
    names::{self, Name},
    score::{Crps, Score},
};

/// The diagrams of one set of predictions over `ℝ^d`.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct QuantileSection {
    /// The mean predicted variance.
    pub variance: f64,
    /// The histogram of the probability integral transforms, of all coordinates together.
    pub pit: PitDiagram,
    /// The frequencies of the quantiles, of all coordinates together.
    pub quantiles: QuantileDiagram,
}

/// The real numbers that a page is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Coordinates {
    /// The dimension `d` of the targets.
    pub dimensions: usize,
    /// The number of bins of the histogram.
    pub bins: usize,
}

/// Settings of the diagrams of real numbers, which a [`ReportBuilder`](super::ReportBuilder) holds.
#[derive(Debug, Clone)]
pub struct QuantileOptions {
    pub(super) bins: usize,
}

impl Default for QuantileOptions {
    fn default() -> Self {
        Self { bins: 10 }
    }
}

impl<P: Scored + Geometry> Reportable for P
where
    RealKernel: TargetKernel<P::Unconditional>,
{
    type Section = QuantileSection;
    type Subject = Coordinates;
    type Kernel = TensorKernel<RealKernel>;
    type Options = QuantileOptions;

    fn fixed_kernel(
        &self,
        targets: &Tensor<2>,
        kernel: Option<Self::Kernel>,
    ) -> Result<Self::Kernel> {
        let usual = || TensorKernel::wasserstein(RealKernel::gaussian(1.0).with_median_of(targets));
        kernel.unwrap_or_else(usual).fixed(self)
    }

    fn subject(&self, targets: &Tensor<2>, options: QuantileOptions) -> Result<Coordinates> {
        Ok(Coordinates {
            dimensions: targets.dims()[1],
            bins: options.bins,
        })
    }

    fn sizes(&self, targets: &Tensor<2>, sizing: &Sizing) -> Vec<(Name, Size)> {
        let name = names::INTERVAL_OVERCONFIDENCE.with("points");
        vec![(name, sizing.of_intervals(self, targets))]
    }

    fn in_the_large(&self, targets: &Tensor<2>, sizing: &Sizing) -> Option<InTheLarge> {
        sizing.intervals_in_the_large(self, targets)
    }

    fn estimates(view: &View<Self>, _seed: u64) -> NamedEstimates {
        let (predictions, targets) = (&view.predictions, &view.targets);
        let number = |value| Estimate::new("", value);
        let mean = |mean| Estimate::score("", mean);
        let coverage = |level| mean(IntervalCoverage::new(level).coverage(predictions, targets));
        let scored = |score: &dyn Score<Self>| mean(score.mean(predictions, targets));
        let errors = predictions.detach().means() - targets.clone();
        let squared = root_mean_square(errors, &predictions.parted().1);
        let optional = [
            Self::LOG_SCORE.map(|log| {
                let log = scored(log).on_page(
                    Unit::Decimals,
                    "Mean of −ln of the predicted density at the target. It measures calibration and accuracy \
                     together. It depends on the units of the targets, so only differences are meaningful. A single \
                     confident error can dominate it.",
                );
                (names::LOG, log)
            }),
            Self::FAIR_CRPS.map(|crps| (names::CRPS_FAIR, scored(crps))),
        ];
        let others = [
            (
                names::CRPS,
                scored(&Crps).on_page(
                    Unit::Quantity,
                    "Continuous ranked probability score, in units of the targets, 0 at best. It generalises the \
                     absolute error to predicted distributions. Like the log score it measures calibration and \
                     accuracy together.",
                ),
            ),
            (
                Name::new("pinball", "pinball loss, 19 levels"),
                number(Pinball::default().estimate(predictions, targets)),
            ),
            (
                names::QUANTILE_CALIBRATION.with("19 levels"),
                number(QuantileCalibration::default().estimate(predictions, targets)).on_page(
                    Unit::Decimals,
                    "Mean distance of the marks in the quantile diagram from the diagonal. It averages over all \
                     predictions, and is above 0 for a calibrated model too.",
                ),
            ),
            (
                names::COVERAGE_50,
                coverage(0.5).on_page(
                    Unit::Share,
                    "The share of targets between the predicted quartiles, 50 % if the model is calibrated. A model \
                     with 50 % need not be calibrated.",
                ),
            ),
            (
                names::COVERAGE_90,
                coverage(0.9).on_page(
                    Unit::Share,
                    "The share of targets between the predicted quantiles at 5 % and 95 %, 90 % if the model is \
                     calibrated. Below 90 % predictions are too certain.",
                ),
            ),
            (
                names::STANDARD_DEVIATION,
                mean(Sharpness.standard_deviation(predictions)).on_page(
                    Unit::Quantity,
                    "The width of the predictions (sharpness). A smaller width is better only among calibrated models.",
                ),
            ),
            (
                names::ROOT_MEAN_SQUARED_ERROR,
                number(Ok(squared)).on_page(
                    Unit::Quantity,
                    "The error of the predicted means. It says nothing about the rest of the predictions.",
                ),
            ),
            (
                Name::new("ence", "ENCE, 15 bins"),
                number(Ence::default().estimate(predictions, targets)),
            ),
        ];
        optional.into_iter().flatten().chain(others).collect()
    }

    fn section(&self, plan: &Plan<Self>) -> Result<QuantileSection> {
        let y = plan.targets;
        let pit = Pit::randomised(self, y, &mut StdRng::seed_from_u64(plan.seed))?;
        let curve = QuantileCalibration::default().curve(self, y)?;
        Ok(QuantileSection {
            variance: Sharpness.variance(self)?.estimate,
            pit: PitDiagram::new(&pit, plan.subject.bins, plan.level)?,
            quantiles: QuantileDiagram::weighted(curve, pit.weights(), y.dims(), plan.level)?,
        })
    }

    fn scores() -> Vec<NamedScore<Self>> {
        let log = Self::LOG_SCORE.map(|log| (names::LOG, log));
        [(names::CRPS, &Crps as &dyn Score<Self>)]
            .into_iter()
            .chain(log)
            .collect()
    }
}

/// The weighted `√mean(e²)`, in units of the largest error where its square is no f64.
fn root_mean_square(errors: Tensor<2>, weights: &Weights) -> f64 {
    let [n, d] = errors.dims();
    let errors = errors.try_into_vec_as::<f64>();
    let errors = errors.expect("a float tensor that can be read back");
    let unit = errors
        .iter()
        .fold(0.0, |unit: f64, error| unit.max(error.abs()));
    if unit == 0.0 || !unit.is_finite() {
        return unit;
    }
    let rows = errors.chunks(d).enumerate();
    let squares = rows.map(|(row, errors)| {
        let squares = errors.iter().map(|error| (error / unit).powi(2));
        weights.at(row) * squares.sum::<f64>()
    });
    (squares.sum::<f64>() / (weights.total(n) * d as f64)).sqrt() * unit
}

impl Section for QuantileSection {
    type Subject = Coordinates;
    type Kernel = TensorKernel<RealKernel>;

    fn drawings(&self, _coordinates: &Coordinates) -> Vec<(String, Drawn)> {
        vec![
            ("pit".into(), self.pit.drawn()),
            ("quantiles".into(), self.quantiles.drawn()),
        ]
    }

    fn sentence(set: &Assessed<Self>) -> String {
        let covered = set.number(names::COVERAGE_90.key);
        format!(
            "the central 90\u{a0}% intervals contain {} of the targets{}. The expected root mean squared error is {}, \
             the observed one {}",
            percent(covered),
            direction(covered - 0.9),
            significant(set.page.variance.sqrt()),
            significant(set.number(names::ROOT_MEAN_SQUARED_ERROR.key))
        )
    }

    fn page(report: &Report<Self>) -> Parts {
        let level = decimals(100.0 * report.level, 2);
        let (kernel, quantiles) = (&report.kernel, &report.before.page.quantiles);
        let target = match kernel.targets.profile {
            RealProfile::Gaussian => "a Gaussian",
            RealProfile::Laplacian => "a Laplacian",
            _ => "another",
        };
        let (of, dependent) = match report.subject.dimensions {
            1 => ("of a real number".into(), ""),
            d => (
                format!("of {} real numbers each", whole(d)),
                ", whose coordinates may depend on each other",
            ),
        };
        let bar = if report.before.page.pit.weights.is_some() {
            format!(
                "{level} % interval of its weight by 1,999 redraws of uniform numbers with these weights"
            )
        } else {
            format!("exact {level} % interval of a binomial count")
        };
        Parts {
            of,
            diagrams: vec![
                report.transforms(),
                quantile_picture::on_page(
                    report,
                    &format!(
                        "Each mark shows a level, and the share of targets that are at most the predicted \
                         quantile at this level. On the dashed diagonal both are equal. If the curve is \
                         flatter than the diagonal in the middle, predictions are too certain; if it is \
                         steeper, they are not certain enough. If the curve is entirely below or above the \
                         diagonal, predictions are biased.{}",
                        report.pooled()
                    ),
                    |section| &section.quantiles,
                ),
            ],
            method: format!(
                "for the SKCE they are approximate. Histogram: {} bins of equal width; where a predicted \
                 distribution has steps, as of counts and of draws, the transform is randomised, and a \
                 target counts as covered, or as at most a quantile, by the part of its step (Czado, \
                 Gneiting, Held 2009). Band of a bar: {bar}, for each bin separately: of many bars of a \
                 calibrated model some end outside. Quantiles: at {} levels; the band is ± {} \
                 ({}), for all levels at once. Both bands are of independent \
                 samples{dependent}. SKCE (Widmann et al. 2021):",
                report.subject.bins,
                quantiles.curve.points.len(),
                decimals(quantiles.half_width(), 4),
                quantile_picture::source_of_band(quantiles)
            ),
            kernel: format!(
                "{} kernel over the 2-Wasserstein distance of predictions with bandwidth {}, times \
                 {target} kernel on targets with length scale {}",
                profile(&kernel.predictions),
                bandwidth(&kernel.predictions),
                significant(kernel.targets.length_scale)
            ),
        }
    }
}

impl Report<QuantileSection> {
    fn transforms(&self) -> Markup {
        let level = decimals(100.0 * self.level, 2);
        let band = format!(
            "band that contains the end of the bar of a calibrated model with {level} % probability, for \
             each bin"
        );
        let [inside, outside] =
            ["inside", "outside"].map(|end| format!("a bar that ends {end} the band"));
        html! {
            h2 { "Are targets distributed as predicted?" }
            p {
                "The probability integral transform is the predicted probability of a target that is at \
                 most the observed one. For a calibrated model all values are equally frequent (dashed \
                 line). A valley in the middle means that predictions are too certain, a hump that they \
                 are not certain enough, and a slope that they are biased." (self.pooled())
            }
            (page::key(&band, &inside, &outside))
            (self.figures(("all", "All targets"), "", |section, heading, what| {
                let pit = &section.pit;
                let title = format!("Histogram of probability integral transforms: {what}");
                let drawn = pit_picture::drawn_under(pit, heading, title);
                let (outside, all) = (pit.outside(), pit.counts.len());
                let caption = format!("{what}: {outside} of {all} bars are outside the band.");
                figure(&drawn, &caption, &pit_picture::numbers(pit, what))
            }))
        }
    }

    fn pooled(&self) -> String {
        match self.subject.dimensions {
            1 => String::new(),
            d => format!(" The {} coordinates are counted together.", whole(d)),
        }
    }
}

/// The difference of a coverage from its level, in words.
fn direction(excess: f64) -> String {
    let points = decimals(100.0 * excess.abs(), 2);
    match excess {
        _ if points == "0" => String::new(),
        e if e < 0.0 => format!(", {points} percentage points fewer"),
        _ => format!(", {points} percentage points more"),
    }
}
