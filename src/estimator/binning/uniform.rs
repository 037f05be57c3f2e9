use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
};

/// Bins of equal width in each coordinate, in the order of their first sample.
pub(super) fn partition(points: &[f64], dimension: usize, bins: usize) -> Vec<Vec<usize>> {
    let state = RandomState::new();
    let tuple = |row: usize| {
        let point = &points[row * dimension..][..dimension];
        point.iter().map(|&p| bin(p, bins))
    };
    // by the hash of a tuple the bins that have it; the tuple itself is that of the first sample
    let mut known: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut partition: Vec<Vec<usize>> = Vec::new();
    let mut own = vec![0; dimension];
    for row in 0..points.len() / dimension {
        own.iter_mut()
            .zip(tuple(row))
            .for_each(|(own, bin)| *own = bin);
        let same_hash = known.entry(state.hash_one(&own)).or_default();
        let is_same = |&&at: &&usize| tuple(partition[at][0]).eq(own.iter().copied());
        match same_hash.iter().find(is_same) {
            Some(&at) => partition[at].push(row),
            None => {
                same_hash.push(partition.len());
                partition.push(vec![row]);
            }
        }
    }
    partition
}

/// The bin `b` (0-based) with `b/B < p ≤ (b+1)/B`; 0 lies in the first.
pub fn bin(p: f64, bins: usize) -> usize {
    ((p * bins as f64).ceil() as usize).clamp(1, bins) - 1
}
