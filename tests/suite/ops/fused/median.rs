//! Median bandwidths.

use super::*;

/// In training the fused and the composed median are those of the pairs within blocks.
#[test]
fn median_bandwidths_agree() {
    let rows = predictions(61, 4, 3.0, 8);
    let labels = random_labels(61, 4, &mut rng(9));
    for which in some_kernels() {
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
    for which in some_kernels() {
        for size in [2, 5] {
            let skce = Skce::block(kernel(which, Bandwidth::Median), size);
            agree(skce, &rows, &classes).unwrap();
        }
    }
}

/// Of 4,096 points the median is exact. Of more it is that of a subsample: within a hundredth of all pairs for
/// probabilities and for numbers with a heavy tail, the same in the fused and the composed computation, and the same
/// in each dtype.
#[test]
fn medians_of_many_points() {
    let mut rng = rng(31);
    let probabilities = random_probabilities(5000, 3, &mut rng);
    let heavy = random_rows(5000, 1, 1.0, &mut rng);
    let heavy: Vec<_> = heavy
        .iter()
        .map(|row| vec![row[0] / row[0].abs().sqrt()])
        .collect();
    for rows in [probabilities, heavy] {
        let middle_of_all = |rows: &[Vec<f64>]| {
            let pairs = (rows.len() * (rows.len() - 1) / 2) as u64;
            let ranks = [(pairs - 1) / 2, pairs / 2];
            let middle = distance_order_statistics(&tensor(rows), Distance::L1, &ranks);
            0.5 * (middle[0] + middle[1])
        };
        let found = median_distance(&tensor(&rows[..4096]), Distance::L1);
        assert_near(found, middle_of_all(&rows[..4096]), 1e-14);
        let found = median_distance(&tensor(&rows), Distance::L1);
        let error = found / middle_of_all(&rows) - 1.0;
        assert!(error != 0.0 && error.abs() < 1e-2, "{error}");
        let in_f32 = tensor_on(&rows, &device(), DType::F32);
        assert_near(median_distance(&in_f32, Distance::L1), found, 1e-6);
        let fused = median_of_blocks(tensor(&rows), Distance::L1, rows.len());
        assert_near(scalar(fused), found, 1e-14);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .unwrap();
        assert_eq!(
            pool.install(|| median_distance(&tensor(&rows), Distance::L1)),
            found
        );
    }
}

/// Within blocks as many whole ones count as have the pairs of 4,096 points, and 4,096 points of a block that is
/// larger: composed of tensor operations the same ones as in the fused pass.
#[test]
fn medians_of_many_blocks() {
    let rows = random_rows(6000, 1, 1.0, &mut rng(32));
    for (blocks, size) in [(2, 3000), (1, 4500)] {
        let points = &rows[..blocks * size];
        let fused = scalar(median_of_blocks(tensor(points), Distance::L1, size));
        // the Gram matrix of one pair of points at distance 1 has the bandwidth
        let blocks = tensor_on(points, &device(), DType::F32).reshape([blocks, size, 1]);
        let gram = Kernel::exponential()
            .with_distance(Distance::L1)
            .gram(blocks);
        let value = vector(gram.slice([0..1, 0..1, 1..2]))[0];
        let composed = (rows[0][0] - rows[1][0]).abs() / -value.ln();
        assert_near(composed, fused, 1e-4);
    }
}

/// The median of a batch with padding is that of its other samples, also within blocks.
#[test]
fn padding_does_not_enter_a_median() {
    let rows = random_rows(12, 3, 2.0, &mut rng(33));
    let classes = [0, 2, 1, 0, 1, 2, 1, 1, 0, 2, 0, 1];
    let kept: Vec<usize> = (0..12).filter(|&i| classes[i] != 2).collect();
    let left: Vec<_> = kept.iter().map(|&i| rows[i].clone()).collect();
    let labels_left: Vec<usize> = kept.iter().map(|&i| classes[i]).collect();
    let mut far = rows.clone();
    let padding = (0..12).filter(|&i| classes[i] == 2);
    padding.for_each(|i| far[i] = vec![90.0, -90.0, 0.0]);
    let kernel = Kernel::exponential().with_bandwidth(Bandwidth::Median);
    for loss in [
        SkceLoss::new(Skce::biased(kernel)),
        SkceLoss::new(Skce::unbiased(kernel)),
        SkceLoss::standardised(kernel),
    ] {
        let expected = scalar(loss.forward(tensor(&left), labels(&labels_left)));
        let padded = loss.with_pad_tokens(vec![2]);
        for rows in [&rows, &far] {
            let found = scalar(padded.forward(tensor(rows), labels(&classes)));
            assert_near(found, expected, 1e-12);
        }
    }
    let loss = SkceLoss::new(Skce::block(kernel, 4)).with_pad_tokens(vec![2]);
    let [a, b] = [&rows, &far].map(|rows| scalar(loss.forward(tensor(rows), labels(&classes))));
    assert_near(a, b, 1e-13);
}
