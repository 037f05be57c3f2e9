"""Predictions of a family, one row per sample."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Iterable

import numpy as np

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


def _columns(*parts: Any) -> np.ndarray:
    """Arrays of as many rows side by side, ``[n, ...]``."""
    columns = [np.asarray(part) for part in parts]
    columns = [part[:, None] if part.ndim == 1 else part for part in columns]
    lengths = [len(part) for part in columns]
    if len(set(lengths)) > 1:
        raise ValueError(f"arrays of {', '.join(map(str, lengths))} rows, expected as many rows of each")
    return np.concatenate(columns, axis=1)


class Probabilities(Predictions):
    """Probabilities of classes, ``[n, m]``, or of an event (class 1 of two), ``[n]``. A plain array is the same."""

    def __init__(self, p: Any):
        super().__init__("categorical", np.asarray(p))


class Logits(Predictions):
    """Logits of classes, ``[n, m]``, or log-odds of an event (class 1 of two), ``[n]``."""

    def __init__(self, z: Any):
        super().__init__("categorical", np.asarray(z), is_logits=True)


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
    """Normal distributions: means and standard deviations, ``[n]`` or ``[n, d]``."""

    def __init__(self, loc: Any, scale: Any):
        super().__init__("normal", _columns(loc, scale))


class Laplace(_LocationScale):
    """Laplace distributions: locations and scales, ``[n]`` or ``[n, d]``."""

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
        super().__init__("samples", np.asarray(draws))


class Quantiles(Predictions):
    """Quantile forecasts, ``[n, k]``, at ``k`` levels between 0 and 1."""

    def __init__(self, values: Any, levels: Iterable[float]):
        super().__init__("quantiles", np.asarray(values), levels=tuple(float(level) for level in levels))


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
    if isinstance(y_true, Predictions):
        raise ValueError(f"y_true are predictions: the arguments are swapped, expected {expected}, truth first")
    if isinstance(predictions, Predictions) and predictions.family != "categorical":
        return
    truth = np.asarray(y_true, dtype=object if _has_tuples(y_true) else None)
    rows = predictions.rows if isinstance(predictions, Predictions) else np.asarray(predictions)
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


def _has_tuples(values: Any) -> bool:
    return isinstance(values, (list, tuple)) and any(isinstance(value, tuple) for value in values)


def _has_fractions(values: np.ndarray) -> bool:
    if values.dtype.kind != "f":
        return False
    finite = values[np.isfinite(values)]
    return bool((finite != np.floor(finite)).any())
