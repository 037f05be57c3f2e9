//! Devices, and numbers of files on them.

use burn::tensor::{DType, Device, Tensor, TensorData};

use crate::{
    align::{in_order, places_of, say_by_name},
    args::{DeviceName, LabelsArgs, RowsArgs},
    error::{Context, Result, bail, ensure, wrong},
    files::File,
    input::{Matrix, Options, WhichLabel, clipped},
    words::key,
};

/// What the arguments say of a file of predictions, of classes or of real numbers, that has the labels if it names
/// their column.
pub fn options(args: &RowsArgs, are_classes: bool) -> Options<'_> {
    let label = args.label_column.as_deref();
    let is_told = args.confidence_correctness || label.is_some() || args.positive || !are_classes;
    Options {
        header: args.header,
        columns: args.columns.as_deref(),
        label: label.map_or(WhichLabel::None, WhichLabel::Named),
        index: are_classes.then_some(if args.positive { 1 } else { 2 }),
        are_probabilities: are_classes && !args.logits && !args.log_probabilities,
        confidence: is_told.then_some(args.confidence_correctness),
        are_percentages: args.percent,
        skip_missing: args.skip_missing,
        ..Options::default()
    }
}

/// What the arguments say of a file of labels or targets.
pub fn label_options(args: &LabelsArgs) -> Options<'_> {
    Options {
        header: args.labels_header,
        confidence: Some(false),
        is_counted: true,
        ..Options::default()
    }
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

/// Puts the columns of a file in the order of names that are expected, if they are the same names.
pub fn order_columns(file: &mut File, args: &RowsArgs, expected: &[String]) {
    let table = &mut file.table;
    let is_other = expected != table.names && expected.len() == table.names.len();
    if is_other
        && !args.by_position
        && let Some(order) = places_of(expected, &table.names)
    {
        table.numbers = table.numbers.with_columns(&order);
        table.names = in_order(&table.names, &order);
        say_by_name(&file.path, "columns", &table.names);
    }
}

/// The targets of a file: its numbers, or the columns of labels beside them.
pub fn targets(file: &mut File, are_beside: bool) -> Result<Matrix> {
    if !are_beside {
        return Ok(std::mem::take(&mut file.table.numbers));
    }
    let labels = &file.table.labels;
    let mut values = Vec::with_capacity(file.table.len() * labels.len());
    for row in 0..file.table.len() {
        for column in labels {
            let cell = &column.cells[row];
            let wrong = |_| wrong!("the target is {cell:?}, expected a number").at_row(row);
            values.push(
                cell.parse()
                    .map_err(wrong)
                    .on(&file.path, &file.table.lines)?,
            );
        }
    }
    Ok(Matrix {
        columns: labels.len(),
        values,
    })
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
             order, and --by-position takes them in their order",
        clipped(&names.join(", "))
    );
    Ok(())
}
