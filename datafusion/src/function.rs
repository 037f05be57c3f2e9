//! The functions: names, types, and the accumulator behind each.

use std::sync::Arc;

use burn_calibration::{
    error::{self, Error},
    kernel::{Bandwidth, Kernel},
    score::{Brier, LogScore, Spherical},
};
use burn_calibration_accumulator::{
    BinAccumulator, BlockSkceAccumulator, ClassBinAccumulator, Kept, ScoreAccumulator,
};
use datafusion::{
    arrow::datatypes::{DataType, Field, FieldRef},
    common::{Result, plan_err},
    logical_expr::{
        Accumulator, AggregateUDFImpl, Signature, Volatility,
        function::{AccumulatorArgs, StateFieldsArgs},
        utils::{AggregateOrderSensitivity, format_state_name},
    },
};

use crate::{
    arguments::{bandwidth, count, probabilities_type},
    running::Running,
};

/// What a function computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantity {
    Accuracy,
    Brier,
    LogLoss,
    Spherical,
    Ece,
    Mce,
    ClasswiseEce,
    BlockSkce,
    BlockSkceStandardError,
    BlockSkcePValue,
}

impl Quantity {
    pub const ALL: [Self; 10] = [
        Self::Accuracy,
        Self::Brier,
        Self::LogLoss,
        Self::Spherical,
        Self::Ece,
        Self::Mce,
        Self::ClasswiseEce,
        Self::BlockSkce,
        Self::BlockSkceStandardError,
        Self::BlockSkcePValue,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::Brier => "brier",
            Self::LogLoss => "log_loss",
            Self::Spherical => "spherical",
            Self::Ece => "ece",
            Self::Mce => "mce",
            Self::ClasswiseEce => "classwise_ece",
            Self::BlockSkce => "block_skce",
            Self::BlockSkceStandardError => "block_skce_standard_error",
            Self::BlockSkcePValue => "block_skce_p_value",
        }
    }

    /// The arguments after prediction and label, in words, and how many of them may be left out.
    fn parameters(self) -> (&'static str, &'static [DataType], usize) {
        match self {
            Self::Accuracy | Self::Brier | Self::LogLoss | Self::Spherical => {
                (" [, weight]", &[DataType::Float64], 1)
            }
            Self::Ece | Self::Mce | Self::ClasswiseEce => {
                let types = &[DataType::Int64, DataType::Float64];
                (" [, bins [, weight]]", types, 2)
            }
            Self::BlockSkce | Self::BlockSkceStandardError => {
                let types = &[DataType::Float64, DataType::Int64, DataType::Float64];
                (", bandwidth, size [, weight]", types, 1)
            }
            Self::BlockSkcePValue => {
                let types = &[DataType::Float64, DataType::Int64];
                (", bandwidth, size", types, 0)
            }
        }
    }

    /// The argument that is a weight, of so many arguments.
    fn weight(self, arguments: usize) -> Option<usize> {
        let (_, types, optional) = self.parameters();
        let has_weight = optional > 0 && arguments == 2 + types.len();
        has_weight.then(|| arguments - 1)
    }

    /// Whether the value depends on the order of rows.
    fn has_order(self) -> bool {
        matches!(
            self,
            Self::BlockSkce | Self::BlockSkceStandardError | Self::BlockSkcePValue
        )
    }
}

/// An aggregate function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct CalibrationFunction {
    quantity: Quantity,
    signature: Signature,
}

impl CalibrationFunction {
    pub fn new(quantity: Quantity) -> Self {
        Self {
            quantity,
            signature: Signature::user_defined(Volatility::Immutable),
        }
    }
}

impl AggregateUDFImpl for CalibrationFunction {
    fn name(&self) -> &str {
        self.quantity.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    /// A list of f64, i64, and the parameters; the engine casts to them.
    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let (words, parameters, optional) = self.quantity.parameters();
        let most = 2 + parameters.len();
        let name = self.name();
        if !(most - optional..=most).contains(&types.len()) {
            return plan_err!(
                "{name} has {} arguments, expected {name}(probabilities, label{words})",
                types.len()
            );
        }
        let Some(list) = probabilities_type(&types[0]) else {
            return plan_err!(
                "{name}: the predictions are {}, expected lists of floats",
                types[0]
            );
        };
        if !types[1].is_integer() && !types[1].is_null() {
            return plan_err!(
                "{name}: the labels are {}, expected whole numbers",
                types[1]
            );
        }
        if let Some(wrong) = types[2..].iter().find(|given| !given.is_numeric()) {
            return plan_err!("{name}: a parameter is {wrong}, expected a number");
        }
        let parameters = parameters[..types.len() - 2].iter().cloned();
        Ok([list, DataType::Int64]
            .into_iter()
            .chain(parameters)
            .collect())
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let name = format_state_name(args.name, "state");
        let state = Arc::new(Field::new(name, DataType::Binary, true));
        let order = args.ordering_fields.iter().cloned();
        Ok([state].into_iter().chain(order).collect())
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        match self.quantity.has_order() {
            true => AggregateOrderSensitivity::HardRequirement,
            false => AggregateOrderSensitivity::Insensitive,
        }
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let name = self.name();
        if args.is_distinct {
            return plan_err!("{name}: DISTINCT rows are no sample, expected all of them");
        }
        let bins = || match args.exprs.len() {
            2 => Ok(15),
            _ => count(name, "the number of bins", &args.exprs[2], 1),
        };
        let weight = self.quantity.weight(args.exprs.len());
        let top_label = |bins, value: fn(&BinAccumulator) -> error::Result<f64>| {
            let empty = move |classes| BinAccumulator::top_label(bins, classes);
            Running::boxed(empty, value, weight)
        };
        let skce = |value: fn(&BlockSkceAccumulator) -> error::Result<f64>| -> Result<Box<dyn Accumulator>> {
            let width = bandwidth(name, &args.exprs[2])?;
            let size = count(name, "the size of a block", &args.exprs[3], 2)?;
            let kernel = Kernel::exponential().with_bandwidth(Bandwidth::Fixed(width));
            let empty = move |classes| BlockSkceAccumulator::new(kernel, size, classes);
            Ok(Running::boxed(empty, value, weight))
        };
        Ok(match self.quantity {
            Quantity::Accuracy => top_label(1, BinAccumulator::frequency),
            Quantity::Brier => mean_score(Brier, weight),
            Quantity::LogLoss => mean_score(LogScore, weight),
            Quantity::Spherical => mean_score(Spherical, weight),
            Quantity::Ece => top_label(bins()?, BinAccumulator::ece),
            Quantity::Mce => top_label(bins()?, BinAccumulator::mce),
            Quantity::ClasswiseEce => {
                let bins = bins()?;
                let empty = move |classes| ClassBinAccumulator::new(bins, classes);
                Running::boxed(empty, ClassBinAccumulator::cwce, weight)
            }
            Quantity::BlockSkce => skce(|blocks| Ok(blocks.mean()?.estimate))?,
            Quantity::BlockSkceStandardError => skce(|blocks| match blocks.blocks() {
                1 => Err(Error::TooFewSamples {
                    what: "a standard error over blocks",
                    needed: 2 * blocks.size(),
                    got: blocks.size(),
                }),
                _ => Ok(blocks.mean()?.standard_error),
            })?,
            Quantity::BlockSkcePValue => skce(|blocks| Ok(blocks.outcome()?.p_value))?,
        })
    }
}

/// The mean of a score; infinite if one is.
fn mean_score<S: Kept + Send + Sync + 'static>(
    score: S,
    weight: Option<usize>,
) -> Box<dyn Accumulator> {
    let value = |scores: &ScoreAccumulator<S>| -> error::Result<f64> {
        match scores.mean() {
            Err(Error::InfiniteScores { .. }) => Ok(f64::INFINITY),
            mean => Ok(mean?.estimate),
        }
    };
    let empty = move |classes| Ok(ScoreAccumulator::new(score.clone(), classes));
    Running::boxed(empty, value, weight)
}
