//! Figures 83 and 84 as tables: networks on the test set of CIFAR-10, by their published
//! predictions, beside the published estimates and p-values.

use std::{collections::HashMap, fs::File, io::Read, path::Path};

use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_calibration::{distribution::Categorical, hypothesis::TestOutcome};
use csv::ReaderBuilder;
use flate2::read::GzDecoder;
use serde::Deserialize;

use crate::{
    Result,
    arguments::Arguments,
    output, parallel,
    tests::{self, TESTS, Test},
};

/// Appendix J.3: bins of at least a hundred samples.
const BIN_SIZE: usize = 100;

/// What the tests found on the predictions of a network.
pub struct Network {
    name: String,
    /// Of each of `TESTS`.
    outcomes: Vec<TestOutcome>,
    /// By the columns of the published tables.
    estimates: HashMap<String, f64>,
    p_values: HashMap<String, f64>,
}

pub fn evaluate(folder: &Path, arguments: &Arguments) -> Result<Vec<Network>> {
    let labels = labels(folder)?;
    let estimates = published(folder, "published_estimates.csv")?;
    let p_values = published(folder, "published_pvalues.csv")?;
    let mut names: Vec<&String> = estimates.keys().collect();
    names.sort();
    parallel::map("CIFAR-10", names.len(), |network| {
        let name = names[network];
        let predictions = predictions(folder, name)?;
        let (replicates, seed) = (arguments.replicates(), arguments.seed);
        Ok(Network {
            name: name.clone(),
            outcomes: tests::outcomes(&predictions, &labels, BIN_SIZE, replicates, seed)?,
            estimates: estimates[name].clone(),
            p_values: p_values.get(name).cloned().unwrap_or_default(),
        })
    })
}

/// Softmax outputs, one row an image.
fn predictions(folder: &Path, network: &str) -> Result<Categorical> {
    let file = open(folder, &format!("{network}.csv.gz"))?;
    let rows = rows(GzDecoder::new(file))?;
    let shape = [rows.len(), rows.first().map_or(0, Vec::len)];
    let data = TensorData::new(rows.concat(), shape);
    let tensor = Tensor::from_data(data, (&Device::default(), DType::F64));
    Ok(Categorical::from_probabilities(tensor)?)
}

/// Classes, one a row; they start at 1 there.
fn labels(folder: &Path) -> Result<Tensor<1, Int>> {
    let rows = rows(open(folder, "labels.csv")?)?;
    let labels: Vec<i64> = rows.iter().map(|row| row[0] as i64 - 1).collect();
    let data = TensorData::new(labels, [rows.len()]);
    Ok(Tensor::from_data(data, &Device::default()))
}

fn rows(file: impl Read) -> Result<Vec<Vec<f64>>> {
    let mut reader = ReaderBuilder::new().has_headers(false).from_reader(file);
    Ok(reader.deserialize().collect::<csv::Result<_>>()?)
}

/// A row of a published table.
#[derive(Deserialize)]
struct Row {
    model: String,
    #[serde(flatten)]
    columns: HashMap<String, f64>,
}

/// A published table: for each network its columns by name.
fn published(folder: &Path, file: &str) -> Result<HashMap<String, HashMap<String, f64>>> {
    let mut reader = csv::Reader::from_reader(open(folder, file)?);
    let columns = |row: csv::Result<Row>| Ok(row.map(|row| (row.model, row.columns))?);
    reader.deserialize().map(columns).collect()
}

fn open(folder: &Path, file: &str) -> Result<File> {
    let path = folder.join(file);
    File::open(&path).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// A number and what was published for it.
struct Entry<'a> {
    what: &'static str,
    network: &'a str,
    ours: f64,
    published: Option<f64>,
}

fn estimates(networks: &[Network]) -> Vec<Entry<'_>> {
    let row = |(place, estimator): (usize, &'static tests::Estimates)| {
        networks.iter().map(move |network| Entry {
            what: estimator.name,
            network: &network.name,
            ours: network.outcomes[place].estimate,
            published: network.estimates.get(estimator.column).copied(),
        })
    };
    tests::estimates().flat_map(row).collect()
}

fn p_values(networks: &[Network]) -> Vec<Entry<'_>> {
    let row = |(place, test): (usize, &'static Test)| {
        networks.iter().map(move |network| Entry {
            what: test.name,
            network: &network.name,
            ours: network.outcomes[place].p_value,
            published: test
                .column
                .and_then(|column| network.p_values.get(column).copied()),
        })
    };
    TESTS.iter().enumerate().flat_map(row).collect()
}

/// Everything.
pub fn table(networks: &[Network]) -> Result<Vec<u8>> {
    let kinds = [
        ("estimate", estimates(networks)),
        ("p-value", p_values(networks)),
    ];
    let rows = kinds.iter().flat_map(|(kind, entries)| {
        let row = move |e: &Entry| (*kind, e.what, e.network.to_owned(), e.ours, e.published);
        entries.iter().map(row)
    });
    output::csv(&["kind", "of", "network", "ours", "published"], rows)
}

/// A column for each network, the published numbers in brackets.
pub fn markdown(networks: &[Network]) -> String {
    let mut text = String::new();
    for (kind, entries) in [
        ("estimate", estimates(networks)),
        ("p-value", p_values(networks)),
    ] {
        text += &format!("| {kind} |");
        for network in networks {
            text += &format!(" {} |", network.name);
        }
        text += &format!("\n| --- |{}\n", " ---: |".repeat(networks.len()));
        for row in entries.chunks(networks.len()) {
            text += &format!("| {} |", row[0].what);
            for entry in row {
                text += &match entry.published {
                    Some(published) => format!(" {} ({}) |", short(entry.ours), short(published)),
                    None => format!(" {} |", short(entry.ours)),
                };
            }
            text += "\n";
        }
        text += "\n";
    }
    text
}

/// Four decimals, or an exponent where they would show too little.
fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        tiny if tiny < 1e-15 => "< 1e-15".into(),
        small if small < 1e-3 => format!("{value:.4e}"),
        _ => format!("{value:.4}"),
    }
}
