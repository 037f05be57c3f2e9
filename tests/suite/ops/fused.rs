//! The fused pair statistic against its composition from tensor operations: values, gradients with
//! respect to predictions, logits and the bandwidth, for all that it has.

use approx::assert_relative_eq;
use burn::tensor::{DType, Int, Tensor, TensorData, activation};
use burn_calibration::{
    distribution::Categorical,
    estimator::{Estimator, JointKernel, Skce, SkceForm},
    hypothesis::{AsymptoticBlockSkceTest, CalibrationTest},
    kernel::{
        Bandwidth, ClassKernel, Distance, Kernel, MatrixKernel, Profile, TensorKernel, White,
        median_distance,
    },
    ops::{Computation, PairKernel, Pairing, pair_statistic, residual_statistic},
};
use proptest::prelude::*;

use crate::data::*;

/// The kernels with a fused path.
fn kernel(which: usize, bandwidth: Bandwidth) -> Kernel {
    let profile = [Kernel::exponential(), Kernel::gaussian()][which % 2];
    let distance = [Distance::TotalVariation, Distance::L1, Distance::Euclidean][which / 2 % 3];
    profile.with_distance(distance).with_bandwidth(bandwidth)
}

/// Value and gradient with respect to probabilities.
fn value_and_gradient(
    skce: &Skce<impl ClassKernel>,
    rows: &[Vec<f64>],
    labels: &Tensor<1, Int>,
    dtype: DType,
) -> (f64, Vec<f64>) {
    let p = tensor_on(rows, &device().autodiff(), dtype).require_grad();
    let value = skce.value(&of_probabilities(p.clone()), labels);
    assert_eq!(value.dtype(), dtype);
    let gradients = value.backward();
    (scalar(value), vector(p.grad(&gradients).unwrap()))
}

/// The largest `|h_ij|`-like scale that a mean of signed numbers is relative to: the biased value,
/// which has no cancellation.
fn agree(
    skce: Skce<impl ClassKernel>,
    rows: &[Vec<f64>],
    labels: &[usize],
) -> Result<(), TestCaseError> {
    let labels = crate::data::labels(labels);
    let exact = value_and_gradient(
        &skce.clone().with_computation(Computation::Composed),
        rows,
        &labels,
        DType::F64,
    );
    let scale = {
        let biased = Skce::biased(skce.kernel.clone()).with_computation(Computation::Composed);
        value_and_gradient(&biased, rows, &labels, DType::F64)
            .0
            .abs()
    };
    for (dtype, tolerance) in [(DType::F64, 1e-12), (DType::F32, 1e-5)] {
        let fused = skce.clone().with_computation(Computation::Fused);
        let (value, gradient) = value_and_gradient(&fused, rows, &labels, dtype);
        let error = (value - exact.0).abs();
        prop_assert!(
            error <= tolerance * exact.0.abs().max(scale),
            "{skce:?} {dtype:?}: {value}, not {}",
            exact.0
        );
        let largest = exact.1.iter().fold(0.0f64, |a, g| a.max(g.abs()));
        for (k, (found, expected)) in gradient.iter().zip(&exact.1).enumerate() {
            prop_assert!(
                (found - expected).abs() <= tolerance * largest.max(1e-30),
                "{skce:?} {dtype:?} entry {k}: {found}, not {expected}, largest {largest}"
            );
        }
        let inner = tensor_on(rows, &device(), dtype);
        let without_gradient = scalar(fused.value(&of_probabilities(inner), &labels));
        prop_assert!((without_gradient - value).abs() <= tolerance * exact.0.abs().max(scale));
    }
    Ok(())
}

/// Predictions whose entries are multiples of 2⁻²⁰ or 0, so that they are the same in f32: ties of
/// coordinates are ties in both.
fn predictions(n: usize, m: usize, sharpness: f64, seed: u64) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = random_rows(n, m, sharpness, &mut rng(seed))
        .iter()
        .map(|row| {
            let grid = |p: f64| (p * 1048576.0).round() / 1048576.0;
            softmax(row).into_iter().map(grid).collect()
        })
        .collect();
    if n > 3 {
        rows[1] = rows[0].clone(); // coincident
        rows[2] = (0..m).map(|c| f64::from(c == 0)).collect(); // one-hot
        rows[3] = rows[2].clone();
    }
    rows
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn short_vectors_agree_with_the_composition(
        n in 2usize..140, m in 2usize..14, which in 0usize..6, form in 0usize..4,
        bandwidth in 0.02f64..3.0, sharpness in 0.5f64..6.0, seed: u64,
    ) {
        let rows = predictions(n, m, sharpness, seed);
        let labels = random_labels(n, m, &mut rng(seed ^ 1));
        let form = [SkceForm::Biased, SkceForm::Unbiased, SkceForm::Block(2), SkceForm::Block(n.div_ceil(2).max(2))][form];
        agree(Skce::new(kernel(which, Bandwidth::Fixed(bandwidth)), form), &rows, &labels)?;
    }
}

/// `M = A Aᵀ` for a random `A` with fewer columns than rows, so that residuals are shorter than points.
fn matrix_kernel(kernel: Kernel, m: usize, seed: u64) -> MatrixKernel {
    let a = random_rows(m, m.div_ceil(2), 1.0, &mut rng(seed));
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let rows: Vec<Vec<f64>> = a
        .iter()
        .map(|x| a.iter().map(|y| product(x, y)).collect())
        .collect();
    MatrixKernel::new(kernel, &rows).unwrap()
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn matrix_kernels_agree_with_the_composition(
        n in 2usize..140, m in 2usize..14, which in 0usize..6, form in 0usize..4,
        bandwidth in 0.02f64..3.0, sharpness in 0.5f64..6.0, seed: u64,
    ) {
        let rows = predictions(n, m, sharpness, seed);
        let labels = random_labels(n, m, &mut rng(seed ^ 1));
        let form = [SkceForm::Biased, SkceForm::Unbiased, SkceForm::Block(2), SkceForm::Block(n.div_ceil(2).max(2))][form];
        let kernel = matrix_kernel(kernel(which, Bandwidth::Fixed(bandwidth)), m, seed ^ 2);
        agree(Skce::new(kernel, form), &rows, &labels)?;
    }
}

/// Points and residuals of different lengths, on either side of what is long.
#[test]
fn long_residuals_agree_with_the_composition() {
    for (n, m) in [(33, 64), (70, 110), (290, 50)] {
        let rows = predictions(n, m, 3.0, n as u64);
        let labels = random_labels(n, m, &mut rng(3));
        for which in 0..6 {
            let kernel = matrix_kernel(kernel(which, Bandwidth::Fixed(0.4)), m, 4);
            agree(Skce::unbiased(kernel), &rows, &labels).unwrap();
        }
    }
}

/// Points of one coordinate with long residuals, and the reverse: value, and gradients by central
/// differences.
#[test]
fn residual_statistics_of_other_lengths() {
    for (n, d, m) in [(9, 1, 3), (40, 1, 60), (37, 60, 1), (34, 7, 2)] {
        let points = random_rows(n, d, 1.0, &mut rng(17));
        let residuals = random_rows(n, m, 1.0, &mut rng(18));
        for which in [0, 1, 4, 5] {
            let kernel = kernel(which, Bandwidth::Fixed(1.0)).fused().unwrap();
            for pairing in [
                Pairing::All,
                Pairing::Blocks { size: n },
                Pairing::Blocks { size: 4 },
            ] {
                let value = |points: &[Vec<f64>], residuals: &[Vec<f64>], bandwidth: f64| {
                    let h = |i: usize, j: usize| {
                        let pairs = || points[i].iter().zip(&points[j]);
                        let sum = || pairs().map(|(x, y)| (x - y).abs()).sum::<f64>();
                        let r = match kernel.distance() {
                            Distance::TotalVariation => 0.5 * sum(),
                            Distance::L1 => sum(),
                            Distance::Euclidean => {
                                pairs().map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
                            }
                            other => panic!("{other}"),
                        } / bandwidth;
                        let k = match kernel.profile() {
                            Profile::Gaussian => -0.5 * r * r,
                            _ => -r,
                        }
                        .exp();
                        let product = residuals[i].iter().zip(&residuals[j]);
                        k * product.map(|(x, y)| x * y).sum::<f64>()
                    };
                    let size = match pairing {
                        Pairing::All => n,
                        Pairing::Blocks { size } => size,
                        other => panic!("{other:?}"),
                    };
                    let mut values = Vec::new();
                    for i in 0..n / size * size {
                        for j in i / size * size..(i / size + 1) * size {
                            if i != j || pairing == Pairing::All {
                                values.push(h(i, j));
                            }
                        }
                    }
                    values.iter().sum::<f64>() / values.len() as f64
                };
                let device = device().autodiff();
                let x = tensor_on(&points, &device, DType::F64).require_grad();
                let r = tensor_on(&residuals, &device, DType::F64).require_grad();
                let bandwidth = Tensor::<1>::from_data([1.5f64], (&device, DType::F64));
                let bandwidth = bandwidth.require_grad();
                let found =
                    residual_statistic(x.clone(), r.clone(), bandwidth.clone(), kernel, pairing);
                let gradients = found.backward();
                let expected = value(&points, &residuals, 1.5);
                assert_relative_eq!(
                    scalar(found),
                    expected,
                    epsilon = 1e-13,
                    max_relative = 1e-11
                );
                let step = 1e-5;
                let difference =
                    |move_by: &dyn Fn(f64) -> f64| (move_by(step) - move_by(-step)) / (2.0 * step);
                for (k, c) in [(0, 0), (3, d - 1), (8, d / 2)] {
                    let found = vector(x.grad(&gradients).unwrap())[k * d + c];
                    let expected = difference(&|by| {
                        let mut points = points.clone();
                        points[k][c] += by;
                        value(&points, &residuals, 1.5)
                    });
                    assert!((found - expected).abs() < 1e-8, "{found}, not {expected}");
                }
                for (k, c) in [(0, 0), (3, m - 1), (8, m / 2)] {
                    let found = vector(r.grad(&gradients).unwrap())[k * m + c];
                    let expected = difference(&|by| {
                        let mut residuals = residuals.clone();
                        residuals[k][c] += by;
                        value(&points, &residuals, 1.5)
                    });
                    assert!((found - expected).abs() < 1e-8, "{found}, not {expected}");
                }
                let found = scalar(bandwidth.grad(&gradients).unwrap());
                let expected = difference(&|by| value(&points, &residuals, 1.5 + by));
                assert!((found - expected).abs() < 1e-8, "{found}, not {expected}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "4 points but 3 residuals")]
fn residuals_for_each_point() {
    let [points, residuals] = [4, 3].map(|n| tensor(&predictions(n, 3, 1.0, 1)));
    let bandwidth = Tensor::<1>::ones([1], (&points.device(), points.dtype()));
    let kernel = Kernel::gaussian().fused().unwrap();
    residual_statistic(points, residuals, bandwidth, kernel, Pairing::All);
}

#[test]
fn long_vectors_agree_with_the_composition() {
    for (n, m) in [(5, 49), (33, 64), (70, 101)] {
        let rows = predictions(n, m, 3.0, n as u64);
        let labels = random_labels(n, m, &mut rng(3));
        for which in 0..6 {
            for bandwidth in [0.03, 0.3, 0.5] {
                let kernel = kernel(which, Bandwidth::Fixed(bandwidth));
                agree(Skce::unbiased(kernel), &rows, &labels).unwrap();
            }
        }
    }
}

/// Enough samples for several tiles of rows and of columns, and for several threads.
#[test]
fn many_long_vectors_agree_with_the_composition() {
    let (n, m) = (290, 50);
    let rows = predictions(n, m, 3.0, 11);
    let labels = random_labels(n, m, &mut rng(12));
    for (which, form) in [
        (0, SkceForm::Unbiased),
        (1, SkceForm::Block(145)),
        (4, SkceForm::Unbiased),
        (5, SkceForm::Biased),
        (5, SkceForm::Block(97)),
    ] {
        let kernel = kernel(which, Bandwidth::Fixed(0.4));
        agree(Skce::new(kernel, form), &rows, &labels).unwrap();
    }
}

/// Estimates of blocks, as tests read them: those of a kernel with a matrix are composed.
#[test]
fn block_estimates_agree_with_the_composition() {
    let rows = predictions(203, 4, 3.0, 13);
    let predictions = categorical(&rows);
    let labels = labels(&random_labels(203, 4, &mut rng(14)));
    let identity: Vec<Vec<f64>> = (0..4)
        .map(|k| (0..4).map(|l| f64::from(k == l)).collect())
        .collect();
    for which in 0..6 {
        for size in [2, 5, 40, 101] {
            let kernel = kernel(which, Bandwidth::Fixed(0.3));
            let composed = MatrixKernel::new(kernel, &identity).unwrap();
            let fused = AsymptoticBlockSkceTest::new(kernel, size);
            let composed = AsymptoticBlockSkceTest::new(composed, size);
            let found = fused.evaluate(&predictions, &labels, &mut rng(0)).unwrap();
            let expected = composed
                .evaluate(&predictions, &labels, &mut rng(0))
                .unwrap();
            assert_relative_eq!(
                found.estimate(),
                expected.estimate(),
                epsilon = 1e-14,
                max_relative = 1e-12
            );
            assert_relative_eq!(
                found.statistic(),
                expected.statistic(),
                max_relative = 1e-10
            );
        }
    }
}

/// Enough samples for several tiles and threads.
#[test]
fn many_samples_agree_with_the_composition() {
    let rows = predictions(517, 10, 3.0, 5);
    let labels = random_labels(517, 10, &mut rng(6));
    for which in 0..6 {
        let kernel = kernel(which, Bandwidth::Fixed(0.4));
        for form in [SkceForm::Unbiased, SkceForm::Block(100)] {
            agree(Skce::new(kernel, form), &rows, &labels).unwrap();
        }
    }
}

/// In training the fused and the composed median are those of the pairs within blocks.
#[test]
fn median_bandwidths_agree() {
    let rows = predictions(61, 4, 3.0, 8);
    let labels = random_labels(61, 4, &mut rng(9));
    for which in 0..6 {
        for form in [
            SkceForm::Biased,
            SkceForm::Unbiased,
            SkceForm::Block(7),
            SkceForm::Block(8),
        ] {
            let skce = Skce::new(kernel(which, Bandwidth::Median), form);
            agree(skce, &rows, &labels).unwrap();
        }
    }
}

/// Many pairs, so that the median comes from a bracket: against sorting.
#[test]
fn median_of_many_pairs_is_exact() {
    let rows = predictions(700, 3, 3.0, 10);
    let points = tensor(&rows);
    let mut distances: Vec<f64> = (0..700)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .map(|(i, j)| {
            rows[i]
                .iter()
                .zip(&rows[j])
                .map(|(p, q)| (p - q).abs())
                .sum::<f64>()
        })
        .collect();
    distances.sort_by(f64::total_cmp);
    let middle = distances.len() / 2;
    let expected = 0.5 * (distances[(distances.len() - 1) / 2] + distances[middle]);
    let found = median_distance(&points, Distance::L1);
    assert!((found - expected).abs() < 1e-14, "{found}, not {expected}");
    // most pairs coincide
    let constant = vec![vec![0.5, 0.5]; 700];
    assert_eq!(median_distance(&tensor(&constant), Distance::L1), 1.0);
}

/// The gradient with respect to the bandwidth, by central differences.
#[test]
fn gradient_of_the_bandwidth() {
    let rows = predictions(40, 5, 3.0, 12);
    let classes = random_labels(40, 5, &mut rng(13));
    for distance in [Distance::TotalVariation, Distance::Euclidean] {
        for profile in [Profile::Exponential, Profile::Gaussian] {
            for pairing in [
                Pairing::All,
                Pairing::Blocks { size: 40 },
                Pairing::Blocks { size: 3 },
            ] {
                let kernel = PairKernel::new(distance, profile).unwrap();
                let at = |bandwidth: f64| {
                    let bandwidth = TensorData::new(vec![bandwidth], [1]);
                    let bandwidth =
                        Tensor::<1>::from_data(bandwidth, (&device().autodiff(), DType::F64));
                    let bandwidth = bandwidth.require_grad();
                    let points = tensor_on(&rows, &device().autodiff(), DType::F64);
                    let value = pair_statistic(
                        points,
                        labels(&classes),
                        bandwidth.clone(),
                        kernel,
                        pairing,
                    );
                    let gradient = bandwidth.grad(&value.backward()).unwrap();
                    (scalar(value), scalar(gradient))
                };
                let difference = (at(0.3 + 1e-5).0 - at(0.3 - 1e-5).0) / 2e-5;
                let gradient = at(0.3).1;
                assert!(
                    (gradient - difference).abs() < 1e-9,
                    "{gradient}, by differences {difference}"
                );
            }
        }
    }
}

/// A network drives all probabilities to 0 or 1: finite, and as composed.
#[test]
fn saturated_logits() {
    let logits: Vec<Vec<f64>> = (0..50)
        .map(|i| {
            (0..4)
                .map(|c| {
                    if c == i % 4 {
                        200.0
                    } else {
                        -200.0 * (c as f64)
                    }
                })
                .collect()
        })
        .collect();
    let classes = random_labels(50, 4, &mut rng(14));
    for which in 0..6 {
        let skce = Skce::unbiased(kernel(which, Bandwidth::Median));
        let gradient = crate::loss::gradient(&logits, |z| {
            skce.value(
                &of_probabilities(activation::softmax(z, 1)),
                &labels(&classes),
            )
        });
        assert!(gradient.iter().all(|g| g.is_finite()));
        let rows: Vec<_> = logits.iter().map(|row| softmax(row)).collect();
        agree(skce, &rows, &classes).unwrap();
    }
}

#[test]
#[should_panic(expected = "no fused path")]
fn other_profiles_have_no_fused_path() {
    let skce = Skce::unbiased(Kernel::matern32()).with_computation(Computation::Fused);
    skce.value(
        &of_probabilities(tensor(&predictions(4, 3, 1.0, 1))),
        &labels(&[0, 1, 2, 0]),
    );
}

#[test]
#[should_panic(expected = "row 1: the label is 3, expected a class in 0..3")]
fn labels_out_of_range_panic() {
    let skce = Skce::unbiased(Kernel::gaussian());
    skce.value(
        &of_probabilities(tensor(&predictions(4, 3, 1.0, 1))),
        &labels(&[0, 3, 2, 0]),
    );
}

/// Many small blocks: their median is selected without tiles.
#[test]
fn median_of_small_blocks_is_exact() {
    let rows = predictions(200, 3, 3.0, 15);
    let classes = random_labels(200, 3, &mut rng(16));
    for which in 0..6 {
        for size in [2, 5] {
            let skce = Skce::block(kernel(which, Bandwidth::Median), size);
            agree(skce, &rows, &classes).unwrap();
        }
    }
}

/// Training has diverged: NaN, as composed, and no panic.
#[test]
fn points_that_are_not_finite_give_nan() {
    for value in [f64::NAN, f64::INFINITY] {
        let mut rows = predictions(40, 3, 3.0, 17);
        rows[7][1] = value;
        let classes = random_labels(40, 3, &mut rng(18));
        for which in 0..6 {
            for bandwidth in [Bandwidth::Median, Bandwidth::Fixed(0.5)] {
                for form in [SkceForm::Unbiased, SkceForm::Block(4)] {
                    let skce = Skce::new(kernel(which, bandwidth), form);
                    let (value, _) =
                        value_and_gradient(&skce, &rows, &labels(&classes), DType::F32);
                    assert!(value.is_nan(), "{skce:?}: {value}");
                }
            }
        }
    }
}

/// Points need not be probabilities: the signs of differences are right at any scale.
#[test]
fn points_of_any_scale() {
    let kernel = PairKernel::new(Distance::L1, Profile::Exponential).unwrap();
    let rows: Vec<Vec<f64>> = (0..33)
        .map(|i| (0..3).map(|c| f64::from((i * 7 + c * 5) % 33)).collect())
        .collect();
    let classes = random_labels(33, 3, &mut rng(19));
    let gradient = |factor: f64, dtype: DType| {
        let rows: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| row.iter().map(|x| x * factor).collect())
            .collect();
        let points = tensor_on(&rows, &device().autodiff(), dtype).require_grad();
        let bandwidth = TensorData::new(vec![30.0 * factor], [1]);
        let bandwidth = Tensor::<1>::from_data(bandwidth, (&points.device(), dtype));
        let pairing = Pairing::Blocks { size: 33 };
        let value = pair_statistic(points.clone(), labels(&classes), bandwidth, kernel, pairing);
        vector(points.grad(&value.backward()).unwrap())
    };
    for factor in [1.0, 1e3] {
        let (found, expected) = (gradient(factor, DType::F32), gradient(factor, DType::F64));
        let largest = expected.iter().fold(0.0f64, |a, g| a.max(g.abs()));
        for (a, b) in found.iter().zip(&expected) {
            assert!((a - b).abs() < 1e-5 * largest, "{a}, not {b}");
        }
    }
}

#[test]
fn half_precision_is_composed() {
    let rows = predictions(20, 3, 2.0, 20);
    let points = tensor(&rows).cast(DType::F16);
    let classes = labels(&random_labels(20, 3, &mut rng(21)));
    let skce = Skce::unbiased(Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(0.5)));
    let expected = scalar(skce.value(&of_probabilities(tensor(&rows)), &classes));
    let found = scalar(skce.value(&of_probabilities(points), &classes));
    assert!((found - expected).abs() < 0.01, "{found}, not {expected}");
}

#[test]
fn data_without_a_fused_path_are_an_error() {
    let predictions = Categorical::from_probabilities(tensor(&predictions(4, 3, 1.0, 1))).unwrap();
    let skce = Skce::unbiased(Kernel::matern32().with_bandwidth(Bandwidth::Fixed(1.0)));
    let error = skce
        .with_computation(Computation::Fused)
        .estimate(&predictions, &labels(&[0, 1, 2, 0]))
        .unwrap_err();
    assert!(error.to_string().contains("has no fused path"), "{error}");
}

fn statistic(points: &[Vec<f64>], classes: &[usize], bandwidth: f64) {
    let points = tensor(points);
    let bandwidth = Tensor::from_data([bandwidth], (&points.device(), points.dtype()));
    let kernel = PairKernel::new(Distance::Euclidean, Profile::Gaussian).unwrap();
    pair_statistic(points, labels(classes), bandwidth, kernel, Pairing::All);
}

#[test]
#[should_panic(expected = "the kernel bandwidth is -1, expected a positive finite number")]
fn bandwidths_must_be_positive() {
    statistic(&predictions(4, 3, 1.0, 1), &[0, 1, 2, 0], -1.0);
}

#[test]
#[should_panic(expected = "4 points but 3 labels")]
fn points_need_labels() {
    statistic(&predictions(4, 3, 1.0, 1), &[0, 1, 2], 1.0);
}

/// The reference is the reference: to the last bit, a composed estimate is made of a Gram matrix of
/// tensor operations, for classes and for a tensor product of kernels. In vectors the last digits differ.
#[test]
fn composed_estimates_use_tensor_operations_only() {
    let mut others = 0;
    let sizes = [3, 4, 5, 6, 7, 8, 9, 120];
    for (which, n) in (0..6).flat_map(|which| sizes.map(|n| (which, n))) {
        let rows = predictions(n, 4, 2.0, n as u64);
        let classes = labels(&random_labels(n, 4, &mut rng(42)));
        let kernel = kernel(which, Bandwidth::Fixed(0.3));
        let points = tensor_on(&rows, &device(), DType::F32);
        let predictions = Categorical::from_probabilities(points.clone()).unwrap();
        let one_hot: Tensor<2> = classes.clone().one_hot(4).float().cast(DType::F32);
        let residuals = one_hot - points.clone();
        let gram: Tensor<2> = kernel.gram(points.unsqueeze()).squeeze_dim(0);
        let h = gram * residuals.clone().matmul(residuals.transpose());
        let estimate = |computation| {
            let skce = Skce::biased(kernel).with_computation(computation);
            skce.estimate(&predictions, &classes).unwrap()
        };
        let expected = scalar(h.sum()) / (n * n) as f64;
        assert_eq!(estimate(Computation::Composed), expected, "{kernel:?}");

        let skce = Skce::biased(TensorKernel::new(kernel, White));
        let auto = skce.estimate(&predictions, &classes).unwrap();
        let skce = skce.with_computation(Computation::Composed);
        let composed = skce.estimate(&predictions, &classes).unwrap();
        let h = skce.kernel.h(&predictions, &classes, 1);
        assert_eq!(composed, scalar(h.sum()) / (n * n) as f64, "{kernel:?}");
        others += usize::from(auto != composed && estimate(Computation::Fused) != expected);
    }
    assert!(others > 0, "vectors give the same digits");
}
