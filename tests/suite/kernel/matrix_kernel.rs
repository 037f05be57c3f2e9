//! Matrix-valued kernels `k·M`.

use burn::tensor::activation;

use crate::prelude::*;

/// `A Aᵀ` for a random `m × rank` matrix.
fn random_matrix(m: usize, rank: usize, rng: &mut StdRng) -> Vec<Vec<f64>> {
    let a = random_rows(m, rank, 1.0, rng);
    table(m, m, |i, j| dot(&a[i], &a[j]))
}

fn residual(p: &[f64], y: usize) -> Vec<f64> {
    (0..p.len()).map(|c| f64::from(c == y) - p[c]).collect()
}

/// `δᵀ M δ'` by scalar loops.
fn form(matrix: &[Vec<f64>], a: &[f64], b: &[f64]) -> f64 {
    (0..a.len()).map(|i| a[i] * dot(&matrix[i], b)).sum()
}

#[test]
fn agrees_with_scalar_loops() {
    let mut rng = rng(601);
    let n = 270; // more than one tile
    let rows = random_probabilities(n, 4, &mut rng);
    let classes = random_labels(n, 4, &mut rng);
    let (predictions, labels) = (categorical(&rows), labels(&classes));
    for rank in [1, 2, 4, 7] {
        let matrix = random_matrix(4, rank, &mut rng);
        let by_matrix = MatrixKernel::from_rows(exponential(0.6), &matrix).unwrap();
        let deltas: Vec<_> = (0..n).map(|i| residual(&rows[i], classes[i])).collect();
        let h = table(n, n, |i, j| {
            let k = kernel_value(&exponential(0.6), &rows[i], &rows[j]);
            k * form(&matrix, &deltas[i], &deltas[j])
        });
        for (form, expected) in [
            (SkceForm::Biased, biased(&h)),
            (SkceForm::Unbiased, unbiased(&h)),
            (SkceForm::Block(2), in_blocks(&h, 2)),
            (SkceForm::Block(7), in_blocks(&h, 7)),
        ] {
            let skce = Skce::new(by_matrix.clone(), form);
            let estimate = skce.on(&predictions, &labels);
            assert_relative(estimate, expected, 1e-10);
            let value = skce.value(&of_probabilities(predictions.probabilities()), &labels);
            assert_eq!(value.dtype(), DType::F64);
            assert_relative(scalar(value), expected, 1e-10);
        }
    }
}

/// `M = I` is the scalar kernel, `M = D` weighs classes, a multiple scales.
#[test]
fn special_matrices() {
    let mut rng = rng(602);
    let rows = random_probabilities(40, 3, &mut rng);
    let classes = random_labels(40, 3, &mut rng);
    let (predictions, labels) = (categorical(&rows), labels(&classes));
    let estimate = |matrix: &[Vec<f64>]| {
        let kernel = MatrixKernel::from_rows(exponential(0.6), matrix).unwrap();
        Skce::unbiased(kernel).on(&predictions, &labels)
    };
    let plain = Skce::unbiased(exponential(0.6)).on(&predictions, &labels);
    assert_relative(estimate(&identity(3)), plain, 1e-14);
    let median = MatrixKernel::from_rows(Kernel::exponential(), &identity(3)).unwrap();
    let by_median = Skce::unbiased(Kernel::exponential()).on(&predictions, &labels);
    let by_matrix = Skce::unbiased(median).on(&predictions, &labels);
    assert_relative(by_matrix, by_median, 1e-14);
    // classes add up
    let one = |class: usize| {
        let mut matrix = vec![vec![0.0; 3]; 3];
        matrix[class][class] = 1.0;
        estimate(&matrix)
    };
    assert_relative(one(0) + one(1) + one(2), plain, 1e-12);
    // residuals sum to 0: a multiple of 11ᵀ adds nothing
    let mut shifted = identity(3);
    shifted.iter_mut().flatten().for_each(|entry| *entry += 2.0);
    assert_relative(estimate(&shifted), plain, 1e-12);
}

#[test]
fn gradients() {
    let mut rng = rng(603);
    let logits = random_rows(6, 4, 2.0, &mut rng);
    let labels = labels(&random_labels(6, 4, &mut rng));
    let kernel = MatrixKernel::from_rows(exponential(0.6), &random_matrix(4, 2, &mut rng)).unwrap();
    for form in [SkceForm::Biased, SkceForm::Unbiased, SkceForm::Block(3)] {
        let skce = Skce::new(kernel.clone(), form);
        let of = |z| skce.value(&of_probabilities(activation::softmax(z, 1)), &labels);
        check_gradient(&logits, 1e-5, of);
    }
}

fn half_bound(kernel: &impl JointKernel<Categorical>) -> f64 {
    kernel.half_bound()
}

/// `|h| ≤ 2·half_bound` at random, with equality at a pair of vertices; never above the bounds by the
/// induced norms `‖M‖₂` (by power iteration) and `‖M‖₁` (the largest absolute row sum).
#[test]
fn half_bound_is_half_of_the_least_bound() {
    let mut rng = rng(604);
    for _ in 0..30 {
        let m = rng.random_range(2..6);
        let rank = rng.random_range(1..6);
        let matrix = random_matrix(m, rank, &mut rng);
        let bound = 2.0 * half_bound(&MatrixKernel::from_rows(exponential(0.6), &matrix).unwrap());
        let rows = random_probabilities(60, m, &mut rng);
        let classes = random_labels(60, m, &mut rng);
        let mut deltas: Vec<_> = (0..60).map(|i| residual(&rows[i], classes[i])).collect();
        for (i, j) in pairs(m) {
            deltas.push(residual(&identity(m)[j], i));
        }
        let k = deltas.len();
        let forms = table(k, k, |i, j| form(&matrix, &deltas[i], &deltas[j]));
        assert_relative(largest(&forms.concat()), bound, 1e-12);

        let mut v = random_rows(1, m, 1.0, &mut rng).remove(0);
        let mut spectral = 0.0;
        for _ in 0..500 {
            let product: Vec<f64> = matrix.iter().map(|row| dot(row, &v)).collect();
            spectral = dot(&product, &product).sqrt();
            v = product.iter().map(|x| x / spectral).collect();
        }
        let row_sum = |row: &Vec<f64>| row.iter().map(|a| a.abs()).sum::<f64>();
        let one = matrix.iter().map(row_sum).fold(0.0, f64::max);
        assert!(bound <= 2.0 * spectral * (1.0 + 1e-9) && spectral <= one * (1.0 + 1e-9));
    }
    let plain = MatrixKernel::from_rows(exponential(0.6), &identity(3)).unwrap();
    assert_eq!(half_bound(&plain), half_bound(&exponential(0.6)));
}

#[test]
fn bad_matrices() {
    for matrix in [vec![vec![1.0, 0.0], vec![0.0]], vec![vec![1.0]]] {
        refuses(MatrixKernel::from_rows(exponential(0.6), &matrix));
    }
    for [a, b] in [
        [[1.0, f64::NAN], [0.0, 1.0]],
        [[1.0, 0.25], [0.5, 1.0]],
        [[1.0, 2.0], [2.0, 1.0]], // indefinite, as the next three
        [[1.0, 0.0], [0.0, -1e-3]],
        [[0.0, 1.0], [1.0, 0.0]],
        [[-1.0, 0.0], [0.0, -1.0]],
        [[1.0, 1.0], [1.0, 1.0]],
        [[0.0; 2], [0.0; 2]],
    ] {
        refuses(MatrixKernel::from_rows(
            exponential(0.6),
            &[a.to_vec(), b.to_vec()],
        ));
    }
    let wide = exponential(0.6).with_bandwidth(Bandwidth::Fixed(-1.0));
    refuses(MatrixKernel::from_rows(wide, &identity(2)));
    // another number of classes
    let three = MatrixKernel::from_rows(exponential(0.6), &identity(3)).unwrap();
    let two: Categorical = categorical(&[[0.5, 0.5]; 4]);
    refuses(Skce::unbiased(three).estimate(&two, &labels(&[0, 1, 0, 1])));
}

/// The matrix `I` is the scalar kernel, in redrawn targets too.
#[test]
fn exact_tests_take_a_matrix() {
    let mut data = rng(31);
    let p = categorical(&random_probabilities(20, 3, &mut data));
    let y = labels(&random_labels(20, 3, &mut data));
    let scalar = ExactTest::new(Skce::unbiased(exponential(0.6))).with_replicates(99);
    let matrix = MatrixKernel::from_rows(exponential(0.6), &identity(3)).unwrap();
    let matrix = ExactTest::new(Skce::unbiased(matrix)).with_replicates(99);
    assert_eq!(scalar.p_value(&p, &y, 32), matrix.p_value(&p, &y, 32));
}

#[test]
fn a_saved_kernel_is_read_back() {
    let rows = [[2.0, 1.0], [1.0, 2.0]];
    let kernel = MatrixKernel::from_rows(Kernel::gaussian(), &rows).unwrap();
    let saved = serde_json::to_string(&kernel).unwrap();
    assert_eq!(
        serde_json::from_str::<MatrixKernel>(&saved).unwrap(),
        kernel
    );
    let wrong = saved.replace("[2.0,1.0]", "[2.0,3.0]");
    let error = serde_json::from_str::<MatrixKernel>(&wrong).unwrap_err();
    assert!(error.to_string().contains("symmetric"), "{error}");
}
