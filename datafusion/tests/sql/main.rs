//! The functions through SQL, over Parquet files and several partitions, against the library on all rows.

mod arguments;
mod blocks;
mod exact;

use std::{path::Path, sync::Arc};

use burn::tensor::{Device, Int, Tensor, TensorData};
use burn_calibration::distribution::{Categorical, Weighted as _};
use burn_calibration_accumulator::Rows;
use burn_calibration_datafusion::register_all;
use datafusion::{
    arrow::{
        array::{
            Array, ArrayRef, AsArray, Float32Builder, Float64Array, Float64Builder, Int32Array,
            Int64Array, ListBuilder, RecordBatch, StringArray,
        },
        datatypes::Float64Type,
    },
    parquet::arrow::ArrowWriter,
    prelude::{ParquetReadOptions, SessionConfig, SessionContext},
};

const CLASSES: usize = 4;

/// Predictions of a model in single precision, with labels and weights.
#[derive(Clone, Default)]
struct Data {
    p: Vec<Vec<f32>>,
    y: Vec<i64>,
    w: Vec<f64>,
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
        for k in 0..samples {
            // 0 for one in twelve
            data.w.push([0.0, 0.5, 1.0, 2.25][k % 4] + (k % 3) as f64);
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

    fn rows(&self, weighted: bool) -> Rows {
        let rows = Rows::from_probabilities(self.numbers(), CLASSES, &self.y).unwrap();
        if weighted {
            rows.weighted(&self.w).unwrap()
        } else {
            rows
        }
    }

    fn tensors(&self, weighted: bool) -> (Categorical, Tensor<1, Int>) {
        let device = Device::flex();
        let n = self.y.len();
        let options = (&device, burn::tensor::DType::F64);
        let rows = Tensor::<2>::from_data(TensorData::new(self.numbers(), [n, CLASSES]), options);
        let labels = Tensor::from_data(TensorData::new(self.y.clone(), [n]), &device);
        let predictions = Categorical::from_probabilities(rows).unwrap();
        if !weighted {
            return (predictions, labels);
        }
        let weights = Tensor::from_data(TensorData::new(self.w.clone(), [n]), options);
        predictions.weighted(&weights, &labels).unwrap()
    }

    fn slice(&self, rows: std::ops::Range<usize>) -> Self {
        Self {
            p: self.p[rows.clone()].to_vec(),
            y: self.y[rows.clone()].to_vec(),
            w: self.w[rows].to_vec(),
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
        let columns: [(&str, ArrayRef); 5] = [
            ("id", Arc::new(Int64Array::from_iter_values(ids))),
            ("model", Arc::new(StringArray::from(vec![model; n]))),
            ("p", self.lists()),
            (
                "y",
                Arc::new(Int32Array::from_iter_values(
                    self.y.iter().map(|&y| y as i32),
                )),
            ),
            ("w", Arc::new(Float64Array::from(self.w.clone()))),
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
