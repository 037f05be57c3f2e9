//! Monte Carlo samples: by features, by sweeps and by tensor operations, against loops over draws.

use super::data::{gaussian, laplacian};
use crate::prelude::*;

const S: usize = 3;
const FORMS: [SkceForm; 3] = [SkceForm::Biased, SkceForm::Unbiased, SkceForm::Block(4)];

/// `n · S` draws and `n` targets.
struct Draws {
    draws: Vec<Vec<f64>>,
    targets: Vec<Vec<f64>>,
}

impl Draws {
    fn random(n: usize, d: usize, scale: f64, seed: u64) -> Self {
        Self {
            draws: random_rows(n * S, d, 2.0 * scale, &mut rng(seed)),
            targets: random_rows(n, d, 3.0 * scale, &mut rng(seed + 1)),
        }
    }

    fn samples(&self, dtype: DType) -> (Samples, Tensor<2>) {
        let d = self.draws[0].len() as i32;
        let draws = tensor(&self.draws).cast(dtype);
        let targets = tensor(&self.targets).cast(dtype);
        (Samples::new(draws.reshape([-1, S as i32, d])), targets)
    }

    fn of(&self, i: usize) -> &[Vec<f64>] {
        &self.draws[i * S..][..S]
    }

    /// The least cost over all orders of the draws.
    fn wasserstein(&self, i: usize, j: usize) -> f64 {
        const ORDERS: [[usize; S]; 6] = [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ];
        let cost = |order: [usize; S]| -> f64 {
            let pairs = self.of(i).iter().zip(order);
            pairs
                .map(|(x, k)| euclidean(x, &self.of(j)[k]).powi(2))
                .sum()
        };
        (ORDERS.map(cost).into_iter().fold(f64::INFINITY, f64::min) / S as f64).sqrt()
    }

    fn h(&self, kernel: &TensorKernel<RealKernel>, i: usize, j: usize) -> f64 {
        let l = kernel.targets.length_scale;
        let k = |x: &Vec<f64>, y: &Vec<f64>| match kernel.targets.profile {
            RealProfile::Gaussian => (-0.5 * (euclidean(x, y) / l).powi(2)).exp(),
            _ => (-l1(x, y) / l).exp(),
        };
        let mean =
            |i: usize, y: &Vec<f64>| self.of(i).iter().map(|x| k(x, y)).sum::<f64>() / S as f64;
        let double = self.of(j).iter().map(|y| mean(i, y)).sum::<f64>() / S as f64;
        let (y, z) = (&self.targets[i], &self.targets[j]);
        let bandwidth = fixed_bandwidth(&kernel.predictions);
        (-self.wasserstein(i, j) / bandwidth).exp() * (k(y, z) - mean(i, z) - mean(j, y) + double)
    }

    /// By loops over pairs, in each of [`FORMS`].
    fn estimates(&self, kernel: &TensorKernel<RealKernel>) -> [f64; 3] {
        let n = self.targets.len();
        let h = table(n, n, |i, j| self.h(kernel, i, j));
        FORMS.map(|form| match form {
            SkceForm::Biased => biased(&h),
            SkceForm::Block(size) => in_blocks(&h, size),
            _ => unbiased(&h),
        })
    }
}

fn kernels(scale: f64) -> [TensorKernel<RealKernel>; 2] {
    [
        gaussian(0.9 * scale, 1.1 * scale),
        laplacian(0.9 * scale, 1.1 * scale),
    ]
}

/// In one dimension and in two, more than a side of a tile, of any scale, in both dtypes.
#[test]
fn estimates_are_means_over_draws() {
    for (n, d, scale) in [
        (9, 1, 1.0),
        (9, 2, 1.0),
        (270, 1, 1.0),
        (9, 1, 1e-6),
        (9, 1, 1e6),
    ] {
        let data = Draws::random(n, d, scale, 301);
        for kernel in kernels(scale) {
            for (form, expected) in FORMS.into_iter().zip(data.estimates(&kernel)) {
                let of = |dtype| {
                    let (samples, targets) = data.samples(dtype);
                    Skce::new(kernel, form).on(&samples, &targets)
                };
                assert_relative(of(DType::F64), expected, 1e-9);
                assert!((of(DType::F32) - expected).abs() < 3e-6);
                let (samples, targets) = data.samples(DType::F64);
                let skce = Skce::new(kernel, form).with_computation(Computation::Composed);
                let composed = skce.on(&samples, &targets);
                assert_relative(composed, expected, 1e-9);
            }
        }
    }
}

/// One draw each, coincident predictions, and targets that are draws.
#[test]
fn degenerate_draws() {
    let mut data = Draws::random(8, 1, 1.0, 311);
    for i in 1..8 {
        for s in 0..S {
            data.draws[i * S + s] = data.draws[(S - 1 - s) % S].clone();
        }
        data.targets[i] = data.draws[0].clone();
    }
    let (samples, targets) = data.samples(DType::F64);
    for kernel in kernels(1.0) {
        for (form, expected) in FORMS.into_iter().zip(data.estimates(&kernel)) {
            let found = Skce::new(kernel, form).on(&samples, &targets);
            assert!((found - expected).abs() < 1e-14, "{found}, {expected}");
        }
        // a point is a draw of which there is one
        let one = Samples::new(targets.clone().reshape([8, 1, 1]));
        let found = Skce::biased(kernel).on(&one, &targets);
        assert!(found.abs() < 1e-15, "{found}");
    }
}

/// Values and gradients of training by the pass over features are those of tensor operations.
#[test]
fn features_agree_with_the_composition() {
    let data = Draws::random(23, 1, 1.0, 321);
    for (dtype, tolerance) in [(DType::F64, 1e-10), (DType::F32, 2e-5)] {
        for bandwidth in [Bandwidth::Fixed(0.7), Bandwidth::Median] {
            for form in [SkceForm::Biased, SkceForm::Unbiased, SkceForm::Block(5)] {
                let kernel = gaussian(1.0, 0.8).with_bandwidth(bandwidth);
                let of = |computation| {
                    let flat: Vec<f64> = data.draws.concat();
                    let options = (&device().autodiff(), dtype);
                    let draws = Tensor::<3>::from_data(TensorData::new(flat, [23, S, 1]), options);
                    let draws = draws.require_grad();
                    let targets = tensor_on(&data.targets, options.0, dtype);
                    let skce = Skce::new(kernel, form).with_computation(computation);
                    let value = skce.value(&Samples::new(draws.clone()), &targets);
                    let gradient = draws.grad(&value.backward()).unwrap();
                    let mut numbers = vector(gradient);
                    numbers.push(scalar(value));
                    numbers
                };
                let (fused, composed) = (of(Computation::Fused), of(Computation::Composed));
                all_near(fused, &composed, tolerance * largest(&composed));
            }
        }
    }
}

/// Values that spread too widely for features are still means over draws.
#[test]
fn without_features() {
    let mut data = Draws::random(9, 1, 1.0, 331);
    for (k, row) in data.draws.iter_mut().enumerate() {
        row[0] += 1e5 * (k as f64);
    }
    let kernel = gaussian(1e5, 1.0);
    let (samples, targets) = data.samples(DType::F64);
    let found = Skce::unbiased(kernel).on(&samples, &targets);
    let [_, expected, _] = data.estimates(&kernel);
    assert_relative(found, expected, 1e-9);
}

/// The exact test has the estimate of the data, and the redraws of estimates one by one.
#[test]
fn redraws_are_estimates_one_by_one() {
    let data = Draws::random(12, 1, 1.0, 341);
    let (samples, targets) = data.samples(DType::F64);
    for kernel in kernels(1.0) {
        for form in [SkceForm::Biased, SkceForm::Unbiased] {
            let outcome = |computation| {
                let skce = Skce::new(kernel, form).with_computation(computation);
                let test = ExactTest::new(skce).with_replicates(60);
                test.seeded(&samples, &targets, 5)
            };
            let (together, alone) = (outcome(Computation::Auto), outcome(Computation::Composed));
            assert_eq!(together.p_value, alone.p_value);
            let [a, b] = [together, alone].map(|outcome| outcome.standardised.unwrap());
            assert_relative(a, b, 1e-8);
        }
    }
}

/// A diverged network gives NaN, and no panic: weights, components or draws.
#[test]
fn not_a_number_in_is_not_a_number_out() {
    let device = device().autodiff();
    let rows = |seed| tensor_on(&random_rows(6, 3, 1.0, &mut rng(seed)), &device, DType::F64);
    let targets = tensor_on(&random_rows(6, 1, 1.0, &mut rng(351)), &device, DType::F64);
    let nan = |x: Tensor<2>, count: usize| x.slice_fill([0..count, 0..3], f64::NAN);
    let kernel = |target| TensorKernel::new(Kernel::wasserstein(), target);
    for kernel in [
        kernel(RealKernel::gaussian(1.0)),
        kernel(RealKernel::laplacian(1.0)),
        gaussian(1.0, 1.0),
    ] {
        for form in [SkceForm::Biased, SkceForm::Unbiased, SkceForm::Block(2)] {
            for (count, what) in [(1, 0), (1, 1), (6, 0), (6, 1), (6, 2), (1, 2)] {
                let part = |k: usize| {
                    let rows = rows(352 + k as u64);
                    if what == k { nan(rows, count) } else { rows }
                };
                let [logits, means, raw] = [0, 1, 2].map(|k| part(k).require_grad());
                let column = |x: &Tensor<2>| x.clone().reshape([18, 1]);
                let components = Normal::new(column(&means), column(&raw).exp());
                let mixture = Mixture::from_logits(logits.clone(), components);
                let value = Skce::new(kernel, form).value(&mixture, &targets);
                let gradients = value.clone().backward();
                assert!(scalar(value).is_nan(), "{form:?}, {count}, {what}");
                assert_eq!(logits.grad(&gradients).unwrap().dims(), [6, 3]);
            }
            for count in [1, 6] {
                let draws = nan(rows(355), count).require_grad();
                let samples = Samples::new(draws.clone().reshape([6, 3, 1]));
                let value = Skce::new(kernel, form).value(&samples, &targets);
                let _ = value.clone().backward();
                assert!(scalar(value).is_nan(), "{form:?}, {count}");
            }
        }
    }
}

/// The omnibus test of mixtures, whose distribution functions are evaluated together.
#[test]
fn omnibus_of_mixtures() {
    let rows = |seed| random_rows(40, 2, 1.0, &mut rng(seed)).concat();
    let column = |numbers: Vec<f64>| column(&numbers);
    let components = Normal::new(column(rows(361)), column(rows(362)).exp());
    let mixture = Mixture::new(tensor(&[[0.3, 0.7]; 40]), components);
    let high = tensor(&[[9.0]; 40]);
    let outcome = OmnibusTest::new().outcome(&mixture, &high, &mut rng(1));
    let outcome = outcome.unwrap();
    assert_eq!(outcome.p_value, 0.001);
    let failing = outcome.failing(0.05);
    let mut findings = failing.iter().map(|aspect| &aspect.finding);
    assert!(findings.any(|finding| finding.starts_with("targets are too high: ")));
}
