//! The profiles of kernels: gradients, limits, positive definiteness, parameters.

use crate::prelude::*;

#[test]
fn gradients_of_kernels() {
    let mut rng = rng(6);
    let rows = random_probabilities(5, 3, &mut rng);
    let weights: Tensor<3> = tensor(&random_rows(5, 5, 1.0, &mut rng)).unsqueeze();
    for kernel in all_kernels() {
        let of = |x: Tensor<2>| (kernel.gram(x.unsqueeze()) * weights.clone()).sum();
        check_gradient(&rows, 1e-6, of);
    }
}

/// Close points, down to the least numbers there are: no NaN and nothing infinite.
#[test]
fn gradients_of_close_points_are_finite() {
    for (dtype, gaps) in [
        (DType::F64, [1e-9, 1e-150, 3e-308, 5e-324]),
        (DType::F32, [1e-6, 1e-20, 2e-38, 1e-45]),
    ] {
        let of_gap = |gap| all_kernels().into_iter().map(move |kernel| (gap, kernel));
        for (gap, kernel) in gaps.into_iter().flat_map(of_gap) {
            let rows = [[0.0, 1.0], [gap, 1.0]];
            let x = tensor_on(&rows, &device().autodiff(), dtype).require_grad();
            let gram = kernel.gram(x.clone().unsqueeze());
            let gradients = gram.clone().slice([0..1, 0..1, 1..2]).sum().backward();
            assert!(vector(gram).iter().all(|k| (0.0..=1.0).contains(k)));
            all_finite(vector(x.grad(&gradients).unwrap()));
        }
    }
}

/// A power of r is where it should be: exponent 1 is the exponential kernel, 2 a Gaussian; a large
/// shape of the rational quadratic tends to the Gaussian.
#[test]
fn profiles_that_meet() {
    let rows = random_probabilities(9, 3, &mut rng(7));
    let gram = |kernel: Kernel, bandwidth: f64| {
        let kernel = kernel.with_bandwidth(Bandwidth::Fixed(bandwidth));
        vector(kernel.gram(tensor(&rows).unsqueeze()))
    };
    let first = gram(Kernel::generalised_exponential(1.0), 0.3);
    all_relative(first, gram(Kernel::exponential(), 0.3), 1e-14);
    let second = Kernel::generalised_exponential(2.0).with_distance(Distance::Euclidean);
    let gaussian = gram(Kernel::gaussian(), 0.3 / 2f64.sqrt());
    all_relative(gram(second, 0.3), gaussian, 1e-13);
    let large = gram(Kernel::rational_quadratic(1e9), 0.3);
    all_relative(large, gram(Kernel::gaussian(), 0.3), 1e-6);
}

/// The vertices `±e_c` are at L1 distance 2 from each other and at 1 from 0: with more of them than
/// the square of a Hilbertian distance allows, kernels of the squared L1 distance are indefinite.
#[test]
fn profiles_that_are_not_positive_definite() {
    let mut rows = vec![vec![0.0; 8]];
    for vertex in identity(8) {
        rows.push(vertex.iter().map(|x| -x).collect());
        rows.push(vertex);
    }
    let v: Vec<f64> = (0..17).map(|i| if i == 0 { -16.0 } else { 1.0 }).collect();
    let form = |kernel: Kernel| -> f64 {
        let gram = vector(kernel.gram(tensor(&rows).unsqueeze()));
        (0..289).map(|k| v[k / 17] * gram[k] * v[k % 17]).sum()
    };
    let wide = |kernel: Kernel| kernel.with_bandwidth(Bandwidth::Fixed(20.0));
    for kernel in [
        wide(Kernel::gaussian()).with_distance(Distance::L1),
        wide(Kernel::matern52()).with_distance(Distance::L1),
        wide(Kernel::rational_quadratic(1.0)).with_distance(Distance::L1),
        wide(Kernel::generalised_exponential(1.5)).with_distance(Distance::L1),
    ] {
        assert!(!kernel.is_positive_definite());
        assert!(form(kernel) < -1e-6, "{kernel:?}: {}", form(kernel));
        let euclidean = kernel.with_distance(Distance::Euclidean);
        assert!(euclidean.is_positive_definite() && form(euclidean) >= 0.0);
    }
    let exponential = wide(Kernel::exponential()).with_distance(Distance::L1);
    assert!(exponential.is_positive_definite() && form(exponential) >= 0.0);
    let root = wide(Kernel::generalised_exponential(0.5)).with_distance(Distance::L1);
    assert!(root.is_positive_definite() && form(root) >= 0.0);
}

#[test]
fn bad_parameters() {
    for exponent in [0.0, -1.0, 2.5, f64::NAN] {
        refuses(Kernel::generalised_exponential(exponent).validate());
    }
    for alpha in [0.0, f64::INFINITY, f64::NAN] {
        refuses(Kernel::rational_quadratic(alpha).validate());
    }
    assert!(all_kernels().iter().all(|kernel| kernel.validate().is_ok()));
}
