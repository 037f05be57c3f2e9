"""Proper scores: lower is better.

All are means over the samples. Their intervals are for new samples: Student's where the scores show that these hold,
elsewhere wider, since scores that did not happen can be expected too.
"""

from __future__ import annotations

from typing import Any, Iterable, overload

from . import _native
from ._arrays import Interval, are_reals, classes_of, level_of, reals_of, told
from ._docs import ANY, CLASSES, REALS, documented
from .predictions import levels_of


@overload
def brier_score(
    y_true: Any, y_prob: Any, *, sample_weight: Any = ..., classes: Any = ..., interval: None = ...
) -> float: ...
@overload
def brier_score(
    y_true: Any, y_prob: Any, *, sample_weight: Any = ..., classes: Any = ..., interval: float
) -> Interval: ...
@documented(CLASSES)
def brier_score(
    y_true: Any, y_prob: Any, *, sample_weight: Any = None, classes: Any = None, interval: float | None = None
) -> float | Interval:
    """The Brier score, in the convention of scikit-learn's ``brier_score_loss``.

    Of an event ``[n]``, and of two classes ``[n, 2]``: the mean of ``(p − y)²`` of class 1, from 0 to 1. Of three classes
    or more: the sum over the classes, ``Σ_k (p_k − 1[y = k])²``, from 0 to 2. `evaluate` has the sum for two classes too,
    which is twice this number.
    """
    data = classes_of(y_true, y_prob, sample_weight, classes=classes)
    return told(_native.brier_score(data, level_of(interval)), interval)


@overload
def log_loss(
    y_true: Any, prediction: Any, *, sample_weight: Any = ..., classes: Any = ..., interval: None = ...
) -> float: ...
@overload
def log_loss(
    y_true: Any, prediction: Any, *, sample_weight: Any = ..., classes: Any = ..., interval: float
) -> Interval: ...
@documented(ANY)
def log_loss(
    y_true: Any, prediction: Any, *, sample_weight: Any = None, classes: Any = None, interval: float | None = None
) -> float | Interval:
    """The log score in nats: ``−ln p_y`` of classes, ``−ln f(y)`` of normal and Laplace distributions and their mixtures.

    A label of probability 0 is an error that names the row: the score is infinite. Logits have none.
    """
    if are_reals(prediction):
        found = _native.log_loss_of_reals(reals_of(y_true, prediction, sample_weight), level_of(interval))
    else:
        found = _native.log_loss(classes_of(y_true, prediction, sample_weight, classes=classes), level_of(interval))
    return told(found, interval)


@overload
def spherical_score(
    y_true: Any, y_prob: Any, *, sample_weight: Any = ..., classes: Any = ..., interval: None = ...
) -> float: ...
@overload
def spherical_score(
    y_true: Any, y_prob: Any, *, sample_weight: Any = ..., classes: Any = ..., interval: float
) -> Interval: ...
@documented(CLASSES)
def spherical_score(
    y_true: Any, y_prob: Any, *, sample_weight: Any = None, classes: Any = None, interval: float | None = None
) -> float | Interval:
    """The spherical score ``1 − p_y/‖p‖`` of classes, from 0 to 1."""
    data = classes_of(y_true, y_prob, sample_weight, classes=classes)
    return told(_native.spherical_score(data, level_of(interval)), interval)


@overload
def crps(y_true: Any, prediction: Any, *, sample_weight: Any = ..., interval: None = ...) -> float: ...
@overload
def crps(y_true: Any, prediction: Any, *, sample_weight: Any = ..., interval: float) -> Interval: ...
@documented(REALS)
def crps(y_true: Any, prediction: Any, *, sample_weight: Any = None, interval: float | None = None) -> float | Interval:
    """The continuous ranked probability score, ``E|X − y| − ½ E|X − X'|``, in units of the targets.

    The sum over the coordinates. Of `Samples` it is that of their empirical distribution. Quantiles have none, see
    `interval_score`.
    """
    return told(_native.crps(reals_of(y_true, prediction, sample_weight), level_of(interval)), interval)


@overload
def interval_score(y_true: Any, prediction: Any, *, sample_weight: Any = ..., interval: None = ...) -> float: ...
@overload
def interval_score(y_true: Any, prediction: Any, *, sample_weight: Any = ..., interval: float) -> Interval: ...
@documented(REALS)
def interval_score(
    y_true: Any, prediction: Any, *, sample_weight: Any = None, interval: float | None = None
) -> float | Interval:
    """The weighted interval score of `Quantiles` (Bracher et al. 2021), in units of the targets.

    Twice the mean over the levels of the pinball loss. Where the levels are pairs ``α/2`` and ``1 − α/2`` it is the
    weighted mean of the interval scores of the central intervals and the absolute error of the median.
    """
    return told(_native.interval_score(reals_of(y_true, prediction, sample_weight), level_of(interval)), interval)


@overload
def pinball_loss(
    y_true: Any,
    prediction: Any,
    *,
    sample_weight: Any = ...,
    levels: Iterable[float] | None = ...,
    interval: None = ...,
) -> float: ...
@overload
def pinball_loss(
    y_true: Any, prediction: Any, *, sample_weight: Any = ..., levels: Iterable[float] | None = ..., interval: float
) -> Interval: ...
@documented(REALS)
def pinball_loss(
    y_true: Any,
    prediction: Any,
    *,
    sample_weight: Any = None,
    levels: Iterable[float] | None = None,
    interval: float | None = None,
) -> float | Interval:
    """The mean over levels of the pinball loss ``max(τ (y − q), (τ − 1)(y − q))`` of the quantile ``q`` at level ``τ``.

    Parameters
    ----------
    levels : sequence of float, optional
        The levels of distributions and samples, by default 0.05, 0.1, …, 0.95. `Quantiles` have their own.
    """
    data = reals_of(y_true, prediction, sample_weight)
    if levels is not None and data.levels:
        raise ValueError("levels: quantiles have their own levels, expected none")
    asked = None if levels is None else list(levels_of(levels))
    return told(_native.pinball_loss(data, asked, level_of(interval)), interval)
