"""Predictions of a family, one row per sample."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable

import numpy as np

from ._checks import array_of
from ._warnings import warn

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, eq=False, repr=False)
class Predictions:
    """Predictions of a family, one row per sample: an instance of `Logits`, `Normal` or another class."""

    family: str
    rows: np.ndarray
    is_logits: bool = False
    #: The levels of quantiles.
    levels: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {' × '.join(map(str, self.rows.shape))}>"

    @property
    def is_event(self) -> bool:
        """Whether they are of one event, class 1 of two, ``[n]``."""
        return self.family == "categorical" and (self.rows.ndim == 1 or self.rows.shape[1:] == (1,))

    def select(self, rows: np.ndarray) -> Self:
        """Some of the rows."""
        some = copy.copy(self)
        object.__setattr__(some, "rows", self.rows[rows])
        return some

    def _part(self, part: int, parts: int) -> np.ndarray:
        width = self.rows.shape[1] // parts
        found: np.ndarray = self.rows[:, part * width : (part + 1) * width]
        return found[:, 0] if width == 1 else found


def levels_of(levels: Any) -> tuple[float, ...]:
    """Levels of quantiles: numbers."""
    try:
        return tuple(float(level) for level in levels)
    except (TypeError, ValueError):
        raise ValueError(f"levels is {levels!r}, expected a sequence of numbers between 0 and 1") from None


def _columns(*parts: Any) -> np.ndarray:
    """Arrays of as many rows side by side, ``[n, ...]``."""
    columns = [array_of(part, "parameters") for part in parts]
    if not any(part.ndim for part in columns):
        raise ValueError("parameters that are all single numbers, expected one of each row, [n], in some")
    rows = next(len(part) for part in columns if part.ndim)
    columns = [part if part.ndim else np.full(rows, part) for part in columns]  # one scale of all rows
    columns = [part[:, None] if part.ndim == 1 else part for part in columns]
    lengths = [len(part) for part in columns]
    if len(set(lengths)) > 1:
        raise ValueError(f"arrays of {', '.join(map(str, lengths))} rows, expected as many rows of each")
    return np.concatenate(columns, axis=1)


class Probabilities(Predictions):
    """Probabilities of classes, ``[n, m]``, or of an event (class 1 of two), ``[n]``. A plain array is the same."""

    def __init__(self, p: Any):
        super().__init__("categorical", array_of(p, "probabilities"))


class Logits(Predictions):
    """Logits of classes, ``[n, m]``, or log-odds of an event (class 1 of two), ``[n]``."""

    def __init__(self, z: Any):
        super().__init__("categorical", array_of(z, "logits"), is_logits=True)


class _LocationScale(Predictions):
    @property
    def loc(self) -> np.ndarray:
        """The locations, ``[n]`` or ``[n, d]``."""
        return self._part(0, 2)

    @property
    def scale(self) -> np.ndarray:
        """The scales, ``[n]`` or ``[n, d]``."""
        return self._part(1, 2)


class Normal(_LocationScale):
    """Normal distributions: means and standard deviations, ``[n]`` or ``[n, d]``, or one number for all rows."""

    def __init__(self, loc: Any, scale: Any):
        super().__init__("normal", _columns(loc, scale))


class Laplace(_LocationScale):
    """Laplace distributions: locations and scales, ``[n]`` or ``[n, d]``, or one number for all rows."""

    def __init__(self, loc: Any, scale: Any):
        super().__init__("laplace", _columns(loc, scale))


class _Mixture(Predictions):
    @property
    def weights(self) -> np.ndarray:
        """The weights of the components, ``[n, k]``."""
        return self._part(0, 3)

    @property
    def loc(self) -> np.ndarray:
        """The locations of the components, ``[n, k]``."""
        return self._part(1, 3)

    @property
    def scale(self) -> np.ndarray:
        """The scales of the components, ``[n, k]``."""
        return self._part(2, 3)


class NormalMixture(_Mixture):
    """Mixtures of normal distributions: weights, means and standard deviations, ``[n, k]``."""

    def __init__(self, weights: Any, loc: Any, scale: Any):
        super().__init__("normal-mixture", _columns(weights, loc, scale))


class LaplaceMixture(_Mixture):
    """Mixtures of Laplace distributions: weights, locations and scales, ``[n, k]``."""

    def __init__(self, weights: Any, loc: Any, scale: Any):
        super().__init__("laplace-mixture", _columns(weights, loc, scale))


class Samples(Predictions):
    """Monte Carlo samples, ``[n, k]``: ``k`` draws of each prediction."""

    def __init__(self, draws: Any):
        super().__init__("samples", array_of(draws, "draws"))


class Quantiles(Predictions):
    """Quantile forecasts, ``[n, k]``, at ``k`` levels between 0 and 1."""

    def __init__(self, values: Any, levels: Iterable[float]):
        super().__init__("quantiles", array_of(values, "values"), levels=levels_of(levels))


_FAMILIES: dict[str, type[Predictions]] = {
    "normal": Normal,
    "laplace": Laplace,
    "normal-mixture": NormalMixture,
    "laplace-mixture": LaplaceMixture,
    "samples": Samples,
}


def of_family(family: str, rows: np.ndarray, levels: Iterable[float] = ()) -> Predictions:
    """Predictions of real numbers from the parameters side by side."""
    if family == "quantiles":
        return Quantiles(rows, levels)
    made = object.__new__(_FAMILIES[family])
    Predictions.__init__(made, family, rows)
    return made


def predictions_of(predictions: Any) -> Predictions:
    """Predictions, or an array of probabilities as predictions."""
    return predictions if isinstance(predictions, Predictions) else Probabilities(predictions)


def check_order(y_true: Any, predictions: Any, expected: str = "(y_true, y_prob)") -> None:
    """Refuses predictions in the place of what occurred.

    Raises
    ------
    ValueError
        The arguments are swapped.
    """
    warn_of_index(y_true, predictions)
    if isinstance(y_true, Predictions):
        raise ValueError(f"y_true are predictions: the arguments are swapped, expected {expected}, truth first")
    if isinstance(predictions, Predictions) and predictions.family != "categorical":
        return
    truth = np.asarray(y_true, dtype=object if _has_tuples(y_true) else None)
    rows = predictions.rows if isinstance(predictions, Predictions) else array_of(predictions, "y_prob")
    is_wide = truth.ndim == 2 and truth.shape[1] > 1 and truth.dtype.kind == "f"
    if is_wide and (rows.ndim == 1 or rows.shape[1] == 1):
        raise ValueError(
            f"y_true has the shape {truth.shape} and the predictions {rows.shape}: the arguments are swapped, "
            f"expected {expected}, truth first"
        )
    if truth.ndim == rows.ndim == 1 and _has_fractions(truth) and not _has_fractions(rows):
        raise ValueError(
            "y_true has fractions and the predictions are whole numbers or names: the arguments are swapped, "
            f"expected {expected}, truth first"
        )


def warn_of_index(y_true: Any, predictions: Any) -> None:
    """Warns of frames of pandas that name the same rows in another order."""
    ours: Any = getattr(y_true, "index", None)
    theirs: Any = getattr(predictions, "index", None)
    if not hasattr(ours, "equals") or not hasattr(theirs, "equals") or ours.equals(theirs):
        return
    if len(ours) == len(theirs) and set(ours) == set(theirs):
        warn(
            "y_true and the predictions have the same index in another order, and rows are taken by their place: "
            "predictions.loc[y_true.index] has the order of y_true"
        )


def _has_tuples(values: Any) -> bool:
    return isinstance(values, (list, tuple)) and any(isinstance(value, tuple) for value in values)


def _has_fractions(values: np.ndarray) -> bool:
    if values.dtype.kind != "f":
        return False
    finite = values[np.isfinite(values)]
    return bool((finite != np.floor(finite)).any())
