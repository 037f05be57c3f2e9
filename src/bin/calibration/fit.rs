//! `calibration fit`.

use std::fmt;

use burn::tensor::{Int, Tensor, activation::softmax};
use burn_calibration::{
    estimator::SkceForm,
    kernel::Kernel,
    loss::{MmceLossConfig, ScoreLoss, SkceLossConfig},
    recalibration::{FitProgress, Objective, Recalibration},
    score::{Brier, LogScore},
};
use serde_json::{Value, json};

use crate::{
    args::{Fit, LossName},
    input::Result,
    limits::QUADRATIC_LIMIT,
    output::key,
    progress::Progress,
    source::{device, read_labels, read_logits},
};

struct Fitted<'a> {
    args: &'a Fit,
    map: Box<dyn Recalibration>,
    n: usize,
    classes: usize,
    /// The mean log loss on these data before and after.
    log_loss: [f64; 2],
}

pub fn run(args: &Fit) -> Result<()> {
    let device = device(args.logits.device)?;
    let logits = read_logits(&args.logits, &device)?;
    let labels = read_labels(&args.labels, (&args.logits.logits, &logits))?;
    let [n, classes] = logits.dims();
    if matches!(args.loss, LossName::Skce) && n > QUADRATIC_LIMIT {
        return Err(format!(
            "--loss skce: its cost is the square of the number of samples, {n}, expected at most \
             {QUADRATIC_LIMIT}"
        ));
    }
    let map = fit(args, &logits, &labels)?;
    map.save(&args.output).map_err(|e| e.to_string())?;
    let log_loss = |logits: Tensor<2>| {
        let loss = ScoreLoss::new(LogScore).forward(logits, labels.clone());
        loss.into_scalar::<f64>()
    };
    let log_loss = [log_loss(logits.clone()), log_loss(map.forward(logits))];
    let fitted = Fitted {
        args,
        map,
        n,
        classes,
        log_loss,
    };
    match args.json {
        true => println!("{}", fitted.json()),
        false => print!("{fitted}"),
    }
    Ok(())
}

fn fit(args: &Fit, logits: &Tensor<2>, labels: &Tensor<1, Int>) -> Result<Box<dyn Recalibration>> {
    let progress = Progress::new(1);
    let mut observe = |at: FitProgress| {
        let title = format!("evaluation {}: {:.6}", at.evaluations, at.objective);
        progress.at(at.fit as u64 - 1, at.fits as u64, title);
    };
    let mut fit = |criterion: Option<&dyn Objective>| {
        let (logits, labels) = (logits.clone(), labels.clone());
        let map = (args.method.0).fit(args.seed, criterion, logits, labels, &mut observe);
        map.map_err(|e| e.to_string())
    };
    match args.loss {
        LossName::Log => fit(None),
        LossName::Brier => fit(Some(&ScoreLoss::new(Brier))),
        LossName::Mmce => fit(Some(&MmceLossConfig::new().init())),
        LossName::Skce => {
            // one criterion for the whole descent
            let points = softmax(fit(None)?.forward(logits.clone()), 1);
            let kernel = Kernel::exponential().with_bandwidth_of(&points);
            let kernel = kernel.map_err(|e| e.to_string())?;
            let loss = SkceLossConfig::new()
                .with_kernel(kernel)
                .with_form(SkceForm::Biased);
            fit(Some(&loss.init()))
        }
    }
}

impl Fitted<'_> {
    /// Whether different predictions stay different, of logits such as were given.
    fn injective(&self) -> bool {
        let promises = self.map.guarantees();
        match self.args.logits.probabilities {
            true => promises.injective_on_log_probabilities,
            false => promises.injective,
        }
    }

    fn json(&self) -> Value {
        let (promises, report) = (self.map.guarantees(), self.map.report());
        json!({
            "map": self.args.output.display().to_string(),
            "method": key(self.args.method),
            "kind": self.map.kind(),
            "loss": key(self.args.loss),
            "n": self.n,
            "classes": self.classes,
            "log_loss": { "before": self.log_loss[0], "after": self.log_loss[1] },
            "keeps_order": promises.keeps_order,
            "keeps_accuracy": promises.keeps_accuracy,
            "injective": self.injective(),
            "fit": report.map(|report| json!({
                "status": format!("{:?}", report.status),
                "objective": report.objective,
                "gradient": report.gradient,
                "evaluations": report.evaluations,
                "regularisation": report.regularisation,
            })),
        })
    }
}

impl fmt::Display for Fitted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, path) = (self.map.kind(), self.args.output.display());
        writeln!(
            f,
            "{kind} of {} predictions of {} classes, saved as {path}",
            self.n, self.classes
        )?;
        if let Some(report) = self.map.report() {
            writeln!(f, "fit:        {report}")?;
        }
        let [before, after] = self.log_loss;
        writeln!(
            f,
            "log loss:   {before:.6} before, {after:.6} after, on the data of the fit"
        )?;
        let promises = self.map.guarantees();
        let yes = |kept: bool| if kept { "yes" } else { "not always" };
        writeln!(
            f,
            "keeps the order of the classes: {}",
            yes(promises.keeps_order)
        )?;
        writeln!(
            f,
            "keeps the accuracy:             {}",
            yes(promises.keeps_accuracy)
        )?;
        writeln!(
            f,
            "injective:                      {}",
            yes(self.injective())
        )
    }
}
