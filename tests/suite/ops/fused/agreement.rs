//! Fused against composed, with gradients.

use super::*;
use crate::prelude::*;

proptest! {
    #![proptest_config(cases(simulated(64) as u32))]

    #[test]
    fn short_vectors_agree_with_the_composition(
        n in 2usize..140, m in 2usize..14, which in 0usize..KERNELS, form in 0usize..4,
        bandwidth in 0.02f64..3.0, sharpness in 0.5f64..6.0, seed: u64,
    ) {
        let rows = predictions(n, m, sharpness, seed);
        let labels = random_labels(n, m, &mut rng(seed ^ 1));
        let form = [SkceForm::Biased, SkceForm::Unbiased, SkceForm::Block(2), SkceForm::Block(n.div_ceil(2).max(2))][form];
        agree(Skce::new(kernel(which, Bandwidth::Fixed(bandwidth)), form), &rows, &labels)?;
    }
    #[test]
    fn matrix_kernels_agree_with_the_composition(
        n in 2usize..140, m in 2usize..14, which in 0usize..KERNELS, form in 0usize..4,
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
    // four of many samples have each distance
    let most = if is_full() { KERNELS } else { 4 };
    for (n, m, most) in [(33, 64, KERNELS), (70, 110, KERNELS), (290, 50, most)] {
        let rows = predictions(n, m, 3.0, n as u64);
        let labels = random_labels(n, m, &mut rng(3));
        for which in some_kernels().into_iter().take(most) {
            let kernel = matrix_kernel(kernel(which, Bandwidth::Fixed(0.4)), m, 4);
            agree(Skce::unbiased(kernel), &rows, &labels).unwrap();
        }
    }
}

#[test]
fn long_vectors_agree_with_the_composition() {
    for (n, m) in [(5, 49), (33, 64), (70, 101)] {
        let rows = predictions(n, m, 3.0, n as u64);
        let labels = random_labels(n, m, &mut rng(3));
        for which in some_kernels() {
            // all three in full simulations, else one
            for at in which + n..which + n + simulated(3) {
                let bandwidth = [0.03, 0.3, 0.5][at % 3];
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
    for which in 0..KERNELS {
        for size in [2, 5, 40, 101] {
            let kernel = kernel(which, Bandwidth::Fixed(0.3));
            let composed = MatrixKernel::from_rows(kernel, &identity(4)).unwrap();
            let fused = AsymptoticBlockSkceTest::new(kernel, size);
            let composed = AsymptoticBlockSkceTest::new(composed, size);
            let found = fused.seeded(&predictions, &labels, 0);
            let expected = composed.seeded(&predictions, &labels, 0);
            let (f, e) = (found.estimate, expected.estimate);
            assert_relative_eq!(f, e, epsilon = 1e-14, max_relative = 1e-12);
            assert_relative(found.statistic, expected.statistic, 1e-10);
        }
    }
}

/// Enough samples for several tiles and threads.
#[test]
fn many_samples_agree_with_the_composition() {
    let rows = predictions(517, 10, 3.0, 5);
    let labels = random_labels(517, 10, &mut rng(6));
    for which in some_kernels() {
        let kernel = kernel(which, Bandwidth::Fixed(0.4));
        // both in full simulations, else one
        for at in which / 2..which / 2 + simulated(2) {
            let form = [SkceForm::Unbiased, SkceForm::Block(100)][at % 2];
            agree(Skce::new(kernel, form), &rows, &labels).unwrap();
        }
    }
}

/// Values and gradients of classes, of distances of mixtures and of a median are the same bytes on any number of
/// threads.
#[test]
fn any_number_of_threads() {
    let mut rng = rng(65);
    let rows = random_probabilities(700, 10, &mut rng);
    let classes: Vec<usize> = (0..700).map(|i| i * i % 10).collect();
    let labels = labels(&classes);
    let device = Device::flex().autodiff();
    let draw = |count: usize, rng: &mut StdRng| -> Vec<f64> {
        (0..count).map(|_| rng.random_range(0.5..1.5)).collect()
    };
    let parameters: [Vec<f64>; 3] = std::array::from_fn(|_| draw(3 * 150, &mut rng));
    let all = || -> Vec<Vec<f64>> {
        let mut found = Vec::new();
        for dtype in [DType::F32, DType::F64] {
            for kernel in [Kernel::exponential(), Kernel::gaussian()] {
                let skce = Skce::unbiased(kernel.with_bandwidth(Bandwidth::Median));
                let (value, gradient) = value_and_gradient(&skce, &rows, &labels, dtype);
                found.extend([vec![value], gradient]);
            }
        }
        let [weights, means, scales] = parameters.each_ref().map(|numbers| {
            let data = TensorData::new(numbers.clone(), [numbers.len()]);
            Tensor::<1>::from_data(data, (&device, DType::F64)).require_grad()
        });
        let components = Normal::new(
            means.clone().reshape([450, 1]),
            scales.clone().reshape([450, 1]),
        );
        let weighted = activation::softmax(weights.clone().reshape([150, 3]), 1);
        let mixtures = Mixture::new(weighted, components);
        let distances = mixtures.distances(&mixtures, Distance::Euclidean, 1);
        let gradients = distances.powi_scalar(3).sum().backward();
        found.extend([&weights, &means, &scales].map(|x| vector(x.grad(&gradients).unwrap())));
        found
    };
    let bits = |threads: usize| -> Vec<Vec<u64>> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let found = pool.install(all);
        found
            .iter()
            .map(|numbers| numbers.iter().map(|x| x.to_bits()).collect())
            .collect()
    };
    let one = bits(1);
    for threads in [2, 3, 5] {
        assert!(bits(threads) == one, "{threads} threads");
    }
}
