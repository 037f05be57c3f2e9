//! Lenses, and the SKCE of two samples through each of them by hand.

use proptest::prelude::*;

use crate::prelude::*;

fn skce((predictions, labels): (Categorical, Tensor<1, Int>)) -> [f64; 2] {
    let skces = [
        Skce::unbiased(exponential(1.0)),
        Skce::biased(exponential(1.0)),
    ];
    skces.map(|skce| skce.on(&predictions, &labels))
}

/// Two predictions over four classes, in eighths: (4, 2, 1, 1) with label 1, (1, 1, 2, 4) with
/// label 3.
fn two() -> (Categorical, Tensor<1, Int>) {
    let eighths = [[4.0, 2.0, 1.0, 1.0], [1.0, 1.0, 2.0, 4.0]];
    let rows: Vec<Vec<f64>> = mapped(&eighths.map(Vec::from), |p| p / 8.0);
    (categorical(&rows), labels(&[1, 3]))
}

/// `h_12 = e^{−d} δ₁·δ₂`, and the biased estimate `(‖δ₁‖² + ‖δ₂‖² + 2 h_12)/4`, for residuals in
/// eighths at a distance of `d` eighths.
fn expected(distance: f64, first: &[f64], second: &[f64]) -> [f64; 2] {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / 64.0;
    let h = (-distance / 8.0).exp() * dot(first, second);
    [h, (dot(first, first) + dot(second, second) + 2.0 * h) / 4.0]
}

fn check(lens: (Categorical, Tensor<1, Int>), distance: f64, [first, second]: [&[f64]; 2]) {
    all_relative(skce(lens), expected(distance, first, second), 1e-14);
}

#[test]
fn logits_become_probabilities() {
    let logits = [vec![1.0, 2.0, 3.0], vec![-1e4, 0.0, 1e4]];
    let predictions = Categorical::from_logits(tensor(&logits)).unwrap();
    let expected: Vec<f64> = logits.iter().flat_map(|row| softmax(row)).collect();
    all_near(vector(predictions.probabilities()), &expected, 1e-15);
    assert_eq!(predictions.probabilities().dtype(), DType::F64);
    assert_eq!(vector(predictions.log_probabilities())[3], -2e4);
}

#[test]
fn residuals_by_hand() {
    let p = tensor(&[[0.25, 0.75], [0.5, 0.5]]);
    let values = vector(residuals(p, labels(&[1, 0])));
    assert_eq!(values, [-0.25, 0.25, 0.5, -0.5]);
}

#[test]
fn two_samples_through_every_lens() {
    let (p, y) = two();
    // the whole prediction: 3 + 1 + 1 + 3 eighths apart in L1, half of that in total variation
    let residuals: [&[f64]; 2] = [&[-4.0, 6.0, -1.0, -1.0], &[-1.0, -1.0, -2.0, 4.0]];
    check((p.clone(), y.clone()), 4.0, residuals);
    // top label: confidences ½, ½, wrong and right
    let lens = p.top_label(&y).unwrap();
    check(lens, 0.0, [&[4.0, -4.0], &[-4.0, 4.0]]);
    // class 1 against the rest: 2/8 and 1/8, it occurs in the first
    let lens = p.class_wise(1, &y).unwrap();
    check(lens, 1.0, [&[-6.0, 6.0], &[1.0, -1.0]]);
    // top 2: (4, 2 | 2) with rank 1, (4, 2 | 2) with rank 0
    let lens = p.top_k(2, &y).unwrap();
    check(lens, 0.0, [&[-4.0, 6.0, -2.0], &[4.0, -2.0, -2.0]]);
    // groups {0, 3} and {1, 2}: (5, 3) with group 1, (5, 3) with group 0
    let lens = p.grouped(&[[0, 3], [1, 2]], &y).unwrap();
    check(lens, 0.0, [&[-5.0, 5.0], &[3.0, -3.0]]);
    // groups {2, 1} and {0} and {3}: (3, 4, 1) with group 0, (3, 1, 4) with group 2
    let lens = p.grouped(&[vec![2, 1], vec![0], vec![3]], &y).unwrap();
    check(lens, 3.0, [&[5.0, -4.0, -1.0], &[-3.0, -1.0, 4.0]]);
}

#[test]
fn lenses_by_hand() {
    let (p, y) = two();
    let (ranked, ranks) = p.top_k(2, &y).unwrap();
    let top = vector(ranked.probabilities());
    assert_eq!(top, [0.5, 0.25, 0.25, 0.5, 0.25, 0.25]);
    assert_eq!(classes_of(&ranks), [1, 0]);
    let (ranked, ranks) = p.top_k(1, &labels(&[3, 0])).unwrap();
    assert_eq!(vector(ranked.probabilities()), [0.5; 4]);
    assert_eq!(classes_of(&ranks), [1, 1]); // neither is the top
    // ties keep the order of the classes
    let (_, ranks) = p.top_k(3, &labels(&[2, 0])).unwrap();
    assert_eq!(classes_of(&ranks), [2, 2]);
    let (_, ranks) = p.top_k(3, &labels(&[3, 1])).unwrap();
    assert_eq!(classes_of(&ranks), [3, 3]);
    let (grouped, groups) = p.grouped(&[vec![3], vec![0, 1, 2]], &y).unwrap();
    assert_eq!(vector(grouped.probabilities()), [0.125, 0.875, 0.5, 0.5]);
    assert_eq!(classes_of(&groups), [1, 0]);
}

#[test]
fn lenses_keep_the_dtype() {
    let (p, y) = two();
    for dtype in [DType::F32, DType::F64] {
        let p = Categorical::from_probabilities(p.probabilities().cast(dtype)).unwrap();
        let lenses = [
            p.top_label(&y),
            p.class_wise(0, &y),
            p.top_k(2, &y),
            p.grouped(&[[0, 1], [2, 3]], &y),
        ];
        for lens in lenses {
            let (predictions, labels) = lens.unwrap();
            assert_eq!(predictions.probabilities().dtype(), dtype);
            assert_eq!(labels.dtype(), y.dtype());
            // every estimator and test applies
            Skce::unbiased(Kernel::exponential()).on(&predictions, &labels);
            Ece::uniform(3).on(&predictions, &labels);
            let test = AsymptoticSkceTest::new(Kernel::exponential());
            let _ = test.seeded(&predictions, &labels, 0);
        }
    }
}

#[test]
fn bad_lenses() {
    let (p, y) = two();
    for k in [0, 4] {
        refuses(p.top_k(k, &y));
    }
    let grouped = |groups: &[Vec<usize>]| refuses(p.grouped(groups, &y));
    grouped(&[vec![0, 1], vec![2]]);
    grouped(&[vec![0, 1], vec![1, 2, 3]]);
    grouped(&[vec![0, 1], vec![2, 3, 4]]);
    grouped(&[vec![0, 1, 2, 3], vec![]]);
    grouped(&[vec![0, 1, 2, 3]]);
    let outside = labels(&[0, 4]);
    refuses(p.top_k(1, &outside));
    refuses(p.grouped(&[[0, 1], [2, 3]], &outside));
}

proptest! {
    #![proptest_config(cases(64))]

    /// The kernels see no names of classes: any permutation of them leaves the SKCE as it is; the
    /// lenses give valid predictions and labels.
    #[test]
    fn classes_are_only_names((rows, classes) in labelled(3..6, 2..13, &[]), scale in 1usize..5, shift in 0usize..5) {
        let m = rows[0].len();
        prop_assume!((1..=m).all(|d| d == 1 || m % d != 0 || scale % d != 0)); // c ↦ scale·c + shift is one-to-one
        let renamed = |c: usize| (scale * c + shift) % m;
        let permuted: Vec<Vec<f64>> = rows.iter().map(|row| {
            let mut permuted = vec![0.0; m];
            row.iter().enumerate().for_each(|(c, p)| permuted[renamed(c)] = *p);
            permuted
        }).collect();
        let renamed_classes: Vec<_> = classes.iter().map(|&c| renamed(c)).collect();
        let original = (categorical(&rows), labels(&classes));
        let other = (categorical(&permuted), labels(&renamed_classes));
        for (a, b) in skce(original.clone()).iter().zip(skce(other.clone())) {
            prop_assert!((a - b).abs() < 1e-13);
        }
        let groups: Vec<Vec<usize>> = vec![vec![0], (1..m).collect()];
        let renamed_groups: Vec<Vec<usize>> = groups.iter().map(|g| g.iter().map(|&c| renamed(c)).collect()).collect();
        let pairs = [
            (original.0.grouped(&groups, &original.1), other.0.grouped(&renamed_groups, &other.1)),
            (original.0.class_wise(1, &original.1), other.0.class_wise(renamed(1), &other.1)),
        ];
        for (a, b) in pairs {
            for (a, b) in skce(a.unwrap()).iter().zip(skce(b.unwrap())) {
                prop_assert!((a - b).abs() < 1e-13);
            }
        }
        // one class against the others is the class-wise lens, up to the order of its two classes
        let grouped = skce(original.0.grouped(&groups, &original.1).unwrap());
        let class_wise = skce(original.0.class_wise(0, &original.1).unwrap());
        for (a, b) in grouped.iter().zip(class_wise) {
            prop_assert!((a - b).abs() < 1e-13);
        }
        for k in 1..m {
            let (ranked, ranks) = original.0.top_k(k, &original.1).unwrap();
            let checked = Categorical::from_probabilities(ranked.probabilities()).unwrap();
            prop_assert!(Skce::biased(exponential(1.0)).on(&checked, &ranks) >= -1e-15);
        }
    }

    /// Widmann et al. 2019, Example I.1: the top-label lens doubles the MMCE, top-1 is the same lens.
    #[test]
    fn top_one_is_the_top_label((rows, classes) in labelled(3..6, 2..13, &[])) {
        let (p, y) = (categorical(&rows), labels(&classes));
        let top_one = skce(p.top_k(1, &y).unwrap());
        let top_label = skce(p.top_label(&y).unwrap());
        for (a, b) in top_one.iter().zip(top_label) {
            prop_assert!((a - b).abs() < 1e-13);
        }
        // total variation of (1 − r, r) is |r − r'|
        let mmce = Mmce { bandwidth: 1.0, ..Mmce::new(MmceForm::Unbiased) };
        prop_assert!((2.0 * mmce.on(&p, &y) - top_label[0]).abs() < 1e-13);
    }

    /// Grouping classes is the matrix `M = Σ_g 1_g 1_gᵀ`, where the kernel sees no distance.
    #[test]
    fn groups_are_a_kernel_matrix((rows, classes) in labelled(3..6, 2..13, &[])) {
        let (p, y) = (categorical(&rows), labels(&classes));
        let m = rows[0].len();
        let groups: Vec<Vec<usize>> = vec![vec![0, 2], (0..m).filter(|c| *c != 0 && *c != 2).collect()];
        let flat = exponential(1.0).with_distance(Distance::L1).with_bandwidth(Bandwidth::Fixed(1e12));
        let same = |a: usize, b: usize| groups.iter().any(|g| g.contains(&a) && g.contains(&b));
        let matrix: Vec<Vec<f64>> = (0..m).map(|a| (0..m).map(|b| f64::from(same(a, b))).collect()).collect();
        let by_matrix = Skce::unbiased(MatrixKernel::from_rows(flat, &matrix).unwrap()).on(&p, &y);
        let (p, y) = p.grouped(&groups, &y).unwrap();
        let by_lens = Skce::unbiased(flat).on(&p, &y);
        prop_assert!((by_matrix - by_lens).abs() < 1e-10);
    }
}
