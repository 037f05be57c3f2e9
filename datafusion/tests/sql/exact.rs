//! Scores and binned errors: the same f64 in any partitions, with weights and without.

use burn_calibration::{
    estimator::{Accuracy, Cwce, Ece, Estimator, Mce},
    score::{Brier, LogScore, Score, Spherical},
};
use datafusion::arrow::util::pretty::pretty_format_batches;

use super::*;

const EXACT: &str = "SELECT model, ece(p, y, 15, w), ece(p, y, 7, w), mce(p, y, 15, w), classwise_ece(p, y, 15, w), \
                     accuracy(p, y, w), brier(p, y, w), log_loss(p, y, w), spherical(p, y, w) \
                     FROM predictions GROUP BY model ORDER BY model";

async fn check(sql: &str, weighted: bool) {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let one = query(&context(folder.path(), 1).await, sql).await;
    for partitions in [2, 3, 8] {
        let context = context(folder.path(), partitions).await;
        let plan = query(&context, &format!("EXPLAIN {sql}")).await;
        let plan = pretty_format_batches(&plan).unwrap().to_string();
        let merges = plan.contains("mode=Partial") && plan.contains("mode=Final");
        assert!(merges, "{plan}");
        assert_eq!(query(&context, sql).await, one); // bit for bit
    }
    for ((_, data), found) in models().iter().zip(numbers(&one, 1)) {
        let (p, y) = data.tensors(weighted);
        let estimate = |estimator: &dyn Estimator| estimator.estimate(&p, &y).unwrap();
        let expected = [
            estimate(&Ece::top_label(15)),
            estimate(&Ece::top_label(7)),
            estimate(&Mce::default()),
            estimate(&Cwce::default()),
            estimate(&Accuracy),
            Brier.mean(&p, &y).unwrap().estimate,
            LogScore.mean(&p, &y).unwrap().estimate,
            Spherical.mean(&p, &y).unwrap().estimate,
        ];
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            let found = found.unwrap();
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_weights() {
    check(EXACT, true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_weights() {
    let sql = EXACT.replace(", 15, w", "").replace(", w", "");
    assert!(sql.contains("ece(p, y), ece(p, y, 7),"));
    check(&sql, false).await;
}

/// Equal weights are none, bit for bit, whole ones are repeated rows, and rows of weight 0 are absent.
#[tokio::test]
async fn weights_of_a_kind() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let context = context(folder.path(), 2).await;
    let plain = EXACT.replace(", 15, w", "").replace(", w", "");
    let equal = query(&context, &EXACT.replace(", w)", ", 0.3)")).await;
    assert_eq!(
        numbers(&equal, 1),
        numbers(&query(&context, &plain).await, 1)
    );
    let absent = EXACT.replace(", w)", ", CASE WHEN id % 3 = 0 THEN 0 ELSE 7 END)");
    let kept = plain.replace("predictions GROUP", "predictions WHERE id % 3 > 0 GROUP");
    assert_eq!(
        numbers(&query(&context, &absent).await, 1),
        numbers(&query(&context, &kept).await, 1)
    );
    let twice = query(&context, &EXACT.replace(", w)", ", 1 + id % 2)")).await;
    let union = "(SELECT * FROM predictions UNION ALL SELECT * FROM predictions WHERE id % 2 = 1)";
    let rows = query(
        &context,
        &plain.replace("predictions GROUP", &format!("{union} GROUP")),
    )
    .await;
    for (found, expected) in numbers(&twice, 1).iter().zip(numbers(&rows, 1)) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((found.unwrap() - expected.unwrap()).abs() < 1e-14);
        }
    }
}
