//! Penalties of others: values by their authors' formulas, gradients, degenerate batches.

use burn::tensor::activation;
use burn_calibration_testing::rivals::*;

use crate::prelude::*;

const LABELS: [usize; 7] = [0, 2, 2, 1, 1, 1, 2];

const ROWS: [[f64; 3]; 7] = [
    [0.70, 0.20, 0.10],
    [0.15, 0.60, 0.25],
    [0.05, 0.05, 0.90],
    [0.40, 0.35, 0.25],
    [0.30, 0.50, 0.20],
    [0.80, 0.12, 0.08],
    [0.33, 0.22, 0.45],
];

/// The value of probabilities, and that of their logarithms as logits.
fn check_value(loss: &dyn Criterion, expected: f64) {
    let labels = labels(&LABELS);
    let probabilities = tensor(&ROWS);
    let logits = probabilities.clone().log();
    for predictions in [of_probabilities(probabilities), of_logits(logits)] {
        let found = scalar(loss.value(&predictions, &labels));
        assert_relative(found, expected, 1e-12);
    }
    let found = scalar(loss.value(&of_probabilities(single(&ROWS)), &labels));
    assert_relative(found, expected, 1e-5);
}

/// Equations 11 and 12 of Karandikar et al. by loops in double precision, outside of this library.
#[test]
fn soft_binned_ece_of_the_authors() {
    let (binned, labels) = (SoftEceForm::Binned, SoftEceForm::LabelBinned);
    for (bins, temperature, norm, form, expected) in [
        (15, 0.01, 2.0, binned, 0.19296230147590523),
        (15, 0.01, 2.0, labels, 0.20222464514077498),
        (5, 0.05, 1.0, binned, 0.10124942796385339),
        (5, 0.05, 1.0, labels, 0.13847275043227117),
        (10, 0.002, 3.0, binned, 0.27443953528456233),
        (10, 0.002, 3.0, labels, 0.2795529770810432),
    ] {
        let loss = SoftEce {
            bins,
            temperature,
            norm,
            form,
        };
        check_value(&loss, expected);
    }
}

/// With cold bins it is the ECE: bins `[0.4, 0.6)`, `[0.6, 0.8)` and `[0.8, 1]` by hand.
#[test]
fn cold_soft_bins_are_hard() {
    let loss = SoftEce {
        bins: 5,
        temperature: 1e-5,
        norm: 1.0,
        ..SoftEce::default()
    };
    let rows = [0.45, 0.55, 0.65, 0.7, 0.95].map(|p| vec![p, 1.0 - p]);
    let predictions = of_probabilities(tensor(&rows));
    let found = scalar(loss.value(&predictions, &labels(&[1, 0, 0, 1, 0])));
    // 0.55 of class 1 and 0.55 of class 0, both right; 0.65 right and 0.7 wrong; 0.95 right
    let expected = (0.9 + 0.35 + 0.05) / 5.0;
    assert_relative(found, expected, 1e-9);
}

/// Equation 15 by loops, as the authors' code has it, without its smoothing of probabilities by 10⁻⁵.
#[test]
fn soft_avuc_of_the_authors() {
    for (threshold, temperature, expected) in [
        (0.5, 1.0, 0.7117552118689284),
        (0.8, 0.1, 0.5978640874677212),
        (0.3, 2.0, 0.7281410076962729),
    ] {
        let loss = SoftAvUc {
            threshold,
            temperature,
        };
        check_value(&loss, expected);
    }
}

/// The formula of Yoon et al. by loops: squared mean less the variance of the mean.
#[test]
fn esd_of_the_authors() {
    check_value(&Esd, -0.021142857142857147);
}

/// The mean over triples by loops, with ties, for any number of samples.
#[test]
fn esd_is_a_mean_over_triples() {
    let mut rng = rng(31);
    for n in [3, 4, 9] {
        let mut rows = random_probabilities(n, 3, &mut rng);
        rows[n - 1] = rows[0].clone(); // a tie
        let classes = random_labels(n, 3, &mut rng);
        let r: Vec<f64> = rows.iter().map(|row| row[argmax(row)]).collect();
        let d = |j: usize| f64::from(argmax(&rows[j]) == classes[j]) - r[j];
        let g = |i: usize, j: usize| if r[j] <= r[i] { d(j) } else { 0.0 };
        let sum: f64 = triples(n).map(|(i, j, k)| g(i, j) * g(i, k)).sum();
        let expected = sum / (n * (n - 1) * (n - 2)) as f64;
        let found = scalar(Esd.value(&of_probabilities(tensor(&rows)), &labels(&classes)));
        assert_relative_eq!(found, expected, max_relative = 1e-11, epsilon = 1e-15);
    }
}

/// Ordered triples of different numbers.
fn triples(n: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let all = (0..n * n * n).map(move |t| (t / (n * n), t / n % n, t % n));
    all.filter(|(i, j, k)| i != j && j != k && k != i)
}

/// Over all labels, weighed by calibrated probabilities of being right, the mean is 0, as the biased square
/// of the same sums is not.
#[test]
fn esd_is_unbiased() {
    let right = [0.9, 0.6, 0.75, 0.6];
    let rows = right.map(|p| vec![p, 1.0 - p]);
    let predictions = of_probabilities(tensor(&rows));
    let value = |(classes, probability): (Vec<usize>, f64)| {
        probability * scalar(Esd.value(&predictions, &labels(&classes)))
    };
    let mean: f64 = labellings(&rows).map(value).sum();
    assert!(mean.abs() < 1e-15, "{mean}");
}

/// Its indicators jump where two confidences cross: distinct ones here.
#[test]
fn esd_gradient() {
    let mut rng = rng(32);
    let logits = random_rows(9, 4, 2.0, &mut rng);
    let labels = labels(&random_labels(9, 4, &mut rng));
    check_gradient(&logits, 1e-6, |z| Esd.value(&of_logits(z), &labels));
}

/// Coincident rows, uniform and one-hot predictions, in f32 and f64, at any scale of the logits.
#[test]
fn degenerate_batches() {
    let losses: [Box<dyn Criterion>; 5] = [
        Box::new(SoftEce::default()),
        Box::new(SoftEce {
            temperature: 1e-4,
            ..SoftEce::default()
        }),
        Box::new(SoftAvUc::default()),
        Box::new(SoftAvUc {
            temperature: 0.01,
            ..SoftAvUc::default()
        }),
        Box::new(Esd),
    ];
    let mut rng = rng(33);
    for n in [1, 2, 3, 6] {
        for scale in [0.0, 1e-6, 1.0, 1e6] {
            let rows = mapped(&random_rows(n, 3, 1.0, &mut rng), |z| z * scale);
            for dtype in [DType::F32, DType::F64] {
                for class in 0..3 {
                    let labels = labels_on(&vec![class; n], &device().autodiff());
                    for loss in &losses {
                        let of = |z| loss.value(&of_logits(z), &labels);
                        let (value, gradient) = with_gradient(&rows, dtype, of);
                        assert!(value.is_finite());
                        all_finite(&gradient);
                    }
                }
            }
        }
    }
    let none = of_logits(Tensor::zeros([0, 3], (&device(), DType::F64)));
    for loss in &losses {
        assert_eq!(scalar(loss.value(&none, &labels(&[]))), 0.0);
    }
    // all right and sure of it is no error; all wrong and sure of it is the largest
    let sure = tensor(&[[1.0, 0.0]; 4]);
    for (class, ece, esd) in [(0, 0.0, 0.0), (1, 1.0, 1.0)] {
        let labels = labels(&[class; 4]);
        let sure = of_probabilities(sure.clone());
        assert_relative_eq!(scalar(losses[0].value(&sure, &labels)), ece);
        assert_relative_eq!(scalar(losses[4].value(&sure, &labels)), esd);
    }
}

/// Values by their differences, in the memberships and in the entropies.
#[test]
fn soft_gradients() {
    let mut rng = rng(34);
    let logits = random_rows(9, 4, 2.0, &mut rng);
    let labels = labels(&random_labels(9, 4, &mut rng));
    let mut losses: Vec<Box<dyn Criterion>> = Vec::new();
    for form in [SoftEceForm::Binned, SoftEceForm::LabelBinned] {
        for norm in [2.0, 3.0] {
            losses.push(Box::new(SoftEce {
                norm,
                form,
                ..SoftEce::default()
            }));
        }
    }
    for temperature in [0.1, 1.0] {
        losses.push(Box::new(SoftAvUc {
            temperature,
            ..SoftAvUc::default()
        }));
    }
    for loss in losses {
        check_gradient(&logits, 1e-6, |z| loss.value(&of_logits(z), &labels));
        let of = |z| loss.value(&of_probabilities(activation::softmax(z, 1)), &labels);
        check_gradient(&logits, 1e-6, of);
    }
}

/// The authors' loss of classes by loops, with a kernel on one-hot labels, is a multiple of ours.
#[test]
fn mmd_of_classes_is_the_skce() {
    let (rows, b) = (ROWS, 0.8f64);
    let kernel = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(0.5));
    let between = |y: usize, z: usize| if y == z { 1.0 } else { (-2.0 / b).exp() };
    let expectation = |p: &[f64], y: usize| (0..3).map(|c| p[c] * between(c, y)).sum::<f64>();
    let n = rows.len();
    let mut sum = 0.0;
    for (i, j) in (0..n * n).map(|k| (k / n, k % n)).filter(|(i, j)| i != j) {
        let (p, q, y, z) = (&rows[i], &rows[j], LABELS[i], LABELS[j]);
        let both: f64 = (0..3).map(|c| p[c] * expectation(q, c)).sum();
        let gram = (-euclidean(p, q).powi(2) / 0.5).exp();
        sum += gram * (both - 2.0 * expectation(p, z) + between(y, z));
    }
    let mmd = sum / (n * (n - 1)) as f64;
    let skce = Skce::unbiased(kernel).estimate(&categorical(&rows), &labels(&LABELS));
    let factor = 1.0 - (-2.0 / b).exp();
    assert_relative(mmd, factor * skce.unwrap(), 1e-12);
}
