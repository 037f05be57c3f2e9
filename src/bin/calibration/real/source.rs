//! Predictions over real vectors and their targets, from files.

use std::path::Path;

use burn::tensor::{Device, Tensor};
use burn_calibration::distribution::{Laplace, Mixture, Normal, Predictive, Samples};

use crate::{
    args::{DeviceName, Family},
    input::Result,
    source::read_tensor,
};

/// Predictions of any family but the categorical one.
#[allow(clippy::large_enum_variant)] // there is one of them
pub enum Predictions {
    Normal(Normal),
    Laplace(Laplace),
    NormalMixture(Mixture<Normal>),
    Samples(Samples),
}

/// Runs the same lines on predictions of every family.
macro_rules! with_predictions {
    ($predictions:expr, $name:ident => $body:expr) => {
        match $predictions {
            $crate::real::source::Predictions::Normal($name) => $body,
            $crate::real::source::Predictions::Laplace($name) => $body,
            $crate::real::source::Predictions::NormalMixture($name) => $body,
            $crate::real::source::Predictions::Samples($name) => $body,
        }
    };
}
pub(super) use with_predictions;

/// The predictions of a file and the targets of another, both checked.
pub fn read(
    family: Family,
    (predictions, targets): (&Path, &Path),
    (name, device): (DeviceName, &Device),
) -> Result<(Predictions, Tensor<2>)> {
    let rows = read_tensor(predictions, name, device)?;
    let observed = read_tensor(targets, name, device)?;
    let (samples, dimensions) = (rows.dims()[0], observed.dims()[1]);
    if observed.dims()[0] != samples {
        return Err(format!(
            "{}: {} targets, expected {samples}, as many as {} has rows",
            targets.display(),
            observed.dims()[0],
            predictions.display()
        ));
    }
    let parsed = parse(family, rows, dimensions)
        .map_err(|reason| format!("{}: {reason}", predictions.display()))?;
    let wrong = |path: &Path| {
        let path = path.display().to_string();
        move |error: burn_calibration::error::Error| format!("{path}: {error}")
    };
    with_predictions!(&parsed, p => {
        p.check().map_err(wrong(predictions))?;
        p.check_targets(&observed).map_err(wrong(targets))?;
    });
    Ok((parsed, observed))
}

fn parse(family: Family, rows: Tensor<2>, dimensions: usize) -> Result<Predictions> {
    let [n, columns] = rows.dims();
    let part = |first: usize, width: usize| rows.clone().slice([0..n, first..first + width]);
    let pairs = |what: &str| match columns == 2 * dimensions {
        true => Ok((part(0, dimensions), part(dimensions, dimensions))),
        false => Err(format!(
            "{columns} columns, expected {}: {what} for targets of dimension {dimensions}",
            2 * dimensions
        )),
    };
    let one_dimension = match dimensions {
        1 => Ok(()),
        _ => Err(format!(
            "the targets have {dimensions} columns, expected one for this family"
        )),
    };
    match family {
        Family::Categorical => unreachable!("classes are read elsewhere"),
        Family::Normal => {
            let (mean, deviation) = pairs("means and standard deviations")?;
            Ok(Predictions::Normal(Normal::new(mean, deviation)))
        }
        Family::Laplace => {
            let (location, scale) = pairs("locations and scales")?;
            Ok(Predictions::Laplace(Laplace::new(location, scale)))
        }
        Family::NormalMixture => {
            one_dimension?;
            if columns == 0 || columns % 3 != 0 {
                return Err(format!(
                    "{columns} columns, expected weights, means and standard deviations, three for \
                     each component"
                ));
            }
            let k = columns / 3;
            let column = |part: Tensor<2>| part.reshape([n * k, 1]);
            let components = Normal::new(column(part(k, k)), column(part(2 * k, k)));
            let mixture = Mixture::new(part(0, k), components);
            Ok(Predictions::NormalMixture(mixture))
        }
        Family::Samples => {
            one_dimension?;
            Ok(Predictions::Samples(Samples::new(
                rows.reshape([n, columns, 1]),
            )))
        }
    }
}
