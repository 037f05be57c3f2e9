use super::population::*;
use crate::prelude::*;

fn improvement<K: JointKernel<Categorical>>(
    skce: &Skce<K>,
    (before, after, classes): &Sample,
) -> Improvement {
    skce.improvement(&categorical(before), &categorical(after), &labels(classes))
        .unwrap()
}

fn random_sample(n: usize, m: usize, seed: u64) -> Sample {
    let mut rng = rng(seed);
    (
        random_probabilities(n, m, &mut rng),
        random_probabilities(n, m, &mut rng),
        random_labels(n, m, &mut rng),
    )
}

/// The jackknife by its definition: the estimate again without each sample in turn.
#[test]
fn jackknife_by_leaving_one_out() {
    for n in [3, 4, 17] {
        for kernel in kernels() {
            let kernel = kernel.with_bandwidth(Bandwidth::Fixed(0.4));
            let sample = random_sample(n, 3, 310 + n as u64);
            let gain = improvement(&Skce::unbiased(kernel), &sample);
            let (before, after, classes) = sample;
            let estimate = |rows: &[Vec<f64>], without: Option<usize>| {
                let kept = |i: &usize| Some(*i) != without;
                let rows: Vec<_> = (0..n).filter(kept).map(|i| rows[i].clone()).collect();
                let classes: Vec<_> = (0..n).filter(kept).map(|i| classes[i]).collect();
                unbiased(&pair_statistic(&rows, &classes, |p, q| {
                    kernel_value(&kernel, p, q)
                }))
            };
            let difference = |without| estimate(&after, without) - estimate(&before, without);
            let (_, deviation) = moments(&(0..n).map(|i| difference(Some(i))).collect::<Vec<_>>());
            // (n−1)/n Σ (D_(−i) − mean)²
            let error = deviation * (n as f64 - 1.0) / (n as f64).sqrt();
            assert_near(gain.before.estimate, estimate(&before, None), 1e-13);
            assert_relative_eq!(gain.after.estimate, estimate(&after, None), epsilon = 1e-13);
            assert_relative_eq!(gain.difference.estimate, difference(None), epsilon = 1e-13);
            assert_relative(gain.difference.standard_error, error, 1e-10);
            assert_eq!(gain.kernel(), Some(&kernel));
        }
    }
}

/// Over several tiles: the estimates are those of the estimator, and the bandwidth is the median before.
#[test]
fn one_bandwidth_for_both() {
    let sample = random_sample(600, 4, 320);
    let gain = improvement(&Skce::unbiased(Kernel::exponential()), &sample);
    let (before, after, classes) = sample;
    let median = median_distance(&tensor(&before), gain.kernel().unwrap().distance);
    assert_eq!(gain.kernel().unwrap().bandwidth, Bandwidth::Fixed(median));
    let fixed = Skce::unbiased(*gain.kernel().unwrap());
    for (found, rows) in [(gain.before, before), (gain.after, after)] {
        let expected = fixed.on(&categorical(&rows), &labels(&classes));
        assert_relative(found.estimate, expected, 1e-10);
    }
    assert_relative(
        gain.difference.estimate,
        gain.after.estimate - gain.before.estimate,
        1e-10,
    );
}

/// Block by block: small blocks, and blocks of more than a tile; an incomplete one is dropped.
#[test]
fn blocks_by_their_estimates() {
    let kernel = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(0.5));
    let sample = random_sample(620, 3, 321);
    for size in [2, 25, 300] {
        let gain = improvement(&Skce::block(kernel, size), &sample);
        let (before, after, classes) = &sample;
        let estimate = |rows: &[Vec<f64>], start: usize| {
            let block = start..start + size;
            Skce::unbiased(kernel).on(&categorical(&rows[block.clone()]), &labels(&classes[block]))
        };
        let starts = (0..620 / size).map(|block| block * size);
        let differences: Vec<f64> = starts
            .map(|start| estimate(after, start) - estimate(before, start))
            .collect();
        let (mean, deviation) = moments(&differences);
        let error = deviation / (differences.len() as f64).sqrt();
        assert_relative(gain.difference.estimate, mean, 1e-9);
        assert_relative(gain.difference.standard_error, error, 1e-9);
        assert_eq!(gain.difference.samples, 620 / size);
    }
}

/// Samples of 150 of a miscalibrated model: the mean standard error is the standard deviation of the estimates within
/// four times the `1/√(2 runs)` to which they determine it, and the interval covers the exact difference as often as
/// it says within four binomial standard deviations.
#[test]
fn standard_error_and_coverage() {
    let population = Population::overconfident(330);
    let kernel = exponential(0.5);
    let exact = |rows: &[Vec<f64>]| population.skce(rows, |p, q| kernel_value(&kernel, p, q));
    let truth = exact(&population.after) - exact(&population.before);
    assert!(truth < -0.01, "a gain that can be seen: {truth}");
    let mut rng = rng(331);
    let (runs, level) = (simulated(1600), 0.95);
    for skce in [Skce::unbiased(kernel), Skce::block(kernel, 5)] {
        let (mut estimates, mut errors, mut covered) = (vec![], vec![], 0);
        for _ in 0..runs {
            let gain = improvement(&skce, &population.draw(150, &mut rng));
            let Interval {
                lower: low,
                upper: high,
                ..
            } = gain.interval(level).unwrap();
            estimates.push(gain.difference.estimate);
            errors.push(gain.difference.standard_error);
            covered += usize::from(low <= truth && truth <= high);
        }
        let ((mean, deviation), (error, _)) = (moments(&estimates), moments(&errors));
        let share = covered as f64 / runs as f64;
        println!(
            "{:?}: {error:e} for {deviation:e}, covered {share}",
            skce.form
        );
        assert!((mean - truth).abs() < 4.0 * deviation / (runs as f64).sqrt());
        assert!(
            (error / deviation - 1.0).abs() < 4.0 / (2.0 * runs as f64).sqrt(),
            "{error} for {deviation}"
        );
        let binomial = (level * (1.0 - level) / runs as f64).sqrt();
        assert!((share - level).abs() < 4.0 * binomial, "{share}");
    }
}

/// Of a calibrated model, whose estimate is degenerate, the squared standard error is about twice the
/// variance: of 1000 estimates, whose variance is known to some 7 %.
#[test]
fn conservative_where_degenerate() {
    let truth = Population::overconfident(332).truth;
    let calibrated = Population {
        before: truth.clone(),
        after: truth.clone(),
        truth,
    };
    let kernel = exponential(0.5);
    let mut rng = rng(333);
    let (mut estimates, mut squares) = (vec![], vec![]);
    for _ in 0..1000 {
        let gain = improvement(&Skce::unbiased(kernel), &calibrated.draw(60, &mut rng));
        estimates.push(gain.before.estimate);
        squares.push(gain.before.standard_error.powi(2));
    }
    let ((_, deviation), (square, _)) = (moments(&estimates), moments(&squares));
    let ratio = square / deviation.powi(2);
    println!("squared standard error over variance: {ratio}");
    assert!((1.4..2.8).contains(&ratio), "about 2: {ratio}");
}

#[test]
fn equal_predictions_have_no_difference() {
    let (before, _, classes) = random_sample(300, 3, 340);
    let same = (before.clone(), before, classes);
    let first = [[1.0, 0.0, 0.0], [0.0; 3], [0.0; 3]];
    let matrix = MatrixKernel::from_rows(Kernel::exponential(), &first).unwrap();
    let check = |gain: Improvement| {
        assert_eq!(gain.difference.estimate, 0.0);
        assert_eq!(gain.difference.standard_error, 0.0);
        assert_eq!(gain.p_value().unwrap(), 1.0);
        assert_eq!(gain.before, gain.after);
        // these rows do not tell how models differ elsewhere
        let Interval { lower, upper, .. } = gain.interval(0.95).unwrap();
        assert_eq!([lower, upper], [f64::NEG_INFINITY, f64::INFINITY]);
        contains(&gain.unbounded().unwrap(), "same in all rows");
    };
    check(improvement(&Skce::unbiased(Kernel::exponential()), &same));
    check(improvement(&Skce::linear(Kernel::gaussian()), &same));
    check(improvement(&Skce::unbiased(matrix), &same));
    let biased = improvement(&Skce::biased(Kernel::exponential()), &same);
    assert_eq!(
        biased,
        improvement(&Skce::unbiased(Kernel::exponential()), &same)
    );
}

#[test]
fn too_few_samples_and_other_errors() {
    let wrong = |skce: Skce, n: usize, after: &[Vec<f64>], classes: &[usize]| {
        let before = categorical(&vec![vec![0.5, 0.5]; n]);
        refuses(skce.improvement(&before, &categorical(after), &labels(classes)));
    };
    let unbiased = Skce::unbiased(Kernel::exponential());
    let half = vec![vec![0.5, 0.5]; 3];
    for n in [1, 2] {
        wrong(unbiased, n, &half[..n], &[0, 1][..n]);
    }
    let blocks = Skce::block(Kernel::exponential(), 4);
    wrong(blocks, 3, &half, &[0, 1, 0]);
    wrong(unbiased, 3, &half[..2], &[0, 1, 0]);
    let narrow = exponential(0.0);
    wrong(Skce::unbiased(narrow), 3, &half, &[0, 1, 0]);
    // one block: its standard error is not known
    let one = Skce::linear(Kernel::exponential())
        .improvement(
            &categorical(&half),
            &categorical(&half),
            &labels(&[0, 1, 0]),
        )
        .unwrap();
    assert_eq!(one.difference.standard_error, f64::INFINITY);
    assert!(one.p_value().is_err()); // and one label is wrong
}
