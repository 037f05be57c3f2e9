use super::{
    Summary,
    number::{fixed, percent, points, scientific},
    table::{Cell, Quantity},
};

/// In the order of the table.
pub(super) const QUANTITIES: [Quantity<Summary>; 10] = [
    Quantity {
        name: "p-value of the omnibus test",
        meaning: "How likely data that are at least as far off would be if the model were calibrated: \
                  a small one is evidence against calibration, a large one is no evidence for it.",
        cell: |summary| Cell::p_value(&summary.omnibus),
    },
    Quantity {
        name: "Overconfidence, points",
        meaning: "Mean confidence less accuracy, in hundredths of a probability, below 0 of a model that \
                  is underconfident; over- and underconfidence of different samples cancel.",
        cell: |summary| Cell::interval(&summary.overconfidence, points),
    },
    Quantity {
        name: "ECE of order 2, debiased, points",
        meaning: "Root of the mean squared distance between confidence and accuracy in 15 bins of equal \
                  mass, less what chance adds to it; it sees the most likely class only.",
        cell: |summary| Cell::interval(&summary.ece_debiased, points),
    },
    Quantity {
        name: "Accuracy",
        meaning: "How often the most likely class was the right one; it says nothing about the \
                  probabilities.",
        cell: |summary| Cell::mean(&summary.accuracy, percent),
    },
    Quantity {
        name: "Mean confidence",
        meaning: "The accuracy that the model claims; a calibrated model claims the one it has, but \
                  so does one whose over- and underconfidence cancel.",
        cell: |summary| Cell::mean(&summary.confidence, percent),
    },
    Quantity {
        name: "Brier score",
        meaning: "Mean squared distance of the probabilities from the outcome, from 0 (best) to 2; \
                  it rewards calibration and knowledge together, and cannot say which of them is \
                  lacking.",
        cell: |summary| Cell::mean(&summary.brier, fixed),
    },
    Quantity {
        name: "Log score",
        meaning: "Mean surprise at the outcome in nats, 0 at best; it mixes calibration and \
                  knowledge as the Brier score does, and a single confident error can dominate it.",
        cell: |summary| match &summary.log {
            Ok(mean) => Cell::mean(mean, fixed),
            Err(reason) => Cell::missing("∞", reason),
        },
    },
    Quantity {
        name: "ECE, top label",
        meaning: "Mean distance of the marks in the diagram from the diagonal, weighted by samples; \
                  it depends on the bins, sees the most likely class only, and is above 0 for a \
                  calibrated model too.",
        cell: |summary| Cell::of(fixed(summary.ece)),
    },
    Quantity {
        name: "KS, top label",
        meaning: "Kolmogorov–Smirnov error: the largest gap between what confidence promised and \
                  what came true, summed up to some confidence; it needs no bins, but sees the most \
                  likely class only and is above 0 for a calibrated model too.",
        cell: |summary| Cell::of(fixed(summary.ks)),
    },
    Quantity {
        name: "SKCE, unbiased",
        meaning: "Squared kernel calibration error of all probabilities; that of the model is never \
                  negative, and 0 only if it is calibrated, the estimate is by chance also below. Its \
                  size depends on the kernel, so it compares models under the same kernel only.",
        cell: |summary| Cell::interval(&summary.skce, scientific),
    },
];
