"""What metrics give to the library: predictions with what occurred, as arrays in double precision."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from . import _native
from ._base import weights_of
from ._checks import (
    check_count,
    check_finite,
    check_increasing,
    check_level,
    check_probabilities,
    check_rows,
    floats,
    settled,
    unmasked,
    warn_of_probabilities,
)
from ._labels import Rows, encode, headers_of, listed, rows_in, shown
from ._warnings import CalibrationWarning
from .predictions import Predictions, check_order, predictions_of

FAMILIES = {
    "normal": _native.Family.Normal,
    "laplace": _native.Family.Laplace,
    "normal-mixture": _native.Family.NormalMixture,
    "laplace-mixture": _native.Family.LaplaceMixture,
    "samples": _native.Family.Samples,
    "quantiles": _native.Family.Quantiles,
}


class Interval(NamedTuple):
    """An estimate with its confidence interval."""

    estimate: float
    lower: float
    upper: float
    level: float


def told(found: _native._Estimate, level: float | None) -> float | Interval:
    """An estimate, with its interval if there is a level."""
    if level is None:
        return found["estimate"]
    assert found["lower"] is not None and found["upper"] is not None
    return Interval(found["estimate"], found["lower"], found["upper"], level)


class ClassArrays(NamedTuple):
    """Predictions of classes with labels."""

    rows: np.ndarray
    is_logits: bool
    is_event: bool
    labels: np.ndarray
    weights: np.ndarray | None
    pos_label: int | None


class RealArrays(NamedTuple):
    """Predictions of real numbers with targets."""

    family: _native.Family
    rows: np.ndarray
    levels: list[float]
    targets: np.ndarray
    weights: np.ndarray | None


class Bins(NamedTuple):
    """Bins of a probability."""

    bins: int
    is_equal_mass: bool


def bins_of(bins: int, strategy: Literal["uniform", "quantile"]) -> Bins:
    """Bins by the names of scikit-learn."""
    if strategy not in ("uniform", "quantile"):
        raise ValueError(f"strategy is {strategy!r}, expected 'uniform' or 'quantile'")
    check_count(bins, "bins")
    return Bins(int(bins), strategy == "quantile")


def level_of(interval: float | None) -> float | None:
    """The confidence level of an interval, where one is asked for."""
    check_level(interval, "interval")
    return interval


def _check_lengths(predictions: np.ndarray, truth: Any) -> None:
    rows = rows_in(truth)
    if len(predictions) != rows:
        raise ValueError(f"y_true has {rows} rows and the predictions {len(predictions)}, expected as many of both")


def classes_of(y_true: Any, y_prob: Any, sample_weight: Any, pos_label: Any = None, classes: Any = None) -> ClassArrays:
    """Predictions of classes with labels; probabilities of an event, ``[n]``, become two columns."""
    y_true = unmasked(y_true)
    check_order(y_true, y_prob)
    predictions = predictions_of(y_prob)
    if predictions.family != "categorical":
        raise ValueError(f"{type(predictions).__name__} predictions, expected probabilities or Logits of classes")
    name = "logits" if predictions.is_logits else "y_prob"
    rows, is_event = floats(predictions.rows, name), predictions.is_event
    if rows.ndim not in (1, 2) or rows.size == 0:
        raise ValueError(f"{name}: an array of shape {rows.shape}, expected [n] or [n, m] with some rows")
    if predictions.is_logits:
        check_finite(rows, name, "logit")
        warn_of_probabilities(
            rows, name, "probabilities are y_prob, without Logits, or Logits(np.log(p))", CalibrationWarning
        )
    elif not check_probabilities(rows, name):
        rows = settled(rows, name)
    if is_event:
        event = rows.reshape(-1)
        rows = np.column_stack([np.zeros_like(event) if predictions.is_logits else 1 - event, event])
    _check_lengths(rows, y_true)
    labels, known = encode(y_true, Rows(rows, predictions.is_logits), classes, headers=headers_of(y_prob))
    weights = weights_of(sample_weight, len(labels))
    if is_event and pos_label is not None:
        raise ValueError("pos_label: probabilities [n] are those of the event 1, expected no pos_label")
    return ClassArrays(rows, predictions.is_logits, is_event, labels, weights, _place(pos_label, rows.shape[1], known))


def _place(pos_label: Any, count: int, known: list[Any] | None) -> int | None:
    """The column of a class."""
    if pos_label is None:
        return None
    classes = list(range(count)) if known is None else known
    if pos_label not in classes:
        raise ValueError(f"pos_label is {shown(pos_label)}, expected one of {listed(classes)}")
    return classes.index(pos_label)


def check_redraws(redraws: int | None) -> int | None:
    """Refuses what is no number of redraws."""
    check_count(redraws, "redraws")
    return redraws


def are_reals(prediction: Any) -> bool:
    """Whether predictions are of real numbers."""
    return isinstance(prediction, Predictions) and prediction.family != "categorical"


def reals_of(y_true: Any, prediction: Any, sample_weight: Any) -> RealArrays:
    """Predictions of real numbers with targets, ``[n]`` or ``[n, d]``."""
    check_order(y_true, prediction, "(y_true, prediction)")
    if not are_reals(prediction):
        raise ValueError("expected predictions of real numbers: Normal(loc, scale), Samples(draws) or others")
    rows_in(y_true)
    rows, targets = floats(prediction.rows, "prediction"), floats(y_true, "y_true")
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise ValueError(f"prediction: an array of shape {rows.shape}, expected [n, k]")
    if targets.ndim == 1:
        targets = targets[:, None]
    if targets.ndim != 2:
        raise ValueError(f"y_true: an array of shape {targets.shape}, expected [n] or [n, d]")
    _check_lengths(rows, targets)
    check_rows(prediction, rows, "prediction")
    check_finite(targets, "y_true", "target")
    family, levels = FAMILIES[prediction.family], list(prediction.levels)
    check_increasing(levels)
    return RealArrays(family, rows, levels, targets, weights_of(sample_weight, len(targets)))
