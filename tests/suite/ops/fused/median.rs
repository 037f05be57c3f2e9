//! Median bandwidths.

use super::*;

/// In training the fused and the composed median are those of the pairs within blocks.
#[test]
fn median_bandwidths_agree() {
    let rows = predictions(61, 4, 3.0, 8);
    let labels = random_labels(61, 4, &mut rng(9));
    for which in 0..KERNELS {
        for form in [
            SkceForm::Biased,
            SkceForm::Unbiased,
            SkceForm::Block(7),
            SkceForm::Block(8),
        ] {
            let skce = Skce::new(kernel(which, Bandwidth::Median), form);
            agree(skce, &rows, &labels).unwrap();
        }
    }
}

/// Many pairs, so that the median comes from a bracket: against sorting.
#[test]
fn median_of_many_pairs_is_exact() {
    let rows = predictions(700, 3, 3.0, 10);
    let points = tensor(&rows);
    let distances = sorted(pairs(700).map(|(i, j)| l1(&rows[i], &rows[j])));
    let found = median_distance(&points, Distance::L1);
    assert_near(found, crate::data::median(&distances), 1e-14);
    // most pairs coincide
    let constant = vec![vec![0.5, 0.5]; 700];
    assert_eq!(median_distance(&tensor(&constant), Distance::L1), 1.0);
}

/// Many small blocks: their median is selected without tiles.
#[test]
fn median_of_small_blocks_is_exact() {
    let rows = predictions(200, 3, 3.0, 15);
    let classes = random_labels(200, 3, &mut rng(16));
    for which in 0..KERNELS {
        for size in [2, 5] {
            let skce = Skce::block(kernel(which, Bandwidth::Median), size);
            agree(skce, &rows, &classes).unwrap();
        }
    }
}
