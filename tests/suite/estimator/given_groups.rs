//! Calibration given groups.

use crate::prelude::*;

/// Given nothing, a constant: `(‖Σδ‖² − Σ‖δ‖²)/(n(n − 1))`; given groups, the sums of each.
#[test]
fn groups_in_closed_form() {
    let mut rng = rng(7);
    let (n, m) = (23, 4);
    let rows = random_probabilities(n, m, &mut rng);
    let classes = random_labels(n, m, &mut rng);
    let groups: Vec<usize> = (0..n).map(|_| rng.random_range(0..5) * 1000).collect();
    let delta = |i: usize, c: usize| f64::from(u8::from(classes[i] == c)) - rows[i][c];
    let closed = |groups: &[usize]| {
        let mut distinct = groups.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let of_group = |g: usize| {
            let members: Vec<usize> = (0..n).filter(|&i| groups[i] == g).collect();
            let of_class = |c: usize| {
                let sum: f64 = members.iter().map(|&i| delta(i, c)).sum();
                let squares: f64 = members.iter().map(|&i| delta(i, c).powi(2)).sum();
                sum * sum - squares
            };
            (0..m).map(of_class).sum::<f64>()
        };
        distinct.into_iter().map(of_group).sum::<f64>() / (n * (n - 1)) as f64
    };
    let y = labels(&classes);
    for dtype in [DType::F64, DType::F32] {
        let predictions = of_probabilities(tensor_on(&rows, &device(), dtype));
        let epsilon = if dtype == DType::F64 { 1e-15 } else { 1e-7 };
        for computation in [Computation::Fused, Computation::Composed] {
            for groups in [vec![3; n], groups.clone(), (0..n).collect()] {
                let skce = Skce::unbiased(Kernel::of_groups()).with_computation(computation);
                let given = Given::groups(predictions.clone(), labels(&groups));
                let estimate = scalar(skce.value(&given, &y));
                assert_relative_eq!(estimate, closed(&groups), epsilon = epsilon);
                assert_near(skce.on(&given, &y), closed(&groups), epsilon);
            }
        }
    }
}

/// Numbers of groups of any size are told apart in every dtype of predictions: neighbours beyond its digits, and
/// the ends of integers.
#[test]
fn groups_with_large_numbers() {
    let y = labels(&[0, 0]); // h = ½ in one group, 0 in two
    let wide = |a: i64, b: i64| (DType::I64, [a, b]);
    let narrow = |a: i32, b: i32| (DType::I32, [a.into(), b.into()]);
    for (ints, [a, b]) in [
        wide(2048, 2049),
        wide(1 << 24, (1 << 24) + 1),
        wide(1 << 53, (1 << 53) + 1),
        wide(0, 1 << 32),
        wide(-1, 0),
        wide(i64::MIN, i64::MAX),
        wide(i64::MAX - 1, i64::MAX),
        narrow(2048, 2049),
        narrow(1 << 24, (1 << 24) + 1),
        narrow(-1, i32::MAX),
        narrow(i32::MIN, 0),
        narrow(i32::MIN, i32::MAX),
    ] {
        for dtype in [DType::F64, DType::F32, DType::F16] {
            let value = |groups: [i64; 2]| {
                let data = TensorData::new(groups.to_vec(), [2]);
                let groups = Tensor::<1, Int>::from_data(data, (&device(), ints));
                let rows = tensor_on(&[[0.5, 0.5]; 2], &device(), dtype);
                let skce = Skce::unbiased(Kernel::of_groups());
                let given = Given::groups(of_probabilities(rows), groups);
                scalar(skce.value(&given, &y))
            };
            assert_eq!(value([a, a]), 0.5, "{a}, {dtype:?}, {ints:?}");
            assert_eq!(value([b, b]), 0.5, "{b}, {dtype:?}, {ints:?}");
            let between = value([a, b]); // 0 to rounding
            assert!(between < 1e-30, "{a}, {b}, {dtype:?}, {ints:?}: {between}");
        }
    }
}
