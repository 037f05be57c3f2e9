//! Draws from predictions of real vectors.

use crate::prelude::*;

/// The same row `n` times.
fn repeated(row: &[f64], n: usize) -> Tensor<2> {
    tensor(&vec![row.to_vec(); n])
}

/// Means and variances of many draws, to five standard errors.
fn check<P: Predictive<Targets = Tensor<2>> + Marginals>(predictions: &P, fourth: f64) {
    let draws = vector(predictions.sample(&mut rng(2)));
    let (means, variances) = (vector(predictions.means()), vector(predictions.variances()));
    for c in 0..2 {
        let values: Vec<f64> = draws.iter().skip(c).step_by(2).copied().collect();
        let (count, mean) = (values.len() as f64, mean(&values));
        let variance = values.iter().map(|x| (x - means[c]).powi(2)).sum::<f64>() / count;
        let error = 5.0 / count.sqrt();
        assert!((mean - means[c]).abs() < error * variances[c].sqrt());
        assert!((variance / variances[c] - 1.0).abs() < error * (fourth - 1.0).sqrt());
    }
}

#[test]
fn have_the_moments() {
    let location = repeated(&[1.0, -2.0], 40_000);
    let scale = repeated(&[0.5, 3.0], 40_000);
    check(&Normal::new(location.clone(), scale.clone()), 3.0);
    check(&Laplace::new(location, scale), 6.0);
}

/// As many of each prediction as asked for, by row, coordinates together.
#[test]
fn of_each_row_together() {
    let means = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let predictions = Normal::new(tensor(&means), repeated(&[1e-6; 3], 2));
    let samples = Samples::drawn_from(&predictions, 4, &mut rng(3));
    assert_eq!(samples.draws().dims(), [2, 4, 3]);
    for (at, draw) in vector(samples.draws()).into_iter().enumerate() {
        let mean: f64 = means[at / 12][at % 3];
        assert!((draw - mean).abs() < 1e-4);
    }
}
