"""Labels of any hashable kind as columns of predictions."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence

import numpy as np

from ._warnings import warn


class Labels(NamedTuple):
    """Labels as columns, ``[n]``, and the classes of the columns, where these are not 0, 1, …."""

    columns: np.ndarray
    classes: list[Any] | None


def rows_in(values: Any, name: str = "y_true") -> int:
    """The number of labels or targets.

    Raises
    ------
    ValueError
        A number, a sparse matrix, an iterator or None.
    """
    try:
        return len(values)
    except TypeError:  # also of an array without dimensions
        raise ValueError(f"{name} is of the type {type(values).__name__}, expected an array, [n]") from None


def categories_of(values: Any) -> list[Any] | None:
    """The categories of a categorical of pandas, or of an enumeration of polars.

    A categorical of polars has its values in the order of their appearance, which is not that of the columns.
    """
    dtype = getattr(values, "dtype", None)
    if type(dtype).__module__.startswith("polars") and type(dtype).__name__ != "Enum":
        return None
    categories = getattr(values, "categories", None)
    if categories is None:
        categories = getattr(dtype, "categories", None)
    return None if categories is None else list(categories)


def shown(label: Any) -> str:
    """A label in short."""
    label = label.item() if isinstance(label, np.generic) else label
    text = f"{label:.6g}" if isinstance(label, float) else repr(label)
    return text if len(text) <= 60 else f"{text[:60]}…"


def listed(labels: Sequence[Any]) -> str:
    """Labels in short, ten at most."""
    some = ", ".join(map(shown, labels[:10]))
    return f"{some}, … ({len(labels)} classes)" if len(labels) > 10 else some


def as_array(values: Any, name: str = "y_true") -> np.ndarray:
    """Labels ``[n]``; tuples are labels as they are."""
    if isinstance(values, (list, tuple)) and any(isinstance(label, tuple) for label in values):
        tuples = np.empty(len(values), dtype=object)
        tuples[:] = values
        return tuples
    labels: Any = np.asarray(list(values) if isinstance(values, (range, str)) else values)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        hint = f"; np.argmax({name}, axis=1) makes labels of one-hot rows" if labels.ndim == 2 else ""
        raise ValueError(f"{name}: labels of {labels.ndim} dimensions, expected one: [n]{hint}")
    found: np.ndarray = labels
    return found


class Rows(NamedTuple):
    """Predictions of classes, ``[n, m]``."""

    numbers: np.ndarray
    are_logits: bool


# the ratio of likelihoods that calibrated predictions have with a probability of at most 1/20, as the command
_FITS_BETTER = np.log(20.0)
_LEAST_LOG = np.log(1e-12)


def encode(
    values: Any,
    rows: Rows,
    classes: Any = None,
    name: str = "y_true",
    headers: Sequence[Any] | None = None,
) -> Labels:
    """The columns of labels: those of ``classes``, else of the categories of pandas, else numbers from 0.

    ``headers`` are the names of the columns of a frame, which the error of labels that are names proposes.

    Raises
    ------
    ValueError
        A label that is no class, with its row, or another number of classes than of columns.
    """
    count = rows.numbers.shape[1]
    known = categories_of(values) if classes is None else as_array(classes, "classes").tolist()
    if known is None:
        return Labels(_numbers(values, rows, name, headers), None)
    what = "classes" if classes is not None else f"{name}: the categories"
    if len(known) != count:
        raise ValueError(f"{what}: {len(known)} classes, expected {count}, one for each column of the predictions")
    places = {label: place for place, label in enumerate(known)}
    if len(places) < count:
        twice = next(label for label in known if known.count(label) > 1)
        raise ValueError(f"{what}: {shown(twice)} twice, expected each class once")
    if _are_numbers(values) and all(isinstance(label, str) for label in known):
        return Labels(_numbers(values, rows, name), known)  # the classes are names of the columns
    labels = as_array(values, name).tolist()
    found = np.array([places.get(label, -1) for label in labels], dtype=np.int64)
    wrong = np.flatnonzero(found < 0)
    if wrong.size:
        row = wrong[0]
        raise ValueError(f"{name}, row {row}: the label is {shown(labels[row])}, expected one of {listed(known)}")
    are_columns = all(type(label) is int for label in known) and known == list(range(count))
    return Labels(found, None if are_columns else known)


def _are_numbers(values: Any) -> bool:
    return (
        bool(np.asarray(values).dtype.kind in "fiub")
        if not isinstance(values, (list, tuple))
        else all(isinstance(label, (int, float, np.number)) for label in values)
    )


def _plain(labels: np.ndarray) -> np.ndarray:
    """Objects as an array of their own type."""
    try:
        plain = np.asarray(labels.tolist())
    except ValueError:  # of different lengths
        return labels
    return plain if plain.ndim == 1 else labels


def headers_of(frame: Any) -> list[Any] | None:
    """The names of the columns of a frame of pandas or polars."""
    headers = getattr(frame, "columns", None)
    return None if headers is None or callable(headers) else list(headers)


def _fit_from_1(labels: np.ndarray, rows: Rows) -> bool:
    """Whether predictions fit labels that count from 1 better: ``Π p_i(y_i − 1) / p_i(y_i)`` is large."""
    if len(labels) != len(rows.numbers):
        return False  # an error follows
    columns = np.stack([labels - 1, labels]).astype(np.int64)
    scores = rows.numbers[np.arange(len(labels)), columns]
    if rows.are_logits:
        scores = np.maximum(scores, rows.numbers.max(axis=1) + _LEAST_LOG)
    else:
        scores = np.log(np.maximum(scores, np.exp(_LEAST_LOG)))
    return bool((scores[0] - scores[1]).sum() >= _FITS_BETTER)


def _numbers(values: Any, rows: Rows, name: str, headers: Sequence[Any] | None = None) -> np.ndarray:
    """Labels that are numbers of columns."""
    count = rows.numbers.shape[1]
    labels = as_array(values, name)
    if labels.dtype.kind == "O":
        labels = _plain(labels)
    if labels.dtype.kind not in "fiub":
        names = sorted({label for label in labels.tolist() if isinstance(label, str)})
        example = f": classes=[{listed(names)}] if the columns are in this order" if len(names) == count else ""
        if headers is not None and set(names) <= set(headers):
            example = f": classes=[{listed(headers)}], as the columns are named"
        raise ValueError(f"{name}: labels are names, expected classes=[…], the class of each column{example}")
    wrong = np.flatnonzero(~np.isfinite(labels) | (labels != np.floor(labels)) | (labels < 0) | (labels >= count))
    run_from_1 = len(labels) > 0 and bool(((labels >= 1) & (labels <= count)).all())
    if wrong.size:
        row, value = wrong[0], labels[wrong[0]]
        remedy = f"; labels run from 1: classes=range(1, {count + 1})" if run_from_1 else ""
        expected = f"a class in 0..{count}, the number of a column"
        raise ValueError(f"{name}, row {row}: the label is {shown(value)}, expected {expected}{remedy}")
    if count > 2 and run_from_1 and (labels != labels[0]).any() and _fit_from_1(labels, rows):
        warn(f"{name}: no label is 0, the first column; classes=range(1, {count + 1}) if labels count from 1")
    return np.ascontiguousarray(labels, dtype=np.int64)
