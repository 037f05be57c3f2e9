//! Which calibration penalty, at which weight? The study of docs/penalties.md, and the same for a table of
//! yours.
//!
//! ```sh
//! cargo run --release -p burn-calibration-papers --example penalties -- --data FILE.csv.gz --label COLUMN
//! ```

mod arguments;
mod data;
mod first_step;
mod losses;
mod network;
mod parallel;
mod picture;
#[path = "../rows.rs"]
mod rows;
mod setting;
mod study;
mod table;
mod task;
mod training;

use std::path::Path;

use arguments::Arguments;
use burn::tensor::Device;
use clap::Parser;
use data::Table;
use indicatif::{ProgressBar, ProgressStyle};
use rows::Rows;
use study::{Plan, Study};

type Result<T, E = Box<dyn std::error::Error + Send + Sync>> = std::result::Result<T, E>;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let plan = Plan::new(&arguments)?;
    let table = |name: &String| match name.as_str() {
        "digits" => Table::digits(),
        path => Table::read(
            Path::new(path),
            arguments.label.as_deref(),
            arguments.rows,
            arguments.regression,
        ),
    };
    let tables: Vec<Table> = arguments.data.iter().map(table).collect::<Result<_>>()?;
    let results = match (arguments.smoke, arguments.table) {
        (true, _) => Rows::in_memory(),
        (false, true) => Rows::read(&arguments.results)?,
        (false, false) => Rows::open(&arguments.results)?,
    };

    let all = tables.iter().map(|table| plan.trainings(table)).sum();
    let progress = ProgressBar::new(all).with_style(ProgressStyle::with_template(
        "{msg} {bar:40} {pos}/{len} {elapsed}, {eta} left",
    )?); // drawn on a terminal only
    let device = Device::flex();
    let study = Study {
        plan: &plan,
        results: &results,
        progress: &progress,
        device: &device,
        rows: arguments.rows,
    };
    let mut of_tables = vec![];
    for table in &tables {
        progress.set_message(table.name.clone());
        if arguments.first_step {
            first_step::run(&study, table)?;
            continue;
        }
        let outcomes = study.of(table)?;
        if let Some(folder) = &arguments.pictures {
            std::fs::create_dir_all(folder)?;
            let path = folder.join(format!("{}.svg", table.name));
            if let Some(svg) = picture::svg(table, &outcomes)? {
                std::fs::write(path, svg)?;
            }
        }
        of_tables.push((table, outcomes));
    }
    progress.finish_and_clear();
    for (table, outcomes) in &of_tables {
        table::print_answer(table, outcomes);
    }
    for (table, outcomes) in &of_tables {
        table::print(table, outcomes);
    }
    if !of_tables.is_empty() {
        table::print_summary(&of_tables);
        table::print_cost(&of_tables);
    }
    Ok(())
}
