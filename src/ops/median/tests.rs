//! Order statistics against a sort.

use std::{cell::Cell, ops::Range};

use burn::tensor::DType;

use super::{
    select::{Distances, MOST, TOGETHER, Within, order_statistics, stored},
    tiles::{Tiles, median_of_tiles},
};

fn sorted(mut numbers: Vec<f64>) -> Vec<f64> {
    numbers.sort_by(f64::total_cmp);
    numbers
}

/// The places `i < j`.
fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(|j| (0..j).map(move |i| (i, j)))
}

/// Numbers, and how many passes there were over them.
struct Counted(Vec<f64>, Cell<usize>);

impl Distances<f64> for Counted {
    fn count(&self) -> u64 {
        self.0.len() as u64
    }

    fn sample(&self) -> Vec<f64> {
        self.0.iter().step_by(64).copied().collect()
    }

    fn add_to(&self, within: Within<f64>) -> Within<f64> {
        self.1.set(self.1.get() + 1);
        let (first, second) = self.0.split_at(self.0.len() / 3);
        let add = |numbers: &[f64]| {
            let mut share = within.emptied();
            numbers.chunks(TOGETHER).for_each(|some| share.add(some));
            share
        };
        let merged = add(first).merge(add(second));
        assert!(merged.kept.len() <= MOST);
        merged
    }
}

/// Whatever their order, with ties, infinite ones, and more in the bracket than are kept: the numbers of a sort.
#[test]
fn selected_numbers_are_those_of_a_sort() {
    let n = 200_000u32;
    let scattered = |k: u32| f64::from(k.wrapping_mul(2_654_435_761) >> 8);
    let numbers: [&dyn Fn(u32) -> f64; 7] = [
        &scattered,
        &|k| f64::from(k),
        &|k| f64::from(n - k) * 1e-300,
        &|k| f64::from(k % 3),
        &|k| f64::from(k * 7 % 11 / 10),
        &|k| {
            if k % 2 == 0 {
                f64::INFINITY
            } else {
                scattered(k)
            }
        },
        &|k| {
            if k % 64 == 0 {
                1e300
            } else {
                scattered(k % 1000)
            }
        }, // the sample misleads
    ];
    for (case, numbers) in numbers.into_iter().enumerate() {
        let numbers = Counted((0..n).map(numbers).collect(), Cell::new(0));
        let sorted = sorted(numbers.0.clone());
        for ranks in [
            vec![99_999, 100_000],
            vec![0],
            vec![199_999, 3, 70_000],
            vec![],
        ] {
            let expected: Vec<f64> = ranks.iter().map(|&rank| sorted[rank as usize]).collect();
            assert_eq!(order_statistics(&numbers, &ranks), expected, "{case}");
            assert_eq!(stored(&numbers.0, &ranks), expected);
        }
        assert!(
            numbers.1.get() < 40,
            "{} passes for {case}",
            numbers.1.get()
        );
    }
}

/// Few and many pairs, odd and even numbers of them, with and without ties, and not all finite.
#[test]
fn medians_of_tiles_are_those_of_a_sort() {
    let smooth = |i: usize, j: usize| ((i * j) as f64 * 0.37).sin().abs() + (j - i) as f64 * 1e-3;
    let distances: [&dyn Fn(usize, usize) -> f64; 5] = [
        &smooth,
        &|i, j| ((i * 7 + j * 13) % 5) as f64,
        &|i, j| if (i + j).is_multiple_of(7) { 2.0 } else { 0.25 },
        &|i, j| if (i * j) % 3 == 1 { 1.0 } else { 0.0 },
        &|i, j| {
            if j.is_multiple_of(9) {
                f64::NAN
            } else {
                smooth(i, j)
            }
        },
    ];
    for distance in distances {
        for n in [0, 1, 2, 3, 4, 57, 300, 363, 901, 1002] {
            let distance = |i: usize, j: usize| {
                if i == j {
                    0.0
                } else {
                    distance(i.min(j), i.max(j))
                }
            };
            let tile = |rows: Range<usize>, columns: Range<usize>| {
                rows.flat_map(|i| columns.clone().map(move |j| distance(i, j)))
                    .collect()
            };
            let paired = |partners: &[usize]| (0..n).map(|i| distance(i, partners[i])).collect();
            let found = median_of_tiles(n, DType::F64, tile, paired);
            let infinite_if_nan = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
            let sorted = sorted(
                pairs(n)
                    .map(|(i, j)| infinite_if_nan(distance(i, j)))
                    .collect(),
            );
            let expected = match sorted.len() {
                0 => 1.0,
                pairs => 0.5 * (sorted[(pairs - 1) / 2] + sorted[pairs / 2]),
            };
            assert_eq!(found, if expected == 0.0 { 1.0 } else { expected }, "{n}");
        }
    }
}

/// About `n^1.5` distances are kept, and none of those that are equal.
#[test]
fn few_distances_are_kept() {
    let n = 500;
    let smooth = |i: usize, j: usize| ((i * i + j * j) as f64 * 0.37).sin().abs();
    let tied = |i: usize, j: usize| ((i + j) % 4) as f64;
    type Separation<'a> = &'a dyn Fn(usize, usize) -> f64;
    let all: [(Separation, [f64; 2], usize); 2] =
        [(&smooth, [0.70, 0.72], 2_500), (&tied, [1.0, 2.0], 0)];
    for (distance, interval, most) in all {
        let tiles = Tiles {
            n,
            tile: |rows: Range<usize>, columns: Range<usize>| {
                rows.flat_map(|i| columns.clone().map(move |j| distance(i, j)))
                    .collect()
            },
            paired: |partners: &[usize]| (0..n).map(|i| distance(i, partners[i])).collect(),
        };
        let found = tiles.add_to(Within::new(Some(interval)));
        assert!(found.below <= tiles.count() / 2);
        assert!(
            found.kept.len() <= most,
            "{} of {}",
            found.kept.len(),
            tiles.count()
        );
    }
}
