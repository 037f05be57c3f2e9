use std::fmt::Write;

use burn_calibration::{
    distribution::Categorical,
    prelude::*,
    recalibration::Guarantees,
    score::{Interval, MeanEstimate},
};
use rand::{SeedableRng, rngs::StdRng};

use crate::{Result, reading::Predictions};

/// A line of the table: predictions of held-out samples, and what they gained.
pub struct Row {
    method: &'static str,
    /// What the map keeps, and how many seconds its fit took.
    fitted: Option<(Guarantees, f64)>,
    log: f64,
    log_gain: MeanEstimate,
    brier: f64,
    ece: f64,
    /// Of the top label, with its 95 % interval.
    overconfidence: Interval,
    skce: f64,
    /// Of the omnibus test.
    p_value: f64,
}

impl Row {
    pub fn evaluate(
        method: &'static str,
        fitted: Option<(Guarantees, f64)>,
        before: &Categorical,
        after: &Categorical,
        data: &Predictions,
        kernel: Kernel,
    ) -> Result<Self> {
        let labels = &data.labels;
        let log = LogScore.improvement(before, after, labels)?;
        let test = OmnibusTest::new().with_kernel(kernel);
        let outcome = test.outcome(after, labels, &mut StdRng::seed_from_u64(0))?;
        let overconfidence = Overconfidence::default().size(after, labels)?;
        Ok(Self {
            method,
            fitted,
            log: log.after.estimate,
            log_gain: log.difference,
            brier: Brier.upper_bound(after, labels)?.estimate,
            ece: Ece::default().estimate(after, labels)?,
            overconfidence: overconfidence.interval(0.95)?,
            skce: Skce::unbiased(kernel).estimate(after, labels)?,
            p_value: outcome.p_value,
        })
    }
}

/// A table in Markdown.
pub fn table(name: &str, n: usize, rows: &[Row]) -> String {
    let mut text = format!("### {name}, {n} held-out predictions\n\n");
    text += "| map | log loss | change of it | Brier | ECE % | overconfidence, points | SKCE × 10⁵ | p-value | order kept, injective | fit, s |\n";
    text += "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: |\n";
    for row in rows {
        let gain = &row.log_gain;
        let (keeps, seconds) = match row.fitted {
            None => (String::new(), String::new()),
            Some((promises, seconds)) => {
                let yes = |kept: bool| if kept { "yes" } else { "no" };
                // the logits are log-probabilities
                let injective = promises.injective_on_log_probabilities;
                let keeps = [promises.keeps_order, injective].map(yes).join(", ");
                (keeps, format!("{seconds:.3}"))
            }
        };
        let change = match row.fitted {
            None => String::new(),
            Some(_) => format!("{:+.4} ± {:.4}", gain.estimate, gain.standard_error),
        };
        let p = match row.p_value {
            p if p <= 1e-3 => "≤ 0.001".into(), // 999 redraws say no more
            p => format!("{p:.3}"),
        };
        let [over, lower, upper] = [
            row.overconfidence.estimate,
            row.overconfidence.lower,
            row.overconfidence.upper,
        ]
        .map(|share| 100.0 * share);
        writeln!(
            text,
            "| {} | {:.4} | {change} | {:.4} | {:.2} | {over:.2} [{lower:.2}, {upper:.2}] | {:.2} | {p} | {keeps} | {seconds} |",
            row.method,
            row.log,
            row.brier,
            100.0 * row.ece,
            1e5 * row.skce
        )
        .expect("a string takes all");
    }
    text
}
