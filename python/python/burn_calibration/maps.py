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
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np

from . import _native
from ._arrays import are_reals, reals_of
from ._base import check_is_fitted
from ._map import CLIP, LogitMap, Progress
from ._state import file_exists
from .predictions import Predictions, check_order
from .real_maps import forward_real, set_real

if TYPE_CHECKING:
    from typing_extensions import Self


class TemperatureScaling(LogitMap):
    """Temperature scaling, ``z / T``: keeps the order of the classes, and is injective.

    Parameters
    ----------
    prior : float or None, default 0.35
        The scale of a prior of ``log T``, Student's t of three degrees of freedom. It matters below a few hundred
        samples.
    tolerance : float
        The tolerance on ``log T``.
    max_iterations : int
        The most iterations.

    Attributes
    ----------
    temperature_ : float
    """

    temperature_: float

    _kind = "temperature"

    def __init__(
        self,
        *,
        prior: float | None = 0.35,
        tolerance: float = 1e-12,
        max_iterations: int = 200,
        clip: float | None = CLIP,
    ):
        self.prior = prior
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.clip = clip


class EnsembleTemperatureScaling(LogitMap):
    """Ensemble temperature scaling, ``log(w1 softmax(z/T) + w2 softmax(z) + w3/m)``: keeps the order, is injective.

    Parameters
    ----------
    prior : float or None, default 0.35
        As of `TemperatureScaling`.
    tolerance : float, default 1e-7
        The largest derivative at which the fit has converged.
    max_iterations : int, default 1000
        The most iterations.

    Attributes
    ----------
    temperature_ : float
    log_weights_ : array, [3]
    """

    temperature_: float
    log_weights_: np.ndarray

    _kind = "ensemble-temperature"

    def __init__(
        self,
        *,
        prior: float | None = 0.35,
        tolerance: float = 1e-7,
        max_iterations: int = 1000,
        clip: float | None = CLIP,
    ):
        self.prior = prior
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.clip = clip


class _Regularized(LogitMap):
    """A map with the parameters of a descent with a regularization."""

    regularization: float | None
    folds: int

    def _options(self) -> dict[str, Any]:
        options = super()._options()
        folds, weight = options.pop("folds"), options.pop("regularization")
        found = {"CrossValidated": {"folds": folds}}
        options["regularisation"] = found if weight is None else {"Fixed": weight}
        return options


class _Affine(_Regularized):
    def __init__(
        self,
        *,
        regularization: float | None = None,
        folds: int = 5,
        tolerance: float = 1e-7,
        max_iterations: int = 1000,
        seed: int = 0,
        clip: float | None = CLIP,
    ):
        self.regularization = regularization
        self.folds = folds
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.seed = seed
        self.clip = clip


class _Network(_Regularized):
    def __init__(
        self,
        *,
        hidden: int = 16,
        regularization: float | None = None,
        folds: int = 5,
        tolerance: float = 1e-5,
        max_iterations: int = 200,
        seed: int = 0,
        clip: float | None = CLIP,
    ):
        self.hidden = hidden
        self.regularization = regularization
        self.folds = folds
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.seed = seed
        self.clip = clip


_REGULARIZED = """
    regularization : float or None, default {weight}
        The weight of the regularization, at least 0. None: the one that a cross-validation finds.
    folds : int, default 5
        The folds of that cross-validation.
    tolerance : float, default {tolerance}
        The largest derivative at which the fit has converged.
    max_iterations : int, default {iterations}
        The most iterations.
    seed : int, default 0
        The seed of the folds, and of the hidden units of a network.
"""


def _documented(weight: str, tolerance: str, iterations: int) -> Callable[[type], type]:
    """Adds the parameters of a descent to the docstring of a class."""

    def documented(cls: type) -> type:
        words = _REGULARIZED.format(weight=weight, tolerance=tolerance, iterations=iterations)
        cls.__doc__ = (cls.__doc__ or "").rstrip() + words
        return cls

    return documented


@_documented("None", "1e-5", 200)
class DiagonalScaling(_Regularized):
    """One increasing function of each logit (DIAG): keeps the order of the classes.

    Parameters
    ----------
    hidden : int, default 16
        The hidden units of the network that the function is fitted by.
    knots : int, default 33
        The knots of the function.
    """

    _kind = "diagonal"

    def __init__(
        self,
        *,
        hidden: int = 16,
        knots: int = 33,
        regularization: float | None = None,
        folds: int = 5,
        tolerance: float = 1e-5,
        max_iterations: int = 200,
        seed: int = 0,
        clip: float | None = CLIP,
    ):
        self.hidden = hidden
        self.knots = knots
        self.regularization = regularization
        self.folds = folds
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.seed = seed
        self.clip = clip


@_documented("None", "1e-5", 200)
class OrderPreserving(_Network):
    """Gaps of sorted logits times a network (OP): keeps the order of the classes.

    Parameters
    ----------
    hidden : int, default 16
        The hidden units of the network.
    """

    _kind = "order-preserving"


@_documented("None", "1e-5", 200)
class OrderInvariant(_Network):
    """As `OrderPreserving`, with a network of the sorted logits (OI): keeps the order of the classes.

    Parameters
    ----------
    hidden : int, default 16
        The hidden units of the network.
    """

    _kind = "order-invariant"


@_documented("0.0", "1e-7", 1000)
class VectorScaling(_Affine):
    """A scale and an intercept for each class, ``a_c z_c + b_c``.

    Parameters
    ----------
    """

    _kind = "vector"

    def __init__(
        self,
        *,
        regularization: float | None = 0.0,
        folds: int = 5,
        tolerance: float = 1e-7,
        max_iterations: int = 1000,
        seed: int = 0,
        clip: float | None = CLIP,
    ):
        super().__init__(
            regularization=regularization,
            folds=folds,
            tolerance=tolerance,
            max_iterations=max_iterations,
            seed=seed,
            clip=clip,
        )


@_documented("None", "1e-7", 1000)
class MatrixScaling(_Affine):
    """A matrix and intercepts, ``W z + b``.

    Parameters
    ----------
    """

    _kind = "matrix"


@_documented("None", "1e-7", 1000)
class DirichletCalibration(_Affine):
    """Matrix scaling of log-probabilities, ``W log p + b``.

    Parameters
    ----------
    """

    _kind = "dirichlet"


class _Structured(_Affine):
    def __init__(
        self,
        *,
        regularization: float | None = 1.0,
        folds: int = 5,
        tolerance: float = 1e-7,
        max_iterations: int = 1000,
        seed: int = 0,
        clip: float | None = CLIP,
    ):
        super().__init__(
            regularization=regularization,
            folds=folds,
            tolerance=tolerance,
            max_iterations=max_iterations,
            seed=seed,
            clip=clip,
        )


@_documented("1.0", "1e-7", 1000)
class StructuredVectorScaling(_Structured):
    """Vector scaling of tempered, smoothed log-probabilities, shrunk.

    Parameters
    ----------
    """

    _kind = "structured-vector"


@_documented("1.0", "1e-7", 1000)
class StructuredMatrixScaling(_Structured):
    """Matrix scaling of tempered, smoothed log-probabilities, shrunk.

    Parameters
    ----------
    """

    _kind = "structured-matrix"


@_documented("1.0", "1e-9", 200)
class LogitShift(_Structured):
    """A shift of the logits of each class, ``z + b``, shrunk towards 0.

    Parameters
    ----------
    """

    _kind = "shift"

    def __init__(
        self,
        *,
        regularization: float | None = 1.0,
        folds: int = 5,
        tolerance: float = 1e-9,
        max_iterations: int = 200,
        seed: int = 0,
        clip: float | None = CLIP,
    ):
        super().__init__(
            regularization=regularization,
            folds=folds,
            tolerance=tolerance,
            max_iterations=max_iterations,
            seed=seed,
            clip=clip,
        )


class PlattScaling(LogitMap):
    """Platt scaling, ``sigmoid(a s + b)`` of log-odds ``s``: of class 1 of two classes, else of each class.

    Parameters
    ----------
    smoothed : bool, default True
        Whether the targets are those of Platt, ``(N1 + 1)/(N1 + 2)`` and ``1/(N0 + 2)``, and not 1 and 0: maximum
        likelihood.
    """

    _kind = "platt"

    def __init__(self, *, smoothed: bool = True, clip: float | None = CLIP):
        self.smoothed = smoothed
        self.clip = clip


class BetaCalibration(LogitMap):
    """Beta calibration, ``sigmoid(a log p - b log(1-p) + c)``: of class 1 of two classes, else of each class.

    Parameters
    ----------
    smoothed : bool, default True
        Whether the targets are those of Platt, ``(N1 + 1)/(N1 + 2)`` and ``1/(N0 + 2)``, and not 1 and 0: maximum
        likelihood.
    """

    _kind = "beta"

    def __init__(self, *, smoothed: bool = True, clip: float | None = CLIP):
        self.smoothed = smoothed
        self.clip = clip


class QuadraticScaling(LogitMap):
    """Quadratic scaling, ``sigmoid(a s + b s^2 + c)`` of log-odds ``s``.

    Parameters
    ----------
    smoothed : bool, default True
        Whether the targets are those of Platt, ``(N1 + 1)/(N1 + 2)`` and ``1/(N0 + 2)``, and not 1 and 0: maximum
        likelihood.
    """

    _kind = "quadratic"

    def __init__(self, *, smoothed: bool = True, clip: float | None = CLIP):
        self.smoothed = smoothed
        self.clip = clip


class IsotonicRegression(LogitMap):
    """The best non-decreasing function of a probability: of class 1 of two classes, else of each class."""

    _kind = "isotonic"

    def __init__(self, *, clip: float | None = CLIP):
        self.clip = clip


class VennAbers(LogitMap):
    """Venn-Abers: two isotonic regressions, with each outcome of the sample."""

    _kind = "venn-abers"

    def __init__(self, *, clip: float | None = CLIP):
        self.clip = clip


class HistogramBinning(LogitMap):
    """Frequencies in bins of a probability.

    Parameters
    ----------
    bins : int, default 15
        The number of bins.
    smoothing : float, default 0.5
        The number of hits and of misses that are added to each bin.
    """

    _kind = "histogram"

    def __init__(self, *, bins: int = 15, smoothing: float = 0.5, clip: float | None = CLIP):
        self.bins = bins
        self.smoothing = smoothing
        self.clip = clip


class SplineCalibration(LogitMap):
    """The derivative of a cubic spline of the cumulative frequencies.

    Parameters
    ----------
    knots : int, default 6
        The number of knots, at least 2.
    """

    _kind = "spline"

    def __init__(self, *, knots: int = 6, clip: float | None = CLIP):
        self.knots = knots
        self.clip = clip


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
    """Loads a fitted map of logits of any kind, which `LogitMap.save`, the command ``calibration fit`` or the library
    saved; of another file of safetensors a ``temperature``, or a ``weight`` and a ``bias``, of PyTorch.

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
