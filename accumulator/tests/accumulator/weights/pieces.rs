//! Against repeated rows and none, in any pieces.

use proptest::{collection::vec, prelude::*};

use super::*;

type Weighted = (Vec<Vec<f64>>, Vec<usize>, Vec<f64>);

/// Predictions over three classes with weights of all sizes, some of them 0.
fn weighted() -> impl Strategy<Value = Weighted> {
    let logit = prop_oneof![Just(0.0), -4.0..4.0f64];
    let row = vec(logit, 3).prop_map(|row| softmax(&row));
    let weight = prop_oneof![Just(0.0), Just(2.0), 0.0..3.0f64, Just(1e-100), Just(1e100)];
    (1..25usize).prop_flat_map(move |n| {
        (
            vec(row.clone(), n),
            vec(0..3usize, n),
            vec(weight.clone(), n),
        )
    })
}

proptest! {
    #![proptest_config(cases(64))]

    /// Rows of weight 0 are absent, and whatever the weights are, there are numbers.
    #[test]
    fn absent_rows((p, y, w) in weighted()) {
        let empty = Evaluation::new(5, 3).unwrap();
        let all = with(&empty, &p, &y, &w);
        let kept: Vec<usize> = (0..w.len()).filter(|&row| w[row] > 0.0).collect();
        let (q, z): (Vec<_>, Vec<_>) = kept.iter().map(|&k| (p[k].clone(), y[k])).unzip();
        let v: Vec<f64> = kept.iter().map(|&k| w[k]).collect();
        prop_assert_eq!(text(&with(&empty, &q, &z, &v)), text(&all));
        if kept.is_empty() {
            prop_assert_eq!(text(&all), text(&empty));
            return Ok(());
        }
        for number in numbers(&all) {
            prop_assert!(number.abs() <= 30.0 || number == f64::INFINITY, "{number}");
        }
    }

    /// Equal weights are none, bit for bit, also in pieces and in blocks of the SKCE.
    #[test]
    fn equal_weights(
        (p, y, _) in weighted(),
        weight in prop_oneof![Just(1.0), 1e-3..1e3f64, Just(1e-100), Just(1e100)],
        cut in any::<prop::sample::Index>(),
    ) {
        let empty = evaluation(3, 2);
        let at = 2 * cut.index(p.len() / 2 + 1);
        let w = vec![weight; p.len()];
        let mut merged = with(&empty, &p[..at], &y[..at], &w[..at]);
        merged.merge(&with(&empty, &p[at..], &y[at..], &w[at..])).unwrap();
        prop_assert_eq!(numbers(&merged), numbers(&having(&empty, &p, &y)));
    }

    /// Whole numbers are repeated rows, in means over samples.
    #[test]
    fn repeated_rows((p, y, _) in weighted(), counts in vec(0..4usize, 25)) {
        let empty = Evaluation::new(5, 3).unwrap();
        let w: Vec<f64> = counts.iter().take(p.len()).map(|&count| count as f64).collect();
        let rows = (0..p.len()).flat_map(|k| std::iter::repeat_n(k, counts[k]));
        let (q, z): (Vec<_>, Vec<_>) = rows.map(|k| (p[k].clone(), y[k])).unzip();
        let (found, expected) = (with(&empty, &p, &y, &w), having(&empty, &q, &z));
        prop_assume!(!q.is_empty());
        let means = |all: &Evaluation| {
            let scores = [all.brier().mean(), all.log().mean(), all.spherical().mean()];
            let scores = scores.map(|mean| mean.unwrap().estimate);
            [&scores[..], &[all.top_label().frequency().unwrap()]].concat()
        };
        prop_assert_eq!(means(&found), means(&expected)); // to the last bit
        let [found, expected] = [found, expected].map(|all| {
            [all.top_label().ece(), all.top_label().mce(), all.class_wise().cwce()].map(Result::unwrap)
        });
        for (found, expected) in found.iter().zip(expected) {
            prop_assert!((found - expected).abs() < 1e-15, "{found} {expected}");
        }
    }
}
