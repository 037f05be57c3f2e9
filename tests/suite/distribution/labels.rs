//! Labels that are drawn from predictions.

use crate::prelude::*;

#[test]
fn frequencies_are_the_probabilities() {
    let rows = Tensor::from_floats([[0.0, 0.2, 0.0, 0.8, 0.0]], &device());
    let sampler = Categorical::from_probabilities(rows).unwrap().sampler();
    let mut rng = rng(1);
    let mut counts = [0; 5];
    for _ in 0..10_000 {
        counts[sampler(&[0], &mut rng)[0]] += 1;
    }
    assert_eq!([counts[0], counts[2], counts[4]], [0; 3]);
    // 4 standard deviations: √(10⁴ · .2 · .8) = 40
    assert!((1840..=2160).contains(&counts[1]), "{counts:?}");
}

/// Rare and frequent labels besides the most likely one, a class of probability 0, and a certain one.
#[test]
fn frequencies_in_many_sets() {
    let p = [
        [0.0, 0.2, 0.0, 0.8],
        [0.4, 0.1, 0.3, 0.2],
        [0.0, 0.0, 1.0, 0.0],
        [0.99, 0.002, 0.003, 0.005],
    ];
    let predictions = Categorical::from_probabilities(Tensor::from_floats(p, &device())).unwrap();
    let redrawer = predictions.redrawer();
    let mut rng = rng(1);
    let (sets, batches) = (1000, 20);
    let mut counts = [[0usize; 4]; 4];
    for _ in 0..batches {
        let drawn = (redrawer.draw)(sets, &mut rng);
        assert_eq!(drawn.len(), sets);
        for set in 0..sets {
            for (sample, class) in drawn.set(set).into_iter().enumerate() {
                counts[sample][class] += 1;
            }
        }
    }
    for (counts, p) in counts.iter().zip(p) {
        for (&count, p) in counts.iter().zip(p) {
            assert_binomial(count, sets * batches, (p, 4.0), p);
        }
    }
}
