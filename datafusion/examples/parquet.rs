//! Four networks on CIFAR-10, their predictions in twelve Parquet files, evaluated by one query.
//!
//! ```sh
//! BURN_CALIBRATION_DATA=../../shared/data cargo run --example parquet
//! ```
//!
//! Without the data, predictions are made up.

use std::{
    error::Error,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
};

use datafusion::{
    arrow::array::{ArrayRef, Float32Builder, Int64Array, ListBuilder, RecordBatch, StringArray},
    parquet::arrow::ArrowWriter,
    prelude::{ParquetReadOptions, SessionConfig, SessionContext},
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const MODELS: [&str; 4] = ["densenet121", "googlenet", "mobilenet_v2", "resnet18"];
const PARTS: usize = 3;
const QUERY: &str = "SELECT model, count(*) AS n, accuracy(p, y) AS accuracy, ece(p, y) AS ece, \
                     brier(p, y) AS brier, log_loss(p, y) AS log_loss, \
                     block_skce(p, y, 0.9, 25) AS skce, block_skce_p_value(p, y, 0.9, 25) AS p_value \
                     FROM predictions GROUP BY model ORDER BY model";

/// Rows of as many probabilities as there are classes, and labels from 0.
struct Predictions {
    rows: Vec<Vec<f32>>,
    labels: Vec<i64>,
}

#[tokio::main]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let models = read()?;
    for (model, predictions) in &models {
        write(folder.path(), model, predictions)?;
    }

    let config = SessionConfig::new().with_target_partitions(4);
    let context = SessionContext::new_with_config(config);
    burn_calibration_datafusion::register_all(&context);
    let files = folder
        .path()
        .to_str()
        .ok_or("a folder with a name in UTF-8")?;
    let options = ParquetReadOptions::default();
    context
        .register_parquet("predictions", files, options)
        .await?;
    println!("{QUERY}\n");
    context.sql(QUERY).await?.show().await?;
    Ok(())
}

/// A model's predictions in files of unequal sizes.
fn write(folder: &Path, model: &str, predictions: &Predictions) -> Result<()> {
    let n = predictions.rows.len();
    let cuts = [0, n / 2, n / 2 + n / 7, n];
    for part in 0..PARTS {
        let piece = cuts[part]..cuts[part + 1];
        let mut lists = ListBuilder::new(Float32Builder::new());
        for row in &predictions.rows[piece.clone()] {
            lists.values().append_slice(row);
            lists.append(true);
        }
        let labels = &predictions.labels[piece.clone()];
        let columns: [(&str, ArrayRef); 3] = [
            (
                "model",
                Arc::new(StringArray::from(vec![model; piece.len()])),
            ),
            ("p", Arc::new(lists.finish())),
            ("y", Arc::new(Int64Array::from(labels.to_vec()))),
        ];
        let batch = RecordBatch::try_from_iter(columns)?;
        let file = File::create(folder.join(format!("{model}-{part}.parquet")))?;
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None)?;
        writer.write(&batch)?;
        writer.close()?;
    }
    Ok(())
}

fn read() -> Result<Vec<(&'static str, Predictions)>> {
    match std::env::var_os("BURN_CALIBRATION_DATA") {
        Some(data) => {
            let folder = PathBuf::from(data).join("cifar10-predictions");
            let model = |&model: &&'static str| Ok((model, read_model(&folder, model)?));
            MODELS.iter().map(model).collect()
        }
        None => Ok((0..)
            .zip(MODELS)
            .map(|(k, model)| (model, made_up(k)))
            .collect()),
    }
}

fn read_model(folder: &Path, model: &str) -> Result<Predictions> {
    let mut text = String::new();
    let file = File::open(folder.join(format!("{model}.csv.gz")))?;
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text)?;
    let row = |line: &str| {
        line.split(',')
            .map(|field| Ok(field.trim().parse()?))
            .collect()
    };
    let labels = fs::read_to_string(folder.join("labels.csv"))?;
    let label = |line: &str| Ok(line.trim().parse::<i64>()? - 1); // they count from 1
    Ok(Predictions {
        rows: text.lines().map(row).collect::<Result<_>>()?,
        labels: labels.lines().map(label).collect::<Result<_>>()?,
    })
}

/// Confidences between ½ and 1 of a model that is right three times of four, whatever it says.
fn made_up(seed: u64) -> Predictions {
    let mut state = seed;
    let mut uniform = move || {
        // SplitMix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ bits >> 31) >> 40) as f32 / (1u64 << 24) as f32
    };
    let mut predictions = Predictions {
        rows: Vec::new(),
        labels: Vec::new(),
    };
    for _ in 0..10_000 {
        let confidence = 0.5 + 0.5 * uniform();
        predictions.rows.push(vec![confidence, 1.0 - confidence]);
        predictions.labels.push(i64::from(uniform() < 0.25));
    }
    predictions
}
