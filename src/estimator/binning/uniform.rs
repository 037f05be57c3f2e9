use std::collections::{HashMap, hash_map::Entry};

/// Bins of equal width in each coordinate, in the order of their first sample.
pub(super) fn partition(points: &[f64], dimension: usize, bins: usize) -> Vec<Vec<usize>> {
    let mut known: HashMap<Vec<usize>, usize> = HashMap::new();
    let mut partition: Vec<Vec<usize>> = Vec::new();
    for (row, point) in points.chunks(dimension).enumerate() {
        let tuple = point.iter().map(|&p| bin(p, bins)).collect();
        match known.entry(tuple) {
            Entry::Occupied(entry) => partition[*entry.get()].push(row),
            Entry::Vacant(entry) => {
                entry.insert(partition.len());
                partition.push(vec![row]);
            }
        }
    }
    partition
}

/// The bin `b` (0-based) with `b/B < p ≤ (b+1)/B`; 0 lies in the first.
pub(crate) fn bin(p: f64, bins: usize) -> usize {
    ((p * bins as f64).ceil() as usize).clamp(1, bins) - 1
}
