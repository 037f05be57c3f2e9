//! Limits of means whose terms have known bounds.

use statrs::distribution::{Beta, ContinuousCDF};

use crate::prelude::*;

/// Clopper and Pearson: quantiles of beta distributions.
#[test]
fn counts_have_the_limits_of_clopper_and_pearson() {
    for n in [5, 20, 200] {
        for events in [0, 1, n / 2, n] {
            let terms = (0..n).map(|i| f64::from(u8::from(i < events)));
            let mean = BoundedMean::new(terms.collect(), 0.0, 1.0);
            let Interval {
                lower: low,
                upper: high,
                ..
            } = mean.interval(0.95).unwrap();
            let quantile = |a: usize, b: usize, probability| match (a, b) {
                (0, _) => 0.0,
                (_, 0) => 1.0,
                _ => Beta::new(a as f64, b as f64)
                    .unwrap()
                    .inverse_cdf(probability),
            };
            for (found, exact) in [
                (low, quantile(events, n - events + 1, 0.025)),
                (high, quantile(events + 1, n - events, 0.975)),
            ] {
                let error = (found - exact).abs() * n as f64;
                assert!(error < 0.05, "{events} of {n}: {found} and {exact}");
            }
            for level in [0.5, 0.9, 0.99] {
                let Interval {
                    lower: low,
                    upper: high,
                    ..
                } = mean.interval(level).unwrap();
                for point in [0.01, 0.2, 0.5, 0.93] {
                    let excluded = point < low || point > high;
                    assert_eq!(mean.p_value(point) < 1.0 - level, excluded);
                }
            }
        }
    }
}

/// The law of `Σ D x` for weights that are uniform on the simplex and distinct terms is known:
/// `P(Σ D x > t) = Σ_{x_i > t} (x_i − t)^{n−1}/Π_{j≠i} (x_i − x_j)` for `n` terms (Curry and Schoenberg 1966).
#[test]
fn limits_are_quantiles_of_the_exact_law() {
    let exact_below = |terms: &[f64], t: f64| {
        let of_term = |(i, x): (usize, &f64)| {
            let others = terms.iter().enumerate().filter(|(j, _)| *j != i);
            let product: f64 = others.map(|(_, y)| x - y).product();
            (x - t).max(0.0).powi(terms.len() as i32 - 1) / product
        };
        1.0 - terms.iter().enumerate().map(of_term).sum::<f64>()
    };
    for terms in [
        vec![0.06, -0.56],
        vec![0.1, 0.4, -0.3],
        vec![0.03, -0.02, 0.01, 0.9, -0.41],
        vec![-0.7, -0.1, 0.2, 0.25, 0.31, 0.5, 0.8],
    ] {
        let [least, greatest] = [-1.0, 1.2];
        let mean = BoundedMean::new(terms.clone(), least, greatest);
        for level in [0.5, 0.9, 0.95, 0.99] {
            let Interval {
                lower: low,
                upper: high,
                ..
            } = mean.interval(level).unwrap();
            let outside = 0.5 * (1.0 - level);
            let with = |added: f64| terms.iter().copied().chain([added]).collect::<Vec<_>>();
            let below = exact_below(&with(least), low);
            let above = 1.0 - exact_below(&with(greatest), high);
            for found in [below, above] {
                // the saddlepoint approximation is off by a few per cent of a probability
                assert_near_in((&terms, level), found / outside, 1.0, 0.1);
            }
        }
    }
}

#[test]
fn equal_terms_and_infinite_bounds() {
    let equal = BoundedMean::new(vec![0.5; 4], 0.5, 0.5);
    let Interval { lower, upper, .. } = equal.interval(0.95).unwrap();
    assert_eq!([lower, upper], [0.5; 2]);
    assert_eq!((equal.p_value(0.5), equal.p_value(0.4)), (1.0, 1e-3));
    let open = BoundedMean::new(vec![-1.0, -1.1, -0.9], f64::NEG_INFINITY, 0.0);
    let Interval {
        lower: low,
        upper: high,
        ..
    } = open.interval(0.95).unwrap();
    assert!(low == f64::NEG_INFINITY && high < 0.0, "{low} {high}");
    let huge = BoundedMean::new(vec![1e300, -1e300, 5e299], -1e300, 1e300);
    let Interval {
        lower: low,
        upper: high,
        ..
    } = huge.interval(0.95).unwrap();
    assert!(low < 0.0 && high > 0.0 && high <= 1e300);
}
