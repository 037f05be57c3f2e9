"""Warnings, at the line of the user."""

from __future__ import annotations

import sys
import warnings

#: Packages whose lines no warning is about.
_INSIDE = ("burn_calibration", "sklearn", "joblib")


class CalibrationWarning(UserWarning):
    """What to know before a number is used."""


class FitWarning(CalibrationWarning):
    """A warning of a fit, to be read before the map is used."""


def warn(message: str, category: type[Warning] = CalibrationWarning) -> None:
    """Warns at the first line outside of this package and of scikit-learn."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
