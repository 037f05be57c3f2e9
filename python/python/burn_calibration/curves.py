"""Curves as arrays, to be drawn.

>>> import numpy as np
>>> from burn_calibration import reliability_curve
>>> curve = reliability_curve(np.arange(40) % 2, np.full(40, 0.9))
>>> curve.prob_pred.round(6), curve.prob_true
(array([0.9]), array([0.5]))

With matplotlib: ``plt.plot(curve.prob_pred, curve.prob_true)`` and
``plt.fill_between(curve.prob_pred, curve.lower, curve.upper)``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _native
from ._arrays import bins_of, check_redraws, classes_of, reals_of
from .metrics import Strategy


class ReliabilityCurve(NamedTuple):
    """The occupied bins, by increasing probability. Each is an array with a number for each bin."""

    #: The frequency of the event.
    prob_true: np.ndarray
    #: The mean probability.
    prob_pred: np.ndarray
    #: The number of samples; with weights the sum of these over their mean.
    counts: np.ndarray
    #: The band that holds the frequency of a calibrated model in one bin with the probability of the level.
    lower: np.ndarray
    upper: np.ndarray


def reliability_curve(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = None,
    classes: Any = None,
    bins: int = 15,
    strategy: Strategy = "uniform",
    pos_label: Any = None,
    level: float = 0.95,
) -> ReliabilityCurve:
    """The frequency of an event against its probability in bins, with the band of a calibrated model.

    Parameters are those of `ece`. The first two arrays are those of scikit-learn's ``calibration_curve``.

    Parameters
    ----------
    level : float
        The probability of the band, of each bin.
    """
    data = classes_of(y_true, y_prob, sample_weight, pos_label, classes)
    found = _native.reliability_curve(data, bins_of(bins, strategy), level)
    return ReliabilityCurve(
        np.asarray(found["prob_true"]),
        np.asarray(found["prob_pred"]),
        np.asarray(found["count"]),
        np.asarray(found["lower"]),
        np.asarray(found["upper"]),
    )


class CorpCurve(NamedTuple):
    """The isotonic regression of an event on its probability, step by step, and its band.

    Draw it by ``plt.plot(np.ravel([lower, upper], "F"), np.repeat(prob_true, 2))``.
    """

    #: The frequency of the event, of each step.
    prob_true: np.ndarray
    #: The least and the greatest probability of each step.
    lower: np.ndarray
    upper: np.ndarray
    #: The number of samples of each step.
    counts: np.ndarray
    #: Probabilities, up to 101, and the band of the regression of a calibrated model there.
    band_prob: np.ndarray
    band_lower: np.ndarray
    band_upper: np.ndarray
    #: The Brier score of the event, ``(p − y)²``, is miscalibration − discrimination + uncertainty.
    miscalibration: float
    discrimination: float
    uncertainty: float


def corp_curve(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = None,
    classes: Any = None,
    pos_label: Any = None,
    level: float = 0.95,
    redraws: int = 399,
    seed: int = 0,
) -> CorpCurve:
    """The reliability diagram without bins (Dimitriadis, Gneiting, Jordan 2021): isotonic regression.

    Parameters are those of `ece`.

    Parameters
    ----------
    level : float
        The probability of the band, at each probability.
    redraws : int
        The number of sets of outcomes that are drawn from the predictions, of which the band is made.
    seed : int
        The seed of the redraws.
    """
    data = classes_of(y_true, y_prob, sample_weight, pos_label, classes)
    check_redraws(redraws)
    found = _native.corp_curve(data, level, redraws, seed)
    return CorpCurve(
        np.asarray(found["prob_true"]),
        np.asarray(found["first"]),
        np.asarray(found["last"]),
        np.asarray(found["count"]),
        np.asarray(found["band_prob"]),
        np.asarray(found["band_lower"]),
        np.asarray(found["band_upper"]),
        found["miscalibration"],
        found["discrimination"],
        found["uncertainty"],
    )


class PitHistogram(NamedTuple):
    """A histogram; the first two arrays are those of ``np.histogram``."""

    #: The number of transforms in each bin; with weights the sum of these over their mean.
    counts: np.ndarray
    #: The ends of the bins, one more.
    edges: np.ndarray
    #: The band that holds the count of one bin of a calibrated model with the probability of the level.
    lower: float
    upper: float


def pit_histogram(
    y_true: Any, prediction: Any, *, sample_weight: Any = None, bins: int = 10, level: float = 0.95, seed: int = 0
) -> PitHistogram:
    """The histogram of the probability integral transforms ``F(y)``, of all coordinates: flat for a calibrated model.

    Parameters
    ----------
    y_true, prediction, sample_weight
        As of `crps`.
    bins : int
        The number of bins of equal width.
    level : float
        The probability of the band, of each bin.
    seed : int
        The seed of the ranks of targets among `Samples`, which are randomised.
    """
    found = _native.pit_histogram(reals_of(y_true, prediction, sample_weight), bins, level, seed)
    return PitHistogram(np.asarray(found["count"]), np.linspace(0, 1, bins + 1), found["lower"], found["upper"])
