//! The median distance of a batch, on every backend.

use super::on_each;
use crate::prelude::*;

const DISTANCES: [Distance; 3] = [Distance::Euclidean, Distance::TotalVariation, Distance::L1];

/// Compares the median of points, within blocks of so many, with what is expected, relative to it.
fn check(rows: &[Vec<f64>], distance: Distance, size: usize, expected: f64) {
    let median = |device: &Device, dtype| {
        let points: Tensor<2> = tensor_on(rows, device, dtype);
        let median = scalar(median_of_blocks(points, distance, size));
        vec![(String::new(), vec![median])]
    };
    for (name, tolerance, found) in on_each(median) {
        let (what, found) = ((name, distance, size), found[0].1[0]);
        assert_near_in(what, found, expected, tolerance.min(1e-6) * expected);
    }
}

/// Odd and even numbers of pairs, of tiles, of blocks in a tile and of tiles in a block, with samples
/// in no block, coincident points, and more coordinates than the side of a tile.
#[test]
fn agree_with_a_sort() {
    for (n, m, size) in [
        (2, 2, 2),
        (3, 1, 3),
        (17, 3, 17),
        (50, 20, 50),
        (131, 10, 131),
        (50, 3, 4),
        (131, 2, 33),
        (7, 5, 2),
    ] {
        let row = |i: usize| -> Vec<f64> {
            let sample = if i == 3 { 1 } else { i };
            let ks = sample * m..(sample + 1) * m;
            ks.map(|k| f64::from((k as f32 * k as f32 * 0.37).sin()))
                .collect()
        };
        let rows: Vec<Vec<f64>> = (0..n).map(row).collect();
        for distance in DISTANCES {
            let between = |p: &[f64], q: &[f64]| {
                let differences = || p.iter().zip(q).map(|(p, q)| (p - q).abs());
                match distance {
                    Distance::Euclidean => differences().map(|x| x * x).sum::<f64>().sqrt(),
                    Distance::TotalVariation => 0.5 * differences().sum::<f64>(),
                    _ => differences().sum(),
                }
            };
            let mut all: Vec<f64> = (rows.chunks_exact(size))
                .flat_map(|block| {
                    let pairs = (1..size).flat_map(|j| (0..j).map(move |i| (i, j)));
                    pairs.map(|(i, j)| between(&block[i], &block[j]))
                })
                .collect();
            all.sort_by(f64::total_cmp);
            let middle = 0.5 * (all[(all.len() - 1) / 2] + all[all.len() / 2]);
            check(&rows, distance, size, middle);
        }
    }
}

/// Distances of whole numbers are exact, and so are their medians: 3.5 of 1, 2, 3, 4, 5, 6 for the
/// points 0, 1, 4 and 6.
#[test]
fn by_hand() {
    for (distance, scale) in DISTANCES.into_iter().zip([1.0, 0.5, 1.0]) {
        let check = |points: &[f64], expected| {
            let rows: Vec<Vec<f64>> = points.iter().map(|&x| vec![x]).collect();
            check(&rows, distance, rows.len(), expected);
        };
        check(&[0.0, 1.0, 4.0, 6.0], 3.5 * scale);
        check(&[6.0, 0.0, 2.0], 4.0 * scale);
        check(&[0.25; 5], 1.0); // most points coincide
        check(&[0.0, f64::NAN, 2.0], 1.0); // a diverged batch
        check(&[0.0, f64::INFINITY, 2.0, 5.0], 1.0);
    }
}
