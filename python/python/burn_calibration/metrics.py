"""Calibration errors of classes as plain numbers: no redraws, no files.

>>> import numpy as np
>>> from burn_calibration import ece, overconfidence
>>> y_prob = np.tile([0.9, 0.1], (400, 1))  # 90 % sure, right in 80 %
>>> y_true = np.arange(400) % 5 == 0
>>> round(ece(y_true, y_prob), 12)
0.1
>>> overconfidence(y_true, y_prob, interval=0.95).lower > 0.05
True

The quantities of *an event* look at the event of ``[n]``, else at the top label: that the most likely class is the right
one. With ``pos_label=k`` they look at class ``k`` against the rest.
"""

from __future__ import annotations

import math
import sys
from typing import Any, Literal, overload

from . import _native
from ._arrays import Interval, bins_of, classes_of, level_of, told
from ._checks import check_bandwidth, check_count, check_number
from ._docs import CLASSES, documented

Strategy = Literal["uniform", "quantile"]


@documented(CLASSES)
def ece(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = None,
    classes: Any = None,
    bins: int = 15,
    strategy: Strategy = "uniform",
    order: float = 1,
    pos_label: Any = None,
) -> float:
    """The expected calibration error of an event, ``(Σ_b n_b/n |mean probability − frequency|^order)^(1/order)``.

    It is biased upward, and has no interval: see `debiased_ece`.

    Parameters
    ----------
    order : float, default 1
        At least 1; 2 is the root mean squared calibration error, ``inf`` the maximum calibration error.
    """
    data = classes_of(y_true, y_prob, sample_weight, pos_label, classes)
    check_number(order, "order", 1, math.inf, "a number of at least 1")
    return _native.ece(data, bins_of(bins, strategy), float(order))


@documented(CLASSES)
def class_wise_ece(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = None,
    classes: Any = None,
    bins: int = 15,
    strategy: Strategy = "uniform",
    order: float = 1,
) -> float:
    """The mean over classes of the expected calibration error of each class against the rest.

    ``(1/m Σ_k Σ_b n_b/n |mean probability − frequency|^order)^(1/order)``. It is biased upward.

    Parameters
    ----------
    order : float, default 1
        At least 1, finite.
    """
    data = classes_of(y_true, y_prob, sample_weight, classes=classes)
    check_number(order, "order", 1, sys.float_info.max, "a finite number of at least 1")
    return _native.class_wise_ece(data, bins_of(bins, strategy), float(order))


@overload
def debiased_ece(
    y_true: Any, y_prob: Any, *, sample_weight: Any = ..., classes: Any = ..., bins: int = ..., strategy: Strategy = ...,
    pos_label: Any = ..., interval: None = ...,
) -> float: ...  # fmt: skip
@overload
def debiased_ece(
    y_true: Any, y_prob: Any, *, sample_weight: Any = ..., classes: Any = ..., bins: int = ..., strategy: Strategy = ...,
    pos_label: Any = ..., interval: float,
) -> Interval: ...  # fmt: skip
@documented(CLASSES)
def debiased_ece(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = None,
    classes: Any = None,
    bins: int = 15,
    strategy: Strategy = "quantile",
    pos_label: Any = None,
    interval: float | None = None,
) -> float | Interval:
    """The root mean squared calibration error of an event, without the bias of `ece`.

    The root of ``Σ_b n_b/n ((r_b − c_b)² − s_b²/n_b)`` with the variance ``s_b²`` of probability less outcome in the bin;
    0 where that is negative. For fewer than 150 samples there are fewer bins of equal mass, of ten samples or more.
    """
    data = classes_of(y_true, y_prob, sample_weight, pos_label, classes)
    return told(_native.debiased_ece(data, bins_of(bins, strategy), level_of(interval)), interval)


@documented(CLASSES)
def smooth_ece(
    y_true: Any, y_prob: Any, *, sample_weight: Any = None, classes: Any = None, pos_label: Any = None
) -> float:
    """The smooth calibration error of an event (Błasiok and Nakkiran 2023), at the bandwidth that equals the error.

    It is continuous in the predictions, and biased upward.
    """
    return _native.smooth_ece(classes_of(y_true, y_prob, sample_weight, pos_label, classes))


@documented(CLASSES)
def mmce(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = None,
    classes: Any = None,
    bandwidth: float = 0.4,
    unbiased: bool = False,
    squared: bool = False,
) -> float:
    """The maximum mean calibration error of the top label (Kumar et al. 2018).

    The root of ``1/n² Σ_ij (c_i − r_i)(c_j − r_j) exp(−|r_i − r_j|/bandwidth)`` for confidences ``r`` and correctness
    ``c``.

    Parameters
    ----------
    bandwidth : float
        The bandwidth of the kernel on confidences.
    unbiased : bool
        The mean over the pairs ``i ≠ j``, which can be negative: it needs ``squared=True``.
    squared : bool
        Without the root.
    """
    if unbiased and not squared:
        raise ValueError("the unbiased form can be negative and has no root, expected squared=True")
    data = classes_of(y_true, y_prob, sample_weight, classes=classes)
    check_bandwidth(bandwidth)
    square = _native.squared_mmce(data, float(bandwidth), bool(unbiased))
    return square if squared else max(square, 0.0) ** 0.5


@overload
def skce(
    y_true: Any, y_prob: Any, *, sample_weight: Any = ..., classes: Any = ..., bandwidth: float | None = ..., biased: bool = ...,
    block: int | None = ..., interval: None = ...,
) -> float: ...  # fmt: skip
@overload
def skce(
    y_true: Any, y_prob: Any, *, sample_weight: Any = ..., classes: Any = ..., bandwidth: float | None = ..., biased: bool = ...,
    block: int | None = ..., interval: float,
) -> Interval: ...  # fmt: skip
@documented(CLASSES)
def skce(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = None,
    classes: Any = None,
    bandwidth: float | None = None,
    biased: bool = False,
    block: int | None = None,
    interval: float | None = None,
) -> float | Interval:
    """The squared kernel calibration error of all classes (Widmann et al. 2019), 0 in the mean of a calibrated model.

    The mean over pairs ``i ≠ j`` of ``exp(−‖p_i − p_j‖_TV/bandwidth) (e_{y_i} − p_i)·(e_{y_j} − p_j)``. The unbiased
    forms can be negative. Its time grows with ``n²``, with ``block`` with ``n``.

    Parameters
    ----------
    bandwidth : float, optional
        The bandwidth; None is the median distance of the predictions, which takes as long as the error itself.
    biased : bool
        The mean over all pairs, at least 0.
    block : int, optional
        Compare samples only within blocks of so many.
    interval : float, optional
        A confidence level, such as 0.95: then the result is an interval. Not of the biased form; an error where fewer than
        20 labels are wrong.
    """
    if biased and block is not None:
        raise ValueError("biased and block: expected one of them, blocks are unbiased")
    if biased and interval is not None:
        raise ValueError("the biased form has no interval, expected biased=False")
    data = classes_of(y_true, y_prob, sample_weight, classes=classes)
    check_bandwidth(bandwidth)
    check_count(block, "block")
    return told(_native.squared_kernel_error(data, bandwidth, bool(biased), block, level_of(interval)), interval)


@overload
def overconfidence(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = ...,
    classes: Any = ...,
    pos_label: Any = ...,
    interval: None = ...,
) -> float: ...
@overload
def overconfidence(
    y_true: Any, y_prob: Any, *, sample_weight: Any = ..., classes: Any = ..., pos_label: Any = ..., interval: float
) -> Interval: ...
@documented(CLASSES)
def overconfidence(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = None,
    classes: Any = None,
    pos_label: Any = None,
    interval: float | None = None,
) -> float | Interval:
    """The mean probability of an event less its frequency: of the top label the mean confidence less the accuracy.

    Negative is underconfidence.
    """
    data = classes_of(y_true, y_prob, sample_weight, pos_label, classes)
    return told(_native.overconfidence(data, level_of(interval)), interval)


@overload
def observed_over_expected(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = ...,
    classes: Any = ...,
    pos_label: Any = ...,
    interval: None = ...,
) -> float: ...
@overload
def observed_over_expected(
    y_true: Any, y_prob: Any, *, sample_weight: Any = ..., classes: Any = ..., pos_label: Any = ..., interval: float
) -> Interval: ...
@documented(CLASSES)
def observed_over_expected(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = None,
    classes: Any = None,
    pos_label: Any = None,
    interval: float | None = None,
) -> float | Interval:
    """The frequency of an event over its mean probability; of two classes ``[n, 2]`` the event is class 1.

    Its interval is that of Fieller's method.
    """
    data = classes_of(y_true, y_prob, sample_weight, pos_label, classes)
    return told(_native.observed_over_expected(data, level_of(interval)), interval)
