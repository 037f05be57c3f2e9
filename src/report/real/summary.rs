use std::path::Path;

use burn::tensor::Tensor;
use rand::{Rng, SeedableRng, rngs::StdRng};

use super::{PitDiagram, QuantileDiagram};
use crate::{
    distribution::{AbsoluteMoments, Targets},
    error::Result,
    estimator::{
        Skce,
        regression::{IntervalCoverage, Pit, QuantileCalibration, Sharpness},
    },
    file,
    host::to_vec,
    hypothesis::OmnibusOutcome,
    kernel::{RealKernel, TargetKernel, TensorKernel},
    report::answer::{interval, omnibus},
    score::{Crps, Interval, IntervalOverconfidence, MeanEstimate, Score},
};

/// What a page says about predictions over `ℝ^d`, before and after recalibration; built by
/// [`RealReportBuilder`](super::RealReportBuilder).
#[derive(Debug, Clone)]
pub struct RealReport {
    /// The title of the page.
    pub title: String,
    /// The number `n` of samples.
    pub samples: usize,
    /// The dimension `d` of the targets.
    pub dimensions: usize,
    /// The probability of the bands of the diagrams and of the confidence intervals.
    pub level: f64,
    /// The kernel of the SKCE. Medians are those of the predictions before and of the targets, and
    /// used for the predictions after as well, so that the two estimates are of one scale.
    pub kernel: TensorKernel<RealKernel>,
    /// The number of samples of the SKCE: drawn at random where these are not all.
    pub skce_samples: usize,
    /// The seed of all that is drawn.
    pub seed: u64,
    /// The model.
    pub before: RealSummary,
    /// The recalibrated model, if there is one.
    pub after: Option<RealSummary>,
}

/// The numbers and diagrams of one set of predictions. Of the coordinates of a sample all are means,
/// but for the scores: the CRPS is summed over them, the log score is of the vector.
#[derive(Debug, Clone)]
pub struct RealSummary {
    /// The omnibus test of all samples, or why there is none.
    pub omnibus: Result<OmnibusOutcome>,
    /// By how much central intervals of 90 % are promised to cover more targets than they do.
    pub overconfidence: Result<Interval>,
    /// The unbiased SKCE, or why there is none.
    pub skce: Result<Interval>,
    /// The log score, or why it is infinite; none of predictions without a density.
    pub log: Option<Result<MeanEstimate>>,
    /// The continuous ranked probability score, or why it is not finite.
    pub crps: Result<MeanEstimate>,
    /// The mean predicted standard deviation and variance.
    pub sharpness: Sharpness,
    /// The root mean squared error of the predicted means.
    pub root_mean_squared_error: f64,
    /// The coverage of the central intervals of 50 %, and their width.
    pub half: IntervalCoverage,
    /// The same of 90 %.
    pub ninety: IntervalCoverage,
    /// The histogram of the probability integral transforms, of all coordinates together.
    pub pit: PitDiagram,
    /// The frequencies of the quantiles, of all coordinates together. The quantile calibration error
    /// is the mean absolute error of its curve.
    pub quantiles: QuantileDiagram,
}

impl RealReport {
    /// Saves the page of [`to_html`](Self::to_html), written aside and renamed.
    ///
    /// # Errors
    ///
    /// [`Error::File`](crate::error::Error::File) if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        file::write(path.as_ref(), self.to_html().as_bytes())
    }
}

/// The log score of predictions that have one.
pub(super) type LogScoreOf<P> = fn(&P, &Tensor<2>) -> Result<MeanEstimate>;

/// Probability integral transforms, uniform for a calibrated model.
pub(super) type PitOf<P> = fn(&P, &Tensor<2>, &mut dyn Rng) -> Result<Pit>;

/// What is computed of predictions.
pub(super) struct Plan<'a, P> {
    pub targets: &'a Tensor<2>,
    pub log: Option<LogScoreOf<P>>,
    pub pit: PitOf<P>,
    pub bins: usize,
    pub level: f64,
    /// With a fixed bandwidth.
    pub kernel: TensorKernel<RealKernel>,
    /// The samples of the SKCE, where it is not of all.
    pub rows: Option<&'a [usize]>,
    pub seed: u64,
}

impl<P: AbsoluteMoments> Plan<'_, P>
where
    RealKernel: TargetKernel<P>,
{
    pub fn summary(&self, predictions: &P) -> Result<RealSummary> {
        let y = self.targets;
        let coverage = |level| IntervalCoverage::estimate(predictions, y, level);
        let pit = (self.pit)(predictions, y, &mut StdRng::seed_from_u64(self.seed))?;
        let curve = QuantileCalibration::default().curve(predictions, y)?;
        let [n, d] = y.dims();
        let data = (predictions, y);
        Ok(RealSummary {
            omnibus: omnibus(self.kernel.predictions, data, self.seed),
            overconfidence: interval(&IntervalOverconfidence::default(), data, self.level),
            skce: self.skce(predictions),
            log: self.log.map(|log| log(predictions, y)),
            crps: Crps.mean(predictions, y),
            sharpness: Sharpness::estimate(predictions)?,
            root_mean_squared_error: root_mean_square(predictions.detach().means() - y.clone()),
            half: coverage(0.5)?,
            ninety: coverage(0.9)?,
            pit: PitDiagram::new(&pit, self.bins, self.level)?,
            quantiles: QuantileDiagram::new(curve, n * d, self.level)?,
        })
    }

    fn skce(&self, predictions: &P) -> Result<Interval> {
        let skce = Skce::unbiased(self.kernel);
        match self.rows {
            None => interval(&skce, (predictions, self.targets), self.level),
            Some(rows) => {
                let (predictions, targets) = (
                    predictions.select_rows(rows),
                    self.targets.select_rows(rows),
                );
                interval(&skce, (&predictions, &targets), self.level)
            }
        }
    }
}

fn root_mean_square(errors: Tensor<2>) -> f64 {
    let errors = to_vec(errors);
    let squares = errors.iter().map(|error| error * error);
    (squares.sum::<f64>() / errors.len() as f64).sqrt()
}
