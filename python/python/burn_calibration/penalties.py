"""Calibration penalties of a batch: values and gradients with respect to the logits, on NumPy arrays.

The order of the arguments is that of the losses of PyTorch: ``(logits, labels)``.

`burn_calibration.torch` has the same as functions of PyTorch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _native
from ._base import labels_of, rows_of

Penalty = tuple[float, np.ndarray]


def skce(
    logits: Any,
    labels: Any,
    *,
    kernel: str = "exponential",
    distance: str | None = None,
    bandwidth: float = 1.0,
    form: str = "unbiased",
    scale: str = "squared",
) -> Penalty:
    """The squared kernel calibration error of a batch, and its gradient.

    Parameters
    ----------
    logits : array, [n, m]
        Logits in float32 or float64, in which everything is computed.
    labels : array, [n]
        Classes from 0 to ``m - 1``.
    kernel : str
        The profile of the kernel on probabilities: ``exponential``, ``gaussian``, ``matern32``, ``matern52``,
        ``rational-quadratic:ALPHA`` or ``generalised-exponential:EXPONENT``.
    distance : str or None
        ``total-variation``, ``l1`` or ``euclidean``. None: total variation for the exponential profiles, else Euclidean.
    bandwidth : float
        The bandwidth of the kernel, from 1e-100 to 1e100.
    form : {"unbiased", "biased"}
        The estimator. The unbiased one can be negative.
    scale : {"squared", "root", "standardized"}
        The SKCE itself, the root of the biased form, or the unbiased form over its standard deviation.

    Returns
    -------
    value : float
    gradient : array, [n, m]
        In the dtype of the logits.

    Raises
    ------
    ValueError
        A label that is no class, with its row, or an option that is none.
    """
    return _native.skce(rows_of(logits, "the logits"), labels_of(labels), kernel, distance, bandwidth, form, scale)


def mmce(
    logits: Any, labels: Any, *, bandwidth: float = 0.4, form: str = "unweighted", squared: bool = False
) -> Penalty:
    """The maximum mean calibration error of a batch (Kumar et al. 2018), and its gradient.

    Parameters
    ----------
    logits : array, [n, m]
        Logits in float32 or float64, in which everything is computed.
    labels : array, [n]
        Classes from 0 to ``m - 1``.
    bandwidth : float
        The bandwidth of the Laplacian kernel on confidences.
    form : {"unweighted", "weighted", "unbiased"}
        The estimator. The unbiased one can be negative: it needs ``squared=True``.
    squared : bool
        The squared MMCE rather than its root.

    Returns
    -------
    value : float
    gradient : array, [n, m]
        In the dtype of the logits.

    Raises
    ------
    ValueError
        A label that is no class, with its row, or an option that is none.
    """
    return _native.mmce(rows_of(logits, "the logits"), labels_of(labels), bandwidth, form, squared)
