/// Bins of a single coordinate that end at the values of rank `⌈bn/B⌉`, in increasing order.
pub(super) fn partition(points: &[f64], bins: usize) -> Vec<Vec<usize>> {
    let n = points.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| points[i].total_cmp(&points[j]));
    let mut partition = Vec::new();
    let mut start = 0;
    for b in 1..=bins {
        let mut end = (b * n).div_ceil(bins).max(start);
        while end > start && end < n && points[order[end]] == points[order[end - 1]] {
            end += 1; // ties share a bin
        }
        if end > start {
            partition.push(order[start..end].to_vec());
        }
        start = end;
    }
    partition
}
