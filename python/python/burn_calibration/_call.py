"""A call of the library about arrays: what it is given, checked, and its answer."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Sequence

import numpy as np

from . import _native
from ._arrays import FAMILIES
from ._checks import (
    array_of,
    check_choice,
    check_finite,
    check_rows,
    columns,
    is_missing,
    numbers_of,
    refuse,
    unmasked,
    warn_of_probabilities,
)
from ._labels import Rows, encode, rows_in
from ._warnings import CalibrationWarning, warn
from .predictions import Predictions

#: Columns of variables: numbers, or the groups of rows.
Variables = dict[str, list[Any]]

_MOST_BINS = 1_000_000
_MOST_REDRAWN = 20_000_000


class NamedPredictions(NamedTuple):
    """Predictions under the name of their parameter; without a family those of classes."""

    name: str
    family: _native.Family | None
    rows: np.ndarray


class Data(NamedTuple):
    """Predictions, what occurred, and what else is known of each sample."""

    predictions: NamedPredictions
    after: NamedPredictions | None
    are_logits: bool
    is_event: bool
    levels: list[float]
    outcomes: np.ndarray
    weights: np.ndarray | None
    given: list[tuple[str, list[Any]]]
    class_names: list[str]
    are_ordered: bool
    #: The number of each row, where others are left out; else empty.
    rows: list[int]


class Call:
    """Arrays for the library, which were checked.

    Attributes
    ----------
    data : Data
    count : int
        The number of classes, or of targets.
    """

    def __init__(
        self,
        y_true: Any,
        sets: Mapping[str, Predictions],
        sample_weight: Any = None,
        given: Variables | None = None,
        classes: Sequence[Any] | None = None,
        nan_policy: str = "raise",
        ordered: bool = False,
        headers: Sequence[Any] | None = None,
    ):
        check_choice(nan_policy, "nan_policy", ("raise", "omit"))
        first = next(iter(sets.values()))
        if ordered and (first.family != "categorical" or first.is_event):
            of = "an event has" if first.is_event else f"{type(first).__name__} predictions have"
            raise ValueError(f"ordered is True, expected False: {of} no classes in an order")
        numbers = {name: columns(one.rows, name) for name, one in sets.items()}
        weights = None if sample_weight is None else columns(sample_weight, "sample_weight")
        n = len(numbers[next(iter(numbers))])
        are_classes = first.family == "categorical"
        truth = unmasked(y_true) if are_classes else columns(y_true, "y_true")
        lengths = {"y_true": rows_in(truth), **{name: len(rows) for name, rows in numbers.items()}}
        if weights is not None:
            lengths["sample_weight"] = len(weights)
        lengths.update({f"given[{name!r}]": len(column) for name, column in (given or {}).items()})
        for name, length in lengths.items():
            if length != n:
                raise ValueError(f"{name}: {length} rows, expected {n}, as many as predictions")
        places: list[int] = []
        if nan_policy == "omit":
            complete = np.ones(n, dtype=bool)
            others = [] if weights is None else [weights]
            if not are_classes:
                others.append(truth)
            for rows in [*numbers.values(), *others]:
                complete &= ~np.isnan(rows).any(axis=1)
            for column in (given or {}).values():
                complete &= np.array([value == value for value in column])
            if are_classes:
                complete &= ~_missing(truth)
            if not complete.all():
                kept = np.flatnonzero(complete)
                if not kept.size:
                    raise ValueError("nan_policy is 'omit' and no row is left: each has a missing value")
                warn(f"{n - kept.size} of {n} rows are left out: a value is missing")
                places = kept.tolist()
                numbers = {name: rows[kept] for name, rows in numbers.items()}
                truth = truth[kept] if not are_classes else _rows(truth, kept)
                weights = None if weights is None else weights[kept]
                given = {name: [column[row] for row in kept] for name, column in (given or {}).items()} or None
        for name, rows in numbers.items():
            check_rows(sets[name], rows, name)
        names: list[str] = []
        if are_classes:
            own = numbers[next(iter(numbers))]
            if first.is_event:
                own = np.column_stack([np.zeros_like(own) if first.is_logits else 1 - own, own])
            self.count = own.shape[1]
            if self.count < 2:
                raise ValueError(f"{next(iter(sets))}: one class, expected two or more, or an event, [n]")
            labels, known = encode(truth, Rows(own, first.is_logits), classes, headers=headers)
            names = [] if known is None else [_name(label) for label in known]
            truth = labels.astype(np.float64)[:, None]
        else:
            if classes is not None:
                raise ValueError(f"classes: {type(first).__name__} predictions have none, expected None")
            check_finite(truth, "y_true", "target")
            self.count = truth.shape[1]
            for name, one in sets.items():
                _check_width(one, numbers[name], name, self.count)
        if first.is_logits:
            for name, rows in numbers.items():
                remedy = "probabilities are y_prob, without Logits or logits="
                warn_of_probabilities(rows, name, remedy, CalibrationWarning)
        if weights is not None:
            check_finite(weights, "sample_weight", "weight")
            refuse(weights < 0, weights, "sample_weight", "weight", "at least 0")
            if not weights.any():
                raise ValueError("sample_weight: all weights are 0, expected a positive one")
        if given:
            _check_given(given)
        before, *after = [
            NamedPredictions(name, FAMILIES.get(one.family), numbers[name]) for name, one in sets.items()
        ]
        self.data = Data(
            before,
            after[0] if after else None,
            first.is_logits,
            first.is_event,
            list(first.levels),
            truth,
            weights,
            list((given or {}).items()),
            names,
            bool(ordered),
            places,
        )

    def check_sizes(self, bins: int | None, redraws: int | None) -> None:
        """Refuses what would not fit into memory."""
        if bins is not None and bins * self.count > _MOST_BINS:
            raise ValueError(f"bins is {bins}, expected at most {_MOST_BINS // self.count} of {self.count} classes")
        if redraws is not None and redraws * self.count > _MOST_REDRAWN and redraws != 999:
            raise ValueError(
                f"redraws is {redraws}, expected at most {_MOST_REDRAWN // self.count} of {self.count} classes"
            )


def warn_of_notes(notes: Sequence[str]) -> None:
    """Warns of what to know of an answer."""
    for note in notes:
        warn(note)


def _check_width(predictions: Predictions, rows: np.ndarray, name: str, d: int) -> None:
    """Refuses predictions of another dimension than the targets."""
    if predictions.family in ("normal", "laplace"):
        if rows.shape[1] != 2 * d:
            got = rows.shape[1] / 2
            raise ValueError(f"{name}: predictions of dimension {got:g}, expected {d}, that of y_true")
    elif d != 1:
        raise ValueError(f"y_true: {d} columns, expected one of {type(predictions).__name__} predictions")


def _name(label: Any) -> str:
    """The name of a class on one line."""
    return "".join(c if c.isprintable() else " " for c in str(label))[:100]


def _missing(labels: Any) -> np.ndarray:
    """Which labels are NaN or None."""
    values = labels if isinstance(labels, (list, tuple)) else np.asarray(labels).ravel().tolist()
    return np.array([is_missing(value) for value in values])


def _rows(labels: Any, rows: np.ndarray) -> Any:
    if hasattr(labels, "iloc"):
        return labels.iloc[rows]
    return labels[rows] if hasattr(labels, "dtype") else [labels[row] for row in rows]


def given_columns(given: Any, y_true: Any) -> Variables | None:
    """Variables of each sample by their names: numbers or groups.

    Raises
    ------
    ValueError
        No mapping, no column, or a column that is the outcome.
    """
    if given is None:
        return None
    if hasattr(given, "columns") and not isinstance(given, Mapping):  # a frame of pandas or polars
        given = {str(name): given[name] for name in given.columns}
    if not isinstance(given, Mapping) or not given:
        raise ValueError("given: expected a mapping of names to columns, or a frame")
    variables: Variables = {}
    for name, values in given.items():
        if not str(name) or str(name) in variables:
            raise ValueError(f"given: a column is named {str(name)!r}, expected a different name for each")
        column = _numbers_or_groups(array_of(values, f"given[{name!r}]"))
        if column.ndim != 1:
            raise ValueError(f"given[{name!r}]: an array of shape {column.shape}, expected [n]")
        if (
            column.dtype.kind in "fiu"
            and np.shape(y_true) == column.shape
            and np.array_equal(column, np.asarray(y_true))
        ):
            raise ValueError(f"given[{name!r}] is the outcome, expected variables that are known before it")
        if column.dtype.kind in "fiu":
            variables[str(name)] = [float(value) for value in column]
        else:
            missing = float("nan")
            variables[str(name)] = [missing if is_missing(value) else str(value) for value in column.tolist()]
    return variables


def _numbers_or_groups(column: np.ndarray) -> np.ndarray:
    """A column whose objects are numbers if all are, but for True and False."""
    has_bools = column.dtype.kind == "O" and any(isinstance(value, bool) for value in column.ravel().tolist())
    return column if has_bools else numbers_of(column)


def _check_given(given: Variables) -> None:
    for name, column in given.items():
        for row, value in enumerate(column):
            if not isinstance(value, str) and not np.isfinite(value):
                raise ValueError(
                    f"given[{name!r}], row {row}: the value is {value}, expected a value; nan_policy='omit' leaves the "
                    "row out"
                )
