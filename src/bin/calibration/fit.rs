//! `calibration fit`.

use std::fmt;

use burn::tensor::{Int, Tensor, activation::softmax};
use burn_calibration::{
    distribution::Categorical,
    estimator::SkceForm,
    kernel::Kernel,
    loss::{MmceLossConfig, ScoreLoss, SkceLossConfig},
    recalibration::{
        AutoRecalibrationConfig, Choice, Fit as _, FitProgress, FitReport, Guarantees, Keep,
        Objective, Recalibration,
    },
    score::{Brier, LogScore},
};
use serde::Serialize;

use crate::{
    args::{Fit, KeepName, LossName},
    finite,
    input::Result,
    kind::Kind,
    limits::QUADRATIC_LIMIT,
    methods::takes_zeros,
    progress::Progress,
    rows::logits,
    show::GuaranteeLines,
    words::{Pair, key, show},
};

#[derive(Serialize)]
struct Fitted {
    /// The file of the map.
    map: String,
    method: String,
    kind: &'static str,
    loss: String,
    n: usize,
    classes: usize,
    /// The mean log loss on these data.
    log_loss: Pair<f64>,
    /// The guarantees for logits such as were given.
    #[serde(flatten)]
    guarantees: Guarantees,
    fit: Option<FitReport>,
    /// Why this map, unless it was named.
    choice: Option<Choice>,
}

pub fn run(args: &Fit) -> Result<()> {
    let (sets, labels) = Categorical::read(&[&args.predictions], &args.source)?;
    let takes_zeros = args.method.is_some_and(|method| takes_zeros(method.0));
    let logits = logits(&args.predictions, &sets[0], takes_zeros)?;
    let [n, classes] = logits.dims();
    if matches!(args.loss, LossName::Skce) && n > QUADRATIC_LIMIT {
        return Err(format!(
            "--loss skce: its cost is the square of the number of samples, {n}, expected at most \
             {QUADRATIC_LIMIT}"
        ));
    }
    let (map, choice) = fit(args, &logits, &labels)?;
    let log_loss = |logits: Tensor<2>| {
        let loss = ScoreLoss::new(LogScore).forward(logits, labels.clone());
        loss.into_scalar::<f64>()
    };
    let promises = map.guarantees();
    let fitted = Fitted {
        map: args.output.display().to_string(),
        method: match (args.method, &choice) {
            (None, Some(choice)) => choice.chosen.into(),
            (method, _) => method.map_or(String::new(), key),
        },
        kind: map.kind(),
        loss: key(args.loss),
        n,
        classes,
        log_loss: [log_loss(logits.clone()), log_loss(map.forward(logits))].into(),
        guarantees: Guarantees {
            injective: match args.source.rows.logits {
                true => promises.injective,
                false => promises.injective_on_log_probabilities,
            },
            ..promises
        },
        fit: map.report().copied(),
        choice,
    };
    finite::check(&fitted)?;
    map.save(&args.output).map_err(|e| e.to_string())?;
    show(&fitted, args.json)
}

type Map = (Box<dyn Recalibration>, Option<Choice>);

fn fit(args: &Fit, logits: &Tensor<2>, labels: &Tensor<1, Int>) -> Result<Map> {
    let progress = Progress::new(1);
    let mut observe = |at: FitProgress| {
        let title = format!("evaluation {}: {:.6}", at.evaluations, at.objective);
        progress.at(at.fit as u64 - 1, at.fits as u64, title);
    };
    let mut fit = |criterion: Option<&dyn Objective>| {
        let (logits, labels) = (logits.clone(), labels.clone());
        let map = match args.method {
            Some(method) => {
                let map = (method.0).fit(args.seed, criterion, logits, labels, &mut observe);
                map.map(|map| (map, None))
            }
            None => {
                let config = AutoRecalibrationConfig::new()
                    .with_keep(args.keep.map(|keep| asked(keep, args.source.rows.logits)))
                    .with_seed(args.seed);
                let map = config.fit_observed(criterion, logits, labels, &mut observe);
                map.map(|map| {
                    let choice = map.choice().clone();
                    (map.into_map(), Some(choice))
                })
            }
        };
        map.map_err(|e| e.to_string())
    };
    match args.loss {
        LossName::Log => fit(None),
        LossName::Brier => fit(Some(&ScoreLoss::new(Brier))),
        LossName::Mmce => fit(Some(&MmceLossConfig::new().init())),
        LossName::Skce => {
            // one criterion for the whole descent
            let points = softmax(fit(None)?.0.forward(logits.clone()), 1);
            let kernel = Kernel::exponential().with_bandwidth_of(&points);
            let kernel = kernel.map_err(|e| e.to_string())?;
            let loss = SkceLossConfig::new()
                .with_kernel(kernel)
                .with_form(SkceForm::Biased);
            fit(Some(&loss.init()))
        }
    }
}

/// What is to be kept, of logits or of the logarithms of probabilities.
fn asked(keep: KeepName, logits: bool) -> Keep {
    match (keep, logits) {
        (KeepName::Accuracy, _) => Keep::Accuracy,
        (KeepName::Order, _) => Keep::Order,
        (KeepName::Information, true) => Keep::Information,
        (KeepName::Information, false) => Keep::InformationOfLogProbabilities,
    }
}

impl fmt::Display for Fitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, n, classes) = (self.kind, self.n, self.classes);
        writeln!(
            f,
            "{kind} of {n} predictions of {classes} classes, saved as {}",
            self.map
        )?;
        if let Some(report) = self.fit {
            writeln!(f, "fit:        {report}")?;
        }
        if let Some(choice) = &self.choice {
            write!(f, "{choice}")?;
        }
        let Pair { before, after } = self.log_loss;
        writeln!(
            f,
            "log loss:   {before:.6} before, {after:.6} after, on the data of the fit"
        )?;
        write!(f, "{}", GuaranteeLines(self.guarantees))
    }
}
