//! Arguments of the functions: rows of Arrow arrays, and constants.

use std::sync::Arc;

use burn_calibration_accumulator::Rows;
use datafusion::{
    arrow::{
        array::{Array, ArrayRef, AsArray, RecordBatch},
        datatypes::{DataType, Field, Float64Type, Int64Type, Schema},
    },
    common::{DataFusionError, Result, ScalarValue, exec_err, plan_err},
    logical_expr::ColumnarValue,
    physical_expr::PhysicalExpr,
};

/// The type that lists of floats are cast to, of lists of numbers or NULL.
pub fn probabilities_type(given: &DataType) -> Option<DataType> {
    let list = DataType::List(Arc::new(Field::new_list_field(DataType::Float64, true)));
    match given {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _)
            if item.data_type().is_numeric() =>
        {
            Some(list)
        }
        DataType::Null => Some(list),
        _ => None,
    }
}

/// The rows of a batch without those whose prediction, label or weight is NULL; none if there are no others. One of
/// the arguments may be weights.
pub fn rows(values: &[ArrayRef], weight: Option<usize>) -> Result<Option<Rows>> {
    let (lists, labels) = (
        values[0].as_list::<i32>(),
        values[1].as_primitive::<Int64Type>(),
    );
    let mut probabilities = Vec::with_capacity(lists.values().len());
    let mut classes = None;
    let mut known = Vec::with_capacity(labels.len());
    let weights = weight.map(|at| values[at].as_primitive::<Float64Type>());
    let mut known_weights = Vec::new();
    for (row, label) in labels.iter().enumerate() {
        let is_known = lists.is_valid(row) && weights.is_none_or(|weights| weights.is_valid(row));
        let Some(label) = label.filter(|_| is_known) else {
            continue;
        };
        known_weights.extend(weights.map(|weights| weights.value(row)));
        let list = lists.value(row);
        let list = list.as_primitive::<Float64Type>();
        if list.null_count() > 0 {
            return exec_err!("a probability of a list is NULL, expected a number");
        }
        let expected = *classes.get_or_insert(list.len());
        if list.len() != expected {
            return exec_err!(
                "a prediction of {} probabilities, expected {expected} as before",
                list.len()
            );
        }
        probabilities.extend_from_slice(list.values());
        known.push(label);
    }
    let Some(classes) = classes else {
        return Ok(None);
    };
    let rows = Rows::from_probabilities(probabilities, classes, &known);
    let rows = rows.and_then(|rows| match weights {
        Some(_) => rows.weighted(&known_weights),
        None => Ok(rows),
    });
    // rows are counted within what the accumulator is given
    let place = "among the rows of a group in one batch";
    rows.map(Some).map_err(|e| external(e).context(place))
}

/// A parameter that is a whole number of at least `least`.
pub fn count(
    function: &str,
    what: &str,
    parameter: &Arc<dyn PhysicalExpr>,
    least: i64,
) -> Result<usize> {
    match constant(function, what, parameter)? {
        ScalarValue::Int64(Some(count)) if count >= least => Ok(count as usize),
        other => {
            plan_err!("{function}: {what} is {other}, expected a whole number of at least {least}")
        }
    }
}

/// A parameter that is a positive finite number.
pub fn bandwidth(function: &str, parameter: &Arc<dyn PhysicalExpr>) -> Result<f64> {
    match constant(function, "the bandwidth", parameter)? {
        ScalarValue::Float64(Some(width)) if width.is_finite() && width > 0.0 => Ok(width),
        other => {
            plan_err!("{function}: the bandwidth is {other}, expected a positive finite number")
        }
    }
}

/// The value of an expression that refers to no column.
fn constant(function: &str, what: &str, parameter: &Arc<dyn PhysicalExpr>) -> Result<ScalarValue> {
    let nothing = RecordBatch::new_empty(Arc::new(Schema::empty()));
    match parameter.evaluate(&nothing) {
        Ok(ColumnarValue::Scalar(value)) => Ok(value),
        _ => {
            plan_err!("{function}: {what} is {parameter}, expected a constant; a weight comes last")
        }
    }
}

/// An error of the library as one of the engine.
pub fn external(error: burn_calibration::error::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
