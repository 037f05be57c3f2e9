//! The MMCE by sorted sums against its composition from tensor operations, and the sums against
//! loops over all pairs.

use proptest::prelude::*;

use crate::prelude::*;

const FORMS: [MmceForm; 3] = [MmceForm::Unweighted, MmceForm::Weighted, MmceForm::Unbiased];

fn line(numbers: &[f64], dtype: DType) -> Tensor<1> {
    let data = TensorData::new(numbers.to_vec(), [numbers.len()]);
    Tensor::from_data(data, (&device().autodiff(), dtype)).require_grad()
}

/// `u_i = Σ_j a_j k_ij`, and the gradients of `Σ_i g_i u_i` with respect to `r` and `a`.
fn sums([r, a, g]: [&[f64]; 3], bandwidth: f64, dtype: DType) -> [Vec<f64>; 3] {
    let (r, a) = (line(r, dtype), line(a, dtype));
    let u = laplacian_sum(r.clone(), a.clone(), bandwidth);
    assert_eq!(u.dtype(), dtype);
    let gradients = (u.clone() * line(g, dtype)).sum().backward();
    [
        vector(u),
        vector(r.grad(&gradients).unwrap()),
        vector(a.grad(&gradients).unwrap()),
    ]
}

/// The same by scalar loops.
fn sums_by_loops([r, a, g]: [&[f64]; 3], bandwidth: f64) -> [Vec<f64>; 3] {
    let n = r.len();
    let k = |i: usize, j: usize| (-(r[i] - r[j]).abs() / bandwidth).exp();
    let sign = |i: usize, j: usize| f64::from(r[i] > r[j]) - f64::from(r[i] < r[j]);
    let sum = |f: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
        (0..n).map(|i| (0..n).map(|j| f(i, j)).sum()).collect()
    };
    [
        sum(&|i, j| a[j] * k(i, j)),
        sum(&|i, j| -(g[i] * a[j] + a[i] * g[j]) * sign(i, j) * k(i, j) / bandwidth),
        sum(&|i, j| g[j] * k(i, j)),
    ]
}

/// To a tolerance relative to the largest number, or to a scale if that is larger.
#[track_caller]
fn close(found: &[f64], expected: &[f64], tolerance: f64, scale: f64) {
    all_near(found, expected, tolerance * largest(expected).max(scale));
}

/// Distances of ν ln 2 and 2ν ln 2: kernels ½, ¼ and ⅛.
#[test]
fn three_points_by_hand() {
    let bandwidth = 0.3;
    let unit = bandwidth * 2f64.ln();
    for order in [[0, 1, 2], [2, 0, 1], [2, 1, 0]] {
        let ordered = |numbers: [f64; 3]| order.map(|i| numbers[i]);
        let r = ordered([0.1, 0.1 + unit, 0.1 + 3.0 * unit]);
        let a = ordered([1.0, 2.0, -4.0]);
        let g = ordered([1.0, 0.0, 2.0]);
        let found = sums([&r, &a, &g], bandwidth, DType::F64);
        let slope = 0.75 / bandwidth;
        let expected = [
            ordered([1.5, 1.5, -3.375]),
            ordered([slope, 0.0, -slope]),
            ordered([1.25, 1.0, 2.125]),
        ];
        for (found, expected) in found.iter().zip(&expected) {
            close(found, expected, 1e-15, 1.0);
        }
    }
}

/// Points at one position attract each other nowhere, exactly; 0 and −0 are one position.
#[test]
fn ties_have_slope_zero() {
    for dtype in [DType::F32, DType::F64] {
        let (a, g) = ([0.3, -0.9, 0.7, 0.1], [1.1, 0.2, -0.4, 0.6]);
        for r in [[0.7; 4], [0.0, -0.0, -0.0, 0.0]] {
            let [u, to_r, to_a] = sums([&r, &a, &g], 0.4, dtype);
            assert_eq!(to_r, [0.0; 4]);
            close(&u, &[0.2; 4], 1e-6, 0.0);
            close(&to_a, &[1.5; 4], 1e-6, 0.0);
        }
        // two below, two above: each feels the other two alone, half of each at ν ln 2
        let r = [0.5, 0.5 + 2f64.ln(), 0.5, 0.5 + 2f64.ln()];
        let [u, to_r, _] = sums([&r, &a, &[1.0, 0.0, 0.0, 0.0]], 1.0, dtype);
        close(&u, &[0.6, -0.3, 0.6, -0.3], 1e-6, 0.0);
        close(&to_r, &[-0.4, 0.45, 0.0, -0.05], 1e-6, 0.0);
    }
}

/// How the rows of a sweep coincide: hardly, much, wholly.
fn tied(rows: Vec<Vec<f64>>, ties: usize) -> Vec<Vec<f64>> {
    let distinct = [rows.len(), rows.len().div_ceil(7), 1][ties];
    (0..rows.len())
        .map(|i| rows[i % distinct].clone())
        .collect()
}

fn value_and_gradient(
    mmce: Mmce,
    logits: &[Vec<f64>],
    classes: &[usize],
    dtype: DType,
) -> (f64, Vec<f64>) {
    let y = labels(classes);
    let softmax = |z| burn::tensor::activation::softmax(z, 1);
    with_gradient(logits, dtype, |z| {
        mmce.value(&of_probabilities(softmax(z)), &y)
    })
}

proptest! {
    #![proptest_config(cases(96))]

    /// Positions are multiples of 2⁻¹² and so the same in f32.
    #[test]
    fn sums_agree_with_loops(
        n in 1usize..300, ties in 0usize..3, bandwidth in 0.01f64..3.0, seed: u64,
    ) {
        let mut rng = rng(seed);
        let mut numbers = || random_rows(n, 1, 1.0, &mut rng);
        let grid = |row: &Vec<f64>| (row[0] * 4096.0).round() / 4096.0;
        let r: Vec<f64> = tied(numbers(), ties).iter().map(grid).collect();
        let [a, g] = [(); 2].map(|()| numbers().iter().map(grid).collect::<Vec<f64>>());
        let expected = sums_by_loops([&r, &a, &g], bandwidth);
        for (dtype, tolerance) in [(DType::F64, 1e-13), (DType::F32, 1e-6)] {
            let found = sums([&r, &a, &g], bandwidth, dtype);
            for (found, expected) in found.iter().zip(&expected) {
                close(found, expected, tolerance, 1e-3);
            }
        }
    }

    #[test]
    fn value_and_gradient_agree_with_the_composition(
        n in 1usize..300, m in 2usize..6, ties in 0usize..3, form in 0usize..3,
        bandwidth in 0.01f64..3.0, sharpness in 0.2f64..5.0, seed: u64,
    ) {
        let mut rng = rng(seed);
        let logits = tied(random_rows(n, m, sharpness, &mut rng), ties);
        let classes = random_labels(n, m, &mut rng);
        let mmce = Mmce { bandwidth, ..Mmce::new(FORMS[form]) };
        // terms of the value are of the order of 1 before their mean, those of an entry of 1/n: what
        // is left of them where all positions coincide can be arbitrarily small
        let cancelled = [1e-2, 1e-2, 1.0][ties];
        for (dtype, tolerance) in [(DType::F64, 1e-12), (DType::F32, 1e-5)] {
            let of = |computation| {
                let mmce = mmce.with_computation(computation);
                value_and_gradient(mmce, &logits, &classes, dtype)
            };
            let (fused, composed) = (of(Computation::Fused), of(Computation::Composed));
            close(&[fused.0], &[composed.0], tolerance, 0.1);
            close(&fused.1, &composed.1, tolerance, cancelled / n as f64);
            prop_assert_eq!(of(Computation::Auto), fused); // on the processor
        }
    }
}

/// Through the logits for each form, and through the positions of the sums alone.
#[test]
fn gradients_by_central_differences() {
    let mut rng = rng(71);
    for form in FORMS {
        for bandwidth in [0.05, 0.4] {
            let mmce = Mmce {
                bandwidth,
                ..Mmce::new(form).with_computation(Computation::Fused)
            };
            let logits = random_rows(9, 3, 2.0, &mut rng);
            let classes = labels(&random_labels(9, 3, &mut rng));
            let of = |z| of_probabilities(burn::tensor::activation::softmax(z, 1));
            check_gradient(&logits, 1e-6, |z| mmce.value(&of(z), &classes));
        }
    }
    let weights: Vec<f64> = random_rows(9, 1, 1.0, &mut rng).concat();
    check_gradient(&random_rows(9, 1, 1.0, &mut rng), 1e-6, |r| {
        let weights = Tensor::from_data(&*weights, (&r.device(), DType::F64));
        let sums = laplacian_sum(r.squeeze_dim(1), weights, 0.4);
        sums.powi_scalar(2).sum()
    });
}

/// The estimate from data goes the same way.
#[test]
fn estimates_agree() {
    let mut rng = rng(72);
    let predictions = categorical(&random_probabilities(101, 4, &mut rng));
    let labels = labels(&random_labels(101, 4, &mut rng));
    for form in FORMS {
        let estimate = |computation| {
            let mmce = Mmce::new(form).with_computation(computation);
            mmce.on(&predictions, &labels)
        };
        let composed = estimate(Computation::Composed);
        for computation in [Computation::Fused, Computation::Auto] {
            close(&[estimate(computation)], &[composed], 1e-12, 0.0);
        }
    }
}

/// In half precision too, with sums in f64: to the rounding of input and output.
#[test]
fn half_precision() {
    let positions: Vec<f64> = (0..64).map(|i| f64::from(i) / 64.0).collect();
    let ones = [1.0; 64];
    let [expected, ..] = sums_by_loops([&positions, &ones, &ones], 0.25);
    let tensor = |x: &[f64]| Tensor::<1>::from_data(x, (&device(), DType::F16));
    let sums = laplacian_sum(tensor(&positions), tensor(&ones), 0.25);
    assert_eq!(sums.dtype(), DType::F16);
    close(&vector(sums), &expected, 5e-4, 0.0);
}

/// A training that diverged: NaN, in value and gradient, and no panic.
#[test]
fn what_is_not_finite_gives_nan() {
    for wrong in [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for r in [vec![wrong], vec![0.3, wrong, 0.6], vec![wrong; 3]] {
            let a = vec![0.5; r.len()];
            let all = sums([&r, &a, &a], 0.4, DType::F64).concat();
            assert!(all.iter().all(|x| x.is_nan()), "{wrong}: {all:?}");
        }
    }
    let logits = vec![
        vec![0.3, f64::NAN, 0.1],
        vec![0.3, 1.0, 0.1],
        vec![f64::INFINITY, 1.0, 0.1],
    ];
    for dtype in [DType::F32, DType::F64] {
        for form in FORMS {
            let mmce = Mmce::new(form);
            for computation in [Computation::Fused, Computation::Composed] {
                let mmce = mmce.with_computation(computation);
                let (value, gradient) = value_and_gradient(mmce, &logits, &[0, 1, 0], dtype);
                assert!(value.is_nan() && gradient.iter().any(|g| g.is_nan()));
            }
        }
    }
}

/// An empty batch gives 0, no sum.
#[test]
fn no_samples() {
    let none = || line(&[], DType::F64);
    assert_eq!(laplacian_sum(none(), none(), 0.4).dims(), [0]);
    for form in FORMS {
        for computation in [Computation::Fused, Computation::Composed] {
            let p = Tensor::<2>::zeros([0, 3], (&device(), DType::F64));
            let mmce = Mmce::new(form).with_computation(computation);
            assert_eq!(scalar(mmce.value(&of_probabilities(p), &labels(&[]))), 0.0);
        }
    }
}

#[test]
fn bandwidth_of_zero_and_other_numbers_of_weights_panic() {
    let one = || line(&[0.5], DType::F64);
    panics(|| laplacian_sum(one(), one(), 0.0));
    panics(|| laplacian_sum(line(&[0.5, 0.6], DType::F64), one(), 0.4));
}
