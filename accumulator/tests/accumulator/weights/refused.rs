//! What weights cannot be, alone, merged and on file.

use burn::tensor::Tensor;
use burn_calibration::distribution::Weighted as _;

use super::*;

#[test]
fn weights_that_are_wrong() {
    let (p, y, _) = example();
    for wrong in [-0.5, f64::NAN, f64::INFINITY] {
        refuses(rows(&p, &y).weighted(&[1.0, wrong, 1.0, 1.0, 1.0, 1.0]));
    }
    refuses(rows(&p, &y).weighted(&[1.0]));
    for [largest, smallest] in [[1e101, 0.0], [1e100, 1e-101]] {
        refuses(rows(&p, &y).weighted(&[1.0, 0.0, 1.0, largest, smallest, 1.0]));
    }
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

/// On files what weights cannot give is refused.
#[test]
fn on_file() {
    let (p, y, w) = example();
    let empty = evaluation(3, 2);
    let good = text(&with(&empty, &p, &y, &w));
    let refused = |text: String, expected: &str| {
        let error = serde_json::from_str::<Evaluation>(&text).unwrap_err();
        contains(&error, expected);
    };
    let weight = "\"weight\":\"3.0\""; // 12 in units of 4
    contains(&good, weight);
    refused(
        good.replacen(weight, "\"weight\":\"0.0\"", 1),
        "no numbers have its sums",
    );
    let (scores, bins) = good.split_at(good.find("\"top_label\"").unwrap());
    let occupied = "\"unit\":\"1.0\"";
    contains(&bins, occupied);
    let bins = bins.replacen(occupied, "\"unit\":\"-1.0\"", 1);
    refused(format!("{scores}{bins}"), "holds more occurrences");
    let log = &good[good.find("\"log\"").unwrap()..good.find("\"spherical\"").unwrap()];
    let plain = text(&having(&empty, &p, &y));
    let other = &plain[plain.find("\"log\"").unwrap()..plain.find("\"spherical\"").unwrap()];
    refused(good.replacen(log, other, 1), "its parts differ");
}
