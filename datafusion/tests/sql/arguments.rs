//! Types of arguments, NULL, and what is refused.

use datafusion::arrow::array::FixedSizeListBuilder;

use super::*;

/// Other types of lists and labels, and NULL.
#[tokio::test]
async fn types_and_nulls() {
    let context = SessionContext::new();
    register_all(&context);
    let mut lists = FixedSizeListBuilder::new(Float64Builder::new(), 2);
    for (p, valid) in [
        ([0.75, 0.25], true),
        ([0.5, 0.5], false),
        ([0.6, 0.4], true),
        ([0.5, 0.5], true),
    ] {
        lists.values().append_slice(&p);
        lists.append(valid);
    }
    let labels = Int64Array::from(vec![Some(0), Some(1), Some(1), None]);
    let weights = Int64Array::from(vec![3, 1, 1, 1]);
    let columns: [(&str, ArrayRef); 3] = [
        ("p", Arc::new(lists.finish())),
        ("y", Arc::new(labels)),
        ("w", Arc::new(weights)),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    context.register_batch("t", batch).unwrap();
    // rows 0 and 2 alone
    let sql = "SELECT brier(p, y), accuracy(p, y), block_skce(p, y, 1, 2), block_skce(p, y, 1, 3), \
               block_skce_p_value(p, y, 1, 2), block_skce_standard_error(p, y, 1, 2) FROM t";
    let found = numbers(&query(&context, sql).await, 0).remove(0);
    assert!((found[0].unwrap() - (0.125 + 0.72) / 2.0).abs() < 1e-15);
    assert_eq!(found[1], Some(0.5));
    // δ = (¼, −¼) and (−0.6, 0.6) at total variation 0.15
    assert!((found[2].unwrap() + 0.3 * (-0.15f64).exp()).abs() < 1e-15);
    assert_eq!(found[3..], [None, None, None]);
    // a weight that is NULL or 0
    let sql = "SELECT brier(p, y, w), accuracy(p, y, w), brier(p, y, CASE WHEN w = 3 THEN NULL ELSE w END), brier(p, y, 3 - w), \
               brier(p, y, 0), ece(p, y, 15, 0.0), block_skce(p, y, 1, 2, 0) FROM t";
    let weighted = numbers(&query(&context, sql).await, 0).remove(0);
    assert!((weighted[0].unwrap() - (3.0 * 0.125 + 0.72) / 4.0).abs() < 1e-15);
    assert_eq!(weighted[1], Some(0.75));
    assert!((weighted[2].unwrap() - 0.72).abs() < 1e-15);
    assert_eq!(weighted[3], weighted[2]);
    assert_eq!(weighted[4..], [None, None, None]);
    let none = query(
        &context,
        "SELECT ece(p, y), log_loss(NULL, NULL) FROM t WHERE y > 5",
    )
    .await;
    assert_eq!(numbers(&none, 0), [[None, None]]);
    let certain = query(
        &table(&[(&[Some(0.0), Some(1.0)], 0)]),
        "SELECT log_loss(p, y) FROM t",
    )
    .await;
    assert_eq!(numbers(&certain, 0), [[Some(f64::INFINITY)]]);
}

#[tokio::test]
async fn wrong_arguments() {
    let context = table(&[(&[Some(0.5), Some(0.5)], 0)]);
    for (call, expected) in [
        (
            "ece(p)",
            "ece has 1 arguments, expected ece(probabilities, label [, bins [, weight]])",
        ),
        (
            "brier(p, y, 1, 1)",
            "expected brier(probabilities, label [, weight])",
        ),
        (
            "block_skce(p, y)",
            "expected block_skce(probabilities, label, bandwidth, size [, weight])",
        ),
        (
            "block_skce_p_value(p, y, 1, 2, 1)",
            "has 5 arguments, expected block_skce_p_value(probabilities, label, bandwidth, size)",
        ),
        (
            "brier(p, y, 0 - 1)",
            "row 0, column 0: the sample weight is -1, expected a finite number of at least 0",
        ),
        (
            "ece(0.5, y)",
            "ece: the predictions are Float64, expected lists of floats",
        ),
        (
            "ece(p, 0.5)",
            "ece: the labels are Float64, expected whole numbers",
        ),
        (
            "ece(p, y, 'a')",
            "ece: a parameter is Utf8, expected a number",
        ),
        (
            "ece(p, y, 0)",
            "ece: the number of bins is 0, expected a whole number of at least 1",
        ),
        ("ece(p, y, y)", "expected a constant; a weight comes last"),
        (
            "block_skce(p, y, -1, 2)",
            "block_skce: the bandwidth is -1, expected a positive finite number",
        ),
        (
            "block_skce(p, y, 1, 1)",
            "the size of a block is 1, expected a whole number of at least 2",
        ),
        ("ece(DISTINCT p, y)", "DISTINCT rows are no sample"),
    ] {
        let found = error(&context, call).await;
        assert!(found.contains(expected), "{call}: {found}");
    }
}

#[tokio::test]
async fn rows_that_are_not_predictions() {
    let half = &[Some(0.5), Some(0.5)];
    let cases: [(&[Option<f64>], i64, &str); 6] = [
        (
            &[Some(0.5), Some(0.6)],
            0,
            "row 1: the probabilities sum to 1.1, expected 1 within 1e-5",
        ),
        (
            &[Some(0.5), Some(f64::NAN)],
            0,
            "row 1, class 1: the probability is NaN, expected a finite number",
        ),
        (
            &[Some(0.5), None],
            0,
            "a probability of a list is NULL, expected a number",
        ),
        (half, 2, "row 1: the label is 2, expected a class in 0..2"),
        (
            &[Some(1.0)],
            0,
            "a prediction of 1 probabilities, expected 2 as before",
        ),
        (
            &[Some(0.25), Some(0.25), Some(0.5)],
            0,
            "a prediction of 3 probabilities, expected 2 as before",
        ),
    ];
    for (p, y, expected) in cases {
        let context = table(&[(half, 1), (p, y)]);
        for call in ["ece(p, y)", "brier(p, y)", "block_skce(p, y, 1, 2)"] {
            let found = error(&context, call).await;
            assert!(found.contains(expected), "{call}: {found}");
        }
    }
    let one_class = error(&table(&[(&[Some(1.0)], 0)]), "classwise_ece(p, y)").await;
    assert!(
        one_class.contains("the predictions have 1 column, expected at least 2 classes"),
        "{one_class}"
    );
}
