//! The table of a study: mean ± standard error over seeds.

use std::fmt::Write;

use crate::evaluation::{Measures, Results};

/// Name, factor, digits, quantity.
type Column = (&'static str, f64, usize, fn(&Measures) -> f64);

const COLUMNS: [Column; 5] = [
    ("accuracy %", 100.0, 2, |m| m.accuracy),
    ("log loss", 1.0, 4, |m| m.log_loss),
    ("Brier", 1.0, 4, |m| m.brier),
    ("ECE %", 100.0, 2, |m| m.ece),
    ("SKCE × 10³", 1e3, 3, |m| m.skce),
];

/// Markdown, two lines for each method in the order in which they come: before and after
/// temperature scaling.
pub fn table(results: &[Results]) -> String {
    let mut text = String::from("| method | seeds | temperature |");
    COLUMNS
        .iter()
        .for_each(|(name, ..)| text += &format!(" {name} |"));
    text += " median p |\n| --- | ---: | ---: | ---: |";
    text += &" ---: |".repeat(COLUMNS.len());
    text += "\n";
    let mut methods: Vec<String> = results.iter().map(|result| result.run.method()).collect();
    methods.dedup();
    for method in methods {
        let runs: Vec<_> = results
            .iter()
            .filter(|result| result.run.method() == method)
            .collect();
        let over_runs = |f: &dyn Fn(&Results) -> f64, factor: f64, digits: usize| {
            let values: Vec<f64> = runs.iter().map(|run| factor * f(run)).collect();
            mean_and_error(&values, digits)
        };
        let temperature = over_runs(&|run| run.evaluation.temperature, 1.0, 3);
        for (name, temperature, of) in [
            (
                method.clone(),
                String::new(),
                (|run| &run.evaluation.before) as fn(&Results) -> &Measures,
            ),
            (
                format!("{method}, temperature scaling"),
                temperature,
                |run| &run.evaluation.after,
            ),
        ] {
            write!(text, "| {name} | {} | {temperature} |", runs.len())
                .expect("a string takes all");
            for (_, factor, digits, measure) in COLUMNS {
                let cell = over_runs(&|run| measure(of(run)), factor, digits);
                write!(text, " {cell} |").expect("a string takes all");
            }
            let p_values = runs.iter().map(|run| of(run).p_value).collect();
            writeln!(text, " {} |", median_p_value(p_values)).expect("a string takes all");
        }
    }
    text
}

/// `mean ± standard error`; the number alone of one.
fn mean_and_error(values: &[f64], digits: usize) -> String {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    match values.len() {
        1 => format!("{mean:.digits$}"),
        _ => format!(
            "{mean:.digits$} ± {:.digits$}",
            (squares / (n - 1.0) / n).sqrt()
        ),
    }
}

/// The least p-value of 999 redraws: no smaller one is known.
const LEAST: f64 = 1e-3;

/// The middle one, the larger of the two where their number is even.
fn median_p_value(mut values: Vec<f64>) -> String {
    values.sort_by(f64::total_cmp);
    match values[values.len() / 2] {
        p if p <= LEAST => format!("≤ {LEAST}"),
        p => format!("{p:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{mean_and_error, median_p_value};

    /// 1, 2, 3: standard deviation 1, standard error 1/√3.
    #[test]
    fn by_hand() {
        assert_eq!(mean_and_error(&[1.0, 2.0, 3.0], 3), "2.000 ± 0.577");
        assert_eq!(mean_and_error(&[1.5], 1), "1.5");
        assert_eq!(median_p_value(vec![0.5, 0.001, 0.001]), "≤ 0.001");
        assert_eq!(median_p_value(vec![0.25, 0.012]), "0.250");
    }
}
