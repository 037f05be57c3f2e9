use super::{
    Summary,
    number::{fixed, p_value, percent, scientific},
    table::{Cell, Quantity},
};

/// In the order of the table.
pub(super) const QUANTITIES: [Quantity<Summary>; 8] = [
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
        meaning: "Squared kernel calibration error of all probabilities, 0 for a calibrated model \
                  and by chance also below; its size depends on the kernel, so it compares models \
                  under the same kernel only.",
        cell: |summary| match &summary.skce {
            Ok(outcome) => Cell::of(scientific(outcome.estimate())),
            Err(reason) => Cell::missing("–", reason),
        },
    },
    Quantity {
        name: "p-value of the SKCE",
        meaning: "How likely an SKCE at least this large would be if the model were calibrated \
                  (asymptotic test): a small one is evidence against calibration, a large one is no \
                  evidence for it.",
        cell: |summary| match &summary.skce {
            Ok(outcome) => Cell::of(p_value(outcome.p_value())),
            Err(reason) => Cell::missing("–", reason),
        },
    },
];
