use crate::distribution::Weights;

/// Bins of a single coordinate that end at the values of rank `⌈bn/B⌉`, in increasing order.
pub(super) fn partition(points: &[f64], bins: usize, weights: &Weights) -> Vec<Vec<usize>> {
    let n = points.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| points[i].total_cmp(&points[j]));
    let total: f64 = order.iter().map(|&row| weights.at(row)).sum();
    let mut partition = Vec::new();
    let (mut start, mut end, mut mass) = (0, 0, 0.0);
    for b in 1..=bins {
        // the first samples that have b/bins of the mass, in products that are exact of counts
        while end < n && mass * (bins as f64) < b as f64 * total {
            mass += weights.at(order[end]);
            end += 1;
        }
        while end > start && end < n && points[order[end]] == points[order[end - 1]] {
            mass += weights.at(order[end]);
            end += 1; // ties share a bin
        }
        if end > start {
            partition.push(order[start..end].to_vec());
        }
        start = end;
    }
    partition
}
