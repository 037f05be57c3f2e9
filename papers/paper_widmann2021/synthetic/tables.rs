//! The numbers beside those of the paper.

use serde::Deserialize;

use super::{
    study::{LEVEL, Results, Summary, settings},
    tests::TESTS,
};
use crate::{Result, arguments::Arguments};

/// A row of the published numbers: of <https://github.com/devmotion/Calibration_ICLR2021>, folder
/// `experiments/data/synthetic`.
#[derive(Deserialize)]
struct Published {
    quantity: String,
    model: String,
    of: String,
    d: usize,
    n: usize,
    published: f64,
}

const PUBLISHED: &str = include_str!("published.csv");

/// What is estimated of the results of a test.
struct Quantity<'a> {
    name: &'static str,
    value: &'a dyn Fn(&Results, usize) -> Option<f64>,
    format: fn(f64) -> String,
}

pub fn markdown(results: &[Results], arguments: &Arguments) -> Result<String> {
    let published = csv::Reader::from_reader(PUBLISHED.as_bytes())
        .into_deserialize()
        .collect::<csv::Result<Vec<Published>>>()?;
    let of_estimators = TESTS.iter().enumerate();
    let estimators: Vec<(usize, &str)> = of_estimators
        .filter_map(|(place, test)| Some((place, test.estimator?)))
        .collect();
    let of_tests = TESTS.iter().enumerate();
    let tests: Vec<(usize, &str)> = of_tests.map(|(place, test)| (place, test.name)).collect();

    let mut text = format!(
        "Synthetic models, {} data sets, published numbers (500 data sets) in brackets.\n",
        arguments.datasets
    );
    for (name, value) in [
        ("mean absolute error", Results::mean_error as Summary),
        ("variance", Results::variance),
    ] {
        let quantity = Quantity {
            name,
            value: &|results, test| Some(value(results, test)),
            format: |x| format!("{x:.1e}"),
        };
        text += &tables(results, &published, &quantity, &estimators);
    }
    let quantity = Quantity {
        name: "test error",
        value: &Results::test_error,
        format: |x| format!("{:.1}", 100.0 * x),
    };
    text += &format!(
        "\nTest errors in per cent at level {} %: rejections of the calibrated model, acceptances of the \
         uncalibrated one.\n",
        100.0 * LEVEL
    );
    text += &tables(results, &published, &quantity, &tests);
    for r in results {
        for (test, name) in &tests {
            let share = r.share(*test);
            if share > 0.0 && share < 1.0 {
                text += &format!(
                    "\n{name}, {}, d = {}, n = {}: of {:.1} % of the data sets; on the others the covariance is \
                     singular to rounding.",
                    r.model.name(),
                    r.d,
                    r.n,
                    100.0 * share
                );
            }
        }
    }
    Ok(text + "\n")
}

/// A table for each dimension and model, a column for each size.
fn tables(
    results: &[Results],
    published: &[Published],
    quantity: &Quantity,
    rows: &[(usize, &str)],
) -> String {
    let mut text = String::new();
    for (model, d) in settings(results) {
        let of = |r: &&Results| r.d == d && r.model == model;
        let columns: Vec<&Results> = results.iter().filter(of).collect();
        text += &format!("\n| {}, {}, d = {d} |", quantity.name, model.name());
        for r in &columns {
            text += &format!(" n = {} |", r.n);
        }
        text += &format!("\n| --- |{}\n", " ---: |".repeat(columns.len()));
        for (test, name) in rows {
            text += &format!("| {name} |");
            for r in &columns {
                let theirs = published.iter().find(|p| {
                    (p.quantity.as_str(), p.of.as_str()) == (quantity.name, name)
                        && (p.model.as_str(), p.d, p.n) == (model.name(), d, r.n)
                });
                let ours = (quantity.value)(r, *test).map(quantity.format);
                text += &format!(" {}", ours.unwrap_or("–".into()));
                if let Some(theirs) = theirs {
                    text += &format!(" ({})", (quantity.format)(theirs.published));
                }
                text += " |";
            }
            text += "\n";
        }
    }
    text
}
