"""What all maps of logits have in common."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Callable, Sequence, TypeVar

import numpy as np

from . import _native
from ._base import (
    FLOATS,
    BaseEstimator,
    OneToOneFeatureMixin,
    TransformerMixin,
    check_is_fitted,
    validate_data,
    weights_of,
)
from ._checks import check_number, check_types, unmasked, warn_of_probabilities
from ._docs import MAPS, document_class
from ._labels import Rows, encode
from ._state import restored, set_parts, state_of
from ._warnings import CalibrationWarning, FitWarning, warn

if TYPE_CHECKING:
    from typing_extensions import Self

Progress = Callable[[int, int, int, float], Any]
_Made = TypeVar("_Made")

#: The probability to which smaller ones are raised where a logit is the logarithm of 0, as of the command.
CLIP = 1e-6


class LogitMap(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """A map of logits; see the classes that derive from it.

    Attributes
    ----------
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
        The classes of the columns: 0 to ``m - 1``, those of ``classes``, or the categories of pandas.
    clip_ : float or None
        The probability to which smaller ones were raised in the fit; None where no logit was ``-inf``.
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
    clip_: float | None
    clip: float | None

    _kind: str
    _fitted: _native.FittedMap

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        document_class(cls, MAPS)

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        classes: Sequence[Any] | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Fits the map by the log loss.

        Parameters
        ----------
        X : array, [n, m]
            Logits, one row per sample and one column per class. ``-inf`` is the logarithm of 0, see ``clip``.
        y : array, [n]
            The classes that happened: whole numbers from 0 to ``m - 1``, or of ``classes``; a categorical of pandas has
            its own.
        sample_weight : array, [n], optional
            Finite weights of at least 0. Rows of weight 0 do not count. Only their ratios matter: a weight of 2 is not a
            row that happened twice where a prior, pseudo-observations or folds count rows.
        classes : sequence, optional
            The class of each column, of any hashable kind.
        progress : callable, optional
            Is called with ``(fit, fits, evaluations, objective)`` after each evaluation of the criterion. What it
            raises ends the fit.

        Raises
        ------
        ValueError
            A logit that is not finite, a label that is no class, another number of labels than of rows, or an option
            outside its domain. The message names the row.

        Warns
        -----
        FitWarning
            What to know before the map is used, such as probabilities in the place of logits.
        """
        if y is None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None")
        check_number(self.clip, "clip", 0, 0.5, "a number above 0 and below 0.5", is_open=True)
        logits = np.ascontiguousarray(_logits(self, X, reset=True))
        labels, known = encode(unmasked(y), Rows(logits, True), classes, "y")
        if len(labels) != len(logits):
            raise ValueError(f"{len(logits)} rows but {len(labels)} labels, expected the same number of both")
        weights = weights_of(sample_weight, len(logits))
        zeros = int(np.isneginf(logits).any(axis=1).sum())
        clip = self.clip if zeros else None
        options = json.dumps(self._options(), default=_plain)
        fitted = _native.fit(self._kind, options, _raised(logits, clip), labels, weights, clip, progress)
        self._set(fitted)
        self.clip_ = clip
        if known is not None:
            self.classes_ = np.asarray(known)
        if clip is not None:
            words = f"{zeros} rows have a probability of 0: probabilities below {clip:g} are raised to it, see clip"
            self.warnings_.insert(0, words)
        for warning in self.warnings_:
            warn(warning, FitWarning)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Recalibrates logits.

        Parameters
        ----------
        X : array, [n, m]
            Logits; ``-inf`` as of `fit`.

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
        return self._fitted.forward(self._checked(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Recalibrates logits: the probabilities, ``softmax(transform(X))``, in the dtype of `transform`.

        Shapes and errors are those of `transform`.
        """
        check_is_fitted(self)
        return self._fitted.probabilities(self._checked(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most likely class of each row after the map, ``[n]``.

        Shapes and errors are those of `transform`.
        """
        check_is_fitted(self)
        classes: np.ndarray = self.classes_[np.argmax(self.transform(X), axis=1)]
        return classes

    def _checked(self, X: Any) -> np.ndarray:
        """Logits as the fit took them."""
        logits = np.ascontiguousarray(_logits(self, X, reset=False))
        if self.kind_ != "prior correction":
            warn_of_probabilities(logits, "X", "np.log(X) makes logits of them", CalibrationWarning)
        if self.clip_ is not None:
            return _raised(logits, self.clip_)
        has_zero = np.isneginf(logits).any(axis=1)
        if has_zero.any() and self.clip is not None:
            logits = logits.copy()  # they may be the user's
            logits[has_zero] = _raised(logits[has_zero], self.clip)
        return logits

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
        check_types(self)
        options = self.get_params(deep=False)
        options.pop("clip", None)
        return options

    def _set(self, fitted: _native.FittedMap) -> None:
        """Takes a fitted map, and what it tells."""
        for name in [name for name in vars(self) if name.endswith("_") and name not in _OF_DATA]:
            delattr(self, name)  # of a fit before
        self._fitted = fitted
        set_parts(self, fitted)
        if not hasattr(self, "n_features_in_") and fitted.width is not None:
            self.n_features_in_ = fitted.width
        self.clip_ = None
        if hasattr(self, "n_features_in_"):
            self.classes_ = np.arange(self.n_features_in_)

    def __getstate__(self) -> dict[str, Any]:
        return state_of(dict(super().__getstate__()))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(restored(dict(state)))

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


def _raised(logits: np.ndarray, clip: float | None) -> np.ndarray:
    """Logarithms of probabilities, of which those below a number are raised to it."""
    if clip is None:
        return logits
    with np.errstate(divide="ignore", invalid="ignore"):
        most = logits.max(axis=1, keepdims=True)
        p = np.exp(logits - most)
        p = np.maximum(p / p.sum(axis=1, keepdims=True), clip)
        raised = np.log(p / p.sum(axis=1, keepdims=True))
    is_wrong = ~np.isfinite(most[:, 0]) | np.isnan(logits).any(axis=1) | np.isposinf(logits).any(axis=1)
    return np.ascontiguousarray(np.where(is_wrong[:, None], logits, raised), dtype=logits.dtype)


def _plain(value: Any) -> Any:
    """A number of NumPy as one of JSON."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"an option is a {type(value).__name__}, expected a number, text or None")


def _logits(estimator: BaseEstimator, X: Any, *, reset: bool) -> np.ndarray:
    # the native module checks that numbers are finite, and names the row
    least = 2 if reset else 1
    return validate_data(
        estimator, unmasked(X), reset=reset, dtype=FLOATS, order="C", ensure_all_finite=False, ensure_min_features=least
    )
