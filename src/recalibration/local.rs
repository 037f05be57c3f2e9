use burn::{
    config::Config,
    module::Module,
    tensor::{Device, Tensor, TensorData},
};

use super::{
    Fit, FitOptions, FitReport, Recalibration, ScaleFamily, at_least,
    data::{Moments, log_sum_exp},
    fitted::{Form, checked, fitted_map},
    location_scale::{LocationScaleRecalibrationConfig, LocationScales},
    parameter::{Parameter, check_shape, parameter, parameter_row},
    task::{DistributionTask, NoDescent},
};
use crate::{
    distribution::{Component, Mixture, Weights},
    error::{Result, check_parameter},
    host::to_vec,
    parallel,
};

/// Bandwidths that are tried, in standard deviations of the features; the last one is none.
const BANDWIDTHS: [f64; 7] = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, f64::MAX];
/// Most samples that are left out one at a time to choose among the bandwidths.
const LEFT_OUT: usize = 1000;
/// Components of a recalibrated prediction, besides the one of the location-scale map.
const COMPONENTS: usize = 15;
/// The least width of a component, in recalibrated deviations.
const NARROWEST: f64 = 0.01;

/// Configuration of [`LocalRecalibration`], which it fits. One component is always that of the location-scale map. No
/// paper has this estimator.
///
/// The location-scale map is fitted as by
/// [`LocationScaleRecalibrationConfig`](super::LocationScaleRecalibrationConfig). The bandwidth of the
/// kernel on predictions is the one of `0.1, 0.2, 0.4, …, 3.2` standard deviations, or infinite, with the
/// lowest log score of at most 1,000 samples that are left out one at a time. `O(n)` for each of these, on
/// all cores. Predictions of one coordinate, two of them or more; a criterion is an error.
#[derive(Config, Debug)]
#[must_use]
pub struct LocalRecalibrationConfig {}

fitted_map! {
    /// Local recalibration: a prediction takes the errors that were made on predictions like it, as a mixture.
    ///
    /// A [`LocationScaleRecalibration`](super::LocationScaleRecalibration) comes first, to `μ` and `s`. The
    /// residuals `z_j = (y_j − μ_j)/s_j` of the fit then have weights `w_j = exp(−|f − f_j|²/2h²)` by the
    /// distance of the features `f = (μ, ln s)`, each divided by its standard deviation, and `Σw_j = 1`;
    /// weights of the samples multiply them. The recalibrated prediction is a conditional kernel density estimate
    /// (Rosenblatt: *Conditional probability density and regression estimators*, 1969; its bandwidth by
    /// likelihood: Hall, Racine, Li 2004),
    ///
    /// `(1 − a) · mean_k N(μ + s q_k, s²(v² + u_k²)) + a · N(μ, s²)`,
    ///
    /// with the means `q_k` and variances `u_k²` of the residuals in 15 groups of neighbours, each with a 15th of
    /// the weights, `v = 1.06 sd_w(z) e^{−1/5}`, `e = 1/Σw_j²` effective samples and `a = 1/(1 + e)`; Laplace
    /// distributions of such scales for Laplace predictions. The last component is one more sample, and holds the
    /// tails where there are few.
    ///
    /// It corrects bias, width and shape where the predictions say that they are wrong, which no map of levels
    /// over all samples can, such as [`QuantileRecalibration`](super::QuantileRecalibration); Jung, Kelen,
    /// Benczúr (*Nonparametric distribution regression re-calibration*, 2026) do so by kernel mean embeddings.
    /// Nothing is kept. Predictions of `d = 1`. `O(n_f)` for each prediction, with `n_f` samples of the fit, on the
    /// host. Fitted by [`LocalRecalibrationConfig`].
    ///
    /// ```
    /// use burn::tensor::{Device, Tensor};
    /// use burn_calibration::distribution::{Marginals, Normal};
    /// use burn_calibration::recalibration::{Fit, LocalRecalibrationConfig, Recalibration};
    ///
    /// # fn main() -> burn_calibration::error::Result<()> {
    /// let device = Device::default();
    /// // the model says 0 ± 1 and 8 ± 1 and is right, and 2 too low
    /// let says = [0.0, 0.0, 0.0, 0.0, 8.0, 8.0, 8.0, 8.0];
    /// let mean = Tensor::<1>::from_floats(says, &device).unsqueeze_dim::<2>(1);
    /// let predictions = Normal::new(mean.clone(), Tensor::ones([8, 1], &device));
    /// let targets = Tensor::<1>::from_floats([-0.5, 0.5, -0.4, 0.4, 9.5, 10.5, 9.6, 10.4], &device);
    /// let map = LocalRecalibrationConfig::new().fit(predictions.clone(), targets.unsqueeze_dim(1))?;
    /// let means = map.forward(predictions).means().into_data().to_vec::<f32>().unwrap();
    /// assert!(means[0].abs() < 0.3 && (means[7] - 10.0).abs() < 0.3);
    /// # Ok(())
    /// # }
    /// ```
    LocalRecalibration: LocalResiduals, "local recalibration", LocalResiduals::template
}

/// The parameters of [`LocalRecalibration`].
#[derive(Module, Debug)]
pub struct LocalResiduals {
    /// The map that comes first.
    before: LocationScales,
    /// `z`, increasing, `[n]`.
    residuals: Parameter<1>,
    /// `(μ, ln s)/sd` of each, and of samples with weights the weight, `[n, 2]` or `[n, 3]`.
    features: Parameter<2>,
    /// `1/sd` of the features, `[2]`.
    units: Parameter<1>,
    /// `h`, `[1]`.
    bandwidth: Parameter<1>,
}

impl<P: ScaleFamily + Component> Fit<P, Tensor<2>> for LocalRecalibrationConfig {
    type Map = LocalRecalibration;
    type Scored = P;

    fn fit_with(
        &self,
        predictions: P,
        targets: Tensor<2>,
        options: FitOptions<'_, P>,
    ) -> Result<LocalRecalibration> {
        let refusal = NoDescent {
            map: LocalRecalibration::KIND,
            reason: "",
        };
        let task = DistributionTask::without_criterion(predictions, targets, options, refusal)?;
        let (predictions, targets) = (task.predictions, task.targets);
        let device = predictions.device();
        let mut silent = |_| {};
        let options = FitOptions {
            is_robust: task.options.is_robust,
            ..FitOptions::new(None, &mut silent)
        };
        let config = LocationScaleRecalibrationConfig::new();
        let before = config.fit_with(predictions.clone(), targets.clone(), options)?;
        let weights = task.weights;
        let [n, d] = targets.dims();
        check_parameter(d == 1, "the number of coordinates", d as f64, "1")?;
        at_least(2, "the number of samples", n, "at least 2")?;
        let [location, scale] = before
            .form
            .apply(predictions)
            .location_and_scale()
            .map(to_vec);
        let targets = to_vec(targets);
        let logarithms: Vec<f64> = scale.iter().map(|s| s.ln()).collect();
        let units = [unit(&location, &weights), unit(&logarithms, &weights)];
        let mut rows: Vec<(f64, [f64; 3])> = (0..n)
            .map(|i| {
                let z = (targets[i] - location[i]) / scale[i];
                let features = [location[i] * units[0], logarithms[i] * units[1]];
                (z, [features[0], features[1], weights.at(i)])
            })
            .collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (residuals, features): (Vec<f64>, Vec<[f64; 3]>) = rows.into_iter().unzip();
        let errors = Errors {
            residuals,
            features,
            power: P::POWER,
        };
        let scores = BANDWIDTHS.map(|bandwidth| errors.left_out_score(bandwidth));
        let tried = BANDWIDTHS.into_iter().zip(scores);
        let (bandwidth, score) = (tried.min_by(|a, b| a.1.total_cmp(&b.1))).expect("seven");
        // in units of the targets
        let score = score + weights.mean(&logarithms);
        let columns = if weights.are_given() { 3 } else { 2 };
        let features = errors.features.iter().flat_map(|row| &row[..columns]);
        let form = LocalResiduals {
            before: before.form,
            residuals: parameter_row(errors.residuals, &device),
            features: parameter(features.copied().collect(), [n, columns], &device),
            units: parameter_row(units.to_vec(), &device),
            bandwidth: parameter_row(vec![bandwidth.min(1e6)], &device),
        };
        let report = FitReport::found(score, task.options.progress);
        checked(LocalRecalibration::new(form, report))
    }
}

/// The reciprocal of the standard deviation; 0 where that is of rounding.
fn unit(values: &[f64], weights: &Weights) -> f64 {
    let Moments { mean, deviation } = Moments::of(values, weights);
    if deviation > 1e-9 * (1e-300 + mean.abs()) {
        1.0 / deviation
    } else {
        0.0
    }
}

/// Residuals and the predictions that they were made on.
struct Errors {
    /// Increasing.
    residuals: Vec<f64>,
    /// The features of the prediction, and the weight of the sample.
    features: Vec<[f64; 3]>,
    /// 2 of normal, 1 of Laplace predictions.
    power: f64,
}

/// The residuals of predictions like one.
struct Neighbours {
    /// The weight of each residual; their sum is 1.
    weights: Vec<f64>,
    /// The weight of the location-scale map.
    rest: f64,
    /// The width of a component.
    width: f64,
}

impl Errors {
    /// The weights of the residuals for a prediction with features; except for one residual.
    fn like(&self, features: [f64; 2], bandwidth: f64, but: Option<usize>) -> Neighbours {
        let squared = |f: &[f64; 3]| {
            let distance = (f[0] - features[0]).powi(2) + (f[1] - features[1]).powi(2);
            0.5 * distance / bandwidth / bandwidth
        };
        let mut weights: Vec<f64> = self.features.iter().map(squared).collect();
        if let Some(but) = but {
            weights[but] = f64::INFINITY;
        }
        let nearest = weights.iter().copied().fold(f64::INFINITY, f64::min);
        for (weight, f) in weights.iter_mut().zip(&self.features) {
            *weight = f[2] * (nearest - *weight).exp();
        }
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        let effective = 1.0 / weights.iter().map(|w| w * w).sum::<f64>();
        let mean: f64 = self.sum(&weights, |z| z);
        let variance = self.sum(&weights, |z| (z - mean).powi(2));
        Neighbours {
            weights,
            rest: 1.0 / (1.0 + effective),
            width: (1.06 * variance.sqrt() * effective.powf(-0.2)).max(NARROWEST),
        }
    }

    fn sum(&self, weights: &[f64], f: impl Fn(f64) -> f64) -> f64 {
        let term = |(w, z): (&f64, &f64)| w * f(*z);
        weights.iter().zip(&self.residuals).map(term).sum()
    }

    /// The weighted mean log score of samples that are left out, of residuals with a density in place of targets.
    fn left_out_score(&self, bandwidth: f64) -> f64 {
        let n = self.residuals.len();
        let count = n.min(LEFT_OUT);
        let rows: Vec<usize> = (0..count).map(|k| k * n / count).collect();
        let scores: Vec<f64> = parallel::map(count, &|k| {
            let row = rows[k];
            let [location, scale, weight] = self.features[row];
            let like = self.like([location, scale], bandwidth, Some(row));
            let z = self.residuals[row];
            let kernel = |u: f64| (-u.abs().powf(self.power) / self.power).exp();
            let local = self.sum(&like.weights, |other| kernel((z - other) / like.width));
            let local = ((1.0 - like.rest) * local / like.width).ln();
            let rest = like.rest.ln() - z.abs().powf(self.power) / self.power;
            -weight * log_sum_exp([local, rest].into_iter())
        }); // a sum in the same order on any number of cores
        let normalisation = match self.power {
            2.0 => 0.5 * (2.0 * std::f64::consts::PI).ln(),
            _ => 2f64.ln(),
        };
        let total: f64 = rows.iter().map(|&row| self.features[row][2]).sum();
        scores.iter().sum::<f64>() / total + normalisation
    }

    /// The means and variances of the residuals in `K` groups of neighbours with the same weight.
    fn groups(&self, weights: &[f64]) -> [[f64; 2]; COMPONENTS] {
        let share = 1.0 / COMPONENTS as f64;
        let mut groups = [[0.0; 3]; COMPONENTS]; // Σw, and mean and Σw(z − mean)² of what has come
        let mut at = 0;
        for (weight, z) in weights.iter().zip(&self.residuals) {
            let mut rest = *weight;
            while rest > 0.0 {
                let [sum, mean, squares] = &mut groups[at];
                let is_last = at + 1 == COMPONENTS; // which takes what rounding leaves
                let part = if is_last {
                    rest
                } else {
                    rest.min(share - *sum)
                };
                if part > 0.0 {
                    *sum += part;
                    let step = part / *sum * (z - *mean);
                    *squares += part * (z - *mean) * (z - *mean - step);
                    *mean += step;
                    rest -= part;
                }
                if !is_last && share - *sum <= 1e-12 * share {
                    at += 1;
                } else if part <= 0.0 {
                    break;
                }
            }
        }
        groups.map(|[sum, mean, squares]| [mean, squares / sum])
    }
}

impl LocalRecalibration {
    /// Returns the bandwidth of the kernel on predictions, in standard deviations of the features; 10⁶
    /// stands for an infinite one, for which all predictions are alike.
    pub fn bandwidth(&self) -> f64 {
        to_vec(self.form.bandwidth.val())[0]
    }

    /// Returns the map that comes first.
    pub fn location_scale(&self) -> super::LocationScaleRecalibration {
        super::LocationScaleRecalibration::new(self.form.before.clone(), None)
    }
}

impl LocalResiduals {
    fn template(_: usize, device: &Device) -> Self {
        Self {
            before: LocationScales::identity(1, device),
            residuals: parameter_row(vec![0.0], device),
            features: parameter(vec![0.0; 2], [1, 2], device),
            units: parameter_row(vec![0.0; 2], device),
            bandwidth: parameter_row(vec![1.0], device),
        }
    }
}

impl Form for LocalResiduals {
    fn check(&self) -> Result<(), String> {
        self.before.check()?;
        let [n] = self.residuals.dims();
        let columns = if self.features.dims()[1] == 3 { 3 } else { 2 };
        check_shape(&self.features, "features", [n, columns])?;
        check_shape(&self.units, "units", [2])?;
        check_shape(&self.bandwidth, "bandwidth", [1])?;
        if !(to_vec(self.bandwidth.val())[0] > 0.0 && to_vec(self.residuals.val()).is_sorted()) {
            return Err("residuals that increase and a positive bandwidth are expected".into());
        }
        let features = to_vec(self.features.val());
        if columns == 3 && features.chunks(3).any(|row| row[2] <= 0.0) {
            return Err("positive weights of the samples are expected".into());
        }
        Ok(())
    }

    fn width(&self) -> Option<usize> {
        Some(1)
    }
}

impl<P: ScaleFamily + Component> Recalibration<P, Mixture<P>> for LocalRecalibration {
    fn forward(&self, predictions: P) -> Mixture<P> {
        let form = &self.form;
        let before = form.before.apply(predictions);
        let [location, scale] = before.location_and_scale();
        let [n, d] = location.dims();
        assert_eq!(d, 1, "predictions of dimension {d}, expected 1");
        let options = (&location.device(), location.dtype());
        let (location, scale) = (to_vec(location), to_vec(scale));
        let units = to_vec(form.units.val());
        let (features, [_, columns]) = (to_vec(form.features.val()), form.features.dims());
        let weight = |row: &[f64]| row.get(2).copied().unwrap_or(1.0);
        let features = features.chunks(columns);
        let errors = Errors {
            residuals: to_vec(form.residuals.val()),
            features: features.map(|row| [row[0], row[1], weight(row)]).collect(),
            power: P::POWER,
        };
        let bandwidth = self.bandwidth();
        let k = COMPONENTS + 1;
        let components = |i: usize| {
            let (mu, s) = (location[i], scale[i]);
            let like = errors.like([mu * units[0], s.ln() * units[1]], bandwidth, None);
            let share = (1.0 - like.rest) / COMPONENTS as f64;
            let local = errors.groups(&like.weights).into_iter();
            let width = move |variance: f64| s * (like.width.powi(2) + variance).sqrt();
            let local = local.map(move |[q, variance]| [share, mu + s * q, width(variance)]);
            local.chain([[like.rest, mu, s]]).collect::<Vec<_>>()
        };
        let rows: Vec<[f64; 3]> = parallel::map(n, &components).concat();
        let column = |c: usize, shape: [usize; 2]| {
            let numbers: Vec<f64> = rows.iter().map(|row| row[c]).collect();
            Tensor::from_data(TensorData::new(numbers, shape), options)
        };
        let components = P::with_location_and_scale(column(1, [n * k, 1]), column(2, [n * k, 1]));
        Mixture::new(column(0, [n, k]), components)
    }
}
