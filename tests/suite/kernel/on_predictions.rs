use crate::prelude::*;

const DISTANCES: [Distance; 3] = [Distance::TotalVariation, Distance::L1, Distance::Euclidean];

pub fn brute_force(distance: Distance, p: &[f64], q: &[f64]) -> f64 {
    match distance {
        Distance::TotalVariation => 0.5 * l1(p, q),
        Distance::L1 => l1(p, q),
        Distance::Euclidean => euclidean(p, q),
        other => panic!("{other:?} has no definition here"),
    }
}

pub fn kernels() -> Vec<Kernel> {
    let mut kernels = Vec::new();
    for kernel in [Kernel::exponential(), Kernel::gaussian()] {
        kernels.extend(DISTANCES.map(|distance| kernel.with_distance(distance)));
    }
    kernels.extend([
        Kernel::generalised_exponential(1.5).with_distance(Distance::Euclidean),
        Kernel::matern32(),
        Kernel::matern52(),
        Kernel::rational_quadratic(0.7),
    ]);
    let fixed = |kernel: Kernel| kernel.with_bandwidth(Bandwidth::Fixed(0.7));
    kernels.into_iter().map(fixed).collect()
}

/// And those with a cusp at 0, at the ends of their domain, or over an unusual distance.
pub fn all_kernels() -> Vec<Kernel> {
    let mut all = kernels();
    let more = [
        Kernel::generalised_exponential(0.5),
        Kernel::generalised_exponential(0.05).with_distance(Distance::Euclidean),
        Kernel::generalised_exponential(1.0).with_distance(Distance::L1),
        Kernel::generalised_exponential(2.0).with_distance(Distance::Euclidean),
        Kernel::generalised_exponential(1.3),
        Kernel::matern32().with_distance(Distance::L1),
        Kernel::matern52().with_distance(Distance::TotalVariation),
        Kernel::rational_quadratic(3.0).with_distance(Distance::L1),
        Kernel::rational_quadratic(50.0),
    ];
    all.extend(more.map(|kernel| kernel.with_bandwidth(Bandwidth::Fixed(0.4))));
    all
}

/// `κ(r)` as it is defined.
pub fn kappa(profile: Profile, r: f64) -> f64 {
    match profile {
        Profile::Exponential => (-r).exp(),
        Profile::Gaussian => (-0.5 * r * r).exp(),
        Profile::Matern32 => (1.0 + 3f64.sqrt() * r) * (-3f64.sqrt() * r).exp(),
        Profile::Matern52 => (1.0 + 5f64.sqrt() * r + 5.0 / 3.0 * r * r) * (-5f64.sqrt() * r).exp(),
        Profile::RationalQuadratic { alpha } => (-alpha * (r * r / (2.0 * alpha)).ln_1p()).exp(),
        Profile::GeneralisedExponential { exponent } => (-r.powf(exponent)).exp(),
        other => panic!("{other:?} has no definition here"),
    }
}

pub fn kernel_value(kernel: &Kernel, p: &[f64], q: &[f64]) -> f64 {
    let r = brute_force(kernel.distance, p, q) / fixed_bandwidth(kernel);
    kappa(kernel.profile, r)
}

/// Every kernel: matrix = pointwise, symmetric, 1 on the diagonal, positive semi-definite if it says
/// so.
#[test]
fn gram_matrices() {
    let mut rng = rng(1);
    let mut rows = random_probabilities(12, 4, &mut rng);
    rows[3] = rows[7].clone();
    let directions = random_rows(50, 12, 1.0, &mut rng);
    for kernel in all_kernels() {
        let gram = vector(kernel.gram(tensor(&rows).unsqueeze()));
        for i in 0..12 {
            for j in 0..12 {
                let expected = kernel_value(&kernel, &rows[i], &rows[j]);
                assert_relative(gram[12 * i + j], expected, 1e-12);
                assert_eq!(gram[12 * i + j], gram[12 * j + i]);
            }
            assert_eq!(gram[13 * i], 1.0);
        }
        for v in &directions {
            let form: f64 = (0..144).map(|k| v[k / 12] * gram[k] * v[k % 12]).sum();
            let may_be_negative = !kernel.is_positive_definite();
            assert!(form >= -1e-12 || may_be_negative, "{kernel:?}: {form}");
        }
    }
}

#[test]
fn pairwise_distances_of_batches() {
    let mut rng = rng(2);
    let x = random_rows(6, 3, 1.0, &mut rng);
    let y = random_rows(10, 3, 1.0, &mut rng);
    let batch = |rows: &[Vec<f64>]| tensor(rows).reshape([2, rows.len() / 2, 3]);
    for distance in DISTANCES {
        let values = vector(distance.between(batch(&x), batch(&y))); // [2, 3, 5]
        for b in 0..2 {
            for i in 0..3 {
                for j in 0..5 {
                    let expected = brute_force(distance, &x[3 * b + i], &y[5 * b + j]);
                    assert_relative(values[15 * b + 5 * i + j], expected, 1e-14);
                }
            }
        }
    }
}

/// Against central differences, with respect to both arguments.
#[test]
fn gradients_of_distances() {
    let mut rng = rng(3);
    let x = random_rows(4, 3, 1.0, &mut rng);
    let y = random_rows(5, 3, 1.0, &mut rng);
    let weights: Tensor<3> = tensor(&random_rows(4, 5, 1.0, &mut rng)).unsqueeze();
    let [a, b, c] = DISTANCES.map(|distance| move |x, y| pairwise_distance(x, y, distance));
    let all: [&dyn Fn(Tensor<3>, Tensor<3>) -> Tensor<3>; 4] =
        [&a, &b, &c, &squared_euclidean_distance];
    for distance in all {
        let weighted = |x: Tensor<2>, y: Tensor<2>| {
            (distance(x.unsqueeze(), y.unsqueeze()) * weights.clone()).sum()
        };
        let fixed_y = tensor(&y);
        check_gradient(&x, 1e-5, |x| weighted(x, fixed_y.clone()));
        let fixed_x = tensor(&x);
        check_gradient(&y, 1e-5, |y| weighted(fixed_x.clone(), y));
        check_gradient(&x, 1e-5, |x| {
            let both = x.unsqueeze::<3>();
            let square = distance(both.clone(), both);
            (square * weights.clone().slice([0..1, 0..4, 0..4])).sum()
        });
    }
}

/// Against central differences, through the distance to the points.
#[test]
fn gradients_at_coincident_points_are_finite() {
    let rows = vec![vec![0.2, 0.3, 0.5]; 3];
    for kernel in all_kernels() {
        for bandwidth in [kernel.bandwidth, Bandwidth::Median] {
            let kernel = kernel.with_bandwidth(bandwidth);
            let of = |x: Tensor<2>| kernel.gram(x.unsqueeze()).sum();
            assert_eq!(gradient(&rows, of), [0.0; 9]);
        }
    }
}

fn sorted_distances(rows: &[Vec<f64>], distance: Distance) -> Vec<f64> {
    sorted(pairs(rows.len()).map(|(i, j)| brute_force(distance, &rows[i], &rows[j])))
}

/// The bandwidth that a median kernel uses on a batch, read off its value at a known distance.
fn median_on_device(rows: &[Vec<f64>], distance: Distance, dtype: DType) -> f64 {
    let kernel = Kernel::exponential().with_distance(distance);
    let gram = kernel.gram(tensor_on(rows, &device(), dtype).unsqueeze());
    let last = rows.len() - 1;
    let value = vector(gram.slice([0..1, 0..1, last..last + 1]))[0];
    -brute_force(distance, &rows[0], &rows[last]) / value.ln()
}

#[test]
fn median_bandwidths() {
    let mut rng = rng(4);
    for n in [2, 3, 4, 5, 30, 300] {
        let mut rows = random_probabilities(n, 3, &mut rng);
        if n == 30 {
            (1..20).for_each(|i| rows[i] = rows[0].clone()); // ties, and zeros among the distances
        }
        for distance in DISTANCES {
            let sorted = sorted_distances(&rows, distance);
            let last = sorted.len() - 1;
            let ranks = [0, sorted.len() / 3, last].map(|k| k as u64);
            let found = distance_order_statistics(&tensor(&rows), distance, &ranks);
            for (rank, value) in ranks.iter().zip(found) {
                assert_relative(value, sorted[*rank as usize], 1e-13);
            }
            let expected = median(&sorted);
            assert_relative(median_distance(&tensor(&rows), distance), expected, 1e-13);
            for (dtype, tolerance) in [(DType::F64, 1e-11), (DType::F32, 1e-4)] {
                let found = median_on_device(&rows, distance, dtype);
                assert_relative(found, expected, tolerance);
            }
        }
    }
}

/// More distances than are sorted at once, many of them equal to the last bit.
#[test]
fn order_statistics_by_counting() {
    let n = 3200; // 5.1 million distances
    let p = |i: usize| (i % 7) as f64 / 8.0;
    let rows: Vec<_> = (0..n).map(|i| vec![p(i), 1.0 - p(i)]).collect();
    let sorted = sorted_distances(&rows, Distance::TotalVariation);
    let ranks = [0, sorted.len() as u64 / 2, sorted.len() as u64 - 1];
    let found = distance_order_statistics(&tensor(&rows), Distance::TotalVariation, &ranks);
    assert_eq!(found, ranks.map(|k| sorted[k as usize]));
}

/// Each rank by itself, from the least to the greatest: those at an end, whose bracket is open on one
/// side, and distances that overflow, which are infinite.
#[test]
fn single_order_statistics() {
    let n = 400; // 79,800 distances: by counting
    let mut rows = random_rows(n, 3, 1.0, &mut rng(7));
    for scale in [1.0, 1.7e308] {
        rows.iter_mut().step_by(3).for_each(|row| {
            row.iter_mut().for_each(|x| *x *= scale);
        });
        let sorted = sorted_distances(&rows, Distance::L1);
        assert_eq!(sorted[n * (n - 1) / 2 - 1].is_infinite(), scale > 1.0);
        for share in [0.0, 0.001, 0.3, 0.5, 0.55, 0.9, 0.99, 0.997, 0.9999, 1.0] {
            let rank = (share * (sorted.len() - 1) as f64) as u64;
            let found = distance_order_statistics(&tensor(&rows), Distance::L1, &[rank]);
            assert_relative(found[0], sorted[rank as usize], 1e-13);
        }
    }
}

/// Distances that differ by less than the smallest normal number.
#[test]
fn order_statistics_of_tiny_differences() {
    let n = 400usize;
    // two clusters, one near the smallest normal number
    for (dtype, unit, least) in [
        (DType::F32, 1e-44, f64::from(f32::MIN_POSITIVE)),
        (DType::F64, 1e-320, f64::MIN_POSITIVE),
    ] {
        let at = |i: usize| (i * i % 1009) as f64 * unit + (i % 2) as f64 * least;
        let rows: Vec<_> = (0..n).map(|i| [at(i)]).collect();
        let points = tensor_on(&rows, &device(), dtype);
        let rounded = vector(points.clone());
        let sorted = sorted(pairs(n).map(|(i, j)| (rounded[i] - rounded[j]).abs()));
        for rank in (0..sorted.len()).step_by(9973) {
            let found = distance_order_statistics(&points, Distance::L1, &[rank as u64]);
            assert_eq!(found, [sorted[rank]], "rank {rank}");
        }
    }
}

#[test]
fn median_with_the_diagonal() {
    let mut rng = rng(6);
    for n in [2, 3, 4, 5, 9, 30] {
        let rows = random_probabilities(n, 3, &mut rng);
        let between = |k: usize| brute_force(Distance::L1, &rows[k / n], &rows[k % n]);
        let all = sorted((0..n * n).map(between));
        let found = median_distance_with_diagonal(&tensor(&rows), Distance::L1);
        assert_relative(found, median(&all), 1e-13);
    }
    let one = tensor(&[[0.5, 0.5]]);
    assert_eq!(median_distance_with_diagonal(&one, Distance::L1), 1.0);
}

#[test]
fn median_of_coincident_points_is_one() {
    let rows = vec![vec![0.5, 0.5]; 4];
    assert_eq!(median_distance(&tensor(&rows), Distance::L1), 1.0);
    assert_eq!(median_distance(&tensor(&rows[..1]), Distance::L1), 1.0);
    let gram = Kernel::exponential().gram(tensor(&rows).unsqueeze());
    assert!(vector(gram).iter().all(|&k| k == 1.0));
}

#[test]
fn the_median_is_detached() {
    let mut rng = rng(5);
    let rows = random_probabilities(9, 3, &mut rng);
    let gradient = |kernel: Kernel| gradient(&rows, |x| kernel.gram(x.unsqueeze()).sum());
    for kernel in [Kernel::exponential(), Kernel::gaussian()] {
        let fixed = kernel.with_bandwidth_of(&tensor(&rows)).unwrap();
        all_near(gradient(kernel), gradient(fixed), 1e-9);
    }
}

/// Of more pairs than are kept, each with a linear program, against a sort of all.
#[test]
fn median_of_many_mixtures() {
    let n = 400;
    let mut rng = rng(51);
    let mut member = || {
        let [mean, deviation] = [1.0, 0.3].map(|scale| tensor(&random_rows(n, 1, scale, &mut rng)));
        Normal::new(mean, deviation.exp())
    };
    let mixtures = Mixture::ensemble(&[member(), member()]);
    let distances = vector(mixtures.distances(&mixtures, Distance::Euclidean, 1));
    let sorted = sorted(pairs(n).map(|(j, i)| distances[i * n + j]));
    let kernel = Kernel::wasserstein().with_bandwidth_of_predictions(&mixtures);
    assert_relative(fixed_bandwidth(&kernel.unwrap()), median(&sorted), 1e-14);
}

/// A bandwidth whose square, or its inverse, is no normal number of the dtype is an error on data, and a panic in
/// training; within the limits the kernel is a number, and 1 between a point and itself.
#[test]
fn bandwidths_have_the_limits_of_the_dtype() {
    let rows = random_probabilities(5, 3, &mut rng(31));
    let ends = [(DType::F64, 1e100), (DType::F32, 1e18), (DType::F16, 64.0)];
    for (dtype, most) in ends {
        let points = tensor_on(&rows, &device(), dtype);
        for kernel in all_kernels() {
            let of = |bandwidth| kernel.with_bandwidth(Bandwidth::Fixed(bandwidth));
            for inside in [1.0 / most, most] {
                let kernel = of(inside).with_bandwidth_of(&points).unwrap();
                let gram = vector(kernel.gram(points.clone().unsqueeze()));
                for (at, k) in gram.iter().enumerate() {
                    assert!(*k >= 0.0 && *k <= 1.0, "{kernel:?}, {dtype:?}: {k}");
                    assert!(at % 6 > 0 || *k == 1.0, "{kernel:?}, {dtype:?}: {k}");
                }
            }
            for outside in [0.9 / most, 1.1 * most] {
                let error = of(outside).with_bandwidth_of(&points).unwrap_err();
                assert!(matches!(
                    error,
                    Error::Parameter { name: "the kernel bandwidth", value, .. } if value == outside
                ));
                panic_of(|| of(outside).gram(points.clone().unsqueeze()));
            }
        }
    }
    let skce = Skce::unbiased(Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(1e-50)));
    let predictions = of_probabilities(tensor_on(&rows, &device(), DType::F32));
    let y = labels(&[0, 1, 2, 0, 1]);
    assert!(skce.estimate(&predictions, &y).is_err()); // no panic
    panic_of(|| skce.value(&predictions, &y));
}
