//! `calibration fit` and `calibration apply` of normal and Laplace predictions.

use burn::tensor::{Device, Tensor};
use burn_calibration::{
    distribution::{Component, Density, Marginals, Subject},
    recalibration::{
        AutoRecalibrationConfig, DistributionMap, Fit as _, FittedTo, Keep, Recalibrated,
        ScaleFamily,
    },
};
use rand::{SeedableRng, rngs::StdRng};

use crate::{
    apply::{Applied, check_family},
    args::{Apply, Fit, KeepName, LossName},
    finite,
    fit::{Fitted, NAMED, NOT_KNOWN, few, warnings},
    input::{Matrix, Result, clipped, say},
    kind::{Kind, Loaded, Vectors},
    methods::Method,
    rows::Wanted,
    source::{Where, options},
    targets::{check_halves, read_numbers},
    words::{Known, key, show},
    writer::{Format, Header, write_matrix},
};

/// What is wrong with another family.
pub const UNKNOWN: &str =
    "--family: there are maps of categorical, normal and laplace predictions only";

/// Samples of a prediction with recalibrated levels.
const SAMPLES: usize = 100;

/// Fits the map that was named, or chooses one.
pub fn fit<P>(args: &Fit) -> Result<()>
where
    P: Vectors + ScaleFamily + Component + Marginals,
    P: Kind + burn_calibration::distribution::Predictive<Targets = Tensor<2>>,
{
    let wrong = |e: burn_calibration::error::Error| e.to_string();
    if args.loss != LossName::Log {
        return Err(format!(
            "--loss {}: of --family categorical",
            key(args.loss)
        ));
    }
    let keep = match args.keep {
        None => None,
        Some(KeepName::Mean) => Some(Keep::Mean),
        Some(KeepName::Information) => Some(Keep::Information),
        Some(keep) => return Err(format!("--keep {}: of --family categorical", key(keep))),
    };
    let method = args.method.map(Method::of_distributions).transpose()?;
    let Loaded {
        mut sets,
        targets,
        columns,
        ..
    } = P::read(&[&args.predictions], &args.source, Wanted::Logits)?;
    let predictions = sets.remove(0);
    let (mut map, choice) = match method {
        Some(method) => {
            let map = method.fit(predictions.clone(), targets.clone());
            (map.map_err(wrong)?, None)
        }
        None => {
            let config = AutoRecalibrationConfig::new()
                .with_keep(keep)
                .with_seed(args.source.seed);
            let chosen = config.fit(predictions.clone(), targets.clone());
            let chosen = chosen.map_err(wrong)?;
            let choice = chosen.choice().clone();
            (chosen.into_map(), Some(choice))
        }
    };
    let [n, dimensions] = targets.dims();
    let log_loss = |log_density: Tensor<1>| -log_density.mean().into_scalar::<f64>();
    let before = log_loss(predictions.log_density(&targets));
    let after = match map.forward(predictions) {
        Recalibrated::Family(family) => Some(log_loss(family.log_density(&targets))),
        Recalibrated::Mixture(mixture) => Some(log_loss(mixture.log_density(&targets))),
        _ => None,
    };
    let fitted = Fitted {
        map: args.output.display().to_string(),
        method: match (method, &choice) {
            (None, Some(choice)) => choice.chosen.into(),
            (method, _) => method.map_or(String::new(), |method| method.to_string()),
        },
        kind: map.kind(),
        loss: key(args.loss),
        n,
        outcomes: ("dimensions", dimensions),
        changed_classes: None,
        subject: Subject::Classes,
        log_loss: Known::or_skipped(
            after.map(|after| [before, after].into()),
            "what the map makes has no density",
        ),
        guarantees: map.guarantees(),
        fit: Known::or_skipped(map.report().cloned(), NOT_KNOWN),
        parameters: few(map.named_parameters()),
        warnings: warnings(map.report(), choice.as_ref(), (&[], false)),
        choice: Known::or_skipped(choice, NAMED),
    };
    finite::check(&fitted)?;
    map.set_fitted_to(FittedTo {
        family: Some(key(args.family)),
        logits: None,
        columns,
    });
    map.save(&args.output).map_err(wrong)?;
    show("fit", &fitted, args.json)
}

/// Writes recalibrated predictions, and says what family they are of.
pub fn apply<P>(args: &Apply, format: Format, device: &Device) -> Result<()>
where
    P: Vectors + ScaleFamily + Component + Marginals,
{
    if args.to_probabilities {
        return Err("--to-probabilities: of --family categorical".into());
    }
    let wrong = |reason: String| format!("{}: {reason}", args.predictions.display());
    let map = DistributionMap::load(&args.map, device).map_err(|e| e.to_string())?;
    let fitted_to = map.fitted_to();
    check_family(args, map.kind(), (fitted_to, &key(args.family)))?;
    let options = options(&args.rows, Where::NotNeeded);
    let columns = &fitted_to.columns;
    let (read, _) = read_numbers(&args.predictions, &args.rows, &options, columns, device)?;
    let rows = read.rows.clone();
    let dimensions = rows.dims()[1] / 2;
    if let Some(expected) = map.width().filter(|width| *width != dimensions) {
        return Err(wrong(format!(
            "predictions of dimension {dimensions}, expected {expected}, that of {}",
            args.map.display()
        )));
    }
    if !args.rows.by_position {
        check_halves(&read.names).map_err(wrong)?;
        let are_others = !columns.is_empty() && !read.names.is_empty() && *columns != read.names;
        if dimensions > 1 && are_others {
            return Err(wrong(format!(
                "the columns are named {}, expected {} as of {}; --by-position takes columns in their order",
                clipped(&read.names.join(", ")),
                clipped(&columns.join(", ")),
                args.map.display()
            )));
        }
    }
    let predictions = P::parse(rows, dimensions).map_err(wrong)?;
    predictions.check().map_err(|e| wrong(e.to_string()))?;
    let family = key(args.family);
    let mut names = read.names.clone();
    let columns = |parts: Vec<Tensor<2>>| Tensor::cat(parts, 1);
    let (family, rows) = match map.forward(predictions) {
        Recalibrated::Family(same) => (family, columns(same.location_and_scale().into())),
        Recalibrated::Mixture(mixture) => {
            let [location, scale] = mixture.all_components().location_and_scale();
            let shape = mixture.weights().dims();
            if !names.is_empty() {
                let of = |what: &'static str| (0..shape[1]).map(move |k| format!("{what}{k}"));
                names = ["weight", "location", "scale"]
                    .into_iter()
                    .flat_map(of)
                    .collect();
            }
            let parts = [location, scale].map(|part| part.reshape(shape));
            let parts = [vec![mixture.weights()], parts.into()].concat();
            (format!("{family}-mixture"), columns(parts))
        }
        Recalibrated::Quantiles(levels) if dimensions == 1 => {
            let mut rng = StdRng::seed_from_u64(0); // of one dimension nothing is random
            let samples = levels.samples(SAMPLES, &mut rng);
            if !names.is_empty() {
                names = (0..SAMPLES).map(|k| format!("draw{k}")).collect();
            }
            let rows = samples.draws().reshape([-1, SAMPLES as i32]);
            ("samples".to_owned(), rows)
        }
        _ => {
            return Err(wrong(format!(
                "{} makes no rows of such predictions",
                map.kind()
            )));
        }
    };
    let [n, columns] = rows.dims();
    let values = rows.try_into_vec_as::<f64>().map_err(|e| e.to_string())?;
    if let Some(at) = values.iter().position(|value| !value.is_finite()) {
        return Err(wrong(format!(
            "row {}: recalibrated it has a parameter of {}, expected a finite number",
            at / columns,
            values[at]
        )));
    }
    write_matrix(
        &args.output,
        format,
        "predictions",
        &Matrix { columns, values },
        Header {
            ids: read.ids.as_ref(),
            names: &names,
        },
    )?;
    if family != key(args.family) && !args.json {
        say(&args.output, &format!("rows of --family {family}"));
    }
    let outcomes = ("dimensions", dimensions);
    Applied::new(args, map.kind(), (n, outcomes), family, "parameters").show(args.json)
}
