"""Names of kernels and bandwidths."""

from __future__ import annotations

import re
from typing import Any

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


def bandwidth_option(bandwidth: Any) -> str | None:
    """A bandwidth as text."""
    if bandwidth is None:
        return None
    if isinstance(bandwidth, str):
        found = re.fullmatch(r"median(-with-diagonal|:(\d+))?", bandwidth)
        if found and (found.group(2) is None or 2 <= int(found.group(2)) <= 20_000):
            return bandwidth
    elif isinstance(bandwidth, (int, float, np.number)) and 1e-100 <= float(bandwidth) <= 1e100:
        return repr(float(bandwidth))
    expected = "a number from 1e-100 to 1e100, 'median', 'median-with-diagonal' or 'median:SAMPLES' of 2 to 20000"
    raise ValueError(f"bandwidth is {bandwidth!r}, expected {expected}")
