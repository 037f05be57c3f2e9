//! What the numbers of a file are: probabilities, percentages, logarithms or logits; and probabilities that
//! sum to 1.

use rayon::prelude::*;

use crate::{
    Matrix, NumberOptions,
    error::{Result, wrong},
};

/// The distance from 1 that the sum of a row of probabilities may have.
pub const TOLERANCE: f64 = 1e-3;
/// The distance from 1 of a sum that is taken as it is, and that of a probability from [0, 1].
const EXACT: f64 = 1e-5;
/// The logarithm of a probability that is far from underflow.
const LEAST_LOG: f64 = -600.0;

/// Whether numbers are shares of a whole, 1 or 100, to which each row of several sums.
fn are_shares(matrix: &Matrix, whole: f64) -> bool {
    matrix.values.chunks(matrix.columns).all(|row| {
        let distance = || (row.iter().sum::<f64>() / whole - 1.0).abs();
        let is_sum = || row.len() == 1 || distance() <= TOLERANCE;
        row.iter().all(|p| (0.0..=whole).contains(p)) && is_sum()
    })
}

/// What is said of numbers that are no probabilities.
fn advice(matrix: &Matrix) -> &'static str {
    let is_one = matrix.columns == 1;
    if matrix.values.iter().all(|value| *value <= 0.0) {
        "; add --log-probabilities for logarithms of probabilities, or --logits for logits"
    } else if !are_shares(matrix, 100.0) {
        "; did you mean --logits, or --family for predictions of real numbers?"
    } else if is_one {
        "; add --percent for percentages, or --logits for log-odds"
    } else {
        "; these are percentages: --percent divides them by 100"
    }
}

/// Refuses probabilities as percentages.
pub fn check_percentages(matrix: &Matrix) -> Result<()> {
    if are_shares(matrix, 1.0) {
        let sum = if matrix.columns == 1 {
            ""
        } else {
            " and with sum 1"
        };
        return Err(wrong!(
            "these are probabilities, each in [0, 1]{sum}: leave out --percent, or add --force if they are percentages"
        ));
    }
    Ok(())
}

/// Refuses probabilities and percentages as logits, and logarithms of confidences.
pub fn check_logits(matrix: &Matrix, is_confidence: bool) -> Result<()> {
    let is_one = matrix.columns == 1;
    let are_shares = |whole| are_shares(matrix, whole);
    // log-odds above 40 are those of certainty
    let is_large = || matrix.values.iter().any(|value| *value > 40.0);
    let what = if are_shares(1.0) && is_one {
        "the column holds probabilities, each in [0, 1]: leave out --logits"
    } else if are_shares(1.0) {
        "the rows are probabilities, each in [0, 1] and with sum 1: leave out --logits"
    } else if (!is_one || is_large()) && are_shares(100.0) {
        "these are percentages: use --percent instead, which divides them by 100"
    } else if is_confidence && matrix.values.iter().all(|value| *value <= 0.0) {
        "these are logarithms of probabilities, each at most 0: use --log-probabilities instead"
    } else {
        return Ok(());
    };
    Err(wrong!("{what}, or add --force if they are logits"))
}

/// Checks that numbers are logarithms of probabilities. Rows whose sums are less than 1, or any with
/// `--normalise`, are those of some choices among others: each is divided by its sum, which a note says.
pub fn settle_logarithms(matrix: &mut Matrix, options: &NumberOptions) -> Result<Option<String>> {
    let columns = matrix.columns;
    let sum = |row: &[f64]| {
        let most = greatest(row).max(f64::MIN);
        most + row.iter().map(|z| (z - most).exp()).sum::<f64>().ln()
    };
    let (mut least, mut most) = (0.0f64, f64::NEG_INFINITY);
    for (row, values) in matrix.values.chunks(columns).enumerate() {
        if let Some(class) = values.iter().position(|z| z.is_nan() || *z > TOLERANCE) {
            let value = values[class];
            let wrong =
                wrong!("the logarithm is {value}, expected at most 0, that of a probability");
            return Err(wrong.at(row, format_args!("column {class}")));
        }
        if columns == 1 {
            continue;
        }
        let log = sum(values);
        let is_wrong =
            log == f64::NEG_INFINITY || log.exp() > 1.0 + TOLERANCE && !options.normalise;
        if is_wrong {
            let wrong = wrong!(
                "the probabilities of these logarithms sum to {}, expected at most 1 within {TOLERANCE}, and above 0; \
                 --normalise divides each row by its sum. Did you mean --logits?",
                log.exp()
            );
            return Err(wrong.at_row(row));
        }
        (least, most) = (least.min(log), most.max(log));
    }
    if columns == 1 || least.exp() >= 1.0 - TOLERANCE && !options.normalise {
        return Ok(None);
    }
    for values in matrix.values.chunks_mut(columns) {
        let log = sum(values);
        values.iter_mut().for_each(|z| *z -= log);
    }
    let [least, most] = [least, most].map(|log| match log.exp() {
        sum if sum < f64::MIN_POSITIVE => "less than 1e-307".into(),
        sum => format!("{sum:.3e}"),
    });
    Ok(Some(format!(
        "the probabilities of these logarithms sum to {least} to {most}: each row is divided by its sum, \
         as if there were no other choices"
    )))
}

/// Makes probabilities of logits in their place. Leaves them as they are where one is not finite, or a
/// probability is so small that its logarithm might be lost.
pub fn became_probabilities(logits: &mut Matrix) -> bool {
    let is_plain = |row: &[f64]| {
        let least = greatest(row) + LEAST_LOG;
        row.iter().all(|z| z.is_finite() && *z >= least)
    };
    let is_plain = logits.values.par_chunks(logits.columns).all(is_plain);
    if is_plain {
        let rows = logits.values.par_chunks_mut(logits.columns);
        rows.for_each(|row| {
            let greatest = greatest(row);
            row.iter_mut().for_each(|z| *z = (*z - greatest).exp());
            divide_by_sum(row);
        });
    }
    is_plain
}

fn greatest(row: &[f64]) -> f64 {
    row.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn divide_by_sum(row: &mut [f64]) {
    let sum: f64 = row.iter().sum();
    row.iter_mut().for_each(|number| *number /= sum);
}

/// Does to probabilities what `--clip` and `--normalise` say. Divides them by their sums too where these
/// are 1 within the tolerance, which it says in a note. A single column is that of an event, without sums.
pub fn settle(matrix: &mut Matrix, options: &NumberOptions) -> Result<Option<String>> {
    let columns = matrix.columns;
    let (mut worst, mut beyond) = (0.0f64, 0.0f64);
    let most = if options.normalise && columns > 1 {
        f64::MAX
    } else {
        1.0
    };
    for (row, values) in matrix.values.chunks(columns).enumerate() {
        let is_within = |value: &f64| (-EXACT..=most + EXACT).contains(value);
        if let Some(class) = values.iter().position(|value| !is_within(value)) {
            let value = values[class];
            let expected = match most {
                _ if !value.is_finite() => "a finite number",
                1.0 => "a number in [0, 1]",
                _ => "a number of at least 0",
            };
            let advice = if value.is_finite() {
                advice(matrix)
            } else {
                ""
            };
            // of an event it is that of class 1
            let class = class + usize::from(columns == 1);
            let wrong = wrong!("the probability is {value}, expected {expected}{advice}");
            return Err(wrong.at(row, format_args!("class {class}")));
        }
        let outside = |value: &f64| (-value).max(if most == 1.0 { value - 1.0 } else { 0.0 });
        beyond = values.iter().map(outside).fold(beyond, f64::max);
        if columns == 1 {
            continue;
        }
        let sum: f64 = values.iter().sum();
        if options.normalise {
            if !(sum > 0.0 && sum.is_finite()) {
                return Err(wrong!("the sum is {sum}, expected a positive number").at_row(row));
            }
            continue;
        }
        let distance = (sum - 1.0).abs();
        if distance <= EXACT {
            continue;
        }
        if distance > TOLERANCE {
            let advice = if distance > 0.5 {
                "did you mean --logits? (--normalise divides each row by its sum)"
            } else {
                "--normalise divides each row by its sum"
            };
            let wrong =
                wrong!("the probabilities sum to {sum}, expected 1 within {TOLERANCE}; {advice}");
            return Err(wrong.at_row(row));
        }
        worst = worst.max(distance);
    }
    // 1.0000001 is 1 in f32
    if beyond > 0.0 {
        let least = |value: &mut f64| *value = value.clamp(0.0, most);
        matrix.values.iter_mut().for_each(least);
    }
    if columns == 1 {
        if let Some(least) = options.clip {
            let raised = |p: f64| p.max(least) / (p.max(least) + (1.0 - p).max(least));
            matrix.values.iter_mut().for_each(|p| *p = raised(*p));
        }
        return Ok(None);
    }
    if options.normalise || options.clip.is_some() || worst > 0.0 || beyond > 0.0 {
        for values in matrix.values.chunks_mut(columns) {
            let least = options.clip.unwrap_or(0.0);
            divide_by_sum(values);
            values
                .iter_mut()
                .for_each(|value| *value = value.max(least));
            divide_by_sum(values);
        }
    }
    Ok((worst > 0.0)
        .then(|| format!("rows sum to 1 within {worst:.0e}: each row is divided by its sum")))
}
