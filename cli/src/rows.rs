//! Rows of classes: probabilities, or logits with `--logits`, checked to be what they are said to be.

use std::fs;

use burn::tensor::{Device, Int, Tensor, TensorData, activation::log_softmax};
use burn_calibration::{
    distribution::{Categorical, Predictive, Subject},
    hypothesis::Unrelated,
    recalibration::MapKind,
};
use burn_calibration_reader::{
    ReadOptions, Resolution, clipped,
    labels::{self, LabelClasses, check_same},
    names::{Names, OPTION, check_distinct},
};

use crate::{
    args::SourceArgs,
    error::{Context, Error, Result, ensure, wrong},
    files::{self, File, Inputs, SampleWeights, in_words},
    given,
    kind::Loaded,
    notes::{noted, say},
    outputs::to_read,
    source::tensor,
    words::{DataWords, RoundedZeros, counted},
};

/// The logarithm that stands for that of 0 where only the order counts: its exponential is 0.
pub const LOG_OF_ZERO: f64 = -800.0;

/// The form in which predictions of classes are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PredictionForm {
    /// Their logits, where the file has them.
    Logits,
    /// The probabilities and their logarithms: logits are left out where nothing is lost with them.
    Probabilities,
}

/// The predictions of a file, with what it says of classes.
pub struct FilePredictions {
    pub predictions: Categorical,
    /// The names of the columns in the order of the classes; empty if the file has none.
    pub names: Vec<String>,
    /// The format of the probabilities.
    pub resolution: Resolution,
}

impl FilePredictions {
    /// Whether there is one column: the probability of an event.
    pub fn is_binary(&self) -> bool {
        self.predictions.subject() != Subject::Classes
    }

    /// The name of the column of an event, if there is one.
    pub fn event_name(&self) -> Option<String> {
        let name = self.names.first().filter(|_| self.is_binary());
        name.cloned()
    }

    /// The names of the classes; for an event they are none.
    pub fn class_names(&self) -> &[String] {
        if self.is_binary() { &[] } else { &self.names }
    }
}

/// Makes predictions of the numbers of a file, which are taken out of its table.
pub fn rows_of(
    file: &mut File,
    options: &ReadOptions,
    form: PredictionForm,
    like: Names,
) -> Result<FilePredictions> {
    let wants_probabilities = form == PredictionForm::Probabilities;
    let made = noted(|notes| file.take_class_numbers(options, like, wants_probabilities, notes))?;
    let numbers = tensor(made.numbers);
    let predictions = if made.are_probabilities {
        Categorical::from_probabilities(numbers)
    } else {
        Categorical::from_logits(numbers)
    };
    let subject = match (file.table.is_confidence, options.numbers.positive) {
        (true, _) => Subject::Correctness,
        (_, true) => Subject::Event,
        _ => Subject::Classes,
    };
    let predictions = predictions.and_then(|predictions| predictions.about(subject));
    Ok(FilePredictions {
        predictions: predictions.on(&file.path, &file.table.lines)?,
        names: made.names,
        resolution: made.resolution,
    })
}

/// Names of classes: between commas, or one a line of a file.
fn class_names(names: &str) -> Vec<String> {
    let trimmed = |name: &str| name.trim().to_owned();
    match fs::read_to_string(to_read(names.as_ref())) {
        Ok(text) => text
            .lines()
            .map(trimmed)
            .filter(|name| !name.is_empty())
            .collect(),
        Err(_) => names.split(',').map(trimmed).collect(),
    }
}

/// The names of classes that the options give, or a program; empty without.
pub fn names_by_option(args: &SourceArgs) -> Vec<String> {
    if let Some(names) = &args.labels.classes {
        return class_names(names);
    }
    let arrays = args.arrays.as_ref();
    arrays.map_or_else(Vec::new, |data| data.class_names.clone())
}

/// The names of the columns in the order of the classes: those of the file, or of the options.
pub fn columns(rows: &FilePredictions, by_option: &[String]) -> Vec<String> {
    match rows.class_names() {
        [] => by_option.to_vec(),
        names => names.to_vec(),
    }
}

/// Reads sets of predictions of the same samples, and their labels: columns by their names, rows by their order or by
/// `--id`.
pub fn read_classes(
    inputs: &Inputs,
    args: &SourceArgs,
    form: PredictionForm,
) -> Result<Loaded<Categorical>> {
    let options = args.options();
    let of_arrays = args.arrays.as_ref().map(|data| &data.class_names[..]);
    let of_arrays = of_arrays.unwrap_or_default();
    let by_option = names_by_option(args);
    let check_names = |count: usize| -> Result<()> {
        ensure!(
            by_option.is_empty() || by_option.len() == count,
            "--classes: {}, expected {count}, the classes of {}",
            counted(by_option.len(), "name"),
            inputs.predictions[0].display()
        );
        Ok(())
    };
    let classes = |is_confidence: bool, columns: usize| {
        if args.rows.reading.numbers.positive || is_confidence {
            2
        } else {
            columns
        }
    };
    let mut files = files::read(inputs, args, true, |files| {
        let count = classes(files.is_confidence(), files.width());
        if count > 1 {
            check_names(count)?; // one column may hold lists
        }
        let is_event = args.rows.reading.numbers.positive || files.is_confidence();
        Ok(match &by_option[..] {
            [] if is_event => Vec::new(),
            [] => files.names(),
            names => names.to_vec(),
        })
    })?;
    let table = &files.sets[0].table;
    check_names(classes(table.is_confidence, table.numbers.columns))?;
    let like = Names {
        names: &by_option,
        of: OPTION,
    };
    let own = rows_of(&mut files.sets[0], &options, form, like)?;
    let names = match &by_option[..] {
        [] => own.class_names(),
        names => names,
    };
    check_distinct(names).of(OPTION.as_ref())?;
    let classes = own.predictions.classes();
    let classes = LabelClasses::new(names, classes, options.one_based, options.by_position);
    let of_labels = files.of_labels();
    let labels = if args.arrays.is_some() && of_labels.table.labels.len() == 1 {
        labels::numbers(own.predictions.classes(), false, of_labels, 0)?
    } else {
        let logarithms = |classes| logarithms_of(&own.predictions, classes);
        noted(|notes| labels::of_files(&options, &files, &classes, logarithms, notes))?
    };
    let of_labels = || probabilities_of(&own.predictions, labels.clone());
    noted(|notes| files.note_copies(of_labels, notes));
    let (first, others) = files.sets.split_first_mut().expect("there is a file");
    let of = first.path.display().to_string();
    let mut sets = Vec::new();
    for file in others {
        let like = Names {
            names: own.class_names(),
            of: &of,
        };
        let rows = rows_of(file, &options, form, like)?;
        let (found, expected) = (rows.predictions.classes(), own.predictions.classes());
        ensure!(
            found == expected,
            "{}: {}, expected {expected}, as in {of}",
            file.path.display(),
            counted(found, "column")
        );
        check_same(&classes, &labels, first, file)?;
        sets.push(rows.predictions);
    }
    let columns = columns(&own, &by_option);
    let event = own.event_name();
    let names = match of_arrays {
        [] => classes.names(),
        names => names.to_vec(),
    };
    let numbers: Vec<f64> = labels.iter().map(|&class| class as f64).collect();
    let given = given::variables(&files, &numbers, &names)?;
    let targets = TensorData::new(labels, [own.predictions.len()]);
    sets.insert(0, own.predictions);
    let targets = Tensor::from_data(targets, &Device::flex());
    let rounded_zeros = own.resolution.few_decimals().and_then(|decimals| {
        let labels = zeros_of_labels(&sets[0], &targets);
        (labels > 0).then_some(RoundedZeros { labels, decimals })
    });
    // a fit has warnings of its own
    if form == PredictionForm::Probabilities {
        if let Some(zeros) = &rounded_zeros {
            say(&files.sets[0].path, zeros);
        }
        for (set, file) in sets.iter().zip(&files.sets) {
            if let Some(unrelated) = Unrelated::test(set, &targets)? {
                say(&file.path, unrelated);
            }
        }
    }
    let mut weights = files.row_weights.take().map(SampleWeights::from);
    if let Some(weights) = &mut weights {
        weights.check_outcomes(&files.sets[0].path, &sets[0], &targets)?;
    }
    let sets = sets.into_iter();
    let weighted = sets.map(|set| SampleWeights::on(&weights, set, &targets));
    let sets = weighted.collect::<Result<Vec<_>>>()?;
    Ok(Loaded {
        data: DataWords {
            rounded_zeros,
            resolution: own.resolution,
            ..in_words(&files, &weights, &sets[0], names)
        },
        sets,
        targets,
        columns,
        event,
        given,
    })
}

/// The logarithms of the probabilities of one class in each row.
fn logarithms_of(predictions: &Categorical, classes: Vec<i64>) -> Vec<f64> {
    let shape = [classes.len(), 1];
    let classes = Tensor::from_data(TensorData::new(classes, shape), &Device::flex());
    let of_classes = predictions.log_probabilities().gather(1, classes);
    let numbers = of_classes.try_into_vec_as::<f64>();
    numbers.expect("the numbers of files are in memory")
}

/// The probabilities of one class in each row.
pub fn probabilities_of(predictions: &Categorical, classes: Vec<i64>) -> Vec<f64> {
    let logarithms = logarithms_of(predictions, classes);
    logarithms.into_iter().map(f64::exp).collect()
}

/// Whether a map depends on no more than the order of the log-odds of each class, and so takes the infinite
/// logarithm of 0.
pub fn takes_zeros(method: Option<MapKind>) -> bool {
    matches!(
        method,
        Some(MapKind::Isotonic | MapKind::VennAbers | MapKind::Histogram)
    )
}

/// The labels that have a probability of 0.
pub fn zeros_of_labels(predictions: &Categorical, labels: &Tensor<1, Int>) -> usize {
    if predictions.logits().is_some() {
        return 0;
    }
    let of_labels = predictions.log_probabilities();
    let of_labels = of_labels.gather(1, labels.clone().unsqueeze_dim(1));
    let are_zeros = of_labels.lower_equal_elem(LOG_OF_ZERO).int();
    are_zeros.sum().into_scalar::<i64>() as usize
}

/// Logarithms of probabilities, of which smaller ones are raised as `--clip` does.
pub fn clipped_logarithms(logarithms: Tensor<2>, clip: f64) -> Tensor<2> {
    log_softmax(logarithms.clamp_min(clip.ln()), 1)
}

/// A clip as a number that can be given to `--clip`.
pub fn clip_words(clip: f64) -> String {
    if clip < 1e-5 {
        format!("{clip:e}")
    } else {
        clip.to_string()
    }
}

/// The logits of predictions, or the logarithms of their probabilities, and whether there are zeros among these,
/// whose logarithms are then [`LOG_OF_ZERO`].
pub fn logits(predictions: &Categorical) -> Result<(Tensor<2>, bool)> {
    if let Some(logits) = predictions.logits() {
        return Ok((logits, false));
    }
    let logits = predictions.log_probabilities();
    let least = logits.clone().min().into_scalar::<f64>();
    Ok((logits.clamp_min(LOG_OF_ZERO), least < LOG_OF_ZERO))
}

/// The error of a map that takes no zeros where one is among probabilities, with the row.
pub fn zero_refused(logarithms: &Tensor<2>, rows: &FilePredictions) -> Error {
    let classes = rows.predictions.classes();
    let numbers = logarithms.clone().try_into_vec_as::<f64>();
    let at = numbers
        .ok()
        .and_then(|all| all.iter().position(|number| *number <= LOG_OF_ZERO));
    let at = at.unwrap_or_default();
    // the column of an event is that of class 1
    let (column, value) = match (rows.is_binary(), at % classes) {
        (true, class) => (0, 1 - class),
        (false, class) => (class, 0),
    };
    let clip = clip_words(rows.resolution.clip());
    let wrong = wrong!(
        "the probability is {value}, whose {} is infinite, expected one between 0 and 1: --clip {clip} takes it as \
         {}; isotonic regression, Venn-Abers and histogram binning accept it",
        if value == 0 { "logarithm" } else { "log-odds" },
        if value == 0 {
            clip.clone()
        } else {
            (1.0 - rows.resolution.clip()).to_string()
        },
    );
    match rows.names.get(column) {
        Some(name) => wrong.at(at / classes, format_args!("column {}", clipped(name))),
        None => wrong.at(at / classes, format_args!("column {column}")),
    }
}
