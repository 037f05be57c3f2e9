"""Calibration for PyTorch: penalties with a gradient of their own, and metrics.

>>> loss = cross_entropy(logits, labels) + 10 * skce(logits, labels)  # doctest: +SKIP
>>> loss.backward()  # doctest: +SKIP

The library computes value and gradient at once, on the processor, in float32 or float64. Logits of autocast (float16,
bfloat16) are computed in float32; the gradient has their dtype. Logits on another device are copied, which a
`CalibrationWarning` says once for each device. Under `torch.compile` a penalty is a break of the graph.
"""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from . import metrics, penalties
from ._warnings import warn
from .predictions import Logits

__all__ = ["ExpectedCalibrationError", "Metric", "Overconfidence", "SquaredKernelCalibrationError", "mmce", "skce"]

#: Kinds of devices of which it was said that tensors are copied.
_SAID: set[str] = set()


def _array(tensor: torch.Tensor) -> np.ndarray:
    """A tensor in the memory of the processor, in float32 where NumPy or the library have no such dtype."""
    kind = tensor.device.type
    if kind != "cpu" and kind not in _SAID:
        _SAID.add(kind)
        warn(f"tensors on {kind} are copied to the processor, where the library computes; the results go back")
    tensor = tensor.detach().cpu()
    if tensor.is_floating_point() and tensor.dtype != torch.float64:
        tensor = tensor.float()
    array: np.ndarray = tensor.contiguous().numpy()
    return array


class _Penalty(torch.autograd.Function):
    """A value whose gradient is computed with it."""

    @staticmethod
    def forward(
        ctx: Any, logits: torch.Tensor, labels: torch.Tensor, compute: Callable[..., penalties.Penalty]
    ) -> torch.Tensor:
        if not logits.is_floating_point():
            raise ValueError(f"logits of {logits.dtype}, expected floats")
        value, gradient = compute(_array(logits), _array(labels))
        ctx.save_for_backward(torch.from_numpy(gradient).to(device=logits.device))
        ctx.dtype = logits.dtype
        wide = torch.float64 if logits.dtype == torch.float64 else torch.float32
        return torch.tensor(value, dtype=wide, device=logits.device)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        (own,) = ctx.saved_tensors
        return (gradient.to(own.dtype) * own).to(ctx.dtype), None, None


def _of_batch(
    penalty: Callable[..., penalties.Penalty], logits: torch.Tensor, labels: torch.Tensor, options: dict[str, Any]
) -> torch.Tensor:
    inputs = options.get("inputs")
    if isinstance(inputs, torch.Tensor):
        options = {**options, "inputs": _array(inputs)}
    value: torch.Tensor = _Penalty.apply(logits, labels, lambda z, y: penalty(z, y, **options))
    return value


#: A break of the graph: the compiler does not look into the library.
_of: Callable[..., torch.Tensor] = getattr(torch.compiler, "disable")(_of_batch)  # it has no type


def skce(logits: torch.Tensor, labels: torch.Tensor, **options: Any) -> torch.Tensor:
    """The squared kernel calibration error of a batch, a tensor of no dimensions, with its gradient.

    Parameters
    ----------
    logits : tensor, [n, m]
        In any float dtype; the value is float64 for float64, else float32.
    labels : tensor, [n]
        Classes from 0 to ``m - 1``.
    inputs : tensor, [n, d], optional
        What the kernel compares in the place of the predictions. No gradient flows through it.
    **options
        As of `burn_calibration.penalties.skce`: ``kernel``, ``distance``, ``bandwidth``, ``form``, ``scale``,
        ``ignore_index``.

    Raises
    ------
    ValueError
        Errors of `burn_calibration.penalties.skce`.
    """
    return _of(penalties.skce, logits, labels, options)


def mmce(logits: torch.Tensor, labels: torch.Tensor, **options: Any) -> torch.Tensor:
    """The maximum mean calibration error of a batch, a tensor of no dimensions, with its gradient.

    Shapes and errors are those of `skce`, options those of `burn_calibration.penalties.mmce`.
    """
    return _of(penalties.mmce, logits, labels, options)


class Metric:
    """A number of all batches since the last `reset`, in the way of torchmetrics.

    >>> metric = ExpectedCalibrationError(bins=15)
    >>> metric.update(torch.tensor([[2.0, 0.0], [0.0, 1.0]]), torch.tensor([0, 0]))
    >>> round(metric.compute().item(), 3)
    0.425

    ``update`` keeps the predictions in the memory of the processor. ``metric(logits, labels)`` adds a batch, and returns
    the number of the batch alone.
    """

    def __init__(self) -> None:
        self._logits: list[np.ndarray] = []
        self._labels: list[np.ndarray] = []

    def update(self, logits: torch.Tensor, target: torch.Tensor) -> None:
        """Adds a batch.

        Parameters
        ----------
        logits : tensor, [n, m], or [n]
            Logits of classes, or log-odds of an event.
        target : tensor, [n]
            Classes from 0 to ``m - 1``.
        """
        rows, labels = _array(logits), _array(target)
        if rows.shape[:1] != labels.shape or (self._logits and rows.shape[1:] != self._logits[0].shape[1:]):
            raise ValueError(
                f"logits of shape {rows.shape} and target of shape {labels.shape}, expected [n, m] and [n]"
            )
        self._logits.append(rows)
        self._labels.append(labels)

    def compute(self) -> torch.Tensor:
        """The number of all batches, a float64 tensor of no dimensions.

        Raises
        ------
        ValueError
            No batch, or invalid data, with the row.
        """
        if not self._logits:
            raise ValueError("compute of a metric without a batch, expected update before")
        value = self._value(np.concatenate(self._labels), Logits(np.concatenate(self._logits)))
        return torch.tensor(value, dtype=torch.float64)

    def reset(self) -> None:
        """Forgets all batches."""
        self._logits, self._labels = [], []

    def __call__(self, logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        self.update(logits, target)
        value = self._value(self._labels[-1], Logits(self._logits[-1]))
        return torch.tensor(value, dtype=torch.float64)

    forward = __call__

    def _value(self, labels: np.ndarray, logits: Logits) -> float:
        raise NotImplementedError


class ExpectedCalibrationError(Metric):
    """The expected calibration error of the top label, or of an event; see `burn_calibration.ece`."""

    def __init__(self, bins: int = 15, strategy: metrics.Strategy = "uniform", order: float = 1):
        super().__init__()
        self.bins, self.strategy, self.order = bins, strategy, order

    def _value(self, labels: np.ndarray, logits: Logits) -> float:
        return metrics.ece(labels, logits, bins=self.bins, strategy=self.strategy, order=self.order)


class SquaredKernelCalibrationError(Metric):
    """The squared kernel calibration error of all classes; see `burn_calibration.skce`."""

    def __init__(self, bandwidth: float | None = None, biased: bool = False, block: int | None = None):
        super().__init__()
        self.bandwidth, self.biased, self.block = bandwidth, biased, block

    def _value(self, labels: np.ndarray, logits: Logits) -> float:
        return metrics.skce(labels, logits, bandwidth=self.bandwidth, biased=self.biased, block=self.block)


class Overconfidence(Metric):
    """The mean confidence less the accuracy, or the mean probability of an event less its frequency."""

    def _value(self, labels: np.ndarray, logits: Logits) -> float:
        return metrics.overconfidence(labels, logits)
