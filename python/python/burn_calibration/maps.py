"""Recalibration maps as scikit-learn estimators.

A map is fitted to held-out logits ``[n, m]`` of a model and labels ``[n]``, and returns better calibrated logits.
Logarithms of probabilities are logits.

>>> import numpy as np
>>> from burn_calibration import TemperatureScaling
>>> logits = np.tile([[5.0, 0.0]], (400, 1))  # confident in class 0, but right three times out of four
>>> labels = np.arange(400) % 4 == 0
>>> scaling = TemperatureScaling(prior=None).fit(logits, labels)
>>> round(scaling.temperature_, 6)
4.551196
>>> scaling.predict_proba(logits)[0].round(6)
array([0.75, 0.25])
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _native
from ._arrays import are_reals, reals_of
from ._base import check_is_fitted
from ._descents import (
    DiagonalScaling,
    DirichletCalibration,
    EnsembleTemperatureScaling,
    LogitShift,
    MatrixScaling,
    OrderInvariant,
    OrderPreserving,
    StructuredMatrixScaling,
    StructuredVectorScaling,
    TemperatureScaling,
    VectorScaling,
)
from ._events import (
    BetaCalibration,
    HistogramBinning,
    IsotonicRegression,
    PlattScaling,
    QuadraticScaling,
    SplineCalibration,
    VennAbers,
)
from ._map import CLIP, LogitMap, Progress
from ._state import file_exists
from .predictions import Predictions, check_order
from .real_maps import forward_real, set_real

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "AutoRecalibration",
    "BetaCalibration",
    "DiagonalScaling",
    "DirichletCalibration",
    "EnsembleTemperatureScaling",
    "HistogramBinning",
    "IsotonicRegression",
    "LoadedMap",
    "LogitMap",
    "LogitShift",
    "MAPS",
    "MatrixScaling",
    "OrderInvariant",
    "OrderPreserving",
    "PlattScaling",
    "Progress",
    "QuadraticScaling",
    "SplineCalibration",
    "StructuredMatrixScaling",
    "StructuredVectorScaling",
    "TemperatureScaling",
    "VectorScaling",
    "VennAbers",
    "load_map",
]


class AutoRecalibration(LogitMap):
    """The map that the data favour, by cross-validation; the predictions stay as they are unless a gain is established.

    Of `Normal` and `Laplace` predictions it chooses among their maps. `Quantiles` and `Samples` have one map each,
    `ConformalShift` and `QuantileRecalibration`.

    Parameters
    ----------
    keep : str or None
        What the map has to keep: ``"accuracy"``, ``"order"``, ``"information"`` or
        ``"information-of-log-probabilities"``.
    folds : int, default 5
        The number of folds, at least 2.
    only_established : bool, default True
        Whether a map is chosen only if its gain is established.
    event : bool, default False
        Whether class 1 of two is an event, and its probability a risk: the choice then looks at the event, not at the
        most likely class.
    robust : bool, default True
        Whether rows are set aside, and named in a warning, that would rule the fit of a temperature. A map that is named,
        such as `TemperatureScaling`, is fitted to every row.
    seed : int, default 0
        The seed of the folds and of maps with a network.

    Attributes
    ----------
    chosen_ : str
        The short name of the map, or "none".
    choice_ : dict
        What was chosen, among what, and why, as in the JSON of the command ``calibration fit``.
    choice_text_ : str
        The same in words.
    """

    chosen_: str
    choice_: dict[str, Any]
    choice_text_: str

    _kind = "auto"

    def __init__(
        self,
        *,
        keep: str | None = None,
        folds: int = 5,
        only_established: bool = True,
        event: bool = False,
        robust: bool = True,
        seed: int = 0,
        clip: float | None = CLIP,
    ):
        self.keep = keep
        self.folds = folds
        self.only_established = only_established
        self.event = event
        self.robust = robust
        self.seed = seed
        self.clip = clip

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        classes: Sequence[Any] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """As `LogitMap.fit`, or of predictions of real numbers as `RealMap.fit`."""
        if not are_reals(X):
            if isinstance(X, Predictions):
                raise ValueError(
                    f"X is {type(X).__name__}, expected an array of logits, or predictions of real numbers"
                )
            return super().fit(X, y, sample_weight, classes=classes, progress=progress)
        if X.family not in ("normal", "laplace", "quantiles", "samples"):
            expected = "Normal, Laplace, Quantiles or Samples"
            raise ValueError(f"X is {type(X).__name__}, expected logits or {expected} predictions")
        check_order(y, X, "(X, y)")
        kind = {"quantiles": "conformal", "samples": "quantile"}.get(X.family, self._kind)
        options = {name: value for name, value in self._options().items() if name != "subject"}
        set_real(self, _native.fit_real(kind, json.dumps(options), reals_of(y, X, sample_weight), progress))
        self._set_choice(kind)
        return self

    def transform(self, X: Any) -> Any:
        """As `LogitMap.transform`; of predictions of real numbers other predictions."""
        check_is_fitted(self)
        if isinstance(self._fitted, _native.FittedRealMap):
            return forward_real(self, X)
        return super().transform(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """As `LogitMap.predict_proba`."""
        check_is_fitted(self)
        if isinstance(self._fitted, _native.FittedRealMap):
            raise ValueError(f"a {self.kind_} has no classes, expected transform")
        return super().predict_proba(X)

    def _options(self) -> dict[str, Any]:
        options = super()._options()
        options["subject"] = "event" if options.pop("event") else "classes"
        return options

    def _set(self, fitted: _native.FittedMap) -> None:
        super()._set(fitted)
        self._set_choice("")

    def _set_choice(self, only: str) -> None:
        choice = self._fitted.choice()
        if choice is None:  # the one map of such predictions
            choice = json.dumps({"chosen": only}), f"chosen:     {only}, the only map of such predictions"
        self.choice_, self.choice_text_ = json.loads(choice[0]), choice[1]
        self.chosen_ = self.choice_["chosen"]


class LoadedMap(LogitMap):
    """A map from a file, of any kind; see `load_map`. It is not fitted again."""

    def __init__(self) -> None:
        self.clip = CLIP

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        classes: Sequence[Any] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Is an error: the map comes from a file."""
        raise ValueError(f"a {self.kind_} from a file is not fitted again: take the class of a map")


def load_map(path: str | os.PathLike[str]) -> LoadedMap:
    """Loads a fitted map of logits of any kind.

    Parameters
    ----------
    path : path
        A file that `LogitMap.save`, the command ``calibration fit`` or the library saved, or safetensors of PyTorch with
        a ``temperature``, or a ``weight`` and a ``bias``.

    Returns
    -------
    LoadedMap

    Raises
    ------
    FileNotFoundError
        There is no such file.
    ValueError
        The file holds something else.
    """
    loaded = LoadedMap()
    loaded._set(_native.load(file_exists(path)))
    return loaded


#: The maps of logits by the names that the command has for them.
MAPS: dict[str, type[LogitMap]] = {
    cls._kind: cls
    for cls in (
        TemperatureScaling,
        LogitShift,
        EnsembleTemperatureScaling,
        DiagonalScaling,
        OrderPreserving,
        OrderInvariant,
        VectorScaling,
        MatrixScaling,
        DirichletCalibration,
        StructuredVectorScaling,
        StructuredMatrixScaling,
        PlattScaling,
        BetaCalibration,
        QuadraticScaling,
        IsotonicRegression,
        VennAbers,
        HistogramBinning,
        SplineCalibration,
        AutoRecalibration,
    )
}
