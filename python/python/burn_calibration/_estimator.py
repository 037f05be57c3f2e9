"""What maps need of scikit-learn: used where it is not installed, and by type checkers."""

from __future__ import annotations

import inspect
from copy import deepcopy as clone  # a map that is not fitted is its parameters
from typing import TYPE_CHECKING, Any

import numpy as np

__all__ = [
    "BaseEstimator",
    "ClassifierMixin",
    "NotFittedError",
    "OneToOneFeatureMixin",
    "TransformerMixin",
    "check_is_fitted",
    "clone",
    "validate_data",
]

if TYPE_CHECKING:
    from typing_extensions import Self


class BaseEstimator:
    """An estimator whose parameters are those of its ``__init__``."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        if cls.__init__ is object.__init__:
            return []
        names = inspect.signature(cls.__init__).parameters
        return sorted(name for name in names if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by their names."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params: Any) -> Self:
        """Sets parameters, and returns the estimator."""
        names = self._get_param_names()
        for name, value in params.items():
            if name not in names:
                raise ValueError(f"{name}: no parameter of {type(self).__name__}, expected one of {', '.join(names)}")
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


class TransformerMixin:
    """A transformer with ``fit_transform``."""

    if TYPE_CHECKING:

        def fit(self, X: Any, y: Any = None) -> Self: ...
        def transform(self, X: Any) -> np.ndarray: ...

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> np.ndarray:
        """Fits, and transforms the same data."""
        return self.fit(X, y, **params).transform(X)


class ClassifierMixin:
    """A classifier with ``score``."""

    if TYPE_CHECKING:

        def predict(self, X: Any) -> np.ndarray: ...

    def score(self, X: Any, y: Any) -> float:
        """The accuracy."""
        return float(np.mean(self.predict(X) == np.asarray(y)))


class OneToOneFeatureMixin:
    """As many outputs as inputs."""


class NotFittedError(ValueError, AttributeError):
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
