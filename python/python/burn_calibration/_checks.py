"""Checks of arrays, whose errors name the parameter, the row and the value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._warnings import warn

if TYPE_CHECKING:
    from .predictions import Predictions

#: The distance from 1 that the sum of probabilities may have.
TOLERANCE = 1e-3


def floats(values: Any, name: str) -> np.ndarray:
    """An array in double precision and row-major order."""
    rows = np.asarray(values)
    if rows.dtype.kind not in "fiub":
        raise ValueError(f"{name}: an array of {rows.dtype}, expected numbers")
    return np.ascontiguousarray(rows, dtype=np.float64)


def columns(values: Any, name: str) -> np.ndarray:
    """Numbers ``[n, m]``; ``[n]`` is one column."""
    rows = floats(values, name)
    if rows.ndim == 1:
        rows = rows[:, None]
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(f"{name}: an array of shape {np.shape(values)}, expected [n] or [n, m] with some rows")
    return rows


def at(row: int, column: int, rows: np.ndarray) -> str:
    """Names a place: the column of several."""
    return f"row {row}" if rows.ndim == 1 or rows.shape[1] == 1 else f"row {row}, column {column}"


def refuse(wrong: np.ndarray, rows: np.ndarray, name: str, what: str, expected: str) -> None:
    """Raises an error for the first entry that is wrong, if there is one."""
    places = np.argwhere(wrong)
    if places.size:
        row, column = int(places[0][0]), int(places[0][-1])
        value = rows[tuple(places[0])]
        raise ValueError(f"{name}, {at(row, column, rows)}: the {what} is {value:.6g}, expected {expected}")


def check_finite(rows: np.ndarray, name: str, what: str = "value") -> None:
    """Refuses what is not finite; NaN can be left out."""
    is_missing = np.isnan(rows)
    if is_missing.any():
        row, column = (int(k) for k in np.argwhere(is_missing)[0][[0, -1]])
        raise ValueError(
            f"{name}, {at(row, column, rows)}: the {what} is nan, expected a number; nan_policy='omit' of evaluate, "
            "compare and report leaves such rows out"
        )
    refuse(~np.isfinite(rows), rows, name, what, "a finite number")


def check_probabilities(rows: np.ndarray, name: str) -> None:
    """Refuses what is no probability, and rows of several that do not sum to 1."""
    if not (rows.min() >= -1e-5 and rows.max() <= 1 + 1e-5):  # NaN is neither
        check_finite(rows, name, "probability")
        hint = "; bc.Logits(z) makes predictions of logits"
        refuse((rows < -1e-5) | (rows > 1 + 1e-5), rows, name, "probability", f"a number from 0 to 1{hint}")
    if rows.ndim == 1 or rows.shape[1] == 1:
        return
    sums = rows.sum(axis=1)
    refuse(np.abs(sums - 1) > TOLERANCE, sums, name, "sum of the probabilities", f"1 within {TOLERANCE}")


def check_rows(predictions: Predictions, rows: np.ndarray, name: str) -> None:
    """Refuses rows that are no predictions of their family."""
    family, k = predictions.family, rows.shape[-1]
    if family == "categorical":
        if predictions.is_logits:
            check_finite(rows, name, "logit")
        else:
            check_probabilities(rows, name)
        return
    check_finite(rows, name)
    parts = {"normal": 2, "laplace": 2, "normal-mixture": 3, "laplace-mixture": 3}.get(family)
    if parts is not None and k % parts == 0:
        scales = np.ascontiguousarray(rows[:, (parts - 1) * (k // parts) :])
        refuse(scales <= 0, scales, name, "scale", "a positive number")
    if family == "quantiles":
        _check_quantiles(np.array(predictions.levels), rows, name)


def _check_quantiles(levels: np.ndarray, rows: np.ndarray, name: str) -> None:
    if len(levels) != rows.shape[1]:
        raise ValueError(f"{name}: {rows.shape[1]} columns, expected {len(levels)}, one for each level")
    if len(set(levels)) < len(levels) or not ((levels > 0) & (levels < 1)).all():
        words = ", ".join(f"{level:.6g}" for level in levels)
        raise ValueError(f"{name}: the levels are {words}, expected different ones between 0 and 1")
    ordered = rows[:, np.argsort(levels)]
    crossing = np.flatnonzero((np.diff(ordered, axis=1) < 0).any(axis=1))
    if crossing.size:
        row = crossing[0]
        values = ", ".join(f"{value:.6g}" for value in ordered[row])
        raise ValueError(f"{name}, row {row}: the quantiles {values} cross; np.sort(values, axis=1) sorts them")


def are_probabilities(rows: np.ndarray) -> bool:
    """Whether all rows are in [0, 1], and those of several classes sum to 1."""
    if not len(rows) or not ((rows >= 0) & (rows <= 1)).all():
        return False
    is_event = rows.ndim == 1 or rows.shape[1] == 1
    return bool(is_event or (np.abs(rows.sum(axis=1) - 1) <= TOLERANCE).all())


def warn_of_probabilities(rows: np.ndarray, name: str, remedy: str, category: type[Warning]) -> None:
    """Warns of logits that are probabilities."""
    if are_probabilities(rows):
        sums = "" if rows.ndim == 1 or rows.shape[1] == 1 else " and sums to 1"
        warn(f"{name}: every row is in [0, 1]{sums}, as probabilities are, and is taken as logits; {remedy}", category)


def check_choice(value: Any, name: str, choices: tuple[str, ...]) -> None:
    """Refuses a value that is none of some."""
    if value not in choices:
        raise ValueError(f"{name} is {value!r}, expected one of {', '.join(map(repr, choices))}")


def check_number(value: Any, name: str, least: float, most: float, expected: str, *, is_open: bool = False) -> None:
    """Refuses what is no number in a range, if there is a value."""
    if value is None:
        return
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not is_number or not (least < value < most if is_open else least <= value <= most):
        raise ValueError(f"{name} is {value!r}, expected {expected}")


def check_count(value: Any, name: str, most: int = 2**32 - 1) -> None:
    """Refuses what is no whole number from 1 on, if there is a value."""
    if value is None:
        return
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_whole or not 1 <= value <= most:
        expected = "a whole number of at least 1" if most == 2**32 - 1 else f"a whole number from 1 to {most}"
        raise ValueError(f"{name} is {value!r}, expected {expected}")
