//! The calibration mean embedding at test locations.

use burn::tensor::activation;

use crate::prelude::*;

fn ucme(kernel: Kernel, rows: &[Vec<f64>], targets: &[usize]) -> Ucme {
    Ucme::new(kernel, &categorical(rows), &labels(targets)).unwrap()
}

/// `UCME²` by scalar loops over `z_ji = k(T_j, p_i)(1[τ_j = y_i] − p_i[τ_j])`.
fn by_loops(
    kernel: &Kernel,
    locations: (&[Vec<f64>], &[usize]),
    data: (&[Vec<f64>], &[usize]),
) -> f64 {
    let mean = |(t, &target): (&Vec<f64>, &usize)| {
        let z = |(p, &y): (&Vec<f64>, &usize)| {
            kernel_value(kernel, t, p) * (f64::from(target == y) - p[target])
        };
        data.0.iter().zip(data.1).map(z).sum::<f64>() / data.0.len() as f64
    };
    let means = locations.0.iter().zip(locations.1).map(mean);
    means.map(|mean| mean * mean).sum::<f64>() / locations.0.len() as f64
}

/// The Gaussian kernel with bandwidth 1 between predictions at `(1, 0)` and `(0, 1)`: `e^{−1}`.
#[test]
fn two_samples_by_hand() {
    let kernel = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(1.0));
    let vertices = [vec![1.0, 0.0], vec![0.0, 1.0]];
    let e = (-1.0f64).exp();
    let data = categorical(&vertices);
    let estimate = |locations: &[Vec<f64>], targets: &[usize], classes: &[usize]| {
        ucme(kernel, locations, targets).on(&data, &labels(classes))
    };
    // one location at the first sample, for class 0: z = k(1[y = 0] − p[0])
    let at_first = |classes: &[usize]| estimate(&vertices[..1], &[0], classes);
    assert_eq!(at_first(&[0, 1]), 0.0); // residuals 0, 0
    assert_relative(at_first(&[1, 1]), 0.25, 1e-15); // −1, 0: (−1/2)²
    assert_relative(at_first(&[0, 0]), (e / 2.0).powi(2), 1e-15); // 0, e
    let both = ((e - 1.0) / 2.0).powi(2);
    assert_relative(at_first(&[1, 0]), both, 1e-15); // −1, e
    // for class 1 the residuals of two classes change sign
    assert_relative(estimate(&vertices[..1], &[1], &[1, 0]), both, 1e-15);
    // two locations: the mean of the squares; at the second sample −e and 1
    assert_relative(estimate(&vertices, &[0, 0], &[1, 0]), both, 1e-15);
    let second = (e / 2.0).powi(2); // −e, 0
    let expected = (0.25 + second) / 2.0;
    assert_relative(estimate(&vertices, &[0, 0], &[1, 1]), expected, 1e-15);
    // halfway: ‖(½, ½) − (1, 0)‖² = ½, k = e^{−1/4} for both
    let halfway = estimate(&[vec![0.5, 0.5]], &[0], &[1, 1]);
    assert_relative(halfway, (-0.5f64).exp() / 4.0, 1e-14);
}

fn random(n: usize, m: usize, rng: &mut StdRng) -> (Vec<Vec<f64>>, Vec<usize>) {
    (random_probabilities(n, m, rng), random_labels(n, m, rng))
}

#[test]
fn agrees_with_scalar_loops() {
    let mut rng = rng(701);
    let (locations, targets) = random(5, 4, &mut rng);
    let (rows, classes) = random(40, 4, &mut rng);
    let (p, y) = (categorical(&rows), labels(&classes));
    for kernel in kernels() {
        let expected = by_loops(&kernel, (&locations, &targets), (&rows, &classes));
        let ucme = ucme(kernel, &locations, &targets);
        assert_eq!(ucme.locations(), 5);
        assert_relative(ucme.on(&p, &y), expected, 1e-11);
        let value = ucme.value(&of_probabilities(p.probabilities()), &y);
        assert_eq!(value.dtype(), DType::F64);
        assert_relative(scalar(value), expected, 1e-11);
        let embeddings = ucme.embeddings(&of_probabilities(p.probabilities()), &y);
        assert_eq!(embeddings.dims(), [5, 40]);
        // single precision
        let single = ucme.value(&of_probabilities(p.probabilities().cast(DType::F32)), &y);
        assert_eq!(single.dtype(), DType::F32);
        assert_relative(scalar(single), expected, 1e-4);
    }
}

/// The median is that of the data, in a batch and on data.
#[test]
fn median_bandwidth() {
    let mut rng = rng(702);
    let (locations, targets) = random(3, 3, &mut rng);
    let (rows, classes) = random(21, 3, &mut rng);
    let (p, y) = (categorical(&rows), labels(&classes));
    for kernel in [
        Kernel::exponential(),
        Kernel::gaussian(),
        Kernel::matern52(),
    ] {
        let fixed = kernel.with_bandwidth_of(&p.probabilities()).unwrap();
        let expected = by_loops(&fixed, (&locations, &targets), (&rows, &classes));
        let ucme = ucme(kernel, &locations, &targets);
        assert_relative(ucme.on(&p, &y), expected, 1e-11);
        let value = scalar(ucme.value(&of_probabilities(p.probabilities()), &y));
        assert_relative(value, expected, 1e-10);
    }
}

/// With a matrix: `z = k·(Mδ)[τ]`, by hand for a matrix that exchanges weight between two classes.
#[test]
fn matrix_kernels() {
    let mut rng = rng(703);
    let (locations, targets) = random(4, 3, &mut rng);
    let (rows, classes) = random(17, 3, &mut rng);
    let kernel = exponential(0.5);
    let matrix = [[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 3.0]];
    let mut expected = 0.0;
    for (t, &target) in locations.iter().zip(&targets) {
        let mut sum = 0.0;
        for (p, &y) in rows.iter().zip(&classes) {
            let delta = |c: usize| f64::from(c == y) - p[c];
            let seen: f64 = (0..3).map(|c| matrix[target][c] * delta(c)).sum();
            sum += kernel_value(&kernel, t, p) * seen;
        }
        expected += (sum / 17.0).powi(2) / 4.0;
    }
    let kernel = MatrixKernel::from_rows(kernel, &matrix).unwrap();
    let ucme = Ucme::new(kernel, &categorical(&locations), &labels(&targets)).unwrap();
    let estimate = ucme.on(&categorical(&rows), &labels(&classes));
    assert_relative(estimate, expected, 1e-12);
}

#[test]
fn gradients() {
    let mut rng = rng(704);
    let (locations, targets) = random(3, 4, &mut rng);
    let logits = random_rows(6, 4, 2.0, &mut rng);
    let y = labels(&random_labels(6, 4, &mut rng));
    for kernel in kernels() {
        let ucme = ucme(kernel, &locations, &targets);
        let of = |z| ucme.value(&of_probabilities(activation::softmax(z, 1)), &y);
        check_gradient(&logits, 1e-5, of);
        // samples that coincide with the locations
        let of = |p| ucme.value(&of_probabilities(p), &labels(&[0, 1, 2]));
        all_finite(gradient(&locations, of));
    }
}

/// Calibrated: the mean over data sets is that of the bias, `Σ_j Var(z_j)/(nJ)`, and it falls as
/// `1/n`; not calibrated: it stays.
#[test]
fn bias_by_simulation() {
    let mut rng = rng(705);
    let options = (&device(), DType::F64);
    let uniform = DirichletModel::new(vec![1.0; 3], 1.0, vec![1.0 / 3.0; 3]);
    let (locations, targets) = uniform.sample(4, options, &mut rng);
    let kernel = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(0.5));
    let ucme = Ucme::new(kernel, &locations, &targets).unwrap();
    let calibrated = DirichletModel::new(vec![1.0; 3], 0.0, vec![1.0, 0.0, 0.0]);
    let (p, y) = calibrated.sample(20_000, options, &mut rng);
    let z = vector(ucme.embeddings(&of_probabilities(p.probabilities()), &y)); // mean 0
    let variance = z.iter().map(|z| z * z).sum::<f64>() / z.len() as f64;
    let (sets, n) = (400, 50);
    let mean = |model: &DirichletModel, rng: &mut StdRng| {
        let mut estimate = || {
            let (p, y) = model.sample(n, options, rng);
            ucme.on(&p, &y)
        };
        (0..sets).map(|_| estimate()).sum::<f64>() / f64::from(sets)
    };
    let expected = variance / n as f64;
    assert_relative(mean(&calibrated, &mut rng), expected, 0.2);
    let miscalibrated = DirichletModel::new(vec![1.0; 3], 0.8, vec![1.0, 0.0, 0.0]);
    assert!(mean(&miscalibrated, &mut rng) > 5.0 * expected);
}

#[test]
fn bad_input() {
    let two = categorical(&[[0.5, 0.5], [0.25, 0.75]]);
    let three = categorical(&[[0.5, 0.25, 0.25]]);
    let kernel = Kernel::exponential();
    refuses(Ucme::new(kernel, &two, &labels(&[0, 2])));
    refuses(Ucme::new(kernel, &two, &labels(&[0])));
    let bad = kernel.with_bandwidth(Bandwidth::Fixed(0.0));
    refuses(Ucme::new(bad, &two, &labels(&[0, 1])));
    let ucme = Ucme::new(kernel.with_distance(Distance::L1), &two, &labels(&[0, 1])).unwrap();
    refuses(ucme.estimate(&three, &labels(&[0])));
    refuses(ucme.estimate(&two, &labels(&[0, 5])));
    panic_of(|| ucme.value(&of_probabilities(three.probabilities()), &labels(&[0])));
}
