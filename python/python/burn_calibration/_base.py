"""Estimators as scikit-learn has them, whether it is installed or not."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

try:
    from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:  # the same names, with what maps need of them

    class BaseEstimator:  # type: ignore[no-redef]
        """An estimator whose parameters are those of its ``__init__``."""

        @classmethod
        def _get_param_names(cls) -> list[str]:
            names = inspect.signature(cls.__init__).parameters
            return sorted(name for name in names if name != "self")

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """The parameters by their names."""
            return {name: getattr(self, name) for name in self._get_param_names()}

        def set_params(self, **params: Any) -> "BaseEstimator":
            """Sets parameters, and returns the estimator."""
            names = self._get_param_names()
            for name, value in params.items():
                if name not in names:
                    raise ValueError(
                        f"{name}: no parameter of {type(self).__name__}, expected one of {', '.join(names)}"
                    )
                setattr(self, name, value)
            return self

        def __repr__(self) -> str:
            defaults = inspect.signature(type(self).__init__).parameters
            params = self.get_params().items()
            changed = [f"{name}={value!r}" for name, value in params if value != defaults[name].default]
            return f"{type(self).__name__}({', '.join(changed)})"

        def __getstate__(self) -> dict[str, Any]:
            return self.__dict__.copy()

        def __setstate__(self, state: dict[str, Any]) -> None:
            self.__dict__.update(state)

    class TransformerMixin:  # type: ignore[no-redef]
        """A transformer with ``fit_transform``."""

        def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
            """Fits, and transforms the same data."""
            return self.fit(X, y, **params).transform(X)

    class OneToOneFeatureMixin:  # type: ignore[no-redef]
        """As many outputs as inputs."""

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """An estimator is used before it is fitted."""

    def check_is_fitted(estimator: Any) -> None:
        if not any(name.endswith("_") and not name.startswith("_") for name in vars(estimator)):
            raise NotFittedError(f"This {type(estimator).__name__} instance is not fitted yet: call 'fit' first")

    def validate_data(estimator: Any, X: Any, *, reset: bool = True, dtype: Any = None, **_: Any) -> np.ndarray:
        rows = np.asarray(X)
        if rows.ndim != 2:
            raise ValueError(f"an array of {rows.ndim} dimensions, expected two: [n, m]")
        if np.dtype(rows.dtype) not in map(np.dtype, dtype or ()):
            rows = rows.astype(np.float64)
        if reset:
            estimator.n_features_in_ = rows.shape[1]
        elif rows.shape[1] != estimator.n_features_in_:
            raise ValueError(
                f"X has {rows.shape[1]} features, but {type(estimator).__name__} is expecting "
                f"{estimator.n_features_in_} features as input"
            )
        return rows


FLOATS = (np.float64, np.float32)


def rows_of(X: Any, name: str = "the rows") -> np.ndarray:
    """An array ``[n, m]`` in row-major order, in float32 if it is so, else in float64."""
    rows = np.asarray(X)
    if rows.dtype.kind not in "fiub":
        rows = rows.astype(np.float64)
    if rows.ndim != 2:
        raise ValueError(f"{name} have {rows.ndim} dimensions, expected two: [n, m]")
    return np.ascontiguousarray(rows, dtype=np.float32 if rows.dtype == np.float32 else np.float64)


def labels_of(y: Any, name: str = "the label") -> np.ndarray:
    """Labels ``[n]``, whole numbers, as int64."""
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"labels of {labels.ndim} dimensions, expected one: [n]")
    if labels.dtype.kind not in "iub":
        numbers = labels.astype(np.float64)
        wrong = np.flatnonzero(~np.isfinite(numbers) | (numbers != np.floor(numbers)))
        if wrong.size:
            raise ValueError(f"row {wrong[0]}: {name} is {labels[wrong[0]]}, expected a class, from 0")
        labels = numbers
    return np.ascontiguousarray(labels, dtype=np.int64)


def weights_of(weights: Any, n: int) -> np.ndarray | None:
    """Weights ``[n]`` as float64; None where there are none."""
    if weights is None:
        return None
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    if weights.ndim != 1 or len(weights) != n:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected ({n},): one weight per row")
    if n and not weights.any():
        raise ValueError("all sample weights are zero, expected a positive one")
    return weights
