"""Calibration penalties of a batch: values and gradients with respect to the logits, on NumPy arrays.

The order of the arguments is that of the losses of PyTorch: ``(logits, labels)``.

`burn_calibration.torch` has the same as functions of PyTorch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _native
from ._base import rows_of
from ._kernels import bandwidth_option, kernel_option

Penalty = tuple[float, np.ndarray]


def skce(
    logits: Any,
    labels: Any,
    *,
    inputs: Any = None,
    kernel: str = "exponential",
    distance: str | None = None,
    bandwidth: float | str | None = None,
    form: str = "unbiased",
    scale: str = "squared",
    ignore_index: int | None = None,
) -> Penalty:
    """The squared kernel calibration error of a batch, and its gradient.

    Parameters
    ----------
    logits : array, [n, m]
        Logits in float32 or float64, in which everything is computed.
    labels : array, [n]
        Classes from 0 to ``m - 1``.
    inputs : array, [n, d], optional
        What the kernel compares in the place of the predictions: inputs or features of the network. It finds the errors
        that similar inputs have in common.
    kernel : str
        The profile of the kernel: ``exponential``, ``gaussian``, ``matern32``, ``matern52``,
        ``rational-quadratic:ALPHA`` or ``generalized-exponential:EXPONENT``.
    distance : str or None
        ``total-variation``, ``l1`` or ``euclidean``. None: total variation for the exponential profile of predictions,
        else Euclidean.
    bandwidth : float, "median" or None
        The bandwidth of the kernel, from 1e-100 to 1e100, or the median distance of the batch. None: 1 for predictions,
        the median for inputs.
    form : {"unbiased", "biased", "block:SIZE"}
        The estimator. The unbiased ones can be negative. In blocks of some samples the cost is that of their pairs.
    scale : {"squared", "root", "standardized"}
        The SKCE itself, the root of the biased form, or the unbiased form over its standard deviation.
    ignore_index : int, optional
        A label whose samples do not count, as of the cross-entropy of PyTorch.

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
    profile = kernel_option(kernel) or "exponential"
    if bandwidth is None:
        bandwidth = 1.0 if inputs is None else "median"
    bandwidth_option(bandwidth)
    width = None if bandwidth == "median" else float(bandwidth)
    rows = rows_of(logits, "the logits")
    others = None if inputs is None else rows_of(inputs, "the inputs").astype(rows.dtype, copy=False)
    if others is not None and len(others) != len(rows):
        raise ValueError(f"{len(rows)} predictions but {len(others)} inputs, expected the same number of both")
    kept, labels = _kept(labels, ignore_index)
    some = None if others is None else np.ascontiguousarray(others[kept])
    return _spread(_native.skce(_some(rows, kept), labels, some, profile, distance, width, form, scale), kept, rows)


def mmce(
    logits: Any,
    labels: Any,
    *,
    bandwidth: float = 0.4,
    form: str = "unweighted",
    squared: bool = False,
    ignore_index: int | None = None,
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
    ignore_index : int, optional
        A label whose samples do not count, as of the cross-entropy of PyTorch.

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
    rows = rows_of(logits, "the logits")
    kept, labels = _kept(labels, ignore_index)
    return _spread(_native.mmce(_some(rows, kept), labels, bandwidth, form, squared), kept, rows)


def _kept(labels: Any, ignore_index: int | None) -> tuple[Any, np.ndarray]:
    """The rows that count, and their labels."""
    values = np.asarray(labels)
    if values.ndim != 1 or (values.size and values.dtype.kind not in "iub"):
        raise ValueError(f"labels: an array of {values.dtype}, {values.shape}, expected whole numbers, [n]")
    values = np.ascontiguousarray(values, dtype=np.int64)
    if ignore_index is None or not (values == ignore_index).any():
        return slice(None), values
    kept = np.flatnonzero(values != ignore_index)
    return kept, values[kept]


def _some(rows: np.ndarray, kept: Any) -> np.ndarray:
    return rows if isinstance(kept, slice) else np.ascontiguousarray(rows[kept[kept < len(rows)]])


def _spread(penalty: Penalty, kept: Any, rows: np.ndarray) -> Penalty:
    """A penalty with gradient 0 of the rows that do not count."""
    if isinstance(kept, slice):
        return penalty
    value, gradient = penalty
    whole = np.zeros_like(rows)
    whole[kept] = gradient
    return value, whole
