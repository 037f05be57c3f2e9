//! `calibration apply`.

use burn::tensor::{
    Device, Tensor,
    activation::{log_softmax, softmax},
    s,
};
use burn_calibration::{
    distribution::{Component, Laplace, Marginals, Normal, Predictive as _},
    recalibration::{
        DistributionMap, FittedMap, MapKind, Recalibrated, Recalibration as _, ScaleFamily,
        load_map,
    },
};
use rand::{SeedableRng, rngs::StdRng};
use serde::Serialize;

use crate::{
    align::Names,
    args::{Apply, Family, RowsArgs},
    error::{Context, Result, bail, ensure, wrong},
    files::{File, LeftOut},
    fit::{CORRECTNESS, family},
    input::{Cells, LabelColumn, Matrix, clipped, say as tell},
    kind::Vectors,
    labels::event,
    quantiles,
    rows::{Wanted, logits, rows_of, takes_zeros},
    source::{Where, check_halves, device, options, order_columns, tensor},
    words::{Outcomes, key, object, say},
    writer::{Format, Header, write_matrix},
};

/// Recalibrated predictions as rows of a file, and what is told of them.
#[derive(Serialize)]
struct Applied {
    /// The file of the map.
    map: String,
    kind: &'static str,
    n: usize,
    #[serde(flatten)]
    outcomes: Outcomes,
    /// The family of the rows that were written, and what their numbers are.
    family: String,
    numbers: &'static str,
    /// The file that was written.
    output: String,
    #[serde(skip)]
    matrix: Matrix,
    /// The names of the columns; empty if the predictions have none.
    #[serde(skip)]
    names: Vec<String>,
    /// The rows that are written empty.
    #[serde(skip_serializing_if = "LeftOut::is_none")]
    left_out: LeftOut,
}

/// Samples of a prediction with recalibrated levels.
const SAMPLES: usize = 100;

pub fn run(args: &Apply, json: bool) -> Result<()> {
    let format = Format::of(&args.output)?;
    let device = device(args.rows.device)?;
    let mut file = read(args)?;
    let n = file.table.len();
    let (kept, left_out) = kept_rows(&mut file, &args.rows)?;
    let mut made = match args.input.family {
        Family::Categorical => of_classes(args, &mut file, &device)?,
        Family::Normal => of_distributions::<Normal>(args, &mut file, &device)?,
        Family::Laplace => of_distributions::<Laplace>(args, &mut file, &device)?,
        Family::Quantiles => of_quantiles(args, &mut file, &device)?,
        _ => unreachable!("the families of apply are checked"),
    };
    if !left_out.is_none() {
        made.matrix = made.matrix.spread(&kept, n);
        made.left_out = left_out;
    }
    let header = Header {
        ids: file.table.ids.as_ref(),
        names: &made.names,
    };
    // a tensor has the name of what it holds
    let name = match args.input.family {
        Family::Categorical => made.numbers,
        _ => "predictions",
    };
    write_matrix(&args.output, format, name, &made.matrix, header)?;
    if json {
        say(object("apply", &made)?);
    } else if ![CORRECTNESS, &key(args.input.family)].contains(&made.family.as_str()) {
        tell(&args.output, format!("rows of --family {}", made.family));
    }
    Ok(())
}

/// Reads the predictions. Labels beside them are not needed, but for the correctness beside confidences.
fn read(args: &Apply) -> Result<File> {
    let are_classes = args.input.family == Family::Categorical;
    let options = options(&args.rows, Where::NotNeeded, are_classes);
    let mut file = File::read(&args.input.predictions, &options, &args.rows)?;
    if !file.table.is_confidence {
        file.table.labels.clear();
    }
    Ok(file)
}

/// Leaves out the rows without a value, but not their ids. Gives those that are kept.
fn kept_rows(file: &mut File, args: &RowsArgs) -> Result<(Vec<usize>, LeftOut)> {
    let (mut missing, counts) = file.missing(args, &[])?;
    let n = file.table.len();
    missing.sort_unstable();
    missing.dedup();
    let kept: Vec<usize> = (0..n)
        .filter(|row| missing.binary_search(row).is_err())
        .collect();
    if let Some(counts) = counts {
        let path = file.path.display();
        ensure!(!kept.is_empty(), "{path}: no row has all values");
        let rows = missing.len();
        eprintln!(
            "calibration: {rows} of {n} rows are written empty, since values are missing: {counts}"
        );
        let ids = file.table.ids.take();
        file.table.select(&kept);
        file.table.ids = ids;
    }
    let left_out = LeftOut {
        rows: missing.len(),
        missing: missing.len(),
        ignored: 0,
    };
    Ok((kept, left_out))
}

fn of_classes(args: &Apply, file: &mut File, device: &Device) -> Result<Applied> {
    let map = load_map(&args.map, device)?;
    let (kind, fitted_to) = (map.kind(), map.fitted_to());
    if fitted_to.family.as_deref() != Some(CORRECTNESS) {
        check_family(args, &*map, &key(args.input.family))?;
    }
    let other = fitted_to
        .logits
        .filter(|logits| *logits != args.rows.logits);
    if let Some(logits) = other.filter(|_| !IGNORE_SHIFTS.contains(&kind)) {
        let (was, is, advice) = if logits {
            ("logits", "probabilities", "--logits if they are logits")
        } else {
            ("probabilities", "logits", "no --logits, or a map of logits")
        };
        let wrong = wrong!("the {kind} was fitted to {was}, and these are {is}, expected {advice}");
        return Err(wrong).of(&args.map);
    }
    let of = args.map.display().to_string();
    let like = Names {
        names: &fitted_to.columns,
        of: &of,
    };
    let rows = rows_of(file, &args.rows, Wanted::Logits, (like, device))?;
    let family = family(args.input.family, rows.predictions.subject());
    check_family(args, &*map, &family)?;
    let classes = rows.predictions.classes();
    let expected = map.width().unwrap_or(classes);
    if expected != classes {
        let wrong = wrong!("{classes} columns, expected {expected}, the classes of {of}");
        return Err(wrong).of(&args.input.predictions);
    }
    // predictions that stay as they are may be zeros
    let is_unchanged = map.method() == Some(MapKind::Temperature)
        && map
            .named_parameters()
            .iter()
            .all(|temperature| temperature.values == [1.0]);
    let takes_zeros = is_unchanged || takes_zeros(map.method());
    let (logits, _) = logits(&args.input.predictions, &rows.predictions, takes_zeros)?;
    let numbers = Numbers::of(args);
    let values = numbers.values(map.forward(logits), rows.is_binary);
    let values = values.try_into_vec_as::<f64>()?;
    let columns = if rows.is_binary { 1 } else { classes };
    let is_wrong = |value: &f64| !value.is_finite() && numbers != Numbers::Logarithms;
    if let Some(at) = values.iter().position(is_wrong) {
        let wrong = wrong!(
            "recalibrated it is {}, expected a finite number: the logits are too large for the {kind}",
            values[at]
        );
        let wrong = wrong.at(at / columns, format_args!("column {}", at % columns));
        return Err(wrong).of(&args.input.predictions);
    }
    let mut made = Applied {
        map: of,
        kind,
        n: values.len() / columns,
        output: args.output.display().to_string(),
        matrix: Matrix { columns, values },
        names: rows.names,
        left_out: LeftOut::default(),
        outcomes: Outcomes::Classes(classes),
        family,
        numbers: numbers.name(),
    };
    if let Some(LabelColumn { name, at, cells }) = file.table.labels.first() {
        made.matrix =
            beside_correctness(&made.matrix, cells, *at).on(&file.path, &file.table.lines)?;
        if !made.names.is_empty() {
            made.names.insert(*at, name.clone());
        }
    }
    Ok(made)
}

/// Shifts the quantiles of forecasts.
fn of_quantiles(args: &Apply, file: &mut File, device: &Device) -> Result<Applied> {
    let map = DistributionMap::load(&args.map, device)?;
    check_family(args, &*map, &key(args.input.family))?;
    let DistributionMap::Conformal(map) = map else {
        let wrong = wrong!(
            "a {}, expected a map that fit --family quantiles made",
            map.kind()
        );
        return Err(wrong).of(&args.map);
    };
    order_columns(file, &args.rows, &map.fitted_to().columns);
    let numbers = std::mem::take(&mut file.table.numbers);
    let rows = tensor(numbers, args.rows.device, device);
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
    Ok(Applied {
        map: args.map.display().to_string(),
        kind: map.kind(),
        n: shifted.len(),
        output: args.output.display().to_string(),
        matrix: Matrix {
            columns: shifted.levels().len(),
            values: shifted.values().try_into_vec_as::<f64>()?,
        },
        names,
        left_out: LeftOut::default(),
        outcomes: Outcomes::Dimensions(1),
        family: key(args.input.family),
        numbers: "quantiles",
    })
}

/// Recalibrates normal or Laplace predictions.
fn of_distributions<P>(args: &Apply, file: &mut File, device: &Device) -> Result<Applied>
where
    P: Vectors + ScaleFamily + Component + Marginals,
{
    let map = DistributionMap::load(&args.map, device)?;
    check_family(args, &*map, &key(args.input.family))?;
    if let DistributionMap::Conformal(_) = &map {
        let wrong = wrong!("a {} of quantiles, expected --family quantiles", map.kind());
        return Err(wrong).of(&args.map);
    }
    let made = recalibrated::<P>(args, &map, file, device);
    made.on(&file.path, &file.table.lines)
}

fn recalibrated<P>(
    args: &Apply,
    map: &DistributionMap,
    file: &mut File,
    device: &Device,
) -> Result<Applied>
where
    P: Vectors + ScaleFamily + Component + Marginals,
{
    let expected = &map.fitted_to().columns;
    order_columns(file, &args.rows, expected);
    let mut names = std::mem::take(&mut file.table.names);
    let numbers = std::mem::take(&mut file.table.numbers);
    let dimensions = numbers.columns / 2;
    let of = args.map.display();
    let width = map.width().unwrap_or(dimensions);
    ensure!(
        width == dimensions,
        "predictions of dimension {dimensions}, expected {width}, that of {of}"
    );
    if !args.rows.by_position {
        check_halves(&names)?;
        let are_others = !expected.is_empty() && !names.is_empty() && *expected != names;
        ensure!(
            dimensions == 1 || !are_others,
            "the columns are named {}, expected {} as of {of}; --by-position takes columns in their order",
            clipped(&names.join(", ")),
            clipped(&expected.join(", "))
        );
    }
    let predictions = P::parse(tensor(numbers, args.rows.device, device), dimensions)?;
    predictions.check()?;
    let counted = |what: &'static str, count: usize| (0..count).map(move |k| format!("{what}{k}"));
    let family = key(args.input.family);
    let (family, rows, made) = match map.forward(predictions) {
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
    let values = rows.try_into_vec_as::<f64>()?;
    if let Some(at) = values.iter().position(|value| !value.is_finite()) {
        let wrong = wrong!(
            "recalibrated it has a parameter of {}, expected a finite number",
            values[at]
        );
        return Err(wrong.at_row(at / columns));
    }
    Ok(Applied {
        map: of.to_string(),
        kind: map.kind(),
        n: values.len() / columns,
        output: args.output.display().to_string(),
        matrix: Matrix { columns, values },
        names,
        left_out: LeftOut::default(),
        outcomes: Outcomes::Dimensions(dimensions),
        family,
        numbers: "parameters",
    })
}

/// The kinds of maps to which logits and log-probabilities of a prediction are the same: they do not change
/// with a number that is added to a row.
const IGNORE_SHIFTS: [&str; 2] = ["temperature scaling", "ensemble temperature scaling"];

/// Checks that a map was fitted to predictions of the family that it is applied to, where it says so.
fn check_family(args: &Apply, map: &dyn FittedMap, family: &str) -> Result<()> {
    let kind = map.kind();
    let fitted_to = map.fitted_to().family.as_deref();
    let Some(known) = fitted_to.filter(|known| *known != family) else {
        return Ok(());
    };
    let wrong = if [known, family].contains(&CORRECTNESS) {
        let words = |family: &str| match family {
            CORRECTNESS => "confidence and correctness".into(),
            family => format!("--family {family}"),
        };
        wrong!(
            "a {kind} of {}, expected one of {}, as {} holds",
            words(known),
            words(family),
            args.input.predictions.display()
        )
    } else {
        wrong!(
            "a {kind} of --family {known}, expected one of --family {family}; --family {known} applies it to \
             such predictions, and fit --family {family} makes one of these"
        )
    };
    Err(wrong).of(&args.map)
}

/// What is written: what was read, unless something else is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Logits,
    Probabilities,
    Percentages,
    Logarithms,
}

impl Numbers {
    fn of(args: &Apply) -> Self {
        match &args.rows {
            _ if args.to_probabilities => Self::Probabilities,
            _ if args.to_logits => Self::Logits,
            rows if rows.logits => Self::Logits,
            rows if rows.percent => Self::Percentages,
            rows if rows.log_probabilities => Self::Logarithms,
            _ => Self::Probabilities,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Logits => "logits",
            Self::Probabilities => "probabilities",
            Self::Percentages => "percentages",
            Self::Logarithms => "log_probabilities",
        }
    }

    /// The numbers of logits; of an event one column, that of class 1.
    fn values(self, logits: Tensor<2>, is_binary: bool) -> Tensor<2> {
        let event = |values: Tensor<2>| {
            if is_binary {
                values.slice(s![.., 1..2])
            } else {
                values
            }
        };
        match self {
            Self::Logits if is_binary => {
                logits.clone().slice(s![.., 1..2]) - logits.slice(s![.., 0..1])
            }
            Self::Logits => logits,
            Self::Probabilities => event(softmax(logits, 1)),
            Self::Percentages => event(softmax(logits, 1)) * 100.0,
            Self::Logarithms => event(log_softmax(logits, 1)),
        }
    }
}

/// A column of confidences with that of their correctness at its place.
fn beside_correctness(confidences: &Matrix, cells: &Cells, at: usize) -> Result<Matrix> {
    let row = |(row, (&confidence, cell)): (usize, (&f64, &str))| {
        let correct = event(cell);
        let cell = clipped(cell);
        let correct = correct
            .ok_or_else(|| wrong!("the correctness is {cell}, expected 0 or 1").at_row(row))?;
        let mut row = [confidence, correct];
        row.rotate_right(usize::from(at == 0));
        Ok(row)
    };
    let rows = confidences.values.iter().zip(cells.iter()).enumerate();
    let values = rows.map(row).collect::<Result<Vec<_>>>()?.concat();
    Ok(Matrix { columns: 2, values })
}
