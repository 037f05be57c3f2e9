"""Recalibration maps of predictions of real numbers.

A map is fitted to held-out predictions and their targets, and returns better calibrated predictions.

>>> import numpy as np
>>> from burn_calibration import Normal, VarianceScaling
>>> y = np.array([2.0, -2.0, 1.0, -1.0])
>>> scaling = VarianceScaling().fit(Normal(np.zeros(4), np.ones(4)), y)
>>> scaling.transform(Normal([0.0], [1.0])).scale.round(6)  # the root of the mean of z²
array([1.581139])
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _native
from ._arrays import FAMILIES, are_reals, reals_of
from ._base import BaseEstimator, check_is_fitted
from ._checks import check_count, check_finite, check_increasing, columns
from ._state import file_exists, restored, set_parts, state_of
from ._warnings import FitWarning, warn
from .predictions import Predictions, check_order, of_family

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._map import Progress

_SCALED = ("normal", "laplace")


class RealMap(BaseEstimator):
    """A map of predictions of real numbers; see the classes that derive from it.

    Attributes
    ----------
    kind_ : str
        The kind in words.
    guarantees_ : dict
        What the map keeps: ``keeps_mean``, ``injective`` and others.
    report_ : dict
        How the fit went.
    warnings_ : list of str
        What to know before the map is used; each is a `FitWarning` as well.
    named_parameters_ : dict of arrays
        The parameters by their names, each an attribute with an underscore as well.
    """

    kind_: str
    guarantees_: dict[str, bool]
    report_: dict[str, Any]
    warnings_: list[str]
    named_parameters_: dict[str, Any]

    _kind: str
    _families: tuple[str, ...] = _SCALED
    _fitted: _native.FittedRealMap

    def fit(self, X: Predictions, y: Any, sample_weight: Any = None, *, progress: Progress | None = None) -> Self:
        """Fits the map.

        Parameters
        ----------
        X : Predictions
            Predictions of the kinds that the map takes, of samples that the model was not fitted to.
        y : array, [n] or [n, d]
            What occurred.
        sample_weight : array, [n], optional
            Weights of the samples.
        progress : callable, optional
            Is called with ``(fit, fits, evaluations, objective)`` after each evaluation of the criterion.

        Raises
        ------
        ValueError
            Predictions of another kind, or invalid data, with the row.
        """
        check_order(y, X, "(X, y)")
        _check_family(self, X, self._families)
        data = reals_of(y, X, sample_weight)
        set_real(self, _native.fit_real(self._kind, "{}", data, progress))
        return self

    def transform(self, X: Predictions) -> Predictions:
        """Recalibrates predictions.

        Raises
        ------
        ValueError
            Predictions of another kind or dimension than those of the fit, or invalid ones, with the row.
        """
        check_is_fitted(self)
        return forward_real(self, X)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Saves the fitted map to a file of the library, which `load_real_map` and the library read."""
        check_is_fitted(self)
        self._fitted.save(os.fspath(path))

    def __getstate__(self) -> dict[str, Any]:
        return state_of(dict(super().__getstate__()))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(restored(dict(state)))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")


def _check_family(estimator: Any, X: Any, families: tuple[str, ...]) -> None:
    if not are_reals(X) or X.family not in families:
        expected = " or ".join(family.capitalize() for family in families)
        got = type(X).__name__
        remedy = ""
        if are_reals(X) and X.family == "samples":
            remedy = "; Normal(draws.mean(axis=1), draws.std(axis=1)) has their moments"
        raise ValueError(f"{type(estimator).__name__}: X is {got}, expected {expected} predictions{remedy}")


def set_real(estimator: Any, fitted: _native.FittedRealMap) -> None:
    """Takes a fitted map, and what it tells."""
    for name in [name for name in vars(estimator) if name.endswith("_")]:
        delattr(estimator, name)  # of a fit before
    estimator._fitted = fitted
    set_parts(estimator, fitted)
    for warning in estimator.warnings_:
        warn(warning, FitWarning)


def forward_real(estimator: Any, X: Any) -> Predictions:
    """Predictions after a fitted map."""
    if not are_reals(X) or X.family not in FAMILIES:
        raise ValueError(f"X is {type(X).__name__}, expected predictions of real numbers, as in the fit")
    rows = columns(X.rows, "X")
    check_finite(rows, "X")
    draws = getattr(estimator, "draws", 100)
    check_increasing(list(X.levels))
    family, made, levels = estimator._fitted.forward(FAMILIES[X.family], rows, list(X.levels), draws)
    return of_family(family, made, levels)


class VarianceScaling(RealMap):
    """A factor for the scales of each coordinate of `Normal` or `Laplace` predictions: keeps the means.

    Attributes
    ----------
    factors_ : float or array, [d]
    """

    factors_: Any

    _kind = "variance"


class LocationScale(RealMap):
    """A shift of each coordinate in predicted deviations, and a factor and a power of its scales, of `Normal` or `Laplace`."""

    _kind = "location-scale"


class QuantileRecalibration(RealMap):
    """A curve of levels, ``R ∘ F`` (Kuleshov et al. 2018), of `Normal`, `Laplace` or `Samples` predictions.

    The result are `Samples`, at the levels ``(k − ½)/draws``: it has no density. One coordinate only.

    Parameters
    ----------
    draws : int, default 100
        The number of samples of each prediction.
    """

    _kind = "quantile"
    _families = ("normal", "laplace", "samples")

    def __init__(self, *, draws: int = 100):
        self.draws = draws

    def fit(self, X: Predictions, y: Any, sample_weight: Any = None, *, progress: Progress | None = None) -> Self:
        """As `RealMap.fit`."""
        check_count(self.draws, "draws", 100_000)
        return super().fit(X, y, sample_weight, progress=progress)


class LocalRecalibration(RealMap):
    """The errors of similar predictions, as a mixture, of `Normal` or `Laplace` predictions of one coordinate.

    The result is a `NormalMixture` or a `LaplaceMixture`.
    """

    _kind = "local"


class ConformalShift(RealMap):
    """A shift of each quantile of `Quantiles`, by which central intervals cover at least what they say.

    Attributes
    ----------
    levels_, shifts_ : array, [k]
    """

    levels_: Any
    shifts_: Any

    _kind = "conformal"
    _families = ("quantiles",)


class LoadedRealMap(RealMap):
    """A map of predictions of real numbers from a file; see `load_real_map`. It is not fitted again."""

    def fit(self, X: Predictions, y: Any, sample_weight: Any = None, *, progress: Progress | None = None) -> Self:
        """Is an error: the map comes from a file."""
        raise ValueError(f"a {self.kind_} from a file is not fitted again: take the class of a map")


def load_real_map(path: str | os.PathLike[str]) -> LoadedRealMap:
    """Loads a fitted map of predictions of real numbers of any kind.

    Parameters
    ----------
    path : path
        A file that `RealMap.save`, the command ``calibration fit`` or the library saved.

    Returns
    -------
    LoadedRealMap

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        The file holds something else.
    """
    loaded = LoadedRealMap()
    set_real(loaded, _native.load_real(file_exists(path)))
    return loaded
