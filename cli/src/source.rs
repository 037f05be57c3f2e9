//! Devices, and numbers of files on them.

use std::path::{Path, PathBuf};

use burn::tensor::{DType, Device, Tensor, TensorData};

use crate::{
    align::{in_order, places_of, say_by_name},
    args::{DeviceName, LabelsArgs, RowsArgs, YesNo},
    error::{Context, Error, Result, bail, ensure, wrong},
    input::{Cells, Ids, Lines, Matrix, Options, WhichLabel, clipped, read_table},
    words::key,
};

/// Where the labels of a file of predictions are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// In a file of their own.
    Elsewhere,
    /// In the same file.
    Here,
    /// In the first of several files of predictions, and perhaps in this one as well.
    InTheFirst,
    /// They are not needed, and left out where they are.
    NotNeeded,
}

/// What the arguments say of a file of predictions.
pub fn options(args: &RowsArgs, labels: Where) -> Options<'_> {
    let name = args.label_column.as_deref();
    let label = match (labels, name) {
        (Where::Elsewhere, _) | (_, None) => WhichLabel::None,
        (Where::InTheFirst, Some(name)) => WhichLabel::IfThere(name),
        (_, Some(name)) => WhichLabel::Named(name),
    };
    let is_known = labels == Where::Elsewhere || name.is_some() || args.positive;
    Options {
        header: args.header.map(|header| header == YesNo::Yes),
        columns: args.columns.as_deref(),
        label,
        index: None,
        is_counted: matches!(labels, Where::Elsewhere | Where::InTheFirst),
        are_probabilities: false,
        correct: None,
        confidence: (args.confidence_correctness || is_known)
            .then_some(args.confidence_correctness),
        words: &[],
    }
}

/// What the arguments say of a file of labels or targets.
pub fn label_options(args: &LabelsArgs) -> Options<'_> {
    Options {
        header: args.labels_header.map(|header| header == YesNo::Yes),
        confidence: Some(false),
        is_counted: true,
        ..Options::default()
    }
}

/// Where the labels of each file of predictions are.
pub fn places(args: &LabelsArgs) -> impl Iterator<Item = Where> {
    let places = match args.labels {
        Some(_) => [Where::Elsewhere; 2],
        None => [Where::Here, Where::InTheFirst],
    };
    places.into_iter().chain(std::iter::repeat(places[1]))
}

/// Numbers on a device.
pub fn tensor(matrix: Matrix, name: DeviceName, device: &Device) -> Tensor<2> {
    let dtype = match name {
        DeviceName::Wgpu => DType::F32, // supports f64 in name, but not in all functions
        _ => DType::F64,
    };
    let shape = [matrix.rows(), matrix.columns];
    let values = TensorData::new(matrix.values, shape);
    Tensor::from_data(values, (device, dtype))
}

/// Says where labels are expected that are nowhere.
pub fn no_labels(path: &Path) -> Error {
    wrong!(
        "no labels: expected --labels FILE, or --label-column COLUMN for a column of {}",
        path.display()
    )
}

pub fn device(name: DeviceName) -> Result<Device> {
    Ok(match name {
        DeviceName::Flex => Device::flex(),
        #[cfg(feature = "ndarray")]
        #[allow(deprecated)]
        // upstream deprecates the backend; it stays a supported feature here
        DeviceName::Ndarray => Device::ndarray(),
        #[cfg(feature = "wgpu")]
        DeviceName::Wgpu => Device::wgpu(Default::default()),
        #[cfg(feature = "cuda")]
        DeviceName::Cuda => Device::cuda(0),
        #[allow(unreachable_patterns)] // where all are compiled in
        other => {
            let name = key(other);
            bail!("--device {name}: not compiled in, build with --features {name}")
        }
    })
}

/// The numbers of a file.
pub struct Numbers {
    pub rows: Tensor<2>,
    pub path: PathBuf,
    /// The names of the columns; empty if the file has none.
    pub names: Vec<String>,
    /// What names the rows; none by position.
    pub ids: Option<Ids>,
    pub lines: Lines,
}

/// Reads the numbers of a file: columns in the order of names that are expected, if they are the same names.
pub fn read_numbers(
    path: &Path,
    args: &RowsArgs,
    options: &Options,
    expected: &[String],
    device: &Device,
) -> Result<(Numbers, Option<Cells>)> {
    let mut table = read_table(path, options)?;
    let is_other = expected != table.names && expected.len() == table.names.len();
    if is_other
        && !args.by_position
        && let Some(order) = places_of(expected, &table.names)
    {
        table.numbers = table.numbers.with_columns(&order);
        table.names = in_order(&table.names, &order);
        say_by_name(path, "columns", &table.names);
    }
    let numbers = Numbers {
        rows: tensor(table.numbers, args.device, device),
        path: path.to_path_buf(),
        names: table.names,
        ids: table.ids.filter(|_| !args.by_position),
        lines: table.lines,
    };
    Ok((numbers, table.labels))
}

impl Numbers {
    /// Targets in a column beside the predictions.
    pub fn beside(&self, cells: &Cells, name: DeviceName, device: &Device) -> Result<Self> {
        let target = |(row, cell): (usize, &str)| {
            let wrong = |_| wrong!("the target is {cell:?}, expected a number").at_row(row);
            cell.parse().map_err(wrong)
        };
        let values: Result<_> = cells.iter().enumerate().map(target).collect();
        let values = values.on(&self.path, &self.lines)?;
        Ok(Self {
            rows: tensor(Matrix { columns: 1, values }, name, device),
            path: self.path.clone(),
            names: Vec::new(),
            ids: None,
            lines: self.lines.clone(),
        })
    }
}

/// Words for the location and the scale of a distribution in names of columns.
const LOCATIONS: &str = "mean means mu loc location median m";
const SCALES: &str = "sd std stdev stddev stds sigma scale scales deviation s b";

/// Whether the names are increasing numbers between 0 and 1, as of quantiles.
pub fn are_levels(names: &[String]) -> bool {
    let levels: Vec<f64> = names.iter().filter_map(|name| name.parse().ok()).collect();
    let rise = levels.windows(2).all(|pair| pair[0] < pair[1]);
    let inside = levels.iter().all(|level| 0.0 < *level && *level < 1.0);
    levels.len() > 1 && levels.len() == names.len() && rise && inside
}

/// Checks that locations come before scales where the names of all columns tell which they are.
pub fn check_halves(names: &[String]) -> Result<()> {
    // Some(true) of a scale
    let role = |name: &String| {
        let name = name.to_lowercase();
        let words = || name.split(|c: char| !c.is_alphabetic());
        let is = |known: &str| {
            known
                .split(' ')
                .any(|known| words().any(|word| word == known))
        };
        match (is(LOCATIONS), is(SCALES)) {
            (true, false) => Some(false),
            (false, true) => Some(true),
            _ => None,
        }
    };
    let Some(roles) = names.iter().map(role).collect::<Option<Vec<_>>>() else {
        return Ok(());
    };
    let half = names.len() / 2;
    let is_wrong = |(column, is_scale): (usize, &bool)| *is_scale != (column >= half);
    ensure!(
        !roles.iter().enumerate().any(is_wrong),
        "the columns are named {}, expected locations and then scales; --columns NAME,NAME gives their \
             order, and --by-position takes them as they are",
        clipped(&names.join(", "))
    );
    Ok(())
}
