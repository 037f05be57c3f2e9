//! The fused pass of normal predictions with a Gaussian kernel on targets against its composition from tensor
//! operations, and against differences: values, all gradients, matrices, for every profile.

use proptest::prelude::*;

use crate::prelude::*;

type Rows = Vec<Vec<f64>>;

fn profile(which: usize) -> Profile {
    [
        Profile::Exponential,
        Profile::Gaussian,
        Profile::GeneralisedExponential { exponent: 1.5 },
        Profile::Matern32,
        Profile::Matern52,
        Profile::RationalQuadratic { alpha: 0.75 },
    ][which % 6]
}

fn kernel(which: usize, bandwidth: Bandwidth, length: f64) -> TensorKernel<RealKernel> {
    let predictions = Kernel {
        profile: profile(which),
        ..Kernel::wasserstein()
    };
    let targets = RealKernel::gaussian(length);
    TensorKernel::new(predictions.with_bandwidth(bandwidth), targets)
}

/// Value, then the gradients with respect to locations and scales.
fn run(
    skce: Skce<TensorKernel<RealKernel>>,
    computation: Computation,
    [locations, scales, targets]: [&Rows; 3],
    dtype: DType,
) -> [Vec<f64>; 3] {
    let device = device().autodiff();
    let [m, s] = [locations, scales].map(|x| tensor_on(x, &device, dtype).require_grad());
    let y = tensor_on(targets, &device, dtype);
    let skce = skce.with_computation(computation);
    let value = skce.value(&Normal::new(m.clone(), s.clone()), &y);
    assert_eq!((value.dtype(), value.dims()), (dtype, [1]));
    let gradients = value.backward();
    let of = |x: Tensor<2>| vector(x.grad(&gradients).unwrap());
    [vec![scalar(value)], of(m), of(s)]
}

/// The composition in f64 is taken for exact; `unit` is the size of the terms of the gradients that cancel.
fn agree(
    skce: Skce<TensorKernel<RealKernel>>,
    data: [&Rows; 3],
    unit: f64,
) -> Result<(), TestCaseError> {
    let n = data[0].len() as f64;
    for (dtype, tolerance) in [(DType::F64, 1e-12), (DType::F32, 1e-5)] {
        let rounded = data.map(|rows| rows_of(tensor_on(rows, &device(), dtype)));
        let data = [&rounded[0], &rounded[1], &rounded[2]];
        let exact = run(skce, Computation::Composed, data, DType::F64);
        let fused = run(skce, Computation::Fused, data, dtype);
        for (k, (exact, fused)) in exact.iter().zip(&fused).enumerate() {
            let scale = largest(exact) + if k == 0 { 1.0 } else { unit / n };
            for (e, f) in exact.iter().zip(fused) {
                let near = (e - f).abs() <= tolerance * scale;
                prop_assert!(near, "{skce:?}, {dtype:?}, {k}: {f}, not {e}, {scale}");
            }
        }
    }
    Ok(())
}

fn rows(n: usize, d: usize, low: f64, high: f64) -> impl Strategy<Value = Rows> {
    prop::collection::vec(prop::collection::vec(low..high, d), n)
}

/// Locations, scales and targets of up to 70 samples, which are more than a tile.
fn data() -> impl Strategy<Value = [Rows; 3]> {
    (1usize..70, prop::sample::select(vec![1usize, 2, 3, 4, 8])).prop_flat_map(|(n, d)| {
        let (locations, scales) = (rows(n, d, -2.0, 2.0), rows(n, d, 0.1, 2.0));
        let numbers = (locations, scales, rows(n, d, -3.0, 3.0));
        numbers.prop_map(|(a, b, c)| [a, b, c])
    })
}

fn form(which: usize, n: usize) -> SkceForm {
    match which {
        0 => SkceForm::Biased,
        1 => SkceForm::Unbiased,
        _ => SkceForm::Block(2 + which % 5.min(n.max(2) - 1)),
    }
}

proptest! {
    #![proptest_config(cases(simulated(400) as u32))]

    #[test]
    fn it_is_the_composition(
        [m, s, y] in data(),
        which in 0usize..6,
        form_of in 0usize..6,
        bandwidth in prop::option::of(0.2..3.0),
        length in 0.3..2.0,
    ) {
        let bandwidth = bandwidth.map_or(Bandwidth::Median, Bandwidth::Fixed);
        prop_assume!(m.len() > 1);
        let skce = Skce::new(kernel(which, bandwidth, length), form(form_of, m.len()));
        agree(skce, [&m, &s, &y], 1.0)?;
    }

    /// Data, kernel and bandwidth in any unit.
    #[test]
    fn it_does_not_depend_on_the_unit(
        [m, s, y] in data(),
        which in 0usize..6,
        exponent in -12i32..12,
    ) {
        prop_assume!(m.len() > 1);
        let unit = 10f64.powi(exponent);
        let [m, s, y] = [&m, &s, &y].map(|rows| mapped(rows, |x| x * unit));
        let skce = Skce::unbiased(kernel(which, Bandwidth::Fixed(unit), 0.7 * unit));
        agree(skce, [&m, &s, &y], 1.0 / unit)?;
    }

    /// What estimates and tests read.
    #[test]
    fn matrices_and_sums_are_the_composition(
        [m, s, y] in data(),
        which in 0usize..6,
        size in 2usize..9,
    ) {
        matrices_agree(Normal::new(tensor(&m), tensor(&s)), tensor(&y), which, size)?;
    }
}

fn matrices_agree(
    predictions: Normal,
    targets: Tensor<2>,
    which: usize,
    size: usize,
) -> Result<(), TestCaseError> {
    let n = predictions.len();
    let kernel = kernel(which, Bandwidth::Fixed(0.8), 0.9);
    let pairs = |computation| {
        let pairs = PairMatrix::checked(&kernel, computation, &predictions, &targets);
        pairs.unwrap()
    };
    let (fused, composed) = (pairs(Computation::Auto), pairs(Computation::Composed));
    let tolerance = 1e-12 * n as f64;
    let both = [&fused, &composed];
    let [f, c] = both.map(|pairs| vector(pairs.tile(0..n, n / 3..n)));
    all_near(f, c, tolerance);
    let [f, c] = both.map(|pairs| vector(pairs.diagonal()));
    all_near(f, c, tolerance);
    all_near(fused.row_sums(), composed.row_sums(), tolerance);
    if size <= n {
        let [f, c] = both.map(|pairs| pairs.block_estimates(size));
        all_near(f, c, tolerance);
    }
    for form in [SkceForm::Biased, SkceForm::Unbiased, SkceForm::Block(2)] {
        if form.eq(&SkceForm::Biased) || n > 1 {
            let estimate = |computation| {
                let skce = Skce::new(kernel, form).with_computation(computation);
                skce.on(&predictions, &targets)
            };
            let [a, b] = [Computation::Auto, Computation::Composed].map(estimate);
            prop_assert!((a - b).abs() < 1e-12, "{form:?}: {a}, {b}");
        }
    }
    Ok(())
}

fn sample(n: usize, d: usize, seed: u64) -> [Rows; 3] {
    let mut rng = rng(seed);
    [(-2.0, 2.0), (0.3, 1.5), (-2.5, 2.5)].map(|(low, high)| -> Rows {
        let row = |_| (0..d).map(|_| rng.random_range(low..high)).collect();
        (0..n).map(row).collect()
    })
}

/// Several tiles of columns and several threads; blocks that are not side by side.
#[test]
fn many_samples() {
    let [m, s, y] = sample(150, 2, 1);
    for which in 0..6 {
        for form in [SkceForm::Biased, SkceForm::Unbiased, SkceForm::Block(140)] {
            let skce = Skce::new(kernel(which, Bandwidth::Fixed(0.8), 0.9), form);
            agree(skce, [&m, &s, &y], 1.0).unwrap();
        }
    }
}

/// The shares of the work do not depend on the number of threads.
#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    for d in [1, 3] {
        let [m, s, y] = sample(300, d, 7);
        let skce = Skce::unbiased(kernel(1, Bandwidth::Fixed(0.8), 0.9));
        let on_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let run = || run(skce, Computation::Fused, [&m, &s, &y], DType::F32);
            pool.build().unwrap().install(run)
        };
        let expected = on_threads(1);
        assert!(
            [2, 3, 7]
                .map(on_threads)
                .iter()
                .all(|found| *found == expected)
        );
    }
}

#[test]
fn gradients_are_differences() {
    let [m, s, y] = sample(9, 2, 2);
    for which in 0..6 {
        for form in [SkceForm::Biased, SkceForm::Unbiased, SkceForm::Block(3)] {
            let skce = Skce::new(kernel(which, Bandwidth::Fixed(0.8), 0.9), form);
            let [_, to_m, to_s] = run(skce, Computation::Fused, [&m, &s, &y], DType::F64);
            for (k, gradient) in [to_m, to_s].iter().enumerate() {
                for (at, slope) in gradient.iter().enumerate() {
                    let value = |step: f64| {
                        let mut moved = [m.clone(), s.clone()];
                        moved[k][at / 2][at % 2] += step;
                        let data = [&moved[0], &moved[1], &y];
                        run(skce, Computation::Fused, data, DType::F64)[0][0]
                    };
                    let difference = (value(1e-5) - value(-1e-5)) / 2e-5;
                    assert_near_in((&skce, k, at), *slope, difference, 1e-8);
                }
            }
        }
    }
}

/// The bandwidth may be learnt.
#[test]
fn the_gradient_of_the_bandwidth_is_a_difference() {
    let data = sample(40, 2, 3);
    let device = device().autodiff();
    let [locations, scales, targets] = data.map(|rows| tensor_on(&rows, &device, DType::F64));
    for which in 0..6 {
        let kernel = NormalKernel {
            profile: profile(which),
            length_scale: 0.6,
        };
        for pairing in [
            Pairing::All,
            Pairing::Blocks { size: 40 },
            Pairing::Blocks { size: 3 },
        ] {
            let value = |bandwidth: &Tensor<1>| {
                let samples = NormalSamples {
                    locations: locations.clone(),
                    scales: scales.clone(),
                    targets: targets.clone(),
                };
                normal_statistic(samples, bandwidth.clone(), kernel, pairing)
            };
            let at = |x: f64| Tensor::<1>::from_data([x], (&device, DType::F64));
            let bandwidth = at(0.9).require_grad();
            let slope = bandwidth.grad(&value(&bandwidth).backward()).unwrap();
            let difference =
                (scalar(value(&at(0.9 + 1e-5))) - scalar(value(&at(0.9 - 1e-5)))) / 2e-5;
            assert_near_in((&kernel, pairing), scalar(slope), difference, 1e-8);
        }
    }
}

/// Equal predictions, equal targets, scales far from the length scale, targets far away.
#[test]
fn degenerate_samples() {
    let [m, s, y] = sample(20, 3, 4);
    let all = |x: f64| vec![vec![x; 3]; 20];
    for which in 0..6 {
        let skce = Skce::unbiased(kernel(which, Bandwidth::Fixed(0.8), 0.9));
        agree(skce, [&all(0.3), &all(0.7), &y], 1.0).unwrap();
        agree(skce, [&m, &s, &all(0.1)], 1.0).unwrap();
        agree(skce, [&all(0.3), &all(0.7), &all(0.3)], 1.0).unwrap();
        agree(skce, [&m, &all(1e-6), &y], 1.0).unwrap();
        agree(skce, [&m, &all(1e6), &y], 1.0).unwrap();
        agree(skce, [&m, &s, &all(1e4)], 1.0).unwrap();
        agree(skce, [&m, &all(0.9), &y], 1.0).unwrap(); // the length scale
        for gap in [1e-9, 1e-5, 1e-2] {
            let scales: Rows = mapped(&s, |x| 0.9 + gap * x);
            agree(skce, [&m, &scales, &y], 1.0).unwrap();
        }
        let near: Rows = mapped(&m, |x| x * 1e-9);
        agree(skce, [&near, &all(1e-6), &near], 1e3).unwrap();
    }
}

#[test]
fn one_sample_and_numbers_that_are_not_finite() {
    let [m, s, y] = sample(20, 1, 5);
    let one = [vec![m[0].clone()], vec![s[0].clone()], vec![y[0].clone()]];
    for which in 0..6 {
        let kernel = kernel(which, Bandwidth::Fixed(0.8), 0.9);
        let biased = Skce::biased(kernel);
        agree(biased, [&one[0], &one[1], &one[2]], 1.0).unwrap();
        for bad in [f64::NAN, f64::INFINITY] {
            for k in 0..3 {
                let mut data = [m.clone(), s.clone(), y.clone()];
                data[k][7][0] = bad;
                let [a, b, c] = &data;
                for dtype in [DType::F32, DType::F64] {
                    let [value, ..] = run(biased, Computation::Fused, [a, b, c], dtype);
                    assert!(value[0].is_nan());
                    // of blocks only its own
                    let blocks = Skce::block(kernel, 4);
                    let run = |data| run(blocks, Computation::Fused, data, dtype);
                    let (expected, found) = (run([&m, &s, &y]), run([a, b, c]));
                    assert!(found[0][0].is_nan());
                    for (expected, found) in expected[1..].iter().zip(&found[1..]) {
                        for (row, (expected, found)) in expected.iter().zip(found).enumerate() {
                            match row / 4 {
                                1 => assert!(found.is_nan(), "{row}: {found}"),
                                _ => assert_eq!(found, expected, "{row}"),
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Without a fused pass there is the composition, which has a gradient of targets too.
#[test]
fn what_has_no_fused_pass_is_composed() {
    let data = sample(5, 1, 6);
    let [m, s, y] =
        [&data[0], &data[1], &data[2]].map(|x| tensor_on(x, &device().autodiff(), DType::F64));
    let kernel = kernel(0, Bandwidth::Fixed(1.0), 1.0);
    let y = y.require_grad();
    let value = Skce::unbiased(kernel).value(&Normal::new(m.clone(), s.clone()), &y);
    assert!(y.grad(&value.backward()).is_some());
    let y = y.detach();
    let of_l1 = kernel.predictions.with_distance(Distance::L1);
    let over_l1 = TensorKernel::new(of_l1, kernel.targets);
    let on_l1 = TensorKernel::new(kernel.predictions, RealKernel::laplacian(1.0));
    for kernel in [over_l1, on_l1] {
        let skce = Skce::unbiased(kernel);
        let predictions = Normal::new(m.clone(), s.clone());
        let [auto, composed] = [Computation::Auto, Computation::Composed]
            .map(|c| scalar(skce.with_computation(c).value(&predictions, &y)));
        assert_eq!(auto, composed);
    }
    let laplace = Laplace::new(m, s);
    let fused = Skce::unbiased(on_l1).with_computation(Computation::Fused);
    let error = fused.estimate(&laplace, &y);
    assert!(matches!(error, Err(Error::NoFusedPath { .. })));
}
