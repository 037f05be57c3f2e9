//! Criteria behind a lens.

use crate::prelude::*;

fn penalty() -> SkceLoss {
    let kernel = Kernel::gaussian().with_bandwidth(Bandwidth::Fixed(0.3));
    SkceLoss::new(Skce::unbiased(kernel))
}

/// The criterion of what the lens of data shows.
#[test]
fn values_are_those_of_the_lens_on_data() {
    let mut rng = rng(1);
    let rows = random_probabilities(15, 4, &mut rng);
    let (predictions, classes) = (categorical(&rows), labels(&random_labels(15, 4, &mut rng)));
    let of = |lens| scalar(LensLoss::new(lens, penalty()).forward(&predictions, &classes));
    let expected = |(predictions, labels)| scalar(penalty().forward(&predictions, &labels));
    let class_wise = |class| expected(predictions.class_wise(class, &classes).unwrap());

    let top_label = expected(predictions.top_label(&classes).unwrap());
    assert!((of(Lens::TopLabel) - top_label).abs() < 1e-15);
    for class in 0..4 {
        assert!((of(Lens::Class(class)) - class_wise(class)).abs() < 1e-15);
    }
    let mean = (0..4).map(class_wise).sum::<f64>() / 4.0;
    assert!((of(Lens::ClassWise) - mean).abs() < 1e-15);
    for k in 1..4 {
        let top = expected(predictions.top_k(k, &classes).unwrap());
        assert!((of(Lens::TopK(k)) - top).abs() < 1e-14, "top {k}");
    }
}

/// The order of ties is that of the classes.
#[test]
fn ties() {
    let rows = [[0.25; 4], [0.1, 0.4, 0.4, 0.1], [0.0, 0.0, 0.5, 0.5]];
    for classes in [[0, 1, 3], [3, 2, 0], [1, 0, 2]] {
        let (predictions, classes) = (categorical(&rows), labels(&classes));
        for k in 1..4 {
            let (top, ranks) = predictions.top_k(k, &classes).unwrap();
            let found = LensLoss::new(Lens::TopK(k), penalty()).forward(&predictions, &classes);
            let expected = penalty().forward(&top, &ranks);
            assert!((scalar(found) - scalar(expected)).abs() < 1e-15, "top {k}");
        }
    }
}

#[test]
fn gradients() {
    let mut rng = rng(2);
    let logits = random_rows(8, 4, 2.0, &mut rng);
    let classes = labels(&random_labels(8, 4, &mut rng));
    let lenses = [
        Lens::TopLabel,
        Lens::Class(2),
        Lens::ClassWise,
        Lens::TopK(2),
        Lens::TopK(3),
    ];
    for lens in lenses {
        let loss = LensLoss::new(lens, penalty());
        check_gradient(&logits, 1e-5, |x| loss.forward(x, classes.clone()));
        // saturated, and all the same
        for rows in [vec![vec![900.0, 0.0, 0.0, 0.0]; 8], vec![vec![0.0; 4]; 8]] {
            all_finite(gradient(&rows, |x| loss.forward(x, classes.clone())));
        }
    }
}

#[test]
fn classes_and_ranks_that_do_not_exist_panic() {
    for lens in [Lens::Class(3), Lens::TopK(3)] {
        let loss = LensLoss::new(lens, penalty());
        panics(|| loss.forward(tensor(&[[0.0; 3], [0.0; 3]]), labels(&[0, 1])));
    }
}
