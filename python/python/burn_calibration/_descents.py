"""Maps of logits that are found by a descent: scales, shifts, matrices and networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._map import CLIP, LogitMap


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


class OrderPreserving(_Network):
    """Gaps of sorted logits times a network (OP): keeps the order of the classes."""

    _kind = "order-preserving"


class OrderInvariant(_Network):
    """As `OrderPreserving`, with a network of the sorted logits (OI): keeps the order of the classes."""

    _kind = "order-invariant"


class VectorScaling(_Affine):
    """A scale and an intercept for each class, ``a_c z_c + b_c``."""

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


class MatrixScaling(_Affine):
    """A matrix and intercepts, ``W z + b``."""

    _kind = "matrix"


class DirichletCalibration(_Affine):
    """Matrix scaling of log-probabilities, ``W log p + b``."""

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


class StructuredVectorScaling(_Structured):
    """Vector scaling of tempered, smoothed log-probabilities, shrunk."""

    _kind = "structured-vector"


class StructuredMatrixScaling(_Structured):
    """Matrix scaling of tempered, smoothed log-probabilities, shrunk."""

    _kind = "structured-matrix"


class LogitShift(_Structured):
    """A shift of the logits of each class, ``z + b``, shrunk towards 0."""

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
