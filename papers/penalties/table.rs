//! The tables, in Markdown.

use statrs::statistics::Statistics;

use crate::{
    data::{Kind, Table},
    losses::BASE,
    setting::{Numbers, Row, Setting},
    study::{Outcome, Point, RULES, Rule},
};

/// A column: its title for classes and for numbers, a number, its factor and decimals.
struct Column {
    titles: [&'static str; 2],
    of: fn(&Numbers) -> f64,
    factors: [f64; 2],
    decimals: usize,
}

const COLUMNS: [Column; 5] = [
    Column {
        titles: ["accuracy %", "RMSE"],
        of: |n| n.accuracy,
        factors: [100.0, 1.0],
        decimals: 3,
    },
    Column {
        titles: ["log loss", "log loss"],
        of: |n| n.log_loss,
        factors: [1.0, 1.0],
        decimals: 3,
    },
    Column {
        titles: ["Brier", "CRPS"],
        of: |n| n.brier,
        factors: [1.0, 1.0],
        decimals: 3,
    },
    Column {
        titles: ["SKCE × 10⁴", "SKCE × 10⁴"],
        of: |n| n.skce,
        factors: [1e4, 1e4],
        decimals: 1,
    },
    Column {
        titles: ["ECE %", "quantile error %"],
        of: |n| n.ece,
        factors: [100.0, 100.0],
        decimals: 1,
    },
];

/// The rejections of the omnibus test are at this level.
const LEVEL: f64 = 0.05;

/// A table of one data set: each cell is before → after recalibration.
pub fn print(table: &Table, outcomes: &[Outcome]) {
    let kind = usize::from(table.kind == Kind::Real);
    let what = match table.kind {
        Kind::Classes(m) => format!("{m} classes"),
        Kind::Real => "a number".into(),
    };
    let split = table.split(0);
    println!(
        "\n### {}\n\n{} inputs, {what}; {} rows to train, {} to validate, {} to test.{}\n",
        table.name,
        table.width(),
        split.training.rows.len(),
        split.validation.rows.len(),
        split.test.rows.len(),
        outcomes
            .iter()
            .find(|o| o.loss == BASE && o.tuned)
            .map_or(String::new(), |o| format!(
                " Tuned: weight decay {}, {} epochs.",
                o.setting.decay, o.setting.epochs
            )),
    );
    for rule in RULES {
        let titles: Vec<_> = COLUMNS.iter().map(|column| column.titles[kind]).collect();
        println!("\n{}:\n", rule.description());
        println!(
            "| training | loss | weight | bandwidth | {} | rejected | T |",
            titles.join(" | ")
        );
        println!(
            "| --- | --- | ---: | ---: |{} ---: | ---: |",
            " ---: |".repeat(titles.len())
        );
        for tuned in [false, true] {
            let of = |outcome: &&Outcome| outcome.tuned == tuned && outcome.rule == rule;
            outcomes
                .iter()
                .filter(of)
                .for_each(|outcome| line(outcome, kind));
        }
    }
}

/// What to take, by the validation rows, with recalibration and without.
pub fn print_answer(table: &Table, outcomes: &[Outcome]) {
    for rule in RULES {
        let log_loss = |outcome: &Outcome| {
            let at = |point: &&Point| point.weight == outcome.setting.weight;
            let of_rule = |point: &Point| match rule {
                Rule::Recalibrated => point.after.log_loss,
                Rule::AsTrained => point.before.log_loss,
            };
            outcome.curve.iter().find(at).map_or(f64::INFINITY, of_rule)
        };
        let least = |of: &dyn Fn(&&Outcome) -> bool| {
            let outcomes = outcomes.iter().filter(|o| o.rule == rule).filter(of);
            outcomes.min_by(|a, b| log_loss(a).total_cmp(&log_loss(b)))
        };
        let base = least(&|o| o.loss == BASE);
        let penalised = least(&|o| o.loss != BASE);
        if let (Some(base), Some(penalised)) = (base, penalised) {
            let of = |o: &Outcome| {
                let Setting { decay, epochs, .. } = o.setting;
                let log_loss = log_loss(o);
                format!("weight decay {decay}, {epochs} epochs: log loss {log_loss:.3}")
            };
            println!(
                "{}, {}: the base loss, {}; the best penalty, {} × {} at bandwidth {}, {}.",
                table.name,
                rule.name(),
                of(base),
                penalised.loss,
                penalised.setting.weight,
                penalised.setting.width.name(),
                of(penalised)
            );
        }
    }
}

fn line(outcome: &Outcome, kind: usize) {
    let training = if outcome.tuned { "tuned" } else { "plain" };
    let Setting { weight, width, .. } = outcome.setting;
    let [weight, width] = match outcome.loss {
        BASE => ["".into(), "".into()],
        _ => [weight.to_string(), width.name()],
    };
    let cell = |column: &Column| {
        let Column {
            of,
            decimals,
            factors,
            ..
        } = column;
        let decimals = if factors[kind] == 100.0 { 1 } else { *decimals };
        let number = |numbers: fn(&Row) -> Option<Numbers>| {
            let values = outcome
                .rows
                .iter()
                .map(|row| numbers(row).map_or(f64::NAN, |n| of(&n)));
            format!("{:.decimals$}", factors[kind] * values.mean())
        };
        arrow(number(|row| row.before), number(|row| row.after))
    };
    let cells: Vec<String> = COLUMNS.iter().map(cell).collect();
    let rejected = |numbers: fn(&Row) -> Option<Numbers>| {
        let p = outcome.rows.iter().filter_map(|row| numbers(row)?.p_value);
        p.filter(|p| *p <= LEVEL).count().to_string()
    };
    let temperature = outcome
        .rows
        .iter()
        .map(|row| row.temperature.unwrap_or(f64::NAN))
        .mean();
    println!(
        "| {training} | {} | {weight} | {width} | {} | {} of {} | {temperature:.2} |",
        outcome.loss,
        cells.join(" | "),
        arrow(rejected(|row| row.before), rejected(|row| row.after)),
        outcome.rows.len(),
    );
}

fn arrow(before: String, after: String) -> String {
    match before == after {
        true => before,
        false => format!("{before} → {after}"),
    }
}

/// What is compared with the base loss after recalibration.
#[derive(Clone, Copy)]
struct Question {
    rule: Rule,
    /// Before or after recalibration.
    recalibrated: bool,
    /// A penalty on plain or tuned training.
    tuned: bool,
    /// The base loss of plain or tuned training.
    against: bool,
}

/// Differences of the log loss to the base loss after recalibration, over data sets.
pub fn print_summary(of_tables: &[(&Table, Vec<Outcome>)]) {
    let questions = [
        (Rule::Recalibrated, true),
        (Rule::AsTrained, false),
        (Rule::Recalibrated, false),
    ];
    for (rule, recalibrated) in questions {
        for (tuned, against) in [(false, false), (false, true), (true, true)] {
            let name = |tuned| if tuned { "tuned" } else { "plain" };
            println!(
                "\n### {} training {} recalibration, against the {} base loss after it\n\n{}.\n",
                name(tuned),
                if recalibrated { "after" } else { "without" },
                name(against),
                rule.description()
            );
            summary(
                of_tables,
                Question {
                    rule,
                    recalibrated,
                    tuned,
                    against,
                },
            );
        }
    }
}

/// Mean differences of the same seeds with their standard errors, and how they count.
fn summary(of_tables: &[(&Table, Vec<Outcome>)], question: Question) {
    println!(
        "| loss | {} | no worse | worse | better |",
        names(of_tables)
    );
    println!(
        "| --- |{} ---: | ---: | ---: |",
        " ---: |".repeat(of_tables.len())
    );
    for loss in losses(of_tables) {
        let mut counts = [0; 3];
        let cells = of_tables.iter().map(|(_, outcomes)| {
            let Some((mean, error)) = difference(outcomes, loss, question) else {
                return String::new();
            };
            counts[0] += usize::from(mean <= error);
            counts[1] += usize::from(mean > 2.0 * error || !mean.is_finite());
            counts[2] += usize::from(mean < -2.0 * error);
            format!("{mean:+.3} ± {error:.3}")
        });
        let cells: Vec<String> = cells.collect();
        let [no_worse, worse, better] = counts;
        println!(
            "| {loss} | {} | {no_worse} | {worse} | {better} |",
            cells.join(" | ")
        );
    }
}

fn names(of_tables: &[(&Table, Vec<Outcome>)]) -> String {
    let names: Vec<&str> = of_tables
        .iter()
        .map(|(table, _)| table.name.as_str())
        .collect();
    names.join(" | ")
}

/// Those of any table, in the order of the first that has them.
fn losses(of_tables: &[(&Table, Vec<Outcome>)]) -> Vec<&'static str> {
    let mut losses = vec![];
    for outcome in of_tables.iter().flat_map(|(_, outcomes)| outcomes) {
        if !losses.contains(&outcome.loss) {
            losses.push(outcome.loss);
        }
    }
    losses
}

/// The mean difference of the log loss to that of the recalibrated base loss, and its standard error; not
/// finite if a training diverged, nothing if nothing is there.
fn difference(outcomes: &[Outcome], loss: &str, question: Question) -> Option<(f64, f64)> {
    let find = |loss: &str, rule, tuned| {
        let of = |o: &&Outcome| o.loss == loss && o.rule == rule && o.tuned == tuned;
        outcomes.iter().find(of)
    };
    let other = find(loss, question.rule, question.tuned)?;
    let base = find(BASE, Rule::Recalibrated, question.against)?;
    let of = |numbers: Option<Numbers>| numbers.map_or(f64::INFINITY, |n| n.log_loss);
    let differences = other.rows.iter().filter_map(|row| {
        let same = base
            .rows
            .iter()
            .find(|base| base.setting.seed == row.setting.seed)?;
        let numbers = if question.recalibrated {
            row.after
        } else {
            row.before
        };
        Some(of(numbers) - of(same.after))
    });
    let differences: Vec<f64> = differences.collect();
    let n = differences.len();
    (n > 0).then(|| match n {
        1 => (differences[0], f64::NAN),
        _ => (
            differences.as_slice().mean(),
            differences.as_slice().std_dev() / (n as f64).sqrt(),
        ),
    })
}

/// A step of training relative to one of the base loss: the least median of any network.
pub fn print_cost(of_tables: &[(&Table, Vec<Outcome>)]) {
    println!("\n### Cost of a step, relative to the base loss\n");
    println!("| loss | {} |", names(of_tables));
    println!("| --- |{}", " ---: |".repeat(of_tables.len()));
    let least = |outcomes: &[Outcome], loss: &str| {
        let of = outcomes
            .iter()
            .filter(|o| o.loss == loss)
            .flat_map(|o| &o.rows);
        of.filter_map(|row| row.step).fold(f64::INFINITY, f64::min)
    };
    for loss in losses(of_tables) {
        let cells = of_tables.iter().map(|(_, outcomes)| {
            let (step, base) = (least(outcomes, loss), least(outcomes, BASE));
            match loss {
                BASE => format!("{base:.0} µs"),
                _ if step.is_finite() => format!("{:.2}", step / base),
                _ => String::new(),
            }
        });
        println!("| {loss} | {} |", cells.collect::<Vec<_>>().join(" | "));
    }
}
