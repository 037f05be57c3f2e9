//! Accumulators against the estimators, which see all predictions at once, and by hand.

use super::*;
use burn_calibration_testing::models::{Model, draw};

/// In updates of unequal sizes, of tensors and of rows on the host.
fn in_pieces<A: Accumulator>(empty: &A, p: &[Vec<f64>], y: &[usize]) -> A {
    let mut accumulator = empty.clone();
    let mut sizes = [1, 7, 2, 60, 13].into_iter().cycle().enumerate();
    let mut start = 0;
    while start < p.len() {
        let (k, size) = sizes.next().unwrap();
        let piece = start..(start + size).min(p.len());
        let (p, y) = (&p[piece.clone()], &y[piece.clone()]);
        match k % 2 {
            0 => accumulator.update(&categorical(p), &labels(y)).unwrap(),
            _ => accumulator.update_rows(&rows(p, y)).unwrap(),
        }
        start = piece.end;
    }
    accumulator
}

const N: usize = 500;

#[test]
fn scores() {
    let (p, y) = draw(Model::M2, N, 4, &mut rng(1));
    fn check(score: impl Kept + Score<Categorical>, p: &[Vec<f64>], y: &[usize]) {
        let found = in_pieces(&ScoreAccumulator::new(score.clone(), 4), p, y);
        let found = found.mean().unwrap();
        let expected = score.upper_bound(&categorical(p), &labels(y)).unwrap();
        assert_relative(found.estimate, expected.estimate, 1e-12);
        assert_relative(found.standard_error, expected.standard_error, 1e-12);
        assert_eq!(found.samples, N);
    }
    check(Brier, &p, &y);
    check(LogScore, &p, &y);
    check(Spherical, &p, &y);
}

/// Two samples.
#[test]
fn scores_by_hand() {
    let (p, y) = (vec![vec![0.75, 0.25], vec![0.6, 0.4]], [0, 1]);
    // s/√2, s = |a − b|/√2
    let check = |mean: MeanEstimate, a: f64, b: f64| {
        assert_relative(mean.estimate, (a + b) / 2.0, 1e-14);
        assert_relative(mean.standard_error, (a - b).abs() / 2.0, 1e-14);
    };
    let brier = having(&ScoreAccumulator::new(Brier, 2), &p, &y);
    check(brier.mean().unwrap(), 0.125, 0.72);
    let log = having(&ScoreAccumulator::new(LogScore, 2), &p, &y);
    check(log.mean().unwrap(), -(0.75f64.ln()), -(0.4f64.ln()));
    let spherical = having(&ScoreAccumulator::new(Spherical, 2), &p, &y);
    let (a, b) = (0.625f64.sqrt(), 0.52f64.sqrt());
    check(spherical.mean().unwrap(), 1.0 - 0.75 / a, 1.0 - 0.4 / b);
    let one = having(&ScoreAccumulator::new(Brier, 2), &p[..1], &y[..1]);
    assert_eq!(one.mean().unwrap().standard_error, f64::INFINITY);
}

/// From logits so far apart that probabilities underflow.
#[test]
fn logits() {
    let z = random_rows(200, 3, 900.0, &mut rng(2));
    let y = random_labels(200, 3, &mut rng(3));
    let predictions = Categorical::from_logits(tensor(&z)).unwrap();
    let mut all = evaluation(3, 8);
    all.update(&predictions, &labels(&y)).unwrap();
    let numbers: Vec<i64> = y.iter().map(|&y| y as i64).collect();
    let on_host = Rows::from_logits(z.concat(), 3, &numbers).unwrap();
    let mut same = evaluation(3, 8);
    same.update_rows(&on_host).unwrap();
    assert_eq!(text(&same), text(&all));
    let expected = LogScore.upper_bound(&predictions, &labels(&y)).unwrap();
    let found = all.log().mean().unwrap();
    assert!(expected.estimate > 100.0);
    assert_relative(found.estimate, expected.estimate, 1e-12);
    assert_relative(found.standard_error, expected.standard_error, 1e-12);
    let ece = Ece::top_label(7).on(&predictions, &labels(&y));
    assert_relative(all.top_label().ece().unwrap(), ece, 1e-12);
}

/// The same numbers as in f64.
#[test]
fn single_precision() {
    let p = random_probabilities(50, 3, &mut rng(4));
    let y = random_labels(50, 3, &mut rng(5));
    let single = tensor_on(&p, &device(), DType::F32);
    let single = Categorical::from_probabilities(single).unwrap();
    let mut found = evaluation(3, 4);
    found.update(&single, &labels(&y)).unwrap();
    let single = table(50, 3, |i, c| f64::from(p[i][c] as f32));
    assert_eq!(found, having(&evaluation(3, 4), &single, &y));
}

#[test]
fn binned_errors() {
    let (p, y) = draw(Model::M2, N, 4, &mut rng(6));
    let (predictions, classes) = (categorical(&p), labels(&y));
    for bins in [1, 7, 15] {
        let binning = Binning::Uniform { bins };
        for event in [Event::TopLabel, Event::Class(0), Event::Class(3)] {
            let found = in_pieces(&BinAccumulator::new(event, bins, 4).unwrap(), &p, &y);
            for discrepancy in [
                Discrepancy::TotalVariation,
                Discrepancy::L1,
                Discrepancy::SquaredEuclidean,
            ] {
                let ece = Ece::new(Aspect::Event(event), binning).with_discrepancy(discrepancy);
                let found = found.expected(discrepancy).unwrap();
                assert_relative(found, ece.on(&predictions, &classes), 1e-12);
            }
            let ece = Ece::new(Aspect::Event(event), binning);
            let expected = ece.on(&predictions, &classes);
            assert_relative(found.ece().unwrap(), expected, 1e-12);
            let expected = Mce::new(ece).on(&predictions, &classes);
            assert_relative(found.mce().unwrap(), expected, 1e-12);
            for form in [TceForm::Debiased, TceForm::PlugIn { order: 1.5 }] {
                let tce = Tce::default().with_event(event).with_binning(binning);
                let expected = tce.with_form(form).power(&predictions, &classes).unwrap();
                let found = found.power(form).unwrap();
                assert_relative_eq!(found, expected, max_relative = 1e-11, epsilon = 1e-15);
            }
        }
        let found = in_pieces(&ClassBinAccumulator::new(bins, 4).unwrap(), &p, &y);
        let cwce = Cwce::default().with_binning(binning);
        let expected = cwce.on(&predictions, &classes);
        assert_relative(found.cwce().unwrap(), expected, 1e-12);
        let found = found.power(TceForm::Debiased, ClassWeight::Sum).unwrap();
        let cwce = cwce.with_form(TceForm::Debiased);
        let cwce = cwce.with_weight(ClassWeight::Sum);
        let expected = cwce.power(&predictions, &classes).unwrap();
        assert_relative_eq!(found, expected, max_relative = 1e-11, epsilon = 1e-15);
    }
}

/// Edges, empty bins and ties, in quarters.
#[test]
fn bins_by_hand() {
    let p = [[0.5, 0.5], [0.25, 0.75], [0.0, 1.0], [0.7, 0.3], [0.9, 0.1]].map(Vec::from);
    let y = [1, 1, 1, 0, 1];
    let top = having(&BinAccumulator::top_label(4, 2).unwrap(), &p, &y);
    // confidences ½ (of class 0, the first), ¾, 1, 0.7, 0.9; right: no, yes, yes, yes, no
    let bin = |lower, samples: u64, probability: f64, occurred: u64| BinTotals {
        lower,
        upper: lower + 0.25,
        samples,
        weight: samples as f64,
        probability,
        occurred: occurred as f64,
    };
    let expected = [
        bin(0.0, 0, 0.0, 0),
        bin(0.25, 1, 0.5, 0),
        bin(0.5, 2, 1.45, 2),
        bin(0.75, 2, 1.9, 1),
    ];
    assert_eq!(top.totals(), expected);
    assert_eq!(top.frequency().unwrap(), 0.6);
    let occupied = top.occupied();
    assert!(occupied.iter().map(|b| b.size).eq([1, 2, 2]));
    // (½ + |1.45 − 2| + |1.9 − 1|)/5
    assert_relative(top.ece().unwrap(), 1.95 / 5.0, 1e-14);
    assert_relative(top.mce().unwrap(), 0.5, 1e-14);
    let zero = having(&BinAccumulator::new(Event::Class(0), 4, 2).unwrap(), &p, &y);
    let totals = zero.totals();
    let counts = totals.iter().map(|b| (b.samples, b.occurred));
    assert!(counts.eq([(2, 0.0), (1, 0.0), (1, 1.0), (1, 0.0)])); // 0 and ¼, ½, 0.7, 0.9
}

/// Blocks of all sizes that the estimators treat differently, and samples too many.
#[test]
fn block_skce() {
    let (p, y) = draw(Model::M2, N, 4, &mut rng(7));
    let (predictions, classes) = (categorical(&p), labels(&y));
    for kernel in [
        Kernel::exponential(),
        Kernel::gaussian(),
        Kernel::gaussian().with_distance(Distance::L1),
        Kernel::wasserstein(),
    ] {
        let kernel = fixed(kernel);
        for size in [2, 3, 25, 60, 250] {
            let empty = BlockSkceAccumulator::new(kernel, size, 4).unwrap();
            let found = in_pieces(&empty, &p, &y);
            let mean = found.mean().unwrap();
            let expected = Skce::block(kernel, size).on(&predictions, &classes);
            assert_relative_eq!(mean.estimate, expected, epsilon = 1e-12);
            let blocks = N / size;
            assert_eq!((mean.samples, found.blocks()), (blocks, blocks as u64));
            assert_eq!(found.left_out() as usize, N - blocks * size);
            let outcome = found.outcome().unwrap();
            let test = AsymptoticBlockSkceTest::new(kernel, size);
            let expected = test.seeded(&predictions, &classes, 0);
            assert_eq!(outcome.samples, expected.samples);
            assert_relative_eq!(outcome.estimate, expected.estimate, epsilon = 1e-12);
            assert_relative(outcome.p_value, expected.p_value, 1e-8);
            let error = expected.standard_error.unwrap();
            assert_relative(outcome.standard_error.unwrap(), error, 1e-9);
            assert_relative(mean.standard_error, error, 1e-9);
        }
    }
}

/// As the documentation has it, and not with the number of samples.
#[test]
fn memory() {
    let (p, y) = draw(Model::M1, N, 10, &mut rng(8));
    let empty = ClassBinAccumulator::new(15, 10).unwrap();
    let class_bins = [0, N].map(|n| having(&empty, &p[..n], &y[..n]).bytes());
    assert_eq!(class_bins[0], class_bins[1]);
    assert!((13_000..14_000).contains(&class_bins[0]), "{class_bins:?}");
    let empty = ScoreAccumulator::new(LogScore, 10);
    for n in [50, N] {
        let score = having(&empty, &p[..n], &y[..n]).bytes();
        assert!((100..400).contains(&score), "{score}");
    }
    let empty = BlockSkceAccumulator::new(fixed(Kernel::exponential()), 25, 10).unwrap();
    for n in [49, N] {
        let mut skce = empty.clone();
        for k in 0..n {
            skce.update_rows(&rows(&p[k..=k], &y[k..=k])).unwrap();
        }
        assert!(skce.bytes() < 5_000, "{}", skce.bytes());
    }
    // 24 samples wait, whatever the size of the update
    assert!(having(&empty, &p[..499], &y[..499]).bytes() < 5_000);
}

#[test]
fn what_has_no_estimate() {
    let (p, y) = (
        [[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]].map(Vec::from),
        [0, 1, 1],
    );
    let none = "an estimate needs at least 1 sample, got 0";
    let empty = evaluation(2, 2);
    let skce = empty.skce().unwrap();
    for message in [
        empty.brier().mean().unwrap_err(),
        empty.top_label().ece().unwrap_err(),
        empty.top_label().mce().unwrap_err(),
        empty.top_label().frequency().unwrap_err(),
        empty.class_wise().cwce().unwrap_err(),
        skce.mean().unwrap_err(),
    ] {
        assert_eq!(message.to_string(), none);
    }
    let few = having(skce, &p[..1], &y[..1]);
    refuses(few.mean());
    refuses(few.outcome());
    let equal = having(
        skce,
        &[const { [0.5, 0.5] }; 4].map(Vec::from),
        &[0, 0, 1, 1],
    );
    // δᵀδ' = ½ at distance 0
    let (blocks, value) = (2, 0.5);
    let expected = Error::ZeroVariance { blocks, value };
    assert_eq!(
        equal.outcome().unwrap_err().to_string(),
        expected.to_string()
    );
    let all = having(&empty, &p, &y);
    refuses(all.log().mean());
    assert_eq!((all.log().infinite(), all.log().samples()), (1, 3));
    let brier = all.brier().mean().unwrap();
    assert_relative(brier.estimate, 1.0, 1e-15); // (½ + ½ + 2)/3
    let orders = all.top_label().power(TceForm::PlugIn { order: 0.5 });
    ends(&orders.unwrap_err(), "expected a number of at least 1");
    let squares = all.top_label().power(TceForm::Unbiased).unwrap_err();
    contains(&squares, "the variance within them");
}
