//! What weights cannot be, alone, merged and on file.

use burn::tensor::Tensor;
use burn_calibration::{distribution::Weighted as _, score::Brier};

use super::*;

#[test]
fn weights_that_are_wrong() {
    let (p, y, _) = example();
    for wrong in [-0.5, f64::NAN, f64::INFINITY] {
        refuses(rows(&p, &y).weighted(&[1.0, wrong, 1.0, 1.0, 1.0, 1.0]));
    }
    refuses(rows(&p, &y).weighted(&[1.0]));
    let column = Tensor::<1>::from_floats([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &device());
    let (carrying, _) = categorical(&p).weighted(&column, &labels(&y)).unwrap();
    refuses(Rows::new(&carrying, &labels(&y)));
}

/// Neither merged nor updated, and nothing is taken then.
#[test]
fn with_and_without() {
    let (p, y, w) = example();
    let refused = "cannot merge samples with weights and samples without, expected weights in every piece, on one \
                   scale, or in none";
    each_kind!(3, |empty| {
        let (plain, heavy) = (having(&empty, &p, &y), with(&empty, &p, &y, &w));
        for (own, other, rows) in [
            (&plain, &heavy, weighted_rows(&p, &y, &w)),
            (&heavy, &plain, rows(&p, &y)),
        ] {
            let mut taken = own.clone();
            assert_eq!(taken.merge(other).unwrap_err().to_string(), refused);
            assert_eq!(taken.update_rows(&rows).unwrap_err().to_string(), refused);
            assert_eq!(text(&taken), text(own));
            // rows of weight 0, and accumulators without samples, are of both
            taken
                .update_rows(&weighted_rows(&p, &y, &[0.0; 6]))
                .unwrap();
            taken.merge(&empty).unwrap();
            assert_eq!(text(&taken), text(own));
        }
    });
}

/// On files: sums without weights are as before there were any; what weights cannot give is refused.
#[test]
fn on_file() {
    let (p, y, w) = example();
    let empty = evaluation(3, 2);
    assert!(!text(&having(&empty, &p, &y)).contains("weights"));
    let good = text(&with(&empty, &p, &y, &w));
    let score = text(&with(&ScoreAccumulator::new(Brier, 3), &p, &y, &w));
    let powers = &score[score.find("\"weights\":[").unwrap()..];
    let total = &powers[11..=powers.find('}').unwrap()];
    let none = "{\"negative\":false,\"first\":0,\"limbs\":[]}";
    let refused = |text: String, expected: &str| {
        contains(
            &serde_json::from_str::<Evaluation>(&text).unwrap_err(),
            expected,
        );
    };
    refused(good.replacen(total, none, 1), "no numbers have its sums");
    let bins = &good[good.find("\"top_label\"").unwrap()..];
    let weights = &bins[bins.find(",\"weights\"").unwrap()..];
    let weights = &weights[..=weights.find("}]").unwrap() + 1];
    refused(good.replacen(weights, "", 1), "holds more occurrences");
    let log = &good[good.find("\"log\"").unwrap()..good.find("\"spherical\"").unwrap()];
    let plain = text(&having(&empty, &p, &y));
    let other = &plain[plain.find("\"log\"").unwrap()..plain.find("\"spherical\"").unwrap()];
    refused(good.replacen(log, other, 1), "its parts differ");
}
