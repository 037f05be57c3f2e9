//! Order statistics against a sort.

use std::{cell::Cell, cmp::Ordering, ops::Range};

use burn::tensor::DType;

use super::{
    select::{MOST, TOGETHER, Within, order_statistics},
    tiles::median_of_tiles,
};

fn sorted(mut numbers: Vec<f64>) -> Vec<f64> {
    numbers.sort_by(f64::total_cmp);
    numbers
}

/// The places `i < j`.
fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(|j| (0..j).map(move |i| (i, j)))
}

/// Adds numbers, the last few with NaN beside them, which stands for none.
fn add(within: &mut Within<f64>, numbers: &[f64]) {
    for some in numbers.chunks(TOGETHER) {
        let mut all = [f64::NAN; TOGETHER];
        all[..some.len()].copy_from_slice(some);
        within.add(&all);
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
        let numbers: Vec<f64> = (0..n).map(numbers).collect();
        let sorted = sorted(numbers.clone());
        let passes = Cell::new(0);
        let pass = |all: bool, mut within: Within<f64>| {
            if !all {
                let sample: Vec<f64> = numbers.iter().step_by(64).copied().collect();
                add(&mut within, &sample);
                return within;
            }
            passes.set(passes.get() + 1);
            let (first, second) = numbers.split_at(numbers.len() / 3);
            let mut parts = [within.part(2), within.part(2)];
            add(&mut parts[0], first);
            add(&mut parts[1], second);
            let merged = parts.into_iter().fold(within, Within::merge);
            assert!(merged.kept.len() <= MOST);
            merged
        };
        for ranks in [
            vec![99_999, 100_000],
            vec![0],
            vec![199_999, 3, 70_000, 3],
            vec![],
        ] {
            let expected: Vec<f64> = ranks.iter().map(|&rank| sorted[rank as usize]).collect();
            let found = order_statistics(u64::from(n), &ranks, pass);
            assert_eq!(found, expected, "{case}");
            let mut stored = Within::stored(numbers.clone());
            let found: Vec<f64> = ranks.iter().map(|&rank| stored.number(rank)).collect();
            assert_eq!(found, expected, "{case}");
        }
        assert!(passes.get() < 40, "{} passes for {case}", passes.get());
    }
}

/// Two numbers, of which almost all are, and one between them.
#[test]
fn a_number_between_many_equal_ones() {
    let n = 100_001;
    let numbers: Vec<f64> = (0..n)
        .map(|k| match k.cmp(&(n / 2)) {
            Ordering::Less => 1.0,
            Ordering::Equal => 1.5,
            Ordering::Greater => 2.0,
        })
        .collect();
    let pass = |all: bool, mut within: Within<f64>| {
        let step = if all { 1 } else { 16 };
        let some: Vec<f64> = numbers.iter().step_by(step).copied().collect();
        add(&mut within, &some);
        within
    };
    let middle = n as u64 / 2;
    let found = order_statistics(n as u64, &[middle - 1, middle, middle + 1], pass);
    assert_eq!(found, [1.0, 1.5, 2.0]);
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

/// About `n^1.5` distances are kept.
#[test]
fn few_distances_are_kept() {
    let n = 500;
    let distance = |(i, j): (usize, usize)| ((i * i + j * j) as f64 * 0.37).sin().abs();
    let all: Vec<f64> = pairs(n).map(distance).collect();
    let count = all.len() as u64;
    let most = Cell::new(0);
    let pass = |is_all: bool, mut within: Within<f64>| {
        let step = if is_all { 1 } else { 31 };
        let some: Vec<f64> = all.iter().step_by(step).copied().collect();
        add(&mut within, &some);
        most.set(within.kept.len().max(most.get()));
        within
    };
    let found = order_statistics(count, &[count / 2], pass);
    assert_eq!(found, [sorted(all.clone())[all.len() / 2]]);
    assert!(most.get() < n * 22, "{} of {count}", most.get());
}
