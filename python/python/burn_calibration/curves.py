"""Curves as arrays, to be drawn.

>>> import numpy as np
>>> from burn_calibration import reliability_curve
>>> curve = reliability_curve(np.arange(40) % 2, np.full(40, 0.9))
>>> curve.prob_pred.round(6), curve.prob_true
(array([0.9]), array([0.5]))

Each curve has a method ``plot(ax=None)``, which draws it with matplotlib.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _native
from ._arrays import bins_of, check_redraws, classes_of, reals_of
from ._checks import check_count, check_level, seed_of
from ._docs import CLASSES, REALS, documented
from .metrics import Strategy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The look of what a calibrated model would be: its band and its line.
_BAND: dict[str, Any] = {"color": "0.85", "zorder": 0}
_IDEAL: dict[str, Any] = {"color": "0.5", "linestyle": "--", "linewidth": 1, "zorder": 1}


def _axes(ax: Axes | None) -> Axes:
    """The axes to draw in; those of a new figure if there are none."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as reason:
        raise ImportError("plot needs matplotlib: pip install matplotlib") from reason
    return pyplot.subplots()[1]


def _draw_diagonal(ax: Axes) -> None:
    """Draws the diagonal, and names the axes of a reliability diagram."""
    ax.plot([0, 1], [0, 1], **_IDEAL)
    ax.set(xlabel="Predicted probability", ylabel="Observed frequency", xlim=(0, 1), ylim=(0, 1))


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

    def plot(self, ax: Axes | None = None, **style: Any) -> Axes:
        """Draws the frequencies, the bands and the diagonal, which is a calibrated model.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw in. None: a new figure.
        **style
            Options of ``Axes.plot`` for the frequencies, such as ``label``.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ImportError
            matplotlib is not installed.
        """
        ax = _axes(ax)
        ax.vlines(self.prob_pred, self.lower, self.upper, linewidth=8, **_BAND)
        _draw_diagonal(ax)
        ax.plot(self.prob_pred, self.prob_true, **{"marker": "o", **style})
        return ax


@documented(CLASSES)
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

    The first two arrays are those of scikit-learn's ``calibration_curve``.

    Parameters
    ----------
    level : float, default 0.95
        The probability of the band, of each bin.
    """
    data = classes_of(y_true, y_prob, sample_weight, pos_label, classes)
    check_level(level)
    found = _native.reliability_curve(data, bins_of(bins, strategy), level)
    return ReliabilityCurve(
        np.asarray(found["prob_true"]),
        np.asarray(found["prob_pred"]),
        np.asarray(found["count"]),
        np.asarray(found["lower"]),
        np.asarray(found["upper"]),
    )


class CorpCurve(NamedTuple):
    """The isotonic regression of an event on its probability, step by step, and its band."""

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

    def plot(self, ax: Axes | None = None, **style: Any) -> Axes:
        """Draws the regression, the band, the diagonal and the parts of the Brier score (MCB, DSC, UNC).

        Parameters, result and errors are those of `ReliabilityCurve.plot`.
        """
        ax = _axes(ax)
        ax.fill_between(self.band_prob, self.band_lower, self.band_upper, linewidth=0, **_BAND)
        _draw_diagonal(ax)
        ax.plot(np.ravel([self.lower, self.upper], "F"), np.repeat(self.prob_true, 2), **style)
        parts = f"MCB {self.miscalibration:.3g}\nDSC {self.discrimination:.3g}\nUNC {self.uncertainty:.3g}"
        ax.text(0.03, 0.97, parts, transform=ax.transAxes, verticalalignment="top")
        return ax


@documented(CLASSES)
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

    Parameters
    ----------
    level : float, default 0.95
        The probability of the band, at each probability.
    redraws : int, default 399
        The number of sets of outcomes that are drawn from the predictions, of which the band is made.
    """
    data = classes_of(y_true, y_prob, sample_weight, pos_label, classes)
    check_redraws(redraws)
    check_level(level)
    found = _native.corp_curve(data, level, redraws, seed_of(seed))
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

    def plot(self, ax: Axes | None = None, **style: Any) -> Axes:
        """Draws the counts, the band and the mean count, that of a calibrated model.

        Parameters, result and errors are those of `ReliabilityCurve.plot`; options are of ``Axes.bar``.
        """
        ax = _axes(ax)
        ax.axhspan(self.lower, self.upper, **_BAND)
        ax.bar(self.edges[:-1], self.counts, np.diff(self.edges), **{"align": "edge", "alpha": 0.6, **style})
        ax.axhline(self.counts.mean(), **_IDEAL)
        ax.set(xlabel="Probability integral transform", ylabel="Count", xlim=(0, 1))
        return ax


@documented(REALS)
def pit_histogram(
    y_true: Any, prediction: Any, *, sample_weight: Any = None, bins: int = 10, level: float = 0.95, seed: int = 0
) -> PitHistogram:
    """The histogram of the probability integral transforms ``F(y)``, of all coordinates: flat for a calibrated model.

    Coordinates of a sample may depend on each other: the band of several is that of as many independent samples.

    Parameters
    ----------
    bins : int, default 10
        The number of bins of equal width.
    level : float, default 0.95
        The probability of the band, of each bin.
    seed : int, default 0
        The seed of the ranks of targets among `Samples`, which are randomised.
    """
    check_level(level)
    check_count(bins, "bins")
    data = reals_of(y_true, prediction, sample_weight)
    found = _native.pit_histogram(data, bins, level, seed_of(seed))
    return PitHistogram(np.asarray(found["count"]), np.linspace(0, 1, bins + 1), found["lower"], found["upper"])
