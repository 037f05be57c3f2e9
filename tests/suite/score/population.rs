//! A population of few distinct predictions, whose errors and scores are finite sums.

use crate::prelude::*;

/// Classes.
pub const M: usize = 3;
/// Distinct predictions.
pub const SUPPORT: usize = 6;

/// With probability `1/SUPPORT` each, prediction `before[a]`, recalibrated `after[a]`, and labels
/// distributed as `truth[a]`.
pub struct Population {
    pub before: Vec<Vec<f64>>,
    pub after: Vec<Vec<f64>>,
    pub truth: Vec<Vec<f64>>,
}

/// A sample: predictions before and after, labels.
pub type Sample = (Vec<Vec<f64>>, Vec<Vec<f64>>, Vec<usize>);

impl Population {
    /// Overconfident by a factor of three before, by half of it after.
    pub fn overconfident(seed: u64) -> Self {
        let logits = random_rows(SUPPORT, M, 1.0, &mut rng(seed));
        let at = |beta: f64| {
            let row = |z: &Vec<f64>| softmax(&z.iter().map(|z| beta * z).collect::<Vec<_>>());
            logits.iter().map(row).collect()
        };
        Self {
            before: at(3.0),
            after: at(1.5),
            truth: at(1.0),
        }
    }

    pub fn draw(&self, n: usize, rng: &mut StdRng) -> Sample {
        let mut sample: Sample = Default::default();
        for _ in 0..n {
            let a = rng.random_range(0..SUPPORT);
            let u: f64 = rng.random();
            let cumulative = self.truth[a].iter().scan(0.0, |sum, q| {
                *sum += q;
                Some(*sum)
            });
            sample.0.push(self.before[a].clone());
            sample.1.push(self.after[a].clone());
            sample
                .2
                .push(cumulative.take_while(|sum| *sum < u).count().min(M - 1));
        }
        sample
    }

    /// `E[S(p, Y)]`, exactly.
    pub fn score(&self, score: &dyn Divergence, predictions: &[Vec<f64>]) -> f64 {
        let expected = |(p, q): (&Vec<f64>, &Vec<f64>)| -> f64 {
            (0..M).map(|y| q[y] * by_loop(score, p, y)).sum()
        };
        predictions
            .iter()
            .zip(&self.truth)
            .map(expected)
            .sum::<f64>()
            / SUPPORT as f64
    }

    /// `Σ_ab k(p_a, p_b) (q_a − p_a)·(q_b − p_b) / SUPPORT²`, exactly.
    pub fn skce(&self, predictions: &[Vec<f64>], kernel: impl Fn(&[f64], &[f64]) -> f64) -> f64 {
        let residual = |a: usize, c: usize| self.truth[a][c] - predictions[a][c];
        let h = |a: usize, b: usize| {
            let dot: f64 = (0..M).map(|c| residual(a, c) * residual(b, c)).sum();
            kernel(&predictions[a], &predictions[b]) * dot
        };
        let pairs = (0..SUPPORT).flat_map(|a| (0..SUPPORT).map(move |b| (a, b)));
        pairs.map(|(a, b)| h(a, b)).sum::<f64>() / (SUPPORT * SUPPORT) as f64
    }
}

/// A score by its definition.
pub fn by_loop(score: &dyn Divergence, p: &[f64], y: usize) -> f64 {
    let norm = p.iter().map(|p| p * p).sum::<f64>();
    match score.name() {
        "Brier score" => norm - 2.0 * p[y] + 1.0,
        "log score" => -p[y].ln(),
        _ => 1.0 - p[y] / norm.sqrt(),
    }
}

/// Calibration, sharpness and entropy of groups of equal predictions: `Σ_g (n_g/n) d(p_g, q_g)`,
/// `Σ_g (n_g/n) d(q̄, q_g)` and `S(q̄, q̄)`, with the frequencies `q_g` of the labels of a group, `q̄` of all, and
/// `d(p, q) = S(p, q) − S(q, q)`.
pub fn by_groups(score: &dyn Divergence, rows: &[Vec<f64>], classes: &[usize]) -> [f64; 3] {
    let expected = |p: &[f64], q: &[f64]| -> f64 {
        let possible = (0..q.len()).filter(|&y| q[y] > 0.0);
        possible.map(|y| q[y] * by_loop(score, p, y)).sum()
    };
    let frequencies = |is_member: &dyn Fn(usize) -> bool| -> Vec<f64> {
        let members: Vec<usize> = (0..rows.len()).filter(|&i| is_member(i)).collect();
        let count = |class| members.iter().filter(|&&i| classes[i] == class).count() as f64;
        let share = |class| count(class) / members.len() as f64;
        (0..rows[0].len()).map(share).collect()
    };
    let marginal = frequencies(&|_| true);
    let (mut calibration, mut sharpness) = (0.0, 0.0);
    for row in rows {
        let own = frequencies(&|i| rows[i] == *row);
        calibration += expected(row, &own) - expected(&own, &own);
        sharpness += expected(&marginal, &own) - expected(&own, &own);
    }
    let n = rows.len() as f64;
    [
        calibration / n,
        sharpness / n,
        expected(&marginal, &marginal),
    ]
}

pub const SCORES: [&dyn Divergence; 3] = [&Brier, &LogScore, &Spherical];

/// Mean and standard deviation.
pub fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0)).sqrt())
}
