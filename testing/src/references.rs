//! Brute-force references: estimators and losses by loops over samples and pairs.

use crate::data::*;

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Distances by scalar loops.
pub fn l1(p: &[f64], q: &[f64]) -> f64 {
    p.iter().zip(q).map(|(p, q)| (p - q).abs()).sum()
}

pub fn euclidean(p: &[f64], q: &[f64]) -> f64 {
    let squares = p.iter().zip(q).map(|(p, q)| (p - q).powi(2));
    squares.sum::<f64>().sqrt()
}

/// `h_ij` by scalar loops, in the form of docs/mathematics.md section 2 that needs no residuals.
pub fn pair_statistic(
    rows: &[Vec<f64>],
    labels: &[usize],
    kernel: impl Fn(&[f64], &[f64]) -> f64,
) -> Vec<Vec<f64>> {
    pair_statistic_by(rows, labels, |i, j| kernel(&rows[i], &rows[j]))
}

/// As [`pair_statistic`], with the kernel of pairs.
pub fn pair_statistic_by(
    rows: &[Vec<f64>],
    labels: &[usize],
    kernel: impl Fn(usize, usize) -> f64,
) -> Vec<Vec<f64>> {
    table(rows.len(), rows.len(), |i, j| {
        let (p, q, y, z) = (&rows[i], &rows[j], labels[i], labels[j]);
        kernel(i, j) * (f64::from(y == z) - p[z] - q[y] + dot(p, q))
    })
}

pub fn unbiased(h: &[Vec<f64>]) -> f64 {
    let n = h.len();
    2.0 * pairs(n).map(|(i, j)| h[i][j]).sum::<f64>() / (n * (n - 1)) as f64
}

pub fn biased(h: &[Vec<f64>]) -> f64 {
    h.concat().iter().sum::<f64>() / (h.len() * h.len()) as f64
}

/// The mean of [`unbiased`] of blocks of so many samples.
pub fn in_blocks(h: &[Vec<f64>], size: usize) -> f64 {
    let blocks = h.len() / size;
    let of_block = |b: usize| {
        let columns = |row: &Vec<f64>| row[b * size..(b + 1) * size].to_vec();
        unbiased(
            &h[b * size..(b + 1) * size]
                .iter()
                .map(columns)
                .collect::<Vec<_>>(),
        )
    };
    (0..blocks).map(of_block).sum::<f64>() / blocks as f64
}

/// The mean log loss of logits, by loops.
pub fn log_loss(logits: &[Vec<f64>], classes: &[usize]) -> f64 {
    log_loss_at(1.0, logits, classes)
}

/// The mean log loss of logits that are divided by a temperature.
pub fn log_loss_at(temperature: f64, logits: &[Vec<f64>], classes: &[usize]) -> f64 {
    let of_row = |(row, &y): (&Vec<f64>, &usize)| {
        let scaled: Vec<f64> = row.iter().map(|z| z / temperature).collect();
        -softmax(&scaled)[y].ln()
    };
    logits.iter().zip(classes).map(of_row).sum::<f64>() / classes.len() as f64
}
