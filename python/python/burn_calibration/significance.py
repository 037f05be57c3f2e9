"""Tests of the hypothesis that a model is calibrated: a statistic and a p-value, as SciPy has them.

``y_true`` and ``y_prob`` are those of `burn_calibration.metrics`. A p-value is at least ``1/(redraws + 1)``; that of an
asymptotic distribution at least 0.001, which is a bound then. Where a p-value cannot be relied on there is a
`CalibrationWarning`. `evaluate` also says what is wrong.

>>> import numpy as np
>>> from burn_calibration import spiegelhalter_test
>>> risk = np.full(400, 0.9)  # happens in half of the cases
>>> spiegelhalter_test(np.arange(400) % 2, risk).pvalue
0.001
"""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _native
from ._arrays import are_reals, check_redraws, classes_of, reals_of
from ._checks import check_bandwidth, check_count, seed_of
from ._docs import ANY, CLASSES, documented
from ._warnings import warn


class SignificanceResult(NamedTuple):
    """The outcome of a test: ``statistic, pvalue = test(y_true, y_prob)``."""

    statistic: float
    pvalue: float

    @property
    def p_value(self) -> float:
        """The same as ``pvalue``."""
        return self.pvalue


def _result(outcome: _native._Tested) -> SignificanceResult:
    if outcome["caveat"] is not None:
        warn(outcome["caveat"])
    return SignificanceResult(outcome["statistic"], outcome["pvalue"])


@documented(ANY)
def omnibus_test(
    y_true: Any,
    prediction: Any,
    *,
    sample_weight: Any = None,
    classes: Any = None,
    redraws: int | None = None,
    seed: int = 0,
) -> SignificanceResult:
    """The omnibus test: several aspects of calibration together, by labels that are drawn from the predictions.

    Parameters
    ----------
    redraws : int, optional
        The number of sets of outcomes that are drawn from the predictions. None: 999, and up to 9,999 where the p-value
        is near 0.05.

    Returns
    -------
    SignificanceResult
        The statistic is the largest standardized aspect. The p-value is exact at every sample size.
    """
    check_redraws(redraws)
    if are_reals(prediction):
        reals = reals_of(y_true, prediction, sample_weight)
        return _result(_native.omnibus_test_of_reals(reals, redraws, seed_of(seed)))
    data = classes_of(y_true, prediction, sample_weight, classes=classes)
    return _result(_native.omnibus_test(data, redraws, seed_of(seed)))


@documented(CLASSES)
def skce_test(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = None,
    classes: Any = None,
    bandwidth: float | None = None,
    redraws: int | None = 999,
    seed: int = 0,
) -> SignificanceResult:
    """The test of the squared kernel calibration error of all classes, unbiased: see `skce`.

    Parameters
    ----------
    bandwidth : float, optional
        The bandwidth of the kernel; None is the median distance of the predictions.
    redraws : int or None
        The number of sets of labels that are drawn from the predictions: the p-value is exact. None: a gamma
        distribution with the moments of the statistic, without weights. The statistic is then ``n`` times the error.
    """
    data = classes_of(y_true, y_prob, sample_weight, classes=classes)
    check_bandwidth(bandwidth)
    return _result(_native.skce_test(data, bandwidth, check_redraws(redraws), seed_of(seed)))


@documented(CLASSES)
def spiegelhalter_test(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = None,
    classes: Any = None,
    pos_label: Any = None,
    redraws: int | None = None,
    seed: int = 0,
) -> SignificanceResult:
    """Spiegelhalter's test: the Brier score of an event against its expectation.

    Of two classes ``[n, 2]`` the event is class 1.

    Parameters
    ----------
    redraws : int, optional
        The number of sets of outcomes that are drawn: the p-value is exact, and the statistic the absolute value.
        None: the normal distribution, without weights.
    """
    data = classes_of(y_true, y_prob, sample_weight, pos_label, classes)
    return _result(_native.spiegelhalter_test(data, check_redraws(redraws), seed_of(seed)))


@documented(CLASSES)
def hosmer_lemeshow_test(
    y_true: Any,
    y_prob: Any,
    *,
    classes: Any = None,
    pos_label: Any = None,
    groups: int = 10,
    redraws: int | None = None,
    seed: int = 0,
) -> SignificanceResult:
    """The test of Hosmer and Lemeshow: counts of an event in groups of similar probability against those expected.

    Of two classes ``[n, 2]`` the event is class 1.

    Parameters
    ----------
    groups : int, default 10
        The number of groups.
    redraws : int, optional
        The number of sets of outcomes that are drawn: the p-value is exact. None: the χ² distribution, with as many
        degrees of freedom as groups, for predictions that were not fitted to these labels. There are no weights.
    """
    data = classes_of(y_true, y_prob, None, pos_label, classes)
    check_count(groups, "groups")
    return _result(_native.hosmer_lemeshow_test(data, groups, check_redraws(redraws), seed_of(seed)))
