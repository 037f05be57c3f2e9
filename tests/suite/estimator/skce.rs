use crate::prelude::*;

fn estimates(kernel: Kernel, rows: &[Vec<f64>], classes: &[usize]) -> (f64, f64) {
    let (predictions, labels) = (categorical(rows), labels(classes));
    let of = |skce: Skce| skce.on(&predictions, &labels);
    (of(Skce::biased(kernel)), of(Skce::unbiased(kernel)))
}

/// docs/mathematics.md, section 2: two samples at opposite vertices, by hand.
#[test]
fn hand_solved_pairs() {
    let rows = [vec![1.0, 0.0], vec![0.0, 1.0]];
    let kernel = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(1.0));
    let e = (-1.0f64).exp();
    let cases = [
        ([0, 1], 0.0, 0.0),
        ([0, 0], 0.0, 0.5),
        ([1, 0], -2.0 * e, 1.0 - e),
        ([1, 1], 0.0, 0.5),
    ];
    for (classes, unbiased, biased) in cases {
        let (b, u) = estimates(kernel, &rows, &classes);
        assert_relative_eq!(u, unbiased, epsilon = 1e-15);
        assert_relative_eq!(b, biased, epsilon = 1e-15);
    }
}

/// Several tiles, all kernels, against scalar loops over the form of `h` without residuals.
#[test]
fn agrees_with_scalar_loops() {
    let mut rng = rng(21);
    let n = 301; // more than one tile
    let rows = random_probabilities(n, 4, &mut rng);
    let classes = random_labels(n, 4, &mut rng);
    let (predictions, labels) = (categorical(&rows), labels(&classes));
    for kernel in kernels() {
        let h = pair_statistic(&rows, &classes, |p, q| kernel_value(&kernel, p, q));
        let (b, u) = estimates(kernel, &rows, &classes);
        assert_relative(b, biased(&h), 1e-11);
        assert_relative(u, unbiased(&h), 1e-11);
        for size in [2, 7, 150, 301] {
            let expected = in_blocks(&h, size);
            let skce = Skce::block(kernel, size);
            assert_relative(skce.on(&predictions, &labels), expected, 1e-11);
            let value = skce.value(&of_probabilities(predictions.probabilities()), &labels);
            assert_relative(scalar(value), expected, 1e-11);
        }
        for (skce, expected) in [(Skce::biased(kernel), b), (Skce::unbiased(kernel), u)] {
            let value = skce.value(&of_probabilities(predictions.probabilities()), &labels);
            assert_eq!(value.dtype(), DType::F64);
            assert_relative(scalar(value), expected, 1e-11);
        }
    }
}

#[test]
fn single_precision_is_close() {
    let mut rng = rng(22);
    let rows = random_probabilities(100, 5, &mut rng);
    let classes = random_labels(100, 5, &mut rng);
    let single = Categorical::from_probabilities(tensor_on(&rows, &device(), DType::F32)).unwrap();
    for kernel in kernels() {
        let (b, u) = estimates(kernel, &rows, &classes);
        let estimate = |skce: Skce| skce.on(&single, &labels(&classes));
        assert_relative(estimate(Skce::biased(kernel)), b, 1e-4);
        assert_relative(estimate(Skce::unbiased(kernel)), u, 1e-4);
    }
}

/// Unbiased and linear: the means over data sets of M1–M3 agree with each other, and on the
/// calibrated M1 with 0; the biased one lies above by the mean of its diagonal, `(1 − SKCE)/n`-ish.
#[test]
fn bias_by_simulation() {
    let kernel = exponential(0.9);
    for (seed, model) in [(1, Model::M1), (2, Model::M2), (3, Model::M3)] {
        let mut rng = rng(seed);
        let sets = 600;
        let sample = |rng: &mut _| {
            let (rows, classes) = draw(model, 20, 10, rng);
            let (predictions, labels) = (categorical(&rows), labels(&classes));
            let estimate = |skce: Skce| skce.on(&predictions, &labels);
            [
                estimate(Skce::biased(kernel)),
                estimate(Skce::unbiased(kernel)),
                estimate(Skce::linear(kernel)),
                estimate(Skce::block(kernel, 6)),
            ]
        };
        let samples: Vec<_> = (0..sets).map(|_| sample(&mut rng)).collect();
        // the mean difference to an independent large sample, in standard errors
        let (rows, classes) = draw(model, 3000, 10, &mut rng);
        let truth = match model {
            Model::M1 => 0.0,
            _ => Skce::unbiased(kernel).on(&categorical(&rows), &labels(&classes)),
        };
        let z = |k: usize| {
            let values: Vec<f64> = samples.iter().map(|sample| sample[k]).collect();
            standardised(&values, truth)
        };
        assert!(z(0) > 20.0, "biased upward: z = {}", z(0));
        for k in 1..4 {
            assert!(z(k).abs() < 4.0, "estimator {k} is unbiased: z = {}", z(k));
        }
    }
}

#[test]
fn mmce_agrees_with_scalar_loops() {
    let mut rng = rng(23);
    let rows = random_probabilities(40, 3, &mut rng);
    let classes = random_labels(40, 3, &mut rng);
    let r: Vec<f64> = rows.iter().map(|row| row[argmax(row)]).collect();
    let right: Vec<bool> = (0..40).map(|i| argmax(&rows[i]) == classes[i]).collect();
    let k = |i: usize, j: usize| (-(r[i] - r[j]).abs() / 0.4).exp();
    let pairs = || (0..40).flat_map(|i| (0..40).map(move |j| (i, j)));
    let residual = |i: usize| f64::from(right[i]) - r[i];
    let term = |(i, j)| residual(i) * residual(j) * k(i, j);
    let unweighted: f64 = pairs().map(term).sum();
    let diagonal: f64 = (0..40).map(|i| residual(i).powi(2)).sum();
    let n1 = right.iter().filter(|&&c| c).count();
    let n0 = right.iter().filter(|&&c| !c).count();
    assert!(n0 > 0 && n1 > 0);
    let weighted: f64 = pairs()
        .map(|(i, j)| match (right[i], right[j]) {
            (false, false) => r[i] * r[j] * k(i, j) / (n0 * n0) as f64,
            (true, true) => (1.0 - r[i]) * (1.0 - r[j]) * k(i, j) / (n1 * n1) as f64,
            (true, false) => -2.0 * (1.0 - r[i]) * r[j] * k(i, j) / (n0 * n1) as f64,
            (false, true) => 0.0, // counted with its mirror image
        })
        .sum();
    for (form, expected) in [
        (MmceForm::Unweighted, unweighted / 1600.0),
        (MmceForm::Weighted, weighted),
        (MmceForm::Unbiased, (unweighted - diagonal) / 1560.0),
    ] {
        let estimate = Mmce::new(form).on(&categorical(&rows), &labels(&classes));
        assert_relative(estimate, expected, 1e-12);
    }
}

/// With one group empty, only the terms of the other are left.
#[test]
fn weighted_mmce_of_one_group() {
    let rows = [vec![0.8, 0.2], vec![0.6, 0.4]];
    let mmce = Mmce::new(MmceForm::Weighted);
    let k = (-0.2f64 / 0.4).exp();
    for (classes, a, b) in [([0, 0], 0.2, 0.4), ([1, 1], 0.8, 0.6)] {
        let expected = (a * a + 2.0 * a * b * k + b * b) / 4.0;
        let estimate = mmce.on(&categorical(&rows), &labels(&classes));
        assert_relative(estimate, expected, 1e-14);
    }
}

/// Widmann et al. 2019, Example I.1: the MMCE is the kernel calibration error of the top label.
#[test]
fn mmce_is_half_the_skce_of_the_top_label() {
    let mut rng = rng(24);
    let predictions = categorical(&random_probabilities(30, 4, &mut rng));
    let labels = labels(&random_labels(30, 4, &mut rng));
    let (binary, correct) = predictions.top_label(&labels).unwrap();
    let kernel = exponential(0.4);
    for (mmce, skce) in [
        (MmceForm::Unweighted, Skce::biased(kernel)),
        (MmceForm::Unbiased, Skce::unbiased(kernel)),
    ] {
        let skce = skce.on(&binary, &correct);
        let mmce = Mmce::new(mmce).on(&predictions, &labels);
        assert_relative(skce, 2.0 * mmce, 1e-12);
    }
}

/// Confidences 0.9, 0.95, 0.6, 0.55: with ten bins of equal width the first lies in (0.8, 0.9].
#[test]
fn expected_calibration_error_by_hand() {
    let confidence = [0.9, 0.95, 0.6, 0.55];
    let rows: Vec<_> = confidence.iter().map(|&r| vec![r, 1.0 - r]).collect();
    let ece = Ece::top_label(10).on(&categorical(&rows), &labels(&[0, 1, 0, 1]));
    let expected = ((1.0 - 0.9f64) + 0.95 + (1.0 - 0.6f64 - 0.55).abs()) / 4.0;
    assert_relative(ece, expected, 1e-14);
}

#[test]
fn a_gaussian_over_l1_is_offered_too() {
    let kernel = Kernel::gaussian()
        .with_distance(Distance::L1)
        .with_bandwidth(Bandwidth::Fixed(1.0));
    let (_, u) = estimates(kernel, &[vec![1.0, 0.0], vec![0.0, 1.0]], &[1, 0]);
    assert_relative(u, -2.0 * (-2.0f64).exp(), 1e-14); // distance 2
}
