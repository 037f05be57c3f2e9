//! The generative models M1–M3 of Widmann et al. 2019, section 7: predictions from
//! `Dir(0.1, …, 0.1)` over ten classes, with labels that are calibrated (M1) or not (M2, M3).

use rand::RngExt;
use rand_distr::{Distribution, Gamma};

use crate::generator::StdRng;

#[derive(Clone, Copy)]
pub enum Model {
    /// Labels from the prediction.
    M1,
    /// With probability ½ from the prediction, else the first class.
    M2,
    /// Labels uniform.
    M3,
}

pub fn draw(model: Model, n: usize, m: usize, rng: &mut StdRng) -> (Vec<Vec<f64>>, Vec<usize>) {
    let gamma = Gamma::new(0.1, 1.0).unwrap();
    let mut sample = || {
        let weights: Vec<f64> = (0..m).map(|_| gamma.sample(rng)).collect();
        let sum: f64 = weights.iter().sum();
        let row: Vec<f64> = weights.iter().map(|w| w / sum).collect();
        let label = match model {
            Model::M2 if rng.random_bool(0.5) => 0,
            Model::M3 => rng.random_range(0..m),
            _ => crate::data::draw_class(&row, rng),
        };
        (row, label)
    };
    (0..n).map(|_| sample()).unzip()
}
