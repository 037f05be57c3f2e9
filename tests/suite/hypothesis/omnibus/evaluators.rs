//! What an evaluator computes of redrawn labels is the estimate of these labels.

use crate::prelude::*;

/// Predictions of a kind.
type Rows = fn(usize, usize, &mut StdRng) -> Vec<Vec<f64>>;

const KINDS: [(&str, Rows); 6] = [
    ("random", random_probabilities),
    ("sharpened", sharpened),
    ("tied", tied),
    ("one-hot", one_hot),
    ("uniform", |n, m, _| vec![vec![1.0 / m as f64; m]; n]),
    ("mixed", |n, m, rng| {
        let kinds = [
            one_hot(n, m, rng),
            sharpened(n, m, rng),
            tied(n, m, rng),
            random_probabilities(n, m, rng),
        ];
        (0..n).map(|i| kinds[i % 4][i].clone()).collect()
    }),
];

/// With few expected errors.
fn sharpened(n: usize, m: usize, rng: &mut StdRng) -> Vec<Vec<f64>> {
    let rows = random_rows(n, m, 1.0, rng);
    let sharpen = |row: &Vec<f64>| {
        let likely = argmax(row);
        let mut logits: Vec<f64> = row.iter().map(|z| 2.0 * z).collect();
        logits[likely] += 6.0 + (m as f64).ln();
        softmax(&logits)
    };
    rows.iter().map(sharpen).collect()
}

/// Three distinct rows, one of them with two most likely classes.
fn tied(n: usize, m: usize, rng: &mut StdRng) -> Vec<Vec<f64>> {
    let mut distinct = random_probabilities(2, m, rng);
    let mut both = vec![0.0; m];
    (both[0], both[m - 1]) = (0.5, 0.5);
    distinct.push(both);
    (0..n).map(|i| distinct[i % 3].clone()).collect()
}

fn one_hot(n: usize, m: usize, rng: &mut StdRng) -> Vec<Vec<f64>> {
    let unit = |y: usize| (0..m).map(|c| f64::from(c == y)).collect();
    random_labels(n, m, rng).into_iter().map(unit).collect()
}

/// All most likely, none of them, any, and draws from the predictions.
fn label_sets(predictions: &Categorical, rows: &[Vec<f64>], rng: &mut StdRng) -> Vec<Vec<usize>> {
    let (n, m) = (rows.len(), rows[0].len());
    let right = argmaxes(rows);
    let wrong = right.iter().map(|y| (y + 1) % m).collect();
    let drawn = (predictions.redrawer().draw)(3, rng);
    assert_eq!(drawn.len(), 3);
    let mut sets = vec![right, wrong, random_labels(n, m, rng)];
    sets.extend((0..3).map(|set| drawn.set(set)));
    sets
}

/// One set at a time and all that the redrawer draws at once; estimates are compared after a map.
fn check<S: Statistic>(
    what: &str,
    statistic: S,
    (predictions, sets): (&Categorical, &[Vec<usize>]),
    (tolerance, map): (f64, fn(f64) -> f64),
) {
    let evaluator = match statistic.evaluator(predictions) {
        Ok(evaluator) => evaluator,
        // both refuse the data
        Err(_) => {
            let estimate = statistic.estimate(predictions, &labels(&sets[0]));
            return assert!(estimate.is_err(), "{what}");
        }
    };
    assert_eq!(evaluator.width(), 1);
    for (k, set) in sets.iter().enumerate() {
        let found = evaluator.values(&predictions.as_redrawn(set)).unwrap();
        let expected = statistic.on(predictions, &labels(set));
        let close = |a: f64, b: f64| (a - b).abs() <= tolerance * (b.abs() + 1e-3);
        assert!(
            found.len() == 1 && close(map(found[0]), map(expected)),
            "{what}, set {k}: {found:?}, expected {expected}"
        );
    }
}

/// A root is compared by its square: of a number that is 0 but for rounding it has few digits.
fn square(x: f64) -> f64 {
    x * x
}

fn same(x: f64) -> f64 {
    x
}

fn at(kernel: Kernel, bandwidth: f64) -> Kernel {
    kernel.with_bandwidth(Bandwidth::Fixed(bandwidth))
}

fn kernels(composed: bool) -> Vec<Kernel> {
    let mut kernels = vec![
        Kernel::exponential(),
        at(Kernel::exponential(), 0.3).with_distance(Distance::Euclidean),
        at(Kernel::gaussian(), 0.5),
    ];
    if composed {
        kernels.extend([
            at(Kernel::gaussian(), 0.5).with_distance(Distance::L1),
            at(Kernel::matern32(), 0.4),
            at(Kernel::matern52(), 0.4).with_distance(Distance::L1),
            Kernel::rational_quadratic(0.7),
        ]);
    }
    kernels
}

fn each(mut check: impl FnMut(&str, (&Categorical, &[Vec<usize>]))) {
    let mut rng = rng(601);
    for n in [1, 2, 3, 7, 64, 65, 300] {
        for m in [2, 3, 26] {
            if n == 300 && m != 3 || (n, m) == (64, 2) || (n, m) == (65, 26) {
                continue;
            }
            for (kind, rows) in KINDS {
                let rows = rows(n, m, &mut rng);
                let predictions = categorical(&rows);
                let sets = label_sets(&predictions, &rows, &mut rng);
                check(&format!("{kind}, n = {n}, m = {m}"), (&predictions, &sets));
            }
        }
    }
}

#[test]
fn skce() {
    each(|what, (predictions, sets)| {
        for kernel in kernels(predictions.len() < 10) {
            for skce in [Skce::unbiased(kernel), Skce::biased(kernel)] {
                let what = format!("{skce:?}, {what}");
                check(&what, skce, (predictions, sets), (1e-10, same));
            }
        }
        // one by one
        if predictions.len() == 7 {
            let skce = Skce::block(Kernel::exponential(), 3);
            check(what, skce, (predictions, &sets[..1]), (1e-10, same));
        }
    });
}

#[test]
fn mmce() {
    each(|what, data| {
        for form in [MmceForm::Unweighted, MmceForm::Weighted, MmceForm::Unbiased] {
            let what = format!("{form:?}, {what}");
            check(&what, Mmce::new(form), data, (1e-10, same));
        }
    });
}

#[test]
fn bins_and_cumulative_gaps() {
    let top = Aspect::Event(Event::TopLabel);
    let uniform = Binning::Uniform { bins: 7 };
    let eces = [
        Ece::default(),
        Ece::equal_mass(6),
        Ece::new(top, uniform).with_discrepancy(Discrepancy::L1),
        Ece::new(top, Binning::EqualMass { bins: 100 })
            .with_discrepancy(Discrepancy::SquaredEuclidean),
        Ece::new(top, Binning::MedianVariance { minimum: 5 }),
        Ece::new(Aspect::Event(Event::Class(1)), uniform),
        Ece::uniform(3),
        Ece::median_variance(5),
    ];
    let cwces = [
        Cwce::default(),
        Cwce::new(2.0).with_weight(ClassWeight::Sum),
        Cwce::default()
            .with_form(TceForm::Unbiased)
            .with_binning(Binning::EqualMass { bins: 6 }),
    ];
    let plug_in = |order| Tce::default().with_form(TceForm::PlugIn { order });
    let tces = [
        Tce::default(),
        Tce::default().with_binning(uniform),
        plug_in(2.0),
        plug_in(1.0).with_binning(uniform),
        Tce::default().with_event(Event::Class(0)),
    ];
    each(|what, data| {
        for ece in eces {
            check(&format!("{ece:?}, {what}"), ece, data, (1e-10, same));
            let mce = Mce::new(ece);
            check(&format!("{mce:?}, {what}"), mce, data, (1e-10, same));
        }
        for tce in tces {
            check(&format!("{tce:?}, {what}"), tce, data, (1e-10, square));
        }
        for cwce in cwces {
            check(&format!("{cwce:?}, {what}"), cwce, data, (1e-10, square));
        }
        for event in [Event::TopLabel, Event::Class(0)] {
            let gap = KolmogorovSmirnov::new(event);
            check(&format!("{gap:?}, {what}"), gap, data, (1e-10, same));
        }
    });
}

/// More sets at once than lanes of a vector: each has the value that it has alone.
#[test]
fn many_sets_at_once() {
    let mut rng = rng(602);
    for (kind, rows) in KINDS {
        let rows = rows(70, 4, &mut rng);
        let predictions = categorical(&rows);
        let drawn = (predictions.redrawer().draw)(131, &mut rng);
        fn compare(
            kind: &str,
            statistic: impl Statistic,
            predictions: &Categorical,
            drawn: &RedrawnBy<Categorical>,
        ) {
            let evaluator = statistic.evaluator(predictions).unwrap();
            let together = evaluator.values(drawn).unwrap();
            assert_eq!(together.len(), 131);
            for (set, together) in together.into_iter().enumerate() {
                let alone = statistic.on(predictions, &labels(&drawn.set(set)));
                assert_near_in(kind, together, alone, 1e-13);
            }
        }
        let skce = Skce::unbiased(Kernel::exponential());
        compare(kind, skce, &predictions, &drawn);
        compare(kind, Ece::default(), &predictions, &drawn);
        compare(kind, Ece::uniform(3), &predictions, &drawn);
        compare(kind, Cwce::default(), &predictions, &drawn);
        compare(kind, Mmce::default(), &predictions, &drawn);
    }
}

/// Above 4096 samples the sums of many differences are in single precision.
#[test]
fn single_precision_of_many_samples() {
    let mut rng = rng(603);
    let n = 4200;
    let rows = random_probabilities(n, 3, &mut rng);
    let predictions = categorical(&rows);
    let sets = [random_labels(n, 3, &mut rng)];
    for kernel in [at(Kernel::exponential(), 0.4), at(Kernel::gaussian(), 0.4)] {
        let skce = Skce::biased(kernel);
        check("dense", skce, (&predictions, &sets), (1e-5, same));
    }
}

/// Predictions in single precision: the estimates are of that precision, the evaluators of more.
#[test]
fn predictions_in_single_precision() {
    let mut rng = rng(604);
    for (kind, rows) in KINDS {
        let rows = rows(60, 5, &mut rng);
        let predictions = Categorical::from_probabilities(single(&rows)).unwrap();
        let sets = label_sets(&predictions, &rows, &mut rng);
        let data = (&predictions, &sets[..]);
        let biased = Skce::biased(at(Kernel::exponential(), 0.4));
        check(kind, biased, data, (1e-3, same));
        check(kind, Mmce::default(), data, (1e-3, same));
        check(kind, KolmogorovSmirnov::default(), data, (1e-3, same));
        check(kind, Ece::equal_mass(5), data, (1e-3, same));
    }
}

/// 64 sets of targets at once: of Laplace predictions, whose residuals have features (fewer for so many sets), of
/// normal ones, which have a fused pass, and of a kernel without either; against the composed estimates of some.
#[test]
fn vectors() {
    let n = 280;
    let column =
        |scale: f64, shift: f64| table(n, 1, |i, _| shift + scale * (7.3 * i as f64).sin());
    for (dtype, tolerance, form) in [
        (DType::F64, 1e-13, SkceForm::Unbiased),
        (DType::F64, 1e-13, SkceForm::Biased),
        (DType::F32, 1e-6, SkceForm::Unbiased),
    ] {
        let [locations, scales] = [column(2.0, 0.0), column(0.6, 0.9)];
        let on_device = |rows: &Vec<Vec<f64>>| tensor_on(rows, &device(), dtype);
        let (location, scale) = (on_device(&locations), on_device(&scales));
        let targets = |k: usize| -> Vec<f64> {
            let target = |row: &Vec<f64>| ((k + 1) as f64 * row[0]).sin() * 2.5;
            locations.iter().map(target).collect()
        };
        let sets: Vec<Vec<f64>> = (0..64).map(targets).collect();
        let laplace = Laplace::new(location.clone(), scale.clone());
        let normal = Normal::new(location, scale);
        let skce = |targets| {
            let kernel = TensorKernel::wasserstein(targets);
            Skce::new(kernel.with_bandwidth(Bandwidth::Fixed(0.7)), form)
        };
        let gaussian = skce(RealKernel::gaussian(0.8));
        agrees(&gaussian, &laplace, &sets, tolerance);
        agrees(&gaussian, &normal, &sets[..3], tolerance);
        let laplacian = skce(RealKernel::laplacian(0.8));
        agrees(&laplacian, &laplace, &sets[..3], tolerance);
    }
}

fn agrees<P>(
    skce: &Skce<TensorKernel<RealKernel>>,
    predictions: &P,
    sets: &[Vec<f64>],
    tolerance: f64,
) where
    P: Geometry<Targets = Tensor<2>>,
    RealKernel: TargetKernel<P::Unconditional>,
{
    let found = skce.evaluator(predictions).unwrap();
    let found = found.values(&sets.to_vec()).unwrap();
    let composed = skce.with_computation(Computation::Composed);
    for k in [0, sets.len() - 1] {
        let targets = predictions.observed(&sets[k]);
        let expected = composed.on(predictions, &targets);
        assert_near_in(k, found[k], expected, tolerance);
    }
}
