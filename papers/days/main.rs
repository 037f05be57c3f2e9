//! Writes the files that the pages `docs/day_*.md` work with: simulated, so that anyone can make them again.
//!
//! ```sh
//! cargo run --release -p burn-calibration-papers --example days -- FOLDER
//! ```

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use burn_calibration::file;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use rand_distr::{Beta, Distribution, Gamma, Normal, Poisson};
use serde_json::json;
use statrs::distribution::{DiscreteCDF, Poisson as PoissonLaw};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args()
        .nth(1)
        .ok_or("expected a folder for the files")?;
    let folder = PathBuf::from(folder);
    fs::create_dir_all(&folder)?;
    let mut rng = StdRng::seed_from_u64(0);
    language_model(&folder, &mut rng)?;
    risks(&folder, &mut rng)?;
    forecasts(&folder, &mut rng)
}

fn write(folder: &Path, name: &str, lines: &[String]) -> Result<(), Box<dyn Error>> {
    let text = lines.join("\n") + "\n";
    Ok(file::write(&folder.join(name), text.as_bytes())?)
}

/// Answers to multiple-choice questions, as an evaluation harness logs them: the log-probabilities of four choices,
/// not normalised, and what the model said its confidence was, in percent. The log-probabilities are those of a
/// calibrated model times 2, and the confidences are 80, 90, 95 or 100.
fn language_model(folder: &Path, rng: &mut StdRng) -> Result<(), Box<dyn Error>> {
    let normal = Normal::new(0.0, 1.5)?;
    for (name, questions) in [("held_out.jsonl", 800), ("test.jsonl", 1200)] {
        let mut lines = Vec::new();
        for id in 0..questions {
            let logits: Vec<f64> = normal.sample_iter(&mut *rng).take(4).collect();
            let sum: f64 = logits.iter().map(|z| z.exp()).sum();
            let mut rest = rng.random::<f64>() * sum;
            let passes = |z: &f64| {
                rest -= z.exp();
                rest < 0.0
            };
            let target = logits.iter().position(passes).unwrap_or(3);
            let best = (0..4).max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
            let best = best.expect("four choices");
            let of_best = logits[best].exp() / sum;
            let confidence = match of_best {
                p if p < 0.4 => 80,
                p if p < 0.6 => 90,
                p if p < 0.8 => 95,
                _ => 100,
            };
            let logged: Vec<f64> = logits.iter().map(|z| round(2.0 * z - 12.0, 4)).collect();
            lines.push(
                json!({
                    "doc_id": id, "target": target, "log_probabilities": logged,
                    "confidence": confidence, "correct": u8::from(target == best),
                })
                .to_string(),
            );
        }
        write(folder, name, &lines)?;
    }
    Ok(())
}

/// Patients with one event in a thousand: the risks of a model that was trained on as many events as others, and
/// the weights of a survey, in which older patients are underrepresented and have more events than they are told.
fn risks(folder: &Path, rng: &mut StdRng) -> Result<(), Box<dyn Error>> {
    let score = Normal::new(0.0, 1.2)?;
    let mut lines = vec!["risk,age,weight,event".to_owned()];
    for _ in 0..60_000 {
        let is_old = rng.random_bool(0.2);
        let x = score.sample(rng);
        let log_odds = x - 7.7;
        let of_age = if is_old { 0.7 } else { 0.0 };
        let truth = sigmoid(log_odds + of_age);
        let event = u8::from(rng.random_bool(truth));
        let risk = sigmoid(log_odds + 999f64.ln());
        let (age, weight) = if is_old { ("old", 2.5) } else { ("young", 0.7) };
        lines.push(format!("{risk:.6},{age},{weight},{event}"));
    }
    write(folder, "patients.csv", &lines)
}

/// The levels of the forecasts, those of the forecast hubs that have seven.
const LEVELS: [f64; 7] = [0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975];
const DRAWS: usize = 50;

/// Counts of a day, which are negative binomial; the forecasts know their mean and take them for Poisson. As quantiles
/// and as an ensemble of draws, and a second ensemble from the right law.
fn forecasts(folder: &Path, rng: &mut StdRng) -> Result<(), Box<dyn Error>> {
    let names: Vec<String> = LEVELS
        .iter()
        .map(|level| format!("quantile_{level}"))
        .collect();
    let draws: Vec<String> = (0..DRAWS).map(|draw| format!("draw_{draw}")).collect();
    for (part, days) in [("past", 300), ("new", 300)] {
        let mut quantiles = vec![names.join(",")];
        let mut ensemble = vec![draws.join(",")];
        let mut wider = vec![draws.join(",")];
        let mut counts = vec!["count".to_owned()];
        for day in 0..days {
            let season = 1.0 + 0.5 * (day as f64 / 28.0).sin();
            let mean = 12.0 * season * (0.5 + Beta::new(2.0, 2.0)?.sample(rng));
            let overdispersed = Gamma::new(6.0, mean / 6.0)?;
            let mut count = |law: &Gamma<f64>| -> Result<f64, Box<dyn Error>> {
                Ok(Poisson::new(law.sample(rng))?.sample(rng))
            };
            counts.push(count(&overdispersed)?.to_string());
            let right: Result<Vec<_>, _> = (0..DRAWS).map(|_| count(&overdispersed)).collect();
            wider.push(row(&right?));
            let law = PoissonLaw::new(mean)?;
            quantiles.push(row(&LEVELS.map(|level| law.inverse_cdf(level) as f64)));
            let narrow = Poisson::new(mean)?;
            ensemble.push(row(&narrow
                .sample_iter(&mut *rng)
                .take(DRAWS)
                .collect::<Vec<_>>()));
        }
        write(folder, &format!("{part}_quantiles.csv"), &quantiles)?;
        write(folder, &format!("{part}_ensemble.csv"), &ensemble)?;
        write(folder, &format!("{part}_wider.csv"), &wider)?;
        write(folder, &format!("{part}_counts.csv"), &counts)?;
    }
    Ok(())
}

fn sigmoid(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

fn row(numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(f64::to_string).collect();
    numbers.join(",")
}

fn round(number: f64, decimals: i32) -> f64 {
    let unit = 10f64.powi(decimals);
    (number * unit).round() / unit
}
