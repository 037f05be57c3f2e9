//! Maps of distributions of real numbers, and of forecasts by quantiles.

use burn::tensor::{Device, Tensor};
use burn_calibration::{
    distribution::{Component, Marginals, Predictive as _},
    recalibration::{
        ConformalShift, DistributionMap, FittedMap, Recalibrated, Recalibration as _, ScaleFamily,
    },
};
use burn_calibration_reader::{Matrix, clipped};
use rand::{SeedableRng, rngs::StdRng};

use super::{Applied, check_family};
use crate::{
    args::ApplyArgs,
    error::{Context, Result, bail, ensure, wrong},
    files::File,
    kind::Vectors,
    outputs::to_read,
    quantiles,
    source::{order_columns, tensor},
    vectors::order_halves,
    words::{OutcomeSpace, key},
};

/// Samples of a prediction with recalibrated levels.
const SAMPLES: usize = 100;

/// Shifts the quantiles of forecasts.
pub fn apply_quantiles(args: &ApplyArgs, file: &mut File) -> Result<Applied> {
    let map = ConformalShift::load(to_read(&args.map), &Device::flex())?;
    check_family(args, &map, &key(args.input.family))?;
    order_columns(file, &args.rows, &map.fitted_to().columns);
    let numbers = std::mem::take(&mut file.table.numbers);
    let rows = tensor(numbers);
    let shifted = || -> Result<_> {
        let (forecasts, names) = quantiles::parse(file, rows, &args.rows, &map.levels())?;
        forecasts.check()?;
        map.check_levels(&forecasts)?;
        let shifted = map.forward(forecasts);
        let raised = args.minimum.map(|minimum| {
            let raise = |values: Tensor<2>| values.clamp_min(minimum);
            shifted.map(&raise)
        });
        Ok((raised.unwrap_or(shifted), names))
    };
    let (shifted, names) = shifted().on(&file.path, &file.table.lines)?;
    let levels = &args.rows.reading.levels;
    if names.is_empty() && levels.len() == shifted.levels().len() {
        let mut order: Vec<usize> = (0..levels.len()).collect();
        order.sort_by(|&a, &b| levels[a].total_cmp(&levels[b]));
        file.table.order_places(&order); // each level is written where it was
    }
    let matrix = Matrix {
        columns: shifted.levels().len(),
        values: shifted.values().try_into_vec_as::<f64>()?,
    };
    Ok(Applied {
        names,
        numbers: "quantiles",
        ..Applied::new(args, &map, OutcomeSpace::Dimensions(1), matrix)
    })
}

/// Recalibrates normal or Laplace predictions.
pub fn apply_distributions<P>(args: &ApplyArgs, file: &mut File) -> Result<Applied>
where
    P: Vectors + ScaleFamily + Component + Marginals,
{
    let map = DistributionMap::load(to_read(&args.map), &Device::flex())?;
    check_family(args, &map, &key(args.input.family))?;
    let made = recalibrated::<P>(args, &map, file);
    made.on(&file.path, &file.table.lines)
}

fn recalibrated<P>(args: &ApplyArgs, map: &DistributionMap, file: &mut File) -> Result<Applied>
where
    P: Vectors + ScaleFamily + Component + Marginals,
{
    let expected = &map.fitted_to().columns;
    order_columns(file, &args.rows, expected);
    let are_variances = !args.rows.reading.by_position
        && order_halves(&file.path, &mut file.table, &[], P::VARIANCES)?;
    let mut names = std::mem::take(&mut file.table.names);
    let numbers = std::mem::take(&mut file.table.numbers);
    let dimensions = numbers.columns / 2;
    let of = args.map.display();
    let width = map.width().unwrap_or(dimensions);
    ensure!(
        width == dimensions,
        "predictions of dimension {dimensions}, expected {width}, that of {of}"
    );
    if !args.rows.reading.by_position {
        let are_others = !expected.is_empty() && !names.is_empty() && *expected != names;
        ensure!(
            dimensions == 1 || !are_others,
            "the columns are named {}, expected {} as of {of}; --by-position takes columns in their order",
            clipped(&names.join(", ")),
            clipped(&expected.join(", "))
        );
    }
    let predictions = P::parse(tensor(numbers), dimensions)?;
    predictions.check()?;
    let counted = |what: &'static str, count: usize| (0..count).map(move |k| format!("{what}{k}"));
    let family = key(args.input.family);
    let recalibrated = map.forward(predictions);
    let is_same = matches!(recalibrated, Recalibrated::Family(_));
    let (family, rows, made) = match recalibrated {
        Recalibrated::Family(same) => {
            let rows = Tensor::cat(same.location_and_scale().into(), 1);
            (family, rows, names.clone())
        }
        Recalibrated::Mixture(mixture) => {
            let [location, scale] = mixture.all_components().location_and_scale();
            let shape = mixture.weights().dims();
            let parts = ["weight", "location", "scale"].into_iter();
            let made = parts.flat_map(|part| counted(part, shape[1])).collect();
            let parts = [location, scale].map(|part| part.reshape(shape));
            let rows = Tensor::cat([vec![mixture.weights()], parts.into()].concat(), 1);
            (format!("{family}-mixture"), rows, made)
        }
        Recalibrated::Quantiles(levels) if dimensions == 1 => {
            let mut rng = StdRng::seed_from_u64(0); // of one dimension nothing is random
            let samples = levels.samples(SAMPLES, &mut rng);
            let rows = samples.draws().reshape([-1, SAMPLES as i32]);
            ("samples".into(), rows, counted("draw", SAMPLES).collect())
        }
        _ => bail!("{} makes no rows of such predictions", map.kind()),
    };
    if !names.is_empty() {
        names = made;
    }
    let columns = rows.dims()[1];
    let mut values = rows.try_into_vec_as::<f64>()?;
    if are_variances && is_same {
        let squared = |row: &mut [f64]| row[dimensions..].iter_mut().for_each(|sd| *sd *= *sd);
        values.chunks_mut(columns).for_each(squared);
    }
    if let Some(at) = values.iter().position(|value| !value.is_finite()) {
        let wrong = wrong!(
            "after recalibration it has a parameter of {}, expected a finite number",
            values[at]
        );
        return Err(wrong.at_row(at / columns));
    }
    let matrix = Matrix { columns, values };
    Ok(Applied {
        names,
        family,
        ..Applied::new(args, map, OutcomeSpace::Dimensions(dimensions), matrix)
    })
}
