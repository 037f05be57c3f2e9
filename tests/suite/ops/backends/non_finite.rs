//! Whatever the instruction set, what is not finite makes its own row and column NaN, and nothing else.

use crate::prelude::*;

const N: usize = 21;
/// The sample with a bad number.
const BAD: usize = 5;
const SIZE: usize = 4;

/// Numbers, the width of their rows, and the row and column that a bad sample is part of.
type Part = (Vec<f64>, usize, [usize; 2]);

const NONE: usize = usize::MAX;

/// A matrix and means of blocks of `h`.
fn numbers<P: burn_calibration::distribution::Geometry>(pairs: &PairMatrix<P>) -> Vec<Part> {
    vec![
        (vector(pairs.tile(0..N, 2..N)), N - 2, [BAD, BAD - 2]),
        (pairs.block_estimates(SIZE), 1, [BAD / SIZE, NONE]),
        (pairs.block_estimates(N), 1, [0, NONE]),
    ]
}

/// Compares the numbers of samples with those of the same samples with a bad number in row [`BAD`].
fn check<P: Geometry, K: JointKernel<P> + Sync>(
    kernels: &[K],
    samples: impl Fn(Option<f64>, DType) -> (P, P::Targets) + Sync,
    numbers: impl Fn(&PairMatrix<P>) -> Vec<Part> + Sync,
) {
    for dtype in [DType::F32, DType::F64] {
        let all = |bad: Option<f64>| {
            on_instruction_sets(|| {
                let (predictions, targets) = samples(bad, dtype);
                let of_kernel = |kernel: &K| {
                    numbers(&PairMatrix::unchecked(
                        kernel,
                        Computation::Auto,
                        &predictions,
                        &targets,
                    ))
                };
                kernels.iter().flat_map(of_kernel).collect::<Vec<Part>>()
            })
        };
        let expected = all(None);
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for ((arch, expected), (_, found)) in expected.iter().zip(all(Some(bad))) {
                for (case, (expected, found)) in expected.iter().zip(found).enumerate() {
                    let (expected, width, [row, column]) = expected;
                    for (at, (e, f)) in expected.iter().zip(found.0).enumerate() {
                        let is_lost = at / width == *row || at % width == *column;
                        let holds = if is_lost { f.is_nan() } else { f == *e };
                        let what = (bad, dtype, arch, case, at);
                        assert!(holds, "{what:?}: {f}, {e}");
                    }
                }
            }
        }
    }
}

/// Numbers in (0, 1), uneven, the bad one in the second column.
fn uneven(d: usize, bad: Option<f64>, dtype: DType) -> Tensor<2> {
    let number = |k: usize| ((k * k) as f64 * 0.37).sin() * 0.49 + 0.5;
    let mut rows = table(N, d, |i, c| number(i * d + c));
    if let Some(bad) = bad {
        rows[BAD][d - 1] = bad;
    }
    tensor_on(&rows, &device(), dtype)
}

fn kernels() -> Vec<Kernel> {
    let fixed = exponential(0.3);
    let over = |distance| {
        Profile::all().map(move |profile| fixed.with_profile(profile).with_distance(distance))
    };
    Distance::ALL.into_iter().flat_map(over).collect()
}

#[test]
fn classes() {
    let samples = |bad, dtype| {
        let labels: Vec<usize> = (0..N).map(|i| i * i % 3).collect();
        let labels = labels_on(&labels, &device());
        (of_probabilities(uneven(3, bad, dtype)), labels)
    };
    check(&kernels(), samples, numbers);
}

/// The bad number is a location, a scale or a target.
#[test]
fn normal_predictions() {
    let is_euclidean = |kernel: &Kernel| kernel.distance == Distance::Euclidean;
    let of = |kernel| TensorKernel::new(kernel, RealKernel::gaussian(0.8));
    let kernels: Vec<_> = kernels().into_iter().filter(is_euclidean).map(of).collect();
    for part in 0..3 {
        let samples = |bad: Option<f64>, dtype| {
            let rows = |number| uneven(2, bad.filter(|_| number == part), dtype);
            (Normal::new(rows(0), rows(1) + 0.5), rows(2))
        };
        check(&kernels, samples, |pairs| {
            let diagonal = (vector(pairs.diagonal()), 1, [BAD, NONE]);
            [numbers(pairs), vec![diagonal]].concat()
        });
    }
}

/// Expectations of Laplace predictions on the line, of which features are made.
#[test]
fn laplace_predictions() {
    for (dtype, part) in [
        (DType::F32, 0),
        (DType::F32, 1),
        (DType::F64, 0),
        (DType::F64, 1),
    ] {
        let all = |bad: Option<f64>| {
            on_instruction_sets(|| {
                let column = |number| uneven(1, bad.filter(|_| number == part), dtype);
                let predictions = Laplace::new(column(0), column(1) + 0.5);
                let kernel = RealKernel::gaussian(0.8);
                vector(predictions.mean_kernel(&kernel, &column(2), 1))
            })
        };
        let expected = all(None);
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for ((arch, expected), (_, found)) in expected.iter().zip(all(Some(bad))) {
                for (at, (e, f)) in expected.iter().zip(found).enumerate() {
                    let holds = if at / N == BAD { f.is_nan() } else { f == *e };
                    assert!(holds, "{bad} in {dtype:?} on {arch} at {at}: {f}, {e}");
                }
            }
        }
    }
}
