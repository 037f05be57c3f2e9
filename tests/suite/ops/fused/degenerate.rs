//! Degenerate input, refused input, and what has no fused pass.

use burn_calibration::ops::{pair_statistic, residual_statistic};

use super::*;

/// A network drives all probabilities to 0 or 1: finite, and as composed.
#[test]
fn saturated_logits() {
    let logits = table(
        50,
        4,
        |i, c| if c == i % 4 { 200.0 } else { -200.0 * c as f64 },
    );
    let classes = random_labels(50, 4, &mut rng(14));
    for which in 0..KERNELS {
        let skce = Skce::unbiased(kernel(which, Bandwidth::Median));
        let y = labels(&classes);
        let of = |z| skce.value(&of_probabilities(activation::softmax(z, 1)), &y);
        all_finite(gradient(&logits, of));
        let rows = softmax_rows(&logits);
        agree(skce, &rows, &classes).unwrap();
    }
}

/// Training has diverged: NaN, as composed, and no panic.
#[test]
fn points_that_are_not_finite_give_nan() {
    for value in [f64::NAN, f64::INFINITY] {
        let mut rows = predictions(40, 3, 3.0, 17);
        rows[7][1] = value;
        let classes = random_labels(40, 3, &mut rng(18));
        for which in 0..KERNELS {
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

/// One row has diverged: the sum of its block has no gradient, and the other blocks have theirs.
#[test]
fn one_row_that_is_not_finite() {
    let rows = predictions(42, 3, 3.0, 17);
    let classes = random_labels(42, 3, &mut rng(18));
    for bad in [f64::NAN, f64::INFINITY] {
        for dtype in [DType::F32, DType::F64] {
            // blocks that are summed pair by pair, one block and in vectors; two rows are in none of four
            for (size, row) in [(4, 7), (4, 41), (20, 7), (42, 7)] {
                let skce = Skce::block(kernel(0, Bandwidth::Fixed(0.5)), size);
                let run = |rows| value_and_gradient(&skce, rows, &labels(&classes), dtype);
                let (expected, gradient) = run(&rows);
                let mut wrong = rows.clone();
                wrong[row][1] = bad;
                let (value, found) = run(&wrong);
                let block = row / size;
                let is_in_block = block < 42 / size;
                assert!(value.is_nan() == is_in_block && (is_in_block || value == expected));
                for (index, (found, expected)) in found.iter().zip(&gradient).enumerate() {
                    if is_in_block && index / 3 / size == block {
                        assert!(found.is_nan(), "{bad}, {size}, {index}: {found}");
                    } else {
                        assert_eq!(found, expected, "{bad}, {size}, {index}");
                    }
                }
            }
        }
    }
}

/// Points need not be probabilities: the signs of differences are right at any scale.
#[test]
fn points_of_any_scale() {
    let kernel = PairKernel::new(Distance::L1, Profile::Exponential);
    let rows = table(33, 3, |i, c| ((i * 7 + c * 5) % 33) as f64);
    let classes = random_labels(33, 3, &mut rng(19));
    let gradient = |factor: f64, dtype: DType| {
        let rows: Vec<Vec<f64>> = mapped(&rows, |x| x * factor);
        let points = tensor_on(&rows, &device().autodiff(), dtype).require_grad();
        let bandwidth = TensorData::new(vec![30.0 * factor], [1]);
        let bandwidth = Tensor::<1>::from_data(bandwidth, (&points.device(), dtype));
        let pairing = Pairing::Blocks { size: 33 };
        let value = pair_statistic(points.clone(), labels(&classes), bandwidth, kernel, pairing);
        vector(points.grad(&value.backward()).unwrap())
    };
    for factor in [1.0, 1e3] {
        let (found, expected) = (gradient(factor, DType::F32), gradient(factor, DType::F64));
        all_near(&found, &expected, 1e-5 * largest(&expected));
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

/// Value and gradients of pairs that have no fused pass, composed some rows at a time, are those of the pass.
#[test]
fn means_without_a_fused_pass() {
    let rows = predictions(20, 3, 2.0, 20);
    let classes = labels(&random_labels(20, 3, &mut rng(21)));
    let others = random_rows(20, 2, 1.0, &mut rng(22));
    let blocks = [20, 6].map(|size| Pairing::Blocks { size });
    for pairing in [Pairing::All].into_iter().chain(blocks) {
        for (distance, profile) in [
            (Distance::TotalVariation, Profile::Exponential),
            (Distance::Euclidean, Profile::Gaussian),
        ] {
            let kernel = PairKernel::new(distance, profile);
            let numbers = |dtype: DType| {
                let device = &device().autodiff();
                let [x, r] = [&rows, &others].map(|x| tensor_on(x, device, dtype).require_grad());
                let bandwidth = Tensor::<1>::from_data([0.5], (device, dtype)).require_grad();
                let nu = || bandwidth.clone();
                let labelled = pair_statistic(x.clone(), classes.clone(), nu(), kernel, pairing);
                let value = residual_statistic(x.clone(), r.clone(), nu(), kernel, pairing);
                let gradients = (labelled.clone() * 3.0 + value.clone()).backward();
                let slopes = [x, r].map(|x| vector(x.grad(&gradients).unwrap()));
                let stretch = vector(bandwidth.grad(&gradients).unwrap());
                [vector(labelled), vector(value), stretch, slopes.concat()].concat()
            };
            let (found, expected) = (numbers(DType::F16), numbers(DType::F64));
            all_near(&found, &expected, 0.01 * largest(&expected));
        }
    }
}

fn statistic(points: &[Vec<f64>], classes: &[usize], bandwidth: f64) {
    let points = tensor(points);
    let bandwidth = Tensor::from_data([bandwidth], (&points.device(), points.dtype()));
    let kernel = PairKernel::new(Distance::Euclidean, Profile::Gaussian);
    pair_statistic(points, labels(classes), bandwidth, kernel, Pairing::All);
}

/// A label that is no class, a bandwidth that is not positive, and too few labels and residuals.
#[test]
fn arguments_that_do_not_fit_panic() {
    let rows = predictions(4, 3, 1.0, 1);
    let skce = Skce::unbiased(Kernel::gaussian());
    panics(|| skce.value(&of_probabilities(tensor(&rows)), &labels(&[0, 3, 2, 0])));
    panics(|| statistic(&rows, &[0, 1, 2, 0], -1.0));
    panics(|| statistic(&rows, &[0, 1, 2], 1.0));
    let [points, residuals] = [4, 3].map(|n| tensor(&predictions(n, 3, 1.0, 1)));
    let bandwidth = Tensor::<1>::ones([1], (&points.device(), points.dtype()));
    let kernel = Kernel::gaussian().fused();
    panics(|| residual_statistic(points, residuals, bandwidth, kernel, Pairing::All));
}

/// The reference is the reference: to the last bit, a composed estimate is made of a Gram matrix of
/// tensor operations, for classes and for a tensor product of kernels. In vectors the last digits differ.
#[test]
fn composed_estimates_use_tensor_operations_only() {
    let mut others = 0;
    let sizes = [3, 4, 5, 6, 7, 8, 9, 120];
    for (which, n) in (0..KERNELS).flat_map(|which| sizes.map(|n| (which, n))) {
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
            skce.on(&predictions, &classes)
        };
        let expected = scalar(h.sum()) / (n * n) as f64;
        assert_eq!(estimate(Computation::Composed), expected, "{kernel:?}");

        let skce = Skce::biased(TensorKernel::new(kernel, White));
        let auto = skce.on(&predictions, &classes);
        let skce = skce.with_computation(Computation::Composed);
        let composed = skce.on(&predictions, &classes);
        let pairs =
            PairMatrix::unchecked(&skce.kernel, Computation::Composed, &predictions, &classes);
        let h = pairs.within_blocks(0..1, n);
        assert_eq!(composed, scalar(h.sum()) / (n * n) as f64, "{kernel:?}");
        others += usize::from(auto != composed && estimate(Computation::Fused) != expected);
    }
    assert!(others > 0, "vectors give the same digits");
}
