use proptest::prelude::*;

use super::estimators;
use crate::prelude::*;

/// So many bins that only equal predictions share one: the plug-in estimators are then exact for the
/// empirical distribution.
const EXACT: usize = 1 << 40;

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn estimates_are_in_the_unit_interval_whatever_the_order((rows, classes) in labelled(2..6, 1..31, &[40.0]), shift in 1usize..9) {
        let n = rows.len();
        let rotated: Vec<_> = (0..n).map(|k| rows[(k + shift) % n].clone()).collect();
        let rotated_classes: Vec<_> = (0..n).map(|k| classes[(k + shift) % n]).collect();
        for (name, estimator) in estimators() {
            let estimate = estimator(&categorical(&rows), &labels(&classes)).unwrap();
            prop_assert!((0.0..=1.0 + 1e-12).contains(&estimate), "{name}: {estimate}");
            let moved = estimator(&categorical(&rotated), &labels(&rotated_classes)).unwrap();
            prop_assert!((estimate - moved).abs() < 1e-7, "{name}: {estimate}, rotated {moved}");
        }
    }

    #[test]
    fn partitions_hold_each_row_once((rows, _) in labelled(2..6, 1..31, &[40.0]), bins in 1usize..6) {
        let points = tensor(&rows);
        let column = points.clone().slice([0..rows.len(), 0..1]);
        let minimum = bins.min(rows.len());
        let partitions = [
            Binning::Uniform { bins }.partition(&points),
            Binning::EqualMass { bins }.partition(&column),
            Binning::MedianVariance { minimum }.partition(&points),
        ];
        for partition in &partitions {
            let partition = partition.as_ref().unwrap();
            let mut members = partition.concat();
            members.sort();
            prop_assert_eq!(members, (0..rows.len()).collect::<Vec<_>>());
            prop_assert!(partition.iter().all(|bin| !bin.is_empty()));
        }
        prop_assert!(partitions[1].as_ref().unwrap().len() <= bins);
        prop_assert!(partitions[2].as_ref().unwrap().iter().all(|bin| bin.len() >= minimum));
    }

    /// Gruber and Buettner 2022, Theorem 3.1, for the empirical distribution, but for `CWCE₂ ≥ TCE₂`:
    /// `by_hand` has a counterexample.
    #[test]
    fn calibration_errors_of_whole_predictions_are_the_largest((rows, classes) in labelled(2..6, 1..31, &[40.0])) {
        let (p, y) = (categorical(&rows), labels(&classes));
        let exact = Binning::Uniform { bins: EXACT };
        let brier = Brier.upper_bound(&p, &y).unwrap().estimate;
        let full = Ece::new(Aspect::Vector, exact).with_discrepancy(Discrepancy::SquaredEuclidean);
        let class_wise = Cwce::new(2.0).with_binning(exact).with_weight(ClassWeight::Sum);
        let tce = |order| Tce::default().with_binning(exact).with_form(TceForm::PlugIn { order });
        let top: Vec<f64> = [2.0, 1.0].map(|order| tce(order).on(&p, &y)).into();
        let whole = full.on(&p, &y).sqrt();
        let class_wise = class_wise.on(&p, &y);
        prop_assert!(whole >= class_wise - 1e-12, "{whole}, class-wise {class_wise}");
        let chain = [brier.sqrt(), whole, top[0], top[1]];
        for pair in chain.windows(2) {
            prop_assert!(pair[0] >= pair[1] - 1e-12, "{chain:?}");
        }
        let below = [
            KolmogorovSmirnov::default().on(&p, &y),
            Ece::default().on(&p, &y),
            Ece::equal_mass(3).on(&p, &y),
            Mmce::default().on(&p, &y).max(0.0).sqrt(),
            SmoothEce::default().at_bandwidth(0.02, &p, &y).unwrap(),
        ];
        prop_assert!(below.iter().all(|&error| error <= top[1] + 1e-7), "{below:?} above {}", top[1]);
    }

    #[test]
    fn estimators_agree_where_they_coincide((rows, classes) in labelled(2..6, 1..31, &[40.0]), bins in 1usize..9) {
        let (p, y) = (categorical(&rows), labels(&classes));
        let close = |a: f64, b: f64| (a - b).abs() < 1e-13;
        let value = |ece: Ece| ece.on(&p, &y);
        for ece in [Ece::top_label(bins), Ece::equal_mass(bins), Ece::uniform(bins), Ece::median_variance(1)] {
            prop_assert!(close(value(ece.with_discrepancy(Discrepancy::L1)), 2.0 * value(ece)));
            prop_assert!(Mce::new(ece).on(&p, &y) >= value(ece) - 1e-15);
        }
        let binning = Binning::Uniform { bins };
        let tce = |order| Tce::default().with_binning(binning).with_form(TceForm::PlugIn { order });
        prop_assert!(close(value(Ece::top_label(bins)), tce(1.0).on(&p, &y)));
        let squared = Ece::top_label(bins).with_discrepancy(Discrepancy::SquaredEuclidean);
        prop_assert!(close(value(squared), 2.0 * tce(2.0).power(&p, &y).unwrap()));
        // smoothing more never gives more
        let smooth = |sigma| SmoothEce::default().at_bandwidth(sigma, &p, &y).unwrap();
        prop_assert!(smooth(0.05) >= smooth(0.1) - 1e-9 && smooth(0.1) >= smooth(0.4) - 1e-9);
    }
}
