"""Calibration penalties for PyTorch on the processor: functions with a gradient of their own.

>>> loss = cross_entropy(logits, labels) + 10 * skce(logits, labels)  # doctest: +SKIP
>>> loss.backward()  # doctest: +SKIP

The logits are read from the memory of the tensor; the value and the gradient are computed at once, in the dtype of the
logits, by the library.
"""

from __future__ import annotations

from typing import Any, Callable

import torch
from torch.autograd.function import once_differentiable

from . import penalties


class _Penalty(torch.autograd.Function):
    """A value whose gradient is computed with it."""

    @staticmethod
    def forward(
        ctx: Any, logits: torch.Tensor, labels: torch.Tensor, compute: Callable[..., penalties.Penalty]
    ) -> torch.Tensor:
        if logits.device.type != "cpu":
            raise ValueError(f"logits on {logits.device}, expected the processor: logits.cpu()")
        if logits.dtype not in (torch.float32, torch.float64):
            raise ValueError(f"logits of {logits.dtype}, expected float32 or float64: logits.float()")
        value, gradient = compute(logits.detach().contiguous().numpy(), labels.detach().cpu().numpy())
        ctx.save_for_backward(torch.from_numpy(gradient))
        return logits.new_tensor(value)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        (own,) = ctx.saved_tensors
        return gradient * own, None, None


def _of(
    penalty: Callable[..., penalties.Penalty], logits: torch.Tensor, labels: torch.Tensor, options: dict[str, Any]
) -> torch.Tensor:
    value: torch.Tensor = _Penalty.apply(logits, labels, lambda z, y: penalty(z, y, **options))
    return value


def skce(logits: torch.Tensor, labels: torch.Tensor, **options: Any) -> torch.Tensor:
    """The squared kernel calibration error of a batch, a tensor of no dimensions, with its gradient.

    Parameters
    ----------
    logits : tensor, [n, m]
        On the processor, in float32 or float64.
    labels : tensor, [n]
        Classes from 0 to ``m - 1``.
    **options
        As of `burn_calibration.penalties.skce`.

    Raises
    ------
    ValueError
        Logits elsewhere or in another dtype; errors of `burn_calibration.penalties.skce`.
    """
    return _of(penalties.skce, logits, labels, options)


def mmce(logits: torch.Tensor, labels: torch.Tensor, **options: Any) -> torch.Tensor:
    """The maximum mean calibration error of a batch, a tensor of no dimensions, with its gradient.

    Shapes and errors are those of `skce`, options those of `burn_calibration.penalties.mmce`.
    """
    return _of(penalties.mmce, logits, labels, options)
