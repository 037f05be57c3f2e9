"""What metrics give to the library: predictions with what occurred, as arrays in double precision."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from . import _native
from ._base import labels_of, weights_of
from .predictions import Predictions, check_order, predictions_of

_FAMILIES = {
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


def told(found: _native.Estimate, level: float | None) -> float | Interval:
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
    if bins < 1:
        raise ValueError(f"bins is {bins}, expected at least 1")
    return Bins(int(bins), strategy == "quantile")


def _floats(values: Any, name: str) -> np.ndarray:
    """An array in double precision and row-major order."""
    rows = np.asarray(values)
    if rows.dtype.kind not in "fiub":
        raise ValueError(f"{name}: an array of {rows.dtype}, expected numbers")
    return np.ascontiguousarray(rows, dtype=np.float64)


def _check_lengths(predictions: np.ndarray, truth: np.ndarray) -> None:
    if len(predictions) != len(truth):
        raise ValueError(f"y_true has {len(truth)} rows and the predictions {len(predictions)}, expected as many of both")


def classes_of(y_true: Any, y_prob: Any, sample_weight: Any, pos_label: int | None = None) -> ClassArrays:
    """Predictions of classes with labels; probabilities of an event, ``[n]``, become two columns."""
    check_order(y_true, y_prob)
    predictions = predictions_of(y_prob)
    if predictions.family != "categorical":
        raise ValueError(f"predictions of the family {predictions.family}, expected probabilities or logits of classes")
    rows = _floats(predictions.rows, predictions.name)
    is_event = rows.ndim == 1 or (rows.ndim == 2 and rows.shape[1] == 1)
    if is_event:
        event = rows.reshape(-1)
        if not predictions.is_logits:
            wrong = np.flatnonzero(~((event >= 0) & (event <= 1)))
            if wrong.size:
                raise ValueError(f"row {wrong[0]}: the probability is {event[wrong[0]]:.6g}, expected from 0 to 1")
        rows = np.column_stack([np.zeros_like(event) if predictions.is_logits else 1 - event, event])
    if rows.ndim != 2:
        raise ValueError(f"{predictions.name}: an array of shape {rows.shape}, expected [n] or [n, m]")
    labels = labels_of(y_true)
    _check_lengths(rows, labels)
    weights = weights_of(sample_weight, len(labels))
    if is_event and pos_label is not None:
        raise ValueError("pos_label: probabilities [n] are those of the event 1, expected no pos_label")
    if pos_label is not None and not 0 <= pos_label < rows.shape[1]:
        raise ValueError(f"pos_label is {pos_label}, expected a class from 0 to {rows.shape[1] - 1}")
    return ClassArrays(rows, predictions.is_logits, is_event, labels, weights, pos_label)


def check_redraws(redraws: int | None) -> int | None:
    """Refuses no redraws."""
    if redraws is not None and redraws < 1:
        raise ValueError(f"redraws is {redraws}, expected at least 1")
    return redraws


def are_reals(prediction: Any) -> bool:
    """Whether predictions are of real numbers."""
    return isinstance(prediction, Predictions) and prediction.family != "categorical"


def reals_of(y_true: Any, prediction: Any, sample_weight: Any) -> RealArrays:
    """Predictions of real numbers with targets, ``[n]`` or ``[n, d]``."""
    check_order(y_true, prediction, "(y_true, prediction)")
    if not are_reals(prediction):
        raise ValueError("expected predictions of real numbers: normal(loc, scale), samples(draws), quantiles(…), …")
    rows, targets = _floats(prediction.rows, "predictions"), _floats(y_true, "y_true")
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise ValueError(f"predictions: an array of shape {rows.shape}, expected [n, k]")
    if targets.ndim == 1:
        targets = targets[:, None]
    if targets.ndim != 2:
        raise ValueError(f"y_true: an array of shape {targets.shape}, expected [n] or [n, d]")
    _check_lengths(rows, targets)
    family, levels = _FAMILIES[prediction.family], list(prediction.levels)
    return RealArrays(family, rows, levels, targets, weights_of(sample_weight, len(targets)))
