//! The errors of order 1, 2 and infinity in bins of equal width and mass.

use crate::prelude::*;

/// Forty predictions of three classes.
fn forty() -> (Categorical, Tensor<1, Int>) {
    let row = |i: usize| {
        let x = i as f64;
        let logits = [
            (1.7 * x + 0.3).sin(),
            1.3 * (0.9 * x).cos(),
            0.8 * (2.3 * x + 1.0).sin(),
        ];
        softmax(&logits.map(|z| 1.5 * z))
    };
    let rows: Vec<_> = (0..40).map(row).collect();
    let classes: Vec<_> = (0..40).map(|i| (i * i + i / 3) % 3).collect();
    (categorical(&rows), labels(&classes))
}

fn error(event: Event, binning: Binning, order: f64) -> Tce {
    let tce = Tce::default().with_event(event).with_binning(binning);
    tce.with_form(TceForm::PlugIn { order })
}

/// By the definitions in NumPy: `Σ_b (n_b/n) |gap|` (Guo et al. 2017), `√(Σ_b (n_b/n) gap²)` (Kumar et al. 2019)
/// and `max_b |gap|` (Naeini et al. 2015). In bins of equal width torchmetrics 1.9.0 (`_ce_compute` with the norms
/// l1, l2 and max, its own code with NumPy in the place of torch) and netcal 1.4.0 (`ECE` and `MCE`) give the same
/// numbers. In five bins of equal mass netcal does, too; in fifteen its bins end at interpolated quantiles.
#[test]
fn numbers_of_other_packages() {
    let binnings = [
        Binning::Uniform { bins: 5 },
        Binning::Uniform { bins: 15 },
        Binning::EqualMass { bins: 5 },
        Binning::EqualMass { bins: 15 },
    ];
    let expected = [
        [0.31193795835555344, 0.37630326965784083, 0.6044866367771499],
        [0.3119379583555534, 0.39060225410230215, 0.6392515106191234],
        [0.3119379583555534, 0.37056469336557984, 0.6044866367771499],
        [0.3775595609599283, 0.44469313257720844, 0.8598391241798407],
        [0.2622840488313244, 0.28005814035770177, 0.4511245984154799],
        [0.31472967963685555, 0.3569506976877242, 0.6668948571802489],
        [
            0.29173882362680736,
            0.31521008812441964,
            0.44800899481522255,
        ],
        [0.315621887276095, 0.40299458742648087, 0.9620564344029903],
    ];
    let (p, y) = forty();
    for (at, expected) in expected.into_iter().enumerate() {
        let event = [Event::TopLabel, Event::Class(1)][at / 4];
        let binning = binnings[at % 4];
        for (order, expected) in [1.0, 2.0, f64::INFINITY].into_iter().zip(expected) {
            let found = error(event, binning, order).on(&p, &y);
            assert_relative(found, expected, 1e-12);
        }
        let ece = Ece::new(Aspect::Event(event), binning);
        let [first, .., last] = expected;
        assert_relative(ece.on(&p, &y), first, 1e-12);
        assert_relative(Mce::new(ece).on(&p, &y), last, 1e-12);
    }
}

/// A probability on an edge is in the bin below: 0.1 and 0.2 share one of five. In torchmetrics 0.2 is in the next,
/// so that its errors are (0.1 + 0.8)/2 and 0.8.
#[test]
fn bins_are_right_closed() {
    let p = categorical(&[[0.9, 0.1], [0.8, 0.2]]);
    let y = labels(&[0, 1]);
    for order in [1.0, 2.0, f64::INFINITY] {
        let error = error(Event::Class(1), Binning::Uniform { bins: 5 }, order);
        assert_relative(error.on(&p, &y), 0.35, 1e-12);
    }
}

/// The error grows with the order to its limit, and its power of an infinite order is itself.
#[test]
fn infinity_is_the_limit() {
    let (p, y) = forty();
    let of = |order| error(Event::TopLabel, Binning::Uniform { bins: 5 }, order);
    let orders = [1.0, 2.0, 8.0, 64.0, 512.0, f64::INFINITY];
    let errors = orders.map(|order| of(order).on(&p, &y));
    assert!(errors.is_sorted(), "{errors:?}");
    assert!(errors[5] - errors[4] < 0.005, "{errors:?}");
    assert_eq!(of(f64::INFINITY).power(&p, &y).unwrap(), errors[5]);
    // an exact test of it is one of the MCE
    let mce = ExactTest::new(Mce::new(Ece::top_label(5)));
    let tce = ExactTest::new(of(f64::INFINITY));
    assert_eq!(tce.p_value(&p, &y, 0), mce.p_value(&p, &y, 0));
}
