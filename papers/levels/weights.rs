//! Tables of samples with weights.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_calibration::{
    distribution::{Categorical, Marginals as _, Normal, Predictive, QuantileForecasts, Weighted},
    error,
};
use rand::{RngExt, rngs::StdRng};
use rand_distr::{Distribution, LogNormal, Pareto};

use crate::{
    Result,
    models::{Classes, Labels, Model, Real, Source},
    partial,
    rejections::{Setting, Settings, Study, table},
    tests,
};

/// The law of weights.
#[derive(Clone, Copy)]
enum Law {
    /// Exponentials of normal numbers of this standard deviation.
    LogNormal(f64),
    /// With the exponent 1.1.
    Pareto,
    /// So many samples have half of all weight.
    Half(usize),
    /// 1 and 20, one in two.
    Two,
}

impl Law {
    fn name(self) -> String {
        match self {
            Self::LogNormal(deviation) => format!("log-normal {deviation}"),
            Self::Pareto => "Pareto".into(),
            Self::Half(1) => "half".into(),
            Self::Half(count) => format!("half on {count}"),
            Self::Two => "two".into(),
        }
    }

    fn draw(self, n: usize, rng: &mut StdRng) -> Vec<f64> {
        let one = |row: usize| match self {
            Self::LogNormal(deviation) => {
                let law = LogNormal::new(0.0, deviation).expect("a deviation");
                law.sample(rng)
            }
            Self::Pareto => Pareto::new(1.0, 1.1).expect("an exponent").sample(rng),
            Self::Half(count) if row < count => (n - count) as f64 / count as f64,
            Self::Half(_) => 1.0,
            Self::Two if rng.random() => 20.0,
            Self::Two => 1.0,
        };
        (0..n).map(one).collect()
    }
}

/// A model whose samples have weights that depend on nothing.
struct WithWeights<M> {
    model: M,
    law: Law,
}

impl<P: Predictive + Weighted, M: Model<P, P::Targets>> Model<P, P::Targets> for WithWeights<M> {
    fn draw(&self, set: usize, rng: &mut StdRng) -> error::Result<(P, P::Targets)> {
        let (predictions, targets) = self.model.draw(set, rng)?;
        let weights = self.law.draw(predictions.len(), rng);
        let weights = Tensor::<1>::from_data(&weights[..], &predictions.device());
        predictions.weighted(&weights, &targets)
    }
}

/// Quantiles of normal predictions.
#[derive(Clone, Copy)]
struct Quantiles(Real);

impl Model<QuantileForecasts, Tensor<2>> for Quantiles {
    fn draw(&self, set: usize, rng: &mut StdRng) -> error::Result<(QuantileForecasts, Tensor<2>)> {
        let (normal, targets): (Normal, _) = self.0.draw(set, rng)?;
        let levels = vec![0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975];
        let values = levels.iter().map(|&level| normal.quantile(level));
        let values = Tensor::cat(values.collect(), 1);
        Ok((QuantileForecasts::new(levels, values)?, targets))
    }
}

/// A calibrated event of which a share of the samples without it is kept; the weights are the inverse.
#[derive(Clone, Copy)]
struct CaseControl {
    kept: f64,
    samples: usize,
}

impl Model<Categorical, Tensor<1, Int>> for CaseControl {
    fn draw(&self, _: usize, rng: &mut StdRng) -> error::Result<(Categorical, Tensor<1, Int>)> {
        let (mut rows, mut labels, mut weights) = (vec![], vec![], vec![]);
        while labels.len() < self.samples {
            let risk: f64 = rng.random::<f64>().powi(2);
            let happened = rng.random_bool(risk);
            if !happened && !rng.random_bool(self.kept) {
                continue;
            }
            rows.extend([1.0 - risk, risk]);
            labels.push(i64::from(happened));
            weights.push(if happened { 1.0 } else { self.kept.recip() });
        }
        let device = Device::default();
        let rows = TensorData::new(rows, [self.samples, 2]);
        let predictions =
            Categorical::from_probabilities(Tensor::from_data(rows, (&device, DType::F64)))?;
        let labels = Tensor::from_data(&labels[..], &device);
        predictions.weighted(&Tensor::from_data(&weights[..], &device), &labels)
    }
}

/// Prints the tables of `papers/results/levels_weights.md`.
pub fn tables(study: &Study) -> Result<()> {
    let (all, redraws) = (study.options.datasets, study.options.redraws);
    let levels = |count| (count, 3, true);
    let of_classes = |law: Law, m: usize, concentration: f64, samples: usize| {
        let model = Classes {
            source: Source::Dirichlet(m, concentration),
            labels: Labels::Calibrated,
            samples,
        };
        let name = format!("{m} classes, {}, n = {samples}", law.name());
        let model: Box<dyn Model<Categorical, _>> = Box::new(WithWeights { model, law });
        (name, model)
    };
    let two_and_ten = vec![
        of_classes(Law::Half(1), 2, 1.0, 40),
        of_classes(Law::LogNormal(2.0), 2, 1.0, 60),
        of_classes(Law::Two, 2, 1.0, 100),
        of_classes(Law::Pareto, 2, 1.0, 100),
        of_classes(Law::LogNormal(2.0), 2, 0.05, 200),
        of_classes(Law::LogNormal(1.0), 10, 0.1, 100),
        of_classes(Law::LogNormal(2.0), 10, 0.1, 200),
    ];
    let tests = [tests::aspects(redraws)];
    table(
        "weights: calibrated classes",
        &tests,
        &two_and_ten,
        levels(all),
        study,
    )?;
    let even = [
        Law::LogNormal(1.0),
        Law::LogNormal(2.0),
        Law::Two,
        Law::Pareto,
    ];
    let even: Settings<_> = even.map(|law| of_classes(law, 10, 0.3, 1000)).into();
    let title = "weights: intervals of 95 % that miss the error of a calibrated model";
    table(title, &tests::coverage(), &even, (all, 1, false), study)?;

    let real = |law: Law, samples, shift, spread| {
        let model = Real {
            samples,
            shift,
            spread,
        };
        WithWeights { model, law }
    };
    let normal = [
        (Law::Half(1), 50),
        (Law::LogNormal(2.0), 100),
        (Law::Pareto, 100),
    ];
    let normal: Settings<Normal> = normal
        .map(|(law, n)| -> Setting<Normal> {
            let name = format!("normal, {}, n = {n}", law.name());
            (name, Box::new(real(law, n, 0.0, 1.0)))
        })
        .into();
    let tests = [tests::aspects(redraws)];
    table(
        "weights: calibrated normal predictions",
        &tests,
        &normal,
        levels(all),
        study,
    )?;
    let quantiles = [
        (Law::LogNormal(2.0), 60),
        (Law::Half(3), 60),
        (Law::Two, 100),
    ];
    let quantiles: Settings<QuantileForecasts> = quantiles
        .map(|(law, samples)| -> Setting<QuantileForecasts> {
            let model = Quantiles(Real {
                samples,
                shift: 0.0,
                spread: 1.0,
            });
            let name = format!("quantiles, {}, n = {samples}", law.name());
            (name, Box::new(WithWeights { model, law }))
        })
        .into();
    let tests = [tests::aspects(redraws)];
    table(
        "weights: calibrated quantiles",
        &tests,
        &quantiles,
        levels(all),
        study,
    )?;

    let law = Law::LogNormal(1.0);
    let wide: Settings<Normal> = vec![(
        "errors 2 times as wide, n = 100".into(),
        Box::new(real(law, 100, 0.0, 2.0)),
    )];
    let title = "weights: spread wrong, location and trends right, log-normal 1";
    let right = |name: &str| name == "location" || name.contains("_by_");
    table(
        title,
        &[partial::accusations(redraws, right)],
        &wide,
        (all, 2, false),
        study,
    )?;
    let high: Settings<Normal> = vec![(
        "targets one deviation high, n = 100".into(),
        Box::new(real(law, 100, 1.0, 1.0)),
    )];
    let title = "weights: location wrong, spread and trends right, log-normal 1";
    let right = |name: &str| name == "spread" || name.contains("_by_");
    table(
        title,
        &[partial::accusations(redraws, right)],
        &high,
        (all, 2, false),
        study,
    )?;
    let overconfident: Settings<Categorical> =
        partial::settings(&partial::OVERCONFIDENT, &[2, 10], &[200])
            .into_iter()
            .map(|(name, model)| -> Setting<Categorical> {
                (name, Box::new(WithWeights { model, law }))
            })
            .collect();
    let title = "weights: overconfident, frequencies of classes right, log-normal 1";
    let right = |name: &str| name.starts_with("class_");
    table(
        title,
        &[partial::accusations(redraws, right)],
        &overconfident,
        (all, 2, false),
        study,
    )?;

    let outcome: Settings<Categorical> = [(0.1, 100), (0.5, 100), (0.1, 1000)]
        .map(|(kept, samples)| -> Setting<Categorical> {
            let name = format!(
                "{} % of those without the event, n = {samples}",
                100.0 * kept
            );
            (name, Box::new(CaseControl { kept, samples }))
        })
        .into();
    let tests = [tests::aspects(redraws)];
    table(
        "weights from the outcome: a calibrated event",
        &tests,
        &outcome,
        levels(all),
        study,
    )
}
