//! Ratios of shifts and scales: of densities, and of ranks among draws.

use burn::tensor::Tensor;
use statrs::distribution::{ContinuousCDF, Normal as StandardNormal};

use super::{CalibrationMonitor, Component, Monitored, Part, Stream};
use crate::{
    distribution::{Batch, Density, Marginals, Predictive, Samples},
    error::Result,
    host::{finest, to_vec},
};

/// Rows of densities that are computed at once.
const AT_ONCE: usize = 4096;

impl<P: Marginals + Density> Monitored for P {
    fn stream(&self) -> Stream {
        Stream::Density(self.dimensions())
    }

    fn bet(&self, targets: &Tensor<2>, monitor: &mut CalibrationMonitor) -> Result<()> {
        let dtype = finest(&self.device());
        let all = self.map(&|parameter| parameter.detach().cast(dtype));
        let targets = targets.clone().detach().cast(dtype);
        for first in (0..all.len()).step_by(AT_ONCE) {
            let rows = first..all.len().min(first + AT_ONCE);
            let (p, y) = (all.slice_rows(rows.clone()), targets.clone().slice(rows));
            let [n, d] = y.dims();
            let (mean, sd) = (p.means(), p.variances().sqrt()); // [n, d]
            let logs = to_vec(p.log_density_of_data(&y)); // [n]
            let pit = to_vec(p.cdf(&y));
            let ratios_of = |component: &Component| -> Vec<f64> {
                let (factor, shift) = (component.factor, component.shift);
                // q(y) = p(m + (y − m − shift · s)/factor)/factor^d
                let point = mean.clone() + (y.clone() - mean.clone() - sd.clone() * shift) / factor;
                let moved = to_vec(p.log_density_of_data(&point));
                let ratio = |(moved, log): (f64, &f64)| {
                    let ratio = (moved - log - d as f64 * factor.ln()).exp();
                    let ratio = if ratio.is_nan() { 0.0 } else { ratio };
                    1.0 - component.share + component.share * ratio
                };
                moved.into_iter().zip(&logs).map(ratio).collect()
            };
            let columns: Vec<Vec<f64>> = monitor.state.components.iter().map(ratios_of).collect();
            for i in 0..n {
                let pit = pit[i * d..][..d].iter().sum::<f64>() / d as f64;
                let is_possible = logs[i] > f64::NEG_INFINITY;
                let error = 0.5 - pit.clamp(0.0, 1.0);
                monitor.add(is_possible, |k, _| columns[k][i], &[error]);
            }
        }
        Ok(())
    }
}

impl Monitored for Samples {
    fn stream(&self) -> Stream {
        Stream::Draws(self.dimensions())
    }

    fn bet(&self, targets: &Tensor<2>, monitor: &mut CalibrationMonitor) -> Result<()> {
        let [_, s, d] = self.draws().dims();
        let (draws, targets) = (to_vec(self.draws()), to_vec(targets.clone()));
        let components = monitor.state.components.iter();
        let ratios: Vec<Vec<f64>> = components.map(|one| ratios_of_places(one, s)).collect();
        let mut places = vec![0..1; d]; // those that the target may have
        for (draws, y) in draws.chunks(s * d).zip(targets.chunks(d)) {
            let mut mean_rank = 0.0;
            for (c, place) in places.iter_mut().enumerate() {
                let of = draws.iter().skip(c).step_by(d);
                let below = of.clone().filter(|draw| **draw < y[c]).count();
                let ties = of.filter(|draw| **draw == y[c]).count();
                *place = below..below + ties + 1;
                let middle = below as f64 + 0.5 * (ties + 1) as f64;
                mean_rank += middle / (s + 1) as f64 / d as f64;
            }
            let ratio = |k: usize, component: &mut Component| match component.part {
                Part::Coordinate(coordinate) => {
                    let tied = &ratios[k][places[coordinate].clone()];
                    tied.iter().sum::<f64>() / tied.len() as f64
                }
                _ => 1.0,
            };
            monitor.add(true, ratio, &[0.5 - mean_rank]);
        }
        Ok(())
    }
}

/// The ratios of the `s + 1` places among `s` draws: of normal densities at the normal scores of the places, with mean 1.
fn ratios_of_places(component: &Component, s: usize) -> Vec<f64> {
    let (share, normal) = (component.share, StandardNormal::standard());
    let ratio = |place: usize| {
        let z = normal.inverse_cdf((place as f64 + 0.5) / (s + 1) as f64);
        let moved = (z - component.shift) / component.factor;
        (0.5 * (z * z - moved * moved)).exp()
    };
    let ratios: Vec<f64> = (0..=s).map(ratio).collect();
    let mean = ratios.iter().sum::<f64>() / (s + 1) as f64;
    let with_share = |ratio: f64| 1.0 - share + share * ratio / mean;
    ratios.into_iter().map(with_share).collect()
}
