//! What is refused, and that nothing is taken then.

use burn_calibration::{
    distribution::Categorical,
    error::{Error, Result},
    kernel::Distance,
};

use super::*;

fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn rows_that_are_not_predictions() {
    let rows = |p: &[f64], y: &[i64]| message(Rows::from_probabilities(p.to_vec(), 2, y));
    assert_eq!(
        rows(&[0.5, 0.5, 0.5, f64::NAN], &[0, 1]),
        "row 1, class 1: the probability is NaN, expected a finite number"
    );
    assert_eq!(
        rows(&[0.5, 0.5, -0.5, 1.5], &[0, 1]),
        "row 1, class 0: the probability is -0.5, expected a number in [0, 1]"
    );
    assert_eq!(
        rows(&[0.5, 0.25], &[0]),
        "row 0: the probabilities sum to 0.75, expected 1 within 1e-5"
    );
    assert_eq!(
        rows(&[0.5, 0.5, 0.5, 0.5], &[0, 2]),
        "row 1: the label is 2, expected a class in 0..2"
    );
    assert_eq!(
        rows(&[0.5, 0.5, 0.5, 0.5], &[0, -1]),
        "row 1: the label is -1, expected a class in 0..2"
    );
    assert_eq!(
        rows(&[0.5, 0.5], &[0, 1]),
        "1 predictions but 2 labels, expected the same number of both"
    );
    assert_eq!(
        rows(&[0.5, 0.5, 0.5], &[0]),
        "the number of predicted numbers is 3, expected a multiple of the number of classes"
    );
    assert_eq!(
        message(Rows::from_logits(vec![0.0, f64::INFINITY], 2, &[0])),
        "row 0, class 1: the logit is inf, expected a finite number"
    );
    assert_eq!(
        message(Rows::from_logits(vec![0.0], 1, &[0])),
        "the predictions have 1 columns, expected at least 2 classes; of two classes with log-odds z the logits are (0, z)"
    );
    let predictions = Categorical::from_probabilities(tensor(&[vec![0.5, 0.5]])).unwrap();
    assert_eq!(
        message(Rows::new(&predictions, &labels(&[2]))),
        "row 0: the label is 2, expected a class in 0..2"
    );
}

#[test]
fn refused_rows_leave_nothing() {
    let p = random_probabilities(5, 3, &mut rng(1));
    let y = [0, 1, 2, 0, 1];
    each_kind!(3, |empty| {
        let mut taken = having(&empty, &p, &y);
        let before = text(&taken);
        let other = categorical(&[vec![0.5, 0.5]]);
        let expected = Error::Width {
            what: "the predictions",
            columns: "classes",
            got: 2,
            expected: 3,
        };
        assert_eq!(taken.update(&other, &labels(&[0])).unwrap_err(), expected);
        let outside = taken
            .update(&categorical(&p), &labels(&[0, 1, 2, 3, 0]))
            .unwrap_err();
        assert!(outside.to_string().starts_with("row 3: the label is 3"));
        assert_eq!(text(&taken), before);
        assert_eq!((taken.samples(), taken.classes()), (5, 3));
    });
}

#[test]
fn configurations_that_cannot_be() {
    let class = BinAccumulator::new(Event::Class(3), 5, 3);
    assert_eq!(
        message(class),
        "the class of the event is 3, expected less than the number of classes"
    );
    let no_bins = "the number of bins is 0, expected at least 1";
    assert_eq!(message(BinAccumulator::top_label(0, 3)), no_bins);
    assert_eq!(message(ClassBinAccumulator::new(0, 3)), no_bins);
    assert_eq!(message(Evaluation::new(0, 3)), no_bins);
    let one = "the predictions have 1 columns, expected at least 2 classes; of two classes with log-odds z the logits are (0, z)";
    assert_eq!(message(ClassBinAccumulator::new(5, 1)), one);
    assert_eq!(
        message(BlockSkceAccumulator::new(Kernel::exponential(), 2, 3)),
        "the median bandwidth is not known from pieces of the predictions, expected a fixed one, such as \
         the median of some thousand predictions"
    );
    let fixed = fixed(Kernel::exponential());
    assert_eq!(message(BlockSkceAccumulator::new(fixed, 2, 1)), one);
    assert_eq!(
        message(BlockSkceAccumulator::new(fixed, 1, 3)),
        "the number of samples of a block is 1, expected at least 2"
    );
    let zero = fixed.with_bandwidth(Bandwidth::Fixed(0.0));
    assert_eq!(
        message(BlockSkceAccumulator::linear(zero, 3)),
        "the kernel bandwidth is 0, expected a positive finite number"
    );
    let steep = Kernel::generalised_exponential(3.0).with_bandwidth(Bandwidth::Fixed(1.0));
    assert!(message(BlockSkceAccumulator::linear(steep, 3)).contains("the exponent"));
}

/// Each difference is named, and nothing is merged.
#[test]
fn accumulators_that_are_not_alike() {
    fn check<A: Accumulator>(one: A, other: A, expected: &str) {
        let p = random_probabilities(4, one.classes(), &mut rng(2));
        let mut one = having(&one, &p, &[0, 1, 0, 1]);
        let before = text(&one);
        assert_eq!(
            one.merge(&other).unwrap_err().to_string(),
            format!("cannot merge: {expected}")
        );
        assert_eq!(text(&one), before);
    }
    let classes = "the number of classes is 3 in one and 2 in the other";
    check(
        ScoreAccumulator::new(LogScore, 3),
        ScoreAccumulator::new(LogScore, 2),
        classes,
    );
    let bins = |event, bins, classes| BinAccumulator::new(event, bins, classes).unwrap();
    check(
        bins(Event::Class(1), 5, 3),
        bins(Event::TopLabel, 5, 3),
        "the event is Class(1) in one and TopLabel in the other",
    );
    check(
        bins(Event::TopLabel, 5, 3),
        bins(Event::TopLabel, 5, 2),
        classes,
    );
    let number = "the number of bins is 5 in one and 6 in the other";
    check(
        bins(Event::TopLabel, 5, 3),
        bins(Event::TopLabel, 6, 3),
        number,
    );
    let class_wise = |bins, classes| ClassBinAccumulator::new(bins, classes).unwrap();
    check(class_wise(5, 3), class_wise(6, 3), number);
    check(class_wise(5, 3), class_wise(5, 2), classes);
    let skce = |kernel, size, classes| BlockSkceAccumulator::new(kernel, size, classes).unwrap();
    let kernel = fixed(Kernel::exponential());
    check(skce(kernel, 2, 3), skce(kernel, 2, 2), classes);
    check(
        skce(kernel, 2, 3),
        skce(kernel, 4, 3),
        "the block size is 2 in one and 4 in the other",
    );
    for other in [
        kernel.with_distance(Distance::L1),
        kernel.with_bandwidth(Bandwidth::Fixed(BANDWIDTH.next_up())),
        fixed(Kernel::gaussian().with_distance(kernel.distance)),
    ] {
        let expected = format!("the kernel is {kernel:?} in one and {other:?} in the other");
        check(skce(kernel, 2, 3), skce(other, 2, 3), &expected);
    }
    let plain = Evaluation::new(7, 3).unwrap();
    let expected = "the presence of the block SKCE is true in one and false in the other";
    check(evaluation(3, 2), plain, expected);
    check(
        evaluation(3, 2),
        evaluation(3, 3),
        "the block size is 2 in one and 3 in the other",
    );
}
