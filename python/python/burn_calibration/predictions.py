"""Predictions of a family, one row per sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterable

import numpy as np


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of a family, one row per sample. Functions such as `normal` make them."""

    family: str
    rows: np.ndarray
    is_logits: bool = False
    #: The levels of quantiles.
    levels: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def is_event(self) -> bool:
        """Whether they are of one event, class 1 of two, ``[n]``."""
        return self.family == "categorical" and self.rows.ndim == 1

    @property
    def name(self) -> str:
        """What rows are called in messages."""
        if self.family != "categorical":
            return "predictions"
        return "logits" if self.is_logits else "probabilities"


def _columns(*parts: Any) -> np.ndarray:
    """Arrays of as many rows side by side, ``[n, ...]``."""
    columns = [np.asarray(part) for part in parts]
    columns = [part[:, None] if part.ndim == 1 else part for part in columns]
    lengths = [len(part) for part in columns]
    if len(set(lengths)) > 1:
        raise ValueError(f"arrays of {', '.join(map(str, lengths))} rows, expected as many rows of each")
    return np.concatenate(columns, axis=1)


def probabilities(p: Any) -> Predictions:
    """Probabilities of classes, ``[n, m]``, or of an event (class 1 of two), ``[n]``."""
    return Predictions("categorical", np.asarray(p))


def logits(z: Any) -> Predictions:
    """Logits of classes, ``[n, m]``, or log-odds of an event (class 1 of two), ``[n]``."""
    return Predictions("categorical", np.asarray(z), is_logits=True)


def normal(loc: Any, scale: Any) -> Predictions:
    """Normal distributions: means and standard deviations, ``[n]`` or ``[n, d]``."""
    return Predictions("normal", _columns(loc, scale))


def laplace(loc: Any, scale: Any) -> Predictions:
    """Laplace distributions: locations and scales, ``[n]`` or ``[n, d]``."""
    return Predictions("laplace", _columns(loc, scale))


def normal_mixture(weights: Any, loc: Any, scale: Any) -> Predictions:
    """Mixtures of normal distributions: weights, means and standard deviations, ``[n, k]``."""
    return Predictions("normal-mixture", _columns(weights, loc, scale))


def laplace_mixture(weights: Any, loc: Any, scale: Any) -> Predictions:
    """Mixtures of Laplace distributions: weights, locations and scales, ``[n, k]``."""
    return Predictions("laplace-mixture", _columns(weights, loc, scale))


def samples(draws: Any) -> Predictions:
    """Monte Carlo samples, ``[n, k]``: ``k`` draws of each prediction."""
    return Predictions("samples", np.asarray(draws))


def quantiles(values: Any, levels: Iterable[float]) -> Predictions:
    """Quantile forecasts, ``[n, k]``, at ``k`` levels between 0 and 1."""
    return Predictions("quantiles", np.asarray(values), levels=tuple(float(level) for level in levels))


def predictions_of(predictions: Any) -> Predictions:
    """Predictions, or an array of probabilities as predictions."""
    return predictions if isinstance(predictions, Predictions) else probabilities(predictions)


def check_order(y_true: Any, predictions: Any, expected: str = "(y_true, y_prob)") -> None:
    """Refuses predictions in the place of what occurred.

    Raises
    ------
    ValueError
        The arguments are swapped.
    """
    if isinstance(y_true, Predictions):
        raise ValueError(f"y_true are predictions: the arguments are swapped, expected {expected}, truth first")
    if isinstance(predictions, Predictions) and predictions.family != "categorical":
        return
    truth = np.asarray(y_true)
    rows = predictions.rows if isinstance(predictions, Predictions) else np.asarray(predictions)
    if truth.ndim == 2 and truth.shape[1] > 1 and truth.dtype.kind == "f" and (rows.ndim == 1 or rows.shape[1] == 1):
        raise ValueError(
            f"y_true has the shape {truth.shape} and the predictions {rows.shape}: the arguments are swapped, "
            f"expected {expected}, truth first"
        )
    if truth.ndim == rows.ndim == 1 and _has_fractions(truth) and not _has_fractions(rows):
        raise ValueError(
            "y_true has fractions and the predictions are whole numbers or names: the arguments are swapped, "
            f"expected {expected}, truth first"
        )


def _has_fractions(values: np.ndarray) -> bool:
    if values.dtype.kind != "f":
        return False
    finite = values[np.isfinite(values)]
    return bool((finite != np.floor(finite)).any())
