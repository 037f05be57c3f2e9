"""Names of kernels and bandwidths."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

_PLAIN = ("exponential", "gaussian", "matern32", "matern52")
_EXPECTED = f"one of {', '.join(_PLAIN)}, rational-quadratic:ALPHA, generalized-exponential:EXPONENT"


def kernel_option(kernel: str | None) -> str | None:
    """The profile of a kernel as the library names it."""
    if kernel is None or kernel in _PLAIN:
        return kernel
    found = re.fullmatch(r"(rational-quadratic|generali[sz]ed-exponential):(.+)", str(kernel))
    try:
        exponent = float(found.group(2)) if found else float("nan")
    except ValueError:
        exponent = float("nan")
    most = 2.0 if found and found.group(1).startswith("general") else 1e300
    if not (found and 0 < exponent <= most):
        raise ValueError(f"kernel is {kernel!r}, expected {_EXPECTED}")
    return str(kernel).replace("generalized", "generalised")


class Bandwidth(NamedTuple):
    """A bandwidth: a number, the median with the diagonal, else the median."""

    number: float | None = None
    has_diagonal: bool = False


def bandwidth_option(bandwidth: Any) -> Bandwidth:
    """A bandwidth as the library takes it."""
    if bandwidth is None:
        return Bandwidth()
    if bandwidth in ("median", "median-with-diagonal"):
        return Bandwidth(has_diagonal=bandwidth == "median-with-diagonal")
    if isinstance(bandwidth, (int, float, np.number)) and 1e-100 <= float(bandwidth) <= 1e100:
        return Bandwidth(float(bandwidth))
    expected = "a number from 1e-100 to 1e100, 'median' or 'median-with-diagonal'"
    raise ValueError(f"bandwidth is {bandwidth!r}, expected {expected}")
