"""Checks of arrays, whose errors name the parameter, the row and the value."""

from __future__ import annotations

import inspect
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ._warnings import warn

if TYPE_CHECKING:
    from .predictions import Predictions

#: The distance from 1 that the sum of probabilities may have.
TOLERANCE = 1e-3
#: The distance from 1 of sums, and of probabilities from [0, 1], that is rounding.
ROUNDING = 1e-5


def unmasked(values: Any) -> Any:
    """An array of NumPy whose masked entries are NaN, or None among what are no numbers; all else as it is."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if not np.ma.is_masked(values):
        return values.data
    is_number = values.dtype.kind in "fiub"
    filled = values.data.astype(np.float64 if is_number else object)
    filled[np.ma.getmaskarray(values)] = np.nan if is_number else None
    return filled


def array_of(values: Any, name: str) -> np.ndarray:
    """An array, of dense rows of equal length. Masked entries are NaN."""
    if hasattr(values, "toarray"):
        raise ValueError(f"{name}: a sparse {type(values).__name__}, expected an array, which its toarray() makes")
    try:
        return np.asarray(unmasked(values))
    except ValueError:  # of NumPy, whose words have no name
        raise ValueError(f"{name}: rows of different lengths, expected [n] or [n, m]") from None


def is_missing(value: Any) -> bool:
    """Whether an object is None, NaN or the NA of pandas."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def _number(value: Any) -> float | None:
    """An object as a number, NaN where it is missing; None if it is neither."""
    if is_missing(value):
        return float("nan")
    return float(value) if isinstance(value, (Real, Decimal)) else None


def numbers_of(rows: np.ndarray) -> np.ndarray:
    """Objects as numbers if all are, as the nullable columns of pandas give them."""
    if rows.dtype.kind != "O":
        return rows
    numbers = [_number(value) for value in rows.ravel().tolist()]
    return rows if any(number is None for number in numbers) else np.array(numbers).reshape(rows.shape)


def floats(values: Any, name: str) -> np.ndarray:
    """An array in double precision and row-major order. What is missing or masked is NaN."""
    rows = numbers_of(array_of(values, name))
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


def check_probabilities(rows: np.ndarray, name: str) -> bool:
    """Refuses what is no probability, and rows of several that do not sum to 1.

    Returns whether they are from 0 to 1 and sum to 1 up to rounding, and need not be `settled`.
    """
    least, most = rows.min(), rows.max()
    if not (least >= -ROUNDING and most <= 1 + ROUNDING):  # NaN is neither
        check_finite(rows, name, "probability")
        hint = "; bc.Logits(z) makes predictions of logits"
        is_outside = (rows < -ROUNDING) | (rows > 1 + ROUNDING)
        refuse(is_outside, rows, name, "probability", f"a number from 0 to 1{hint}")
    is_inside = bool(least >= 0 and most <= 1)
    if rows.ndim == 1 or rows.shape[1] == 1:
        return is_inside
    sums = _sums(rows)
    distance = np.abs(sums - 1)
    worst = distance.max()
    if worst > TOLERANCE:
        refuse(distance > TOLERANCE, sums, name, "sum of the probabilities", f"1 within {TOLERANCE}")
    return is_inside and bool(worst <= ROUNDING)


def _sums(rows: np.ndarray) -> np.ndarray:
    """The sums of rows: `rows.sum(axis=1)`, which takes several times as long for few columns."""
    sums: np.ndarray = np.einsum("ij->i", rows)
    return sums


def settled(rows: np.ndarray, name: str) -> np.ndarray:
    """Probabilities that were checked, as the library takes them: from 0 to 1, and of sum 1, as `evaluate` makes them."""
    if rows.ndim == 1 or rows.shape[1] == 1:
        return rows.clip(0, 1)
    worst = np.abs(_sums(rows) - 1).max()
    if worst > ROUNDING:
        size = f"{worst:.0e}".replace("e-0", "e-")
        warn(f"{name}: rows sum to 1 within {size}: each row is divided by its sum")
    rows = rows.clip(0, 1)
    divided: np.ndarray = rows / _sums(rows)[:, None]
    return divided


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


def check_increasing(levels: list[float]) -> None:
    """Refuses levels of quantiles that do not increase."""
    for before, level in zip(levels, levels[1:]):
        if level <= before:
            raise ValueError(
                f"levels= has {level:.6g} after {before:.6g}, expected levels that increase, and the columns of the "
                "quantiles in this order"
            )


def are_probabilities(rows: np.ndarray) -> bool:
    """Whether all rows are in [0, 1], and those of several classes sum to 1."""
    if not len(rows) or not ((rows >= 0) & (rows <= 1)).all():
        return False
    is_event = rows.ndim == 1 or rows.shape[1] == 1
    return bool(is_event or (np.abs(_sums(rows) - 1) <= TOLERANCE).all())


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


#: Types of parameters by their names in annotations, and what is expected of them.
_TYPES: dict[str, tuple[type, str]] = {
    "bool": (bool, "True or False"),
    "int": (Integral, "a whole number of at least 0"),
    "float": (Real, "a number"),
    "str": (str, "a text"),
}


def check_types(estimator: Any) -> None:
    """Refuses parameters of an estimator whose type is not that of the annotation."""
    for name, parameter in inspect.signature(type(estimator).__init__).parameters.items():
        kind, *rest = str(parameter.annotation).split(" | ")
        value: Any = getattr(estimator, name, None)
        if kind not in _TYPES or value is None and rest:
            continue
        value = value.item() if isinstance(value, np.generic) else value
        expected_type, expected = _TYPES[kind]
        is_right = isinstance(value, expected_type) and (kind == "bool" or not isinstance(value, bool))
        if not is_right or kind == "int" and value < 0:
            raise ValueError(f"{name} is {value!r}, expected {expected}{' or None' if rest else ''}")


def check_bandwidth(bandwidth: Any) -> None:
    """Refuses what is no bandwidth, if there is one."""
    check_number(bandwidth, "bandwidth", 1e-100, 1e100, "a positive number")


def check_level(level: Any, name: str = "level") -> None:
    """Refuses what is no level of confidence, if there is one."""
    check_number(level, name, 0, 1, "a number between 0 and 1, such as 0.95", is_open=True)


def seed_of(seed: Any) -> int:
    """A seed: a whole number from 0 on."""
    is_whole = isinstance(seed, (int, np.integer)) and not isinstance(seed, bool)
    if not is_whole or not 0 <= seed < 2**64:
        raise ValueError(f"seed is {seed!r}, expected a whole number from 0 to 2**64 - 1")
    return int(seed)


def check_count(value: Any, name: str, most: int = 2**32 - 1) -> None:
    """Refuses what is no whole number from 1 on, if there is a value."""
    if value is None:
        return
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_whole or not 1 <= value <= most:
        expected = "a whole number of at least 1" if most == 2**32 - 1 else f"a whole number from 1 to {most}"
        raise ValueError(f"{name} is {value!r}, expected {expected}")
