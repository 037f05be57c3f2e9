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
        let rows = table(n, m, |i, c| {
            let k = (if i == 3 { m + c } else { i * m + c }) as f32;
            f64::from((k * k * 0.37).sin())
        });
        for distance in DISTANCES {
            let of_block = |block: &[Vec<f64>]| {
                let between = |(i, j): (usize, usize)| brute_force(distance, &block[i], &block[j]);
                pairs(size).map(between).collect::<Vec<f64>>()
            };
            let all = sorted(rows.chunks_exact(size).flat_map(of_block));
            check(&rows, distance, size, median(&all));
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
