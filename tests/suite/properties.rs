use proptest::prelude::*;

use crate::prelude::*;

fn any_kernel() -> impl Strategy<Value = Kernel> {
    proptest::sample::select(kernels())
}

fn estimate(skce: Skce, rows: &[Vec<f64>], classes: &[usize]) -> f64 {
    skce.on(&categorical(rows), &labels(classes))
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn quadratic_estimators_ignore_the_order((rows, classes) in labelled(2..6, 2..13, &[]), kernel in any_kernel(), shift in 1usize..9) {
        let rotate = |k: usize| (k + shift) % rows.len();
        let rows_moved: Vec<_> = (0..rows.len()).map(|k| rows[rotate(k)].clone()).collect();
        let classes_moved: Vec<_> = (0..rows.len()).map(|k| classes[rotate(k)]).collect();
        for skce in [Skce::biased(kernel), Skce::unbiased(kernel)] {
            let difference = estimate(skce, &rows, &classes) - estimate(skce, &rows_moved, &classes_moved);
            prop_assert!(difference.abs() < 1e-13);
        }
    }

    #[test]
    fn classes_have_no_order((rows, classes) in labelled(2..6, 2..13, &[]), kernel in any_kernel()) {
        let m = rows[0].len();
        let reversed: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().rev().copied().collect()).collect();
        let classes_reversed: Vec<_> = classes.iter().map(|&y| m - 1 - y).collect();
        for skce in [Skce::biased(kernel), Skce::unbiased(kernel), Skce::linear(kernel)] {
            let difference = estimate(skce, &rows, &classes) - estimate(skce, &reversed, &classes_reversed);
            prop_assert!(difference.abs() < 1e-13);
        }
    }

    #[test]
    fn unbiased_is_biased_without_its_diagonal((rows, classes) in labelled(2..6, 2..13, &[]), kernel in any_kernel()) {
        let n = rows.len() as f64;
        let diagonal: f64 = rows.iter().zip(&classes).map(|(p, &y)| {
            p.iter().map(|p| p * p).sum::<f64>() + 1.0 - 2.0 * p[y]
        }).sum();
        let biased = estimate(Skce::biased(kernel), &rows, &classes);
        let unbiased = estimate(Skce::unbiased(kernel), &rows, &classes);
        prop_assert!((unbiased - (n * n * biased - diagonal) / (n * (n - 1.0))).abs() < 1e-13);
        let block = estimate(Skce::block(kernel, rows.len()), &rows, &classes);
        prop_assert!((unbiased - block).abs() < 1e-13);
    }

    #[test]
    fn the_biased_estimator_is_not_negative((rows, classes) in labelled(2..6, 2..13, &[])) {
        for kernel in [Kernel::exponential(), Kernel::gaussian()] {
            prop_assert!(estimate(Skce::biased(kernel), &rows, &classes) > -1e-15);
        }
    }

    #[test]
    fn scores_stay_in_their_range((rows, classes) in labelled(2..6, 2..13, &[])) {
        let bound = |score: &dyn Score<Categorical>| score.upper_bound(&categorical(&rows), &labels(&classes)).unwrap().estimate;
        prop_assert!((0.0..=2.0).contains(&bound(&Brier)));
        prop_assert!((0.0..=1.0).contains(&bound(&Spherical)));
        prop_assert!(bound(&LogScore) >= 0.0);
    }
}
