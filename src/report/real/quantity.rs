use super::RealSummary;
use crate::report::{
    number::{fixed, percent, points, scientific, significant},
    table::{Cell, Quantity},
};

/// In the order of the table.
pub(super) const QUANTITIES: [Quantity<RealSummary>; 10] = [
    Quantity {
        name: "p-value of the omnibus test",
        meaning: "How likely data that are at least as far off would be if the model were calibrated: \
                  a small one is evidence against calibration, a large one is no evidence for it.",
        cell: |summary| Cell::p_value(&summary.omnibus),
    },
    Quantity {
        name: "Overconfidence of 90&#160;% intervals, points",
        meaning: "The 90 % that central intervals promise to cover less what they cover, in hundredths \
                  of a probability: above 0 predictions are too narrow, below 0 too wide.",
        cell: |summary| Cell::interval(&summary.overconfidence, points),
    },
    Quantity {
        name: "Log score",
        meaning: "Mean of −ln of the predicted density at the target; it rewards calibration and \
                  knowledge together, depends on the units of the targets, so that only differences \
                  mean something, and a single confident error can dominate it.",
        cell: |summary| match &summary.log {
            Some(Ok(mean)) => Cell::mean(mean, fixed),
            Some(Err(reason)) => Cell::missing("–", reason),
            None => Cell::missing("–", "these predictions have no density"),
        },
    },
    Quantity {
        name: "CRPS",
        meaning: "Continuous ranked probability score, in units of the targets, 0 at best: the \
                  absolute error, made fair to predictions that admit what they do not know; it mixes \
                  calibration and knowledge as the log score does.",
        cell: |summary| match &summary.crps {
            Ok(mean) => Cell::mean(mean, significant),
            Err(reason) => Cell::missing("–", reason),
        },
    },
    Quantity {
        name: "Mean predicted standard deviation",
        meaning: "How wide the predictions are, their sharpness; less is better only among calibrated \
                  models.",
        cell: |summary| Cell::mean(&summary.sharpness.standard_deviation, significant),
    },
    Quantity {
        name: "Root mean squared error",
        meaning: "The error that the predicted means have; it says nothing about the rest of the \
                  predictions.",
        cell: |summary| Cell::of(significant(summary.root_mean_squared_error)),
    },
    Quantity {
        name: "Coverage of 50&#160;% intervals",
        meaning: "The share of targets between the predicted quartiles, 50 % if the model is \
                  calibrated; the reverse does not hold.",
        cell: |summary| Cell::mean(&summary.half.coverage, percent),
    },
    Quantity {
        name: "Coverage of 90&#160;% intervals",
        meaning: "The share of targets between the predicted quantiles at 5 % and 95 %, 90 % if the \
                  model is calibrated; less tells of predictions that are too certain.",
        cell: |summary| Cell::mean(&summary.ninety.coverage, percent),
    },
    Quantity {
        name: "Quantile calibration error",
        meaning: "Mean distance of the marks in the diagram of quantiles from the diagonal; it averages \
                  over all predictions, and is above 0 for a calibrated model too.",
        cell: |summary| Cell::of(fixed(summary.quantiles.curve.mean_absolute_error())),
    },
    Quantity {
        name: "SKCE, unbiased",
        meaning: "Squared kernel calibration error of the whole predictions; that of the model is never \
                  negative, and 0 only if it is calibrated, the estimate is by chance also below. Its \
                  size depends on the kernel, so it compares models under the same kernel only.",
        cell: |summary| Cell::interval(&summary.skce, scientific),
    },
];
