"""Warnings, at the line of the user."""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Iterator

#: Packages whose lines no warning is about.
_INSIDE = ("burn_calibration", "sklearn", "joblib")

#: The messages of the warnings of a call, for its answer.
_MESSAGES: ContextVar[list[str] | None] = ContextVar("messages", default=None)


class CalibrationWarning(UserWarning):
    """What to know before a number is used."""


class FitWarning(CalibrationWarning):
    """A warning of a fit, to be read before the map is used."""


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collects the messages of the warnings inside."""
    messages: list[str] = []
    token = _MESSAGES.set(messages)
    try:
        yield messages
    finally:
        _MESSAGES.reset(token)


def warn(message: str, category: type[Warning] = CalibrationWarning) -> None:
    """Warns at the first line outside of this package and of scikit-learn."""
    messages = _MESSAGES.get()
    if messages is not None:
        messages.append(message)
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _INSIDE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
