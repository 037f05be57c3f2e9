//! Penalties at full weight from the first step on, with both optimisers, and with a network that predicts
//! all but the same for every sample at first: which bandwidths and weights bear it?

use statrs::statistics::Statistics;

use crate::{
    Result,
    data::{Kind, Table},
    losses::{BASE, NONE},
    setting::{On, Optimiser, Row, Setting, Width},
    study::Study,
};

const OPTIMISERS: [Optimiser; 2] = [Optimiser::Adam, Optimiser::Sgd];
/// Factors of the first weights of the output layer.
const STARTS: [f64; 2] = [1.0, 1e-6];
const WIDTHS: [Width; 3] = [
    Width::MedianAbove(1e-12),
    Width::MedianAbove(0.1),
    Width::Fixed(1.0),
];

/// On validation rows, with each of the bandwidths.
const TRIED: [(&str, f64); 5] = [
    ("skce", 4.0),
    ("root", 1.0),
    ("root", 2.0),
    ("standardised", 0.01),
    ("standardised", 0.03),
];
/// Those without a bandwidth on predictions.
const TRIED_OTHERS: [(&str, f64); 2] = [("weighted MMCE", 0.1), ("weighted MMCE", 0.3)];

/// What could be a default, on test rows.
const DEFAULTS: [(&str, f64, Width); 7] = [
    ("skce", 4.0, Width::Fixed(1.0)),
    ("root", 1.0, Width::Fixed(1.0)),
    ("standardised", 0.01, Width::Fixed(1.0)),
    ("standardised", 0.01, Width::MedianAbove(0.1)),
    ("MMD, inputs", 4.0, NONE),
    ("MMD, inputs", 20.0, NONE),
    ("weighted MMCE", 0.1, NONE),
];

/// Prints the mean log loss on validation rows, before and after recalibration, and differences to the base
/// loss on test rows.
pub fn run(study: &Study, table: &Table) -> Result<()> {
    let is_of = |loss: &str| table.kind != Kind::Real || loss != "weighted MMCE";
    let mut tried = vec![(BASE, 0.0, NONE)];
    for (loss, weight) in TRIED {
        tried.extend(WIDTHS.map(|width| (loss, weight, width)));
    }
    tried.extend(TRIED_OTHERS.map(|(loss, weight)| (loss, weight, NONE)));
    tried.retain(|(loss, ..)| is_of(loss));
    let all: Vec<Setting> = tried
        .into_iter()
        .flat_map(|t| ways(study, table, t))
        .collect();
    study.train(table, &all, &study.plan.choosing)?;
    println!("\n### {}: from the first step\n", table.name);
    println!("Validation rows: log loss, as trained → recalibrated.\n");
    head();
    for four in all.chunks(4) {
        let cell = |setting: &Setting| {
            let [before, after] = study.log_losses(setting);
            format!("{before:.3} → {after:.3}")
        };
        line(four, cell);
    }

    let on_test = |setting| Setting {
        on: On::Test,
        ..setting
    };
    let of = |default| ways(study, table, default).map(on_test);
    let base = of((BASE, 0.0, NONE));
    let defaults: Vec<[Setting; 4]> = (DEFAULTS.into_iter().filter(|(loss, ..)| is_of(loss)))
        .map(of)
        .collect();
    let all: Vec<Setting> = defaults.iter().flatten().chain(&base).cloned().collect();
    study.train(table, &all, &study.plan.reported)?;
    println!("\nTest rows: log loss as trained, of the base loss, and the difference to it.\n");
    head();
    let rows = |setting: &Setting| study.rows(setting, &study.plan.reported);
    let log_loss = |row: &Row| row.before.map_or(f64::INFINITY, |n| n.log_loss);
    line(&base, |setting| {
        format!("{:.3}", rows(setting).iter().map(log_loss).mean())
    });
    for four in &defaults {
        let cell = |setting: &Setting| {
            let same = |base: &&Setting| {
                base.optimiser == setting.optimiser && base.start == setting.start
            };
            let base = base.iter().find(same).map_or(vec![], rows);
            let pairs = rows(setting).into_iter().zip(base);
            let differences: Vec<f64> = pairs
                .map(|(row, base)| log_loss(&row) - log_loss(&base))
                .collect();
            let error = differences.as_slice().std_dev() / (differences.len() as f64).sqrt();
            format!("{:+.3} ± {error:.3}", differences.as_slice().mean())
        };
        line(four, cell);
    }
    Ok(())
}

/// A penalty with each optimiser from each start.
fn ways(study: &Study, table: &Table, (loss, weight, width): (&str, f64, Width)) -> [Setting; 4] {
    let of = |optimiser, start| Setting {
        loss: loss.into(),
        weight,
        width,
        optimiser,
        start,
        warm_up: 0.0,
        ..study.base(table)
    };
    let [adam, sgd] = OPTIMISERS.map(|optimiser| STARTS.map(|start| of(optimiser, start)));
    let ([a, b], [c, d]) = (adam, sgd);
    [a, b, c, d]
}

fn head() {
    println!("| penalty | bandwidth | Adam | Adam, 10⁻⁶ | SGD | SGD, 10⁻⁶ |");
    println!("| --- | --- | ---: | ---: | ---: | ---: |");
}

fn line(four: &[Setting], cell: impl Fn(&Setting) -> String) {
    let cells: Vec<String> = four.iter().map(cell).collect();
    let Setting {
        loss,
        weight,
        width,
        ..
    } = &four[0];
    match loss.as_str() {
        BASE => println!("| {BASE} | | {} |", cells.join(" | ")),
        _ => println!(
            "| {loss} × {weight} | {} | {} |",
            width.name(),
            cells.join(" | ")
        ),
    }
}
