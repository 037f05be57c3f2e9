"""Estimators as scikit-learn has them, whether it is installed or not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._checks import floats

if TYPE_CHECKING:  # scikit-learn has no types
    from ._estimator import (
        BaseEstimator,
        ClassifierMixin,
        NotFittedError,
        OneToOneFeatureMixin,
        TransformerMixin,
        check_is_fitted,
        clone,
        validate_data,
    )
else:
    try:
        from sklearn.base import BaseEstimator, ClassifierMixin, OneToOneFeatureMixin, TransformerMixin, clone
        from sklearn.exceptions import NotFittedError
        from sklearn.utils.validation import check_is_fitted, validate_data
    except ImportError:
        from ._estimator import (
            BaseEstimator,
            ClassifierMixin,
            NotFittedError,
            OneToOneFeatureMixin,
            TransformerMixin,
            check_is_fitted,
            clone,
            validate_data,
        )

__all__ = [
    "FLOATS",
    "BaseEstimator",
    "ClassifierMixin",
    "NotFittedError",
    "OneToOneFeatureMixin",
    "TransformerMixin",
    "check_is_fitted",
    "clone",
    "rows_of",
    "validate_data",
    "weights_of",
]

FLOATS = (np.float64, np.float32)


def rows_of(X: Any, name: str = "the rows") -> np.ndarray:
    """An array ``[n, m]`` in row-major order, in float32 if it is so, else in float64."""
    rows = np.asarray(X)
    if rows.dtype.kind not in "fiub":
        rows = rows.astype(np.float64)
    if rows.ndim != 2:
        raise ValueError(f"{name} have {rows.ndim} dimensions, expected two: [n, m]")
    return np.ascontiguousarray(rows, dtype=np.float32 if rows.dtype == np.float32 else np.float64)


def weights_of(weights: Any, n: int) -> np.ndarray | None:
    """Weights ``[n]`` as float64; None where there are none."""
    if weights is None:
        return None
    numbers = floats(weights, "sample_weight")
    if numbers.ndim != 1 or len(numbers) != n:
        raise ValueError(f"sample_weight.shape == {numbers.shape}, expected ({n},): one weight per row")
    if n and not numbers.any():
        raise ValueError("all sample weights are zero, expected a positive one")
    if not (np.isfinite(numbers) & (numbers >= 0)).all():
        row = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))[0]
        expected = "a finite number of at least 0"
        raise ValueError(f"sample_weight, row {row}: the weight is {numbers[row]:.6g}, expected {expected}")
    return numbers
