//! The functions through SQL, over Parquet files and several partitions, against the library on all rows.

use std::{path::Path, sync::Arc};

use burn::tensor::{Device, Int, Tensor, TensorData};
use burn_calibration::{
    distribution::Categorical,
    estimator::{Cwce, Ece, Estimator, Mce},
    kernel::{Bandwidth, Kernel},
    score::{Brier, LogScore, Score, Spherical},
};
use burn_calibration_accumulator::{Accumulator, BlockSkceAccumulator, Rows};
use burn_calibration_datafusion::register_all;
use datafusion::{
    arrow::{
        array::{
            Array, ArrayRef, AsArray, FixedSizeListBuilder, Float32Builder, Float64Builder,
            Int32Array, Int64Array, ListBuilder, RecordBatch, StringArray,
        },
        datatypes::Float64Type,
    },
    parquet::arrow::ArrowWriter,
    prelude::{ParquetReadOptions, SessionConfig, SessionContext},
};

const CLASSES: usize = 4;
const KERNEL: Kernel = Kernel {
    profile: burn_calibration::kernel::Profile::Exponential,
    distance: burn_calibration::kernel::Distance::TotalVariation,
    bandwidth: Bandwidth::Fixed(0.37),
};

/// Predictions of a model with labels, in single precision.
#[derive(Clone, Default)]
struct Data {
    p: Vec<Vec<f32>>,
    y: Vec<i64>,
}

impl Data {
    /// Reproducible, and more or less calibrated by `power`: 1 is.
    fn new(seed: u64, samples: usize, power: f64) -> Self {
        let mut state = seed;
        let mut uniform = move || {
            // a linear congruential generator, of which the upper bits are good enough
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut data = Self::default();
        for _ in 0..samples {
            let weights: Vec<f64> = (0..CLASSES).map(|_| uniform().powi(6) + 1e-3).collect();
            let sum: f64 = weights.iter().sum();
            let mut left = uniform() * sum;
            let label = weights.iter().position(|weight| {
                left -= weight;
                left < 0.0
            });
            let sharper: Vec<f64> = weights.iter().map(|weight| weight.powf(power)).collect();
            let sum: f64 = sharper.iter().sum();
            data.p
                .push(sharper.iter().map(|weight| (weight / sum) as f32).collect());
            data.y.push(label.unwrap_or(CLASSES - 1) as i64);
        }
        data
    }

    fn numbers(&self) -> Vec<f64> {
        self.p.iter().flatten().map(|&p| f64::from(p)).collect()
    }

    fn tensors(&self) -> (Categorical, Tensor<1, Int>) {
        let device = Device::flex();
        let n = self.y.len();
        let options = (&device, burn::tensor::DType::F64);
        let rows = Tensor::<2>::from_data(TensorData::new(self.numbers(), [n, CLASSES]), options);
        let labels = Tensor::from_data(TensorData::new(self.y.clone(), [n]), &device);
        (Categorical::from_probabilities(rows).unwrap(), labels)
    }

    fn slice(&self, rows: std::ops::Range<usize>) -> Self {
        Self {
            p: self.p[rows.clone()].to_vec(),
            y: self.y[rows].to_vec(),
        }
    }

    fn lists(&self) -> ArrayRef {
        let mut lists = ListBuilder::new(Float32Builder::new());
        for p in &self.p {
            lists.values().append_slice(p);
            lists.append(true);
        }
        Arc::new(lists.finish())
    }

    /// Rows of one model, numbered.
    fn batch(&self, model: &str, first: usize) -> RecordBatch {
        let n = self.y.len();
        let ids = first as i64..(first + n) as i64;
        let columns: [(&str, ArrayRef); 4] = [
            ("id", Arc::new(Int64Array::from_iter_values(ids))),
            ("model", Arc::new(StringArray::from(vec![model; n]))),
            ("p", self.lists()),
            (
                "y",
                Arc::new(Int32Array::from_iter_values(
                    self.y.iter().map(|&y| y as i32),
                )),
            ),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }
}

fn write(path: &Path, batches: &[RecordBatch]) {
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batches[0].schema(), None).unwrap();
    batches
        .iter()
        .for_each(|batch| writer.write(batch).unwrap());
    writer.close().unwrap();
}

fn models() -> [(&'static str, Data); 2] {
    [
        ("calibrated", Data::new(1, 900, 1.0)),
        ("overconfident", Data::new(2, 1100, 5.0)),
    ]
}

/// Five files, rows of both models in each.
fn write_files(folder: &Path) {
    for file in 0..5 {
        let batch = |(model, data): &(&'static str, Data)| {
            let size = data.y.len() / 5;
            data.slice(file * size..(file + 1) * size)
                .batch(model, file * size)
        };
        let batches: Vec<RecordBatch> = models().iter().map(batch).collect();
        write(&folder.join(format!("part-{file}.parquet")), &batches);
    }
}

async fn context(folder: &Path, partitions: usize) -> SessionContext {
    let config = SessionConfig::new()
        .with_target_partitions(partitions)
        .with_batch_size(64);
    let context = SessionContext::new_with_config(config);
    register_all(&context);
    let folder = folder.to_str().unwrap();
    context
        .register_parquet("predictions", folder, ParquetReadOptions::default())
        .await
        .unwrap();
    context
}

async fn query(context: &SessionContext, sql: &str) -> Vec<RecordBatch> {
    context.sql(sql).await.unwrap().collect().await.unwrap()
}

/// The f64 columns from `first` on, row by row.
fn numbers(batches: &[RecordBatch], first: usize) -> Vec<Vec<Option<f64>>> {
    let row = |batch: &RecordBatch, row: usize| {
        let columns = batch.columns()[first..].iter();
        columns
            .map(|column| column.as_primitive::<Float64Type>())
            .map(|column| column.is_valid(row).then(|| column.value(row)))
            .collect()
    };
    let rows = |batch| (0..RecordBatch::num_rows(batch)).map(move |k| row(batch, k));
    batches.iter().flat_map(rows).collect()
}

const EXACT: &str = "SELECT model, ece(p, y), ece(p, y, 7), mce(p, y), classwise_ece(p, y), accuracy(p, y), \
                     brier(p, y), log_loss(p, y), spherical(p, y) \
                     FROM predictions GROUP BY model ORDER BY model";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exact_in_any_partitions() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let one = query(&context(folder.path(), 1).await, EXACT).await;
    for partitions in [2, 3, 8] {
        let context = context(folder.path(), partitions).await;
        let plan = query(&context, &format!("EXPLAIN {EXACT}")).await;
        let plan = datafusion::arrow::util::pretty::pretty_format_batches(&plan)
            .unwrap()
            .to_string();
        assert!(
            plan.contains("mode=Partial") && plan.contains("mode=Final"),
            "{plan}"
        );
        assert_eq!(query(&context, EXACT).await, one); // bit for bit
    }
    let found = numbers(&one, 1);
    for ((_, data), found) in models().iter().zip(found) {
        let (p, y) = data.tensors();
        let score = |score: &dyn Score<Categorical>| score.upper_bound(&p, &y).unwrap().estimate;
        let top = p
            .top_label(&y)
            .unwrap()
            .1
            .float()
            .mean()
            .into_scalar::<f64>();
        let expected = [
            Ece::top_label(15).estimate(&p, &y).unwrap(),
            Ece::top_label(7).estimate(&p, &y).unwrap(),
            Mce::default().estimate(&p, &y).unwrap(),
            Cwce::default().estimate(&p, &y).unwrap(),
            top,
            score(&Brier),
            score(&LogScore),
            score(&Spherical),
        ];
        for (found, expected) in found.iter().zip(expected) {
            let found = found.unwrap();
            assert!(
                (found - expected).abs() < 1e-6 * expected.min(1.0),
                "{found} {expected}"
            );
            if expected != top {
                assert!((found - expected).abs() < 1e-12, "{found} {expected}");
            }
        }
        assert_eq!(found.len(), expected.len());
    }
}

fn skce(data: &Data, size: usize) -> BlockSkceAccumulator {
    let mut skce = BlockSkceAccumulator::new(KERNEL, size, CLASSES).unwrap();
    let rows = Rows::from_probabilities(data.numbers(), CLASSES, &data.y).unwrap();
    skce.update_rows(&rows).unwrap();
    skce
}

const SKCE: &str = "SELECT model, block_skce(p, y, 0.37, 10), block_skce_standard_error(p, y, 0.37, 10), \
                    block_skce_p_value(p, y, 0.37, 10) FROM predictions GROUP BY model ORDER BY model";

/// In the order of the rows the value of the library; else of other blocks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn block_skce() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path());
    let ordered = SKCE.replace(", 10)", ", 10 ORDER BY id)");
    let found = numbers(&query(&context(folder.path(), 1).await, &ordered).await, 1);
    for ((_, data), found) in models().iter().zip(&found) {
        let skce = skce(data, 10);
        let (mean, outcome) = (skce.mean().unwrap(), skce.outcome().unwrap());
        let expected = [mean.estimate, mean.standard_error, outcome.p_value];
        assert_eq!(found, &expected.map(Some));
    }
    let found = numbers(&query(&context(folder.path(), 4).await, SKCE).await, 1);
    for (k, ((_, data), found)) in models().iter().zip(&found).enumerate() {
        let [estimate, error, p_value] = [0, 1, 2].map(|column| found[column].unwrap());
        let expected = skce(data, 10).mean().unwrap();
        // two estimates of the same error
        let spread = (error.powi(2) + expected.standard_error.powi(2)).sqrt();
        assert!((estimate - expected.estimate).abs() < 4.0 * spread);
        assert!((error / expected.standard_error - 1.0).abs() < 0.5);
        assert!(
            if k == 0 {
                p_value > 1e-3
            } else {
                p_value == 1e-3 // the least that an asymptotic test reports
            },
            "{k} {p_value}"
        );
    }
}

/// Whole blocks in each batch of a table in memory, of which every partition has some.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn merged_blocks_are_exact() {
    let data = Data::new(3, 240, 2.0);
    let batches = |k: usize| data.slice(k * 60..(k + 1) * 60).batch("only", k * 60);
    let table = datafusion::datasource::MemTable::try_new(
        batches(0).schema(),
        (0..4).map(|k| vec![batches(3 - k)]).collect(),
    );
    let config = SessionConfig::new()
        .with_target_partitions(4)
        .with_batch_size(60);
    let context = SessionContext::new_with_config(config);
    register_all(&context);
    context
        .register_table("predictions", Arc::new(table.unwrap()))
        .unwrap();
    let sql =
        "SELECT block_skce(p, y, 0.37, 20), block_skce_p_value(p, y, 0.37, 20) FROM predictions";
    let found = numbers(&query(&context, sql).await, 0);
    let expected = skce(&data, 20).outcome().unwrap();
    assert_eq!(found, [[Some(expected.estimate), Some(expected.p_value)]]);
}

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
    let columns: [(&str, ArrayRef); 2] = [("p", Arc::new(lists.finish())), ("y", Arc::new(labels))];
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

/// A session with a table `t` of predictions `p` and labels `y`.
fn table(rows: &[(&[Option<f64>], i64)]) -> SessionContext {
    let context = SessionContext::new();
    register_all(&context);
    let mut lists = ListBuilder::new(Float64Builder::new());
    for (p, _) in rows {
        p.iter().for_each(|&p| lists.values().append_option(p));
        lists.append(true);
    }
    let labels = Int64Array::from_iter_values(rows.iter().map(|(_, y)| *y));
    let columns: [(&str, ArrayRef); 2] = [("p", Arc::new(lists.finish())), ("y", Arc::new(labels))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    context.register_batch("t", batch).unwrap();
    context
}

async fn error(context: &SessionContext, call: &str) -> String {
    match context.sql(&format!("SELECT {call} FROM t")).await {
        Err(error) => error.to_string(),
        Ok(frame) => frame.collect().await.unwrap_err().to_string(),
    }
}

#[tokio::test]
async fn wrong_arguments() {
    let context = table(&[(&[Some(0.5), Some(0.5)], 0)]);
    for (call, expected) in [
        (
            "ece(p)",
            "ece has 1 arguments, expected ece(probabilities, label [, bins])",
        ),
        ("brier(p, y, 1)", "expected brier(probabilities, label)"),
        (
            "block_skce(p, y)",
            "expected block_skce(probabilities, label, bandwidth, size)",
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
        ("ece(p, y, y)", "ece: the number of bins is"),
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
        one_class.contains("the predictions have 1 columns, expected at least 2 classes"),
        "{one_class}"
    );
}
