//! Maps of classes.

use burn::tensor::{
    Device, Tensor,
    activation::{log_softmax, softmax},
    s,
};
use burn_calibration::recalibration::{
    FittedMap as _, LogitMap, MapKind, Recalibration as _, VennAbersInterval, load_map,
};
use burn_calibration_reader::{Cells, Matrix, TextColumn, clipped, labels::event, names::Names};

use super::{Applied, check_family};
use crate::{
    args::ApplyArgs,
    error::{Context, Result, bail, ensure, wrong},
    files::File,
    fit::{CORRECTNESS, family},
    outputs::to_read,
    rows::{PredictionForm, clipped_logarithms, logits, rows_of, takes_zeros, zero_refused},
    words::{OutcomeSpace, counted, key},
};

/// Recalibrates predictions over classes.
pub fn apply_classes(args: &ApplyArgs, file: &mut File) -> Result<Applied> {
    let map = load_map(to_read(&args.map), &Device::flex())?;
    let (kind, fitted_to) = (map.kind(), map.fitted_to());
    if fitted_to.family.as_deref() != Some(CORRECTNESS) {
        check_family(args, &map, &key(args.input.family))?;
    }
    let other = fitted_to
        .logits
        .filter(|logits| *logits != args.rows.reading.numbers.logits);
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
    let rows = rows_of(file, &args.rows.options(), PredictionForm::Logits, like)?;
    let family = family(args.input.family, rows.predictions.subject());
    check_family(args, &map, &family)?;
    let classes = rows.predictions.classes();
    let expected = map.width().unwrap_or(classes);
    if expected != classes {
        let columns = counted(classes, "column");
        let wrong = wrong!("{columns}, expected {expected}, the classes of {of}");
        return Err(wrong).of(&args.input.predictions);
    }
    // predictions that stay as they are may be zeros
    let is_unchanged = map.method() == Some(MapKind::Temperature)
        && map
            .named_parameters()
            .iter()
            .all(|temperature| temperature.values == [1.0]);
    let corrected = match &map {
        LogitMap::Prior(correction) => correction.map(),
        map => Some(map),
    };
    let takes_zeros = is_unchanged || takes_zeros(corrected.and_then(LogitMap::method));
    let (mut logits, mut has_zeros) = logits(&rows.predictions)?;
    // those of the file, unless --clip raised them already
    let clip = fitted_to
        .clip
        .filter(|_| !args.rows.reading.numbers.logits && args.rows.reading.numbers.clip.is_none());
    if let Some(clip) = clip {
        logits = clipped_logarithms(logits, clip);
        has_zeros = false;
    }
    if has_zeros && !takes_zeros {
        return Err(zero_refused(&logits, &rows)).on(&file.path, &file.table.lines);
    }
    let numbers = WrittenAs::of(args);
    let interval = args.interval.then(|| interval(&map, logits.clone()));
    let interval = interval.transpose().of(&args.map)?;
    let values = numbers.values(map.forward(logits), rows.is_binary());
    let values = values.try_into_vec_as::<f64>()?;
    let columns = if rows.is_binary() { 1 } else { classes };
    let is_wrong = |value: &f64| !value.is_finite() && numbers != WrittenAs::Logarithms;
    if let Some(at) = values.iter().position(is_wrong) {
        let wrong = wrong!(
            "after recalibration it is {}, expected a finite number: the logits are too large for the {kind}",
            values[at]
        );
        let wrong = wrong.at(at / columns, format_args!("column {}", at % columns));
        return Err(wrong).of(&args.input.predictions);
    }
    let mut made = Applied {
        names: rows.names,
        family,
        numbers: numbers.name(),
        ..Applied::new(
            args,
            &map,
            OutcomeSpace::Classes(classes),
            Matrix { columns, values },
        )
    };
    if let Some(TextColumn {
        name, at, cells, ..
    }) = file.table.labels.first()
    {
        made.matrix =
            beside_correctness(&made.matrix, cells, *at).on(&file.path, &file.table.lines)?;
        if !made.names.is_empty() {
            made.names.insert(*at, name.clone());
        }
    }
    if let Some(interval) = interval {
        ensure!(
            file.table.labels.is_empty(),
            "--interval: not beside confidences and correctness, expected --positive"
        );
        ensure!(
            numbers.are_shares(),
            "--interval: p0 and p1 are probabilities, expected --to-probabilities beside it"
        );
        let unit = if numbers == WrittenAs::Percentages {
            100.0
        } else {
            1.0
        };
        made.add_interval(interval * unit)?;
    }
    Ok(made)
}

/// The probabilities of each event if it does not occur and if it does, `p₀` and `p₁` of a Venn–Abers predictor: `[n, 2k]`, of
/// class 1 alone for two classes.
fn interval(map: &LogitMap, logits: Tensor<2>) -> Result<Tensor<2>> {
    let LogitMap::VennAbers(map) = map else {
        bail!(
            "a {} has no interval, expected a map of fit --method venn-abers without --prior",
            map.kind()
        );
    };
    let VennAbersInterval { lower, upper } = map.interval(logits);
    let [n, events] = lower.dims();
    Ok(Tensor::stack::<3>(vec![lower, upper], 2).reshape([n, 2 * events]))
}

impl Applied {
    /// Adds the columns of intervals after the predictions, with the names of their classes.
    fn add_interval(&mut self, interval: Tensor<2>) -> Result<()> {
        let [_, width] = interval.dims();
        let ends = interval.try_into_vec_as::<f64>()?;
        let columns = self.matrix.columns;
        let rows = self.matrix.values.chunks(columns).zip(ends.chunks(width));
        let values = rows.flat_map(|(row, ends)| [row, ends].concat()).collect();
        let events = self.names[self.names.len().saturating_sub(width / 2)..].to_vec();
        let names = events
            .iter()
            .flat_map(|name| [0, 1].map(|k| format!("{name}_p{k}")));
        self.names.extend(names);
        self.beside = width;
        self.matrix = Matrix {
            columns: columns + width,
            values,
        };
        Ok(())
    }
}

/// The kinds of maps to which logits and log-probabilities of a prediction are the same: they do not change
/// with a number that is added to a row.
const IGNORE_SHIFTS: [&str; 2] = ["temperature scaling", "ensemble temperature scaling"];

/// The form that is written: the one that was read, unless another is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WrittenAs {
    Logits,
    Probabilities,
    Percentages,
    Logarithms,
}

impl WrittenAs {
    fn of(args: &ApplyArgs) -> Self {
        match &args.rows {
            _ if args.to_probabilities => Self::Probabilities,
            _ if args.to_logits => Self::Logits,
            rows if rows.reading.numbers.logits => Self::Logits,
            rows if rows.reading.numbers.percent => Self::Percentages,
            rows if rows.reading.numbers.log_probabilities => Self::Logarithms,
            _ => Self::Probabilities,
        }
    }

    /// Whether the numbers are probabilities, or percentages.
    fn are_shares(self) -> bool {
        matches!(self, Self::Probabilities | Self::Percentages)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Logits => "logits",
            Self::Probabilities => "probabilities",
            Self::Percentages => "percentages",
            Self::Logarithms => "log_probabilities",
        }
    }

    /// The numbers of logits; for an event one column, that of class 1.
    fn values(self, logits: Tensor<2>, is_binary: bool) -> Tensor<2> {
        let log_odds =
            |logits: Tensor<2>| logits.clone().slice(s![.., 1..2]) - logits.slice(s![.., 0..1]);
        let probabilities = |logits: Tensor<2>| {
            if is_binary {
                probability(log_odds(logits))
            } else {
                softmax(logits, 1)
            }
        };
        match self {
            Self::Logits if is_binary => log_odds(logits),
            Self::Logits => logits,
            Self::Probabilities => probabilities(logits),
            Self::Percentages => probabilities(logits) * 100.0,
            Self::Logarithms if is_binary => log_softmax(logits, 1).slice(s![.., 1..2]),
            Self::Logarithms => log_softmax(logits, 1),
        }
    }
}

/// The probability of an event, which never falls where its log-odds rise: no sum is rounded with a quotient.
fn probability(log_odds: Tensor<2>) -> Tensor<2> {
    /// Log-odds below which `1 + exp(log_odds)` is 1, and beyond which `exp(-log_odds)` would be infinite.
    const LEAST: f64 = -700.0;
    let is_least = log_odds.clone().lower_elem(LEAST);
    let probability = ((-log_odds.clone()).exp() + 1.0).recip();
    probability.mask_where(is_least, log_odds.exp())
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
