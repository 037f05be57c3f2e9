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
import warnings as python_warnings
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import numpy as np

from . import _native
from ._base import (
    FLOATS,
    BaseEstimator,
    OneToOneFeatureMixin,
    TransformerMixin,
    check_is_fitted,
    labels_of,
    validate_data,
    weights_of,
)

if TYPE_CHECKING:
    from typing_extensions import Self

Progress = Callable[[int, int, int, float], Any]
_Made = TypeVar("_Made")


class FitWarning(UserWarning):
    """A warning of a fit, to be read before the map is used."""


class LogitMap(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """A map of logits; see the classes that derive from it.

    Attributes of a fitted map
    --------------------------
    kind_ : str
        The kind in words.
    guarantees_ : dict
        What the map keeps: ``keeps_order``, ``keeps_accuracy``, ``injective`` and
        ``injective_on_log_probabilities``.
    report_ : dict
        How the fit went: ``status``, ``objective``, ``evaluations``, ...
    warnings_ : list of str
        What to know before the map is used; each is a `FitWarning` as well.
    named_parameters_ : dict of arrays
        The parameters by their names, each an attribute with an underscore as well: ``temperature_``. Those of one
        number are floats.
    classes_ : array, [m]
        The classes, 0 to ``m - 1``.
    n_features_in_ : int
        The number ``m`` of classes.
    """

    kind_: str
    guarantees_: dict[str, bool]
    report_: dict[str, Any]
    warnings_: list[str]
    named_parameters_: dict[str, Any]
    classes_: np.ndarray
    n_features_in_: int

    _kind: str
    _fitted: _native.FittedMap

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        progress: Progress | None = None,
    ) -> Self:
        """Fits the map by the log loss.

        Parameters
        ----------
        X : array, [n, m]
            Finite logits, one row per sample and one column per class.
        y : array, [n]
            The classes that happened: whole numbers from 0 to ``m - 1``.
        sample_weight : array, [n], optional
            Finite weights of at least 0. Rows of weight 0 do not count.
        progress : callable, optional
            Is called with ``(fit, fits, evaluations, objective)`` after each evaluation of the criterion. What it
            raises ends the fit.

        Raises
        ------
        ValueError
            A logit that is not finite, a label that is no class, another number of labels than of rows, or an option
            outside its domain. The message names the row.
        """
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None")
        logits = np.ascontiguousarray(_logits(self, X, reset=True))
        labels = labels_of(y)
        if len(labels) != len(logits):
            raise ValueError(f"{len(logits)} rows but {len(labels)} labels, expected the same number of both")
        weights = weights_of(sample_weight, len(logits))
        options = json.dumps(self._options(), default=_plain)
        fitted = _native.fit(self._kind, options, logits, labels, weights, progress)
        self._set(fitted)
        for warning in self.warnings_:
            python_warnings.warn(warning, FitWarning, stacklevel=2)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Recalibrates logits.

        Parameters
        ----------
        X : array, [n, m]
            Finite logits.

        Returns
        -------
        array, [n, m]
            Logits, in float32 if ``X`` is, else in float64.

        Raises
        ------
        ValueError
            A logit that is not finite, with its row, or another number of columns than in the fit.
        """
        check_is_fitted(self)
        return self._fitted.forward(np.ascontiguousarray(_logits(self, X, reset=False)))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Recalibrates logits: the probabilities, ``softmax(transform(X))``, in the dtype of `transform`.

        Shapes and errors are those of `transform`.
        """
        check_is_fitted(self)
        return self._fitted.probabilities(np.ascontiguousarray(_logits(self, X, reset=False)))

    def predict(self, X: Any) -> np.ndarray:
        """The most likely class of each row after the map, ``[n]``.

        Shapes and errors are those of `transform`.
        """
        classes: np.ndarray = np.argmax(self.transform(X), axis=1)
        return classes

    def save(self, path: str | os.PathLike[str]) -> None:
        """Saves the fitted map to a file of the library, which `load_map`, the command ``calibration apply`` and the
        library read."""
        check_is_fitted(self)
        self._fitted.save(os.fspath(path))

    def formula(self) -> str:
        """What the fitted map computes, with its numbers, line by line: some lines in any language repeat it."""
        check_is_fitted(self)
        return self._closed_form(self._fitted.formula())

    def to_onnx(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """The fitted map as an ONNX model, from ``logits`` to ``probabilities``, both ``[N, m]`` in float32.

        Parameters
        ----------
        path : path, optional
            Where the model goes as well.

        Returns
        -------
        bytes
            The model, which `onnxruntime` and others run.
        """
        check_is_fitted(self)
        model = self._closed_form(self._fitted.to_onnx())
        if path is not None:
            with open(path, "wb") as file:
                file.write(model)
        return model

    def _closed_form(self, made: _Made | None) -> _Made:
        if made is None:
            raise ValueError(f"a {self.kind_} has no formula, expected another kind of map")
        return made

    def _options(self) -> dict[str, Any]:
        """The parameters as the library names them."""
        return self.get_params(deep=False)

    def _set(self, fitted: _native.FittedMap) -> None:
        """Takes a fitted map, and what it tells."""
        for name in [name for name in vars(self) if name.endswith("_") and name not in _OF_DATA]:
            delattr(self, name)  # of a fit before
        self._fitted = fitted
        self.kind_ = fitted.kind
        self.guarantees_ = json.loads(fitted.guarantees())
        report = fitted.report()
        self.report_ = json.loads(report[0]) if report else {}
        self.warnings_ = list(report[1]) if report else []
        self.named_parameters_ = {}
        for name, values in fitted.parameters():
            value = float(values[0]) if values.shape == (1,) else values
            self.named_parameters_[name] = value
            attribute = name.replace(".", "_") + "_"
            if attribute.isidentifier():
                setattr(self, attribute, value)
        if not hasattr(self, "n_features_in_") and fitted.width is not None:
            self.n_features_in_ = fitted.width
        if hasattr(self, "n_features_in_"):
            self.classes_ = np.arange(self.n_features_in_)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        fitted = state.pop("_fitted", None)
        if fitted is not None:
            state["_file"] = fitted.to_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        file = state.pop("_file", None)
        super().__setstate__(state)
        if file is not None:
            self._fitted = _native.FittedMap.from_bytes(file)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = True
        tags.target_tags.one_d_labels = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


#: Attributes of the data of a fit.
_OF_DATA = ("n_features_in_", "feature_names_in_")


def _plain(value: Any) -> Any:
    """A number of NumPy as one of JSON."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"an option is a {type(value).__name__}, expected a number, text or None")


def _logits(estimator: BaseEstimator, X: Any, *, reset: bool) -> np.ndarray:
    # the native module checks that numbers are finite, and names the row
    least = 2 if reset else 1
    return validate_data(
        estimator, X, reset=reset, dtype=FLOATS, order="C", ensure_all_finite=False, ensure_min_features=least
    )


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

    def __init__(self, *, prior: float | None = 0.35, tolerance: float = 1e-12, max_iterations: int = 200):
        self.prior = prior
        self.tolerance = tolerance
        self.max_iterations = max_iterations


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

    def __init__(self, *, prior: float | None = 0.35, tolerance: float = 1e-7, max_iterations: int = 1000):
        self.prior = prior
        self.tolerance = tolerance
        self.max_iterations = max_iterations


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
    ):
        self.regularization = regularization
        self.folds = folds
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.seed = seed


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
    ):
        self.hidden = hidden
        self.regularization = regularization
        self.folds = folds
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.seed = seed


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
    ):
        self.hidden = hidden
        self.knots = knots
        self.regularization = regularization
        self.folds = folds
        self.tolerance = tolerance
        self.max_iterations = max_iterations
        self.seed = seed


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
    ):
        super().__init__(
            regularization=regularization,
            folds=folds,
            tolerance=tolerance,
            max_iterations=max_iterations,
            seed=seed,
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
    ):
        super().__init__(
            regularization=regularization,
            folds=folds,
            tolerance=tolerance,
            max_iterations=max_iterations,
            seed=seed,
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
    ):
        super().__init__(
            regularization=regularization,
            folds=folds,
            tolerance=tolerance,
            max_iterations=max_iterations,
            seed=seed,
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

    def __init__(self, *, smoothed: bool = True):
        self.smoothed = smoothed


class BetaCalibration(LogitMap):
    """Beta calibration, ``sigmoid(a log p - b log(1-p) + c)``: of class 1 of two classes, else of each class.

    Parameters
    ----------
    smoothed : bool, default True
        Whether the targets are those of Platt, ``(N1 + 1)/(N1 + 2)`` and ``1/(N0 + 2)``, and not 1 and 0: maximum
        likelihood.
    """

    _kind = "beta"

    def __init__(self, *, smoothed: bool = True):
        self.smoothed = smoothed


class QuadraticScaling(LogitMap):
    """Quadratic scaling, ``sigmoid(a s + b s^2 + c)`` of log-odds ``s``.

    Parameters
    ----------
    smoothed : bool, default True
        Whether the targets are those of Platt, ``(N1 + 1)/(N1 + 2)`` and ``1/(N0 + 2)``, and not 1 and 0: maximum
        likelihood.
    """

    _kind = "quadratic"

    def __init__(self, *, smoothed: bool = True):
        self.smoothed = smoothed


class IsotonicRegression(LogitMap):
    """The best non-decreasing function of a probability: of class 1 of two classes, else of each class."""

    _kind = "isotonic"


class VennAbers(LogitMap):
    """Venn-Abers: two isotonic regressions, with each outcome of the sample."""

    _kind = "venn-abers"


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

    def __init__(self, *, bins: int = 15, smoothing: float = 0.5):
        self.bins = bins
        self.smoothing = smoothing


class SplineCalibration(LogitMap):
    """The derivative of a cubic spline of the cumulative frequencies.

    Parameters
    ----------
    knots : int, default 6
        The number of knots, at least 2.
    """

    _kind = "spline"

    def __init__(self, *, knots: int = 6):
        self.knots = knots


class AutoRecalibration(LogitMap):
    """The map that the data favour, by cross-validation; the predictions stay as they are unless a gain is established.

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
    ):
        self.keep = keep
        self.folds = folds
        self.only_established = only_established
        self.event = event
        self.robust = robust
        self.seed = seed

    def _options(self) -> dict[str, Any]:
        options = super()._options()
        options["subject"] = "event" if options.pop("event") else "classes"
        return options

    def _set(self, fitted: _native.FittedMap) -> None:
        super()._set(fitted)
        choice = fitted.choice()
        assert choice is not None  # of a map that was chosen
        self.choice_, self.choice_text_ = json.loads(choice[0]), choice[1]
        self.chosen_ = self.choice_["chosen"]


class LoadedMap(LogitMap):
    """A map from a file, of any kind; see `load_map`. It is not fitted again."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, progress: Progress | None = None) -> Self:
        """Is an error: the map comes from a file."""
        raise ValueError(f"a {self.kind_} from a file is not fitted again: take the class of a map")


def load_map(path: str | os.PathLike[str]) -> LoadedMap:
    """Loads a fitted map of logits of any kind, which `LogitMap.save`, the command ``calibration fit`` or the library
    saved; of another file of safetensors a ``temperature``, or a ``weight`` and a ``bias``, of PyTorch.

    Raises
    ------
    ValueError
        If the file cannot be read or holds something else.
    """
    loaded = LoadedMap()
    loaded._set(_native.load(os.fspath(path)))
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
