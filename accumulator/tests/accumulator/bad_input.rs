//! What is refused, and that nothing is taken then.

use burn_calibration::{distribution::Categorical, kernel::Distance};

use super::*;

#[test]
fn rows_that_are_not_predictions() {
    let rows = |p: &[f64], y: &[i64]| refuses(Rows::from_probabilities(p.to_vec(), 2, y));
    rows(&[0.5, 0.5, 0.5, f64::NAN], &[0, 1]);
    rows(&[0.5, 0.5, -0.5, 1.5], &[0, 1]);
    rows(&[0.5, 0.25], &[0]);
    rows(&[0.5, 0.5, 0.5, 0.5], &[0, 2]);
    rows(&[0.5, 0.5, 0.5, 0.5], &[0, -1]);
    rows(&[0.5, 0.5], &[0, 1]);
    rows(&[0.5, 0.5, 0.5], &[0]);
    refuses(Rows::from_logits(vec![0.0, f64::INFINITY], 2, &[0]));
    refuses(Rows::from_logits(vec![0.0], 1, &[0]));
    let predictions = Categorical::from_probabilities(tensor(&[vec![0.5, 0.5]])).unwrap();
    refuses(Rows::new(&predictions, &labels(&[2])));
}

#[test]
fn refused_rows_leave_nothing() {
    let p = random_probabilities(5, 3, &mut rng(1));
    let y = [0, 1, 2, 0, 1];
    each_kind!(3, |empty| {
        let mut taken = having(&empty, &p, &y);
        let before = text(&taken);
        let other = categorical(&[vec![0.5, 0.5]]);
        refuses(taken.update(&other, &labels(&[0])));
        refuses(taken.update(&categorical(&p), &labels(&[0, 1, 2, 3, 0])));
        assert_eq!(text(&taken), before);
        assert_eq!((taken.samples(), taken.observations().classes), (5, 3));
    });
}

#[test]
fn configurations_that_cannot_be() {
    let class = BinAccumulator::new(Event::Class(3), 5, 3);
    refuses(class);
    refuses(BinAccumulator::top_label(0, 3));
    refuses(ClassBinAccumulator::new(0, 3));
    refuses(Evaluation::new(0, 3));
    refuses(ClassBinAccumulator::new(5, 1));
    refuses(BlockSkceAccumulator::new(Kernel::exponential(), 2, 3));
    let fixed = fixed(Kernel::exponential());
    refuses(BlockSkceAccumulator::new(fixed, 2, 1));
    refuses(BlockSkceAccumulator::new(fixed, 1, 3));
    let zero = fixed.with_bandwidth(Bandwidth::Fixed(0.0));
    refuses(BlockSkceAccumulator::linear(zero, 3));
    let steep = Kernel::generalised_exponential(3.0).with_bandwidth(Bandwidth::Fixed(1.0));
    refuses(BlockSkceAccumulator::linear(steep, 3));
}

/// Each difference is named, and nothing is merged.
#[test]
fn accumulators_that_are_not_alike() {
    fn check<A: Accumulator>(one: A, other: A) {
        let p = random_probabilities(4, one.observations().classes, &mut rng(2));
        let mut one = having(&one, &p, &[0, 1, 0, 1]);
        let before = text(&one);
        refuses(one.merge(&other));
        assert_eq!(text(&one), before);
    }
    let [three, two] = [3, 2].map(|classes| ScoreAccumulator::new(LogScore, classes));
    check(three, two);
    let bins = |event, bins, classes| BinAccumulator::new(event, bins, classes).unwrap();
    check(bins(Event::Class(1), 5, 3), bins(Event::TopLabel, 5, 3));
    check(bins(Event::TopLabel, 5, 3), bins(Event::TopLabel, 5, 2));
    check(bins(Event::TopLabel, 5, 3), bins(Event::TopLabel, 6, 3));
    let class_wise = |bins, classes| ClassBinAccumulator::new(bins, classes).unwrap();
    check(class_wise(5, 3), class_wise(6, 3));
    check(class_wise(5, 3), class_wise(5, 2));
    let skce = |kernel, size, classes| BlockSkceAccumulator::new(kernel, size, classes).unwrap();
    let kernel = fixed(Kernel::exponential());
    check(skce(kernel, 2, 3), skce(kernel, 2, 2));
    check(skce(kernel, 2, 3), skce(kernel, 4, 3));
    for other in [
        kernel.with_distance(Distance::L1),
        kernel.with_bandwidth(Bandwidth::Fixed(BANDWIDTH.next_up())),
        fixed(Kernel::gaussian().with_distance(kernel.distance)),
    ] {
        check(skce(kernel, 2, 3), skce(other, 2, 3));
    }
    let plain = Evaluation::new(7, 3).unwrap();
    check(evaluation(3, 2), plain);
    check(evaluation(3, 2), evaluation(3, 3));
}
