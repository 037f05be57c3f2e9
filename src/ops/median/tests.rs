//! Order statistics against a sort.

use std::cell::Cell;

use burn::tensor::DType;

use super::{
    median_of_tiles,
    select::{MOST, Pass, Within, of_stored, order_statistics},
};

fn sorted(mut numbers: Vec<f64>) -> Vec<f64> {
    numbers.sort_by(f64::total_cmp);
    numbers
}

/// Whatever their order, with ties, infinite ones, and more in the bracket than are kept: the numbers of a sort.
#[test]
fn selected_numbers_are_those_of_a_sort() {
    let n = 200_000u32;
    let scattered = |k: u32| f64::from(k.wrapping_mul(2_654_435_761) >> 8);
    let either = |is_first: bool, a: f64, b: f64| if is_first { a } else { b };
    let between_ties = |k: u32| either(k < n / 2, 1.0, either(k == n / 2, 1.5, 2.0));
    let numbers: [&dyn Fn(u32) -> f64; 8] = [
        &scattered,
        &|k| f64::from(k),
        &|k| f64::from(n - k) * 1e-300,
        &|k| f64::from(k % 3),
        &|k| f64::from(k * 7 % 11 / 10),
        &|k| either(k % 2 == 0, f64::INFINITY, scattered(k)),
        &|k| either(k % 64 == 0, 1e300, scattered(k % 1000)), // the sample misleads
        &between_ties,
    ];
    for (case, numbers) in numbers.into_iter().enumerate() {
        let numbers: Vec<f64> = (0..n).map(numbers).collect();
        let sorted = sorted(numbers.clone());
        let passes = Cell::new(0);
        let add = |pass: Pass, mut within: Within<f64>| {
            if pass == Pass::Sample {
                let sample: Vec<f64> = numbers.iter().step_by(64).copied().collect();
                within.add(&sample);
                return within;
            }
            passes.set(passes.get() + 1);
            let (first, second) = numbers.split_at(numbers.len() / 3);
            let mut parts = [within.part(2), within.part(2)];
            parts[0].add(first);
            parts[1].add(second);
            parts.into_iter().for_each(|part| within.merge(part));
            assert!(within.kept() <= MOST);
            within
        };
        let middle = u64::from(n) / 2;
        for ranks in [
            vec![middle - 1, middle, middle + 1],
            vec![0],
            vec![199_999, 3, 70_000, 3],
            vec![],
        ] {
            let expected: Vec<f64> = ranks.iter().map(|&rank| sorted[rank as usize]).collect();
            let found = order_statistics(u64::from(n), &ranks, add);
            assert_eq!(found, expected, "{case}");
            assert_eq!(of_stored(numbers.clone(), &ranks), expected, "{case}");
        }
        assert!(passes.get() < 50, "{} passes for {case}", passes.get());
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
        &|i, j| if j % 9 == 0 { f64::NAN } else { smooth(i, j) },
    ];
    for distance in distances {
        for n in [0, 1, 2, 3, 4, 57, 300, 363, 901, 1002] {
            let between = |i: usize, j: usize| {
                if i == j {
                    0.0
                } else {
                    distance(i.min(j), i.max(j))
                }
            };
            let found = median_of_tiles(n, DType::F64, |rows, columns| {
                rows.flat_map(|i| columns.clone().map(move |j| between(i, j)))
                    .collect()
            });
            let pairs = (0..n).flat_map(|j| (0..j).map(move |i| distance(i, j)));
            let finite = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
            let sorted = sorted(pairs.map(finite).collect());
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
    let pairs = (0..n).flat_map(|j| (0..j).map(move |i| (i, j)));
    let all: Vec<f64> = pairs.map(distance).collect();
    let count = all.len() as u64;
    let most = Cell::new(0);
    let add = |pass: Pass, mut within: Within<f64>| {
        let step = if pass == Pass::All { 1 } else { 31 };
        let some: Vec<f64> = all.iter().step_by(step).copied().collect();
        within.add(&some);
        most.set(within.kept().max(most.get()));
        within
    };
    let found = order_statistics(count, &[count / 2], add);
    assert_eq!(found, [sorted(all.clone())[all.len() / 2]]);
    assert!(most.get() < n * 22, "{} of {count}", most.get());
}
