//! Samples with weights: against NumPy, the library, repeated rows, and in any pieces.

use approx::assert_relative_eq;
use burn::tensor::Tensor;
use burn_calibration::{
    distribution::Predictive,
    error::Error,
    estimator::*,
    kernel::Kernel,
    score::{Brier, Score},
};
use proptest::{collection::vec, prelude::*};
use rand::RngExt;
use rand_distr::{Distribution, LogNormal};

use super::*;
use crate::models::{Model, draw};

fn weighted_rows(p: &[Vec<f64>], y: &[usize], weights: &[f64]) -> Rows {
    let m = p.first().map_or(3, Vec::len);
    let labels: Vec<i64> = y.iter().map(|&y| y as i64).collect();
    let rows = Rows::from_probabilities(p.concat(), m, &labels).unwrap();
    rows.weighted(weights).unwrap()
}

fn with<A: Accumulator>(empty: &A, p: &[Vec<f64>], y: &[usize], weights: &[f64]) -> A {
    let mut accumulator = empty.clone();
    let rows = weighted_rows(p, y, weights);
    accumulator.update_rows(&rows).unwrap();
    accumulator
}

/// Every number of an evaluation.
fn numbers(all: &Evaluation) -> Vec<f64> {
    let scores = [all.brier().mean(), all.log().mean(), all.spherical().mean()];
    let skce = all.skce().map(BlockSkceAccumulator::mean);
    let means = scores.into_iter().chain(skce).filter_map(Result::ok);
    let means = means.flat_map(|mean| [mean.estimate, mean.standard_error, mean.effective]);
    let top = all.top_label();
    let binned = [
        top.frequency(),
        top.ece(),
        top.mce(),
        top.power(TceForm::Debiased),
        all.class_wise().cwce(),
    ];
    means.chain(binned.map(Result::unwrap)).collect()
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_relative_eq!(*found, *expected, max_relative = 1e-14, epsilon = 1e-16);
    }
}

fn example() -> (Vec<Vec<f64>>, [usize; 6], [f64; 6]) {
    let p = [
        [0.7, 0.2, 0.1],
        [0.1, 0.6, 0.3],
        [0.25, 0.25, 0.5],
        [0.05, 0.05, 0.9],
        [0.4, 0.35, 0.25],
        [0.3, 0.3, 0.4],
    ];
    (
        p.map(Vec::from).into(),
        [0, 2, 2, 2, 1, 0],
        [2.0, 1.0, 0.5, 4.0, 1.5, 3.0],
    )
}

/// Six samples, by NumPy: the formulas of the documentation in a few lines.
#[test]
fn against_numpy() {
    let (p, y, w) = example();
    let kernel = Kernel::exponential().with_bandwidth(Bandwidth::Fixed(0.5));
    let empty = Evaluation::new(4, 3).unwrap().with_skce(kernel, 3).unwrap();
    let all = with(&empty, &p, &y, &w);
    assert_eq!((all.samples(), all.weighted()), (6, Some(true)));
    assert_eq!(all.brier().weight(), 12.0);
    let effective = 4.430769230769231;
    let expected = [
        [0.3812499999999999, 0.1979990324395312, effective],
        [0.655999162070042, 0.29250242277077604, effective],
        [0.23493744534870817, 0.13167797597657466, effective],
        // blocks of weights 3.5 and 22.5
        [
            -0.05632365047058853,
            0.06318668495402949,
            26.0 * 26.0 / (3.5 * 3.5 + 22.5 * 22.5),
        ],
    ];
    let binned = [
        0.5416666666666666,
        0.1625,
        0.31000000000000005,
        -0.06134722222222222,
        0.14305555555555555,
    ];
    close(&numbers(&all), &[&expected.concat()[..], &binned].concat());
    let totals = all.top_label().totals()[1];
    assert_eq!(
        (totals.samples, totals.weight, totals.occurred),
        (3, 5.0, 0.5)
    );
    assert_relative_eq!(totals.probability, 2.05, max_relative = 1e-15);
    let refused = all.skce().unwrap().outcome().unwrap_err().to_string();
    assert!(
        refused.starts_with("the asymptotic test takes no sample weights"),
        "{refused}"
    );
}

/// The estimators of all predictions at once, which carry their weights.
#[test]
fn against_the_library() {
    let (p, y) = draw(Model::M2, 400, 4, &mut rng(31));
    let weights: Vec<f64> = LogNormal::new(0.0, 1.0)
        .unwrap()
        .sample_iter(rng(32))
        .take(400)
        .collect();
    let column = Tensor::<1>::from_data(&weights[..], (&device(), burn::tensor::DType::F64));
    let (predictions, classes) = categorical(&p).weighted(&column, &labels(&y)).unwrap();
    let kernel = fixed(Kernel::exponential());
    let all = with(&evaluation(4, 5), &p, &y, &weights);
    let estimate = |estimator: &dyn Estimator| estimator.estimate(&predictions, &classes).unwrap();
    let binning = Binning::Uniform { bins: 7 };
    let ece = Ece::new(Aspect::Event(Event::TopLabel), binning);
    let debiased = Tce::default()
        .with_binning(binning)
        .with_form(TceForm::Debiased);
    let top = all.top_label();
    close(
        &[
            top.frequency().unwrap(),
            top.ece().unwrap(),
            top.mce().unwrap(),
            top.power(TceForm::Debiased).unwrap(),
            all.class_wise().cwce().unwrap(),
        ],
        &[
            estimate(&Accuracy),
            estimate(&ece),
            estimate(&Mce::new(ece)),
            debiased.power(&predictions, &classes).unwrap(),
            estimate(&Cwce::default().with_binning(binning)),
        ],
    );
    let skce = all.skce().unwrap().mean().unwrap();
    let expected = Skce::block(kernel, 5)
        .estimate(&predictions, &classes)
        .unwrap();
    assert_relative_eq!(skce.estimate, expected, epsilon = 1e-15);
    let (brier, expected) = (
        all.brier().mean().unwrap(),
        Brier.mean(&predictions, &classes).unwrap(),
    );
    assert_relative_eq!(brier.estimate, expected.estimate, max_relative = 1e-15);
    assert_relative_eq!(brier.effective, expected.effective, max_relative = 1e-14);
    // the jackknife is another estimate of the same error
    assert_relative_eq!(
        brier.standard_error,
        expected.standard_error,
        max_relative = 0.02
    );
}

type Weighted = (Vec<Vec<f64>>, Vec<usize>, Vec<f64>);

/// Predictions over three classes with weights of all sizes, some of them 0.
fn weighted() -> impl Strategy<Value = Weighted> {
    let logit = prop_oneof![Just(0.0), -4.0..4.0f64];
    let row = vec(logit, 3).prop_map(|row| softmax(&row));
    let weight = prop_oneof![
        Just(0.0),
        Just(2.0),
        0.0..3.0f64,
        Just(1e-300),
        Just(1e300),
        Just(f64::MAX)
    ];
    (1..25usize).prop_flat_map(move |n| {
        (
            vec(row.clone(), n),
            vec(0..3usize, n),
            vec(weight.clone(), n),
        )
    })
}

proptest! {
    #![proptest_config(cases(64))]

    /// Rows of weight 0 are absent, and whatever the weights are, there are numbers.
    #[test]
    fn absent_rows((p, y, w) in weighted()) {
        let empty = Evaluation::new(5, 3).unwrap();
        let all = with(&empty, &p, &y, &w);
        let kept: Vec<usize> = (0..w.len()).filter(|&row| w[row] > 0.0).collect();
        let (q, z): (Vec<_>, Vec<_>) = kept.iter().map(|&k| (p[k].clone(), y[k])).unzip();
        let v: Vec<f64> = kept.iter().map(|&k| w[k]).collect();
        prop_assert_eq!(text(&with(&empty, &q, &z, &v)), text(&all));
        if kept.is_empty() {
            prop_assert_eq!(text(&all), text(&empty));
            return Ok(());
        }
        for number in numbers(&all) {
            prop_assert!(number.abs() <= 30.0 || number == f64::INFINITY, "{number}");
        }
    }

    /// Equal weights are none, bit for bit, also in pieces and in blocks of the SKCE.
    #[test]
    fn equal_weights(
        (p, y, _) in weighted(),
        weight in prop_oneof![Just(1.0), 1e-3..1e3f64, Just(1e-300), Just(1e300), Just(f64::MAX)],
        cut in any::<prop::sample::Index>(),
    ) {
        let empty = evaluation(3, 2);
        let at = 2 * cut.index(p.len() / 2 + 1);
        let w = vec![weight; p.len()];
        let mut merged = with(&empty, &p[..at], &y[..at], &w[..at]);
        merged.merge(&with(&empty, &p[at..], &y[at..], &w[at..])).unwrap();
        prop_assert_eq!(numbers(&merged), numbers(&having(&empty, &p, &y)));
    }

    /// Whole numbers are repeated rows, in means over samples.
    #[test]
    fn repeated_rows((p, y, _) in weighted(), counts in vec(0..4usize, 25)) {
        let empty = Evaluation::new(5, 3).unwrap();
        let w: Vec<f64> = counts.iter().take(p.len()).map(|&count| count as f64).collect();
        let rows = (0..p.len()).flat_map(|k| std::iter::repeat_n(k, counts[k]));
        let (q, z): (Vec<_>, Vec<_>) = rows.map(|k| (p[k].clone(), y[k])).unzip();
        let (found, expected) = (with(&empty, &p, &y, &w), having(&empty, &q, &z));
        prop_assume!(!q.is_empty());
        let means = |all: &Evaluation| {
            let scores = [all.brier().mean(), all.log().mean(), all.spherical().mean()];
            let scores = scores.map(|mean| mean.unwrap().estimate);
            [&scores[..], &[all.top_label().frequency().unwrap()]].concat()
        };
        prop_assert_eq!(means(&found), means(&expected)); // to the last bit
        let [found, expected] = [found, expected].map(|all| {
            [all.top_label().ece(), all.top_label().mce(), all.class_wise().cwce()].map(Result::unwrap)
        });
        for (found, expected) in found.iter().zip(expected) {
            prop_assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
    }
}

#[test]
fn weights_that_are_wrong() {
    let (p, y, _) = example();
    let weighted = |weights: &[f64]| {
        let error = rows(&p, &y).weighted(weights).unwrap_err();
        error.to_string()
    };
    assert_eq!(
        weighted(&[1.0, 2.0, -0.5, 1.0, 1.0, 1.0]),
        "row 2, column 0: the sample weight is -0.5, expected a finite number of at least 0"
    );
    for wrong in [f64::NAN, f64::INFINITY] {
        let error = weighted(&[1.0, wrong, 1.0, 1.0, 1.0, 1.0]);
        assert!(
            error.starts_with("row 1, column 0: the sample weight"),
            "{error}"
        );
    }
    assert_eq!(
        weighted(&[1.0]),
        "6 predictions but 1 sample weights, expected the same number of both"
    );
    let column = Tensor::<1>::from_floats([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &device());
    let (carrying, _) = categorical(&p).weighted(&column, &labels(&y)).unwrap();
    let error = Rows::new(&carrying, &labels(&y)).unwrap_err().to_string();
    assert_eq!(
        error,
        "the weights that predictions carry have mean 1 in each piece, expected predictions without weights, and \
         Rows::weighted on the scale of all pieces"
    );
}

/// Neither merged nor updated, and nothing is taken then.
#[test]
fn with_and_without() {
    let (p, y, w) = example();
    let refused = "cannot merge samples with weights and samples without, expected weights in every piece, on one \
                   scale, or in none";
    each_kind!(3, |empty| {
        let (plain, heavy) = (having(&empty, &p, &y), with(&empty, &p, &y, &w));
        for (own, other, rows) in [
            (&plain, &heavy, weighted_rows(&p, &y, &w)),
            (&heavy, &plain, rows(&p, &y)),
        ] {
            let mut taken = own.clone();
            assert_eq!(taken.merge(other).unwrap_err().to_string(), refused);
            assert_eq!(taken.update_rows(&rows).unwrap_err().to_string(), refused);
            assert_eq!(text(&taken), text(own));
            // rows of weight 0, and accumulators without samples, are of both
            taken
                .update_rows(&weighted_rows(&p, &y, &[0.0; 6]))
                .unwrap();
            taken.merge(&empty).unwrap();
            assert_eq!(text(&taken), text(own));
        }
    });
}

/// On files: sums without weights are as before there were any; what weights cannot give is refused.
#[test]
fn on_file() {
    let (p, y, w) = example();
    let empty = evaluation(3, 2);
    assert!(!text(&having(&empty, &p, &y)).contains("weights"));
    let good = text(&with(&empty, &p, &y, &w));
    let score = text(&with(&ScoreAccumulator::new(Brier, 3), &p, &y, &w));
    let powers = &score[score.find("\"weights\":[").unwrap()..];
    let total = &powers[11..=powers.find('}').unwrap()];
    let none = "{\"negative\":false,\"first\":0,\"limbs\":[]}";
    let error = |text: String| {
        serde_json::from_str::<Evaluation>(&text)
            .unwrap_err()
            .to_string()
    };
    let found = error(good.replacen(total, none, 1));
    assert!(found.contains("no numbers have its sums"), "{found}");
    let bins = &good[good.find("\"top_label\"").unwrap()..];
    let weights = &bins[bins.find(",\"weights\"").unwrap()..];
    let weights = &weights[..=weights.find("}]").unwrap() + 1];
    let found = error(good.replacen(weights, "", 1));
    assert!(found.contains("holds more occurrences"), "{found}");
    let log = &good[good.find("\"log\"").unwrap()..good.find("\"spherical\"").unwrap()];
    let plain = text(&having(&empty, &p, &y));
    let other = &plain[plain.find("\"log\"").unwrap()..plain.find("\"spherical\"").unwrap()];
    let found = error(good.replacen(log, other, 1));
    assert!(found.contains("its parts differ"), "{found}");
}

/// 95 % intervals by `n_eff − 1` degrees of freedom cover as often as they say, with weights of a heavy tail.
#[test]
fn intervals_cover() {
    let (mut rng, heavy) = (rng(33), LogNormal::new(0.0, 1.5).unwrap());
    for n in [8, 40] {
        let draws = 2000;
        let mut covered = 0;
        for _ in 0..draws {
            let mut means = Means::new([("family", "normal")]);
            let values: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
            let weights: Vec<f64> = (0..n).map(|_| heavy.sample(&mut rng)).collect();
            means
                .add_weighted("crps", &values, weights.as_chunks::<1>().0)
                .unwrap();
            let interval = means.mean("crps").unwrap().interval(0.95).unwrap();
            covered += usize::from(interval.lower <= 0.0 && 0.0 <= interval.upper);
        }
        // 0.95 with a standard error of 0.005
        let share = covered as f64 / draws as f64;
        assert!((0.93..0.985).contains(&share), "{n}: {share}");
    }
}

/// Means of numbers, with the same rules.
#[test]
fn means_of_numbers() {
    let empty = || Means::new([("family", "normal")]);
    let weighted = |x: &[f64], w: &[f64]| {
        let mut means = empty();
        means.add_weighted("crps", x, w.as_chunks::<1>().0).unwrap();
        means
    };
    let mut merged = weighted(&[1.0, 5.0], &[1e300, 0.0]);
    merged.merge(&weighted(&[3.0], &[3e300])).unwrap();
    let mean = merged.mean("crps").unwrap();
    assert_eq!(
        (mean.estimate, merged.count("crps"), merged.weight("crps")),
        (2.5, 2, 4e300)
    );
    assert_eq!(mean.effective, 1.6);
    // shares ¼ and ¾, of which the sum of squares is ⅝: (x₁ − x₂)²/2 times that
    assert_relative_eq!(mean.standard_error, 1.25f64.sqrt(), max_relative = 1e-15);
    let most = weighted(&[1.0, 2.0], &[f64::MAX; 2]);
    let mean = most.mean("crps").unwrap();
    assert_eq!(
        (mean.estimate, mean.standard_error, most.weight("crps")),
        (1.5, 0.5, f64::INFINITY)
    );
    let mut plain = empty();
    plain.add("crps", &[1.0]).unwrap();
    assert!(matches!(
        plain.merge(&merged),
        Err(Error::Unsupported { .. })
    ));
    assert!(matches!(
        merged.add("crps", &[1.0]),
        Err(Error::Unsupported { .. })
    ));
    let wrong = empty()
        .add_weighted("crps", &[1.0], &[[-1.0]])
        .unwrap_err()
        .to_string();
    assert_eq!(
        wrong,
        "row 0, column 0: the sample weight is -1, expected a finite number of at least 0"
    );
    let one = weighted(&[2.0], &[0.3]).mean("crps").unwrap();
    assert_eq!((one.estimate, one.standard_error), (2.0, f64::INFINITY));
    let none = weighted(&[2.0], &[0.0]);
    assert!(matches!(
        none.mean("crps"),
        Err(Error::TooFewSamples { .. })
    ));
}

/// Blocks whose weights are far apart, of both ends of the numbers, and a pair by hand.
#[test]
fn blocks_of_any_weights() {
    let (p, y, _) = example();
    let empty = BlockSkceAccumulator::linear(fixed(Kernel::exponential()), 3).unwrap();
    let values: Vec<f64> = (0..3)
        .map(|b| {
            having(&empty, &p[2 * b..2 * b + 2], &y[2 * b..2 * b + 2])
                .mean()
                .unwrap()
                .estimate
        })
        .collect();
    // w_i w_j of the pairs: 1, 1 and 2
    let weights = [
        1e300,
        1e-300,
        f64::from_bits(1),
        f64::from_bits(1).recip().min(f64::MAX),
        2.0,
        1.0,
    ];
    let second = weights[2] * weights[3];
    let expected = (values[0] + second * values[1] + 2.0 * values[2]) / (3.0 + second);
    let found = with(&empty, &p, &y, &weights).mean().unwrap();
    assert_relative_eq!(found.estimate, expected, max_relative = 1e-14);
    assert_eq!(found.samples, 3);
}
